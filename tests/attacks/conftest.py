"""What the tests of attacks share: tables beside each other in a database, and the report of an attack on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from databases import opened

Attack = Callable[..., dict[str, Any]]
Tables = Mapping[str, Mapping[str, Sequence[Any]]]


@pytest.fixture(scope="session")
def attack(tmp_path_factory: pytest.TempPathFactory) -> Attack:
    """Return a function that attacks tables given by column; `attacks` of its report is by name."""
    folder, numbers = tmp_path_factory.mktemp("attacks"), count(1)
    made: dict[int, tuple[str, Tables]] = {}

    def database(tables: Tables) -> str:
        import pyarrow as pa

        db, _ = made.setdefault(id(tables), (str(folder / f"{next(numbers)}.duckdb"), tables))
        if Path(db).exists():
            return db
        with opened(db) as connection:
            for name, columns in tables.items():
                connection.register("given", pa.table({column: list(values) for column, values in columns.items()}))
                connection.execute(f"CREATE TABLE {name} AS FROM given")
        return db

    def run(tables: Tables, **options: Any) -> dict[str, Any]:
        import sqlmicro

        given = {"original": "original", "release": "release", **options}
        report = sqlmicro.attack(db=database(tables), threads=1, **given)
        return report | {"attacks": {row["name"]: row for row in report["attacks"]}}

    return run
