"""The population that must hold every class of a step: a table of everybody, read as the records were."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import type_columns
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees.tally import Tally
from sqlmicro.options.guarantees import NO_POPULATION, InPopulation
from sqlmicro.work import Work

TEMPLATES = ("load/typed.sql", "mask/population_records.sql", "mask/population_recoded.sql")
_TIMES = ("date", "timestamp", "timestamptz")


def asked_of(work: Work, min_k_map: int | None, population: str | None, max_delta: float | None = None) -> InPopulation:
    """Return what is asked of the population; a class that nobody is in has no presence, so that somebody must be.

    Raises
    ------
    ParameterError
        For a limit without a population, a population without a limit.
    """
    given = {"min_k_map": min_k_map, "max_delta": max_delta}
    limits = [name for name, limit in given.items() if limit is not None]
    if population is None:
        if limits:
            raise ParameterError(f"{work.where}, {limits[0]}", "goes with --population", "none", "Give --population")
        return NO_POPULATION
    if not limits:
        raise ParameterError(f"{work.where}, population", "goes with --min-k-map", "none", "Give --min-k-map")
    return InPopulation.of({**given, "population": population})


def read(work: Work, asked: InPopulation) -> Name:
    """Stage the population: row_id, and the columns and strata of a step under their names and in their types.

    Whoever has a value that a column of the records cannot have, such as 34.5 or a text in one of whole numbers, is in
    no class and left out: that makes no class look larger than it is.

    Raises
    ------
    ParameterError
        For a column that the population lacks.
    InputError
        When a date would be compared with something else.
    """
    assert asked.population is not None
    where, columns = f"{work.where}, population", [*work.columns, *strata(work)]
    table = work.warehouse.source(asked.population, name="population_source")
    own = pick(table.columns, [column.name for column in columns], where)
    pairs = list(zip(columns, own, strict=True))
    unlike = [
        f"{mine.name} ({mine.type}, {theirs.type} there)"
        for mine, theirs in pairs
        if mine.family in _TIMES and theirs.family != mine.family
    ]
    if unlike:
        raise InputError(
            where, "dates are compared with dates, timestamps with timestamps of the same kind", ", ".join(unlike),
            "Give the population columns of these types",
        )  # fmt: skip
    theirs = [Column(other.name, other.type, mine.staged, other.collated) for mine, other in pairs]
    # A date beside text is compared by its text.
    used = {column for column, (mine, _) in zip(theirs, pairs, strict=True) if not _is_time_beside_text(column, mine)}
    found = Source(table.relation, table.label, tuple(theirs), table.is_table, table.is_file, table.is_frame)
    _refuse_several(work, where, table)
    if asked.max_delta is not None:
        _refuse_nobody(work)
    typed = type_columns(work.warehouse, found, theirs, used, f"{work.prefix}_population_typed")
    before, after = dict(work.warehouse.describe(typed)), dict(work.warehouse.describe(work.relation))
    kinds = [(column, after[column.staged], before[column.staged]) for column in columns]
    floats = [column for column, _, kind in kinds if kind in ("DOUBLE", "FLOAT")]
    return work.run("mask/population_records.sql", "population", typed=typed, columns=kinds, floats=floats)


def _refuse_several(work: Work, where: str, table: Source) -> None:
    """Refuse a population that has several rows of a person where persons are counted: each row is one member.

    Raises
    ------
    InputError
        Where it says whose rows they are.
    """
    there = {column.name.lower(): column for column in table.columns}
    whose = [there.get(column.name.lower()) for column in work.demand.person]
    if not whose or None in whose:
        return
    text = (
        'SELECT count(*) FROM (SELECT 1 FROM {{ r | ident }} GROUP BY {{ c | listed("{name}") }} '
        "HAVING count(*) > 1 LIMIT 1)"
    )
    if work.warehouse.query("population", text, r=table.relation, c=whose)[0][0]:
        must = "has one row of each person, who is one member of it"
        do = "Give a table of persons, or leave the columns that say whose rows they are out of it, if each is a member"
        raise InputError(where, must, "persons with several rows", do)


def _refuse_nobody(work: Work) -> None:
    """Refuse records of nobody that are told, where persons are counted: all of them would count as one who is present.

    Raises
    ------
    InputError
        With how many there are.
    """
    if not (person := list(work.demand.person)):
        return
    text = (
        "SELECT count(*) FROM {{ r | ident }} "
        "WHERE false{% for column in c %} OR {{ column | ident }} IS NULL{% endfor %}"
    )
    if lacks := int(work.warehouse.query("population", text, r=work.demand.original, c=person)[0][0]):
        must = "counts how many of the population are present, so that each record says whose it is"
        raise InputError(
            f"{work.where}, max_delta", must, f"{lacks:,} records that lack it", "Leave them out in a view"
        )


def strata(work: Work) -> list[Column]:
    """Return the columns whose values are never mixed; patterns of missing values are none."""
    return [column for column in work.by if isinstance(column, Column)]


def recoded(work: Work, members: Name, values: Name, changed: Sequence[Column]) -> Name:
    """Return the population with new values of some columns; who has none there is in no class, and left out."""
    columns = [(column, "v" if column in changed else "r") for column in (*work.columns, *strata(work))]
    return work.run("mask/population_recoded.sql", "population_recoded", population=members, values=values,
                    columns=columns)  # fmt: skip


def refuse_impossible(work: Work, asked: InPopulation, whole: Tally, allowed: int) -> None:
    """Refuse what no classes can keep: not even all records of a stratum in one, but for so many left out.

    Raises
    ------
    InputError
        With the members there are, before any work is done.
    """
    if whole.members is None or (lost := int(whole.members.too_many(whole.present).sum())) <= allowed:
        return
    most = "" if asked.max_delta is None else f", with at most {asked.max_delta:g} of them in the release"
    members = whole.members.count[whole.sizes > 0]
    got = f"{int(members.min()):,} in the whole table" if len(members) == 1 else f"{int(members.min()):,} in a stratum"
    raise InputError(
        work.where, f"every class must have {asked.min_k_map} members of the population{most}",
        f"{got}: at least {lost:,} of {int(whole.sizes.sum()):,} records have too few, whatever becomes of them",
        work.advised("Ask for less, or give a larger population"),
    )  # fmt: skip


def _is_time_beside_text(theirs: Column, mine: Column) -> bool:
    return theirs.family in _TIMES and mine.family not in _TIMES
