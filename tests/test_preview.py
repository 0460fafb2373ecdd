"""The preview of a release: released values and marks, never what a value was before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import opened
from world import execute

import sqlmicro


@pytest.fixture
def db(tmp_path: Path) -> str:
    """Forty persons: every original income is one of its own, ending in .25, and no mean of three does."""
    path = str(tmp_path / "w.duckdb")
    execute(
        path,
        """CREATE TABLE persons AS SELECT 'person ' || i AS name, i % 2 AS sex, i * i + 0.25 AS
            income, DATE '1950-01-01' + (i * i)::INTEGER AS born, 'secret ' || i AS note FROM range(40) r(i)""",
    )
    return path


def test_a_value_from_before_is_in_no_preview(db: str) -> None:
    report = sqlmicro.mdav("persons", db=db, columns=["income", "born"], keep="note",
                           accept_unique="note", drop=["name", "sex"], k=3,
                           dry_run=True, diff=True, diff_rows=40)  # fmt: skip
    found = report["preview"]
    assert found["columns"] == ["income", "born"]
    assert found["hidden"] == {"note": "released as it is"}
    assert len(found["rows"]) == 40
    text = json.dumps(found, default=str)
    assert "secret" not in text
    with opened(db, read_only=True) as connection:
        raw = connection.execute("SELECT income, born FROM persons").fetchall()
    shown = [tuple(row["values"]) for row in found["rows"]]
    assert not {row[0] for row in shown} & {row[0] for row in raw}
    assert {tuple(row["marks"]) for row in found["rows"]} == {("changed", "changed")}
    assert all(row["size"] == shown.count(tuple(row["values"])) >= 3 for row in found["rows"])


def test_values_of_few_records_and_of_no_promise_are_not_shown(db: str) -> None:
    masked = sqlmicro.noise(
        "persons", db=db, columns="income", amount=0.1, keep=["sex"], rest="drop", dry_run=True, diff=True
    )
    assert masked["preview"]["rows"] == []
    assert masked["preview"]["hidden"] == {"income": "no k is promised for it", "sex": "released as it is"}
    ranked = sqlmicro.individual_ranking("persons", db=db, columns="income", keep="sex", rest="drop", k=5, dry_run=True,
                                         diff=True, diff_rows=3)  # fmt: skip
    assert ranked["preview"]["columns"] == ["income"]
    assert [row["size"] for row in ranked["preview"]["rows"]] == [5, 5, 5]


def test_marks_tell_what_was_changed_or_suppressed(db: str) -> None:
    execute(
        db,
        """CREATE TABLE cells AS
            SELECT i % 2 AS sex, CASE WHEN i = 7 THEN 'rare' ELSE 'often' END AS job FROM range(40) r(i)""",
    )
    report = sqlmicro.suppress("cells", db=db, columns=["sex", "job"], k=3, dry_run=True, diff=True, diff_rows=40)
    rows = report["preview"]["rows"]
    # One record is rare; two more lose their job with it, so that three are alike.
    marks = [mark for row in rows for mark in row["marks"]]
    assert (marks.count("unchanged"), marks.count("suppressed")) == (77, 3)
    assert all(row["size"] == 3 and row["values"] == [1, None] for row in rows if "suppressed" in row["marks"])
    assert "rare" not in json.dumps(report["preview"])


def test_a_preview_goes_with_a_dry_run_and_writes_nothing(
    db: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlmicro.cli import app

    with pytest.raises(sqlmicro.ParameterError, match=r"--diff: goes with --dry-run"):
        sqlmicro.mdav("persons", db=db, columns="income", rest="drop", diff=True)
    before = Path(db).read_bytes()
    job = Path(db).with_name("job.toml")
    step = '[[step]]\ndo = "mdav"\ncolumns = ["income", "sex"]\nk = 4\n[[step]]\ndo = "publish"\n'
    job.write_text(f'db = "w.duckdb"\ntable = "persons"\nrest = "drop"\n{step}')
    monkeypatch.setattr("sys.argv", ["sqlmicro", "run", str(job), "--dry-run", "--diff", "--diff-rows", "2"])
    with pytest.raises(SystemExit) as caught:
        app()
    assert caught.value.code == 0
    out: Any = capfd.readouterr().out
    table = out[out.index("size  sex") :].splitlines()
    assert len(table[: table.index("")]) == 3
    assert "What a value was before" in out
    assert Path(db).read_bytes() == before


def test_a_moment_with_a_zone_is_shown_as_one(db: str) -> None:
    """DuckDB hands such a value over only where pytz is installed, and does not ask for it itself."""
    with duckdb.connect(db) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("ALTER TABLE persons ADD seen TIMESTAMPTZ")
        connection.execute("UPDATE persons SET seen = make_timestamptz(2020, 1, 1, sex * 2, 0, 0)")
    report = sqlmicro.mdav("persons", db=db, columns="seen", rest="drop", k=20, dry_run=True, diff=True, diff_rows=40)
    assert {value.isoformat()[:10] for row in report["preview"]["rows"] for value in row["values"]} == {"2020-01-01"}
