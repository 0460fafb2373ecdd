"""k over joins: what is seen by whoever holds all releases, against plain Python on random star schemas."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from databases import insert
from naive_joins import Key, Star, Table

from sqlmicro.audits.join_k import Joins, Known, Link, Member
from sqlmicro.database.columns import make_columns
from sqlmicro.database.connection import Held
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name

TYPES = {"BIGINT": int, "VARCHAR": lambda n: f"it's {n}", "UUID": lambda n: f"00000000-0000-0000-0000-{n:012}"}
MANY = int(os.environ.get("STARS", "300"))


@pytest.fixture(scope="module")
def opened() -> Iterator[tuple[duckdb.DuckDBPyConnection, DuckDBWarehouse]]:
    with duckdb.connect(config={"threads": "2"}) as connection, open_warehouse(Held(connection)) as warehouse:
        yield connection, warehouse


def star(random: random.Random) -> tuple[list[Table], list[Key], int, dict[str, str]]:
    """Draw tables: persons, who may refer to persons, and events that refer to them or to each other."""
    kind = random.choice(list(TYPES))
    value: Any = TYPES[kind]
    few = random.choice([2, 3, 6])
    types: dict[str, str] = {
        "id": kind,
        "also": "INTEGER",
        "up": kind,
        "up_also": "INTEGER",
        "a": "INTEGER",
        "x": "DOUBLE",
        "y": "DOUBLE",
    }
    tables: list[Table] = []
    keys: list[Key] = []
    composite = random.random() < 0.3
    to = ("id", "also") if composite else ("id",)
    up = ("up", "up_also") if composite else ("up",)
    for number in range(random.choice([1, 2, 2, 3, 3])):
        n = random.randrange(1, 14)
        repeated = random.random() < 0.2  # the columns that others refer to are no key
        rows = []
        for i in range(n):
            at, other = (random.randrange(n) if repeated else i), random.choice([None, *range(14)])
            rows.append({
                "id": value(at), "also": at % 2,
                "up": None if other is None else value(other), "up_also": random.choice([(other or 0) % 2, None]),
                "a": random.choice([None, *range(few)]), "x": random.choice([0.0, -0.0, 0.5]),
                "y": random.choice([0.25, 0.5, None]),
            })  # fmt: skip
        known = random.choice(
            [[("count", "")], [], [("count", ""), ("sum", "a")], [("avg", "y")], [("min", "a"), ("max", "y")]]
        )
        table = Table(f"t{number}", rows, random.choice([["a"], ["a", "x"], []]), known=known)
        if number == 0:
            table.rows_are_persons = True
            if random.random() < 0.3:
                keys.append((0, up, 0, to))
        else:
            for _ in range(random.choice([1, 1, 2])):
                keys.append((number, up, random.randrange(number), to))
            keys = list(dict.fromkeys(keys))
            draw = random.random()
            table.person = list(up) if draw < 0.4 else ["a"] if draw < 0.5 else []
            table.rows_are_persons = draw > 0.9
        tables.append(table)
    return tables, keys, random.choice([1, 2, len(keys)]) if keys else 0, types


def histograms(opened: tuple[Any, DuckDBWarehouse], tables: list[Table], keys: list[Key], depth: int,
               types: dict[str, str]) -> list[tuple[int, dict[int, int]]]:  # fmt: skip
    connection, warehouse = opened
    members = []
    for table in tables:
        listed = ", ".join(f'"{name}" {kind}' for name, kind in types.items())
        connection.execute(f"CREATE OR REPLACE TABLE {table.name} ({listed})")
        insert(connection, table.name, [list(row.values()) for row in table.rows])
        relation = Name("", "main", table.name)
        columns = {column.name: column for column in make_columns(warehouse.describe(relation))}
        known = Known(("count", "") in table.known, tuple(one for one in table.known if one[1]))
        members.append(
            Member(table.name, relation, columns, table.tells, [columns[name] for name in table.person], table.person,
                   table.rows_are_persons, known=known)
        )  # fmt: skip
    joins = Joins(members, [Link(*key) for key in keys], depth)
    return [
        (
            view.base,
            dict(warehouse.rows(view.statement.template, **view.statement.params)),
        )
        for view in joins.views()
    ]


def held_against_python(opened: Any, seeds: range) -> int:
    views = 0
    for seed in seeds:
        tables, keys, depth, types = star(random.Random(seed))
        expected = Star(tables, keys, depth).views()
        found = histograms(opened, tables, keys, depth, types)
        assert found == expected, seed
        views += len(found)
    return views


@pytest.mark.slow
def test_random_stars(opened: Any) -> None:
    assert held_against_python(opened, range(50)) > 50


@pytest.mark.slow
def test_many_random_stars(opened: Any) -> None:
    assert held_against_python(opened, range(50, 50 + MANY)) > MANY
