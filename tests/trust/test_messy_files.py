"""Files as people have them: a decimal comma, postcodes, nothing at all."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from databases import opened
from typer.testing import CliRunner

import sqlmicro
from sqlmicro.cli import app
from sqlmicro.errors import InputError


def scale(report: dict, name: str) -> tuple[str, str]:
    return next((c["scale"], c["scale_reason"]) for c in report["columns"] if c["name"] == name)


def test_a_decimal_comma_is_noticed(tmp_path: Path) -> None:
    """Text such as 0,14341: profile and release say how to read it as numbers."""
    path = tmp_path / "measured.csv"
    lines = [f"0,{14341 + i};{i % 40};1.234,{i:02}" for i in range(90)]
    path.write_text("\n".join(["share;age;amount", *lines]) + "\n")
    report = sqlmicro.profile(str(path), delimiter=";")
    for name in ("share", "amount"):
        assert scale(report, name) == ("nominal", "text that looks like numbers with decimal comma: --decimal ,")
    release = sqlmicro.mdav(
        str(path),
        delimiter=";",
        columns=["age"],
        keep=["share"],
        drop=["amount"],
        k=3,
        to=str(tmp_path / "o.csv"),
        accept_unique=["share"],
    )
    assert any("decimal comma" in note and note.endswith("share") for note in release["notes"])
    read = sqlmicro.profile(str(path), delimiter=";", decimal=",")
    assert next(c["type"] for c in read["columns"] if c["name"] == "share") == "DOUBLE"


def test_postcodes_are_nominal(tmp_path: Path) -> None:
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.execute(
            """CREATE TABLE p AS SELECT 10000 + 7 * i AS plz, 10000 + 7 * i AS "zipCode", 1000 + i AS income,
            printf('%05d', 900 + 7 * i) AS place, CAST(8000000 + i AS BIGINT) AS ags FROM range(100) AS r(i)"""
        )
    report = sqlmicro.profile("p", db=db)
    assert [scale(report, name)[0] for name in ("plz", "zipCode", "ags", "place", "income")] == [
        *["nominal"] * 4,
        "numeric",
    ]
    assert "start with 0" in scale(report, "place")[1]
    release = sqlmicro.mdav("p", db=db, columns=["plz", "income"], rest="drop", k=3, into="out")
    assert any(
        note.startswith("digits that are codes by their name") and note.endswith("plz") for note in release["notes"]
    )


def test_a_file_with_nothing_in_it_is_refused(tmp_path: Path) -> None:
    for name, content in (
        ("zero.csv", b""), ("blank.csv", b" \n\n"), ("mark.csv", b"\xef\xbb\xbf"), ("zero.csv.gz", gzip.compress(b"")),
        ("zero.json", b""),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        done = CliRunner().invoke(app, ["profile", "--table", str(tmp_path / name)])
        assert done.exit_code == 2, name
        assert "there must be something in a file" in done.output
    with pytest.raises(InputError, match="something in a file"):
        sqlmicro.register([str(tmp_path / "zero.csv")], table="t", db=str(tmp_path / "w.duckdb"))
    assert not (tmp_path / "w.duckdb").exists()
    # A header without records is a table without records; an empty part of several is no more than that.
    (tmp_path / "head.csv").write_text("a,b\n")
    assert sqlmicro.profile(str(tmp_path / "head.csv"))["rows"] == 0
    (tmp_path / "part_1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "part_2.csv").write_text("")
    assert sqlmicro.profile(str(tmp_path / "part_*.csv"))["rows"] == 1
