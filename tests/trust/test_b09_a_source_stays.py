"""A release never replaces what it was made from: files are compared by what they are, not by what they are called."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from command import run
from databases import opened
from looping import each

from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.views import files_read

HOW = ("--columns", "age", "--rest", "drop", "--k", "3", "--overwrite")
PERSONS = "id,age\n" + "".join(f"{i},{20 + i % 4}\n" for i in range(24))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "persons.csv").write_text(PERSONS)
    (tmp_path / "to real").symlink_to("real")
    (tmp_path / "link.csv").symlink_to("real/persons.csv")
    os.link(tmp_path / "real" / "persons.csv", tmp_path / "hard.csv")
    return tmp_path


def views(folder: Path) -> Path:
    """Return a database of views over the file, each of which finds it in its own way."""
    file = str(folder / "real" / "persons.csv").replace("'", "''")
    with opened(folder / "w.duckdb") as connection:
        for text in (
            f"CREATE VIEW function AS SELECT * FROM read_csv('{file}', header = true)",
            f"CREATE VIEW name AS SELECT * FROM '{file}'",
            f"CREATE VIEW listed AS SELECT * FROM read_csv(['{folder}/link.csv'])",
            f"CREATE VIEW pattern AS SELECT * FROM read_csv('{folder}/**/pers*.csv')",
            f"CREATE VIEW url AS SELECT * FROM read_csv('file://{file}')",
            "CREATE VIEW over AS WITH x AS (SELECT * FROM function) SELECT * FROM x WHERE age > 0",
            "CREATE MACRO m(p) AS TABLE SELECT * FROM read_csv(p)",
            f"CREATE VIEW macro AS SELECT * FROM m('{file}')",
            f"CREATE MACRO inner_file() AS TABLE SELECT * FROM read_csv('{file}')",
            "CREATE VIEW macro_inside AS SELECT * FROM inner_file()",
            f"CREATE MACRO one() AS (SELECT count(*) FROM '{file}')",
            "CREATE VIEW scalar AS SELECT id, age FROM range(24) AS r(id), (SELECT 20 + one() AS age)",
            f"CREATE VIEW part AS SELECT r.id, (SELECT max(age) FROM '{file}') AS age FROM range(24) AS r(id)",
        ):  # fmt: skip
            connection.execute(text)
    return folder / "w.duckdb"


WAYS = {
    "itself": ("real/persons.csv", "real/persons.csv"),
    "from a link": ("link.csv", "real/persons.csv"),
    "to a link": ("real/persons.csv", "link.csv"),
    "through a folder": ("to real/persons.csv", "real/persons.csv"),
    "to a folder": ("real/persons.csv", "to real/persons.csv"),
    "another name": ("real/persons.csv", "hard.csv"),
    "pattern": ("real/*.csv", "real/../link.csv"),
}


@each("table, to", WAYS.values())
def test_a_file_is_not_replaced_by_whatever_name(folder: Path, table: str, to: str) -> None:
    done = run("mdav", "--table", table, *HOW, "--to", to, cwd=folder)
    assert done.returncode == 2, done.stderr
    assert "a release does not replace its own source this way" in " ".join(done.stderr.split())
    assert (folder / "real" / "persons.csv").read_text() == PERSONS
    assert (folder / "link.csv").is_symlink()


def test_a_file_that_a_view_reads_is_not_replaced(folder: Path) -> None:
    db = views(folder)
    for view in ("function", "name", "listed", "pattern", "url", "over", "macro", "macro_inside", "scalar", "part"):
        done = run("mdav", "--db", db, "--table", view, *HOW, "--to", "real/persons.csv", cwd=folder)
        assert done.returncode == 2 and "its own source" in done.stderr, (view, done.stderr)
    assert (folder / "real" / "persons.csv").read_text() == PERSONS


def test_a_view_whose_text_does_not_tell_replaces_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with opened(folder / "w.duckdb") as connection:
        connection.execute("CREATE MACRO m(p) AS TABLE SELECT * FROM read_csv('real/' || p || '.csv')")
        connection.execute("CREATE VIEW hidden AS SELECT * FROM m('persons')")
        connection.execute("CREATE MACRO d(p := 'real/persons.csv') AS TABLE SELECT * FROM read_csv(p)")
        connection.execute("CREATE VIEW by_default AS SELECT * FROM d()")
        connection.execute("CREATE VIEW asked AS SELECT * FROM query('FROM ''real/persons.csv''')")
    (folder / "other.csv").write_text("x\n")
    for view in ("hidden", "by_default", "asked"):
        for to in ("real/persons.csv", "other.csv"):
            done = run("mdav", "--db", "w.duckdb", "--table", view, *HOW, "--to", to, cwd=folder)
            assert done.returncode == 2, (view, to, done.stderr)
        assert "whose text does not tell which files it reads" in " ".join(done.stderr.split())
    done = run("mdav", "--db", "w.duckdb", "--table", "hidden", *HOW, "--to", "new.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "real" / "persons.csv").read_text() == PERSONS


def test_other_files_are_replaced_as_ever(folder: Path) -> None:
    (folder / "other.csv").symlink_to("elsewhere.csv")
    (folder / "elsewhere.csv").write_text("x\n1\n")
    db = views(folder)
    for table in (("--table", "real/persons.csv"), *(("--db", db, "--table", name) for name in ("function", "over"))):
        done = run("mdav", *table, *HOW, "--to", "elsewhere.csv", cwd=folder)
        assert done.returncode == 0, done.stderr


def test_what_lies_beside_a_release_replaces_no_source(folder: Path) -> None:
    (folder / "persons.json").write_text('[{"age": 1}, {"age": 1}, {"age": 2}, {"age": 2}, {"age": 1}, {"age": 2}]')
    (folder / "manifest.json").symlink_to("persons.json")
    before = (folder / "persons.json").read_text()
    done = run("mdav", "--table", "persons.json", *HOW, "--to", "out.csv", "--manifest", "manifest.json", cwd=folder)
    assert done.returncode == 2, done.stderr
    assert (folder / "persons.json").read_text() == before
    assert not (folder / "out.csv").exists()


def test_one_table_of_a_job_replaces_no_source_of_another(folder: Path) -> None:
    shutil.copy(folder / "real" / "persons.csv", folder / "more.csv")
    (folder / "job.toml").write_text(
        "\n".join(
            f'[[table]]\nname = "{table}"\nrest = "drop"\n[[table.step]]\ndo = "mdav"\ncolumns = ["age"]\nk = 3\n'
            f'[[table.step]]\ndo = "publish"\nto = "{to}"\noverwrite = true\n'
            for table, to in (("real/persons.csv", "out.csv"), ("more.csv", "link.csv"))
        )
    )
    done = run("run", "job.toml", cwd=folder)
    assert done.returncode == 2, done.stderr
    assert "its own source" in done.stderr, done.stderr
    assert (folder / "real" / "persons.csv").read_text() == PERSONS


def test_a_folder_of_files_is_not_lost_in_part_or_as_a_whole(folder: Path) -> None:
    with opened(folder / "w.duckdb") as connection:
        (folder / "parts.parquet").mkdir()
        connection.execute(f"COPY (FROM '{folder}/real/persons.csv') TO '{folder}/parts.parquet/one.parquet'")
    (folder / "same.parquet").symlink_to("parts.parquet")
    before = (folder / "parts.parquet" / "one.parquet").read_bytes()
    for to in ("parts.parquet/one.parquet", "same.parquet/one.parquet"):
        done = run("mdav", "--table", "parts.parquet", *HOW, "--to", to, cwd=folder)
        assert done.returncode == 2 and "its own source" in done.stderr, done.stderr
    assert (folder / "parts.parquet" / "one.parquet").read_bytes() == before


def read_by(folder: Path, define: Callable[[str], str]) -> tuple[set[str], bool]:
    with opened(folder / "v.duckdb") as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS x, 'a.b/c' AS y")
        connection.execute(define("v"))
    with open_warehouse(str(folder / "v.duckdb"), read_only=True) as warehouse:
        found = files_read(warehouse, warehouse.full(Name("", "", "v")))
    return set(found.patterns), found.all


def test_texts_that_are_no_files_are_left_out(tmp_path: Path) -> None:
    """Or a view that splits at "/" or "." would be taken to read a folder, and refuse all that lies in it."""
    text = "SELECT replace(y, '.', '/') AS z, r.r FROM t, range(3) AS r(r) WHERE y <> '.'"
    assert read_by(tmp_path, lambda name: f"CREATE VIEW {name} AS {text}") == (set(), True)


def test_files_that_are_named_by_urls_are_found(tmp_path: Path) -> None:
    """As Spark names what it has read."""
    part = tmp_path / "in parts" / "part 0.parquet"
    part.parent.mkdir()
    part.touch()
    source = Source(Name("", "", "t"), "in parts", (), is_table=False, reads=frozenset({part.as_uri()}))
    assert "%20" in part.as_uri()
    assert source.loses(part) and source.loses(part.parent)
    assert not source.loses(tmp_path / "other") and not source.loses(Path(__file__))
