"""What an audit looks at: a release and what is known of its columns, staged so that audits are short SELECTs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import profile_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError

T = TypeVar("T")
Nulls = Literal["own_value", "wildcard", "exclude"]
ARITHMETIC = ("integer", "float", "decimal")


def has_no_plain_bytes(column: Column) -> bool:
    """Tell whether equal values of a type may be written differently, such as 1 month and 30 days."""
    return column.family == "other" and column.type not in ("UUID", "BLOB")


def is_ambiguous(column: Column) -> bool:
    """Tell whether a type holds the number 1 and the text 1, which are compared by how they are written."""
    return "UNION(" in column.type or column.type.startswith("VARIANT")


@dataclass(frozen=True)
class Table:
    """A relation and its columns: the release, the original it was made from, or the population."""

    relation: Name
    columns: tuple[Column, ...]
    is_text: bool = False
    """Whether it is read from CSV or JSON, which is done once only."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A release under audit: its relation, the roles of its columns, what it is compared with, how NULL is read.

    Parameters
    ----------
    warehouse : Warehouse
        Where the relations are.
    release : Table
        Any table, view or file.
    quasi, sensitive : tuple of Column
        Quasi-identifiers and sensitive columns of the release.
    weight : Column, optional
        How many members of the population a record stands for.
    entity : Column, optional
        Whom a record belongs to: classes then count entities, not records.
    original : Table, optional
        What the release was made from.
    match : tuple of Column
        Columns that both tables have unchanged and that identify a record; without them only distributions compare.
    population : Table, optional
        Everybody an attacker may take a record for, with columns of the names of the quasi-identifiers.
    nulls : {"own_value", "wildcard", "exclude"}
        A missing quasi-identifier is a value of its own; matches every value; or its record is left out. In a
        sensitive column it is a value of its own, and left out by "exclude".
    numeric, nominal : tuple of str
        Names of columns to take as such, whatever `profile` would propose.

    Notes
    -----
    `records` has every value by its canonical bytes, `cells` the classes. Both are views where NULL is a value or left
    out: whoever reads them, reads the release as it is at that moment.
    """

    warehouse: Warehouse
    release: Table
    quasi: tuple[Column, ...] = ()
    sensitive: tuple[Column, ...] = ()
    weight: Column | None = None
    entity: Column | None = None
    original: Table | None = None
    match: tuple[Column, ...] = ()
    population: Table | None = None
    nulls: Nulls = "own_value"
    numeric: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    # What is there

    def has(self, need: str) -> bool:
        """Tell whether an input is given, by its name."""
        return bool(getattr(self, need))

    def over(self, quasi: Iterable[Column]) -> Subject:
        """Return the same release with fewer quasi-identifiers; what was staged or counted once is used again."""
        fewer = tuple(quasi)
        made: dict[str, Any] = {} if self.nulls == "exclude" else {"records": self.records}
        if self.nulls == "own_value" and self.entity is None:
            counted = self.once("counted", lambda: self._counted("counted", self.quasi, view=False))
            into = f"without_{'_'.join(str(i) for i, c in enumerate(self.quasi) if c not in fewer)}"
            made["cells"] = self.stage("audit/merged_cells.sql", into, relation=counted, columns=fewer)
        return replace(self, quasi=fewer, _made=made)

    @property
    def frame(self) -> bool:
        """Whether it is known how often a combination occurs in the population: counted there, or by weights."""
        return self.population is not None or self.weight is not None

    @property
    def shared(self) -> tuple[Column, ...]:
        """The columns of the release that the original has too, apart from those that match records."""
        if self.original is None:
            return ()
        theirs = {column.name for column in self.original.columns}
        return tuple(c for c in self.release.columns if c.name in theirs and c not in self.match)

    def split(self, columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
        """Return the numeric and the nominal ones of some columns: as named, else as `profile` proposes."""
        unnamed = tuple(c for c in columns if c.name not in (*self.numeric, *self.nominal))
        other = {} if self.original is None else {column.name: column for column in self.original.columns}
        relation = self.release.relation
        if other and all(column.name in other for column in unnamed):
            relation = self.original.relation if self.original is not None else relation
        source = Source(relation, "", unnamed, is_table=False)
        proposed = {p.column.name: p.scale[0] for p in profile_columns(self.warehouse, source)} if unnamed else {}
        numeric = [
            column
            for column in columns
            if column.numeric
            and other.get(column.name, column).numeric
            and (column.name in self.numeric or proposed.get(column.name) == "numeric")
        ]
        return numeric, [column for column in columns if column not in numeric]

    # What is staged

    @property
    def records(self) -> Name:
        """The release by canonical bytes: the quasi-identifiers, sensitive columns, weight and entity, staged names."""
        return self.once("records", lambda: self._view(self.release, self._used))

    @property
    def cells(self) -> Name:
        """The classes: the quasi-identifiers, records (that have the combination), size (records that match it)."""
        return self.once("cells", lambda: self._cells("cells", self.quasi))

    @property
    def weighted_cells(self) -> Name:
        """The classes with `total`: the sum of the weights of the records that match."""
        if self.weight is None:
            raise InputError("audit, --weight", "a weight column is needed", "none")
        weight = self.weight
        return self.once("weighted_cells", lambda: self._cells("weighted_cells", self.quasi, weight=weight))

    def members(self, sensitive: Column) -> Name:
        """The classes divided by a sensitive column: the quasi-identifiers, the column, records and size of each."""
        into = f"members_{self.sensitive.index(sensitive) + 1}"
        return self.once(into, lambda: self._cells(into, (*self.quasi, sensitive)))

    @property
    def population_cells(self) -> Name:
        """The combinations of the population in the columns of the quasi-identifiers, `size` members each.

        Where NULL matches every value, it is the combinations of the release and how many of the population match each.
        """
        if self.population is None:
            raise InputError("audit, --population", "a population table is needed", "none")
        table = self.population

        def stage() -> Name:
            theirs = pick(table.columns, [column.name for column in self.quasi], "audit, --population")
            renamed = [replace(own, staged=column.staged) for column, own in zip(self.quasi, theirs, strict=True)]
            records = self._view(table, renamed, "population")
            cells = self.stage(
                "audit/cells.sql", "population_as_it_is", relation=records, columns=self.quasi, summed=[]
            )
            if self.nulls != "wildcard":
                return cells
            return self._matching("population_cells", self.cells, cells)

        return self.once("population_cells", stage)

    def shown(self) -> dict[str, Any]:
        """Return the quasi-identifiers by how they are staged: as they are, as the bytes of their text, or as bits."""
        return self._kinds(self.quasi)

    def stage(self, template: str, into: str, *, view: bool = True, **params: Any) -> Name:
        """Stage what a template returns, for the next one to read, and return its name."""
        return self.warehouse.run(template, self._name(into), view=view, **params)

    def once(self, key: str, make: Callable[[], T]) -> T:
        """Return what `make` made under this key the first time: several audits share a result or a relation."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    # How

    @cached_property
    def _used(self) -> list[Column]:
        extra = [column for column in (self.weight, self.entity) if column is not None]
        return list(dict.fromkeys([*self.quasi, *self.sensitive, *extra]))

    @cached_property
    def _bytes(self) -> set[Column]:
        """The columns whose values are compared as the bytes of their text."""
        found = {column for column in self._used if column.collated or has_no_plain_bytes(column)} - self._bits
        if self.population is not None:
            theirs = pick(self.population.columns, [column.name for column in self.quasi], "audit, --population")
            for own, other in zip(self.quasi, theirs, strict=True):
                both_numbers = own.family in ARITHMETIC and other.family in ARITHMETIC
                if other.collated or (own.type != other.type and not (both_numbers and own not in self._bits)):
                    found.add(own)
        return found

    @cached_property
    def _bits(self) -> set[Column]:
        """The columns whose floating-point numbers are compared bit by bit: -0.0 is not 0.0, nor NaN every NaN.

        A sensitive column tells no more by the sign of a zero; there the values are compared.
        """
        columns = [c for c in self._used if c not in self.sensitive and c != self.weight and c.bits]
        floats = [column for column in columns if column.family == "float"]
        relation = self.release.relation
        rows = self.warehouse.rows("audit/ambiguous_floats.sql", relation=relation, columns=floats) if floats else []
        ambiguous = {name for name, count in rows if count}
        return {column for column in columns if column not in floats or column.name in ambiguous}

    def _kinds(self, columns: Sequence[Column]) -> dict[str, Any]:
        # By the name in staging: a column of the population is staged like the one of the release it is compared with.
        as_bytes = {column.staged for column in self._bytes}
        as_bits = {column.staged for column in self._bits} - as_bytes
        return {
            "plain": [column for column in columns if column.staged not in as_bytes | as_bits],
            "as_bytes": [column for column in columns if column.staged in as_bytes],
            "as_bits": [column for column in columns if column.staged in as_bits],
        }

    def _view(self, table: Table, columns: Sequence[Column], into: str = "records") -> Name:
        sensitive = [column for column in self.sensitive if into == "records"]
        complete = [*columns[: len(self.quasi)], *sensitive] if self.nulls == "exclude" else []
        return self.warehouse.run(
            "audit/records.sql",
            self._name(into),
            view=not table.is_text,
            relation=table.relation,
            complete=complete,
            **self._kinds(columns),
        )

    def _cells(self, into: str, columns: Sequence[Column], weight: Column | None = None) -> Name:
        wildcard = self.nulls == "wildcard"
        name = f"{into}_as_they_are" if wildcard else into
        if self.entity is None:
            cells = self._counted(name, columns, summed=[] if weight is None else [weight])
        elif wildcard:
            raise InputError("audit, --entity", "entities are not counted where NULL matches every value", "wildcard",
                             "Use --nulls own_value or exclude")  # fmt: skip
        else:
            params: dict[str, Any] = {"relation": self.records, "columns": columns, "entity": self.entity}
            if weight is None:
                cells = self.stage("audit/entity_cells.sql", name, **params)
            else:
                cells = self.stage("audit/weighted_entity_cells.sql", name, weight=weight, **params)
        if not wildcard:
            return cells
        return self._matching(into, cells, cells, columns[len(self.quasi) :], ["total"] if weight else [])

    def _counted(
        self, into: str, columns: Sequence[Column], *, summed: Sequence[Column] = (), view: bool = True
    ) -> Name:
        return self.stage("audit/cells.sql", into, view=view, relation=self.records, columns=columns, summed=summed)

    def _matching(
        self, into: str, cells: Name, among: Name, kept: Sequence[Column] = (), summed: Sequence[str] = ()
    ) -> Name:
        bits = [(column, 2**index) for index, column in enumerate(self.quasi)]
        shared = {"relation": cells, "among": among, "columns": bits, "kept": kept, "summed": summed}
        return self.stage("audit/matching_cells.sql", into, view=False, **shared)

    @cached_property
    def _prefix(self) -> str:
        # Every name is used in a statement at once, so that the log is longer when the next subject asks.
        return f"audit_{len(self.warehouse.log) + 1}"

    def _name(self, into: str) -> str:
        return f"{self._prefix}_{into}"
