"""What a method works with: its relation, its columns, the strata, and the statements several methods share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from sqlmicro.database.carried import FileSeries, Nights
from sqlmicro.database.columns import Column, make_columns, pick
from sqlmicro.database.deniable import Deniable
from sqlmicro.database.levels import Level, advised
from sqlmicro.database.places import show
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Row, Warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.guarantees import NO_GUARANTEE, NO_POPULATION, GuaranteeOptions, InPopulation
from sqlmicro.registry import Loss, Promise, Tick
from sqlmicro.system.arrow import whole_numbers
from sqlmicro.system.parallel import Counter, each_sized

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from sqlmicro.system.secrets import Key, Secret, Task

StratumKernel = Callable[["np.ndarray", Tick, int], "np.ndarray"]  # rows, tick, number of a stratum: its groups
_NOWHERE = Name("", "", "")
_DRAWS_OF_A_HASH, _DIGITS_OF_A_DRAW = 4, 15


@dataclass(frozen=True)
class Terms:
    """What every class of some columns must keep, as it is measured of what is published."""

    k: int = 0
    """So many records, or units of `level`; 0 where no k is demanded."""
    kept: GuaranteeOptions = NO_GUARANTEE
    """What a class keeps besides."""
    in_population: InPopulation = NO_POPULATION
    everybody: Name | None = None
    """The population, recoded as the records were; None where it is compared as it is."""
    level: Level | None = None
    """Whose units k counts, where it is not the person or the record."""

    @property
    def limits(self) -> dict[str, float]:
        """What is demanded besides k, by the names of the gates."""
        return {**self.kept.limits, **self.in_population.limits}


@dataclass(frozen=True)
class Claim:
    """What a step promises of its columns: the audit before publishing holds it to this."""

    columns: tuple[Column, ...]
    promise: Promise
    terms: Terms = Terms()


@dataclass(frozen=True)
class Units:
    """Where every record of a problem is a unit of several, such as a person or a household."""

    level: Level
    records: Name
    """The records of the units."""
    below: tuple[Column, ...] = ()
    """Columns of the step that belong to levels below: they differ within a unit."""


@dataclass(frozen=True)
class Demand:
    """What the classes of a step must keep besides k records, and the columns it is about, as they were read."""

    options: GuaranteeOptions = NO_GUARANTEE
    sensitive: tuple[Column, ...] = ()
    person: tuple[Column, ...] = ()
    """What says whose record it is: every class has k persons."""
    original: Name = _NOWHERE
    known: tuple[Column, ...] = ()
    """What identifies a record: the row key, else the key of the table, where it was looked for."""
    kept: tuple[Column, ...] = ()
    """In a series what is released as it is: a seat keeps its value, like that of a sensitive column."""
    units: Units | None = None
    """Whose records are grouped as one; of some of them nothing is known, and these count as one."""
    households: Level | None = None
    """Of which every class has k besides, where columns of theirs are grouped together with others."""
    files: FileSeries | None = None
    """The files shown before, from which that of tonight differs in no combination by fewer than k rows."""
    each_alone: bool = False
    """Whether every record is treated by itself, so that what becomes of it depends on nobody who comes or leaves."""

    @property
    def of_nights(self) -> tuple[Column, ...]:
        """What a night has to know of every record, besides the columns of the step."""
        return (*self.of_seats, *self.person)

    @property
    def of_seats(self) -> tuple[Column, ...]:
        """Whose values every seat of a series keeps."""
        return (*self.sensitive, *self.kept)

    @property
    def more_than_k(self) -> bool:
        """Whether k records are not enough for a class: it must have k persons, or keep something else."""
        return bool(self.person) or self.options.asked or self.units is not None


NOTHING_MORE = Demand()
"""k records are enough."""


@dataclass(frozen=True)
class Records:
    """Where the records of a problem are, which columns are worked on, and what is never mixed."""

    relation: Name
    columns: tuple[Column, ...]
    by: tuple[Column | str, ...] = ()
    """The strata; a pattern of missing values is one that has no column."""
    classes: tuple[Column, ...] = ()
    """Those of the strata that are classes of this step: each keeps what is demanded, and is divided."""
    guides: tuple[Column, ...] = ()
    """Columns that stay, in which near records are near too, as far as one value can tell."""
    order: Column | None = None
    """In whose order they are numbered, those without a value last."""
    compared: Name | None = None
    """The same records as they were before the step: what a release of them is compared with."""

    def of(self, relation: Name) -> Records:
        """Return them as they are in another relation, whose numbers may have gaps and be in no order."""
        return replace(self, relation=relation, order=None, compared=self.compared or self.relation)


@dataclass(frozen=True)
class StepOf:
    """The step that a problem is part of."""

    source: Source
    where: str
    """What messages call it."""
    prefix: str
    """How its relations are called."""
    rows: int
    """Of the table, for the progress."""
    columns: tuple[Column, ...]
    """All that it works on, here and elsewhere: settings may name each of them."""
    whole: frozenset[Column] = frozenset()
    """Those that hold whole numbers, and stay so."""
    only_shown: bool = False
    """Whether its statements are shown in a script and not run, since their relations are made otherwise."""


@dataclass
class Draws:
    """What random numbers depend on besides the records, and what was measured once for all nights that draw so."""

    key: Key
    task: Task
    nights: Nights | None = None
    bound: int = 0


@dataclass(frozen=True)
class Stream:
    """Random numbers of every record: for which columns, how many, and what else they are used with.

    The same value of the same person draws the same numbers again, as long as `also` is the same. `but` are settings
    that it stands for.
    """

    columns: tuple[Column, ...] = ()
    draws: int = 1
    also: object = ()
    but: tuple[str, ...] = ()


Kind = Literal["number", "nominal", "text"]
"""Of values: they have means, or no arithmetic, or are text from now on."""


@dataclass(frozen=True)
class NewValues:
    """The new values of a column: a relation with row_id, and the name of the column there."""

    relation: Name
    column: str
    kind: Kind = "number"
    is_added: bool = False
    """Whether the column is one that the table does not have."""
    read_once: bool = False
    """Whether the relation is dropped when it was read."""


def kinds_of(columns: Sequence[Column]) -> dict[Column, Kind]:
    """Return the kinds of values that stay of their type."""
    return {column: "number" if column.numeric else "nominal" for column in columns}


@dataclass(frozen=True)
class Rows:
    """Which rows are released, where these are not all records."""

    relation: Name
    complete: bool = False
    """Whether it has all that is released but the new values, also of rows of nobody; else the row_id of who stays."""


@dataclass
class Account:
    """What a method says of its work.

    `everybody` is the population, recoded as the records were. `told` is a dataclass of its own, `losses` are those of
    its groups, `denied` is what it claims so that its release can be denied, `recoding` what it decided, `others` are
    the answers that it could have given.
    """

    notes: list[str] = field(default_factory=list)
    groups: int = 0
    smallest: int | None = None
    largest: int | None = None
    losses: list[Loss | None] = field(default_factory=list)
    everybody: Name | None = None
    told: object = None
    denied: Deniable | None = None
    recoding: object = None
    others: dict[int, Outcome] = field(default_factory=dict)
    key_fingerprint: str | None = None


@dataclass
class Outcome:
    """The answer of a method: the new values of columns, the rows that are released, and its account of it."""

    values: dict[Column, NewValues] = field(default_factory=dict)
    rows: Rows | None = None
    account: Account = field(default_factory=Account)


@dataclass
class Work:
    """A problem: all that a method sees of the records, of what is demanded, and of the step; and its answer."""

    warehouse: Warehouse
    records: Records
    step: StepOf
    draws: Draws
    demand: Demand = NOTHING_MORE
    outcome: Outcome = field(default_factory=Outcome)

    @property
    def relation(self) -> Name:
        """Where the records are."""
        return self.records.relation

    @relation.setter
    def relation(self, relation: Name) -> None:
        self.records = self.records.of(relation)

    @property
    def columns(self) -> list[Column]:
        """The columns that are worked on."""
        return [*self.records.columns]

    @property
    def by(self) -> list[Column | str]:
        """The strata, and the patterns of missing values."""
        return [*self.records.by]

    @property
    def compared(self) -> Name:
        """The records as they were before the step."""
        return self.records.compared or self.relation

    @property
    def where(self) -> str:
        """What messages call the step."""
        return self.step.where

    @property
    def prefix(self) -> str:
        """How the relations of the step are called."""
        return self.step.prefix

    @property
    def source(self) -> Source:
        """The table that is released."""
        return self.step.source

    @property
    def whole(self) -> frozenset[Column]:
        """The columns that hold whole numbers, and stay so."""
        return self.step.whole

    @property
    def unit(self) -> str:
        """Of whom its records are: a record, a person or a household."""
        return self.demand.units.level.unit if self.demand.units else "record"

    @property
    def in_levels(self) -> bool:
        """Whether the step takes its columns level by level, so that these are some of a whole record."""
        return bool(self.demand.units or self.records.classes)

    def again(self, suffix: str) -> Work:
        """Return the same problem without an answer; the relations of this turn are called apart."""
        turn = copy(self)
        turn.step, turn.outcome = replace(self.step, prefix=f"{self.prefix}_{suffix}"), Outcome()
        return turn

    def members(self) -> Name:
        """Return which records of the table are of the same unit: row_id, unit; each is alone where none are."""
        if self.demand.units:
            return self.demand.units.level.members
        return self.run("mask/each_alone.sql", "alone", view=True, relation=self.relation)

    def shown(self) -> Work:
        """Return the same problem, whose statements a script shows and nobody runs; what is told of it is told here."""
        return replace(self, step=replace(self.step, only_shown=True))

    def advised(self, ask: str) -> str:
        """Return what helps where strata are too small: what was asked for, or what made them."""
        return advised(self.by, self.records.classes, ask)

    def once(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return what `measure` finds, as JSON has it; what is released night after night was measured in the first."""
        return self.draws.nights.first(name, measure) if self.draws.nights else measure()

    def epoch_key(self, secret: Secret) -> bytes:
        """Return a key, in a series one that is derived of it for the epoch.

        Raises
        ------
        InputError
            When the nights before had another key.
        """
        if self.draws.nights is None:
            return secret.value
        if self.once(f"{self.prefix} key", lambda: secret.fingerprint) != secret.fingerprint:
            must = "an epoch of a series has one key: by another one everybody would come anew"
            do = "Give the key it began with, or begin a new --epoch"
            raise InputError(f"{self.where}, key", must, "another", do)
        return secret.of_epoch(self.draws.nights.epoch)

    def draw_key(self, columns: Sequence[Column] | None = None, also: object = (), but: Sequence[str] = ()) -> str:
        """Return the key of the draws for some columns, by default for all of them: see `keys.Key.draws`."""
        names = [column.name for column in (self.columns if columns is None else columns)]
        return self.draws.key.draws(self.source.identity, self.draws.task, names, also, but)

    def rng(self) -> np.random.Generator:
        """Return a generator of the source, the method, its columns and settings, and the key."""
        return self.streams()()

    def streams(self) -> Callable[..., np.random.Generator]:
        """Return what makes such a generator, another one for every number it is given."""
        import numpy as np

        key = int(self.draw_key(), 16)
        return lambda *number: np.random.Generator(np.random.PCG64([key, *number] if number else key))

    def bind(self, columns: Sequence[Column] | None = None, also: object = (), but: Sequence[str] = ()) -> str:
        """Bind the key of the draws for some columns, and return the name of its variable."""
        self.draws.bound += 1
        self.warehouse.set_key(name := f"sqlmicro_{self.prefix}_{self.draws.bound}", self.draw_key(columns, also, but))
        return name

    def drawn(self, *streams: Stream, relation: Name | None = None) -> Name:
        """Return the records with the random numbers of some streams: draw_1, draw_2, … through all of them. A view.

        A relation of another step, or of another state of the columns, has to have `record`.
        """
        bound: list[tuple[str, tuple[Column, ...]]] = []
        draws: list[tuple[str, str, int]] = []
        for stream in streams:
            for start in range(0, stream.draws, _DRAWS_OF_A_HASH):
                bound.append((self.bind(stream.columns, [stream.also, start], stream.but), stream.columns))
                for place in range(min(_DRAWS_OF_A_HASH, stream.draws - start)):
                    draws.append((f"draw_{len(draws) + 1}", f"hash_{len(bound)}", 1 + place * _DIGITS_OF_A_DRAW))
        shown = relation or self.relation
        into = f"drawn_{self.draws.bound}"
        return self.run("mask/draws.sql", into, view=True, relation=shown, streams=bound, draws=draws)

    def new_column(self, name: str, kind: str) -> Column:
        """Return a column to be added to the release.

        Raises
        ------
        ParameterError
            When the table has a column of that name.
        """
        columns = self.source.columns
        if not name.strip() or name.lower() in {column.name.lower() for column in columns}:
            raise ParameterError(self.where, "a new column needs a name that the table does not have", repr(name))
        return make_columns([*((column.name, column.type) for column in columns), (name, kind)])[-1]

    def kept(self, name: str, option: str) -> Column:
        """Return a column that is released as it is, to be used without being changed."""
        (column,) = pick(self.source.columns, [name], f"{self.where}, {option}")
        return column

    def run(self, template: str, into: str, *, view: bool = False, **params: object) -> Name:
        """Create a staging relation of this step from a template."""
        into = f"{self.prefix}_{into}"
        if self.step.only_shown:
            return show(self.warehouse, template, into, view=view, **params)
        return self.warehouse.run(template, into, view=view, rows=self.step.rows, **params)

    def record(self, template: str, **params: object) -> Row:
        """Return the only row of a template."""
        return self.warehouse.record(template, **params)

    def note(self, text: str) -> None:
        """Add a sentence to the report."""
        self.outcome.account.notes.append(text)

    def sorted_by(self, column: Column) -> bool:
        """Tell whether the records are numbered in the order of a column, those without a value last."""
        return self.records.order == column and not self.by

    def sort(self, column: Column) -> Name:
        """Sort the records with a value in `column`, within strata; a view where they are numbered in that order."""
        into = f"sorted_{column.staged}"
        if self.sorted_by(column):
            return self.run("group/in_order.sql", into, view=True, relation=self.relation, column=column)
        return self.run("group/sorted.sql", into, relation=self.relation, by=self.by, column=column)

    def sort_by(self, relation: Name, column: str) -> Name:
        """Sort the records of another relation by one of its columns, within strata."""
        return self.run("group/sorted.sql", "sorted", relation=relation, by=self.by, column=column)

    def strata(self, template: str, ordered: Name, column: Column | None, k: int) -> Name:
        """Return where the groups of every stratum lie; refuse a stratum with fewer than k records.

        Raises
        ------
        InputError
            When there are fewer than k records with a value.
        """
        name = "strata" if column is None else f"strata_{column.staged}"
        strata = self.run(template, name, sorted=ordered, by=self.by, k=k)
        if self.step.only_shown:
            return strata
        found = self.warehouse.query(
            "strata",
            "SELECT min(last_position - first_position + 1), count(*), "
            "count(*) FILTER (WHERE last_position - first_position + 1 < {{ k }}) FROM {{ strata | ident }}",
            strata=strata, k=k,
        )  # fmt: skip
        smallest, count, below = found[0]
        if column is None or count:
            self.refuse_small_strata(k, int(smallest or 0), int(below), int(count), column.name if column else "")
        return strata

    def refuse_small_strata(
        self, k: int, smallest: int, below: int, strata: int, column: str = "",
        of: Literal["records", "persons"] = "records",
    ) -> None:  # fmt: skip
        """Raise InputError when the smallest stratum has fewer than k, as `below` of all `strata` have."""
        if smallest >= k:
            return
        must = f"at least k = {k} {of}" + (f" with a value in {column!r}" if column else "")
        # Patterns of missing values are strata that nobody named: they are small where the whole table is.
        if any(not isinstance(stratum, str) for stratum in self.by):
            got = f"{below} of {strata} strata with fewer, the smallest has {smallest}"
            do = self.advised("Use a smaller --k")
            raise InputError(self.where, f"every stratum must have {must}", got, do)
        do = (
            "Use a smaller --k"
            if smallest >= 2 or self.by
            else f"Check --table, and what --nulls leaves: even k = 2 needs 2 {of}"
        )
        raise InputError(self.where, f"there must be {must}", "fewer" if self.by else f"{smallest}", do)

    def groups_by_rank(self, ordered: Name, strata: Name, k: int) -> Name:
        """Return the group of every record from its position; a view, computed when it is read."""
        template, into = "group/groups_by_rank.sql", f"groups_{ordered.table}"
        return self.run(template, into, view=True, sorted=ordered, strata=strata, by=self.by, k=k)

    def replace(self, column: Column, values: Name, kind: Kind = "number", *, read_once: bool = False) -> None:
        """Take the new values of a column from the relation `values` (row_id, value)."""
        self.outcome.values[column] = NewValues(values, "value", kind, read_once=read_once)

    def replace_by_group(self, columns: Sequence[Column], groups: Name, representative: str) -> None:
        """Replace columns by the mean or median of the group; `groups` has row_id and label."""
        grouped = self.run(
            "replace/grouped.sql", "grouped", view=True, groups=groups, relation=self.relation, columns=columns
        )
        made = self.run(f"replace/group_{representative}s.sql", "representatives", grouped=grouped, columns=columns)
        template = "replace/by_label.sql"
        self.replace_all(columns, self.run(template, "values", groups=groups, representatives=made, columns=columns))

    def replace_by_rank_group(self, column: Column, groups: Name, representative: str) -> None:
        """Replace one column by the mean or median of the group; `groups` has row_id, label and value."""
        template = f"replace/group_{representative}s.sql"
        made = self.run(template, f"representatives_{column.staged}", grouped=groups, columns=["value"])
        params: dict[str, Any] = {"groups": groups, "representatives": made, "columns": ["value"]}
        self.replace(column, self.run("replace/by_label.sql", f"values_{column.staged}", **params))

    def replace_all(
        self, columns: Sequence[Column], values: Name, kind: Kind | Mapping[Column, Kind] = "number"
    ) -> None:
        """Take the new values of several columns from the relation `values` (row_id and the columns)."""
        for column in columns:
            own = kind if isinstance(kind, str) else kind.get(column, "number")
            self.outcome.values[column] = NewValues(values, column.staged, own)

    def add_column(self, column: Column, values: Name) -> None:
        """Add a column to the release, from the relation `values` (row_id and the column)."""
        self.outcome.values[column] = NewValues(values, column.staged, "nominal", is_added=True)

    def count_groups(self, groups: Name) -> None:
        """Add the number and sizes of the groups to the report."""
        self.count_sizes(**self.record("group/group_sizes.sql", groups=groups))

    def count_rank_groups(self, strata: Name, k: int) -> int:
        """Add the number and sizes of groups of consecutive records; return the smallest size."""
        if self.step.only_shown:
            return 0
        return self.count_sizes(**self.record("group/rank_group_sizes.sql", strata=strata, k=k))

    def count_sizes(self, groups: int | None, smallest: int | None, largest: int | None) -> int:
        """Add the number and sizes of groups to the report; return the smallest size, 0 without any."""
        account = self.outcome.account
        if not groups or smallest is None or largest is None:
            return 0
        smallest, largest = int(smallest), int(largest)
        account.groups += int(groups)
        account.smallest = smallest if account.smallest is None else min(account.smallest, smallest)
        account.largest = largest if account.largest is None else max(account.largest, largest)
        return smallest

    def matrix(self, columns: Sequence[Column]) -> tuple[np.ndarray, np.ndarray]:
        """Return row_id (n,) and the columns as they are (n, p); NaN where a value is missing."""
        import numpy as np

        params: dict[str, Any] = {"numeric": columns, "ordinal": [], "nominal": [], "strata": []}
        arrays = self.warehouse.arrays("load/features.sql", relation=self.relation, **params)
        X = np.empty((len(arrays["row_id"]), len(columns)))
        for j, column in enumerate(columns):
            X[:, j] = arrays[column.staged]
        return arrays["row_id"], X

    def stratum_numbers(self, n: int) -> np.ndarray:
        """Return the stratum of every record (n,), in the order of row_id."""
        import numpy as np

        if not self.by:
            return np.zeros(n, dtype=np.int64)
        return self.warehouse.arrays("load/stratum_numbers.sql", relation=self.relation, by=self.by)["stratum"]

    def group_strata(
        self, strata: np.ndarray, k: int, text: str, kernel: StratumKernel, column: str = "", *, threads: bool = False,
        records: np.ndarray | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Return the group of every record (n,), counted through all strata; `text` is shown while the kernel runs.

        With `threads` several strata are grouped at once, which a kernel must bear. A row may stand for `records` (n,).

        Raises
        ------
        InputError
            When a stratum has fewer than k records.
        """
        import numpy as np

        labels, groups = np.empty(n := len(strata), dtype=np.int64), 0
        if not n:
            return labels
        sizes = (counts := np.bincount(strata))[counts > 0]
        told = np.bincount(strata, records)[counts > 0]
        self.refuse_small_strata(k, int(told.min()), int((told < k).sum()), len(told), column)
        by_digits = strata.astype(np.uint16 if len(counts) <= 1 << 16 else strata.dtype, copy=False)
        members = np.split(np.argsort(by_digits, kind="stable"), np.cumsum(sizes)[:-1])
        with self.warehouse.progress.kernel(text, n) as progress:
            counter = Counter(n, progress.tick)

            def group(number: int) -> np.ndarray:
                return kernel(members[number], counter.part(len(members[number])), number)

            grouped = each_sized(group, sizes.tolist()) if threads else [*map(group, range(len(sizes)))]
        for rows, found in zip(members, grouped, strict=True):
            labels[rows] = groups + found
            groups += int(found.max()) + 1
        return labels

    def load(self, table: pa.Table, into: str, comment: str) -> Name:
        """Create a staging relation of this step from an Arrow table."""
        return self.warehouse.load(table, f"{self.prefix}_{into}", comment)

    def load_labels(self, row_id: np.ndarray, labels: np.ndarray, kernel: str, into: str = "groups") -> Name:
        """Write the group of every record back to the warehouse."""
        import pyarrow as pa

        filled = pa.table({"row_id": whole_numbers(row_id), "label": whole_numbers(labels)})
        return self.load(filled, into, f"filled with groups that {kernel} made")
