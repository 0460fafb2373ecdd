"""No record in a message: failures of every kind over data full of canaries, and not a word of them anywhere."""

from __future__ import annotations

import gzip
import traceback
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from databases import opened
from typer.testing import CliRunner

import sqlmicro
from sqlmicro.database.redact import wrapped
from sqlmicro.errors import SqlmicroError

WORD, NUMBER, DAY = "Zyxwvut", 918273645, "1907-03-04"
CANARIES = (WORD.lower(), str(NUMBER), f"{NUMBER:,}", DAY, "8273645")
PEOPLE = f"""CREATE TABLE people AS SELECT i AS id, '{WORD}-' || i AS name, {NUMBER} + i AS income,
  DATE '{DAY}' + CAST(i AS INTEGER) AS born, i % 3 AS class FROM range(60) AS r(i)"""
FAILING = {
    "integer": "CAST(name AS INTEGER)", "double": "CAST(name AS DOUBLE)", "date": "CAST(name AS DATE)",
    "timestamp": "CAST(name AS TIMESTAMP)", "uuid": "CAST(name AS UUID)", "boolean": "CAST(name AS BOOLEAN)",
    "enum": "CAST(name AS ENUM('a', 'b'))", "interval": "CAST(name AS INTERVAL)", "list": "CAST(name AS INTEGER[])",
    "struct": "CAST(name AS STRUCT(a INTEGER))", "json": "CAST(name AS JSON)", "tiny": "CAST(income AS TINYINT)",
    "decimal": "CAST(income AS DECIMAL(4, 1))", "strptime": "strptime(name, '%Y')", "own words": "error(name)",
    "overflow": "CAST(income AS INTEGER) * CAST(income AS INTEGER)", "huge": "CAST(income * income AS TINYINT)",
    "month": "make_date(income, 13, 40)", "pattern": "regexp_matches('x', '(' || name)", "base64": "from_base64(name)",
    "hex": "unhex(name)", "chr": "chr(CAST(income AS INTEGER))", "subquery": "(SELECT p.name FROM people AS p)",
}  # fmt: skip
"""Expressions that fail on a record, most of them in words that quote it."""
VERBS: dict[str, list[str]] = {
    "mdav": ["--columns", "x", "--rest", "drop", "--k", "3", "--into", "out"],
    "shuffle": ["--columns", "x", "--rest", "drop", "--dry-run"],
    "profile": [],
    "audit": ["--quasi", "x", "--min-k", "2"],
    "hierarchy": ["draft", "--column", "x", "--to", "hierarchy.csv", "--kind", "dates"],
}


def files(folder: Path) -> list[str]:
    """Write files that cannot be read, and return their names."""
    many = "".join(f"{i},{DAY}\n" for i in range(30_000))
    content: dict[str, bytes] = {
        "late.csv": f"x,y\n{many}{WORD},{DAY}\n".encode(),
        "wide.csv": f"x,y\n{many}1,2,{WORD},{NUMBER}\n".encode(),
        "quote.csv": f'x,y\n{many}"{WORD}\n'.encode(),
        "day.csv": f"x,y\n{many}1,{DAY}-{WORD}\n".encode(),
        "bytes.csv": f"x,y\n1,{WORD}".encode() + b"\xff\xfe\n" * 5,
        "broken.csv.gz": gzip.compress(f"x\n{WORD}\n".encode())[:-6],
        "broken.json": f'[{{"x": 1}}, {{"x": "{WORD}"'.encode(),
        "late.ndjson": ('{"x": 1}\n' * 30_000 + f'{{"x": "{WORD}"}}\n').encode(),
        "text.parquet": f"PAR1{WORD}{DAY}PAR1".encode(),
        "short.parquet": b"PAR1",
    }
    for name, data in content.items():
        (folder / name).write_bytes(data)
    duckdb.sql(PEOPLE.replace("TABLE people", "OR REPLACE TEMP TABLE people"))
    duckdb.sql(f"COPY (SELECT income AS x FROM people) TO '{folder}/cut.parquet'")
    whole = (folder / "cut.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(whole[: len(whole) // 3] + b"\0" * (len(whole) // 3) + whole[-300:])
    return [*content, "cut.parquet"]


def tables(db: str) -> list[list[str]]:
    """Make tables that refuse what a release would write; return the commands that try."""
    rest = ["--rest", "keep", "--accept-unique"]
    mdav = ["mdav", "--columns", "income", *rest, "name", "--k", "7", "--in-place", "--table"]
    definitions = {
        "checked": (f"income BIGINT CHECK (income % 2 = 0 OR income < {NUMBER - 99}), name VARCHAR", mdav),
        "tiny": ("income DECIMAL(9, 0) CHECK (income % 2 = 0), name VARCHAR", mdav),
        "keyed": ("income BIGINT PRIMARY KEY, name VARCHAR", mdav),
        "uniquely": ("income BIGINT UNIQUE, name VARCHAR", mdav),
        "required": (
            "income BIGINT, name VARCHAR NOT NULL",
            ["mdav", "--columns", "income", "--rest", "drop", "--k", "3", "--in-place", "--table"],
        ),
        "enumerated": (
            f"income BIGINT, name ENUM('{WORD}-0', '{WORD}-1')",
            ["constant", "--columns", "name", "--value", "x", *rest, "income", "--in-place", "--table"],
        ),
        "unions": ("income UNION(a BIGINT, b VARCHAR), name VARCHAR", mdav),
        "endless": ("income DOUBLE, name VARCHAR", mdav),
    }
    with opened(db) as con:
        con.execute(PEOPLE)
        for name, (columns, _) in definitions.items():
            con.execute(f"CREATE TABLE {name} ({columns})")
            value = "'inf'::DOUBLE" if name == "endless" else f"{NUMBER - NUMBER % 2} + 2 * i"
            text = f"'{WORD}-' || (i % 2)"
            con.execute(f"INSERT INTO {name} SELECT {value}, {text} FROM range(10) AS r(i) WHERE i <> 5")
        for name, expression in FAILING.items():
            con.execute(f'CREATE VIEW "{name} view" AS SELECT {expression} AS x, id FROM people')
    return [[*command, name] for name, (_, command) in definitions.items()]


def others(folder: Path) -> list[list[str]]:
    """Write job files, hierarchies and matrices that are wrong; return commands that read them, and other refusals."""
    (folder / "broken.toml").write_text(f'table = "people\n# {WORD}\nk = {NUMBER}')
    (folder / "bytes.toml").write_bytes(f'table = "{WORD}'.encode() + b'\xff"\n')
    (folder / "twice.csv").write_text(f"{WORD}-1,a\n{WORD}-1,b\n")
    (folder / "ragged.csv").write_text(f"{WORD}-1,a\n{WORD}-2\n")
    (folder / "missing.csv").write_text(f"{WORD}-1,a\n{WORD}-2,b\n")
    (folder / "broken_hierarchy.toml").write_text(f'[[level]]\n"{WORD}" = {WORD}')
    (folder / "matrix.csv").write_text(f",{WORD}-1,{WORD}-2\n{WORD}-1,0.5,0.4\n{WORD}-2,{WORD},1\n")
    (folder / "sums.csv").write_text(f",{WORD}-1,{WORD}-2\n{WORD}-1,0.5,0.4\n{WORD}-2,0,1\n")

    def keep(*columns: str) -> list[str]:
        others = [name for name in ("id", "name", "income", "born") if name not in columns]
        return ["--rest", "keep", "--accept-unique", ",".join(others)]

    generalize = ["generalize", "--table", "people", "--columns", "name", *keep("name"), "--hierarchy"]
    hierarchies = ("twice.csv", "ragged.csv", "missing.csv", "broken_hierarchy.toml")
    return [
        *([*generalize, f"name={name}"] for name in hierarchies),
        *(
            ["pram", "--table", "people", "--columns", "name", *keep("name"), "--matrix", name]
            for name in ("matrix.csv", "sums.csv")
        ),
        ["run", "broken.toml"],
        ["run", "bytes.toml"],
        ["audit", "--table", "people", "--quasi", "name,born", "--min-k", "3"],
        ["audit", "--table", "people", "--quasi", "class", "--sensitive", "name", "--max-t", "0.001"],
        [
            "top-code",
            "--table",
            "people",
            "--columns",
            "income",
            *keep("income"),
            "--value",
            "2000000000",
            "--into",
            "o1",
        ],
        [
            "mdav",
            "--table",
            "people",
            "--columns",
            "income",
            "--by",
            "name",
            *keep("income", "name"),
            "--k",
            "3",
            "--into",
            "o2",
        ],
        [
            "generalize",
            "--table",
            "people",
            "--columns",
            "born",
            *keep("born"),
            "--truncate",
            "born=hour",
            "--into",
            "o3",
        ],
        ["optimal-univariate", "--table", "people", "--columns", "name", *keep("name"), "--k", "3", "--into", "o4"],
        ["suppress", "--table", "people", "--columns", "name", *keep("name"), "--k", "70", "--into", "o5"],
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("messages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        yield made


@pytest.fixture(scope="module")
def failures(folder: Path) -> list[list[str]]:
    """Return commands that fail."""
    db = ["--db", "w.duckdb"]
    commands = [[*command, *db] for command in tables("w.duckdb")]
    commands += [[*command, *([] if command[0] == "run" else db)] for command in others(folder)]
    for name in FAILING:
        commands += [[verb, "--table", f"{name} view", *options, *db] for verb, options in list(VERBS.items())[:2]]
    for name in files(folder):
        commands += [[verb, "--table", name, *options] for verb, options in list(VERBS.items())[::2]]
        commands.append(["register", name, "--table", "fresh", *db])
    return commands


def quotes(text: str) -> list[str]:
    return [canary for canary in CANARIES if canary in text.lower()]


def failing(commands: list[list[str]]) -> int:
    """Run commands, look at every word they say, and return how many failed."""
    from sqlmicro.cli import app

    runner, failed = CliRunner(), 0
    for command in commands:
        result = runner.invoke(app, command)
        said = result.output + result.stderr
        assert not quotes(said), (command, quotes(said), said[:400])
        assert "Traceback" not in said
        assert "fault:" not in said, (command, said)
        assert result.exit_code in (0, 1, 2, 3)
        failed += result.exit_code != 0
    return failed


@pytest.mark.parametrize(
    ("part", "least"), [(slice(None, None, 8), 12), pytest.param(slice(None), 90, marks=pytest.mark.slow)]
)
def test_failures_quote_no_record(
    failures: list[list[str]],
    part: slice,
    least: int,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    failed = failing(failures[part])
    assert failed >= least, failed
    out, err = capfd.readouterr()
    assert not quotes(out + err + caplog.text)


def test_the_error_behind_an_error_quotes_no_record(failures: list[list[str]]) -> None:
    """Python prints what an error was raised from, and shows it to whoever logs the chain."""
    seen = 0
    for name in list(FAILING)[::2]:
        try:
            sqlmicro.profile(f"{name} view", db="w.duckdb")
        except SqlmicroError as error:
            seen += 1
            chain: list[BaseException] = [error]
            while (inner := chain[-1].__cause__ or chain[-1].__context__) is not None:
                chain.append(inner)
            assert not [found for link in chain for found in quotes(f"{link} {link.args} {vars(link)}")], name
            assert not quotes("".join(traceback.format_exception(error)))
    assert seen >= 10


def test_the_database_itself_does_quote_records(failures: list[list[str]], folder: Path) -> None:
    """Were its own words printed, the tests above would fail."""
    quoting = 0
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as con:
        for name in FAILING:
            try:
                con.execute(f'SELECT max(x) FROM "{name} view"').fetchall()
            except duckdb.Error as error:
                quoting += bool(quotes(str(error)))
    assert quoting >= 12


@pytest.mark.slow
def test_every_verb_over_every_failing_view_quotes_no_record(failures: list[list[str]]) -> None:
    reading = {
        **{verb: ["--table", "{view}", *options] for verb, options in VERBS.items()},
        "safe-distance": ["{view}", "people", "--columns", "x"],
        "safe": ["--table", "{view}", "--columns", "x", "--rest", "drop", "--into", "out"],
        "report": ["{view}", "--quasi", "x", "--to", "r.html"],
    }
    commands = [
        [verb, *(option.format(view=f"{name} view") for option in options), "--db", "w.duckdb"]
        for name in FAILING
        for verb, options in reading.items()
    ]
    assert failing(commands) >= 120


@pytest.mark.parametrize("kind", ["ConversionException", "InvalidInputException", "OutOfRangeException", "IOException"])
def test_an_error_of_the_database_is_told_by_its_kind(kind: str) -> None:
    told = wrapped("a step", getattr(duckdb, kind)(f"Could not convert string '{WORD}' to INT32"))
    assert kind in str(told)
    assert not any(one in str(told).lower() for one in CANARIES)
