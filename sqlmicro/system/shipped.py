"""Compiled code that came with the package: read where numba has nothing of its own, so that a first run need not wait.

A wheel for one platform brings it, in the folder `compiled` (`.ci/platform_wheel.py`). It is made for any processor of
the architecture, by one version of numba and of Python, from the source beside it: for all others it is not there, and
functions are compiled as they are without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlmicro.system.closed import is_closed
from sqlmicro.system.code_files import CodeFiles

GENERIC = ("generic", "")
"""Name and features of the processor that it is made for."""
_PACKAGE = Path(__file__).resolve().parent.parent
FOLDER = _PACKAGE / "compiled"


class _Behind:
    """The cache of a function, and behind it what came with the package."""

    def __init__(self, own: Any, folder: Path, owner: int) -> None:
        self._own = own
        stamp = own._cache_file._source_stamp
        self._shipped = CodeFiles(str(folder), own._impl.filename_base, stamp, owner=owner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for these types, or None."""
        found = self._own.load_overload(sig, target_context)
        if found is not None:
            return found
        try:
            _, (triple, *_), code = self._own._index_key(sig, target_context.codegen())
            data = self._shipped.load((sig, (triple, *GENERIC), code))  # type: ignore[no-untyped-call]
            return None if data is None else self._own._impl.rebuild(target_context, data)
        except Exception:  # of another version, or damaged: then it is compiled
            return None


def read_behind(dispatcher: Any, module: Path) -> None:
    """Let a compiled function read what came with the package, if there is something that nobody else can change."""
    try:
        folder = FOLDER / module.resolve().relative_to(_PACKAGE).parent
        owner = module.stat().st_uid
        if folder.is_dir() and is_closed(folder, owner):
            dispatcher._cache = _Behind(dispatcher._cache, folder, owner)
    except (AttributeError, ImportError, OSError, ValueError):
        return  # none came with it, or this numba keeps its own elsewhere
