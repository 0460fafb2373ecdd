"""The combinations of values that occur: far fewer than records, and worked on at the driver of a cluster.

On one machine everything is in one place. On a cluster the combinations are brought to the driver, what a method makes
of them is handed over to where the records are, and a record gets it by the combination that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work


def occurring(work: Work, records: Name, columns: Sequence[Column | str], into: str) -> Name:
    """Return the combinations of some columns of the records, numbered, with their counts, at the driver."""
    return work.warehouse.fetch(work.run("safe/cells.sql", into, relation=records, columns=columns))


def at_driver(work: Work) -> Work:
    """Return the work where combinations are, with the same outcome."""
    if work.warehouse.small is work.warehouse:
        return work
    there = copy(work)
    there.warehouse = work.warehouse.small
    return there


def assigned(work: Work, cells: Name, members: Name, columns: Sequence[Column | str], into: str) -> Name:
    """Return the group of every record: `members` says how many records of which cell are in which group."""
    hand_over = work.warehouse.hand_over
    return work.run(
        "safe/assigned.sql",
        into,
        relation=work.relation,
        cells=hand_over(cells),
        members=hand_over(members),
        columns=columns,
    )
