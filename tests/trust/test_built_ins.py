"""Functions, operators and types of a statement of ours are DuckDB's own, whatever macros the warehouse has."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sql.case import KEY, Case
from sql.conformance import CASES, prepare, same_rows
from sql.test_templates import run
from world import execute

import sqlmicro
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name, render
from sqlmicro.errors import InputError, SqlmicroError
from sqlmicro.mask.pseudonymise import pads

from . import shadows

SECRET = "a secret of thirty-two characters"
PERSONS = """CREATE TABLE persons AS SELECT i AS id, (i * 37) % 90 AS age, round((i * i) % 1013 * 1.5, 2) AS income,
  CASE i % 3 WHEN 0 THEN 'Bonn' ELSE 'Mainz' END AS city, DATE '1950-01-01' + CAST((i * 111) % 20000 AS INTEGER) AS born
FROM range(60) t(i)"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """Make a database with a table, and a second schema."""
    db = tmp_path / "w.duckdb"
    execute(db, PERSONS, "CREATE SCHEMA other")
    return db


def shadow_all(db: Path) -> int:
    """Shadow every built-in function and type of DuckDB in both schemas of a database; return how many names."""
    with duckdb.connect(str(db)) as connection:
        connection.execute("SET search_path = 'system.main'")  # or what is shadowed already would be called here
        assert shadows.shadow_types(connection, "w.main")
        connection.execute("BEGIN")
        names = shadow_in_two_schemas(connection, "w")
        connection.execute("COMMIT")
    return names


def shadow_in_two_schemas(connection: duckdb.DuckDBPyConnection, catalog: str) -> int:
    """Shadow every function; one that is scalar and a table has a macro of either kind, in different schemas."""
    for name, kinds in shadows.built_in().items():
        shadows.shadow(connection, name, f"{catalog}.main", kinds[0])
        shadows.shadow(connection, name, f"{catalog}.other", kinds[-1])
    return len(shadows.built_in())


# What the issue saw


def test_a_macro_does_not_make_an_audit_pass(warehouse: Path) -> None:
    """CREATE MACRO encode(x) AS 'x'::blob: all records looked alike."""
    names = "CREATE TABLE names AS SELECT 'person ' || i AS name FROM range(60) t(i)"
    execute(warehouse, "CREATE MACRO encode(x) AS 'x'::BLOB", names)
    report = sqlmicro.audit("names", db=str(warehouse), quasi=["name"], min_k=2)
    assert not report["passed"]
    assert next(row for row in report["audits"] if row["check"] == "k-anonymity")["value"] == 1


def test_a_macro_does_not_choose_the_key_of_pseudonyms(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CREATE MACRO getvariable(x) AS encode('k'): the pseudonyms could be computed without the secret."""
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", SECRET)
    found = []
    for text in ("SELECT 1", "CREATE MACRO getvariable(x) AS encode('k')"):
        execute(warehouse, text)
        sqlmicro.pseudonymise("persons", db=str(warehouse), columns=["city"], rest="drop", into="p", overwrite=True)
        found += execute(warehouse, "SELECT DISTINCT city FROM p ORDER BY 1")
    assert found[0] == found[1]
    assert len(found[0]) == 2


# Every template


@contextlib.contextmanager
def opened() -> Iterator[tuple[DuckDBWarehouse, duckdb.DuckDBPyConnection]]:
    """Yield a warehouse as a run opens it, with the key bound, and a connection of its owner."""
    with open_warehouse(None) as warehouse:
        ours = warehouse._connection
        ours.execute("SET TimeZone = 'America/New_York'")
        ours.execute("SET VARIABLE sqlmicro_order = $1", [KEY])
        for name, pad in zip(("inner", "outer"), pads(b"k" * 80), strict=True):
            ours.execute(f"SET VARIABLE sqlmicro_{name}_pad = $1", [pad])
        owner = ours.cursor()
        yield warehouse, owner
        owner.close()


def wrong(connection: duckdb.DuckDBPyConnection, case: Case) -> bool:
    """Tell whether a template returns other rows than expected, or none."""
    try:
        names, rows = run(connection, case)
    except duckdb.Error:
        return True
    return names[: len(case.returns)] != case.returns or not same_rows(case.expect, rows, case.ordered)


@pytest.mark.slow
def test_every_template_returns_its_rows_where_everything_is_shadowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All functions, operators and types of DuckDB at once, in two schemas."""
    monkeypatch.chdir(tmp_path)
    with opened() as (warehouse, owner):
        owner.execute("CREATE SCHEMA memory.other")
        assert shadow_in_two_schemas(owner, "memory") > 900
        assert shadows.shadow_types(owner, "memory.main")
        connection = warehouse._connection
        for case in CASES:
            prepare(connection, case)
            assert not wrong(connection, case), case.template


@pytest.mark.slow
def test_every_template_returns_its_rows_whatever_name_is_shadowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One name after the other; on a connection as its owner has it, most of them change what some template returns."""
    monkeypatch.chdir(tmp_path)
    texts = {case.template: render(case.template, **case.params).lower() for case in CASES}
    bite = set()
    with opened() as (warehouse, owner):
        owner.execute("SET TimeZone = 'America/New_York'")
        for setting in ("order", "inner_pad", "outer_pad"):
            value = warehouse._connection.execute(f"SELECT getvariable('sqlmicro_{setting}')").fetchall()[0][0]
            owner.execute(f"SET VARIABLE sqlmicro_{setting} = $1", [value])
        for name in shadows.called():
            cases = [case for case in CASES if name.lower() in texts[case.template]]
            for case, kind in product(cases[:4] + cases[4:][-2:], shadows.built_in()[name]):
                prepare(warehouse._connection, case)
                shadows.shadow(owner, name, "memory.main", kind)
                assert not wrong(warehouse._connection, case), (name, case.template)
                bite |= {name} if name not in bite and wrong(owner, case) else set()
                shadows.unshadow(owner, name, "memory.main", kind)
    assert {"encode", "getvariable", "sum", "min", "max", "sha256", "abs", "||"} <= bite
    print(len(shadows.called()), "names,", len(bite), "change something on the owner's connection")


# Every command


def battery(db: Path, folder: Path) -> dict[str, Any]:
    """Run the commands that read and write the database, and return everything that must not depend on macros."""
    from_seed: dict[str, Any] = {"db": str(db), "seed": "s", "overwrite": True, "alone_because": "a test"}
    kept: dict[str, Any] = {}
    (folder / "more.csv").write_text("a,b\n" + "".join(f"{i},{i % 7}\n" for i in range(30)), encoding="utf-8")
    kept["register"] = sqlmicro.register([str(folder / "more.csv")], db=str(db), table="more", overwrite=True)[
        "columns"
    ]
    kept["profile"] = sqlmicro.profile("persons", db=str(db))
    kept["audit"] = sqlmicro.audit("persons", db=str(db), quasi=["age", "city"], sensitive=["income"], min_k=2)
    releases = {
        "mdav": {"columns": ["age", "income"], "keep": ["born"], "accept_unique": ["born"], "rest": "drop"},
        "individual_ranking": {"columns": ["age", "income", "born"], "rest": "drop"},
        "safe": {"columns": ["age", "city"], "rest": "drop"},
        "pseudonymise": {"columns": ["city"], "keep": ["age"], "accept_unique": ["age"], "rest": "drop"},
        "suppress": {"columns": ["age", "city"], "rest": "drop"},
        "noise": {"columns": ["income"], "amount": 0.3, "rest": "drop"},
    }
    for name, options in releases.items():
        report = getattr(sqlmicro, name)("persons", **options, into=f"made_{name}", **from_seed)
        kept[name] = {key: report[key] for key in ("rows", "k", "input_hash", "output_hash", "audits", "quasi")}
    in_place = sqlmicro.individual_ranking(
        "persons", db=str(db), seed="s", columns=["age", "income"], keep=["city"], rest="drop", in_place=True
    )
    kept["in place"] = {key: in_place[key] for key in ("output_hash", "purged", "k")}
    kept["residue"] = sqlmicro.residue(db=str(db), table="more", original="persons")["places"]
    kept["purge"] = {key: sqlmicro.purge(db=str(db))[key] for key in ("tables", "rows")}
    return json.loads(json.dumps(kept, default=str))


@pytest.mark.slow
def test_every_command_does_the_same_where_everything_is_shadowed(
    warehouse: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All functions, operators and types of DuckDB at once, in every schema of the database."""
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", SECRET)
    hostile = tmp_path / "hostile" / warehouse.name
    hostile.parent.mkdir()
    hostile.write_bytes(warehouse.read_bytes())
    assert shadow_all(hostile) > 900
    assert battery(hostile, tmp_path) == battery(warehouse, tmp_path)


def short(db: Path) -> dict[str, Any]:
    """Run two commands that look everything up."""
    profile = sqlmicro.profile("persons", db=str(db))
    audit = sqlmicro.audit("persons", db=str(db), quasi=["age", "city"], sensitive=["income"], min_k=2)
    release = sqlmicro.individual_ranking(
        "persons", db=str(db), seed="s", columns=["age", "born"], rest="drop", into="made", overwrite=True
    )
    return {"profile": profile, "audit": audit, "release": {key: release[key] for key in ("k", "output_hash", "rows")}}


def each(warehouse: Path, names: list[str], together: int = 1) -> None:
    """Shadow so many names at a time, far apart in their order, so that hardly any two of them call one another."""
    expected = json.dumps(short(warehouse), default=str)
    shadowed = [(name, kind) for name in names for kind in shadows.built_in()[name]]
    groups = -(-len(shadowed) // together)
    before: list[tuple[str, str]] = []
    for some in [*(shadowed[start::groups] for start in range(groups)), []]:
        with duckdb.connect(str(warehouse)) as connection:
            connection.execute("SET search_path = 'system.main'")  # or what is shadowed already would be called here
            for name, kind in before:
                shadows.unshadow(connection, name, "w.main", kind)
            for name, kind in some:
                shadows.shadow(connection, name, "w.main", kind)
        if some:
            assert json.dumps(short(warehouse), default=str) == expected, some
        before = some


@pytest.mark.slow
def test_commands_do_the_same_whatever_of_the_worst_names_is_shadowed(warehouse: Path) -> None:
    """One name after the other, of those that decide most; the test below has every name."""
    each(warehouse, list(shadows.WORST[::3]))
    assert set(shadows.WORST) <= set(shadows.called())


@pytest.mark.slow
@pytest.mark.long
def test_commands_do_the_same_whatever_name_is_shadowed(warehouse: Path) -> None:
    """All that a statement calls, 48 names at a time; SHADOWED=1 has one name after the other."""
    each(warehouse, shadows.called(), 1 if os.environ.get("SHADOWED") else 48)


# The owner's own SQL


@pytest.mark.slow
def test_what_the_owner_wrote_calls_the_owners_macros(tmp_path: Path) -> None:
    """A view, a check, a default and a generated column may call macros of any schema, shadowing ones in views too."""
    db = tmp_path / "w.duckdb"
    execute(
        db, "CREATE SCHEMA other", "CREATE MACRO plus(x) AS x + 1", "CREATE MACRO other.twice(x) AS x * 2",
        "CREATE TABLE raw AS SELECT range AS x FROM range(40)",
        "CREATE TABLE checked (x BIGINT CHECK (plus(x) > 0 AND other.twice(x) >= 0), y BIGINT DEFAULT plus(3), "
        "z BIGINT GENERATED ALWAYS AS (other.twice(x)))", "INSERT INTO checked (x) FROM raw",
    )  # fmt: skip
    for view in ("seen", "other.seen"):
        execute(db, f"CREATE VIEW {view} AS SELECT plus(x) AS a, other.twice(x) AS b FROM raw")
        out = tmp_path / f"{view}.csv"
        sqlmicro.mdav(view, db=str(db), columns=["a", "b"], k=40, to=str(out), seed="s", decimals=True)
        assert out.read_text(encoding="utf-8").splitlines()[1:] == ["20.5,39.0"] * 40
    with sqlmicro.open(db) as session:
        release = session.mdav("checked", columns=["x", "y", "z"], k=40, seed="s", decimals=True)
        assert release.arrow().to_pylist() == [{"x": 19.5, "y": 4.0, "z": 39.0}] * 40


def test_the_owners_macro_stands_for_a_function_in_the_owners_sql_or_the_run_is_refused(tmp_path: Path) -> None:
    """A view of 2.0 has its own search path; one of 1.5, and a generated column, would silently have other values."""
    db = tmp_path / "w.duckdb"
    execute(db, "CREATE TABLE raw AS SELECT range AS x FROM range(40)", "CREATE MACRO abs(x) AS x + 1000")
    execute(db, "CREATE VIEW seen AS SELECT abs(x) AS a FROM raw")
    assert sqlmicro.audit("raw", db=str(db), quasi=["x"])["audits"]
    if duckdb.__version__.startswith("1."):
        with pytest.raises(SqlmicroError, match=r"a view must get the same values .* macros called abs"):
            sqlmicro.audit("seen", db=str(db), quasi=["a"])
    else:
        sqlmicro.mdav("seen", db=str(db), columns=["a"], k=40, into="out", seed="s", decimals=True)
        assert execute(db, "SELECT DISTINCT a FROM out") == [[(1019.5,)]]
    execute(db, "CREATE TABLE made (x BIGINT, y BIGINT GENERATED ALWAYS AS (abs(x)))")
    execute(db, "INSERT INTO made (x) FROM raw")
    for table in ("made", "seen"):
        with pytest.raises(SqlmicroError, match=r"must get the same values .* macros called abs"):
            sqlmicro.audit(table, db=str(db), quasi=["x"])
    assert sqlmicro.audit("raw", db=str(db), quasi=["x"])["audits"]


@pytest.mark.slow
def test_a_check_with_a_macro_is_held_in_place(tmp_path: Path) -> None:
    """The checks of a table are bound when it is written to."""
    db = tmp_path / "w.duckdb"
    execute(db, "CREATE SCHEMA other", "CREATE MACRO other.twice(x) AS x * 2")
    execute(db, "CREATE TABLE checked (x DOUBLE CHECK (other.twice(x) >= 0))")
    execute(db, "INSERT INTO checked SELECT range FROM range(40)")
    sqlmicro.mdav("checked", db=str(db), columns=["x"], k=40, in_place=True, seed="s", decimals=True)
    assert execute(db, "SELECT DISTINCT x FROM checked") == [[(19.5,)]]


# Connections of somebody else


def test_a_borrowed_connection_lends_none_of_its_macros(tmp_path: Path) -> None:
    """Temporary macros, the search path and USE are the connection's own; macros of its database come second."""
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(PERSONS)
        expected = sqlmicro.open(connection).audit("persons", quasi=["age", "income"]).report
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE MACRO other.hash(x) AS 5")
        connection.execute("CREATE MACRO encode(x) AS 'x'::BLOB")
        connection.execute("CREATE TEMP MACRO sum(x) AS 7")
        connection.execute("SET search_path = 'w.other,w.main'")
        assert sqlmicro.open(connection).audit("persons", quasi=["age", "income"]).report == expected
        assert connection.execute("SELECT encode('a'), current_schema()").fetchall() == [(b"x", "other")]


@pytest.mark.slow
def test_a_borrowed_connection_lends_none_of_its_settings(tmp_path: Path) -> None:
    """Those that change what a statement returns: whole numbers divided to whole ones made every risk 0."""
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(PERSONS)

        def found() -> Any:
            with sqlmicro.open(connection) as session:
                audit = session.audit("persons", quasi=["age", "city"], sensitive=["income"], max_prosecutor=0.1)
                made = session.individual_ranking("persons", columns=["age", "born"], rest="drop", seed="s")
                return audit.report, made.arrow().to_pylist()

        expected = found()
        for setting in ("integer_division = true", "default_order = 'desc'", "default_collation = 'nocase'",
                        "default_null_order = 'nulls_first'"):  # fmt: skip
            connection.execute(f"SET GLOBAL {setting}")
        assert found() == expected
        assert connection.execute("SELECT 1 / 2").fetchall() == [(0,)], "the connection keeps its own"
        connection.execute("SET lock_configuration = true")
        with pytest.raises(InputError, match="integer_division set otherwise"):
            found()


def test_a_python_function_that_overloads_a_built_in_one_is_refused(tmp_path: Path) -> None:
    """It goes into the same schema as DuckDB's own; hash(VARCHAR) would be preferred to hash(ANY)."""
    with duckdb.connect() as connection:
        connection.execute(PERSONS)
        connection.create_function("of_my_own", lambda x: x, ["VARCHAR"], "VARCHAR")
        with sqlmicro.open(connection) as session:
            assert session.audit("persons", quasi=["city"]).report["audits"]
            connection.create_function("hash", lambda x: 7, ["VARCHAR"], "UBIGINT")
            with pytest.raises(InputError, match="functions in Python called hash"):
                session.audit("persons", quasi=["city"])


# Statements that stay in the database


def test_statements_that_stay_are_refused_where_macros_would_stand_for_functions(
    warehouse: Path, tmp_path: Path
) -> None:
    """A view over files and the macros of the audits resolve their functions later, in somebody's shell."""
    (tmp_path / "p.csv").write_text("a\n1\n", encoding="utf-8")
    sqlmicro.register([str(tmp_path / "p.csv")], db=str(warehouse), table="seen", view=True)
    execute(warehouse, "CREATE MACRO Read_CSV(x) AS TABLE SELECT 1 AS a")
    with pytest.raises(SqlmicroError, match="macros called read_csv"):
        sqlmicro.register([str(tmp_path / "p.csv")], db=str(warehouse), table="v", view=True)
    made = sqlmicro.register([str(tmp_path / "p.csv")], db=str(warehouse), table="t")
    assert made["rows"] == 1
    with pytest.raises(SqlmicroError, match="macros called read_csv"):
        sqlmicro.macros(db=str(warehouse))


# Scripts


@pytest.mark.slow
def test_a_printed_script_sets_the_path_and_takes_it_back(warehouse: Path, tmp_path: Path) -> None:
    """Whoever runs it in a shell gets the same functions, and goes on in the schema of the database."""
    execute(warehouse, "CREATE MACRO sum(x) AS 0")
    done = subprocess.run(
        [sys.executable, "-m", "sqlmicro", "individual-ranking", "--db", str(warehouse), "--table", "persons", "--rest",
         "drop", "--columns", "age", "--into", "out", "--show-sql", "--seed", "s", "--quiet", "--dry-run"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with duckdb.connect(str(warehouse)) as connection:
        connection.execute(done.stdout)
        assert connection.execute("SELECT count(*), count(DISTINCT age) < 30 FROM out").fetchall() == [(60, True)]
        assert connection.execute("SELECT current_database(), current_schema()").fetchall() == [("w", "main")]


def test_the_search_path_holds_after_statements_of_the_owner() -> None:
    """A trigger or an index is made anew in its schema; then built-in functions come first again."""
    with open_warehouse(None) as warehouse:
        warehouse.query("test", "CREATE SCHEMA memory.other")
        before = warehouse.query("test", "SELECT current_setting('search_path')")
        with pytest.raises(SqlmicroError), warehouse.using(Name("", "memory", "other")):
            warehouse.query("test", "SELECT nothing")
        assert warehouse.query("test", "SELECT current_setting('search_path')") == before
