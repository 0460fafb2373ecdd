"""The purge: what it compares the fresh file with, and what the catalog still quotes that no record holds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

import sqlmicro
from sqlmicro import cli
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import Name
from sqlmicro.erasure import copy_database, purge
from sqlmicro.erasure.purge import PurgeReport, after_publishing
from sqlmicro.jobs import run as jobs
from sqlmicro.options.common import DisplayOptions
from sqlmicro.publish.in_place import InPlace
from sqlmicro.system import scratch

TRIGGERS = int(duckdb.__version__.partition(".")[0]) >= 2


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("""
            CREATE SCHEMA s; CREATE SEQUENCE numbers; CREATE TYPE mood AS ENUM ('sad', 'happy');
            CREATE TABLE persons (id INTEGER PRIMARY KEY, x DOUBLE DEFAULT 7, name VARCHAR NOT NULL, mood mood);
            INSERT INTO persons SELECT i, i / 4, 'n' || i, 'sad' FROM range(50) r(i);
            CREATE TABLE s.empty (x INTEGER); CREATE TABLE s.plain (x INTEGER);
            CREATE INDEX by_name ON persons (name);
            CREATE VIEW v AS FROM persons; CREATE MACRO twice(a) AS a * 2;
            COMMENT ON TABLE persons IS 'people'""")
        if TRIGGERS:
            con.execute("CREATE TRIGGER t AFTER INSERT ON persons REFERENCING NEW TABLE AS n FOR EACH STATEMENT "
                        "INSERT INTO s.empty SELECT id FROM n")  # fmt: skip
    return path


# What is compared

RECORDS = {
    "a record less": "DELETE FROM persons WHERE id = 3",
    "a record more": "INSERT INTO s.empty VALUES (1)",
    "another value": "UPDATE persons SET x = 99 WHERE id = 3",
    "NULL for a value": "UPDATE persons SET mood = NULL WHERE id = 3",
    "another label": "UPDATE persons SET mood = 'happy' WHERE id = 3",
    "two values exchanged": "UPDATE persons SET x = (10 - id) / 4 WHERE id IN (4, 6)",
}
CATALOG = {
    "a schema": "CREATE SCHEMA further", "a type": "DROP TYPE mood", "a sequence": "DROP SEQUENCE numbers",
    "a table": "CREATE TABLE further (x INTEGER)", "a column": "ALTER TABLE s.plain ADD COLUMN further INTEGER",
    "a default": "ALTER TABLE s.plain ALTER COLUMN x SET DEFAULT 8",
    "a constraint": "ALTER TABLE s.plain ALTER COLUMN x SET NOT NULL", "an index": "DROP INDEX by_name",
    "a view": "DROP VIEW v", "a macro": "DROP MACRO twice", "a comment": "COMMENT ON TABLE persons IS 'others'",
}  # fmt: skip


@pytest.fixture
def harmed(db: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return what purges a file whose copy is harmed before it is compared, and gives the error in words."""
    real = copy_database._copy_triggers

    def purge(harm: str) -> str:
        def harming(warehouse: DuckDBWarehouse, old: str, fresh: str) -> None:
            real(warehouse, old, fresh)
            warehouse._connection.execute(f'USE "{fresh}"')
            warehouse._connection.execute(harm)
            warehouse._connection.execute(f'USE "{old}"')

        monkeypatch.setattr(copy_database, "_copy_triggers", harming)
        with pytest.raises(sqlmicro.QueryError, match="must be equal to the database") as caught:
            sqlmicro.purge(db=str(db))
        assert caught.value.exit_code == 3
        return str(caught.value)

    return purge


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_a_copy_that_differs_is_refused_and_the_file_stays(db: Path, harmed: Callable[[str], str], every: int) -> None:
    """Each is one difference that only the comparison can see: without it the fresh file would replace the old one."""
    before = db.read_bytes()
    for what, harm in list(RECORDS.items())[::every]:
        assert "the records of " in harmed(harm), what
    for what, harm in list(CATALOG.items())[::every]:
        assert "the records of" not in harmed(harm), what
    if TRIGGERS:
        assert "differences in triggers" in harmed("DROP TRIGGER t ON persons")
    assert db.read_bytes() == before
    assert [path.name for path in db.parent.iterdir()] == ["w.duckdb"]


def test_it_is_compared_what_is_on_the_disk(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fresh file is opened again to be read: what was only in memory is not taken for written."""
    seen = []
    real = copy_database._compare

    def compare(warehouse: DuckDBWarehouse, old: str, fresh: str, *rest: Any) -> None:
        seen.append(warehouse.query("t", "SELECT readonly FROM duckdb_databases() WHERE database_name = $1", [fresh]))
        real(warehouse, old, fresh, *rest)

    monkeypatch.setattr(copy_database, "_compare", compare)
    sqlmicro.purge(db=str(db))
    assert seen == [[(True,)]]


@pytest.mark.parametrize(("little", "asked"), [(2**30, 1), (2**20, 2)])
def test_what_fails_in_little_memory_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, little: int, asked: int
) -> None:
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t AS SELECT i AS id, repeat(md5(i::VARCHAR), 100) AS text FROM range(3000) r(i)")
        before = con.execute("FROM t").fetchall()
    monkeypatch.setattr(copy_database, "_LITTLE", little)
    limits: list[Any] = []
    real = copy_database._copy_records

    def copy(warehouse: DuckDBWarehouse, *rest: Any) -> None:
        limits.append(warehouse.query("t", "SELECT current_setting('memory_limit')"))
        real(warehouse, *rest)

    monkeypatch.setattr(copy_database, "_copy_records", copy)
    assert sqlmicro.purge(db=str(path))["purged"]
    assert len(limits) == len({str(limit) for limit in limits}) == asked
    with duckdb.connect(str(path)) as con:
        assert con.execute("FROM t").fetchall() == before


# What the catalog quotes

SECRET = b"-Secret"
NESTED = """
CREATE TYPE mood AS ENUM ('ok', 'Mood-Secret'); CREATE TYPE pair AS STRUCT(a ENUM('m', 'Pair-Secret'), b INTEGER);
CREATE TABLE t (
  id INTEGER, listed ENUM('a', 'b', 'List-Secret')[], pair STRUCT("ENUM('q')" ENUM('x', 'Struct-Secret'), v VARCHAR),
  keyed MAP(ENUM('k', 'Key-Secret'), INTEGER), fixed ENUM('a', 'Array-Secret')[2], mood mood, typed pair,
  deep STRUCT(l MAP(VARCHAR, ENUM('d', 'Deep-Secret')[])[]), codes ENUM('0', '1', '2')[], two STRUCT(
    one ENUM('a', 'b'), other ENUM('b', 'Two-Secret')));
INSERT INTO t SELECT i, ['a', NULL, 'b'], {'ENUM(''q'')': 'x', 'v': 'text'}, MAP {'k': 3}, ['a', 'a'], 'ok',
  {'a': 'm', 'b': 1}, {'l': [MAP {'z': ['d']}]}, ['2', '2'], {'one': 'a', 'other': 'b'} FROM range(40) r(i);
INSERT INTO t (id) VALUES (-1);
CREATE VIEW v AS SELECT id, listed, mood FROM t WHERE id >= 0; COMMENT ON VIEW v IS 'seen';
CREATE SCHEMA s; CREATE VIEW s.w AS SELECT listed AS l FROM main.v;
CREATE INDEX by_id ON t (id);"""


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    path = tmp_path / "n.duckdb"
    with duckdb.connect() as con:
        con.execute(f"ATTACH '{path}' AS n (STORAGE_VERSION 'v1.2.0'); USE n")
        con.execute(NESTED)
    return path


@pytest.mark.slow
def test_labels_within_other_types_are_named_by_purge_and_residue(nested: Path) -> None:
    report = sqlmicro.purge(db=str(nested))
    assert report["clean"] is False
    told = "\n".join(report["not_erased"])
    named = ("t.listed", "t.pair", "t.keyed", "t.fixed", "t.deep", "t.two", "type mood, column t.mood",
             "type pair, column t.typed")  # fmt: skip
    for column in named:
        assert f"1 ENUM labels that no record holds, of {'' if 'type' in column else 'column '}{column}" in told, column
    assert "2 ENUM labels that no record holds, of column t.codes" in told, "'0' and '1' are no places in a list"
    assert "Secret" not in told
    places = {place["where"]: place["values"] for place in sqlmicro.residue("t", db=str(nested))["places"]}
    assert places["column t.listed"] == places["column t.deep"] == 1
    assert places["column t.two"] == 1, "the label b of one type is a text of the other, and in the data"


@pytest.mark.slow
@pytest.mark.skipif(not TRIGGERS, reason="DuckDB 1.5 cannot change a column to a nested type: labels are named")
def test_labels_within_other_types_are_taken_out(nested: Path) -> None:
    with duckdb.connect(str(nested)) as con:
        before = con.execute("FROM t ORDER BY id").fetchall()
    assert nested.read_bytes().count(SECRET) >= 8
    report = sqlmicro.purge(db=str(nested), narrow_enums=True)
    assert "ENUM" not in "".join(report["not_erased"]) and "1 comments" in report["not_erased"][0]
    assert nested.read_bytes().count(SECRET) == 0
    with duckdb.connect(str(nested)) as con:
        assert con.execute("FROM t ORDER BY id").fetchall() == before
        assert con.execute("SELECT count(*) FROM s.w").fetchall() == [(40,)]
        kinds = dict(
            con.execute("SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 't'").fetchall()
        )
        assert kinds["listed"] == "ENUM('a', 'b')[]"
        assert kinds["pair"] == """STRUCT("ENUM('q')" ENUM('x'), v VARCHAR)"""
        assert kinds["typed"] == "STRUCT(a ENUM('m'), b INTEGER)"
        assert kinds["deep"] == "STRUCT(l MAP(VARCHAR, ENUM('d')[])[])"
        assert con.execute("SELECT comment FROM duckdb_views() WHERE view_name = 'v'").fetchall() == [("seen",)]
    assert sqlmicro.purge(db=str(nested), narrow_enums=True)["narrowed"] == 0


def test_an_enum_with_some_labels_left_is_narrowed(tmp_path: Path) -> None:
    """DuckDB hashes a label by its number, which narrowing changes: it was refused as another content."""
    path = tmp_path / "e.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE t (g ENUM('Gone-Secret', 'b', 'c'))")
        con.execute("INSERT INTO t SELECT ['b', 'c'][1 + i % 2] FROM range(10) r(i)")
    report = sqlmicro.purge(db=str(path), narrow_enums=True)
    assert (report["narrowed"], report["clean"]) == (1, True)
    assert path.read_bytes().count(SECRET) == 0


@pytest.mark.slow
def test_what_definitions_quote_is_named_unless_a_record_holds_it(db: Path) -> None:
    assert sqlmicro.purge(db=str(db))["clean"] is False, "the label happy, and a comment"
    with duckdb.connect(str(db)) as con:
        con.execute("COMMENT ON TABLE persons IS NULL")
        con.execute("UPDATE persons SET mood = 'happy' WHERE id = 1")
        con.execute("CREATE VIEW held AS SELECT * FROM persons WHERE name = 'n1' OR name LIKE '%' OR id > 3")
    assert sqlmicro.purge(db=str(db))["clean"] is True
    sqlmicro.macros(db=str(db))
    assert sqlmicro.purge(db=str(db))["clean"] is True, "what our own macros quote is no record"
    with duckdb.connect(str(db)) as con:
        con.execute("CREATE VIEW s.quoting AS FROM main.persons WHERE name <> 'Anna-Secret' AND name <> 'n2'")
        con.execute("CREATE MACRO known(a) AS a IN ('Bert-Secret', 'Carl-Secret')")
        con.execute("CREATE TABLE s.checked (x INTEGER CHECK (x <> 98765), y VARCHAR DEFAULT 'Dora-Secret')")
    report = sqlmicro.purge(db=str(db))
    assert report["clean"] is False
    told = "\n".join(report["not_erased"])
    quoting = {"view s.quoting": 1, "macro main.known": 2, "default s.checked.y": 1, "check s.checked": 1}
    for what, literals in quoting.items():
        assert f"{literals} texts or numbers that no record holds, in {what};" in told, told
    assert "Secret" not in told and "98765" not in told
    assert "view main.held" not in told


def test_a_release_in_place_says_that_a_view_quotes_what_it_replaced(tmp_path: Path) -> None:
    db = tmp_path / "w.duckdb"
    with duckdb.connect(str(db)) as con:
        con.execute("CREATE TABLE people AS SELECT i AS id, i / 4 AS x, 'n' || i AS name FROM range(50) r(i)")
        con.execute("CREATE VIEW young AS FROM people WHERE name <> 'n7'")
    report = sqlmicro.individual_ranking(
        "people", db=str(db), columns=["x"], keep=["id"], accept_unique=["id"], rest="drop", k=5, in_place=True
    )
    assert report["purge"]["clean"] is False
    assert any("in view main.young" in note for note in report["notes"])


# Where a system has no locks of open files


@pytest.fixture
def on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the locks of open files: what is left are those that end when DuckDB closes the file."""
    monkeypatch.delattr(scratch.fcntl, "F_OFD_SETLK")
    monkeypatch.setattr(purge, "_PATIENCE", 0.0)


def canary_in(db: Path) -> bool:
    return b"Zyxwvut" in db.read_bytes()


@pytest.fixture
def replaced(tmp_path: Path) -> Path:
    """Return a database that still holds a name which was replaced."""
    path = tmp_path / "w.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE p AS SELECT i AS id, 'Zyxwvut-' || i AS name FROM range(3000) AS r(i)")
        connection.execute("CHECKPOINT")
        connection.execute("CREATE OR REPLACE TABLE p AS SELECT i AS id FROM range(3000) AS r(i)")
    assert canary_in(path)
    return path


@pytest.mark.usefixtures("on_macos")
def test_the_purge_runs_without_locks_of_open_files(replaced: Path) -> None:
    assert sqlmicro.purge(db=str(replaced))["purged"]
    assert not canary_in(replaced)
    with duckdb.connect(str(replaced), read_only=True) as connection:
        assert connection.execute("SELECT count(*), sum(id) FROM p").fetchall() == [(3000, 2999 * 1500)]


WRITE = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); c.execute('INSERT INTO p VALUES (-1)'); c.close()"
READ = "import sys, duckdb; c = duckdb.connect(sys.argv[1], read_only=True); print(1, flush=True); sys.stdin.read()"


@pytest.mark.slow
@pytest.mark.usefixtures("on_macos")
def test_who_writes_when_the_lock_has_ended_is_found(replaced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process writes between the copy and the renaming: seen without the check, its row was lost."""
    real = purge._like

    def like(fresh: Path, file: Path) -> None:
        real(fresh, file)
        subprocess.run([sys.executable, "-c", WRITE, str(file)], check=True)

    monkeypatch.setattr(purge, "_like", like)
    with pytest.raises(sqlmicro.InputError, match="must be used by nobody else"):
        sqlmicro.purge(db=str(replaced))
    with duckdb.connect(str(replaced), read_only=True) as connection:
        assert connection.execute("SELECT count(*), min(id) FROM p").fetchall() == [(3001, -1)]
    assert [path.name for path in replaced.parent.iterdir()] == ["w.duckdb"]


@pytest.mark.slow
@pytest.mark.usefixtures("on_macos")
def test_who_reads_at_the_end_stops_it(replaced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[subprocess.Popen[bytes]] = []
    real = purge._like

    def like(fresh: Path, file: Path) -> None:
        real(fresh, file)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        readers.append(subprocess.Popen([sys.executable, "-c", READ, str(file)], **pipes))
        assert readers[0].stdout is not None and readers[0].stdout.readline()

    monkeypatch.setattr(purge, "_like", like)
    with pytest.raises(sqlmicro.InputError, match="must be used by nobody else"):
        sqlmicro.purge(db=str(replaced))
    readers[0].communicate(b"")
    assert canary_in(replaced)


def test_one_table_that_asks_for_a_purge_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of one file are purged together."""
    asked: list[bool] = []
    monkeypatch.setattr(jobs, "purge_file", lambda *given, wanted: asked.append(wanted))
    for wanted in ((True, False), (False, True), (False, False)):
        targets = [InPlace(None, "t", Name("f", "main", "t"), purge=one) for one in wanted]  # type: ignore[arg-type]
        releases = [SimpleNamespace(target=one, report=SimpleNamespace(purging=None)) for one in targets]
        jobs._purge(SimpleNamespace(options=SimpleNamespace(db="f"), progress=None), releases)  # type: ignore[arg-type]
    assert asked == [True, True, False]


def test_a_purge_that_fails_is_told_of_and_ends_with_1() -> None:
    def fails() -> PurgeReport:
        raise OSError

    made = after_publishing(fails, "it stays readable", dry=False, wanted=True)
    assert (made.purged, made.purge_failed) == (False, True)
    assert "it stays readable" in str(made.warning)
    display = DisplayOptions(quiet=True)
    codes = [cli._print("mdav", SimpleNamespace(left_unpurged=left), display, None) for left in (True, False)]
    assert codes == [1, 0]
