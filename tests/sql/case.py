"""What a row test of a template is: rows in, parameters, expected rows out, worked by hand from its source."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256

import duckdb
import pytest

from sqlmicro.database import templates
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name

KEY = "secret"
"""The key of the keyed hashes, where the run of a case binds a secret one."""


@dataclass(frozen=True)
class Case:
    """One row test.

    `given` are input relations, made in order as tables of the database `staging`; `files` are input files, text or a
    SELECT to copy to Parquet, in the current folder. `returns` are the names of the columns. `show` selects from the
    result what Python can hold. Rows are compared in any order unless `ordered`.
    """

    template: str
    params: dict
    returns: list[str]
    expect: list[tuple]
    given: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    show: str = ""
    ordered: bool = False


def rel(table):
    """Name a relation of the staging database."""
    return Name("staging", "", table)


def col(name, kind="DOUBLE", staged=None, collated=False):
    """Make a column."""
    return Column(name, kind, staged or name, collated)


class Given(str):
    """The SELECT of an input relation."""


def sql(select):
    """Give an input relation as a SELECT."""
    return Given(select)


def values(columns, *rows):
    """Give an input relation as literal rows, as many in a text as there is place for."""
    return Given(f"SELECT * FROM (VALUES {', '.join(rows)}) AS t({columns})")


def case(template, given=None, /, *, returns, expect, show="", ordered=False, files=None, **params):
    """Make a row test in few lines.

    A parameter that is `values` or `sql` is the input relation of its name; the template gets it where it has a
    parameter of that name. `given` are other relations. The names of the columns are one text.
    """
    named = {name: value for name, value in params.items() if isinstance(value, Given)}
    used = templates.declared_params(template)
    params = {name: value if name not in named else rel(name) for name, value in params.items() if name in used}
    return Case(
        template,
        params=params,
        returns=returns.split(", ") if isinstance(returns, str) else returns,
        expect=expect,
        given={**(given or {}), **named},
        files=files or {},
        show=show,
        ordered=ordered,
    )


def about(number):
    """Stand for a number that the source prints with two decimals."""
    return pytest.approx(number, abs=0.005)


def by_hash(numbers, *names):
    """Order numbers by sha256(key, names if any, number), parted by blanks."""
    return sorted(numbers, key=lambda number: sha256(" ".join([KEY, *names, str(number)]).encode()).hexdigest())


@cache
def _database():
    return duckdb.connect()


def keyed(record, *values):
    """Return the hash of a record and values that stands in mask/draws.sql; hash() is DuckDB's own."""
    listed = ", ".join(["$1", str(record), *map(str, values)])
    (number,) = _database().execute(f"SELECT hash({listed})", [KEY]).fetchone()
    return sha256(f"{KEY} {number}".encode()).hexdigest()
