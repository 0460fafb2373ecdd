"""The methods there are: each is one decorated function whose keyword parameters are its settings."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sqlmicro.options import common
from sqlmicro.options.catalogue import Catalogue
from sqlmicro.options.guarantees import NO_POPULATION, GuaranteeOptions, InPopulation
from sqlmicro.options.manifest import Entry
from sqlmicro.options.params import Parameter, Part, parameters, split_blocks

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.system.secrets import Recipe

_ROUNDING = 1e-9  # of an SSE

Stage = Literal["group", "safe", "mask"]
Engine = Literal["numpy", "sql"]
Promise = Literal["record", "block", "column", "moments", "masked"]
Surrogate = Literal["pseudonym", "fake"]
"""What stands for values: by a secret key, so that nobody knows from elsewhere whom one of them means."""


@dataclass(frozen=True)
class Assurance:
    """What a method promises with its settings: of which of its columns together, and what the population must hold."""

    promise: Promise
    blocks: tuple[str, ...] | None = None
    """The names of columns of which it holds together; None: of all."""
    subsets: int | None = None
    """It holds of every set of so many columns; None: of all."""
    in_population: InPopulation = NO_POPULATION


Assures = Callable[[Mapping[str, Any], str], Assurance]
"""Tells what a method promises with its settings; messages begin with the text."""


def of_no_column(settings: Mapping[str, Any], where: str) -> Assurance:
    """Return what a method promises that makes its columns tell nobody who a person is: they are no part of it."""
    return Assurance("masked", blocks=("",))


class Tick(Protocol):
    """What a kernel calls to say how far it is."""

    def __call__(self, done: int, total: int, best: str = "") -> None:
        """Say that `done` of `total` units are done, and how good the best result so far is."""


def silent(done: int, total: int, best: str = "") -> None:
    """Tell nobody: the tick of a kernel that is called where no progress is shown."""


@dataclass(frozen=True)
class Loss:
    """The SSE of groups, and a lower bound on that of every grouping of the same records."""

    sse: float
    least: float

    @classmethod
    def of(cls, X: np.ndarray, labels: np.ndarray, least: Sequence[float | None]) -> Loss | None:
        """Return the loss of groups of X (n, p), given a bound for every stratum.

        None where no bound is known for some stratum, or there is none.
        """
        import numpy as np

        known = [one for one in least if one is not None]
        if len(known) < len(least) or not known:
            return None
        sizes, sse = np.maximum(np.bincount(labels), 1), 0.0
        for column in X.T:
            # Around a value of its own an offset costs no digits.
            centred = column - column[0]
            sse += float(((centred - (np.bincount(labels, centred) / sizes)[labels]) ** 2).sum())
        return cls(sse, math.fsum(known))

    @classmethod
    def of_all(cls, losses: Sequence[Loss | None]) -> Loss | None:
        """Return the loss of all parts of the records, or blocks of columns; None where that of some is not known.

        >>> Loss.of_all([Loss(3.0, 2.0), Loss(1.0, 0.5)]), Loss.of_all([None, Loss(1.0, 0.5)]), Loss.of_all([])
        (Loss(sse=4.0, least=2.5), None, None)
        """
        known = [one for one in losses if one is not None]
        if len(known) < len(losses) or not known:
            return None
        return cls(sum(one.sse for one in known), sum(one.least for one in known))

    @property
    def above_optimum(self) -> float | None:
        """How many percent above the optimum the SSE is at most; None where the bound says nothing.

        >>> Loss(3.0, 2.0).above_optimum, Loss(0.0, 0.0).above_optimum, Loss(1.0, 0.0).above_optimum
        (50.0, 0.0, None)
        """
        if self.sse <= self.least * (1 + _ROUNDING):
            return 0.0
        return 100 * (self.sse / self.least - 1) if self.least > 0 else None


def rounded_up(percent: float) -> str:
    """Return a percentage with two significant digits, rounded up.

    >>> rounded_up(0.5501), rounded_up(7.0), rounded_up(123.4)
    ('0.56', '7', '130')
    """
    if percent <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(percent))
    scaled = math.ceil(percent * 10.0**digits * (1 - 1e-12)) / 10.0**digits
    return f"{scaled:.{max(0, digits)}f}".rstrip("0").rstrip(".") if digits > 0 else f"{scaled:.0f}"


@dataclass(frozen=True)
class Grouping:
    """The group of every record (n,), as integers from 0, and notes for the report.

    `least` is a lower bound on the SSE of every grouping of these records, where one is known.
    """

    labels: np.ndarray
    notes: tuple[str, ...] = ()
    least: float | None = None


PROMISES: dict[Promise, str] = {
    "record": "every record occurs at least k times in the columns it was given",
    "block": "every record occurs at least k times in each block of columns; the whole record is not k-anonymous",
    "column": "every value occurs at least k times in its own column; the record is not k-anonymous",
    "moments": "mean and variance of every group of at least k are kept; neither value nor record is k-anonymous",
    "masked": "values are changed or records left out; no k is promised, the one that is found is shown",
}


@dataclass(frozen=True, kw_only=True)
class Method(Entry):
    """A method: what `sqlmicro methods` prints and what the pipeline calls."""

    stage: Stage
    engine: Engine
    promise: Promise
    source: str
    templates: tuple[str, ...]
    takes_every_column: bool = False
    takes_columns: bool = True
    takes_strata: bool = True
    draws: bool = False
    surrogate: Surrogate | None = None
    keeps_guarantees: bool = False
    by_value: bool = False
    recodes: bool = False
    sorts: bool = False
    no_series: str = ""
    """Why its nights would tell more together than one does, where they would."""
    on_clusters: bool = False
    """Whether its own statements run on an engine whose records are on many machines."""
    promise_depends: bool = False
    """Whether its settings decide what it promises: its function has `assures` then, and `promise` is the default."""

    def assured(self, settings: Mapping[str, Any], where: str) -> Assurance:
        """Return what it promises with some settings; what a kernel groups block by block holds of each block alone."""
        if self.promise_depends:
            found: Assurance = vars(self.function)["assures"](settings, where)
            return found
        blocks = split_blocks(settings.get("block_attributes") or "") if self.engine == "numpy" else []
        return Assurance("block", tuple(blocks)) if len(blocks) > 1 else Assurance(self.promise)

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

    def keeps_constant(self, settings: Mapping[str, Any]) -> bool:
        """Tell whether equal values of a column stay equal: others are grouped person by person, see `levels`."""
        return self.by_value and not self.told("local", settings)

    @property
    def goes_on(self) -> bool:
        """Whether a series of releases can be made with it."""
        in_sql = self.stage == "group" and self.promise == "record" and not self.no_series
        return self.engine == "numpy" or self.recodes or in_sql

    @property
    def nests(self) -> bool:
        """Whether its classes are over all of its columns, so that those of a level lie in those of the level above."""
        return self.keeps_guarantees and self.promise != "column"

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


_KERNEL_TEMPLATES = (
    "load/numbers_of_column.sql",
    "load/features.sql",
    "load/features_of_strata.sql",
    "load/guaranteed.sql",
    "load/stratum_sizes.sql",
    "load/stratum_numbers.sql",
    "replace/grouped.sql",
    "replace/group_means.sql",
    "replace/group_ordinal_medians.sql",
    "replace/group_modes.sql",
    "replace/representatives.sql",
    "replace/by_label.sql",
)
"""What runs around every kernel, see `group/records.py`."""
METHODS = Catalogue("method", Method, ("sqlmicro.group", "sqlmicro.safe_method", "sqlmicro.mask"))


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
    surrogate: Surrogate | None = None,
    keeps_guarantees: bool = False,
    by_value: bool = False,
    recodes: bool = False,
    sorts: bool = False,
    no_series: str = "",
    on_clusters: bool = False,
    assures: Assures | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a method.

    An `engine="numpy"` grouping method is called as `f(X, rng, tick, **settings)` with X of shape (n, p), standardised,
    and returns labels of shape (n,), or a `Grouping` of them with notes for the report. An `engine="sql"` method is
    called as `f(work, **settings)` with a `work.Work` and returns a `work.Outcome`. A method that changes no value has
    no --columns (`takes_columns`), one that treats every record alike no --by (`takes_strata`). One that takes random
    numbers of every record from `work.drawn` says so (`draws`). One whose values nobody knows from elsewhere says
    what they are (`surrogate`): no quasi-identifier. What a kernel groups keeps guarantees other than k, see
    `options.guarantees`; another method says that it does (`keeps_guarantees`). One that gives equal values of a
    column the same value says so (`by_value`): what is constant within a person stays so. One whose classes are
    made by a recoding that other records can be given says so (`recodes`): it goes on in a series. One whose nights
    would tell more together than one of them says why (`no_series`). One that sorts by each of its columns says so
    (`sorts`): where it has one, the records are numbered in its order, and sorted once. One whose promise depends on
    its settings says how (`assures`). One whose statements run where records are on many machines says so
    (`on_clusters`); what a kernel groups is grouped in blocks there.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if assures is not None:
            vars(function)["assures"] = assures
        METHODS.add(
            Method(
                **vars(Entry.of(name, function)),
                stage=stage,
                engine=engine,
                promise=promise,
                source=source,
                templates=templates or (_KERNEL_TEMPLATES if engine == "numpy" else ()),
                takes_every_column=takes_every_column,
                takes_columns=takes_columns,
                takes_strata=takes_strata,
                draws=draws,
                surrogate=surrogate,
                keeps_guarantees=keeps_guarantees or engine == "numpy",
                by_value=by_value,
                recodes=recodes,
                sorts=sorts,
                no_series=no_series,
                on_clusters=on_clusters,
                promise_depends=assures is not None,
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


def sorted_by(recipe: Recipe) -> str | None:
    """Return the column in whose order the records of a run are numbered, where its only step sorts them by that.

    Persons and households are no records, and strata are sorted one by one.
    """
    if len(recipe.tasks) != 1 or recipe.person or recipe.household:
        return None
    (task,) = recipe.tasks
    return task.columns[0] if len(task.columns) == 1 and not task.by and find(task.method).sorts else None


def late(module: str, *names: str) -> Any:
    """Import a module of ours when it is needed, and return it, or what it has under some names.

    What is compiled, needs an extra, or is asked of a command seldom is loaded so. Nothing else of ours is imported
    inside a function: the head of a file tells all that it uses, and a test reads these names as imports too.
    """
    found = importlib.import_module(module)
    if not names:
        return found
    return getattr(found, names[0]) if len(names) == 1 else tuple(getattr(found, name) for name in names)
