"""Drafted hierarchies: the rows by hand, what is not written, and that generalize takes what was drafted."""

from __future__ import annotations

import csv
import stat
from pathlib import Path
from typing import Any

import pytest
from command import run

import sqlmicro
from sqlmicro import SqlmicroError
from sqlmicro.verbs.hierarchy import draft


@pytest.mark.parametrize(
    ("kind", "counts", "widths", "expected"),
    [
        ("intervals", {"17": 5, "18": 1, "30": 4}, (10.0, 20.0),
         [[str(v), "[0, 10)" if v < 10 else "[10, 20)", "[0, 20)", "*"] for v in range(20)]),
        ("intervals", {"-0.5": 5, "0.25": 5, "1.75": 1}, (1.0,),
         [["-0.5", "[-1, 0)", "*"], ["0.25", "[0, 1)", "*"]]),
        ("prefixes", {"101": 5, "2": 5, "33": 4}, (), [["101", "10*", "1**", "*"], ["2", "2", "2", "*"]]),
        ("dates", {"1980-05-17": 5, "1999-12-31": 4}, (), [["1980-05-17", "1980-05", "1980", "1980s", "*"]]),
        ("dates", {"1980-05-17 10:00:00": 5}, (),
         [["1980-05-17 10:00:00", "1980-05-17", "1980-05", "1980", "1980s", "*"]]),
        ("frequency", {"a": 5, "b": 9, "c": 6, "other": 7, "e": 1}, (),
         [["b", "b", "*"], ["other", "other", "*"], ["c", "other*", "*"], ["a", "other*", "*"]]),
        ("frequency", {"a": 4}, (), []),
    ],
)  # fmt: skip
def test_rows(kind: Any, counts: dict[str, int], widths: tuple[float, ...], expected: list[list[str]]) -> None:
    assert draft(counts, kind, widths, 5) == expected


def test_levels_of_chosen_intervals_hold_those_below_whole() -> None:
    rows = draft({str(value): 9 for value in range(-13, 871, 7)}, "intervals", (), 5)
    assert len(rows[0]) == 6
    for level in range(1, 5):
        above: dict[str, set[str]] = {}
        for row in rows:
            above.setdefault(row[level], set()).add(row[level + 1])
        assert all(len(found) == 1 for found in above.values()), level
    assert {row[0] for row in rows} >= {str(value) for value in range(-13, 871)}


def _table() -> dict[str, tuple[str, list[Any]]]:
    return {
        'net "income"': ("INTEGER", [1000 + 10 * (i % 30) for i in range(119)] + [987654]),
        "town": ("VARCHAR", ["Ulm", "Au", "Köln; Süd", "Bonn"] * 29 + ["Au", "Au", "Nirgendwo", None]),
        "born": ("DATE", [f"19{60 + i % 4}-0{1 + i % 3}-15" for i in range(120)]),
    }


@pytest.mark.slow
def test_what_was_drafted_is_private_has_nothing_rare_and_is_used(workbench: Any, tmp_path: Path) -> None:
    db = workbench.make(_table())
    files = {"town": tmp_path / "town.csv", "born": tmp_path / "born.csv"}
    told = sqlmicro.hierarchy("draft", db=db, table="records", column="town", to=str(files["town"]))
    assert (told["kind"], told["values"], told["values_left_out"], told["records_left_out"]) == ("frequency", 4, 1, 1)
    assert stat.S_IMODE(files["town"].stat().st_mode) == 0o600
    assert "Nirgendwo" not in files["town"].read_text(encoding="utf-8")
    with pytest.raises(SqlmicroError, match="must not exist yet"):
        sqlmicro.hierarchy("draft", db=db, table="records", column="town", to=str(files["town"]))
    files["town"].chmod(0o644)
    sqlmicro.hierarchy("draft", db=db, table="records", column="town", to=str(files["town"]), rare=True, overwrite=True)
    assert stat.S_IMODE(files["town"].stat().st_mode) == 0o600
    assert "Nirgendwo" in files["town"].read_text(encoding="utf-8")
    assert sqlmicro.hierarchy("draft", db=db, table="records", column="born", to=str(files["born"]))["kind"] == "dates"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".duckdb") == ["born.csv", "town.csv"]
    release = workbench.release(
        "generalize", db, columns=["town", "born"], hierarchy=[f"{name}={file}" for name, file in files.items()],
        until_k=4, suppress_up_to=0.02, rest="drop",
    )  # fmt: skip
    assert "Nirgendwo" not in release.columns["town"]
    given = {"columns": ["born"], "hierarchy": [f"born={files['born']}"], "rest": "drop"}
    years = workbench.release("generalize", db, level=["born=2"], **given)
    assert set(years.columns["born"]) == {"1960", "1961", "1962", "1963"}


def test_whole_numbers_show_no_outlier(workbench: Any, tmp_path: Path) -> None:
    db, file = workbench.make(_table()), tmp_path / "income.csv"
    given = ("--db", db, "--table", "records", "--column", 'net "income"', "--to", file)
    done = run("hierarchy", "draft", *given, "--width", "50,100,300")
    assert done.returncode == 0, done.stderr
    assert "987654" not in done.stdout + file.read_text(encoding="utf-8")
    assert "Too rare to be written: 1 (values), 1 (records)." in done.stdout
    with file.open(newline="", encoding="utf-8") as text:
        rows = list(csv.reader(text, delimiter=";"))
    assert [row[0] for row in rows] == [str(value) for value in range(900, 1500)]
    assert rows[0][1:] == ["[900, 950)", "[900, 1000)", "[900, 1200)", "*"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"column": "nowhere"}, "no column 'nowhere'"),
        ({"column": "town", "k": 1000}, "some values must be in 1000 records"),
        ({"column": "town", "kind": "dates"}, "dates are written"),
        ({"column": "town", "kind": "intervals"}, "intervals are of finite numbers"),
        ({"column": "born", "width": ["5"]}, "is for --kind intervals"),
        ({"column": 'net "income"', "width": ["5", "12"]}, "each a multiple"),
        ({"column": 'net "income"', "width": ["0"]}, "each a multiple"),
        ({"column": 'net "income"', "rare": True}, "at most 100,000 values"),
        ({"column": "town", "to": "/nowhere/at/all.csv"}, "must be a file that can be written"),
    ],
)
def test_what_does_not_fit_is_refused_without_a_value(
    workbench: Any, tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    db = workbench.make(_table())
    with pytest.raises(SqlmicroError, match=message) as refused:
        sqlmicro.hierarchy("draft", **{"db": db, "table": "records", "to": str(tmp_path / "h.csv"), **given})
    assert "Nirgendwo" not in str(refused.value) and "987654" not in str(refused.value)
    assert not (tmp_path / "h.csv").exists()
