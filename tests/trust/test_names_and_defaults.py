"""Names with outer blanks or characters that a terminal acts on, job files without an option, files of one column."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from typer.testing import CliRunner

import sqlmicro
from sqlmicro.cli import app
from sqlmicro.errors import JobError
from sqlmicro.jobs import file
from sqlmicro.spark import engine
from sqlmicro.system.progress import Progress

UNSAFE = "\x1b[2J\u202etxt\u200b\x07\u2066\x9b31m\nfake: line\r"
"""Clears the screen, turns text round, hides, rings, colours, and begins a line of its own."""
ACTS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""What a terminal or a browser acts on; a line feed ends our own lines."""


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    stdout: str
    stderr: str
    returncode: int


def command(*arguments: str, cwd: Path) -> Done:
    """Run a command in this process, in a folder."""
    with contextlib.chdir(cwd):
        found = CliRunner().invoke(app, list(arguments))
    return Done(found.stdout, found.stderr, found.exit_code)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.fixture
def unsafe(tmp_path: Path) -> Path:
    """Make a database with unsafe names of a table, its columns and the file."""
    db = tmp_path / "w\x1b[31m\u202e.duckdb"
    with duckdb.connect(str(db)) as connection:
        first, second = quoted("a" + UNSAFE), quoted("b" + UNSAFE)
        table = quoted("t" + UNSAFE)
        connection.execute(
            f"CREATE TABLE {table} AS SELECT range % 3 AS {first}, range * 1.5 AS {second} FROM range(30)"
        )
    return db


# Characters that are acted on


@pytest.mark.slow
def test_what_is_printed_has_no_character_that_a_terminal_acts_on(unsafe: Path, tmp_path: Path) -> None:
    """Tables, messages, notes, errors, JSON: the names are shown with escapes, each on the line where it belongs."""
    table, a = "t" + UNSAFE, "a" + UNSAFE
    source = ("--db", unsafe.name, "--table", table)
    columns = ("--columns", quoted(a), "--keep", quoted("b" + UNSAFE))
    calls = [
        ("profile", *source),
        ("audit", *source, "--quasi", quoted(a), "--min-k", "99"),
        ("mdav", *source, *columns, "--into", quoted("o" + UNSAFE)),
        ("mdav", *source, *columns, "--into", quoted("o" + UNSAFE)),  # it exists
        ("mdav", *source, *columns, "--dry-run", "--diff"),
        ("mdav", *source, "--columns", quoted("c" + UNSAFE)),
        ("mdav", "--db", unsafe.name, "--table", "u" + UNSAFE, "--columns", "x"),
        ("mdav", *source, *columns, "--to", f"x{UNSAFE}.csv"),
        ("report", "--db", unsafe.name, "--release", "1"),
        ("report", "--db", unsafe.name, "--release", "1", "--markdown"),
        ("init", *source),
        ("purge", "--db", unsafe.name),
        ("residue", "--db", unsafe.name, "--table", table, "--original", table),
        ("run", f"{UNSAFE}.toml"),
        ("profile", *source, "--json"),
    ]
    for call in calls:
        done = command(*call, cwd=tmp_path)
        assert not ACTS.search(done.stdout), call[0]
        assert not ACTS.search(done.stderr), call[0]
        for stream in (done.stdout, done.stderr):
            assert not re.search(r"^fake", stream, re.MULTILINE), call[0]
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1, 2), done.stderr
    shown = command("profile", *source, cwd=tmp_path).stdout
    assert r"a\x1b[2J\u202etxt\u200b\x07\u2066\x9b31m\nfake: line\r" in shown.replace("\n", "")
    assert json.loads(done.stdout)["columns"][0]["name"] == a, "JSON means what it meant"
    draft = command("init", *source, cwd=tmp_path).stdout
    (tmp_path / "job.toml").write_text(draft, encoding="utf-8")
    assert file.read(str(tmp_path / "job.toml"), {}, Progress(False))[0].options.table == table


@pytest.mark.slow
def test_pages_and_markdown_have_none_either(unsafe: Path, tmp_path: Path) -> None:
    """HTML with its charts, Markdown, and what a notebook shows."""
    table, a = "t" + UNSAFE, "a" + UNSAFE
    sqlmicro.mdav(
        table, db=str(unsafe), columns=[a], keep=["b" + UNSAFE], accept_unique=["b" + UNSAFE], into="o", seed="s"
    )
    for ending in ("html", "md"):
        out = tmp_path / f"r.{ending}"
        sqlmicro.report(release="o", db=str(unsafe), to=str(out), original=table)
        text = out.read_text(encoding="utf-8")
        assert not ACTS.search(text)
        assert r"\x1b" in text
        assert r"\u202e" in text
    with sqlmicro.open(unsafe) as session:
        made = session.mdav(table, columns=[a], keep=["b" + UNSAFE], accept_unique=["b" + UNSAFE], seed="s")
        for text in (
            repr(made),
            made._repr_html_(),
            repr(session.profile(table)),
            session.profile(table)._repr_html_(),
        ):
            assert not ACTS.search(text)
            assert r"\x1b" in text


@pytest.mark.slow
def test_a_script_is_exact_in_a_pipe_and_harmless_on_a_terminal(unsafe: Path, tmp_path: Path) -> None:
    """`--show-sql` is to be run: only where a person looks at it the names are escaped, and that is said."""
    call = ["mdav", "--db", unsafe.name, "--table", "t" + UNSAFE, "--columns", quoted("a" + UNSAFE), "--rest",
            "drop", "--show-sql", "--quiet", "--into", "o"]  # fmt: skip
    assert quoted("a" + UNSAFE) in command(*call, cwd=tmp_path).stdout
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "sqlmicro", *call], cwd=tmp_path, stdout=theirs, stderr=subprocess.PIPE, text=True
    ) as process:
        os.close(theirs)
        told = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while part := os.read(ours, 65536):
                told += part
        assert process.stderr is not None
        assert "in a file or a pipe is exact" in process.stderr.read()
    os.close(ours)
    seen = told.decode().replace("\r\n", "\n")
    assert not ACTS.search(seen)
    assert r'"a\x1b[2J' in seen


# Blanks


def test_columns_with_outer_blanks_are_named_in_quotes(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(
            'CREATE TABLE t AS SELECT range AS " a ", range * 2.0 AS "b ", range % 2 AS c FROM range(30)'
        )
    done = command(
        "mdav", "--db", "w.duckdb", "--table", "t", "--columns", ' c ," a ", "b "', "--into", "o",
        "--importance", '" a "=2,"b "=0.5', cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    without = command("mdav", "--db", "w.duckdb", "--table", "t", "--columns", " a ,c", "--into", "p", cwd=tmp_path)
    assert without.returncode == 2
    assert "no column 'a'" in without.stderr
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        assert [name for name, *_ in connection.execute("DESCRIBE o").fetchall()] == [" a ", "b ", "c"]


# Names of database files


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", ["sqlmicro", "main", "staging", "system", "temp", "memory", 'a "b, c', "pg_catalog", "w'; --"]
)
def test_a_database_file_may_be_called_anything(tmp_path: Path, file: str) -> None:
    """`sqlmicro.duckdb` had the name of our schema: Ambiguous reference. The path of schemas is quoted."""
    db = tmp_path / f"{file}.duckdb"
    with duckdb.connect(str(db)) as connection:
        connection.execute("CREATE TABLE persons AS SELECT range % 9 AS age, range AS id FROM range(60)")
        connection.execute('CREATE SCHEMA "o, ""x"".y"')
        connection.execute("CREATE SCHEMA staging")
        connection.execute("CREATE MACRO encode(x) AS 'x'::BLOB")
    for _ in range(2):
        report = sqlmicro.mdav("persons", db=str(db), columns=["age"], rest="drop", into="out", overwrite=True)
    assert (report["target"], report["release"]) == ("out", 2)
    audit = sqlmicro.audit("out", db=str(db), quasi=["age"], min_k=3)
    assert audit["passed"]
    assert audit["recorded"]
    assert sqlmicro.report(release="2", db=str(db), to=str(tmp_path / "r.html"))


# Job files


JOB = """
table = "t.csv"
engine = "spark"
diff_rows = 3
dry_run = true
diff = true
threads = 2

[[step]]
do = "mdav"
columns = ["a", "b"]

[[step]]
do = "publish"
to = "out.csv"
"""


@pytest.mark.slow
def test_the_command_line_sets_an_option_of_a_job_file_back_to_its_default(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{i},{i % 5}\n" for i in range(30)), encoding="utf-8")
    refused = command("run", "job.toml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "--engine spark" in refused.stderr
    few = command("run", "job.toml", "--engine", "duckdb", "--json", cwd=tmp_path)
    assert few.returncode == 0, few.stderr
    assert len(json.loads(few.stdout)["preview"]["rows"]) == 3
    more = command("run", "job.toml", "--engine", "duckdb", "--diff-rows", "10", "--json", cwd=tmp_path)
    assert len(json.loads(more.stdout)["preview"]["rows"]) == 10
    assert not (tmp_path / "out.csv").exists()
    wet = command("run", "job.toml", "--engine", "duckdb", "--no-dry-run", "--no-diff", cwd=tmp_path)
    assert wet.returncode == 0, wet.stderr
    assert len((tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()) == 31
    given = {"engine": "duckdb", "diff_rows": 10, "diff": False, "threads": None, "attach": ()}
    (read,) = file.read(str(tmp_path / "job.toml"), given, Progress(False))
    told = read.options
    assert (told.engine, told.diff_rows, told.diff, told.threads) == ("duckdb", 10, False, 2)


def test_a_job_file_for_spark_needs_no_overwrite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the target is chosen here, before Spark starts: it was a KeyError."""
    text = JOB.replace("out.csv", "out").replace("dry_run = true\ndiff = true\nthreads = 2\n", "")
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    (tmp_path / "out").mkdir()

    def started(*_: Any) -> Any:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(engine.SparkWarehouse, "open", started)
    jobs = file.read(str(tmp_path / "job.toml"), {}, Progress(False))
    with pytest.raises(sqlmicro.InputError, match="must not exist yet"):
        engine.release(jobs)
    (tmp_path / "out").rmdir()
    with pytest.raises(AssertionError, match="Spark was started"):
        engine.release(jobs)


def test_a_deeply_nested_job_file_is_refused_in_words(tmp_path: Path) -> None:
    deep = tmp_path / "deep.toml"
    deep.write_text("table = " + "[" * 5000 + "]" * 5000, encoding="utf-8")
    with pytest.raises(JobError, match="a few levels"):
        sqlmicro.run(str(deep))
    deep.write_text("x = " + "{a = " * 5000 + "1" + "}" * 5000, encoding="utf-8")
    with pytest.raises(JobError, match="a few levels"):
        sqlmicro.run(str(deep))
    deep.write_text("[" + ".".join("a" * 5000) + "]\n", encoding="utf-8")
    with pytest.raises(JobError):
        sqlmicro.run(str(deep))
    assert command("run", deep.name, cwd=tmp_path).returncode == 2


# CSV


@pytest.mark.slow_but("DATE")
@pytest.mark.parametrize("kind", ["VARCHAR", "DOUBLE", "DATE"])
def test_a_csv_of_one_column_has_no_blank_lines(tmp_path: Path, kind: str) -> None:
    """A missing value is written as "": a blank line is no record to most readers."""
    value = {"VARCHAR": "'v'", "DOUBLE": "1.5", "DATE": "DATE '2020-02-03'"}[kind]
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t (a {kind})")
        connection.execute(f"INSERT INTO t SELECT CASE WHEN range % 2 = 0 THEN {value} END FROM range(20)")
    out = tmp_path / "o.csv"
    method = sqlmicro.safe if kind == "VARCHAR" else sqlmicro.individual_ranking
    report = method("t", db=str(tmp_path / "w.duckdb"), columns=["a"], nulls="keep", k=5, to=str(out), seed="s")
    assert report["k_released"] == 10
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines.count('""') == 10
    assert lines.count("") == 0
    assert len(lines) == 21
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT count(*), count(a) FROM read_csv('{out}', types = {{'a': '{kind}'}})")
        assert found.fetchall()[0][0] == 20
