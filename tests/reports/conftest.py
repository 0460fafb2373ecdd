"""What the tests of reports share: a database with names and values that must not get out, and the report on it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import reported
from databases import insert, opened

import sqlmicro
from sqlmicro.reports.facts import Facts
from sqlmicro.system.reporting import as_json

K = 3
TABLE = "<script>alert(1)</script>"
INCOME = 'net "income"'
CITY = "city & <b>place</b>"
RARE = "Kanarienwerder <img src=x onerror=alert(2)>"
FREQUENT = "Ulm <i>am</i> Rhein"
HIGHEST, LOWEST = 987654321.0625, -876543.21875
RECORDS = 400


@dataclass(frozen=True)
class World:
    """A database file and what was in the original by column."""

    db: str
    original: dict[str, list[Any]]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Make a table with a key, unique doubles, two extreme values and a city that two records have; release it."""
    rng = random.Random(1)
    original: dict[str, list[Any]] = {
        "person": [7_123_456_789 + 37 * i for i in range(RECORDS)],
        INCOME: [HIGHEST, LOWEST, *(round(rng.lognormvariate(8, 1), 4) for _ in range(RECORDS - 2))],
        "age": [rng.randrange(18, 90) for _ in range(RECORDS)],
        CITY: [RARE, RARE, *(rng.choice(["Bonn", "Bonn", FREQUENT, "Köln"]) for _ in range(RECORDS - 3)), None],
    }
    db = str(tmp_path_factory.mktemp("report") / "world.duckdb")
    with opened(db) as connection:
        quoted = '"' + INCOME.replace('"', '""') + '"'
        connection.execute(f'CREATE TABLE "{TABLE}" (person BIGINT, {quoted} DOUBLE, age INTEGER, "{CITY}" VARCHAR)')
        insert(connection, f'"{TABLE}"', zip(*original.values(), strict=True))
    options: dict[str, Any] = {
        "db": db,
        "columns": [f"{INCOME}", "age"],
        "keep": ["person", CITY],
        "accept_unique": ["person"],
    }
    sqlmicro.mdav(TABLE, k=K, into="release", **options)
    sqlmicro.mdav(TABLE, k=5, into="coarse", alone_because="a test", **options)
    sqlmicro.individual_ranking(TABLE, k=K + 1, into="by column", **options)
    return World(db, original)


@pytest.fixture(scope="session")
def found(world: World) -> Facts:
    """Return the report on the release, as it is rendered."""
    facts: Facts = reported("report", release="release", db=world.db, sample=50)
    return facts


@pytest.fixture(scope="session")
def facts(found: Facts) -> dict[str, Any]:
    """Return the report on the release, as Python gives it."""
    told: dict[str, Any] = as_json(found)
    return told


@pytest.fixture(scope="session")
def page(found: Facts) -> str:
    """Return the page of the report."""
    from sqlmicro.reports.page import html

    return html(found)


@pytest.fixture(scope="session")
def page_file(page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page as a file."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page, encoding="utf-8")
    return path
