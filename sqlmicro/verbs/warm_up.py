"""The command `warm-up`: all that is compiled on first use is compiled now, for images and before the first user comes.

What there is to compile is found by doing it: every method with a kernel runs on a small table, and those named here in
each of the ways that lead to other kernels.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import os
import pkgutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlmicro.errors import InputError
from sqlmicro.group import small_sets
from sqlmicro.history import seats
from sqlmicro.options.common import NoOptions
from sqlmicro.registry import methods
from sqlmicro.reports.results import Compiled
from sqlmicro.system import scratch
from sqlmicro.system.progress import Progress

_RECORDS, _FEW, _MANY = 400, 18, 2500
_NUMBERS = ("x", "y", "z")
_CODES = ("sex", "city", "size")


@dataclass(frozen=True)
class Call:
    """A call that leads to kernels: a verb, the columns and settings it is given, and what must be installed for it."""

    verb: str
    columns: tuple[str, ...] = _NUMBERS
    settings: Mapping[str, object] = field(default_factory=dict)
    records: int = _RECORDS
    needs: str = ""


CALLS = (
    *(Call(verb) for verb in ("secure-k-ward", "split-group", "optimal-univariate", "k-ward")),
    Call("k-ward", ("x",)),
    Call("mdav"),
    Call("mdav", records=_FEW),
    Call("mdav", settings={"sensitive": ("city",), "min_l": 2, "max_t": 0.9}),
    Call("microaggregate", settings={"quality": "fast"}, records=_MANY),
    Call("microaggregate"),
    Call("microaggregate", settings={"sensitive": ("city", "sex"), "min_l": 2, "max_t": 0.4, "person": ("age",)}),
    Call("microaggregate", settings={"quality": "best", "certify": True}, records=_FEW, needs="highspy"),
    *(Call("kanonymeans", settings={"merge": merge}) for merge in ("inner-loop", "outer-loop", "single-pass")),
    Call("kanonymeans", settings={"measure": "sse", "init": "forgy"}),
    Call("kanonymeans-star", settings={"generations": 1}),
    Call("suppress", _CODES),
    Call("suppress", (*_CODES, "x")),
    Call("suppress", (*_CODES, "age"), {"nulls_match": "wildcard"}),
    Call("suppress", _CODES, {"sensitive": ("age",), "min_l": 2, "max_risk": 0.9, "weight": "weight"}),
    Call("mondrian"),
    Call("mondrian", (*_NUMBERS, *_CODES)),
    Call("mondrian", settings={"sensitive": ["city"], "min_l": 2}),
    Call("safe", (*_CODES, "x"), {"method": "search", "effort": "fast"}),
    Call("safe", (*_CODES, "age", "x"), {"method": "search", "effort": "fast", "nominal": ("age",)}),
    Call("safe", (*_CODES, "age"), {"method": "search", "effort": "fast", "weights": "weight"}),
    Call("safe", (*_CODES, "x"), {"method": "cluster"}),
    Call("safe", ("sex", "size", "x"), {"method": "search", "effort": "fast", "sensitive": ("city",), "min_l": 3}),
)


def all_calls() -> tuple[Call, ...]:
    """Return the calls, those of the methods that group records with their defaults first."""
    named = {call.verb for call in CALLS}
    ours = (m for m in methods().values() if m.engine == "numpy" and m.module.startswith("sqlmicro."))
    return (*(Call(method.name) for method in ours if method.name not in named), *CALLS)


def warm_up_values(verb: Callable[[str], Callable[..., Any]], options: NoOptions, progress: Progress) -> Compiled:
    """Compile now what is compiled on first use, which takes a minute or two: for images, and before the first run."""
    return warm_up(verb, progress)


def warm_up(verb: Callable[[str], Callable[..., Any]], progress: Progress) -> Compiled:
    """Run every call on a small table in a private folder; `verb` returns a verb as a Python function.

    Raises
    ------
    InputError
        When there is no folder in which what was compiled can be kept.
    """
    started = time.monotonic()
    known = all_calls()
    left_out = tuple(sorted({call.needs for call in known if call.needs and not _installed(call.needs)}))
    calls = [call for call in known if call.needs not in left_out]
    total = len(calls) + 3
    small = small_sets.compiled_from(_FEW)  # what is grouped without compiled code elsewhere is grouped with it here
    with small, scratch.spill() as folder, progress.stage("compile", total, unit="calls"):
        tables = {records: _table(folder / f"{records}.csv", records) for records in (_FEW, _RECORDS, _MANY)}
        some, few = tables[_RECORDS], tables[_FEW]
        for number, call in enumerate(calls):
            progress.tick(number, total)
            progress.log(f"{number + 1} of {total}: {call.verb}")
            verb(call.verb)(
                tables[call.records], columns=list(call.columns), rest="drop", k=3, seed="warm-up",
                dry_run=True, **call.settings,
            )  # fmt: skip
        progress.tick(len(calls), total)
        progress.log(f"{total - 2} of {total}: swap")
        verb("swap")(
            some, columns=list(_CODES), kind="data", rate=0.5, min_k_map=1, population=some, rest="drop",
            seed="warm-up", dry_run=True,
        )  # fmt: skip
        progress.log(f"{total - 1} of {total}: attack")
        verb("attack")(original=some, release=[few], columns=list(_NUMBERS))
        progress.log(f"{total} of {total}: series")
        _two_nights()
    kept = tuple(sorted({_kept(kernel) for kernel in kernels()} - {""}))
    if not kept:
        raise InputError(
            "warm-up", "there must be a folder of your own to keep compiled code in",
            "none: the package, your home and TMPDIR are not writable, or the folder in TMPDIR is not yours alone",
            "Set NUMBA_CACHE_DIR to one",
        )  # fmt: skip
    return Compiled(sum(1 for _ in kernels()), kept, left_out, round(time.monotonic() - started, 1))


def kernels() -> Iterator[Any]:
    """Return every compiled function of the package."""
    for module in _kernel_modules():
        for value in vars(module).values():
            if hasattr(value, "py_func") and value.__module__ == module.__name__:
                yield value


def _two_nights() -> None:
    """Open classes, leave seats and take them."""
    import numpy as np

    who, rules = np.arange(30), seats.Rules(3, patience=0, moves=True)
    X = np.stack([who % 3, who % 5], 1).astype(float)
    memory, _ = seats.begin(who[:20], X[:20], who[:20] // 4, 0, rules)
    seats.go_on(memory, who[2:], X[2:], 1, rules)


def _kernel_modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages([str(Path(__file__).parent.parent)], "sqlmicro."):
        if found.name.endswith("_kernels"):
            yield importlib.import_module(found.name)


def _kept(kernel: Any) -> str:
    """Return the folder a compiled function is kept in, or nothing."""
    path = kernel.stats.cache_path
    return os.path.realpath(path) if path else ""


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _table(path: Path, records: int) -> str:
    """Write a small table without persons, and return its path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("x", "y", "z", "sex", "city", "size", "age", "weight"))
        for i in range(records):
            x, y, z = (i * factor % 997 / 7 for factor in (367, 541, 811))
            out.writerow((x, y, z, "mf"[i % 2], "abcdefg"[i * i % 7], "sml"[i * 5 % 3], i * 37 % 90, 1 + i % 4 / 2))
    return str(path)
