"""Catalogues of methods, audits and attacks: ours, and those of other packages, which name them by entry point.

A method is one decorated function whose keyword parameters are its settings.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from sqlmicro.errors import ParameterError, did_you_mean
from sqlmicro.options import common
from sqlmicro.options.guarantees import GuaranteeOptions
from sqlmicro.options.params import Parameter, Part, parameters, summary

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import numpy as np

Stage = Literal["group", "safe", "mask"]
Engine = Literal["numpy", "sql"]
Promise = Literal["record", "block", "column", "moments", "masked"]


class Named(Protocol):
    """What a catalogue holds: something with a name, made by a function."""

    @property
    def name(self) -> str:
        """The name users call it by."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function that was decorated."""


T = TypeVar("T", bound=Named)


class Catalogue(Generic[T]):
    """What is known by name: first what the modules of this package register, then plug-ins.

    Another package adds to it with an entry point in the group `sqlmicro.<kind>s`, whose value is a module that
    registers what it has when it is imported. A plug-in that cannot be imported does not keep the others from working:
    its name is in `broken`, and whoever asks for what is not there is told so.
    """

    def __init__(self, kind: str, modules: tuple[str, ...]) -> None:
        self.kind = kind
        self.broken: dict[str, str] = {}
        self._modules = modules
        self._found: dict[str, T] = {}
        self._complete = False

    def add(self, item: T) -> None:
        """Put something into the catalogue; a module that is imported again replaces what it registered itself.

        Raises
        ------
        ParameterError
            When another module has registered something of this name: a plug-in cannot replace a method of ours.
        """
        known = self._found.get(item.name)
        if known is not None and known.function.__module__ != item.function.__module__:
            raise ParameterError(
                f"{self.kind} {item.name!r} of {item.function.__module__}",
                "must have a name of its own",
                f"one that {known.function.__module__} has registered",
            )
        self._found[item.name] = item

    def remove(self, name: str) -> None:
        """Take something out again."""
        del self._found[name]

    def all(self) -> dict[str, T]:
        """Return everything by name, in the order in which it was registered: ours first."""
        if not self._complete:
            from importlib.metadata import entry_points  # with the mail parser, which most commands do without

            for module in self._modules:
                importlib.import_module(module)
            for plug_in in entry_points(group=f"sqlmicro.{self.kind}s"):
                self._plug_in(plug_in)
            self._complete = True
        return dict(self._found)

    def _plug_in(self, plug_in: EntryPoint) -> None:
        before = dict(self._found)
        try:
            plug_in.load()
        except Exception as error:  # somebody else's module may fail in any way
            self._found = before
            self.broken[plug_in.name] = type(error).__name__

    def find(self, name: str, where: str) -> T:
        """Return what is called `name`, or raise ParameterError with the nearest name."""
        known = self.all()
        if name in known:
            return known[name]
        failed = ", ".join(f"{plug_in} ({error})" for plug_in, error in self.broken.items())
        do = f"These plug-ins could not be imported: {failed}" if failed else did_you_mean(name, known)
        raise ParameterError(where, f"there is no {self.kind} {name!r}", do=do)


class Tick(Protocol):
    """What a kernel calls to say how far it is."""

    def __call__(self, done: int, total: int, best: str = "") -> None:
        """Say that `done` of `total` units are done, and how good the best result so far is."""


def silent(done: int, total: int, best: str = "") -> None:
    """Tell nobody: the tick of a kernel that is called where no progress is shown."""


@dataclass(frozen=True)
class Grouping:
    """The group of every record (n,), as integers from 0, and notes for the report."""

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
    draws: bool
    makes_pseudonyms: bool
    keeps_guarantees: bool
    parameters: tuple[Parameter, ...]

    @property
    def settings(self) -> tuple[Parameter, ...]:
        """What a user may set: its own settings, and what its classes must keep besides k."""
        return (*self.own_settings, *(parameters(GuaranteeOptions) if self.keeps_guarantees else ()))

    @property
    def own_settings(self) -> tuple[Parameter, ...]:
        """Its own parameters, and how the records become vectors where a kernel groups them."""
        return (*self.parameters, *parameters(common.RecordOptions)) if self.engine == "numpy" else self.parameters

    @property
    def takes_nulls(self) -> bool:
        """Whether a user chooses what becomes of missing values; in masking they stay missing."""
        return self.stage != "mask"

    @property
    def nulls(self) -> str:
        """What becomes of missing values where nothing is said."""
        return {"safe": "pattern", "group": "error", "mask": "keep"}[self.stage]

    def takes(self, option: str) -> bool:
        """Tell whether an option that methods share means something here."""
        unlike = {"columns": self.takes_columns, "by": self.takes_strata, "nulls": self.takes_nulls}
        return unlike.get(option, True)

    def told(self, part: Part, settings: Mapping[str, Any]) -> Any:
        """Return the value of the setting that plays a part in the program, None if there is none."""
        found = self.setting(part)
        return found and settings.get(found.name)

    def setting(self, part: Part) -> Parameter | None:
        """Return the setting that plays a part in the program."""
        return next((setting for setting in self.settings if setting.part == part), None)

    def group(self, X: np.ndarray, rng: np.random.Generator, tick: Tick, **settings: Any) -> Grouping:
        """Return the groups of the records X (n, p); only for a method that groups with `engine="numpy"`."""
        found = self.function(X, rng, tick, **settings)
        return found if isinstance(found, Grouping) else Grouping(found)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return summary(self.function)

    @property
    def module(self) -> str:
        """The module the method lives in."""
        return self.function.__module__


_KERNEL_TEMPLATES = (
    "load/features.sql",
    "load/guaranteed.sql",
    "load/stratum_numbers.sql",
    "replace/grouped.sql",
    "replace/group_means.sql",
    "replace/group_ordinal_medians.sql",
    "replace/group_modes.sql",
    "replace/representatives.sql",
    "replace/by_label.sql",
)
"""What runs around every kernel, see `records.py`."""
METHODS: Catalogue[Method] = Catalogue("method", ("sqlmicro.group", "sqlmicro.safe_method", "sqlmicro.mask"))


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
    draws: bool = False,
    makes_pseudonyms: bool = False,
    keeps_guarantees: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a method.

    An `engine="numpy"` grouping method is called as `f(X, rng, tick, **settings)` with X of shape (n, p), standardised,
    and returns labels of shape (n,), or a `Grouping` of them with notes for the report. An `engine="sql"` method is
    called as `f(work, **settings)` with a `work.Work` and returns a `work.Outcome`. A method that changes no value has
    no --columns (`takes_columns`), one that treats every record alike no --by (`takes_strata`). One that takes random
    numbers of every record from `work.drawn` says so (`draws`). What becomes a pseudonym
    (`makes_pseudonyms`) nobody knows from elsewhere: it is no quasi-identifier. What a kernel groups keeps guarantees
    other than k, see `options.guarantees`; another method says that it does (`keeps_guarantees`).
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        METHODS.add(
            Method(
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
                draws,
                makes_pseudonyms,
                keeps_guarantees or engine == "numpy",
                parameters(function),
            )
        )
        return function

    return register


def methods() -> dict[str, Method]:
    """Return every method by name, in the order of their stages."""
    return METHODS.all()


def find(name: str) -> Method:
    """Return the method called `name`, or raise ParameterError with the nearest name."""
    return METHODS.find(name, "method")


def late(module: str, *names: str) -> Any:
    """Import a module of ours when it is needed, and return it, or what it has under some names.

    What is compiled, or needs an extra, is loaded so. Nothing else of ours is imported inside a function: the head of a
    file tells all that it uses, and a test reads these names as imports too.
    """
    found = importlib.import_module(module)
    if not names:
        return found
    return getattr(found, names[0]) if len(names) == 1 else tuple(getattr(found, name) for name in names)
