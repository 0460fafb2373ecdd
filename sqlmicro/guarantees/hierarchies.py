"""Hierarchy files: what the values of a column become on each level, and how far apart that says they are."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sqlmicro.database.columns import Column, settings_by_column
from sqlmicro.errors import InputError, ParameterError

Tree = dict[str | None, tuple[int, ...]]
"""The class of every value on the levels of a hierarchy below its root, level 0 first; None is a missing value."""


def trees(columns: Sequence[Column], given: Iterable[str], where: str) -> dict[Column, Tree]:
    """Return the tree of every column that is named as COLUMN=FILE.

    Raises
    ------
    ParameterError
        For a column that is not there, is named twice, or whose values have no text of their own.
    InputError
        For a file that is no hierarchy.
    """
    found: dict[Column, Tree] = {}
    for column, path in settings_by_column(columns, given, where, "is written COLUMN=FILE"):
        if column in found:
            raise ParameterError(where, f"column {column.name!r} is named twice")
        if column.collated or column.family in ("date", "timestamp", "timestamptz", "other"):
            raise ParameterError(where, "must be text, numbers or true and false", f"{column.name} ({column.type})")
        found[column] = tree(read_hierarchy(path, where))
    return found


def tree(rows: list[list[str]]) -> Tree:
    """Return the classes of the values of a hierarchy; a missing value has nothing in common with any other.

    A class is what it is called and what it belongs to. Classes are numbered depth first: the values of a class, in the
    order of their numbers on level 0, follow one another. A root stands above what is not one class on the last level.

    >>> tree([["flu", "lung", "*"], ["ulcer", "stomach", "*"], ["asthma", "lung", "*"]])
    {'asthma': (0, 0), 'flu': (1, 0), 'ulcer': (2, 1), None: (3, 2)}
    """
    paths = sorted(row[::-1] for row in rows)
    root = len({path[0] for path in paths}) == 1
    numbers = [-1] * (len(paths[0]) - root)
    before: list[str] = []
    found: Tree = {}
    for path in paths:
        for place in range(len(numbers)):
            numbers[place] += path[: root + place + 1] != before[: root + place + 1]
        before = path
        found[path[-1]] = tuple(reversed(numbers))
    found[None] = tuple(number + 1 for number in reversed(numbers))
    return found


def refuse_lacking(column: str, lacking: int, values: int, where: str) -> None:
    """Raise InputError when values of a column are not in its hierarchy; it has their number."""
    if lacking:
        raise InputError(
            where,
            "a hierarchy must have every value of its column",
            f"{lacking:,} of the {values:,} values of {column!r} are not in it",
            "Add them to the file",
        )


def read_hierarchy(path: str, where: str) -> list[list[str]]:
    """Return the rows of a hierarchy file: a value and what it becomes on level 1, 2, ….

    A CSV file has a row per value, without a header, with commas or semicolons. A TOML file has a table [[level]] per
    level, whose keys are the names of the level and whose values are lists of what is in it.

    Raises
    ------
    InputError
        When the file cannot be read, or a value is in it twice.
    """
    import tomllib

    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        found = _from_toml(tomllib.loads(text)) if path.lower().endswith(".toml") else _from_csv(text)
    except OSError:
        raise InputError(where, "there must be a hierarchy file", repr(path)) from None
    except (ValueError, TypeError, AttributeError, KeyError):
        raise InputError(
            where,
            "a hierarchy is a CSV file with a row per value (value, level 1, level 2, …), all of one length, or a TOML "
            "file with a table [[level]] per level (name = [values])",
            repr(path),
        ) from None
    values = [row[0] for row in found]
    if len(set(values)) < len(values):
        raise InputError(
            where, "a value must be in a hierarchy once", f"{len(values) - len(set(values))} again in {path!r}"
        )
    return found


def _from_csv(text: str) -> list[list[str]]:
    first = text.partition("\n")[0]
    rows = [row for row in csv.reader(text.splitlines(), delimiter=";" if ";" in first else ",") if row]
    if not rows or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError
    return rows


def _from_toml(content: dict[str, Any]) -> list[list[str]]:
    levels: list[dict[str, list[Any]]] = content["level"]
    rows = [[str(value), name] for name, values in levels[0].items() for value in values]
    for level in levels[1:]:
        above = {str(value): name for name, values in level.items() for value in values}
        for row in rows:
            row.append(above[row[-1]])
    if not rows:
        raise ValueError
    return rows
