"""A release under audit: what is known of its columns, staged so that audits are short SELECTs.

Canonical bytes: the relation that every k is counted from.

`GROUP BY` merges values that stay distinct in the output: Bob and BOB under a collation, 1 month and 30 days, 0.0 and
-0.0. Here every value becomes what tells it apart, by the type of its column.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from sqlmicro.database.assessed import AssessedRelease
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params, Select, select
from sqlmicro.database.typed_columns import profile_columns
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    from sqlmicro.attacks.control import Controlled

Nulls = Literal["own_value", "wildcard", "exclude"]
ARITHMETIC = ("integer", "float", "decimal")


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditedRelease(AssessedRelease):
    """A release under audit: the roles of its columns, what it is compared with, and how NULL is read.

    Parameters
    ----------
    warehouse, release, original, match, nominal
        As in `AssessedRelease`; without `match` only distributions compare, and columns that are not named in `nominal`
        or `numeric` are what `profile` would propose.
    quasi, sensitive : tuple of Column
        Quasi-identifiers and sensitive columns of the release.
    weight : Column, optional
        How many members of the population a record stands for.
    person : tuple of Column
        Whose record it is: classes then count persons, not records. NULL is a person: all records that say of nobody
        whose they are.
    household : tuple of Column
        Which household a record belongs to.
    control : Source or Controlled, optional
        People who were not in the original, or a release that was rehearsed without some.
    population : Source, optional
        Everybody an attacker may take a record for, with columns of the names of the quasi-identifiers.
    names : mapping
        What the columns of a staged release are called in the population.
    nulls : {"own_value", "wildcard", "exclude"}
        A missing quasi-identifier is a value of its own; matches every value; or its record is left out. In a
        sensitive column it is a value of its own, and left out by "exclude".
    numeric : tuple of str
        Names of columns to take as numbers.
    person_names : tuple of str
        What the columns of the person are called in the population; by default as in the release. Where it has them,
        persons are counted there too, else records.
    original_person : tuple of str
        What they are called in the original; by default as in the release.

    Notes
    -----
    `records` has every value by its canonical bytes, `cells` the classes. Both are views where NULL is a value or left
    out: whoever reads them, reads the release as it is at that moment. What every measure of a sensitive column reads,
    `members`, is counted once.
    """

    verb: ClassVar[str] = "audit"

    quasi: tuple[Column, ...] = ()
    sensitive: tuple[Column, ...] = ()
    weight: Column | None = None
    person: tuple[Column, ...] = ()
    household: tuple[Column, ...] = ()
    control: Source | Controlled | None = None
    population: Source | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    nulls: Nulls = "own_value"
    numeric: tuple[str, ...] = ()
    person_names: tuple[str, ...] = ()
    original_person: tuple[str, ...] = ()

    # What is there

    def has(self, need: str) -> bool:
        """Tell whether an input is given, by its name."""
        return bool(getattr(self, need))

    def over(self, quasi: Iterable[Column]) -> AuditedRelease:
        """Return the same release with fewer quasi-identifiers; what was staged or counted once is used again."""
        fewer = tuple(quasi)
        made: Params = {} if self.nulls == "exclude" else {"records": self.records}
        if self.nulls == "own_value" and not self.person:
            counted = self.once("counted", lambda: self._counted("counted", self.quasi, self.records, view=False))
            into = f"without_{'_'.join(str(i) for i, c in enumerate(self.quasi) if c not in fewer)}"
            made["cells"] = self.stage("audit/merged_cells.sql", into, relation=counted, columns=fewer)
        return replace(self, quasi=fewer, _made=made)

    @property
    def frame(self) -> bool:
        """Whether it is known how often a combination occurs in the population: counted there, or by weights."""
        return self.population is not None or self.weight is not None

    def split(self, columns: Sequence[Column]) -> tuple[list[Column], list[Column]]:
        """Return the numeric and the nominal ones of some columns: as named, else as `profile` proposes."""
        unnamed = tuple(c for c in columns if c.name not in (*self.numeric, *self.nominal))
        other = self.theirs
        by_original = self.original is not None and all(column.name in other for column in unnamed)
        source = self.original if self.original is not None and by_original else self.release
        source = Source(source.relation, "", unnamed, is_table=False)
        found = profile_columns(self.warehouse, source) if unnamed else []
        ordered = {profile.column.name for profile in found if profile.is_ordered}
        numeric = [
            column
            for column in columns
            if column.numeric
            and other.get(column.name, column).numeric
            and (column.name in self.numeric or column.name in ordered)
        ]
        return numeric, [column for column in columns if column not in numeric]

    # What is staged

    @property
    def records(self) -> Name:
        """The release by canonical bytes under staged names: quasi-identifiers, sensitive columns, weight, person."""
        return self.once("records", lambda: self._view(self.release, self._used))

    def keyed(self, relation: Name, key: Sequence[Column]) -> Name:
        """The release as `records` has it, read from a relation that has a key too: with the key as it is."""
        return self._view(replace(self.release, relation=relation), [*self._used, *key], "keyed_records")

    @property
    def cells(self) -> Name:
        """The classes: the quasi-identifiers, records (that have the combination), size (records that match it).

        Where persons are counted, both are numbers of persons.
        """
        return self.once("cells", lambda: self._cells("cells", self.quasi))

    @property
    def weighted_cells(self) -> Name:
        """The classes with `total`: the sum of the weights of the records that match."""
        if self.weight is None:
            raise InputError("audit, --weight", "a weight column is needed", "none")
        weight = self.weight
        return self.once("weighted_cells", lambda: self._cells("weighted_cells", self.quasi, weight=weight))

    def members(self, sensitive: Column) -> Name:
        """The classes divided by a sensitive column: the quasi-identifiers, the column, records and size of each.

        They are records also where persons are counted: what a person has in one record need not be in another.
        """
        into = f"members_{self.sensitive.index(sensitive) + 1}"
        return self.once(into, lambda: self._cells(into, (*self.quasi, sensitive), of_records=True, view=False))

    @property
    def person_records(self) -> Name:
        """A record for every person and class: the quasi-identifiers, the columns of the person."""
        return self.once("person_records", lambda: self._of_persons("person_records", self.records, self.quasi))

    def original_values(self, sensitive: Column) -> Name | None:
        """The values of a sensitive column in the original: the column, records of each.

        None where the original lacks the column, or has it in another type.
        """
        other = self.theirs.get(sensitive.name)
        if self.original is None or other is None or other.type != sensitive.type:
            return None
        table, into = self.original, f"original_{self.sensitive.index(sensitive) + 1}"

        def stage() -> Name:
            column = replace(other, staged=sensitive.staged)
            records = self._view(table, [column], f"{into}_records")
            return self.stage("audit/cells.sql", into, relation=records, columns=[column], summed=[])

        return self.once(into, stage)

    @property
    def population_cells(self) -> Name:
        """The combinations of the population in the columns of the quasi-identifiers, `size` members each.

        Where NULL matches every value, it is the combinations of the release and how many of the population match each.
        """
        if self.population is None:
            raise InputError("audit, --population", "a population table is needed", "none")
        table = self.population

        def stage() -> Name:
            theirs = self._in_population(table)
            renamed = [replace(own, staged=column.staged) for column, own in zip(self.quasi, theirs, strict=True)]
            whose = self._persons_in(table)
            records = self._view(table, [*renamed, *whose], "population")
            if whose:
                records = self.stage(
                    "audit/person_records.sql", "population_persons", relation=records, columns=self.quasi,
                    person=whose, weights=[],
                )  # fmt: skip
            cells = self.stage(
                "audit/cells.sql", "population_as_it_is", relation=records, columns=self.quasi, summed=[]
            )
            if self.nulls != "wildcard":
                return cells
            return self._matching("population_cells", self.cells, cells)

        return self.once("population_cells", stage)

    def shown(self) -> Mapping[str, Any]:
        """Return the quasi-identifiers by how they are compared, as audit/violating_classes.sql takes them."""
        forms = canonical_forms(self.quasi, self._form)
        # A column that is compared by both is refused as a quasi-identifier.
        return {form: columns for form, columns in forms.items() if form != "as_both"}

    # How

    @cached_property
    def _used(self) -> list[Column]:
        weights = [] if self.weight is None else [self.weight]
        return list(dict.fromkeys([*self.quasi, *self.sensitive, *weights, *self.person, *self.household]))

    def _form(self, column: Column) -> Form:
        # By the name in staging: a column of the population is staged like the one of the release it is compared with.
        return self._forms.get(column.staged, "plain")

    @cached_property
    def _forms(self) -> dict[str, Form]:
        """How every column is compared. A sensitive column tells no more by the sign of a zero: its values are.

        Persons and households are never told apart more than by their values: more of them would look safer.
        """
        found: dict[str, Form] = {}
        for column in self._used:
            form = canonical_form(column)
            by_value = column in self.sensitive or column == self.weight
            of_whom = column not in self.quasi and column in (*self.person, *self.household)
            if of_whom or (form == "as_bits" and (by_value or column.name not in self._ambiguous_floats)):
                form = "plain"
            elif (form == "as_nested_bits" and by_value) or (form == "as_both" and column not in self.quasi):
                form = "as_bytes"
            found[column.staged] = form
        if self.population is not None:
            theirs = self._in_population(self.population)
            for own, other in zip(self.quasi, theirs, strict=True):
                both_numbers = own.family in ARITHMETIC and other.family in ARITHMETIC
                if other.collated or (own.type != other.type and not (both_numbers and found[own.staged] == "plain")):
                    found[own.staged] = "as_bytes"
        return found

    def _in_population(self, table: Source) -> list[Column]:
        """Return the columns of the population that are the quasi-identifiers."""
        named = [self.names.get(column.name, column.name) for column in self.quasi]
        return pick(table.columns, named, "audit, --population")

    def _persons_in(self, table: Source) -> list[Column]:
        """Return the columns of the population that say whose record it is, if it has all of them."""
        named = self.person_names or tuple(column.name for column in self.person)
        theirs = {column.name: column for column in table.columns}
        if not set(named) <= set(theirs):
            return []
        return [Column(name, theirs[name].type, f"person_{number}") for number, name in enumerate(named, 1)]

    @cached_property
    def _ambiguous_floats(self) -> set[str]:
        """The columns of floating-point numbers with -0.0 or NaN: only there the bits tell more than the values."""
        floats = [c for c in self._used if c not in self.sensitive and c != self.weight and c.family == "float"]
        relation = self.release.relation
        rows = self.warehouse.rows("audit/ambiguous_floats.sql", relation=relation, columns=floats) if floats else []
        return {name for name, count in rows if count}

    def _view(self, table: Source, columns: Sequence[Column], into: str = "records") -> Name:
        quasi = columns[: len(self.quasi)] if into in ("records", "population") else columns
        sensitive = [column for column in self.sensitive if into == "records"]
        complete = [*quasi, *sensitive] if self.nulls == "exclude" else []
        return self.warehouse.run(
            "audit/records.sql",
            self._name(into),
            view=not table.is_text,
            relation=table.relation,
            complete=complete,
            **canonical_forms(columns, self._form),
        )

    def _cells(
        self,
        into: str,
        columns: Sequence[Column],
        weight: Column | None = None,
        *,
        of_records: bool = False,
        view: bool = True,
    ) -> Name:
        wildcard, weights = self.nulls == "wildcard", [] if weight is None else [weight]
        if self.person and wildcard:
            raise InputError("audit, --person", "persons are not counted where NULL matches every value", "wildcard",
                             "Use --nulls own_value or exclude")  # fmt: skip
        name = f"{into}_as_they_are" if wildcard else into
        relation = self.records
        if self.person and not of_records:
            relation = self._of_persons(f"{into}_of_persons", relation, columns, weights)
        cells = self._counted(name, columns, relation, summed=weights, view=view)
        if not wildcard:
            return cells
        return self._matching(into, cells, cells, columns[len(self.quasi) :], ["total"] if weight else [])

    def _of_persons(self, into: str, relation: Name, columns: Sequence[Column], weights: Sequence[Column] = ()) -> Name:
        return self.stage(
            "audit/person_records.sql", into, relation=relation, columns=columns, person=self.person, weights=weights
        )

    def _counted(
        self,
        into: str,
        columns: Sequence[Column],
        relation: Name,
        *,
        summed: Sequence[Column] = (),
        view: bool = True,
    ) -> Name:
        return self.stage("audit/cells.sql", into, view=view, relation=relation, columns=columns, summed=summed)

    def _matching(
        self, into: str, cells: Name, among: Name, kept: Sequence[Column] = (), summed: Sequence[str] = ()
    ) -> Name:
        bits = [(column, 2**index) for index, column in enumerate(self.quasi)]
        shared = {"relation": cells, "among": among, "columns": bits, "kept": kept, "summed": summed}
        return self.stage("audit/matching_cells.sql", into, view=False, **shared)


Form = Literal["plain", "as_bits", "as_nested_bits", "as_bytes", "as_both"]
"""How a column is compared: as it is; by the bits of a floating-point number, or of those within; by the bytes of its
text; by value and text both."""


def has_no_plain_bytes(column: Column) -> bool:
    """Tell whether equal values of a type may be written differently, such as 1 month and 30 days."""
    return column.family == "other" and column.type not in ("UUID", "BLOB")


def is_ambiguous(column: Column) -> bool:
    """Tell whether a type holds the number 1 and the text 1, which are written alike: their kind tells them apart."""
    return "UNION(" in column.type or column.type.startswith("VARIANT")


def canonical_form(column: Column) -> Form:
    """Return how a column is compared.

    >>> kinds = ("INTEGER", "DOUBLE", "DOUBLE[]", "INTERVAL", "UNION(a DOUBLE)")
    >>> [canonical_form(Column("x", kind, "x")) for kind in kinds]
    ['plain', 'as_bits', 'as_nested_bits', 'as_bytes', 'as_both']
    """
    if column.collated:
        return "as_bytes"
    if column.family == "float":
        return "as_bits"
    if is_ambiguous(column):
        return "as_both"
    if column.bits:
        return "as_nested_bits"
    return "as_bytes" if has_no_plain_bytes(column) else "plain"


def canonical_forms(columns: Sequence[Column], form_of: Callable[[Column], Form] = canonical_form) -> Mapping[str, Any]:
    """Return the columns by how they are compared, as audit/records.sql takes them."""
    return {kind: [column for column in columns if form_of(column) == kind] for kind in get_args(Form)}


def canonical_records(
    relation: Name, columns: Sequence[Column], person: Sequence[Column] = (), told_apart: Container[str] = ()
) -> Select:
    """Return the SELECT of the canonical bytes of a relation, to be read by another one.

    What says whose record it is, stays as it is: more persons would look safer. So do the floating-point columns in
    `told_apart`, which have neither -0.0 nor NaN.
    """
    found = {
        **canonical_forms(columns, lambda column: "plain" if column.name in told_apart else canonical_form(column))
    }
    found["plain"] = [*found["plain"], *(column for column in person if column not in columns)]
    return select("audit/records.sql", relation=relation, complete=[], **found)
