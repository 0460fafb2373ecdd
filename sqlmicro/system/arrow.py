"""pyarrow without pandas, which it imports where that is installed; and its tables as arrays.

And without an allocator of its own.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sqlmicro.system.packages import any_plug_in

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def without_pandas() -> None:
    """Have pyarrow find no pandas when it looks for it the first time, which is a third of a second of a command.

    For a process that is ours alone: nothing of ours is a Series. Where pyarrow has to make a DataFrame it looks again.
    """
    if not any_plug_in():  # which may hand it a Series
        sys.meta_path.insert(0, _Watching())


def memory_of_the_system() -> None:
    """Have pyarrow take its memory from the C library, unless the environment says from where.

    Its own allocator makes itself a large room first, page by page: up to a fifth of a second of a command. For a
    process that is ours alone.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def as_arrays(table: pa.Table) -> dict[str, np.ndarray]:
    """Return the columns of a table as arrays; where nobody else has it, each goes as soon as it is an array."""
    columns = dict(zip(table.column_names, table.columns, strict=True))
    del table
    return {name: columns.pop(name).to_numpy() for name in [*columns]}


def whole_numbers(found: np.ndarray) -> pa.Array:
    """Return whole numbers as Arrow has them: pyarrow.array loads what NumPy has for masks, which takes 20 ms."""
    import pyarrow as pa

    if found.dtype.kind != "i" or not found.dtype.isnative:
        return pa.array(found)
    kind = getattr(pa, found.dtype.name)()
    return pa.Array.from_buffers(
        kind, len(found), [None, pa.py_buffer(found if found.flags.c_contiguous else found.copy())]
    )


class _Watching:
    """Finds pyarrow as Python does, and has it look for pandas as soon as it is imported."""

    def __init__(self) -> None:
        self._looking = False

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "pandas" and self._looking:
            raise ModuleNotFoundError(name=name)
        spec = PathFinder.find_spec(name, path, target) if name == "pyarrow" else None
        if spec is not None and spec.loader is not None:
            spec.loader.exec_module = self._then_look(spec.loader.exec_module)  # type: ignore[method-assign]
        return spec

    def _then_look(self, execute: Any) -> Any:
        def executed(module: Any) -> None:
            execute(module)
            try:
                if "pandas" not in sys.modules:  # else pandas itself is being loaded, and asks for pyarrow on its way
                    self._looking = True
                    module.array([0])
            finally:
                sys.meta_path.remove(self)

        return executed
