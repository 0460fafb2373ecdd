"""Totals of two releases: whoever came between two nights is found, without anything that matches records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases import opened

import sqlmicro
from sqlmicro.attacks.totals import Classes, overlaps
from sqlmicro.errors import InputError

from .conftest import Attack

COLUMNS = ["age", 'net "income"', "c", "d"]
GIVEN: dict[str, Any] = {"columns": COLUMNS, "k": 5, "row_key": ["id"], "rest": "drop", "alone_because": "test"}


def nights(folder: Path, n: int, came: int, kind: str = "DOUBLE") -> str:
    """Make a table of n records, which `everybody` has with those who come later."""
    import pyarrow as pa

    db = str(folder / "w.duckdb")
    X = np.random.default_rng(7).normal(100, 30, (n + came, 4)).round(0 if kind == "INTEGER" else 3)
    table = pa.table({"id": np.arange(n + came), **{name: X[:, j] for j, name in enumerate(COLUMNS)}})
    with opened(db) as connection:
        connection.register("made", table)
        casts = ", ".join(
            f'CAST("{name.replace(chr(34), chr(34) * 2)}" AS {kind}) AS c{j}' for j, name in enumerate(COLUMNS)
        )
        names = ", ".join(f'c{j} AS "{name.replace(chr(34), chr(34) * 2)}"' for j, name in enumerate(COLUMNS))
        connection.execute(f"CREATE TABLE everybody AS SELECT id, {names} FROM (SELECT id, {casts} FROM made)")
        connection.execute(f"CREATE TABLE persons AS FROM everybody WHERE id < {n}")
    return db


def attacked(db: str, **more: Any) -> dict[str, Any]:
    given = {"original": "everybody", "release": ["first", "second"], "attack": ["totals"], **more}
    report: dict[str, Any] = sqlmicro.attack(db=db, threads=1, **given)
    return report


@pytest.mark.slow
def test_the_newcomer_of_the_next_night_is_found_exactly(tmp_path: Path) -> None:
    """4 950 records and the next night 4 951, mdav with k = 5: what the ledger exists for."""
    db = nights(tmp_path, 4950, 1)
    sqlmicro.mdav("persons", db=db, into="first", **GIVEN)
    with opened(db) as connection:
        connection.execute("INSERT INTO persons FROM everybody WHERE id = 4950")
        newcomer = connection.execute("SELECT age FROM everybody WHERE id = 4950").fetchone()
    sqlmicro.mdav("persons", db=db, into="second", **GIVEN)
    report = attacked(db, within=1e-9)
    (row,) = report["attacks"]
    assert report["match"] == []
    assert (row["rate"], row["n"], row["unit"]) == (1.0, 4, "values")
    assert (row["k"], row["differences"], row["records"], row["alone"]) == (5, 1, 1, 1)
    assert row["by_column"] == dict.fromkeys(COLUMNS, 1.0)
    assert row["chance"] < 0.01
    assert report["verdict"]["headline"].endswith("but an attack gets further")
    assert newcomer
    assert f"{newcomer[0]}" not in str(report)
    # Who left is found as who came: the releases the other way round.
    (row,) = attacked(db, release=["second", "first"], within=1e-9)["attacks"]
    assert (row["rate"], row["alone"]) == (1.0, 1)


def test_totals_of_whole_numbers_are_exact_however_means_are_rounded(tmp_path: Path) -> None:
    db = nights(tmp_path, 60, 1, "INTEGER")
    rounded = ", ".join(f'round(avg("{name.replace(chr(34), chr(34) * 2)}"), 1)' for name in COLUMNS)
    names = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in COLUMNS)
    with opened(db) as connection:
        for into, last, by in (("first", 60, 5), ("second", 61, 6)):
            labelled = f"SELECT *, least(id // {by}, 60 // {by} - 1) AS label FROM everybody WHERE id < {last}"
            connection.execute(
                f"CREATE TABLE {into}({names}) AS SELECT r.* EXCLUDE label FROM (SELECT label, {rounded} "
                f"FROM ({labelled}) GROUP BY ALL) AS r JOIN ({labelled}) AS o USING (label)"
            )
    (row,) = attacked(db, within=1e-9)["attacks"]
    assert (row["rate"], row["alone"]) == (1.0, 1)


def test_who_came_to_one_place_each_is_found_there() -> None:
    """Two classes took one each, far from each other; a third was divided, of the same records; a fourth took five."""
    before = [(0.0, 5), (10.0, 5), (20.0, 10), (30.0, 5), (40.0, 5)]
    after = [((0 + 3) / 6, 6), ((50 + 12) / 6, 6), (19.0, 5), (21.0, 5), (30.0, 5), ((200 + 200) / 10, 10)]
    found: dict[float, tuple[int, int]] = {}
    for side, released in enumerate((before, after)):
        for value, size in released:
            one, other = found.get(value, (0, 0))
            found[value] = (one, other + size) if side else (one + size, other)
    X = np.array([[value, value / 2] for value in found])
    more = np.array([other - one for one, other in found.values()])
    classes = Classes(X, more, X * more[:, None], np.zeros(2))
    isolated = overlaps(classes, 5)
    assert sorted((one.persons, *one.total.round(9)) for one in isolated) == [(1, 3.0, 1.5), (1, 12.0, 6.0)]


def test_the_same_release_again_is_nothing_to_attack(attack: Attack) -> None:
    first = {"id": [1, 2, 3], "x": [2.0, 2.0, 2.0]}
    tables = {"original": {"id": [1, 2, 3], "x": [1.0, 2.0, 3.0]}, "release": first, "second": first}
    with pytest.raises(InputError, match="must have different totals"):
        attack(tables, release=("release", "second"), attack="totals", columns=["x"])
    report = attack(tables, release=("release", "second"), columns=["x"])
    assert "totals" in {row["name"] for row in report["not_tried"]}


@pytest.mark.parametrize("values", [[None, None, 2.0, 2.0], [None] * 4, [5.0] * 4])
def test_missing_and_constant_values(attack: Attack, values: list[float | None]) -> None:
    import pyarrow as pa

    x = pa.array(values, pa.float64())
    tables: Any = {"original": {"x": x, "y": [1.0, 3.0, 5.0, 9.0]}, "release": {"x": x, "y": [2.0, 2.0, 7.0, 7.0]},
                   "second": {"x": x, "y": [2.0, 2.0, 2.0, 7.0]}}  # fmt: skip
    (row,) = attack(tables, release=("release", "second"), attack="totals", k=3)["attacks"].values()
    assert 0 <= row["rate"] <= 1
