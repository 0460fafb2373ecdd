"""What becomes of every column in a run: worked on, kept as it is, or dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.database.columns import Column, Seen, names_of
from sqlmicro.errors import InputError, ParameterError


@dataclass(frozen=True)
class Roles:
    """Which columns a run works on, keeps as they are, drops, or drops as direct identifiers."""

    used: tuple[Column, ...]
    kept: tuple[Column, ...]
    dropped: tuple[Column, ...]
    identifiers: tuple[Column, ...] = ()
    row_key: tuple[Column, ...] = ()
    """What identifies a record, whatever the role of these columns; none: what is released of it."""
    known_by: tuple[Column, ...] = ()
    """What the ledger knows records by, where nobody has named a row key: the key of the table."""
    allowed: tuple[Column, ...] = ()
    """Columns that are no direct identifiers because the user says so."""
    seen: tuple[tuple[Column, Seen], ...] = ()
    """What a sample of the values of the released columns shows."""
    sensitive: tuple[Column, ...] = ()
    """Kept columns of which no class may tell too much: nobody knows them from elsewhere."""
    person: tuple[Column, ...] = ()
    """Dropped columns that say whose record it is."""
    of_person: tuple[Column, ...] = ()
    """Columns with one value for each person, as the user says; none: they are found."""
    household: tuple[Column, ...] = ()
    """Dropped columns that say of which household a person is."""

    @property
    def released(self) -> tuple[Column, ...]:
        """The columns that leave the house, in no particular order."""
        return (*self.used, *self.kept)

    @property
    def read(self) -> tuple[Column, ...]:
        """The columns that are read: what is released, and what says whose record it is, and of which household."""
        return (*self.released, *self.person, *self.household)

    @property
    def of_night(self) -> tuple[Column, ...]:
        """What says whom a night of a series counts: households where these are named, else persons."""
        return self.household or self.person

    @property
    def unit(self) -> str:
        """The columns that say whose record it is; empty where k counts records."""
        return ", ".join(names_of(self.person))


def settle_roles(
    columns: Sequence[Column],
    used: Sequence[Column],
    keep: Sequence[Column],
    drop: Sequence[Column],
    rest: str | None,
) -> Roles:
    """Give every column exactly one role, or refuse.

    Raises
    ------
    ParameterError
        When a column has two roles.
    InputError
        When a column has none: nothing is released by oversight.
    """
    for first, second, names in (
        (used, keep, "--columns/--by and --keep"),
        (used, drop, "--columns/--by and --drop"),
        (keep, drop, "--keep and --drop"),
    ):
        both = [column.name for column in first if column in second]
        if both:
            raise ParameterError("columns", "a column has one role only", f"{', '.join(both)} in both {names}")
    open_columns = [column for column in columns if column not in (*used, *keep, *drop)]
    if open_columns and rest is None:
        raise InputError(
            "columns",
            "every column needs a role, so that nothing is released by oversight",
            "no role for " + ", ".join(column.name for column in open_columns),
            "Name each in --columns (to be anonymized), --keep (released as it is) or --drop; "
            "--rest drop or --rest keep settles all that are left",
        )
    kept = [*keep, *(open_columns if rest == "keep" else ())]
    dropped = [*drop, *(open_columns if rest == "drop" else ())]
    return Roles(tuple(used), tuple(kept), tuple(dropped))
