"""Releases of one job, candidates that are kept, and noise of another secret: all of it may be laid side by side."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from world import execute

import sqlmicro
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.errors import AuditFailed
from sqlmicro.publish import ledger_file
from sqlmicro.system.progress import Progress

TABLE = """[[table]]
name = "{}"
row_key = ["id"]
step = [{{do = "mdav", columns = ["age", "x"], k = 4}}, {{do = "publish", {}}}]
"""


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "w.duckdb")
    rows = "SELECT i AS id, i * 7 % 61 AS age, i * 37 % 997 AS x FROM range(200) r(i)"
    execute(path, f"CREATE TABLE persons AS {rows}", "CREATE TABLE copied AS FROM persons WHERE id > 0")
    return path


@pytest.mark.parametrize("where", ['into = "{}"', 'to = "{}.parquet"'])
def test_releases_of_one_job_are_measured_together(db: str, tmp_path: Path, where: str) -> None:
    tables = [TABLE.format(*one) for one in (("persons", where.format("first")), ("copied", where.format("second")))]
    (tmp_path / "job.toml").write_text('db = "w.duckdb"\n' + "".join(tables))
    with pytest.raises(AuditFailed, match=r"share their classes with fewer than 4, together with release 1 \(.*first"):
        sqlmicro.run(str(tmp_path / "job.toml"))
    tables = [name for (name,) in execute(db, "SELECT table_name FROM duckdb_tables() ORDER BY ALL")[0]]
    assert tables[:2] == ["copied", "persons"]
    assert not {"first", "second", "releases"} & set(tables)
    assert not list(tmp_path.glob("*.parquet"))


def test_kept_candidates_are_remembered_with_the_release(db: str) -> None:
    """What several files of the same people tell together is said, and later releases are measured with all of them."""
    given: dict[str, Any] = {
        "columns": ["age", "x"],
        "numeric": ["age", "x"],
        "k": 4,
        "row_key": ["id"],
        "rest": "drop",
    }
    algorithm = ["mdav", "kanonymeans"]
    report = sqlmicro.safe("persons", db=db, into="best", keep_candidates=True, algorithm=algorithm, **given)
    files = ["best", *(one["kept"] for one in report["candidates"])]
    assert len(files) >= 2
    rows = execute(db, "SELECT count(*), count(DISTINCT who) FROM sqlmicro.memory")[0]
    assert rows == [(200 * len(files), 200)]
    (found,) = [row for row in report["audits"] if row["check"] == "union-k"]
    assert (found["passed"], found["threshold"]) == (None, None)
    assert report["verdict"]["status"] == ("lowered" if found["value"] < 4 else "held")


@pytest.mark.slow
def test_noise_of_another_secret_is_told(db: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"columns": ["age"], "amount": 0.5, "row_key": ["id"], "rest": "drop"}
    sqlmicro.noise("persons", db=db, into="first", **given)
    assert not [note for note in sqlmicro.noise("persons", db=db, into="same", **given)["notes"] if "secret" in note]
    (tmp_path / "secret").write_text("another secret of at least sixteen bytes\n")
    report = sqlmicro.noise("persons", db=db, into="other", seed_file=str(tmp_path / "secret"), **given)
    (note,) = [note for note in report["notes"] if "drawn by another secret" in note]
    assert "release 1 (first), release 2 (same)" in note


def test_all_that_a_failed_job_has_entered_is_taken_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    taken: list[int] = []
    own = object.__new__(DuckDBWarehouse)
    own.progress = Progress(enabled=False)
    release = SimpleNamespace(run=SimpleNamespace(warehouse=own), series=None, past=SimpleNamespace(ledger="l.duckdb"))
    monkeypatch.setattr(ledger_file.union, "promises", lambda _: True)
    monkeypatch.setattr(ledger_file, "_entered", lambda *_: ([4, 5], []))
    monkeypatch.setattr(ledger_file, "_opened", lambda *_: nullcontext(SimpleNamespace(aside=nullcontext)))
    monkeypatch.setattr(ledger_file.unfinished, "take_back", lambda *given: taken.extend(given[2]))
    with pytest.raises(KeyboardInterrupt), ledger_file.entered([release, release]):  # type: ignore[list-item]
        raise KeyboardInterrupt
    assert taken == [4, 5]
