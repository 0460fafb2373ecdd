"""Erasure: after a release in place the replaced values are gone from the file, and what stays is told.

Canaries are values that can be told from everything else as bytes: texts, the eight bytes of doubles, and the bytes of
four neighbouring dates. What a plain replacement leaves of them is counted too: a search that finds nothing there
would prove nothing here.
"""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from command import run

import sqlmicro
from sqlmicro.erasure import residue
from sqlmicro.erasure.residue import Finder

CANARY = b"CANARY-"
QUICK, FULL = 20_000, 300_000
VERSION = tuple(int(part) for part in duckdb.__version__.split(".")[:2])


def make(path: Path, rows: int, *, compressed: bool = True, storage: str = "v1.2.0") -> None:
    """Write a table of canaries; the bits of token are random, so that no compression changes them."""
    bits = np.random.default_rng(1).integers(-(2**63), 2**63, rows)
    token = np.where(np.isfinite(bits.view(float)), bits.view(float), 1 / 3)
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{path}' AS w (STORAGE_VERSION '{storage}')")
        con.execute("USE w")
        if not compressed:
            con.execute("PRAGMA force_compression='uncompressed'")
        labels = ", ".join(f"'CANARY-GRADE-{i:04d}'" for i in range(50))
        con.execute(f"CREATE TYPE grade AS ENUM ({labels})")
        con.execute(
            "CREATE TABLE persons (name VARCHAR, token DOUBLE, income DOUBLE, born DATE, grade grade, sex VARCHAR)"
        )
        con.register("given", pa.table({"i": np.arange(rows), "token": token}))
        con.execute(
            """INSERT INTO persons SELECT 'CANARY-' || md5(i::VARCHAR), token, 1000 * sqrt(2 + i) + i / 7,
            DATE '1930-01-01' + CAST((i * 7919) % 30000 AS INTEGER),
            ('CANARY-GRADE-' || lpad(((i * 31) % 50)::VARCHAR, 4, '0'))::grade, ['f', 'm'][1 + i % 2] FROM given"""
        )
        con.execute("CHECKPOINT")


def canaries(path: Path) -> Finder:
    """Return what finds the doubles and the runs of four dates of the original table."""
    with duckdb.connect(str(path), read_only=True) as con:
        rows = con.execute("SELECT income, token, born - DATE '1970-01-01' FROM persons ORDER BY rowid").fetchall()
    days = [struct.pack("<i", day) for *_, day in rows]
    runs = [b"".join(days[i : i + 4]) for i in range(len(days) - 4)]
    return Finder([struct.pack("<d", number) for *numbers, _ in rows for number in numbers] + runs)


def left(folder: Path, finder: Finder) -> int:
    """Count the canaries in every file under a folder."""
    return sum(
        path.read_bytes().count(CANARY) + finder.find_in_file(path).times
        for path in folder.rglob("*")
        if path.is_file()
    )


def in_place(db: Path, **options: Any) -> dict[str, Any]:
    return sqlmicro.individual_ranking(
        "persons",
        db=str(db),
        columns=["income", "born"],
        keep=["sex"],
        drop=["name", "token", "grade"],
        k=5,
        in_place=True,
        seed="canary",
        **options,
    )


def query(db: Path, text: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(db), read_only=True) as con:
        return con.execute(text).fetchall()


def check_erasure(folder: Path, rows: int, compressed: bool, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Release in place with and without the purge, and count what is left after each step."""
    temporary, work = folder / "tmp", folder / "work"
    temporary.mkdir(parents=True)
    work.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    db = work / "w.duckdb"
    make(db, rows, compressed=compressed)
    finder = canaries(db)
    counts = {"before": left(folder, finder)}
    report = in_place(db, no_purge=True, manifest=str(work / "manifest.json"))
    assert (report["purged"], report["not_purged_because"]) == (False, "--no-purge")
    assert "sqlmicro purge" in report["warning"]
    counts["plain"] = left(folder, finder)
    (work / "report.json").write_text(json.dumps(report, default=str))
    sqlmicro.individual_ranking(
        "persons", db=str(db), columns=["income", "born"], rest="drop", k=5, to=str(work / "release.parquet"), seed="c"
    )
    sqlmicro.purge(db=str(db))
    counts["labels"] = left(folder, finder)
    assert sqlmicro.purge(db=str(db), narrow_enums=True)["narrowed"] == 1
    counts["purged"] = left(folder, finder)
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in work.iterdir() if path.name.startswith(".")) == []
    return counts


@pytest.mark.slow
def test_a_purge_leaves_no_canary_and_a_plain_replacement_thousands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = check_erasure(tmp_path, QUICK, True, monkeypatch)
    assert counts["before"] > QUICK
    assert counts["plain"] > 4_000, "the control: a replacement alone erases nothing"
    assert 50 <= counts["labels"] <= 200, "the labels of the ENUM type, in the type and in the column, nothing else"
    assert counts["purged"] == 0


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("compressed", "rows"), [(True, FULL), (False, FULL // 3)])
def test_a_purge_of_many_records(tmp_path: Path, compressed: bool, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = check_erasure(tmp_path, rows, compressed, monkeypatch)
    print(json.dumps({"duckdb": duckdb.__version__, "compressed": compressed, **counts}))
    assert counts["before"] > rows
    assert counts["plain"] > 50_000
    assert 50 <= counts["labels"] <= 200
    assert counts["purged"] == 0


@pytest.mark.slow
def test_a_manifest_that_fails_late_keeps_nothing_from_being_purged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, folder = tmp_path / "w.duckdb", tmp_path / "gone"
    folder.mkdir()
    make(db, 300)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sqlmicro.system.moves.put_new", full)
    with pytest.raises(sqlmicro.InputError, match=r"--manifest.*The release is published"):
        in_place(db, manifest=str(folder / "m.json"))
    assert db.read_bytes().count(CANARY) <= 100
    assert query(db, "SELECT count(DISTINCT income) FROM persons")[0][0] <= 60


def test_in_place_purges_by_itself_and_says_so(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    make(db, 3000)
    with duckdb.connect(str(db)) as con:
        con.execute("CREATE VIEW logs AS SELECT * FROM persons")
    os.link(db, tmp_path / "hard_link.duckdb")
    report = in_place(db)
    assert (report["purged"], report["not_purged_because"]) == (True, None)
    told = " ".join(report["notes"])
    assert "50 ENUM labels" in told and "backups" in told and "hard link" in told
    assert db.read_bytes().count(CANARY) <= 200
    assert (tmp_path / "hard_link.duckdb").read_bytes().count(CANARY) > 200
    # The statistics of the columns in the file are those of the released values.
    stats = "".join(
        str(row[0]) for row in query(db, "SELECT stats FROM pragma_storage_info('persons') WHERE column_id = 2")
    )
    found = [float(number) for number in re.findall(r"(?i)m(?:in|ax)\W+(-?[\d.e+-]+)", stats)]
    low, high = query(db, "SELECT min(income), max(income) FROM persons")[0]
    assert (min(found), max(found)) == pytest.approx((low, high), rel=1e-3)


EVERYTHING = """
CREATE TYPE mood AS ENUM ('happy', 'sad');
CREATE SCHEMA other;
CREATE SEQUENCE ids START 100 INCREMENT 5;
CREATE TABLE parent (id INTEGER PRIMARY KEY, m mood DEFAULT 'sad', x DOUBLE CHECK (x < 1000),
                     n INTEGER DEFAULT nextval('ids'));
CREATE TABLE child (pid INTEGER REFERENCES parent (id), v VARCHAR COLLATE NOCASE NOT NULL, u VARCHAR UNIQUE);
CREATE TABLE a_child (pid INTEGER REFERENCES parent (id));
CREATE TABLE computed (a INTEGER, "b c" INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL, c VARCHAR);
CREATE TABLE other.nested (a INTEGER[], s STRUCT(x INTEGER, y VARCHAR), d DATE, z mood);
INSERT INTO parent (id, x) SELECT i, i FROM range(500) r(i);
INSERT INTO child SELECT i, 'v' || i, 'u' || i FROM range(500) r(i);
INSERT INTO a_child SELECT i FROM range(9) r(i);
INSERT INTO computed SELECT i, 'x' || i FROM range(10) r(i);
INSERT INTO other.nested VALUES ([1, 2], {'x': 1, 'y': 'b'}, '2020-01-01', 'happy'), (NULL, NULL, NULL, NULL);
CREATE INDEX by_v ON child (v);
CREATE INDEX by_sum ON computed ((a + 1));
CREATE VIEW v1 AS SELECT * FROM parent WHERE x > 5;
CREATE VIEW a0 AS SELECT * FROM v1;
CREATE VIEW qualified AS SELECT * FROM w.main.parent;
CREATE TABLE gone (x INTEGER);
CREATE VIEW dead AS SELECT * FROM gone;
DROP TABLE gone;
CREATE MACRO plus1(a) AS a + 1;
CREATE MACRO two(a) AS a, (a, b) AS plus1(a) + b;
CREATE MACRO found(a) AS TABLE SELECT * FROM parent WHERE id = a;
COMMENT ON TABLE parent IS 'of a table';
COMMENT ON COLUMN parent.x IS 'of a column';
COMMENT ON VIEW v1 IS 'of a view';
COMMENT ON SEQUENCE ids IS 'of a sequence';
COMMENT ON TYPE mood IS 'of a type';
COMMENT ON INDEX by_v IS 'of an index';
COMMENT ON MACRO plus1 IS 'of a macro'"""
TRIGGER = """CREATE TABLE log (w VARCHAR);
CREATE TABLE watched (a INTEGER);
CREATE TRIGGER noted AFTER INSERT ON watched REFERENCING NEW TABLE AS n FOR EACH STATEMENT
  INSERT INTO log SELECT 'x' FROM n;
INSERT INTO watched VALUES (1), (2)"""
CATALOG = {
    "tables": "schema_name, table_name, sql, comment", "columns": "table_name, column_name, column_default, comment",
    "views": "schema_name, view_name, sql, comment", "indexes": "index_name, sql, comment",
    "constraints": "table_name, constraint_text", "types": "type_name, labels, comment",
    "functions": "function_name, parameters, macro_definition, comment",
}  # fmt: skip


def everything(db: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the catalog and the records of a database."""
    found = {
        kind: query(db, f"SELECT {columns} FROM duckdb_{kind}() WHERE database_name = 'w' ORDER BY ALL")
        for kind, columns in CATALOG.items()
    }
    for table in ("parent", "child", "a_child", "computed", "other.nested", "a0", "qualified", "found(3)"):
        found[table] = query(db, f"SELECT * FROM {table}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["v1.0.0", "v2.0.0"])
def test_a_purge_keeps_the_whole_definition_and_the_storage_version(tmp_path: Path, storage: str) -> None:
    if storage == "v2.0.0" and VERSION < (2, 0):
        pytest.skip("DuckDB 1.5 cannot write the storage of 2.0: pip install 'duckdb>=2'")
    db = tmp_path / "w.duckdb"
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{db}' AS w (STORAGE_VERSION '{storage}', BLOCK_SIZE 16384)")
        con.execute("USE w")
        con.execute(EVERYTHING)
        if VERSION >= (2, 0) and storage == "v2.0.0":
            con.execute(TRIGGER)
    header = db.read_bytes()[8:20]
    before = everything(db)
    db.chmod(0o640)
    linked = tmp_path / "link.duckdb"
    linked.symlink_to(db.name)
    report = sqlmicro.purge(db=str(db))
    assert report["rows"] >= 1021
    assert db.read_bytes()[8:20] == header, "the version of the storage"
    assert everything(db) == before
    assert query(db, "SELECT block_size FROM pragma_database_size() WHERE database_name = 'w'") == [(16384,)]
    assert db.stat().st_mode & 0o7777 == 0o640
    old = db.stat().st_ino
    sqlmicro.purge(db=str(linked))
    assert linked.is_symlink() and db.stat().st_ino != old
    with duckdb.connect(str(db)) as con:
        assert con.execute("SELECT nextval('ids')").fetchone() == (2600,)
        if storage == "v2.0.0":
            con.execute("INSERT INTO watched VALUES (3)")
            assert con.execute("SELECT count(*) FROM log").fetchone() == (3,), "the trigger fires, but not in the purge"


@pytest.mark.skipif(VERSION < (2, 0), reason="needs DuckDB 2.0 to write and the interpreter of 1.5 to read")
def test_what_2_0_purges_1_5_can_read(tmp_path: Path) -> None:
    old = os.environ.get("SQLMICRO_DUCKDB_1_5")
    if old is None:
        pytest.skip("no interpreter with DuckDB 1.5: name one in SQLMICRO_DUCKDB_1_5")
    db = tmp_path / "w.duckdb"
    make(db, 100)
    sqlmicro.purge(db=str(db))
    read = f"import duckdb; print(duckdb.connect({str(db)!r}).execute('SELECT count(*) FROM persons').fetchone()[0])"
    assert subprocess.run([old, "-c", read], capture_output=True, text=True).stdout == "100\n"


# Residue


@pytest.fixture
def anonymized(tmp_path: Path) -> Path:
    """A table released in place, and what it was made from in a file; other objects that still quote it."""
    db = tmp_path / "w.duckdb"
    make(db, 2000)
    with duckdb.connect(str(db)) as con:
        con.execute(f"COPY persons TO '{tmp_path / 'original.parquet'}'")
        names = [row[0] for row in con.execute("SELECT name FROM persons ORDER BY rowid LIMIT 6").fetchall()]
        income = con.execute("SELECT income FROM persons ORDER BY rowid LIMIT 1").fetchone()[0]
        con.execute("CREATE TABLE visits AS SELECT name AS who, born, 1 AS n FROM persons LIMIT 300")
        con.execute("CREATE TABLE amounts AS SELECT income * 2 AS amount FROM persons UNION ALL SELECT ?", [income])
        con.execute(f"CREATE VIEW one AS SELECT * FROM visits WHERE who <> '{names[0]}'")
        con.execute(f"CREATE MACRO other_one(x) AS x = '{names[1]}'")
        con.execute(f"CREATE TABLE checked (who VARCHAR DEFAULT '{names[2]}' CHECK (who <> '{names[3]}'))")
        con.execute(f"COMMENT ON TABLE checked IS 'as {names[4]} said'")
        con.execute("CREATE VIEW innocent AS SELECT * FROM visits WHERE who <> 'nobody' AND n < 5")
    in_place(db)
    return db


@pytest.mark.slow
def test_residue_tells_places_and_counts_and_no_values(anonymized: Path, tmp_path: Path) -> None:
    log = tmp_path / "old.log"
    log.write_bytes(anonymized.read_bytes()[:1000] + CANARY * 3)
    found = sqlmicro.residue(
        db=str(anonymized), table="persons", original=str(tmp_path / "original.parquet"), files=[str(log)]
    )
    places = {(place["place"], place["where"]): (place["values"], place["times"]) for place in found["places"]}
    assert places.pop(("column", "main.visits.who")) == (300, 300)
    assert places.pop(("column", "main.amounts.amount")) == (1, 1)
    values, _ = places.pop(("column", "main.visits.born"))
    assert 200 < values <= 300, "dates, in a column of the same name"
    assert places.pop(("labels of a type", "main.grade")) == (50, 50)
    assert places.pop(("labels of a column's type", "main.persons.grade")) == (50, 50)
    for kind, where in (
        ("view", "main.one"), ("macro", "main.other_one"), ("check", "main.checked"),
        ("default", "main.checked.who"), ("comment", "table main.checked"),
    ):  # fmt: skip
        assert places.pop((kind, where)) == (1, 1), where
    values, _ = places.pop(("bytes of a file", str(anonymized)))
    assert values >= 50 + 5
    assert not places, "an innocent view and a log without canaries are no places"
    assert found["passed"] is False
    assert "CANARY" not in json.dumps(found)
    done = run("residue", "--db", anonymized, "--table", "persons", "--original", tmp_path / "original.parquet")
    assert done.returncode == 1
    assert "main.visits.who" in done.stdout and "CANARY" not in done.stdout + done.stderr


@pytest.mark.slow
def test_residue_finds_nothing_when_everything_was_replaced_and_purged(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    make(db, 6000)
    with duckdb.connect(str(db)) as con:
        con.execute(f"COPY persons TO '{tmp_path / 'original.parquet'}'")
    in_place(db, no_purge=True)
    looked = {"db": str(db), "table": "persons", "original": str(tmp_path / "original.parquet")}
    before = {place["place"]: place["values"] for place in sqlmicro.residue(**looked)["places"]}
    assert before["bytes of a file"] > 100
    sqlmicro.purge(db=str(db), narrow_enums=True)
    after = sqlmicro.residue(**looked)
    assert (after["places"], after["passed"]) == ([], True)
    told = {column["column"]: (column["values"], column["distinctive"]) for column in after["columns"]}
    assert told["name"] == (6000, 6000)
    assert told["sex"] == (0, 0)
    assert told["born"][1] == 0, "four bytes turn up by chance"


@pytest.mark.slow
def test_without_an_original_residue_lists_what_may_hold_values(anonymized: Path) -> None:
    found = sqlmicro.residue(db=str(anonymized), table="persons")
    places = {(place["place"], place["where"]): place["values"] for place in found["places"]}
    assert places["ENUM labels that no record holds", "type grade, column persons.grade"] == 50
    assert places["view: literals", "main.innocent"] == 1, "which of them are values nobody can tell without them"
    assert ("columns of the same name", "main.visits: born") in places
    assert places["records of releases", "sqlmicro.releases"] == 1
    assert found["passed"] is None


def test_narrowing_keeps_labels_in_use_and_types_that_cannot_change(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with duckdb.connect(str(db)) as con:
        con.execute("CREATE TYPE mood AS ENUM ('happy', 'it''s', 'suppressed', 'by default')")
        con.execute("CREATE TABLE a (m mood DEFAULT 'by default', x INTEGER)")
        con.execute("CREATE TABLE b (m mood)")
        con.execute("CREATE INDEX by_x ON a (x)")
        con.execute("CREATE TABLE k (e ENUM('one', 'two') PRIMARY KEY)")
        con.execute("INSERT INTO a VALUES ('happy', 1); INSERT INTO b VALUES ('it''s'); INSERT INTO k VALUES ('one')")
    report = sqlmicro.purge(db=str(db), narrow_enums=True)
    assert report["narrowed"] == 1
    labels = query(db, "SELECT labels FROM duckdb_types() WHERE type_name = 'mood'")
    assert labels == [(["happy", "it's", "by default"],)]
    assert query(db, "SELECT m, x FROM a UNION ALL SELECT m, 0 FROM b ORDER BY x") == [("it's", 0), ("happy", 1)]
    assert query(db, "SELECT index_name FROM duckdb_indexes()") == [("by_x",)]
    assert any("column k.e; only a new type" in note for note in report["not_erased"])
    assert b"suppressed" not in db.read_bytes()


def test_what_is_no_database_file_is_told_how_to_erase(tmp_path: Path) -> None:
    with pytest.raises(sqlmicro.InputError, match=r"DuckLake, Iceberg and Delta.*expire"):
        sqlmicro.purge(db="ducklake:metadata.ducklake")
    lake = tmp_path / "lake.duckdb"
    with duckdb.connect(str(lake)) as con:
        con.execute("CREATE TABLE ducklake_data_file (path VARCHAR)")
        con.execute(f"COPY (SELECT 1 AS x) TO '{tmp_path / 'x.parquet'}'")
        con.execute(f"CREATE VIEW outside AS SELECT * FROM read_parquet('{tmp_path / 'x.parquet'}')")
    told = " ".join(sqlmicro.purge(db=str(lake))["not_erased"])
    assert "catalog of a DuckLake" in told and "views read are not erased: outside" in told


def test_no_purge_goes_with_in_place_only(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    make(db, 50)
    with pytest.raises(sqlmicro.ParameterError, match="goes with --in-place"):
        sqlmicro.individual_ranking("persons", db=str(db), columns=["income"], rest="drop", into="out", no_purge=True)
    report = in_place(db, dry_run=True)
    assert (report["purged"], report["not_purged_because"]) == (False, "a dry run")


def test_a_value_is_found_wherever_the_parts_of_a_file_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(residue, "_CHUNK", 80)
    for begins in range(60, 100):
        (tmp_path / "file").write_bytes(b"." * begins + b"a canary that sings" + b"." * 80)
        found = residue.Finder([b"a canary that sings"]).find_in_file(tmp_path / "file")
        assert (found.patterns, found.times) == ({b"a canary that sings"}, 1)


def test_what_lies_beside_a_file_is_searched_too(tmp_path: Path) -> None:
    (tmp_path / "w.duckdb.tmp").mkdir()
    files = [tmp_path / name for name in ("w.duckdb", "w.duckdb.wal", "w.duckdb.tmp/part", "other.log")]
    for file in files:
        file.touch()
    assert {*residue._files(str(files[0]), [str(files[3])])} == {*files}
