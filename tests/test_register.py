"""A messy CSV file becomes a table of numbers, dates and missing values in one command, which says what it took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import run

MESSY = [
    "Patient;Name;Geburtsdatum;PLZ;Geschlecht;Einkommen;Diagnose",
    *(
        f"{i};P{i};{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i % 60};{10115 + i % 4};{'wm'[i % 2]};"
        f"{'n/a' if i % 9 == 0 else f'{1 + i % 4}.{100 + i},{i % 100:02}'};{['A10', 'keine', 'C30'][i % 3]}"
        for i in range(1, 200)
    ),
    "200;P200;k.A.;10115;w;;A10",
]


def registered(folder: Path, lines: list[str], *options: str) -> tuple[dict[str, Any], str, list[tuple[Any, ...]]]:
    """Return the report of `register` over some lines, its text, and the rows of the table."""
    (folder / "f.csv").write_text("\n".join(lines), encoding="utf-8")
    words = ["register", "f.csv", "--db", "w.duckdb", "--table", "t", "--overwrite", *options]
    text = run(*words, cwd=folder).stdout
    done = run(*words, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as connection:
        return json.loads(done.stdout), text, connection.execute("FROM t").fetchall()


def test_a_messy_file_is_read_in_one_command_and_released_in_the_next(tmp_path: Path) -> None:
    found, text, rows = registered(tmp_path, MESSY)
    kinds = dict(zip(found["columns"], found["types"], strict=True))
    assert (kinds["Geburtsdatum"], kinds["Einkommen"], kinds["Diagnose"]) == ("DATE", "DOUBLE", "VARCHAR")
    assert found["open"] == []
    taken = {one["option"]: one["value"] for one in found["read_as"] if one["guessed"]}
    assert taken == {
        "--decimal": ",", "--thousands": ".", "--date-format": "%d.%m.%Y", "--null-string": "k.A., n/a"
    }  # fmt: skip
    assert all(option in text for option in taken)
    for i, row in enumerate(rows[:-1], 1):  # every value as it is written, by plain Python
        assert row[2].isoformat() == f"{1940 + i % 60}-{1 + i % 12:02}-{1 + i % 28:02}"
        assert row[5] == (None if i % 9 == 0 else pytest.approx((1 + i % 4) * 1000 + 100 + i + i % 100 / 100))
        assert row[6] == ["A10", "keine", "C30"][i % 3], "a word that is a value of a column of text stays one"
    assert (rows[-1][2], rows[-1][5]) == (None, None)
    done = run("safe", "--db", "w.duckdb", "--table", "t", "--seed", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_is_given_is_not_guessed(tmp_path: Path) -> None:
    found, _, _ = registered(tmp_path, MESSY, "--null-string", "n/a")
    assert dict(zip(found["columns"], found["types"], strict=True))["Geburtsdatum"] == "VARCHAR"
    assert {one["option"]: one["guessed"] for one in found["read_as"]}["--null-string"] is False
    assert [text.partition(":")[0] for text in found["open"]] == ["Geburtsdatum"]


def test_a_comma_that_would_make_text_of_another_column_is_left_open(tmp_path: Path) -> None:
    lines = ["a;b", *(f"{i},5;{i}.25" for i in range(60))]
    found, text, _ = registered(tmp_path, lines)
    assert found["types"] == ["VARCHAR", "DOUBLE"]
    assert found["read_as"] == []
    assert "open: a: text that looks like numbers with decimal comma: --decimal ," in text


def test_a_day_that_may_be_the_month_is_said(tmp_path: Path) -> None:
    lines = ["d", *(f"{1 + i % 12:02}/{1 + i % 11:02}/1990" for i in range(60))]
    found, _, _ = registered(tmp_path, lines)
    assert found["open"] == ["d: dates whose day may be the month: --date-format DD/MM/YYYY or MM/DD/YYYY"]
    given, _, rows = registered(tmp_path, lines, "--date-format", "DD/MM/YYYY")
    assert given["open"] == []
    assert [(row[0].day, row[0].month) for row in rows] == [(1 + i % 12, 1 + i % 11) for i in range(60)]
    clear = ["d", *(f"{1 + i % 28:02}/{1 + i % 11:02}/1990" for i in range(60))]
    assert registered(tmp_path, clear)[0]["open"] == []


def test_what_only_the_first_rows_are_is_left_as_text(tmp_path: Path) -> None:
    lines = ["id;amount", *(f"{i};{'ca. 5' if i == 55_000 else f'{i % 97},{i % 10}'}" for i in range(60_000))]
    found, text, rows = registered(tmp_path, lines)
    assert found["types"][1] == "VARCHAR"
    assert len(rows) == 60_000
    assert "but not all" in text
    assert "ca. 5" not in text, "no value is quoted"


def test_a_plain_file_is_read_without_a_word(tmp_path: Path) -> None:
    found, text, _ = registered(tmp_path, ["a,b,note", *(f"{i},1990-01-{1 + i % 28:02},none" for i in range(50))])
    assert text == "table t: 50 rows, 3 columns\n"
    assert (found["read_as"], found["open"]) == ([], [])
