"""What a release prints: what matters most in 15 lines, all of it where that is asked for, and what to do next."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import duckdb
from command import run
from conftest import SMALL


def _lines(*words: object, cwd: Path) -> list[str]:
    done = run(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _label(line: str) -> str:
    return line[:16].strip()


def test_a_release_prints_fifteen_lines_and_details_all_of_it(tmp_path: Path) -> None:
    words = ["safe", "--table", SMALL, "--seed", "1", "--alone-because", "a test"]
    lines = _lines(*words, "--to", "o.parquet", cwd=tmp_path)
    assert len(lines) <= 15, "\n".join(lines)
    assert lines[:2] == [
        "published       o.parquet (file), release 1 in sqlmicro.releases",
        "rows            1,000 of 1,000",
    ]
    assert lines[2].startswith("protects        k = 3 held. Every combination of values of sex, age, ")
    assert [*filter(None, map(_label, lines))] == [
        "published", "rows", "protects", "tables", "numbers", "not told", "note", "more", "next"
    ]  # fmt: skip
    assert "note            dropped as direct identifiers: person_id, name, phone" in lines
    full = [*map(_label, _lines(*words, "--to", "p.parquet", "--details", cwd=tmp_path))]
    assert {"source", "method", "groups", "IL", "SAFE distance", "verdict", "audit", "seconds"} < {*full}
    told = json.loads("\n".join(_lines(*words, "--to", "q.parquet", "--json", cwd=tmp_path)))
    assert f"{len(told['notes']) - 1} notes, groups and seconds: --details" in " ".join(lines)


def test_what_asks_for_a_decision_is_printed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("plz,income\n" + "\n".join(f"{10115 + i % 40},{i * 37 % 101}" for i in range(120)))
    given = ["mdav", "--table", "t.csv", "--columns", "plz,income", "--to", "o.csv"]
    lines = _lines(*given, cwd=tmp_path)
    assert "warning         means are taken of whole numbers that seem to be codes or" in "\n".join(lines)
    assert any(line.startswith("loss            IL ") for line in lines)
    again = run(*given[:-1], "p.csv", "--k", "4", "--alone-because", "a test", cwd=tmp_path)
    assert "audit           union-k: " in again.stdout, "a check that failed is printed, whatever was asked for"
    assert "passed over" in again.stdout


def test_the_next_command_runs_as_it_is_printed(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "my w.duckdb")) as connection:
        connection.execute('CREATE TABLE t AS SELECT i % 5 AS a, i AS "net ""income""" FROM range(50) r(i)')
    given = ["mdav", "--db", "my w.duckdb", "--table", "t", "--columns", "a", "--rest", "drop", "--into", 'it\'s "o"']
    last = _lines(*given, cwd=tmp_path)[-1]
    assert _label(last) == "next"
    words = shlex.split(last.removeprefix("next"))
    assert words[:2] == ["sqlmicro", "report"]
    assert run(*words[1:], cwd=tmp_path).returncode == 0
    assert "k = 3 held" in (tmp_path / "report.html").read_text()
    assert _label(_lines(*given, "--dry-run", "--overwrite", cwd=tmp_path)[-1]) == "more", "nothing was published"


def test_a_night_prints_nothing_of_its_source(tmp_path: Path) -> None:
    rows = "\n".join(f"{i},{i * 37 % 90}" for i in range(101))
    (tmp_path / "t.csv").write_text(f"key,age\n{rows}")
    given = ["mdav", "--table", "t.csv", "--columns", "age", "--rest", "drop", "--row-key", "key", "--series", "n"]
    lines = _lines(*given, "--to", "o.csv", cwd=tmp_path)
    assert not [line for line in lines if _label(line) in ("loss", "missing", "tables", "numbers")]
    assert "night 1 of series n" in "\n".join(lines)
    assert len(lines) <= 15
