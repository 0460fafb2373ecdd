"""A messy CSV file becomes a table of numbers, dates and missing values in one command, which says what it took."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
import world
from command import run

import sqlmicro

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
    assert text.splitlines() == [
        "table t: 50 rows, 3 columns", "type     columns", "BIGINT   a", "DATE     b", "VARCHAR  note",
        "next  sqlmicro safe --db w.duckdb --table t",
    ]  # fmt: skip
    assert (found["read_as"], found["open"]) == ([], [])


def test_every_word_for_a_missing_value_is_found_also_what_a_sample_lacks(tmp_path: Path) -> None:
    words = ["k.A.", "n/a", "unbekannt", "-", "?", "NULL", "keine Angabe"]
    lines = ["id;amount", *(f"{i};{words[i] if i < len(words) else f'{i},{i % 10}'}" for i in range(20_000))]
    found, _, rows = registered(tmp_path, lines)
    assert (found["types"][1], found["open"]) == ("DOUBLE", [])
    assert [row[1] for row in rows[:8]] == [None] * 7 + [7.7]


CODED = [
    "age;net \"income\";temperature;score;plz",
    *(f"{i % 90};{-99 if i % 20 == 0 else i};{-1 if i % 9 == 0 else i % 30 - 12};{999 if i % 50 == 3 else i % 99};99999"
      for i in range(1, 200)),
]  # fmt: skip


def test_codes_that_may_stand_for_missing_values_are_left_open(tmp_path: Path) -> None:
    found, _, rows = registered(tmp_path, CODED)
    assert found["open"] == [
        'net "income": -99 in 9 rows, and all others are 0 or more: if it stands for a missing value, '
        "--null-string -99",
        "score: 999 in 4 rows, and all others are below its half: if it stands for a missing value, --null-string 999",
    ]
    assert sum(row[1] == -99 for row in rows) == 9
    given, _, rows = registered(tmp_path, CODED, "--null-string", "-99,999")
    assert given["open"] == []
    assert [sum(row[column] is None for row in rows) for column in range(5)] == [0, 9, 0, 4, 0]


@pytest.mark.parametrize(
    ("codec", "names"),
    [
        ("cp1252", "Jörg Müller,Zoë Weiß,Anna Jäger,Kurt Öztürk"), ("cp850", "Jörg Müller,Zoë Weiß,Anna Jäger"),
        ("cp1252", "Hélène Lefèvre,François Noël,garçon à Besançon"), ("cp1252", "José Muñoz,Málaga,señor"),
        ("cp1252", "Åse Jørgensen,Ærø,København"), ("cp1252", "O’Brien “here”,£ 5"),
        ("cp1252", "• one ™,… two ®,© 2020 ×"),
        ("cp1250", "Łukasz Wałęsa,Łódź,Świętosława ćma"), ("iso-8859-2", "Łukasz Wałęsa,Łódź,Świętosława ćma"),
        ("cp1250", "Jiří Dvořák,Plzeň,Šárka Žižková"), ("iso-8859-2", "Jiří Dvořák,Plzeň,Šárka Žižková"),
        ("iso-8859-2", "Đurđa Šimić,Čakovec,Žiga"),
        ("cp1251", "Иванов,Мария,Санкт-Петербург"), ("cp866", "Иванов,Мария,Санкт-Петербург"), ("utf-16", "Jörg,Zoë"),
    ],
)  # fmt: skip
def test_the_encoding_is_told_from_the_letters(tmp_path: Path, codec: str, names: str) -> None:
    rows = [f"{i};{name};{i % 7}" for i, name in enumerate(names.split(",") * 30)]
    (tmp_path / "f.csv").write_bytes("\r\n".join(["id;name;x", *rows]).encode(codec))
    report = sqlmicro.register([str(tmp_path / "f.csv")], db=str(tmp_path / "w.duckdb"), table="t")
    assert [one["option"] for one in report["read_as"] if one["guessed"]] == ["--encoding"]
    found = world.rows(tmp_path / "w.duckdb", "FROM t")
    assert [f"{a};{name};{x}" for a, name, x in found] == rows


def test_bytes_of_no_encoding_are_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(b"a;b\n" + b"\x80\x81\xff\xfe\xc3;1\n" * 50)
    with world.refused("Give --encoding"):
        sqlmicro.register([str(tmp_path / "f.csv")], db=str(tmp_path / "w.duckdb"), table="t")


def test_a_packed_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv.gz").write_bytes(b"a,b\n1,2\n")
    with world.refused("f.csv.gz"):
        sqlmicro.register([str(tmp_path / "f.csv.gz")], db=str(tmp_path / "w.duckdb"), table="t")


def test_what_its_values_leave_open_is_asked_on_a_terminal(tmp_path: Path) -> None:
    days = [f"{1 + i % 12:02}/{1 + i % 11:02}/1990;{-9 if i % 10 == 0 else i}" for i in range(60)]
    (tmp_path / "f.csv").write_text("\n".join(["day;x", *days]), encoding="utf-8")
    words = [sys.executable, "-m", "sqlmicro", "register", "f.csv", "--db", "w.duckdb", "--table", "t"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(words, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        text = ""
        for asked, answer in (("the day may be the month", "7\n2\n"), ("x: -9 in 6 rows", "1\n")):
            while asked not in text or not text.endswith("1 to 2: "):
                text += os.read(ours, 4096).decode()
            os.write(ours, answer.encode())
        with contextlib.suppress(OSError):  # the end of the terminal
            while part := os.read(ours, 4096):
                text += part.decode()
    os.close(ours)
    assert process.returncode == 0, text
    found = world.rows(tmp_path / "w.duckdb", "FROM t")
    assert [(row[0].month, row[0].day) for row in found] == [(1 + i % 12, 1 + i % 11) for i in range(60)]
    assert sum(row[1] is None for row in found) == 6


def test_the_next_command_counts_persons(tmp_path: Path) -> None:
    found, text, _ = registered(
        tmp_path, ["patient_id,age,town", *(f"{i // 3},{i % 50},{'ab'[i % 2]}" for i in range(99))]
    )
    assert found["persons"]["columns"] == ["patient_id"]
    assert text.splitlines()[-1] == "next  sqlmicro safe --db w.duckdb --table t --person patient_id"


@pytest.mark.parametrize(
    ("columns", "more"),
    [
        (["age", "sampling_weight"], ""),
        (["age", "sampling_weight", "household_weights"], " --weights sampling_weight --drop household_weights"),
        (["age", "weight"], " --drop weight"),
    ],
)
def test_the_next_command_is_not_refused_for_weights(tmp_path: Path, columns: list[str], more: str) -> None:
    rows = [",".join(str(20 + row * (at + 3) % 11) for at in range(len(columns))) for row in range(60)]
    (tmp_path / "t.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
    said = run("register", "t.csv", "--db", "w.duckdb", "--table", "t", cwd=tmp_path).stdout.splitlines()[-1]
    assert said == f"next  sqlmicro safe --db w.duckdb --table t{more}"
    done = run(*said.split()[2:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
