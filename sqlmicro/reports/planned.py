"""What a plan says: the tables as they were found, what becomes of every column, and what differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlmicro.reports.text import table as tabled


@dataclass(frozen=True)
class ApprovedColumn:
    """A column as it was found, and what becomes of it."""

    name: str
    type: str
    role: str


@dataclass(frozen=True)
class ApprovedTable:
    """A table as it was found."""

    name: str
    kind: Literal["table", "view", "file"]
    columns: list[ApprovedColumn]
    rows: int
    content: str | None
    """A keyed hash of what it holds; None without a secret that lasts."""
    key_fingerprint: str | None
    """That of the key of its pseudonyms."""
    definition: str
    """Of a view a hash of its text, and of those of the views and macros that it reads through."""


@dataclass(frozen=True)
class Difference:
    """What differs between two plans of a policy."""

    what: str
    """Such as `new column`."""
    where: str
    """A table, a column, or a key."""
    was: str | None
    now: str | None
    decided: bool
    """Whether the policy, or whoever called, says what is to become of it."""


@dataclass(frozen=True)
class PlannedRelease:
    """What a policy will do, compared with what was applied last."""

    policy: str
    plan: str | None
    """The file that was written; None while something is not decided."""
    hash: str | None
    """What is signed off."""
    differences: list[Difference]
    tables: list[ApprovedTable]
    keys: list[str]
    passed: bool
    """Whether everything is decided."""


def planned(report: PlannedRelease) -> str:
    """Return what differs, and what is to be signed off."""
    lines = [f"{_told(one)}{'' if one.decided else '  <- decide'}" for one in report.differences] or ["no difference"]
    rows = [[table.name, f"{table.rows:,}", *_counted(table)] for table in report.tables]
    lines += ["", tabled(rows, ["table", "rows", "released", "left out"], [1, 2, 3])]
    if report.plan is None:
        lines += [
            "", "Not planned: name new columns and tables in the policy (what is not released, in leave_out), and "
            "accept changed types with --accept TABLE.COLUMN.",
        ]  # fmt: skip
    else:
        lines += [
            "",
            f"plan  {report.plan}",
            f"hash  {report.hash}",
            f"next  sqlmicro apply {report.plan} --approved {report.hash}",
        ]
    return "\n".join(lines)


def _told(one: Difference) -> str:
    sides = " -> ".join(side for side in (one.was, one.now) if side)
    return f"{one.what}: {one.where}" + (f" ({sides})" if sides and sides != one.where else "")


def _counted(table: ApprovedTable) -> list[str]:
    dropped = sum(column.role.startswith("drop") for column in table.columns)
    return [str(len(table.columns) - dropped), str(dropped)]
