"""In place: nothing keeps what is replaced behind our back, and nothing that others wrote is lost.

Triggers are handed the records that are deleted; on our own tables they run after the audit. Between reading and
publishing the same connection, another cursor or another process may write.
"""

from __future__ import annotations

import importlib.util
import sqlite3
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from databases import opened
from world import refused

import sqlmicro
from sqlmicro.database import levels
from sqlmicro.database.content import Content
from sqlmicro.database.templates import Name
from sqlmicro.jobs import run as jobs
from sqlmicro.publish import in_place, publish
from sqlmicro.publish.in_place import InPlace

ROWS = 60
USED: dict[str, Any] = {"columns": ["age", "income"], "keep": ["id"], "accept_unique": ["id"], "rest": "drop", "k": 5}
KNOWS_TRIGGERS = int(duckdb.__version__.partition(".")[0]) >= 2
_SQLITE = importlib.util.find_spec("duckdb_extension_sqlite_scanner")
REMEMBER = (
    "CREATE TRIGGER remember AFTER DELETE ON persons REFERENCING OLD TABLE AS was FOR EACH STATEMENT "
    "INSERT INTO history SELECT * FROM was"
)
needs_triggers = pytest.mark.skipif(not KNOWS_TRIGGERS, reason="DuckDB knows triggers from 2.0 on")


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "w.duckdb")
    with opened(path) as con:
        con.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')")
        con.execute(
            "CREATE TABLE persons AS SELECT i AS id, (i * 37) % 90 AS age, sqrt(i) AS income, 'n' || i AS name, "
            "INTERVAL 1 MONTH AS span, 'sad'::mood AS mood, [0.0::DOUBLE] AS nested FROM range(?) r(i)",
            [ROWS],
        )
        con.execute("CREATE TABLE history AS SELECT * FROM persons LIMIT 0")
    return path


def query(db: str, text: str) -> list[tuple[Any, ...]]:
    with opened(db) as con:
        return con.execute(text).fetchall()


# Triggers


@needs_triggers
def test_a_table_with_a_trigger_is_not_changed_in_place(db: str) -> None:
    """The trigger of the issue: 60 raw records were in `history` afterwards, and it said that it had purged."""
    query(db, REMEMBER)
    before = query(db, "FROM persons")
    for further in ({}, {"no_purge": True}, {"widen": True}):
        with pytest.raises(sqlmicro.InputError, match=r"must have no triggers.*Got remember.*Drop them"):
            sqlmicro.individual_ranking("persons", db=db, in_place=True, **USED, **further)
    assert query(db, "FROM persons") == before
    assert query(db, "SELECT count(*) FROM history") == [(0,)]
    sqlmicro.individual_ranking("persons", db=db, into="elsewhere", **USED)
    assert query(db, "SELECT count(*) FROM history") == [(0,)]


@needs_triggers
def test_a_trigger_that_comes_between_reading_and_publishing_is_seen(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with sqlmicro.open(db) as session:
        release = session.individual_ranking("persons", **USED)
        session.connection.execute(REMEMBER)
        with pytest.raises(sqlmicro.InputError, match="must have no triggers"):
            release.publish(in_place=True)
        session.connection.execute("DROP TRIGGER remember ON persons")
        real = InPlace.locking

        def late(target: InPlace) -> Callable[[], None]:
            lock = real(target)

            def locked() -> None:
                session.connection.execute(REMEMBER)
                lock()

            return locked

        monkeypatch.setattr(InPlace, "locking", late)
        with pytest.raises(sqlmicro.InputError, match=r"must have no triggers|nobody else may write"):
            release.publish(in_place=True)
        assert session.connection.execute("SELECT count(*) FROM history").fetchall() == [(0,)]


@needs_triggers
def test_a_table_with_a_trigger_is_not_overwritten(db: str) -> None:
    """The new table would be without it, and nobody would know."""
    query(db, "CREATE TABLE released (x INTEGER)")
    query(db, REMEMBER.replace("persons", "released").replace("SELECT * FROM was", "(id) SELECT x FROM was"))
    with pytest.raises(sqlmicro.InputError, match=r"--overwrite: .*Got remember"):
        sqlmicro.individual_ranking("persons", db=db, into="released", overwrite=True, **USED)
    assert query(db, "SELECT count(*) FROM duckdb_triggers()") == [(1,)]


@pytest.mark.slow
@needs_triggers
@pytest.mark.parametrize("table", ["releases", "audits", "candidates", "unfinished"])
def test_a_trigger_on_our_own_tables_changes_nothing_after_the_audit(db: str, table: str, tmp_path: Path) -> None:
    sqlmicro.individual_ranking("persons", db=db, in_place=True, no_purge=True, **USED)
    query(db, "CREATE TABLE IF NOT EXISTS sqlmicro.candidates (x INTEGER)")
    query(
        db,
        f"CREATE TRIGGER after_audit AFTER INSERT ON sqlmicro.{table} REFERENCING NEW TABLE AS n FOR EACH STATEMENT "
        "UPDATE persons SET income = 1",
    )
    before = query(db, "FROM persons")
    for target in ({"in_place": True}, {"into": "released"}, {"to": str(tmp_path / "x.csv")}):
        with pytest.raises(sqlmicro.InputError, match=r"run after the audit.*Got after_audit"):
            sqlmicro.individual_ranking("persons", db=db, **target, **USED)
    assert query(db, "FROM persons") == before
    assert not (tmp_path / "x.csv").exists()


@pytest.mark.skipif(_SQLITE is None, reason="needs: pip install duckdb-extension-sqlite-scanner")
def test_triggers_of_sqlite_are_seen(db: str, tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    with sqlite3.connect(old) as con:
        con.executescript("""CREATE TABLE released (x INTEGER); CREATE TABLE history (x INTEGER);
            CREATE TRIGGER lost AFTER INSERT ON released BEGIN INSERT INTO history VALUES (NEW.x); END;""")
    with pytest.raises(sqlmicro.InputError, match=r"must have no triggers.*Got lost"):
        sqlmicro.individual_ranking(
            "persons", db=db, attach=f"o=sqlite:{old}", into="o.main.released", overwrite=True, **USED
        )


# Writes between reading and publishing

# An update with a value that DuckDB takes for the same changes nothing.
ANEW = (
    "CREATE OR REPLACE TABLE persons AS SELECT * REPLACE ({}) FROM persons WHERE id = 0 "
    "UNION ALL FROM persons WHERE id > 0"
)
CHANGES = {
    "a record more": "INSERT INTO persons (id, name) VALUES (999, 'new')",
    "one less": "DELETE FROM persons WHERE id = 3",
    "a value that is released": "UPDATE persons SET income = -1 WHERE id = 7",
    "a value of a column that is dropped": "UPDATE persons SET name = 'changed' WHERE id = 7",
    "a zero with a sign": ANEW.format("'-0.0'::DOUBLE AS income"),
    "a zero with a sign in a list": ANEW.format("['-0.0'::DOUBLE] AS nested"),
    "30 days for a month": ANEW.format("INTERVAL 30 DAY AS span"),
    "another label": "UPDATE persons SET mood = 'happy' WHERE id = 7",
    "two values exchanged": "UPDATE persons SET name = 'n' || (3 - id) WHERE id IN (1, 2)",
    "a column more": "ALTER TABLE persons ADD COLUMN further INTEGER",
    "a column less": "ALTER TABLE persons DROP COLUMN name",
    "another name": "ALTER TABLE persons RENAME COLUMN name TO called",
    "another type": "ALTER TABLE persons ALTER COLUMN id TYPE HUGEINT",
    "another table": "CREATE OR REPLACE TABLE persons AS SELECT * REPLACE (id + 1 AS id) FROM persons",
}


@pytest.mark.slow
@pytest.mark.parametrize("change", list(CHANGES.values()), ids=list(CHANGES))
def test_a_session_loses_no_write(db: str, change: str) -> None:
    with sqlmicro.open(db) as session:
        release = session.individual_ranking("persons", **USED)
        (session.connection.cursor() if "id = 7" in change else session.connection).execute(change)
        changed = session.connection.execute("FROM persons ORDER BY ALL").fetchall()
        with pytest.raises(sqlmicro.InputError, match="must not change between reading and publishing") as caught:
            release.publish(in_place=True)
        assert caught.value.exit_code == 2
        assert session.connection.execute("FROM persons ORDER BY ALL").fetchall() == changed
        assert session.connection.execute(
            "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'sqlmicro'"
        ).fetchall() == [(0,)]


@pytest.mark.slow
def test_what_was_written_and_taken_back_is_no_change(db: str) -> None:
    with sqlmicro.open(db) as session:
        release = session.individual_ranking("persons", **USED)
        for text in ("INSERT INTO persons (id) VALUES (999)", "DELETE FROM persons WHERE id = 999"):
            session.connection.execute(text)
        assert release.publish(in_place=True)["purged"]


def test_a_borrowed_connection_loses_no_write(db: str) -> None:
    with duckdb.connect(db) as con, sqlmicro.open(con) as session:
        release = session.individual_ranking("persons", **USED)
        con.execute("DELETE FROM persons WHERE id = 3")
        with pytest.raises(sqlmicro.InputError, match="must not change"):
            release.publish(in_place=True, no_purge=True)
        assert con.execute("SELECT count(*), count(name) FROM persons").fetchall() == [(ROWS - 1, ROWS - 1)]


def test_an_open_transaction_is_not_closed_with_the_connection(db: str) -> None:
    """The purge closes the connection of a session: what it has not committed would be gone."""
    with sqlmicro.open(db) as session:
        release = session.individual_ranking("persons", **USED)
        session.connection.begin()
        session.connection.execute("INSERT INTO persons (id) VALUES (999)")
        with pytest.raises(sqlmicro.InputError, match="no open transaction"):
            release.publish(in_place=True)
        session.connection.commit()
        with pytest.raises(sqlmicro.InputError, match="must not change"):
            release.publish(in_place=True)
        assert session.connection.execute("SELECT count(*) FROM persons").fetchall() == [(ROWS + 1,)]


def _meanwhile(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, work: Callable[[], None]) -> None:
    """Do something in another thread just before a function is called for the first time."""
    real, done = getattr(module, name), []

    def late(*given: Any, **named: Any) -> Any:
        if not done:
            done.append(thread := threading.Thread(target=work))
            thread.start()
            thread.join()
        return real(*given, **named)

    monkeypatch.setattr(module, name, late)


STAGES = [(levels, "settle"), (jobs, "prepare"), (publish, "_write_table"), (publish, "record")]


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), STAGES, ids=[name for _, name in STAGES])
@pytest.mark.parametrize(
    "change",
    [
        "UPDATE persons SET income = -1 WHERE id = 7",
        "DELETE FROM persons WHERE id = 3",
        "INSERT INTO persons (id) VALUES (999)",
    ],
)
def test_another_thread_loses_no_write_without_a_word(
    db: str, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, change: str
) -> None:
    """Whenever it writes, while records are read, grouped or published: it is told that it cannot, or we publish not.

    DuckDB by itself lets a transaction delete what another one has updated and committed meanwhile.
    """
    refused: list[str] = []
    with sqlmicro.open(db) as session:
        cursor = session.connection.cursor()

        def write() -> None:
            try:
                cursor.execute(change)
            except duckdb.TransactionException as error:
                refused.append(str(error))

        _meanwhile(monkeypatch, module, name, write)
        release, message = None, ""
        try:
            release = session.individual_ranking("persons", **USED)
            release.publish(in_place=True, no_purge=True)
        except sqlmicro.InputError as error:
            message = str(error)
        monkeypatch.undo()
        assert len(refused) == (not message), "one of the two, and not both"
        assert not message or "must not change" in message or "nobody else may write" in message
        ((raw, names),) = session.connection.execute("SELECT count(*), count(name) FROM persons").fetchall()
        changed = session.connection.execute("SELECT count(*) FROM persons WHERE income = -1 OR id = 999").fetchall()
    if message:
        assert (raw, names) == ((ROWS - 1,) * 2 if "DELETE" in change else (ROWS + ("INSERT" in change), ROWS))
        assert changed == [(int("DELETE" not in change),)]
    else:
        assert (raw, names, changed) == (ROWS, 0, [(0,)])


# What was released and not purged


@pytest.mark.slow
def test_a_session_says_what_is_not_purged(db: str) -> None:
    sqlmicro.individual_ranking("persons", db=db, in_place=True, no_purge=True, **USED)
    with pytest.warns(UserWarning, match="release 1 in place is published, but not purged yet"):
        sqlmicro.open(db).close()
    sqlmicro.purge(db=db)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sqlmicro.open(db).close()


def test_the_advice_where_a_column_must_not_be_empty_or_is_generated_works(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    with opened(path) as con:
        con.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, \"the code\" VARCHAR NOT NULL DEFAULT '', age INTEGER)")
        con.execute("INSERT INTO t SELECT i, ['a', 'b', 'c'][1 + i % 3], i % 2 FROM range(40) r(i)")
        con.execute("UPDATE t SET \"the code\" = 'rare' WHERE id = 7")
        con.execute("CREATE TABLE g AS SELECT id, age FROM t; ALTER TABLE t ADD COLUMN kept INTEGER")
        con.execute('CREATE TABLE made (id INTEGER, age INTEGER, "half of it" INTEGER AS (age // 2), b INTEGER)')
        con.execute("INSERT INTO made SELECT id, age, 1 FROM g")
    given: dict[str, Any] = {"db": path, "columns": ["the code", "age"], "drop": ["kept"], "k": 3, "keep": ["id"]}
    given["accept_unique"] = ["id"]
    with pytest.raises(sqlmicro.InputError, match=r"NOT NULL has a value.*Got the code\.") as caught:
        sqlmicro.suppress("t", in_place=True, **given)
    assert "rare" not in str(caught.value)
    with opened(path) as con:
        assert con.execute('SELECT count("the code"), max("the code") FROM t').fetchall() == [(40, "rare")]
        con.execute(str(caught.value).partition("or first: ")[2].rstrip("."))
    assert sqlmicro.suppress("t", in_place=True, **given)["rows"] == 40
    made: dict[str, Any] = {"db": path, "columns": ["age"], "keep": ["id"], "accept_unique": ["id"], "rest": "drop"}
    with pytest.raises(sqlmicro.InputError, match=r"Got half of it\. Use --into NAME"):
        sqlmicro.individual_ranking("made", in_place=True, k=3, **made)
    assert sqlmicro.individual_ranking("made", into="released", k=3, **made)["rows"] == 40


def test_a_key_of_persons_that_must_not_be_empty_becomes_one_value_for_all(tmp_path: Path) -> None:
    path, job = str(tmp_path / "p.duckdb"), tmp_path / "p.toml"
    with opened(path) as con:
        con.execute("CREATE TABLE v (person INTEGER NOT NULL, part SMALLINT NOT NULL, age INTEGER, cost DOUBLE, "
                    "number INTEGER)")  # fmt: skip
        con.execute("INSERT INTO v SELECT i % 20, 0, 20 + i % 20, sqrt(i), i FROM range(60) r(i)")
        whose = dict(con.execute("SELECT number, person FROM v").fetchall())

    def text(person: str, constant: str) -> str:
        steps = f'[[table.step]]\ndo = "constant"\ncolumns = [{constant}]\nvalue = "0"\n' if constant else ""
        return (
            f'db = "{path}"\n[[table]]\nname = "v"\nperson = [{person}]\nrest = "drop"\n'
            'keep = ["number"]\naccept_unique = ["number"]\n'
            '[[table.step]]\ndo = "mdav"\ncolumns = ["age", "cost"]\nk = 3\n'
            f'{steps}[[table.step]]\ndo = "publish"\nin_place = true\n'
        )

    job.write_text(text('"person"', '"part"'))
    with pytest.raises(sqlmicro.InputError, match=r'Got person.*do = "constant"'):
        sqlmicro.run(str(job))
    job.write_text(text('"person", "part"', '"part"'))
    with pytest.raises(sqlmicro.ParameterError, match=r"left out of the release. Got part"):
        sqlmicro.run(str(job))
    job.write_text(text('"person"', '"person", "part"'))
    report = sqlmicro.run(str(job))
    assert report["passed"] and report["k"] >= 3
    with opened(path) as con:
        assert con.execute("SELECT min(person), max(person), max(part), count(*) FROM v").fetchall() == [(0, 0, 0, 60)]
        assert dict(con.execute("SELECT column_name, column_type FROM (DESCRIBE v)").fetchall())["person"] == "INTEGER"
        classes: dict[Any, set[int]] = {}
        for number, *values in con.execute("SELECT number, age, cost FROM v").fetchall():
            classes.setdefault(tuple(values), set()).add(whose[number])
    assert min(map(len, classes.values())) >= 3, "so many persons, whose key is gone, share a class"
    found = sqlmicro.report(release="v", db=path, sample=0)
    assert found["passed"] is not False


def test_a_table_with_as_many_other_records_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, nobody = Content((("a", "INTEGER"),), 3, 7), Name("", "main", "t")
    given: Any = SimpleNamespace(table=SimpleNamespace(loaded=SimpleNamespace(seen=seen)))
    anything: Any = None
    for now in (seen, replace(seen, hashes=8), replace(seen, records=4), replace(seen, columns=(("a", "BIGINT"),))):
        monkeypatch.setattr(in_place, "content", lambda *_, now=now: now)
        table = InPlace(anything, "t", nobody)
        if now == seen:
            table._compare(given)
        else:
            with refused("must not change between reading and publishing"):
                table._compare(given)
