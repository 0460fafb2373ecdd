"""Levels: a person has many records, a household many persons; what is constant within such a unit is grouped once.

The columns of a step are taken level by level, from households down to records. A level is grouped inside the classes
of the levels above, each of which holds k units, so that the whole record keeps k persons.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlmicro.database.column_roles import Roles
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, ParameterError

Unit = Literal["household", "person"]


@dataclass(frozen=True)
class Level:
    """Units of several records each, and the columns that belong to them: these have one value in every unit."""

    unit: Unit
    columns: tuple[Column, ...]
    """Those that no level above has."""
    members: Name
    """The unit of every record that was read: row_id, unit, counted."""
    units: int
    found: bool = True
    """Whether the records showed which columns these are, or the user said so."""

    @property
    def told(self) -> str:
        """What is done to its columns, as a note."""
        how = f", found constant within every {self.unit}" if self.found else ""
        return f"columns of the {self.unit}{how}: {', '.join(names_of(self.columns))}; one value for each {self.unit}"


@dataclass(frozen=True)
class Part:
    """The columns of a step that belong to one level, and where their groups lie."""

    columns: tuple[Column, ...]
    level: Level | None = None
    """None: they belong to the records."""
    above: tuple[Column, ...] = ()
    """Columns of levels above: groups are made inside their classes."""
    below: tuple[Column, ...] = ()
    """Columns of levels below."""
    guides: tuple[Column, ...] = ()
    """Those of them in which near units are near too, as far as one value can tell."""
    unit: tuple[Column, ...] = ()
    """In a night: what says whose records draw the same numbers for the same values of these columns."""
    households: Level | None = None
    """Of which every class has k, where a method that keeps constant what is constant takes all levels at once."""

    def mapped(self, change: Callable[[Column], Column]) -> Part:
        """Return it with other columns, such as those with the types they have by now."""
        above, columns, below = (tuple(map(change, found)) for found in (self.above, self.columns, self.below))
        guides = below if self.guides else ()
        return replace(self, columns=columns, above=above, below=below, guides=guides)

    @property
    def suffix(self) -> str:
        """What tells the relations of a level from those of another."""
        return f"_{self.level.unit}s" if self.level else "_units" if self.unit else ""

    @property
    def step(self) -> tuple[Column, ...]:
        """The columns of all parts of the step."""
        return (*self.above, *self.columns, *self.below)


def parts(levels: Sequence[Level], columns: Sequence[Column], *, nested: bool = True) -> list[Part]:
    """Return some columns level by level, from above; those of the records come last.

    Unless they are `nested`, every part is grouped for itself, as by methods that group column by column.

    >>> a, b, c = (Column(name, "DOUBLE", name) for name in "abc")
    >>> person = Level("person", (b, c), Name("", "", "members"), 9)
    >>> [(names_of(part.columns), names_of(part.above), names_of(part.guides)) for part in parts([person], [a, b])]
    [(('b',), (), ('a',)), (('a',), ('b',), ())]
    """
    found: list[Part] = []
    above: tuple[Column, ...] = ()
    for level in (*levels, None):
        own = tuple(c for c in columns if (c in level.columns if level else c not in above))
        if own:
            below = tuple(column for column in columns if column not in (*above, *own))
            found.append(Part(own, level, above, below, below) if nested else Part(own, level))
            above += own
    return found


def advised(by: Sequence[Column | str], classes: Sequence[Column], ask: str) -> str:
    """Return what helps where strata are too small: what was asked for, or what made them, if anything can be said.

    Patterns of missing values are strata that have no column; `classes` are strata that the step has made.

    >>> age = Column("age", "BIGINT", "c1")
    >>> advised([age], [], "Ask for less"), advised([age], [age], "Ask for less")
    ('Ask for less, or use fewer or coarser --by columns', 'Ask for less')
    >>> advised([age, "pattern"], [age], "Ask for less")
    'Ask for less, or use --nulls keep, which makes no strata of what is missing'
    """
    more = []
    if any(isinstance(one, str) for one in by):
        more.append("use --nulls keep, which makes no strata of what is missing")
    if any(isinstance(one, Column) and one not in classes for one in by):
        more.append("use fewer or coarser --by columns")
    return ", or ".join([ask, *more])


def at_once(levels: Sequence[Level], columns: Sequence[Column]) -> Part:
    """Return columns of all levels as one part."""
    households = (one for one in levels if one.unit == "household" and set(columns) & set(one.columns))
    return Part(tuple(columns), households=next(households, None))


def of_households(parts: Sequence[Part]) -> list[tuple[Level, tuple[Column, ...]]]:
    """Return the columns of households in some parts, and whose they are."""
    found = [(part.level or part.households, part.columns) for part in parts]
    return [
        (level, tuple(column for column in columns if column in level.columns))
        for level, columns in found if level and level.unit == "household"
    ]  # fmt: skip


def parts_within(
    levels: Sequence[Level], columns: Sequence[Column], by: Sequence[Column], where: str, *, nested: bool
) -> tuple[list[Part], list[Column]]:
    """Return some columns level by level, of the levels whose units lie in one stratum each, and those of other levels.

    Raises
    ------
    ParameterError
        When the units of a level that the user asked for do not lie in one stratum each.
    """
    kept: list[Level] = []
    lost: list[Column] = []
    constant: set[Column] = set()
    for level in levels:
        constant |= set(level.columns)
        cut = [column.name for column in by if column not in constant]
        if not cut:
            kept.append(level)
        elif level.found and level.unit == "person":
            lost += [column for column in columns if column in level.columns]
        else:
            raise ParameterError(
                f"{where}, by", f"all records of a {level.unit} are in one stratum",
                f"{', '.join(cut)} differs within one",
                f"Leave it out of --by, or --{'household' if level.unit == 'household' else 'of-person'} out",
            )  # fmt: skip
    return parts(kept, columns, nested=nested), lost


def settle(warehouse: Warehouse, original: Name, roles: Roles, where: str) -> tuple[Level, ...]:
    """Return the levels of a table: which released columns have one value in every household, and in every person.

    All records are tested. A level without a unit of two records, or without a column, is none.

    Raises
    ------
    InputError
        When a person is in two households, or a column differs within a person that was said to belong to it.
    """
    if roles.household and roles.person:
        _refuse_moved(warehouse, original, roles, where)
    found: list[Level] = []
    above: tuple[Column, ...] = ()
    keyed: list[tuple[Unit, list[tuple[Column, ...]]]] = [
        ("household", [roles.household, roles.person]), ("person", [roles.person]),
    ]  # fmt: skip
    for unit, keys in keyed:
        if not keys[0]:
            continue
        members = _members(warehouse, original, f"{unit}_members", keys, [roles.person] if unit == "household" else [])
        units, repeated, differing = _differing(warehouse, original, members, roles.released)
        said = unit == "person" and bool(roles.of_person)
        if said:
            _refuse_differing(roles.of_person, differing, units, where)
        own = roles.of_person if said else roles.released
        constant = tuple(column for column in own if differing.get(column) == 0 and column not in above)
        if repeated and constant:
            found.append(Level(unit, constant, members, units, found=not said))
            above += constant
    return tuple(found)


def _members(
    warehouse: Warehouse,
    original: Name,
    into: str,
    keys: Sequence[tuple[Column, ...]],
    persons: Sequence[tuple[Column, ...]],
) -> Name:
    """Return the unit of every record, by the key of a level and those of the levels below."""
    given = [key for key in keys if key]
    apart = [(key, sum(given[: number + 1], ())) for number, key in enumerate(given)]
    return warehouse.run(
        "load/members.sql", into, relation=original, key=given[0], keys=apart, persons=[key for key in persons if key]
    )


def _differing(
    warehouse: Warehouse, relation: Name, members: Name, columns: Sequence[Column]
) -> tuple[int, int, dict[Column, int]]:
    """Return how many units there are, how many have several records, and in how many a column has several values."""
    ((units, repeated, *differing),) = warehouse.rows(
        "load/differing_units.sql", relation=relation, members=members, columns=columns
    )
    return units, repeated, dict(zip(columns, differing, strict=True))


def differing(warehouse: Warehouse, relation: Name, level: Level, columns: Sequence[Column]) -> dict[Column, int]:
    """Return in how many units of a level each of some columns of a relation has more than one value."""
    return _differing(warehouse, relation, level.members, columns)[2]


def constant(warehouse: Warehouse, original: Name, unit: Sequence[Column], columns: Sequence[Column]) -> list[str]:
    """Return the names of the columns that have one value in every unit, such as a person or household."""
    members = _members(warehouse, original, "night_members", [tuple(unit)], [])
    found = _differing(warehouse, original, members, columns)[2]
    return [column.name for column in columns if not found[column]]


def _refuse_moved(warehouse: Warehouse, original: Name, roles: Roles, where: str) -> None:
    """Refuse persons in several households: k households would not hold k persons."""
    members = _members(warehouse, original, "person_households", [roles.person], [])
    units, _, differing = _differing(warehouse, original, members, roles.household)
    moved = max(differing.values())
    if moved:
        raise InputError(
            f"{where}, --household", "every person belongs to one household",
            f"{moved:,} of {units:,} persons to several", "Check --person and --household, or leave --household out",
        )  # fmt: skip


def _refuse_differing(named: Sequence[Column], differing: dict[Column, int], units: int, where: str) -> None:
    """Refuse columns that were said to belong to the person, and differ within one."""
    wrong = [
        f"{column.name} differs within {differing[column]:,} of {units:,}" for column in named if differing.get(column)
    ]
    if wrong:
        raise InputError(
            f"{where}, --of-person", "a column of the person has one value for each person", "; ".join(wrong),
            "Leave it out of --of-person: it is then grouped record by record",
        )  # fmt: skip


def units(
    warehouse: Warehouse, relation: Name, level: Level, levels: Sequence[Level], columns: Sequence[Column], into: str,
    used: Collection[Column],
) -> Name:  # fmt: skip
    """Return a record for every unit of a level, from the records of a relation.

    Parameters
    ----------
    warehouse : Warehouse
        Where the relation is.
    relation : Name
        The records.
    level : Level
        Whose units.
    levels : sequence of Level
        All levels, from above: their columns are constant within the units of those below.
    columns : sequence of Column
        All columns of the relation, with the types they have by now. What is not constant becomes its mean, or the
        middle value.
    into : str
        What the staging relation is called.
    used : collection of Column
        Those that steps work on: only these are numbers where they are dates or timestamps.
    """
    known = {column.staged for one in levels[: levels.index(level) + 1] for column in one.columns}
    others = [column for column in columns if column.staged not in known]
    return warehouse.run(
        "load/units.sql",
        into,
        relation=relation,
        members=level.members,
        constant=[column for column in columns if column.staged in known],
        numeric=[column for column in others if column.numeric and column in used],
        others=[column for column in others if not (column.numeric and column in used)],
    )


def units_of_both(
    warehouse: Warehouse,
    relations: tuple[Name, Name],
    level: Level,
    known: Sequence[Level],
    columns: Sequence[Column],
    into: str,
    used: Collection[Column],
) -> tuple[Name, Name]:
    """Return a record for every unit of a level, of the records as they are and as they were before a step."""
    now = units(warehouse, relations[0], level, known, columns, into, used)
    same = relations[0] == relations[1]
    return now, now if same else units(warehouse, relations[1], level, known, columns, f"{into}_before", used)


def without(levels: Sequence[Level], columns: Sequence[Column]) -> tuple[Level, ...]:
    """Return the levels without some columns."""
    left = (replace(one, columns=tuple(c for c in one.columns if c not in columns)) for one in levels)
    return tuple(one for one in left if one.columns)
