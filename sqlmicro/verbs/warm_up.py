"""The command `warm-up`: all that is compiled on first use is compiled now, for images and before the first user comes.

What there is to compile is found by doing it: every method with a kernel runs on a small table, and what is named here
in each of the ways that lead to other kernels. A test says which kernel none of them leads to.
"""

from __future__ import annotations

import csv
import importlib
import importlib.util
import os
import pkgutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from types import ModuleType
from typing import Any

from sqlmicro.errors import InputError
from sqlmicro.group import small_sets
from sqlmicro.options.common import NoOptions
from sqlmicro.registry import methods
from sqlmicro.reports.results import Compiled
from sqlmicro.system import scratch, shipped
from sqlmicro.system.progress import Progress
from sqlmicro.system.secrets import LASTING_VARIABLE

_NUMBERS = ("x", "y", "z")
_CODES = ("sex", "city", "size")
_MIXED = ("y", "z", "city")


class Sample(IntEnum):
    """A small table, by the number of its records; where a setting names a table it is one of them."""

    FEW = 18
    DOZENS = 40
    SOME = 400
    MANY = 2500


@dataclass(frozen=True)
class Call:
    """A call that leads to kernels: a verb, the columns and settings it is given, and what must be installed for it.

    One that is in a series is two nights of it.
    """

    verb: str
    columns: tuple[str, ...] = _NUMBERS
    settings: Mapping[str, object] = field(default_factory=dict)
    table: Sample = Sample.SOME
    needs: str = ""


CALLS = (
    *(Call(verb) for verb in ("secure-k-ward", "split-group", "optimal-univariate", "k-ward")),
    Call("k-ward", ("x",)),
    Call("mdav"),
    Call("mdav", table=Sample.FEW),
    Call("mdav", settings={"sensitive": ("city",), "min_l": 2, "max_t": 0.9}),
    Call("mdav", settings={"sensitive": ("weight",), "max_t": 0.05}),
    Call("mdav", ("y", "z"), {"series": "seats", "row_key": ("x",), "nulls": "suppress"}),
    Call("mdav", ("y", "z"), {"series": "persons", "row_key": ("x",), "person": ("age",)}),
    Call("microaggregate", settings={"quality": "fast"}, table=Sample.MANY),
    Call("microaggregate"),
    Call("microaggregate", settings={"sensitive": ("city", "sex"), "min_l": 2, "max_t": 0.4, "person": ("age",)}),
    Call("microaggregate", settings={"quality": "best", "certify": True}, table=Sample.FEW, needs="highspy"),
    Call("microaggregate", settings={"quality": "best", "k": 10}, table=Sample.DOZENS, needs="highspy"),
    *(Call("kanonymeans", settings={"merge": merge}) for merge in ("inner-loop", "outer-loop", "single-pass")),
    Call("kanonymeans", settings={"measure": "sse", "init": "forgy"}),
    Call("kanonymeans-star", settings={"generations": 1}),
    Call("suppress", _CODES),
    Call("suppress", (*_CODES, "x")),
    Call("suppress", (*_CODES, "age"), {"nulls_match": "wildcard"}),
    Call("suppress", _CODES, {"sensitive": ("age",), "min_l": 2, "max_risk": 0.9, "weight": "weight"}),
    Call("suppress", (*_CODES, "age"), {"sensitive": ("weight",), "min_l": 2, "max_t": 0.5}),
    Call("mondrian"),
    Call("mondrian", (*_NUMBERS, *_CODES)),
    Call("mondrian", settings={"sensitive": ["city"], "min_l": 2}),
    Call("safe", (*_CODES, "x"), {"method": "search", "effort": "fast"}),
    Call("safe", (*_CODES, "age", "x"), {"effort": "fast", "nominal": ("age",), "deal": "none"}),
    Call("safe", (*_CODES, "age"), {"method": "search", "effort": "fast", "weights": "weight", "deal": "none"}),
    Call("safe", (*_CODES, "x"), {"method": "cluster"}),
    Call("safe", ("sex", "size", "x"), {"method": "search", "effort": "fast", "sensitive": ("city",), "min_l": 3}),
    Call("safe", _CODES, {"method": "search", "effort": "fast", "person": ("age",)}),
    Call("safe", _CODES, {"method": "search", "effort": "fast", "series": "files", "nulls": "keep"}),
    Call("swap", _CODES, {"kind": "data", "rate": 0.5, "min_k_map": 1, "population": Sample.FEW}),
    Call("attack", _NUMBERS, {"original": Sample.SOME, "release": (Sample.FEW,), "control": Sample.MANY}),
    Call("attack", _MIXED, {"original": Sample.SOME, "release": (Sample.SOME,), "match": ("x",)}),
    Call("attack", _MIXED, {"original": Sample.SOME, "release": (Sample.SOME,), "person": ("age",)}),
)


def all_calls() -> tuple[Call, ...]:
    """Return the calls, those of the methods that group records with their defaults first."""
    named = {call.verb for call in CALLS}
    ours = (m for m in methods().values() if m.engine == "numpy" and m.module.startswith("sqlmicro."))
    return (*(Call(method.name) for method in ours if method.name not in named), *CALLS)


def warm_up_values(verb: Callable[[str], Callable[..., Any]], options: NoOptions, progress: Progress) -> Compiled:
    """Compile now what is compiled on first use, which takes some minutes: for images, and before the first run."""
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
    small = small_sets.compiled_from(Sample.FEW)  # what is grouped without compiled code elsewhere is grouped with it
    with small, scratch.spill() as folder, progress.stage("compile", len(calls), unit="calls"):
        tables = {sample: _table(folder / f"{sample.name}.csv", range(sample)) for sample in Sample}
        for number, call in enumerate(calls):
            progress.tick(number, len(calls))
            progress.log(f"{number + 1} of {len(calls)}: {call.verb}")
            if "series" in call.settings:
                _two_nights(verb(call.verb), _given(call, tables), folder)
            elif call.verb in methods():
                verb(call.verb)(tables[call.table], **_given(call, tables), seed="warm-up", dry_run=True)
            else:
                verb(call.verb)(**_given(call, tables))
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


def _given(call: Call, tables: Mapping[Sample, str]) -> dict[str, Any]:
    """Return what a verb is given by name, with the path of every table that is named."""

    def value(setting: object) -> object:
        if isinstance(setting, tuple):
            return [value(one) for one in setting]
        return tables[setting] if isinstance(setting, Sample) else setting

    method = methods().get(call.verb)
    common: dict[str, Any] = {"rest": "drop"} if method else {}
    if method and any(parameter.name == "k" for parameter in method.parameters):
        common["k"] = 3
    return common | {"columns": list(call.columns)} | {name: value(one) for name, one in call.settings.items()}


def _two_nights(verb: Callable[..., Any], given: dict[str, Any], folder: Path) -> None:
    """Release a table, and the next night that of which some have left and others came."""
    number, own = int(Sample.SOME), folder / given["series"]
    own.mkdir()
    with _of_nobody(own):
        for night, rows in enumerate((range(number * 3 // 4), range(number // 8, number)), 1):
            table, to = _table(own / "table.csv", rows), str(own / "release.csv")
            verb(table, **given, night=f"2000-01-0{night}", to=to, overwrite=True)


@contextmanager
def _of_nobody(folder: Path) -> Iterator[None]:
    """Let what lasts from night to night, the ledger and the secret, be in a folder: neither is the user's."""
    ours = {LASTING_VARIABLE: "of nobody, for a table of nobody", "XDG_CONFIG_HOME": str(folder)}
    before = {name: os.environ.get(name) for name in ours}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _kernel_modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages([str(Path(__file__).parent.parent)], "sqlmicro."):
        if found.name.endswith("_kernels"):
            yield importlib.import_module(found.name)


def _kept(kernel: Any) -> str:
    """Return the folder a compiled function is kept in, or nothing."""
    path = str(shipped.FOLDER) if isinstance(kernel, shipped.Kernel) else kernel.stats.cache_path
    return os.path.realpath(path) if path else ""


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _table(path: Path, rows: Sequence[int]) -> str:
    """Write some rows of a table without persons, and return its path."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(("x", "y", "z", "sex", "city", "size", "age", "weight"))
        for i in rows:
            x, y, z = (i * factor % 997 / 7 for factor in (367, 541, 811))
            out.writerow((x, y, z, "mf"[i % 2], "abcdefg"[i * i % 7], "sml"[i * 5 % 3], i * 37 % 90, 1 + i % 4 / 2))
    return str(path)
