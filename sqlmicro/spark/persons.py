"""Whose record it is, where groups are made in blocks: every group has k persons, of nobody's records one."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.database.templates import Name
from sqlmicro.guarantees import read
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.work import Work

_OF_RECORDS = """SELECT r.row_id,
  CASE WHEN {% for column in person %}o.{{ column | ident }} IS NULL OR {% endfor %}false THEN '' ELSE ''
  {% for column in person %}
    || length(CAST(o.{{ column | ident }} AS VARCHAR)) || ':' || CAST(o.{{ column | ident }} AS VARCHAR)
  {% endfor %} END AS person
FROM {{ relation | ident }} AS r JOIN {{ original | ident }} AS o USING (row_id)"""

_OF_UNITS = """SELECT r.row_id, CAST(m.counted AS VARCHAR) AS person
FROM {{ relation | ident }} AS r JOIN {{ members | ident }} AS m USING (row_id)"""

_FEWEST = """SELECT count(*) AS strata, min(persons) AS fewest
  , sum(CASE WHEN persons < {{ k | lit }} THEN 1 ELSE 0 END) AS few
FROM (SELECT stratum, count(DISTINCT person) AS persons FROM {{ points | ident }} GROUP BY stratum)"""


def of_records(warehouse: SparkWarehouse, work: Work) -> Sequence[Name]:
    """Return the relation (row_id, person) with whom every record of a step counts as; none if each is somebody else.

    Where a record is that of a unit, such as a person or a household, all of those of which nothing is known count as
    one; a note says how many they are.
    """
    alike = read.say_who_counts_as_one(work)
    if units := work.demand.units:
        params = {"relation": work.relation, "members": units.level.members}
        return [warehouse.define(f"{work.prefix}_persons", _OF_UNITS, keep=False, **params)] if alike else []
    if not (person := work.demand.person):
        return []
    into, original = f"{work.prefix}_persons", work.demand.original
    return [
        warehouse.define(into, _OF_RECORDS, relation=work.relation, original=original, person=person),
    ]


def refuse_few(warehouse: SparkWarehouse, work: Work, points: Name, k: int) -> None:
    """Refuse strata of fewer than k persons.

    Raises
    ------
    InputError
        With how many they are.
    """
    strata, fewest, few = (int(found) for found in warehouse.query("persons", _FEWEST, points=points, k=k)[0])
    work.refuse_small_strata(k, fewest, few, strata, of="persons")
