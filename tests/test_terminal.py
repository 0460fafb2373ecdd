"""At the terminal: what one sees first, no colour where none is wanted, and completion from the catalog."""

import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from sqlmicro import help
from sqlmicro.cli import app

PROGRAM = str(Path(sys.executable).parent / "sqlmicro")
COLOUR = re.compile(r"\x1b\[[0-9;]*(3|4|9)[0-9][0-9;]*m")


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Run the program on a terminal and return what it shows there."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "60", **environment}
    with subprocess.Popen([PROGRAM, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=env) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the terminal is closed
                break
            if not part:
                break
            shown += part
    os.close(ours)
    assert process.returncode == 0
    return shown.decode().replace("\r\n", "\n")


def test_without_arguments_the_five_first_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    expected = help.start() + "\n"
    assert CliRunner().invoke(app, []).output == expected  # as in a pipe
    assert on_a_terminal() == expected
    assert max(map(len, expected.splitlines())) <= 60
    assert "\x1b" not in expected


@pytest.mark.slow
def test_no_color_is_honoured_and_narrow_terminals_too() -> None:
    shown = on_a_terminal("audit", "--help", NO_COLOR="1")
    assert not COLOUR.search(shown)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "--min-k" in plain
    assert max(map(len, plain.splitlines())) <= 60
    assert COLOUR.search(on_a_terminal("--help"))  # or the test above could not fail


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("completion") / "w.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute('CREATE TABLE persons (age INTEGER, area TEXT, sex TEXT, "net ""income""" DOUBLE)')
        connection.execute("CREATE VIEW places AS SELECT area FROM persons")
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.pets (name TEXT)")
    return path


def completed(line: str, **environment: str) -> list[str]:
    """Return what bash is offered for the last word of a line."""
    words = line.split(" ")
    env = {"_SQLMICRO_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = CliRunner().invoke(app, [], prog_name="sqlmicro", env={"SQLMICRO_DB": None, **env, **environment})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.output.split()


def test_commands_options_tables_and_columns_are_completed(db: str) -> None:
    assert completed("sqlmicro resi") == ["residue"]
    assert "--columns" in completed("sqlmicro mdav --col")
    assert completed("sqlmicro mdav --max-b") == ["--max-beta"]  # which --help leaves out
    assert completed("sqlmicro help nu") == ["nulls"]
    assert completed(f"sqlmicro mdav --db {db} --table p") == ["persons", "places"]
    assert completed(f"sqlmicro mdav --db {db} --table persons --columns a") == ["age", "area"]
    assert completed(f"sqlmicro mdav --db {db} --table PERSONS --columns age,") == ["age,area", "age,sex"]
    assert completed(f"sqlmicro audit --db {db} --table places --quasi a") == ["area"]
    assert completed(f"sqlmicro attack --db {db} --original persons --release p") == ["persons", "places"]
    assert completed("sqlmicro mdav --table persons --columns a", SQLMICRO_DB=db) == ["age", "area"]


def test_completion_is_silent_on_every_failure(db: str, tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("no database, but a text")
    for path in (tmp_path / "text.duckdb", tmp_path / "missing.duckdb", tmp_path):
        assert completed(f"sqlmicro mdav --db {path} --table p") == []
    assert not (tmp_path / "missing.duckdb").exists()
    assert completed("sqlmicro mdav --table p") == []
    assert completed(f"sqlmicro mdav --db {db} --columns a") == []


def test_a_locked_database_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "locked.duckdb"
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); c.execute('CREATE TABLE t (a INT)'); print(); input()"
    command = [sys.executable, "-uc", hold, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        completed(f"sqlmicro mdav --db {tmp_path / 'none.duckdb'} --table t")  # loads what is needed
        waited: list[float] = []
        with monkeypatch.context() as patched:
            patched.setattr(time, "sleep", waited.append)
            assert completed(f"sqlmicro mdav --db {path} --table t") == []
        assert not waited
        holder.communicate(b"\n")
    assert completed(f"sqlmicro mdav --db {path} --table t") == ["t"]


def test_completion_can_be_installed(tmp_path: Path) -> None:
    env = {**os.environ, "HOME": str(tmp_path), "PATH": f"{Path(PROGRAM).parent}{os.pathsep}{os.environ['PATH']}"}
    script = "sqlmicro --install-completion >/dev/null; . ~/.bash_completions/sqlmicro.sh; complete -p sqlmicro"
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("sqlmicro")
