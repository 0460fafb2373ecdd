"""What the classes of a step must keep, read from its records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column
from sqlmicro.database.levels import Level
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import profile_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.guarantees.hierarchies import Tree, refuse_lacking, trees
from sqlmicro.guarantees.limits import Distinct
from sqlmicro.guarantees.rules import Members, Rules, Sensitive
from sqlmicro.missing.counted import number
from sqlmicro.work import Demand, Units, Work

if TYPE_CHECKING:
    import numpy as np


def rules(work: Work, k: int) -> Rules:
    """Return what every class of the records of a step must keep, in the order of row_id.

    Shares of sensitive values are those of the table as it was read. Where the records are units, such as persons, they
    count as one if nothing is known of them, and their own records keep what is asked of sensitive columns. O(n log n),
    a sort by person and by every sensitive column.
    """
    asked = work.demand
    if asked.units is not None:
        return _of_units(work, asked.units, k)
    if not asked.more_than_k:
        return Rules(k)
    sensitive, persons, _ = _of_records(work, work.relation, [asked.person] if asked.person else [])
    if asked.person:
        _say_without_person(work)
    return Rules(k, persons, sensitive)


def _of_units(work: Work, of: Units, k: int) -> Rules:
    """Return what groups of units must keep, and their records where there are sensitive columns."""
    import numpy as np

    level = of.level
    found = work.warehouse.arrays("load/unit_counts.sql", relation=work.relation, members=level.members)
    counted, codes = np.unique(found["counted"], return_inverse=True)
    units = codes.astype(np.int64) if len(counted) < len(codes) else None
    _say_alike(work, level, len(codes) - len(counted))
    if not work.demand.sensitive:
        return Rules(k, units)
    sensitive, _, stays = _of_records(work, of.records, [])
    unit = work.warehouse.arrays("load/unit_of_records.sql", members=level.members)["unit"][stays]
    place = np.searchsorted(found["row_id"], unit)
    first = np.unique(place, return_index=True)[1]
    constant = (one for one in sensitive if (one.codes == one.codes[first][place]).all())
    alone = tuple(replace(one, codes=one.codes[first]) for one in constant)
    return Rules(k, units, alone, Members(place, sensitive))


def with_households(work: Work, rules: Rules) -> Rules:
    """Return rules by which every class has k households, too, where a method takes columns of theirs with others."""
    import numpy as np

    level = work.demand.households
    if level is None:
        return rules
    found = work.warehouse.arrays("load/unit_counts.sql", relation=work.relation, members=level.members)
    codes = np.unique(found["counted"], return_inverse=True)[1].astype(np.int64)
    households = Sensitive(
        "the household", codes, np.bincount(codes) / len(codes), ordered=False, limits=(Distinct(rules.k),)
    )
    return replace(rules, sensitive=(*rules.sensitive, households))


def _of_records(
    work: Work, relation: Name, persons: Sequence[tuple[Column, ...]]
) -> tuple[tuple[Sensitive, ...], np.ndarray | None, np.ndarray]:
    """Return the sensitive columns of some records, their persons, and which of all records they are."""
    import numpy as np

    asked = work.demand
    where = f"{work.where}, hierarchical"
    in_trees = {
        column: _branches(work, asked, column, tree, where)
        for column, tree in trees(asked.sensitive, asked.options.settings["hierarchical"], where).items()
    }
    original = [replace(column, name=column.staged) for column in asked.sensitive]
    found = work.warehouse.arrays(
        "load/guaranteed.sql",
        original=asked.original,
        relation=relation,
        persons=persons,
        sensitive=asked.sensitive,
    )
    stays = found["stays"].astype(bool)
    ordered = ordered_columns(work.warehouse, asked.original, original)
    sensitive = []
    for column in asked.sensitive:
        codes = found[column.staged].astype(np.int64)
        levels: tuple[np.ndarray, ...] = ()
        if column in in_trees:
            places, levels = in_trees[column]
            codes = places[codes]
        shares = np.bincount(codes) / len(codes)
        by_rank = column.staged in ordered and column not in in_trees
        sensitive.append(Sensitive(column.name, codes[stays], shares, by_rank, levels, asked.options.demand))
    numbered = np.unique(found["person"][stays], return_inverse=True)[1].astype(np.int64) if persons else None
    return tuple(sensitive), numbered, stays


def _branches(
    work: Work, asked: Demand, column: Column, tree: Tree, where: str
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return the place of every value in a hierarchy, and by these places the classes on each level above."""
    import numpy as np

    text = (
        "SELECT CAST(v AS VARCHAR) FROM (SELECT DISTINCT {{ column | ident }} AS v FROM {{ original | ident }}) "
        "ORDER BY v NULLS LAST"
    )
    values = [value for (value,) in work.warehouse.query("hierarchy", text, original=asked.original, column=column)]
    refuse_lacking(column.name, sum(value not in tree for value in values), len(values), where)
    classes = np.array([tree[value] for value in values], dtype=np.int64)
    order = np.argsort(classes[:, 0])
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places, tuple(classes[order, 1:].T)


def say_who_counts_as_one(work: Work) -> int:
    """Add a note of the records, or units, of which nothing is known; return how many units count as one with another.

    They are counted where the records are: `rules` reads them, and says the same.
    """
    if work.demand.units is None:
        if work.demand.person:
            _say_without_person(work)
        return 0
    text = """SELECT count(*) - count(DISTINCT counted)
FROM {{ relation | ident }} JOIN {{ members | ident }} USING (row_id)"""
    level = work.demand.units.level
    ((found,),) = work.warehouse.query("units", text, relation=work.relation, members=level.members)
    _say_alike(work, level, int(found))
    return int(found)


def _say_alike(work: Work, level: Level, alike: int) -> None:
    """Add a note of the units that count as one; of persons the records are told."""
    if level.unit == "person":
        _say_without_person(work)
    elif alike:
        work.note(f"{alike + 1:,} units of which the household or the person is not known count as one household")


def _say_without_person(work: Work) -> None:
    """Add a note of how many records say of nobody whose they are: all of them count as one person."""
    text = (
        "SELECT count(*) FROM {{ original | ident }} WHERE false"
        "{% for column in person %} OR {{ column | ident }} IS NULL{% endfor %}"
    )
    ((without,),) = work.warehouse.query("persons", text, original=work.demand.original, person=work.demand.person)
    if without:
        work.note(f"{number(without, 'record')} without a person: all of them count as one person")


def ordered_columns(warehouse: Warehouse, original: Name, columns: Sequence[Column]) -> set[str]:
    """Return the names of the columns that are numbers by `profile`: their values have an order, and distances."""
    numeric = [column for column in columns if column.numeric]
    if not numeric:
        return set()
    profiled = profile_columns(warehouse, Source(original, "", tuple(numeric), is_table=False))
    return {found.column.name for found in profiled if found.is_ordered}
