"""`sqlmicro attack` as it is used: what it prints, what it refuses, and what it says then."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from databases import opened
from typer.testing import CliRunner

from sqlmicro.cli import app
from sqlmicro.errors import InputError, ParameterError

from .conftest import Attack

ORIGINAL: dict[str, list[Any]] = {
    "id": list(range(8)),
    'net "income"': [1.0, 2.0, None, 4.0, 5.0, 6.0, None, 9.0],
    "town": ["a", "a", "b", "b", None, "a", "b", "b"],
}
RELEASE: dict[str, list[Any]] = {
    "id": [5, 4, 3, 2, 1, 0, 7, 6],
    'net "income"': [5.5, 5.5, 3.0, None, 1.5, 1.5, 9.0, None],
    "town": ["a", None, "b", "b", "a", "a", "b", "b"],
}
RECORDS = {"original": ORIGINAL, "release": RELEASE}


def test_missing_values_and_names_in_need_of_quotes(attack: Attack) -> None:
    found = attack(RECORDS, match="id")["attacks"]
    # NULL is a value: 2 and 6 share theirs, 0 and 1 too; the others are alone.
    assert found["linkage"]["rate"] == pytest.approx((4 * 1 / 2 + 4) / 8)
    assert found["linkage"]["rates"]["nearest"] == pytest.approx((4 * 1 / 2 + 4) / 8)
    again = attack(RECORDS, match="id", columns='net "income"', nominal='net "income"')["attacks"]
    # As codes 1 and 2, like 4, 5 and 6, meet none of the released values: all eight are equally far.
    assert again["linkage"]["rates"]["nearest"] == pytest.approx((5 / 8 + 2 / 2 + 1) / 8)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"original": "nowhere"}, InputError, "'nowhere'"),
        ({"release": ()}, ParameterError, "a release is needed"),
        ({"columns": "income"}, ParameterError, "no column 'income'"),
        ({"match": "town"}, InputError, "identify a record.*5 records of original"),
        ({"match": "id", "columns": "id"}, ParameterError, "id as both"),
        ({"columns": "town", "sensitive": "town"}, ParameterError, "town"),
        ({"match": "id", "sensitive": "id"}, ParameterError, "id"),
        ({"attack": "linkag"}, ParameterError, "Did you mean 'linkage'"),
        ({"attack": "insider"}, ParameterError, "needs --match"),
        ({"attack": "averaging", "match": "id"}, ParameterError, "needs a second --release"),
        ({"attack": "homogeneity"}, ParameterError, "needs --sensitive"),
        ({"attack": "key-replay"}, ParameterError, "recorded in sqlmicro.releases"),
        ({"manifest": "nowhere.json"}, InputError, "a JSON file"),
        ({"match": "id", "columns": 'id,"town"'}, ParameterError, "no column"),
        ({"sample": 0}, ParameterError, "at least 1"),
    ],
)
def test_what_cannot_be_done_is_said(
    attack: Attack, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        attack(RECORDS, **options)


def test_tables_that_cannot_be_compared(attack: Attack) -> None:
    with pytest.raises(InputError, match="columns of the same name"):
        attack({"original": {"a": [1, 2]}, "release": {"b": [1, 2]}})
    with pytest.raises(InputError, match="none but those of --match"):
        attack({"original": {"id": [1, 2]}, "release": {"id": [1, 2]}}, match="id")
    with pytest.raises(InputError, match="release: there must be records"):
        attack({"original": {"a": [1.0]}, "release": {"a": [x for x in [1.0] if x > 1]}})
    with pytest.raises(InputError, match="none found"):
        attack({"original": {"id": [1], "a": [1]}, "release": {"id": [2], "a": [1]}}, match="id")
    with pytest.raises(ParameterError, match="the original must have the column too"):
        attack({"original": {"a": [1]}, "release": {"a": [1], "b": [1]}}, columns="b")
    report = attack({"original": {"age": [21, 38]}, "release": {"age": ["twenties", "thirties"]}})
    assert len(report["notes"]) == 1
    assert report["notes"][0].endswith("so they count as different everywhere: age")
    assert report["attacks"]["linkage"]["rate"] == 0.5


def test_constant_columns_tell_nothing(attack: Attack) -> None:
    same = {"x": [0.1] * 6, "y": [7] * 6}
    found = attack({"original": same, "release": same})["attacks"]
    assert found["linkage"]["rate"] == pytest.approx(1 / 6)
    assert found["linkage"]["chance"] == 1 / 6


def test_only_what_can_be_made_is_listed(attack: Attack) -> None:
    assert list(attack(RECORDS, columns="town")["attacks"]) == ["linkage", "row-order"]
    listed = list(attack(RECORDS, match="id", sensitive="town")["attacks"])
    assert listed == ["linkage", "row-order", "insider", "homogeneity"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, columns in RECORDS.items():
        lines = [",".join('"' + column.replace('"', '""') + '"' for column in columns)]
        lines += [",".join("" if v is None else str(v) for v in row) for row in zip(*columns.values(), strict=True)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


def test_as_text_and_as_json(files: Path) -> None:
    command = ["attack", "--original", str(files / "original.csv"), "--release", str(files / "release.csv")]
    shown = CliRunner().invoke(app, [*command, "--match", "id"], env={"COLUMNS": "60"})
    assert shown.exit_code == 0, shown.output
    assert [line for line in shown.output.splitlines() if len(line) > 60] == []
    assert "linkage    0.7500" in shown.output
    assert "records are matched by id" in " ".join(shown.output.split())
    assumed = CliRunner().invoke(app, command, env={"COLUMNS": "60"})
    assert "upper bounds" in " ".join(assumed.output.split())
    told = json.loads(CliRunner().invoke(app, [*command, "--match", "id", "--json"]).stdout)
    (first, *_) = told["attacks"]
    assert {"name", "rate", "ci", "chance", "n"} <= set(first)
    assert first["name"] == "linkage"
    assert first["ci"][0] <= first["rate"] <= first["ci"][1]


@pytest.mark.parametrize(("gate", "code"), [("0.8", 0), ("0.7", 1)])
def test_a_gate_on_linkage(files: Path, gate: str, code: int) -> None:
    command = ["audit", "--table", str(files / "release.csv"), "--original", str(files / "original.csv")]
    done = CliRunner().invoke(app, [*command, "--match", "id", "--measure", "linkage", "--max-linkage", gate])
    assert done.exit_code == code, done.output


def test_a_gate_on_what_is_not_known_fails(files: Path) -> None:
    command = ["audit", "--table", str(files / "release.csv"), "--max-linkage", "1"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert "needs --original" in " ".join(done.output.split())


def test_a_quasi_identifier_that_the_original_lacks_leaves_linkage_unknown(workbench: Any) -> None:

    import sqlmicro

    db = workbench.make({"x": ("DOUBLE", [1.0, 2.0])})
    with opened(db) as connection:
        connection.execute("CREATE TABLE release AS SELECT x, 1 AS added FROM records")
    report = sqlmicro.audit("release", db=db, original="records", quasi=("x", "added"), max_linkage=0.5)
    row = next(row for row in report["audits"] if row["check"] == "linkage")
    assert (row["status"], row["reason"]) == ("unknown", "the original does not have added")
    assert report["passed"] is False
    report = sqlmicro.audit("release", db=db, original="records", quasi="x", max_linkage=0.5)
    row = next(row for row in report["audits"] if row["check"] == "linkage")
    assert (row["status"], row["value"], row["truth"]) == ("failed", 1.0, "assumed")
