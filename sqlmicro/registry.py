"""The methods there are: one decorated function each, whose keyword parameters are its settings."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sqlmicro import options
from sqlmicro.errors import ParameterError, did_you_mean
from sqlmicro.params import Parameter, parameters

if TYPE_CHECKING:
    import numpy as np

Stage = Literal["group", "safe", "mask"]
Engine = Literal["numpy", "sql"]
Promise = Literal["record", "block", "column", "moments", "masked"]


class Tick(Protocol):
    """What a kernel calls to say how far it is."""

    def __call__(self, done: int, total: int, best: str = "") -> None:
        """Say that `done` of `total` units are done, and how good the best result so far is."""


def silent(done: int, total: int, best: str = "") -> None:
    """Tell nobody: the tick of a kernel that is called where no progress is shown."""


@dataclass(frozen=True)
class Grouping:
    """What a kernel returns that has more to say than the group of every record."""

    labels: np.ndarray
    notes: tuple[str, ...] = ()


PROMISES: dict[Promise, str] = {
    "record": "every record occurs at least k times in the columns it was given",
    "block": "every record occurs at least k times in each block of columns; the whole record is not k-anonymous",
    "column": "every value occurs at least k times in its own column; the record is not k-anonymous",
    "moments": "mean and variance of every group of at least k are kept; neither value nor record is k-anonymous",
    "masked": "values are changed or records left out; no k is promised, the one that is found is shown",
}


@dataclass(frozen=True)
class Method:
    """A method: what `sqlmicro methods` prints and what the pipeline calls."""

    name: str
    function: Callable[..., Any]
    stage: Stage
    engine: Engine
    promise: Promise
    source: str
    templates: tuple[str, ...]
    takes_every_column: bool
    takes_columns: bool
    takes_strata: bool
    makes_pseudonyms: bool
    parameters: tuple[Parameter, ...]

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """What a user may set: its own parameters, and how the records become vectors where a kernel groups them."""
        return (*self.parameters, *options.RECORDS) if self.engine == "numpy" else self.parameters

    @property
    def takes_nulls(self) -> bool:
        """Whether a user chooses what becomes of missing values; in masking they stay missing."""
        return self.stage != "mask"

    def takes(self, option: str) -> bool:
        """Tell whether an option that methods share means something here."""
        unlike = {"columns": self.takes_columns, "by": self.takes_strata, "nulls": self.takes_nulls}
        return unlike.get(option, True)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return (self.function.__doc__ or "").strip().splitlines()[0]

    @property
    def module(self) -> str:
        """The module the method lives in."""
        return self.function.__module__


_KERNEL_TEMPLATES = (
    "load/features.sql",
    "load/stratum_numbers.sql",
    "replace/grouped.sql",
    "replace/group_means.sql",
    "replace/group_ordinal_medians.sql",
    "replace/group_modes.sql",
    "replace/representatives.sql",
    "replace/by_label.sql",
)
"""What runs around every kernel, see `records.py`."""
_METHODS: dict[str, Method] = {}


def method(
    name: str,
    *,
    stage: Stage,
    engine: Engine,
    promise: Promise,
    source: str,
    templates: tuple[str, ...] = (),
    takes_every_column: bool = False,
    takes_columns: bool = True,
    takes_strata: bool = True,
    makes_pseudonyms: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a method.

    An `engine="numpy"` grouping method is called as `f(X, rng, tick, **settings)` with X of shape (n, p), standardised,
    and returns labels of shape (n,), or a `Grouping` of them with notes for the report. An `engine="sql"` method is
    called as `f(work, **settings)` with a `work.Work` and returns a `work.Outcome`. A method that changes no value has
    no --columns (`takes_columns`), one that treats every record alike no --by (`takes_strata`).
    What becomes a pseudonym (`makes_pseudonyms`) nobody knows from elsewhere: it is no quasi-identifier.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _METHODS[name] = Method(
            name,
            function,
            stage,
            engine,
            promise,
            source,
            templates or (_KERNEL_TEMPLATES if engine == "numpy" else ()),
            takes_every_column,
            takes_columns,
            takes_strata,
            makes_pseudonyms,
            parameters(function),
        )
        return function

    return register


def methods() -> dict[str, Method]:
    """Return every method by name, in the order of their stages."""
    importlib.import_module("sqlmicro.group")
    importlib.import_module("sqlmicro.safe_method")
    importlib.import_module("sqlmicro.mask")
    return dict(_METHODS)


def find(name: str) -> Method:
    """Return the method called `name`, or raise ParameterError with the nearest name."""
    known = methods()
    if name not in known:
        raise ParameterError("method", f"{name!r} is no method", do=did_you_mean(name, known))
    return known[name]
