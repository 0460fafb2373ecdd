"""Sources and targets: files, hive partitions, and databases attached beside the own one, with one syntax."""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import duckdb
import pytest
from looping import each
from world import rows, warehouse

import sqlmicro
from sqlmicro.database import attach, lakes
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import QueryError

ROWS = 60
RECORDS = """SELECT i AS id, (i * 37) % 41 AS age, (i * i) % 997 + 0.25 AS income,
  CASE i % 3 WHEN 0 THEN 'Bonn' WHEN 1 THEN 'Köln/Süd' ELSE NULL END AS city, 2020 + i % 2 AS year
FROM range(60) t(i)"""
VERSION = duckdb.connect().execute("SELECT version()").fetchall()[0][0]


def needs(extension: str) -> Any:
    """Skip a test whose extension is in no wheel for this version of DuckDB."""
    wheel = f"duckdb-extension-{extension.replace('_', '-')}"
    found = importlib.util.find_spec(f"duckdb_extension_{extension}")
    folders = (
        [Path(folder) / "extensions" / VERSION for folder in (found.submodule_search_locations or ())] if found else []
    )
    there = any(folder.is_dir() for folder in folders)
    return pytest.mark.skipif(not there, reason=f"needs: pip install {wheel}=={VERSION.removeprefix('v')}")


def read(text: str, *parameters: object) -> list[tuple[Any, ...]]:
    with duckdb.connect() as con:
        return con.execute(text, list(parameters)).fetchall()


def smallest(relation: str, columns: str = "age, income") -> tuple[int, int]:
    """Return the size of the smallest class and the number of records of what DuckDB reads as `relation`."""
    ((least, records),) = read(f"SELECT min(n), sum(n) FROM (SELECT count(*) n FROM {relation} GROUP BY {columns})")
    return least, int(records)


OPTIONS = {"columns": ["age", "income"], "keep": ["city", "year"], "rest": "drop", "k": 3}


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = str(tmp_path / "persons.parquet")
    duckdb.connect().execute(f"COPY ({RECORDS}) TO '{path}'")
    return path


# Files


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst", "json.gz", "ndjson.zst"])
def test_compressed_files_and_json_are_read_and_written(source: str, tmp_path: Path, ending: str) -> None:
    between, out = tmp_path / f"between.{ending}", tmp_path / f"out.{ending}"
    first = sqlmicro.mdav(source, to=str(between), **OPTIONS)
    report = sqlmicro.mdav(str(between), to=str(out), **OPTIONS)
    assert smallest(f"'{out}'") == (report["k"], ROWS)
    assert first["k"] >= 3
    magic = out.read_bytes()[:4]
    assert magic == b"\x28\xb5\x2f\xfd" if ending.endswith("zst") else magic[:2] == b"\x1f\x8b" or ending[-2:] != "gz"


@pytest.mark.slow
def test_json_is_an_array_and_ndjson_an_object_per_line(source: str, tmp_path: Path) -> None:
    sqlmicro.mdav(source, to=str(tmp_path / "a.json"), **OPTIONS)
    sqlmicro.mdav(source, to=str(tmp_path / "a.ndjson"), **OPTIONS)
    assert len(json.loads((tmp_path / "a.json").read_text())) == ROWS
    lines = (tmp_path / "a.ndjson").read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == ROWS


@pytest.mark.slow
def test_hive_partitions_are_read_and_written(source: str, tmp_path: Path) -> None:
    lake = tmp_path / "in"
    duckdb.connect().execute(f"COPY ({RECORDS}) TO '{lake}' (FORMAT parquet, PARTITION_BY (year, city))")
    out = tmp_path / "out"
    report = sqlmicro.mdav(
        f"{lake}/**/*.parquet", to=f"{out}/", partition_by=["year", "city"], by=["year"],
        columns=["age", "income"], keep=["city"], rest="drop", k=3,
    )  # fmt: skip
    assert report["k"] >= 3
    assert sorted(path.name for path in out.iterdir()) == ["year=2020", "year=2021"]
    assert smallest(f"read_parquet('{out}/**/*.parquet')", "age, income, year") == (report["k"], ROWS)
    released = read(f"SELECT city, count(*) FROM read_parquet('{out}/**/*.parquet') GROUP BY ALL ORDER BY ALL")
    assert released == [("Bonn", 20), ("Köln/Süd", 20), (None, 20)]
    assert {path.stat().st_mode & 0o777 for path in out.rglob("*.parquet")} <= {0o644, 0o664, 0o600, 0o640}
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    with pytest.raises(sqlmicro.InputError, match="must not exist yet"):
        sqlmicro.mdav(source, to=f"{out}/", partition_by=["year"], overwrite=True, **OPTIONS)


def test_a_folder_name_tells_only_what_is_released(source: str, tmp_path: Path) -> None:
    with pytest.raises(sqlmicro.ParameterError, match="columns of the release"):
        sqlmicro.mdav(source, to=str(tmp_path / "o"), partition_by=["id"], **OPTIONS)
    with pytest.raises(sqlmicro.ParameterError, match="--to FOLDER"):
        sqlmicro.mdav(source, into="o", partition_by=["year"], **OPTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["persons.parquet"]
    duckdb.connect().execute(f"COPY (SELECT *, city AS \"net \"\"city\" FROM '{source}') TO '{tmp_path}/odd.parquet'")
    with pytest.raises(sqlmicro.ParameterError, match="letters without accents"):
        sqlmicro.mdav(str(tmp_path / "odd.parquet"), to=str(tmp_path / "o"), partition_by=['net "city'],
                      **OPTIONS | {"keep": ['net "city']})  # fmt: skip


def test_folders_named_by_an_anonymized_column_have_its_released_values(source: str, tmp_path: Path) -> None:
    report = sqlmicro.mdav(source, to=str(tmp_path / "o"), partition_by=["age"], **OPTIONS)
    folders = list((tmp_path / "o").iterdir())
    assert 1 < len(folders) <= report["groups"]
    assert smallest(f"read_parquet('{tmp_path}/o/**/*.parquet')")[0] >= 3


@pytest.mark.slow
def test_a_folder_of_the_path_that_reads_like_a_partition_is_no_column(source: str, tmp_path: Path) -> None:
    (tmp_path / "run=1").mkdir()
    one = sqlmicro.mdav(source, to=str(tmp_path / "run=1" / "o.parquet"), seed="1", **OPTIONS)
    two = sqlmicro.mdav(source, to=str(tmp_path / "o.parquet"), seed="1", **OPTIONS)
    assert one["output_hash"] == two["output_hash"]


# Attached databases


@pytest.fixture
def other(tmp_path: Path) -> str:
    return warehouse(tmp_path / "other.duckdb", f"CREATE TABLE persons AS {RECORDS}")


def test_an_attached_duckdb_file_is_read_and_not_written(other: str, tmp_path: Path) -> None:
    db = warehouse(tmp_path / "own.duckdb")
    before = Path(other).read_bytes()
    report = sqlmicro.mdav("old.main.persons", db=db, attach=f"old={other}", into="released", **OPTIONS)
    assert rows(db, "SELECT count(*) FROM released") == [(ROWS,)]
    assert rows(db, "SELECT source, k FROM sqlmicro.releases") == [("old.main.persons", report["k"])]
    assert Path(other).read_bytes() == before


@pytest.mark.slow
def test_an_attached_duckdb_file_is_changed_in_place_and_purged(other: str) -> None:
    report = sqlmicro.mdav("old.main.persons", attach=f"old={other}", in_place=True, **OPTIONS)
    assert report["purged"]
    sizes = rows(other, "SELECT min(n), sum(n) FROM (SELECT count(*) n FROM persons GROUP BY age, income)")
    assert sizes == [(report["k"], ROWS)]
    assert rows(other, "SELECT target FROM sqlmicro.releases") == [("old.main.persons",)]


def test_a_release_made_before_is_not_put_in_place_of_another_database(other: str) -> None:
    with duckdb.connect() as con, sqlmicro.open(con) as session:
        con.execute(f"ATTACH '{other}' AS old")
        release = session.mdav("old.main.persons", **OPTIONS)
        with pytest.raises(sqlmicro.InputError, match="one call"):
            release.publish(in_place=True, no_purge=True)
        release.publish(into="old.main.released")
        assert con.execute("SELECT target FROM old.sqlmicro.releases").fetchall() == [("old.main.released",)]


@pytest.mark.slow
def test_releases_of_one_transaction_go_to_one_database(other: str, tmp_path: Path) -> None:
    job = tmp_path / "two.toml"
    table = """[[table]]
name = "old.main.persons"
rest = "drop"
step = [{{do = "mdav", columns = ["age"], k = 3}}, {{do = "publish", into = "{}"}}]
"""
    job.write_text(
        'db = "own.duckdb"\nattach = ["old=other.duckdb"]\n' + table.format("a") + table.format("old.main.b")
    )
    own = warehouse(tmp_path / "own.duckdb")
    with pytest.raises(sqlmicro.JobError, match="writes to one database"):
        sqlmicro.run(str(job))
    job.write_text(job.read_text().replace("old.main.b", "b"), encoding="utf-8")
    sqlmicro.run(str(job))
    assert read("SELECT 1") == [(1,)]
    assert rows(own, "SELECT count(*) FROM a, b") == [(ROWS * ROWS,)]


def test_names_and_tables_that_are_not_there_are_told(other: str) -> None:
    with pytest.raises(sqlmicro.InputError, match=r"Did you mean 'old\.main\.persons'"):
        sqlmicro.mdav("old.main.person", attach=f"old={other}", **OPTIONS)
    with pytest.raises(sqlmicro.ParameterError, match="must be free"):
        sqlmicro.mdav("old.main.persons", attach=[f"old={other}", f"OLD={other}"], **OPTIONS)
    with pytest.raises(sqlmicro.InputError, match="there must be a file"):
        sqlmicro.mdav("a.main.persons", attach="a=nowhere.duckdb", **OPTIONS)


@each("url", [
    "postgres:host=db password=sesame", "postgres:postgresql://me:sesame@db/crm", "postgresql://me:sesame@db/crm",
    "mysql:host=db passwd=sesame", "ducklake:postgres:dbname=lake PASSWORD = sesame",
    "postgresql://db/crm?user=me&password=sesame",
])  # fmt: skip
def test_a_password_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(sqlmicro.ParameterError) as caught:
        sqlmicro.mdav("crm.public.persons", attach=f"crm={url}", **OPTIONS)
    assert "sesame" not in str(caught.value)
    assert caught.value.exit_code == 2
    assert "PGPASSWORD" in str(caught.value) or "MYSQL_PWD" in str(caught.value)


@each("text", ["crm", "=x", "a b=x.duckdb", "crm=", "crm=oracle:sesame"])
def test_another_form_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(sqlmicro.ParameterError) as caught:
        sqlmicro.mdav("crm.public.persons", attach=text, **OPTIONS)
    assert "sesame" not in str(caught.value)


def test_a_missing_extension_names_what_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(attach, "_in_wheel", lambda extension, version: None)
    monkeypatch.setattr(lakes, "find_spec", lambda name: None)  # what else reads a table
    sqlite3.connect(tmp_path / "a.db").close()
    (tmp_path / "lake").mkdir()
    version = VERSION.removeprefix("v")
    for arguments, wheel in (
        ({"table": "s.main.p", "attach": f"s=sqlite:{tmp_path}/a.db"}, "sqlite-scanner"),
        ({"table": f"delta:{tmp_path}/lake"}, "delta"),
    ):
        with pytest.raises(sqlmicro.InputError) as caught:
            sqlmicro.mdav(**arguments, **OPTIONS)
        assert f"pip install duckdb-extension-{wheel}=={version}" in str(caught.value)
        assert f"INSTALL {wheel.removesuffix('-scanner')})" in str(caught.value)
        assert caught.value.exit_code == 2
    assert not list(tmp_path.rglob("*.duckdb_extension*"))


@needs("sqlite_scanner")
def test_sqlite_is_read_and_written(other: str, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    given = read(RECORDS)
    with sqlite3.connect(path) as con:
        con.execute("CREATE TABLE persons (id INTEGER PRIMARY KEY, age INTEGER, income REAL, city TEXT, year INTEGER)")
        con.executemany("INSERT INTO persons VALUES (?, ?, ?, ?, ?)", [(*r[:2], float(r[2]), *r[3:]) for r in given])
        con.execute("CREATE VIEW youngest AS SELECT * FROM persons WHERE id < 30")
    lite = f"lite=sqlite:{path}"
    report = sqlmicro.mdav("lite.main.persons", attach=lite, into="lite.main.released", **OPTIONS)
    sqlmicro.mdav("lite.main.youngest", attach=lite, into="lite.main.less", alone_because="a test", **OPTIONS)
    with sqlite3.connect(path) as con:
        sizes = con.execute("SELECT min(n), sum(n) FROM (SELECT count(*) n FROM released GROUP BY age, income)")
        assert sizes.fetchall() == [(report["k"], ROWS)]
        assert con.execute("SELECT count(*) FROM less").fetchall() == [(30,)]
        assert con.execute("SELECT id, target, k FROM sqlmicro_releases").fetchall()[0] == (
            1, "lite.main.released", report["k"]
        )  # fmt: skip
        passed = 'SELECT release, "check" FROM sqlmicro_audits WHERE passed ORDER BY release, "check"'
        assert con.execute(passed).fetchall() == [
            (1, "k-anonymity (age, income)"), (1, "rows"),
            (2, "differences"), (2, "k-anonymity (age, income)"), (2, "rows"),
        ]  # fmt: skip
    with sqlmicro.open(attach=lite) as session:
        session.mdav("lite.main.persons", **OPTIONS).publish("lite.main.more", alone_because="a test")
        assert session.audit("lite.main.more", quasi=["age", "income"], min_k=3).passed
    with pytest.raises(sqlmicro.InputError, match="DuckDB or PostgreSQL"):
        sqlmicro.mdav("lite.main.persons", attach=lite, in_place=True, **OPTIONS)


@needs("ducklake")
def test_ducklake_is_read_and_written(source: str, tmp_path: Path) -> None:
    lake = f"lake=ducklake:{tmp_path}/meta.ducklake"
    report = sqlmicro.mdav(source, attach=lake, into="lake.main.released", **OPTIONS)
    again = sqlmicro.mdav("lake.main.released", attach=lake, to=str(tmp_path / "o.parquet"), **OPTIONS)
    assert again["rows"] == report["rows"] == ROWS
    audited = sqlmicro.audit("lake.main.released", attach=lake, quasi=["age", "income"])
    assert audited["audits"][0]["value"] == report["k"]
    with pytest.raises(sqlmicro.InputError, match="DuckDB or PostgreSQL"):
        sqlmicro.mdav("lake.main.released", attach=lake, in_place=True, **OPTIONS)


@needs("delta")
def test_delta_is_read(source: str, tmp_path: Path) -> None:
    lake = tmp_path / "delta"
    (lake / "_delta_log").mkdir(parents=True)
    Path(source).rename(lake / "a.parquet")
    types = {"id": "long", "age": "long", "income": "decimal(24,2)", "city": "string", "year": "long"}
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in types.items()]
    records = f"SELECT * REPLACE (income::DECIMAL(24, 2) AS income) FROM ({RECORDS})"
    duckdb.connect().execute(f"COPY ({records}) TO '{lake}/a.parquet'")
    size = (lake / "a.parquet").stat().st_size
    entries: list[dict[str, Any]] = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {"id": "1", "format": {"provider": "parquet", "options": {}}, "partitionColumns": [],
                      "schemaString": json.dumps({"type": "struct", "fields": fields}), "configuration": {}}},
        {"add": {"path": "a.parquet", "partitionValues": {}, "size": size, "modificationTime": 0, "dataChange": True}},
    ]  # fmt: skip
    log = "\n".join(json.dumps(entry) for entry in entries)
    (lake / "_delta_log" / f"{0:020}.json").write_text(log, encoding="utf-8")
    report = sqlmicro.mdav(f"delta:{lake}", to=str(tmp_path / "o.parquet"), **OPTIONS)
    assert smallest(f"'{tmp_path}/o.parquet'") == (report["k"], ROWS)


@needs("iceberg")
@needs("avro")
def test_iceberg_is_read(tmp_path: Path) -> None:
    catalogs = pytest.importorskip("pyiceberg.catalog.sql", reason="needs: pip install 'pyiceberg[sql-sqlite]'")
    catalog = catalogs.SqlCatalog("c", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("n")
    records = duckdb.connect().execute(RECORDS).to_arrow_table()
    catalog.create_table("n.persons", schema=records.schema).append(records)
    folder = tmp_path / "n" / "persons"
    with pytest.raises(sqlmicro.InputError, match="Name the newest metadata file"):
        sqlmicro.mdav(f"iceberg:{folder}", to=str(tmp_path / "o.parquet"), **OPTIONS)
    newest = sorted(folder.glob("metadata/*.metadata.json"))[-1]
    report = sqlmicro.mdav(f"iceberg:{newest}", to=str(tmp_path / "o.parquet"), **OPTIONS)
    assert smallest(f"'{tmp_path}/o.parquet'") == (report["k"], ROWS)


@needs("mysql_scanner")
def test_a_mysql_server_that_does_not_answer_is_told_without_its_url() -> None:
    with pytest.raises(sqlmicro.InputError, match="no server that answers") as caught:
        sqlmicro.mdav("my.crm.persons", attach="my=mysql:host=127.0.0.1 port=1 user=sesame", **OPTIONS)
    assert "sesame" not in str(caught.value)


def test_a_folder_of_parts_is_read_as_the_file_it_is_called(tmp_path: Path) -> None:
    """Spark writes a release as a folder; one without parts is no file."""
    (tmp_path / "parts.parquet" / "year=1").mkdir(parents=True)
    (tmp_path / "parts.parquet" / "_SUCCESS").touch()
    for number, folder in enumerate(("", "year=1/")):
        part = f"{tmp_path}/parts.parquet/{folder}part-{number}.parquet"
        duckdb.execute(f"COPY (SELECT i AS id, i % 3 AS age FROM range({number}, 6) t(i)) TO '{part}'")
    (tmp_path / "[none].parquet").mkdir()
    found = sqlmicro.audit(f"{tmp_path}/parts.parquet", quasi=["age"], min_k=3)
    assert (found["passed"], found["audits"][0]["value"]) == (True, 3)
    with pytest.raises(sqlmicro.InputError, match="there must be a file"):
        sqlmicro.audit(f"{tmp_path}/[none].parquet", quasi=["age"])


def test_an_attached_database_that_nothing_is_published_into_cannot_be_written_to(tmp_path):
    other = warehouse(tmp_path / "other.duckdb", t={"x": ("INTEGER", [1])})
    for writable in ((), ("m",)):
        with open_warehouse(None) as opened_:
            attach.attach(opened_, [f"m={other}"], writable=writable)
            with nullcontext() if writable else pytest.raises(QueryError, match="InvalidInputException"):
                opened_.query("test", "INSERT INTO m.t VALUES (2)")
    assert rows(other, "FROM t") == [(1,), (2,)]
