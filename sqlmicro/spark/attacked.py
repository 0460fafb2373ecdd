"""A release under attack on Spark: targets and the combinations of released values come to the driver, no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlmicro.attacks.attacked import MOST_TRIED, AttackedRelease, SampledRelease
from sqlmicro.attacks.control import MOST_TARGETS, Controlled, controlled, refuse_members
from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.spark.warehouse import SparkWarehouse


@dataclass(frozen=True)
class Drawn:
    """Some records of a table, as a table of their own, and how many the table has."""

    source: Source
    records: int


def drawn(warehouse: SparkWarehouse, source: Source, most: int, into: str) -> Drawn:
    """Draw so many records of a table, by a hash of their places as one machine does; all of a table that has no more.

    They are numbered in the order of the table.
    """
    whole = f"{into}_in_order"
    records = warehouse.in_order(source.relation, whole)
    if records <= most:
        return Drawn(replace(source, relation=warehouse.staged(whole)), records)
    places = warehouse.run("attack/sampled.sql", f"{into}_places", records=records, size=most)
    some = warehouse.run(
        "attack/drawn.sql", into, relation=warehouse.staged(whole), drawn=places, columns=source.columns
    )
    warehouse.in_order(warehouse.put(warehouse.checkpoint("attack", warehouse.frame(some)), some.table), into)
    return Drawn(replace(source, relation=some), records)


def sampled(warehouse: SparkWarehouse, attacked: AttackedRelease) -> SampledRelease:
    """Return a release as it is attacked at the driver, by `MOST_TRIED` targets that are drawn in Spark, or `sample`.

    A smaller `sample` is tried of so many, since what became of one record tells something of the others.

    Raises
    ------
    InputError
        When the release has too many combinations of values, or the match does not identify a record.
    """
    targets = drawn(warehouse, attacked.original, max(attacked.sample or 0, MOST_TRIED), "targets")
    return _at_driver(warehouse, attacked, targets)


def _at_driver(warehouse: SparkWarehouse, attacked: AttackedRelease, targets: Drawn) -> SampledRelease:
    """Bring the values of the targets and the combinations of released values to the driver."""
    here, columns = warehouse.small, attacked.columns
    found = attacked.stage("attack/combinations.sql", "combinations", released=attacked.released, columns=columns)
    combinations = warehouse.fetch(warehouse.put(warehouse.checkpoint("attack", warehouse.frame(found)), found.table))
    counts = here.arrays("attack/columns.sql", relation=combinations, numeric=[], texts=[])["n"]
    looked_at = replace(attacked, warehouse=here, _made={"released": combinations})
    numbers = [*looked_at.numeric_columns, *looked_at.ranges]
    values = _values(attacked, targets.source, "tried", numbers, columns)
    values = warehouse.put(warehouse.checkpoint("attack", warehouse.frame(values)), values.table)
    became = None
    if attacked.match:
        attacked.check_matches()
        became = warehouse.fetch(
            attacked.stage("attack/became.sql", "became", original=values, released=attacked.released, columns=columns)
        )
    return SampledRelease(
        warehouse=here, release=attacked.release, original=attacked.original, match=attacked.match,
        nominal=attacked.nominal, columns=columns, sample=attacked.sample, targets=warehouse.fetch(values),
        combinations=combinations, became=became, counts=counts, records=(targets.records, int(counts.sum())),
    )  # fmt: skip


def _values(
    attacked: AttackedRelease, source: Source, into: str, numbers: Sequence[Column], columns: Sequence[Column]
) -> Name:
    nominal = [column for column in columns if column not in numbers]
    return attacked.values(source, into, numbers, nominal, view=True)


def beside_control(
    warehouse: SparkWarehouse,
    attacked: AttackedRelease,
    control: Source,
    sensitive: Sequence[Column],
    most: int | None,
) -> Controlled:
    """Return a release beside people of its table and of a control group, so many of either, drawn in Spark.

    Raises
    ------
    ParameterError, InputError
        As in `attacks.control`.
    """
    refuse_members(attacked, control)
    most = most or MOST_TARGETS
    members, others = (
        drawn(warehouse, source, most, into)
        for source, into in ((attacked.original, "members"), (control, "others"))
    )  # fmt: skip
    tried = replace(attacked, original=members.source, _made={})
    found = controlled(tried, others.source, sensitive, "given", most)
    both = Drawn(found.attacked.original, members.records)
    return replace(found, attacked=_at_driver(warehouse, found.attacked, both), _made={})
