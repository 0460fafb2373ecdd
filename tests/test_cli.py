"""The command line as a user meets it: exit codes, pipes, narrow terminals, Ctrl-C, and no record value anywhere."""

import inspect
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import duckdb
import pytest
from command import cpu, has_worked
from command import run as sqlmicro
from databases import opened
from world import counted, execute, relations, rows

from sqlmicro import api

SQLMICRO = [sys.executable, "-m", "sqlmicro"]
CANARY = "Zyxwvut-Canary"


@pytest.fixture
def db(tmp_path):
    path = tmp_path / "w.duckdb"
    execute(
        path,
        f'''CREATE TABLE persons AS SELECT i AS id, '{CANARY}' || i AS name, (i * 7) % 60 AS age,
        ['f', 'm'][1 + i % 2] AS sex, ((i * 7919) % 10007)::DOUBLE AS "net ""income""",
        CASE WHEN i % 9 = 0 THEN NULL ELSE i % 4 END AS class FROM range(300) r(i)''',
    )
    return path


def tables(db):
    return {name for _, name in relations(db)}


def test_the_main_job(db):
    done = sqlmicro("safe", "--db", db, "--table", "persons", "--nulls", "keep", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["rows"] == report["rows_in"] == 300
    assert report["k"] >= 3
    assert any("id, name" in note for note in report["notes"])
    assert {"persons_anonymized", "releases", "audits"} <= tables(db)
    assert [name for name, *_ in rows(db, "DESCRIBE persons_anonymized")] == ["age", "sex", 'net "income"', "class"]
    assert min(counted(db, "FROM persons_anonymized").values()) == report["k"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["mdav", "--table", "persons", "--columns", "class", "--rest", "drop"], 2, ["--nulls pattern", "class (34)"]),
        (["mdav", "--table", "persons", "--columns", "age"], 2, ["every column needs a role", "--rest drop"]),
        (["mdav", "--table", "persons", "--columns", "age", "--rest", "drop", "--k", "1"], 2, ["at least 2"]),
        (["mdav", "--table", "persons", "--columns", "age", "--rest", "drop", "--k", "301"], 2, ["at least k = 301"]),
        (["single-axis", "--table", "persons", "--columns", "sex", "--rest", "drop"], 2, ["numbers", "sqlmicro safe"]),
        (["mdav", "--table", "person", "--columns", "age"], 2, ["Did you mean 'persons'"]),
        (["mdav", "--table", "persons", "--columns", "aeg", "--rest", "drop"], 2, ["Did you mean 'age'"]),
        (["mdav", "--table", "persons", "--columns", "age", "--by", "id", "--rest", "drop"], 2, ["300 strata"]),
        (["audit", "--table", "persons", "--quasi", "age,sex", "--min-k", "3"], 0, ["passed"]),
        (["audit", "--table", "persons", "--quasi", "age,name", "--min-k", "3"], 1, ["FAILED", "below k", "300"]),
        (["methods", "mdva"], 2, ["Did you mean 'mdav'"]),
        (["methods", "mdav"], 0, ["sqlmicro.group.mdav", "Domingo-Ferrer"]),
        (["profile", "--table", "persons"], 0, ["identifier", "nominal", 'net "income"']),
        (["safe", "--table", "persons", "--nulls", "keep", "--numeric", "age", "--nominal", "age"], 2, ["either"]),
        (["safe", "--table", "persons", "--nulls", "keep", "--algorithm", "kmeans"], 2, ["Did you mean 'kmeans++'"]),
    ],
)  # fmt: skip
def test_exit_codes_and_messages(db, arguments, code, words):
    before = db.read_bytes()
    with_db = arguments if arguments[0] == "methods" else [*arguments, "--db", db]
    done = sqlmicro(*with_db)
    assert done.returncode == code, done.stderr
    talk = " ".join((done.stdout + done.stderr).split())
    for word in words:
        assert word in talk
    assert CANARY not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code == 2:
        assert done.stdout == ""
    assert db.read_bytes() == before


def test_values_are_shown_on_request_only(db):
    done = sqlmicro("audit", "--db", db, "--table", "persons", "--quasi", "name", "--min-k", "2", "--show-values")
    assert done.returncode == 1
    assert CANARY in done.stdout


def test_a_value_that_does_not_fit_is_not_quoted(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("x\n" + "1\n" * 30000 + f"{CANARY}\n")
    done = sqlmicro("mdav", "--table", path, "--columns", "x", "--dry-run", cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert CANARY not in done.stdout + done.stderr


def test_the_printed_script_runs_in_a_plain_database(db, tmp_path):
    copy = tmp_path / "copy" / db.name  # the script names the database, which is called like its file
    copy.parent.mkdir()
    shutil.copy(db, copy)
    before = db.read_bytes()
    words = ["individual-ranking", "--db", db, "--table", "persons", "--columns", 'age,net "income"', "--by", "sex",
             "--keep", "id", "--accept-unique", "id", "--rest", "drop", "--into", "out"]  # fmt: skip
    done = sqlmicro(*words, "--show-sql", "--seed", "hidden")
    assert done.returncode == 0, done.stderr
    assert db.read_bytes() == before
    assert "hidden" not in done.stdout
    assert "-- title:" in done.stdout
    released = 'SELECT id, age, "net ""income""" FROM out ORDER BY id'
    scripted = execute(copy, done.stdout, released)[1]
    sqlmicro(*words)
    assert rows(db, released) == scripted


def test_a_dry_run_writes_nothing(db):
    before = db.read_bytes()
    done = sqlmicro("mdav", "--db", db, "--table", "persons", "--columns", "age", "--rest", "drop", "--dry-run")
    assert done.returncode == 0
    assert "nothing was written" in done.stdout
    assert db.read_bytes() == before


def test_files_are_read_and_written_without_a_database(tmp_path):
    (tmp_path / "p.csv").write_text("a;b\n" + "".join(f"{i};{i % 3}\n" for i in range(30)))
    done = sqlmicro("mdav", "--table", "p.csv", "--delimiter", ";", "--columns", "a,b", "--to", "o.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 31
    lost = sqlmicro("mdav", "--table", "p.csv", "--delimiter", ";", "--columns", "a,b", cwd=tmp_path)
    assert lost.returncode == 0
    assert "in memory" in lost.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.csv", "p.csv"]


def test_what_fails_or_is_dry_leaves_no_new_database(tmp_path):
    (tmp_path / "p.csv").write_text("a,b\n" + "".join(f"{i},{i % 3}\n" for i in range(30)))
    (tmp_path / "bad.csv").write_text("x\n" + "1\n" * 30000 + f"{CANARY}\n")
    options = ["--db", "new.duckdb", "--table", "p.csv", "--columns", "a,b"]
    assert sqlmicro("mdav", *options, "--dry-run", cwd=tmp_path).returncode == 0
    assert sqlmicro("mdav", *options, "--k", "31", cwd=tmp_path).returncode == 2
    failed = sqlmicro("register", "bad.csv", "--db", "new.duckdb", "--table", "t", cwd=tmp_path)
    assert failed.returncode in (2, 3)
    assert CANARY not in failed.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "p.csv"]
    assert sqlmicro("mdav", *options, cwd=tmp_path).returncode == 0
    assert tables(tmp_path / "new.duckdb") == {"p_anonymized", "releases", "audits", "memory"}


@pytest.mark.slow
@pytest.mark.parametrize("width", [60, 100])
def test_reports_fit_the_terminal(db, width):
    for arguments in (
        ["safe", "--db", db, "--table", "persons", "--nulls", "keep", "--effort", "fast", "--dry-run"],
        ["profile", "--db", db, "--table", "persons"],
        ["audit", "--db", db, "--table", "persons", "--quasi", "age", "--min-k", "3"],
        ["methods"],
    ):
        done = sqlmicro(*arguments, COLUMNS=str(width))
        assert done.returncode == 0, done.stderr
        assert max(map(len, done.stdout.splitlines())) <= width


@pytest.mark.slow
def test_the_process_hands_on_data_talk_and_exit_code(db):
    """All else here runs in this process."""
    given = {"capture_output": True, "text": True, "timeout": 120}
    done = subprocess.run([*SQLMICRO, "methods", "--json"], **given)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mdav" in json.dumps(json.loads(done.stdout))
    done = subprocess.run([*SQLMICRO, "mdav", "--db", db, "--table", "persons", "--columns", "age"], **given)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--rest drop" in done.stderr


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(db):
    command = " ".join(map(str, [*SQLMICRO, "profile", "--db", db, "--table", "persons", "--json"]))
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command} | head -c 1"], capture_output=True, text=True)
    assert done.stdout == "{"
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_help_is_quick():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*SQLMICRO, "--help"], capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0
    assert (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime) < 1.0  # 0.25 when measured alone


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "many"),
    [("max-distance", 60_000), ("individual-ranking", 4_000_000)],
    ids=["in a kernel", "in a statement"],
)
def test_ctrl_c_leaves_nothing(tmp_path, method, many):
    db = tmp_path / "big.duckdb"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    execute(db, f"CREATE TABLE t AS SELECT random() AS x, random() AS y, random() AS z FROM range({many})")
    command = [*SQLMICRO, method, "--db", str(db), "--table", "t", "--columns", "x,y,z"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **pipes, env={**os.environ, "TMPDIR": str(temporary)})
    while not list(temporary.iterdir()) and process.poll() is None:
        time.sleep(0.01)
    has_worked(cpu(process) + 1.2, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert "interrupted" in err
    assert out == ""
    assert list(temporary.iterdir()) == []
    assert tables(db) == {"t"}


def test_a_script_without_its_kernel_publishes_nothing(db, tmp_path):
    copy = tmp_path / "copy.duckdb"
    shutil.copy(db, copy)
    arguments = ["mdav", "--db", db, "--table", "persons", "--columns", "age", "--rest", "keep", "--in-place"]
    arguments += ["--accept-unique", 'id,name,"net ""income"""']
    done = sqlmicro(*arguments, "--show-sql")
    assert done.returncode == 0, done.stderr
    with opened(copy) as con:
        before = con.execute("SELECT * FROM persons ORDER BY id").fetchall()
        failures = 0
        for statement in con.extract_statements(done.stdout):  # as a shell does that goes on after an error
            try:
                con.execute(statement)
            except duckdb.Error:
                failures += 1
        assert failures
        assert con.execute("SELECT * FROM persons ORDER BY id").fetchall() == before


def test_a_locked_database_is_explained(db):
    hold = f"import duckdb, time; c = duckdb.connect({str(db)!r}); print('held', flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "held\n"
        done = sqlmicro("profile", "--db", db, "--table", "persons")
    finally:
        holder.kill()
        holder.wait()
    assert done.returncode == 2
    assert "another process" in done.stderr


def test_names_of_options_are_those_of_python_and_job_files():
    import sqlmicro as package

    for name, verb in api.verbs().items():
        if name == "verify":  # in Python the module that stands alone
            continue
        function = getattr(package, name.replace("-", "_"))
        known = {parameter.name for parameter in verb.parameters if not parameter.param.cli_only}
        assert set(inspect.signature(function).parameters) == known


def _options(*words: str) -> set[str]:
    return set(re.findall(r"^│ [* ]*(--[a-z-]+)", sqlmicro(*words).stdout, flags=re.MULTILINE))


def test_help_shows_what_most_runs_need_and_help_all_everything() -> None:
    short, everything = _options("safe", "--help"), _options("safe", "--help-all")
    shown = {"--json", "--quiet", "--details", "--help", "--help-all"}
    assert everything == {p.option for p in api.verbs()["safe"].parameters} | shown
    assert {"--table", "--k", "--person", "--sensitive", "--to", "--in-place", "--series"} < short < everything
    told = sqlmicro("safe", "--help").stdout
    assert f"{len(everything - short)} more options" in told
    assert len(told.splitlines()) <= 60
    assert len(short) <= 25
    assert sqlmicro("safe", "--help").stdout == told, "nothing stays hidden or shortened"
    assert "more options" not in sqlmicro("profile", "--help-all").stdout
    assert _options("warm-up", "--help") == _options("warm-up", "--help-all"), "where there are few, all are shown"


def test_the_first_page_lists_the_verbs_of_a_day() -> None:
    listed = re.findall(r"^│ ([a-z][a-z-]+) ", sqlmicro("--help").stdout, flags=re.MULTILINE)
    day = "help register profile compare safe microaggregate suppress generalize pseudonymise publish-draft"
    assert listed == [
        *day.split(),
        "audit",
        "attack",
        "report",
        "ledger",
        "run",
        "scan",
        "plan",
        "apply",
        "check",
        "certify",
        "verify",
    ]
    more = re.findall(r"^│ ([a-z][a-z-]+) ", sqlmicro("--help-all").stdout, flags=re.MULTILINE)
    assert set(more) == {"help", *api.verbs()}
    assert len(more) == len(set(more))
    assert f"{len(more) - len(listed)} more commands" in sqlmicro("--help").stdout
