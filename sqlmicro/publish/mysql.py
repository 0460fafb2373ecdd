"""Releases in an attached MySQL database, which commits every CREATE TABLE and DROP TABLE at once.

A release of several tables, or one in place of a table, could not be taken back, and is refused. One new table is
dropped again when its audit fails, or anything else does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlmicro.database.source import find_relation
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError
from sqlmicro.publish.targets import Target
from sqlmicro.system.interrupts import uninterrupted

KIND = "mysql"


def check(targets: Sequence[Target]) -> None:
    """Refuse what could not be taken back.

    Raises
    ------
    InputError
        When several tables go to MySQL, or one in place of another.
    """
    if not targets or targets[0].database != KIND:
        return
    got = "several" if len(targets) > 1 or targets[0].keeps else "--overwrite" if targets[0].overwrite else ""
    if got:
        raise InputError(
            "--into",
            "must be one new table: MySQL commits each as it is made, and what fails could not be taken back",
            got,
            "Publish with --to FILE or into --db FILE, and copy it to MySQL from there",
        )


@contextmanager
def taken_back(warehouse: Warehouse, targets: Sequence[Target]) -> Iterator[None]:
    """Drop the table that is published in the block if the block fails; other databases do it by themselves.

    Raises
    ------
    InputError
        When there is such a table already, or it could not be dropped.
    """
    check(targets)
    target = targets[0] if targets and targets[0].database == KIND else None
    if target is None or target.name is None:
        yield
        return
    if find_relation(warehouse, target.name):
        raise InputError("--into", f"{target.label!r} must not exist yet", "a table", "Choose another name")
    try:
        yield
    except BaseException:
        if not warehouse.committed:  # Ctrl-C during the commit is told after it: the release is there, and recorded
            with uninterrupted():
                _drop(warehouse, target)
        raise


def _drop(warehouse: Warehouse, target: Target) -> None:
    try:
        warehouse.execute("publish", "DROP TABLE IF EXISTS {{ name | ident }}", name=target.name)
    except Exception:
        dropped = False
    else:
        dropped = True
    if not dropped:
        raise InputError(
            "--into",
            f"{target.label!r} must be dropped, because publishing failed",
            "a server that does not do it",
            "Drop it by hand: nothing says that it is anonymous",
        )
