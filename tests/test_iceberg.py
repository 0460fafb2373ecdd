"""Releases to Iceberg tables in a folder: one commit for each, read back by pyiceberg, attacked and killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_delta import OPTIONS, source  # noqa: F401

import sqlmicro
from sqlmicro.errors import InputError
from sqlmicro.system.iceberg import Iceberg
from sqlmicro.system.lake_moves import LakeMove
from sqlmicro.system.object_moves import NotTakenBack

pytest.importorskip("pyiceberg", reason="needs: pip install 'sqlmicro[lakes]'")
pytestmark = pytest.mark.slow


def table(lake: Path) -> Any:
    """Return the table as pyiceberg alone finds it."""
    from pyiceberg.table import StaticTable  # most of a second, which no collection of tests needs

    return StaticTable.from_metadata(str(lake))


def smallest(lake: Path) -> tuple[int, int]:
    records = table(lake).scan().to_arrow()
    select = "SELECT min(n), sum(n) FROM (SELECT count(*) AS n FROM records GROUP BY age, income)"
    ((least, rows),) = duckdb.connect().register("records", records).execute(select).fetchall()
    return least, int(rows)


def names(lake: Path) -> set[str]:
    return {path.name for path in lake.rglob("*") if path.is_file()}


def test_exactly_the_audited_file_is_committed_and_read_back(source: str, tmp_path: Path) -> None:  # noqa: F811
    lake, db = tmp_path / "lake", str(tmp_path / "w.duckdb")
    sqlmicro.mdav(source, to=str(tmp_path / "r.parquet"), **OPTIONS)
    report = sqlmicro.mdav(source, to=f"iceberg:{lake}", db=db, **OPTIONS)
    (file,) = (lake / "data").iterdir()
    assert file.read_bytes() == (tmp_path / "r.parquet").read_bytes()
    assert smallest(lake) == (report["k"], 60) == (3, 60)
    assert len(table(lake).snapshots()) == 1
    assert sqlmicro.audit(f"iceberg:{lake}", quasi=["age", "income"], min_k=3)["audits"][0]["value"] == 3
    (entry,) = sqlmicro.ledger(db=db)["releases"]
    assert (entry["target"], entry["state"]) == (f"iceberg:{lake}", "out")


def test_what_is_replaced_expires_and_leaves_nothing(source: str, tmp_path: Path) -> None:  # noqa: F811
    """No file, and no least or greatest value of one, of what was replaced: whoever has the folder finds none."""
    lake, db = tmp_path / "lake", str(tmp_path / "w.duckdb")
    sqlmicro.mdav(source, to=f"iceberg:{lake}", db=db, **OPTIONS)
    first, identity = names(lake), table(lake).metadata.table_uuid
    with pytest.raises(InputError, match="must not exist yet"):
        sqlmicro.mdav(source, to=f"iceberg:{lake}", db=db, **OPTIONS)
    assert names(lake) == first
    report = sqlmicro.mdav(source, to=f"iceberg:{lake}", db=db, overwrite=True, **OPTIONS | {"k": 6})
    assert smallest(lake)[0] >= 6
    assert any("has expired" in note for note in report["notes"])
    now = table(lake)
    assert (now.metadata.table_uuid, len(now.snapshots()), now.metadata.metadata_log) == (identity, 1, [])
    assert names(lake) & first == {"version-hint.text"} and len(names(lake)) == len(first) == 5
    text = "".join(path.read_text() for path in (lake / "metadata").glob("*.json"))
    assert not any(name in text for name in first)
    with pytest.raises(InputError, match="keeps its columns"):
        sqlmicro.mdav(source, to=f"iceberg:{lake}", db=db, overwrite=True, **OPTIONS | {"keep": []})
    assert smallest(lake)[0] >= 6 and len(list((lake / "data").iterdir())) == 1


def test_a_commit_of_others_is_not_lost(source: str, tmp_path: Path) -> None:  # noqa: F811
    lake = tmp_path / "lake"
    sqlmicro.mdav(source, to=f"iceberg:{lake}", **OPTIONS)
    (file,) = (lake / "data").iterdir()
    here = Iceberg(str(lake), "--to")
    for replaced in (None, 1):
        move = LakeMove(here, file, replaced)
        if replaced is not None:  # somebody replaces the version that was looked at
            LakeMove(here, file, 1).put()
        with pytest.raises(InputError, match="nobody else may write"):
            move.put()
        there = len(list((lake / "data").iterdir()))
        move.take_back()
        assert len(list((lake / "data").iterdir())) == there - 1
    assert here.version() == 2
    move = LakeMove(here, file, 2)
    move.put()
    with pytest.raises(NotTakenBack):
        move.take_back()


_KILLED = """
import os, sys, sqlmicro
from sqlmicro.system.iceberg import Iceberg
WHERE = sys.argv[3]
setattr(Iceberg, WHERE, lambda *given: os.kill(os.getpid(), 9))
sqlmicro.mdav(sys.argv[1], to="iceberg:" + sys.argv[2], overwrite=True, columns=["age", "income"],
              keep=["day"], rest="drop", k=5)
"""


@pytest.mark.parametrize(("where", "k"), [("commit", 3), ("_say", 5), ("vacuum", 5)])
def test_a_kill_shows_the_old_or_the_new(source: str, tmp_path: Path, where: str, k: int) -> None:  # noqa: F811
    """Before the commit nothing is to be seen; after it, what a kill has left undone the next release does."""
    lake = tmp_path / "lake"
    given = OPTIONS | {"keep": ["day"]}
    sqlmicro.mdav(source, to=f"iceberg:{lake}", **given)
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, source, str(lake), where], capture_output=True, env={**os.environ}
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert smallest(lake)[0] == (3 if where == "_say" else k)  # a hint may be late, and says what was there before
    assert len(Iceberg(str(lake), "here").files()) == 1
    sqlmicro.mdav(source, to=f"iceberg:{lake}", overwrite=True, **given)
    assert smallest(lake) == (3, 60) and len(names(lake)) == 5


def test_what_iceberg_cannot_have_is_refused(source: str, tmp_path: Path) -> None:  # noqa: F811
    for to, why in ((f"iceberg:{tmp_path}/none/lake", "folder of"), ("iceberg:s3://lake/t", "in a store")):
        with pytest.raises(InputError, match=why):
            sqlmicro.mdav(source, to=to, **OPTIONS)
    with pytest.raises(InputError, match=r"Iceberg has a type for every column. Got small"):
        sqlmicro.mdav(source, to=f"iceberg:{tmp_path}/lake", **OPTIONS | {"keep": ["small"]})
    assert not (tmp_path / "lake").exists()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "of somebody").write_text("else")
    with pytest.raises(InputError, match="must not exist yet"):
        sqlmicro.mdav(source, to=f"iceberg:{tmp_path}/taken", overwrite=True, **OPTIONS)
    catalogs = pytest.importorskip("pyiceberg.catalog.sql", reason="needs: pip install 'pyiceberg[sql-sqlite,pyarrow]'")
    catalog = catalogs.SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    records = duckdb.connect().sql(f"SELECT age, income FROM '{source}'").to_arrow_table()
    catalog.create_table("n.persons", schema=records.schema).append(records)
    before = names(tmp_path / "n")
    with pytest.raises(InputError, match="a table that a catalog commits"):
        sqlmicro.mdav(source, to=f"iceberg:{tmp_path}/n/persons", overwrite=True, **OPTIONS)
    assert names(tmp_path / "n") == before
    odd = tmp_path / "odd.parquet"
    duckdb.execute(f"COPY (SELECT age, income AS \"net \"\"in, come\" FROM '{source}') TO '{odd}'")
    sqlmicro.mdav(str(odd), to=f"iceberg:{tmp_path}/odd", columns=["age", 'net "in, come'], k=3)
    assert table(tmp_path / "odd").scan().to_arrow().column_names == ["age", 'net "in, come']
