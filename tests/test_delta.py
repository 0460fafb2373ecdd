"""Delta tables as targets: one commit for each release, of the file that was audited."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import sqlmicro
from sqlmicro.errors import InputError
from sqlmicro.system.lake_moves import Delta, LakeMove
from sqlmicro.system.object_moves import NotTakenBack

deltalake: Any = pytest.importorskip("deltalake", reason="needs: pip install 'sqlmicro[lakes]'")
pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {"columns": ["age", "income"], "keep": ["city", "day", "at"], "rest": "drop", "k": 3}
RECORDS = """SELECT i AS id, (i * 37) % 41 AS age, (i * i) % 997 + 0.25 AS income,
  CASE i % 3 WHEN 0 THEN 'Bonn' WHEN 1 THEN 'Köln/Süd' ELSE NULL END AS city, DATE '2020-01-01' + (i % 2)::INT AS day,
  TIMESTAMP '2020-01-01 10:00:00' AS at, (i % 3)::UTINYINT AS small FROM range(60) t(i)"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    duckdb.connect().execute(f"COPY ({RECORDS}) TO '{tmp_path}/persons.parquet'")
    return f"{tmp_path}/persons.parquet"


def files(folder: Path) -> list[Path]:
    """Return the files that the newest version of a table has, as deltalake alone reads its log."""
    return [Path(uri) for uri in deltalake.DeltaTable(str(folder)).file_uris()]


def smallest(folder: Path) -> tuple[int, int]:
    select = f"SELECT count(*) AS n FROM read_parquet({[str(path) for path in files(folder)]}) GROUP BY age, income"
    ((least, rows),) = duckdb.connect().execute(f"SELECT min(n), sum(n) FROM ({select})").fetchall()
    return least, int(rows)


def test_exactly_the_audited_file_is_committed(source: str, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    sqlmicro.mdav(source, to=str(tmp_path / "r.parquet"), **OPTIONS)
    report = sqlmicro.mdav(source, to=f"delta:{lake}", **OPTIONS)
    (file,) = files(lake)
    assert file.read_bytes() == (tmp_path / "r.parquet").read_bytes()
    assert smallest(lake) == (report["k"], 60) == (3, 60)
    assert len(list((lake / "_delta_log").glob("*.json"))) == 1
    log = (lake / "_delta_log" / f"{0:020}.json").read_text()
    (stats,) = [json.loads(line)["add"]["stats"] for line in log.splitlines() if "add" in json.loads(line)]
    assert json.loads(stats) == {"numRecords": 60}
    audited = sqlmicro.audit(f"delta:{lake}", quasi=["age", "income"], min_k=3)
    assert audited["audits"][0]["value"] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lake", "persons.parquet", "r.parquet"]


def test_what_is_replaced_is_vacuumed_and_the_residue_said(source: str, tmp_path: Path) -> None:
    lake, db = tmp_path / "lake", str(tmp_path / "w.duckdb")
    sqlmicro.mdav(source, to=f"delta:{lake}", db=db, **OPTIONS)
    before = files(lake)
    with pytest.raises(InputError, match="must not exist yet"):
        sqlmicro.mdav(source, to=f"delta:{lake}", db=db, **OPTIONS)
    report = sqlmicro.mdav(source, to=f"delta:{lake}", db=db, overwrite=True, **OPTIONS | {"k": 6})
    assert smallest(lake)[0] >= 6
    assert list(lake.glob("*.parquet")) == files(lake) != before
    assert any("vacuumed" in note for note in report["notes"])
    entries = sqlmicro.ledger(db=db)["releases"]
    assert [(one["target"], one["state"]) for one in entries] == [(f"delta:{lake}", "out")] * 2


def test_what_delta_cannot_have_is_refused(source: str, tmp_path: Path) -> None:
    duckdb.connect().execute(f"COPY (SELECT *, 1 AS \"net income\" FROM '{source}') TO '{tmp_path}/odd.parquet'")
    with pytest.raises(InputError, match="names without blanks"):
        sqlmicro.mdav(f"{tmp_path}/odd.parquet", to=f"delta:{tmp_path}/lake",
                      **OPTIONS | {"keep": ["net income"]})  # fmt: skip
    with pytest.raises(InputError, match=r"a type for every column. Got small"):
        sqlmicro.mdav(source, to=f"delta:{tmp_path}/lake", **OPTIONS | {"keep": ["small"]})
    assert not (tmp_path / "lake").exists()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "of somebody").write_text("else")
    with pytest.raises(InputError, match="must not exist yet"):
        sqlmicro.mdav(source, to=f"delta:{tmp_path}/taken", overwrite=True, **OPTIONS)
    sqlmicro.mdav(source, to=f"delta:{tmp_path}/lake", **OPTIONS)
    with pytest.raises(InputError, match="own source"):
        sqlmicro.mdav(f"delta:{tmp_path}/lake", to=f"delta:{tmp_path}/lake", overwrite=True, **OPTIONS)


def test_a_commit_of_others_is_not_lost(source: str, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    sqlmicro.mdav(source, to=f"delta:{lake}", **OPTIONS)
    (file,) = files(lake)
    for replaced in (None, 0):
        move = LakeMove(Delta(str(lake), "--to"), file, replaced)
        if replaced is not None:  # somebody replaces the version that was looked at
            LakeMove(Delta(str(lake), "--to"), file, 0).put()
        with pytest.raises(InputError, match="must do what is asked"):
            move.put()
        there = list(lake.glob("*.parquet"))
        move.take_back()
        assert len(list(lake.glob("*.parquet"))) == len(there) - 1
    assert len(files(lake)) == 1 and deltalake.DeltaTable(str(lake)).version() == 1


def test_a_commit_is_not_called_taken_back(source: str, tmp_path: Path) -> None:
    sqlmicro.mdav(source, to=str(tmp_path / "r.parquet"), **OPTIONS)
    move = LakeMove(Delta(str(tmp_path / "lake"), "--to"), tmp_path / "r.parquet", None)
    move.put()
    with pytest.raises(NotTakenBack):
        move.take_back()


_KILLED = """
import os, sys, sqlmicro
from sqlmicro.system.lake_moves import Delta
Delta.commit = lambda *given: os.kill(os.getpid(), 9)
sqlmicro.mdav(sys.argv[1], to="delta:" + sys.argv[2], columns=["age", "income"], rest="drop", k=5, overwrite=True)
"""


def test_a_kill_before_the_commit_shows_nothing(source: str, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    sqlmicro.mdav(source, to=f"delta:{lake}", **OPTIONS)
    before = files(lake)
    done = subprocess.run([sys.executable, "-c", _KILLED, source, str(lake)], capture_output=True, env={**os.environ})
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert files(lake) == before and smallest(lake) == (3, 60)
    sqlmicro.mdav(source, to=f"delta:{lake}", overwrite=True, **OPTIONS)
    assert smallest(lake) == (3, 60)


def test_without_an_extension_only_a_table_that_is_its_files_is_read(source: str, tmp_path: Path) -> None:
    table = duckdb.connect().sql(f"FROM '{source}'").to_arrow_table()
    deltalake.write_deltalake(str(tmp_path / "parts"), table.drop_columns(["small"]), partition_by=["day"])
    with pytest.raises(InputError, match="partitions"):
        Delta(str(tmp_path / "parts"), "here").files()
    sqlmicro.mdav(source, to=f"delta:{tmp_path}/lake", **OPTIONS)
    log = tmp_path / "lake" / "_delta_log" / f"{0:020}.json"
    (name,) = [path.name for path in (tmp_path / "lake").glob("*.parquet")]
    for elsewhere in (source, f"file://{source}", "../persons.parquet"):  # whoever writes the log names any file
        log.write_text(log.read_text().replace(name, elsewhere))
        with pytest.raises(InputError):
            sqlmicro.audit(f"delta:{tmp_path}/lake", quasi=["age"], min_k=3)
        name = elsewhere
    with pytest.raises(InputError, match="there must be a folder"):
        sqlmicro.audit(f"delta:{tmp_path}/none", quasi=["age"], min_k=3)


@pytest.mark.skipif(
    not duckdb.connect().execute("SELECT version()").fetchall()[0][0].startswith("v2."),
    reason="needs DuckDB 2: for 1.5 there are wheels of its extension",
)
def test_iceberg_is_read_without_an_extension(source: str, tmp_path: Path) -> None:
    catalogs = pytest.importorskip("pyiceberg.catalog.sql", reason="needs: pip install 'pyiceberg[sql-sqlite,pyarrow]'")
    catalog = catalogs.SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    records = duckdb.connect().sql(f"SELECT * EXCLUDE (small) FROM '{source}'").to_arrow_table()
    table = catalog.create_table("n.persons", schema=records.schema)
    table.append(records)
    table.append(records)
    folder = tmp_path / "n" / "persons"

    def newest() -> str:
        return f"iceberg:{sorted(folder.glob('metadata/*.metadata.json'))[-1]}"

    options = OPTIONS | {"rows_are_persons": True}  # each was appended twice
    report = sqlmicro.mdav(newest(), to=str(tmp_path / "o.parquet"), **options)
    assert (report["rows"], report["k"]) == (120, 3)
    (folder / "metadata" / "version-hint.text").write_text(Path(newest()).name.removesuffix(".metadata.json"))
    assert sqlmicro.mdav(f"iceberg:{folder}", to=str(tmp_path / "p.parquet"), **options)["rows"] == 120
    with table.update_schema() as change:
        change.rename_column("age", "income_2")
    with pytest.raises(InputError, match="columns that have changed"):
        sqlmicro.mdav(newest(), to=str(tmp_path / "q.parquet"), **options)
