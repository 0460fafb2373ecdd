"""The roles of the columns, in words."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.database.columns import Column, Roles, names_of


def roles_in_words(roles: Roles) -> list[str]:
    """Return the notes on what becomes of the columns, and on those whose values look like something else.

    >>> age, name = Column("age", "INTEGER", "age"), Column("name", "VARCHAR", "name")
    >>> roles_in_words(Roles((), (age,), (name,)))
    ['dropped: name', 'released as they are: age']
    """
    commas = [column for column, seen in roles.seen if seen.decimal_comma]
    notes: list[tuple[str, Sequence[Column], str]] = [
        ("dropped as direct identifiers: ", roles.identifiers, " (see the reasons with: sqlmicro profile)"),
        ("dropped: ", [column for column in roles.dropped if column not in roles.identifiers], ""),
        ("taken for no direct identifiers, as was said: ", roles.allowed, ""),
        (
            "text that looks like numbers with decimal comma, which has no arithmetic; read it with --decimal , : ",
            commas,
            "",
        ),
        (
            "groups of digits by their name, such as postcodes; where means are taken, name them in --nominal: ",
            [column for column in roles.used if column.is_digit_group],
            "",
        ),
        ("released as they are: ", roles.kept, ""),
    ]
    return [before + ", ".join(names_of(columns)) + behind for before, columns, behind in notes if columns]
