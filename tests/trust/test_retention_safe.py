"""Retention in a table that others write to, and that may be killed: nothing lost, nothing left, no mixture."""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from databases import opened

import sqlmicro
from sqlmicro import verify
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.publish import publish

from .test_series_killed import killed

JOB: dict[str, Any] = {
    "columns": ["age", "pay"], "keep": ["seen"], "accept_unique": ["seen"], "drop": ["name"], "rest": "drop",
    "row_key": ["id"], "k": 3, "in_place": True, "series": "s", "only_where": "seen < current_date", "patience": 0,
}  # fmt: skip


STAGES = ["_lock", "_write_table", "record"]
"""What is called in publishing once the file is open to be written to; until then nobody can write to it."""


def made(folder: Path) -> Path:
    """Make a table of 60 rows, of which 40 have come of age by the first night, and 50 by the second."""
    folder.mkdir(exist_ok=True)
    with duckdb.connect(str(folder / "w.duckdb")) as con:
        con.execute(
            "CREATE TABLE patients AS SELECT i AS id, 20 + i * 7 % 50 AS age, i * 37 % 900 AS pay, "
            "'the name of ' || i || '.' AS name, "
            "DATE '2025-01-01' + CASE WHEN i < 40 THEN -1 WHEN i < 50 THEN 0 ELSE 5 END AS seen FROM range(60) r(i)"
        )
    return folder


def night(folder: Path, number: int, **given: Any) -> dict[str, Any]:
    report: dict[str, Any] = sqlmicro.mdav(
        "patients", db=str(folder / "w.duckdb"), night=f"2025-01-0{number}", **{**JOB, **given}
    )
    return report


def rows(folder: Path) -> list[tuple[Any, ...]]:
    with opened(folder / "w.duckdb", read_only=True) as con:
        found: list[tuple[Any, ...]] = con.execute("FROM patients ORDER BY id").fetchall()
    return found


def state(folder: Path) -> tuple[Any, ...]:
    """Return the table, what the series remembers of which night, and the ledger."""
    db = str(folder / "w.duckdb")
    entries = sqlmicro.ledger(db=db)["releases"]
    return (rows(folder), sqlmicro.series(db=db)["series"], [one["release"] for one in entries],
            all(one["intact"] for one in entries))  # fmt: skip


def test_raw_values_of_anonymized_rows_are_nowhere_in_the_file(tmp_path: Path) -> None:
    folder = made(tmp_path)
    night(folder, 1)
    with opened(folder / "w.duckdb") as con:
        con.execute("DELETE FROM patients WHERE id = 44")
    assert night(folder, 2)["purged"]
    held = b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())
    raw = {row[0] for row in rows(folder) if row[3] is not None}
    assert raw == set(range(50, 60))
    for number in range(60):
        there = b"the name of %d." % number in held
        assert there == (number in raw) or (number in raw and duckdb.__version__ < "2"), number  # 1.5 compresses these


@pytest.mark.slow
def test_a_table_that_is_loaded_anew_every_night_gets_the_same_values_again(tmp_path: Path) -> None:
    folder = made(tmp_path)
    with duckdb.connect(str(folder / "w.duckdb")) as con:
        con.execute("CREATE TABLE loaded AS FROM patients")
    night(folder, 1, no_purge=True)
    first = rows(folder)
    for number in (2, 3):
        with duckdb.connect(str(folder / "w.duckdb")) as con:
            con.execute("DELETE FROM patients; INSERT INTO patients FROM loaded")
        night(folder, number, no_purge=True, only_where="seen < DATE '2025-01-01'")
        assert rows(folder) == first


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("number", [3, 45, 55])
def test_a_write_in_the_night_is_seen_or_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, number: int
) -> None:
    """Of an anonymized row, of one that comes of age tonight, and of one that does not."""
    folder = made(tmp_path)
    night(folder, 1, no_purge=True)
    real, told = getattr(publish, stage), []

    def late(first: Any, *given: Any, **named: Any) -> Any:
        if stage == "_lock":  # somebody has written before the file was ours
            real(first, *given, **named)
        cursor = first._connection.cursor()

        def write() -> None:
            try:
                cursor.execute(f"UPDATE w.patients SET age = 99, name = 'new' WHERE id = {number}")
                told.append("written")
            except duckdb.TransactionException:
                told.append("refused")

        if not told:
            thread = threading.Thread(target=write)
            thread.start()
            thread.join()
        return None if stage == "_lock" else real(first, *given, **named)

    monkeypatch.setattr(publish, stage, late)
    failed = False
    try:
        night(folder, 2, no_purge=True)
    except sqlmicro.InputError as error:
        assert "must not change" in str(error) or "nobody else may write" in str(error)
        failed = True
    monkeypatch.undo()
    now = {row[0]: row for row in rows(folder)}
    assert len(told) == 1
    if failed:
        assert told == ["written"]
        assert (now[number][1], now[number][3]) == (99, "new")
        assert now[46][3] is not None
    else:
        assert told == ["refused"]
        assert now[46][3] is None
    night(folder, 3, no_purge=True)
    now = {row[0]: row for row in rows(folder)}
    assert now[46][3] is None
    if number == 55 and "written" in told:
        assert (now[55][1], now[55][3]) == (99, "new")


@pytest.mark.long
@pytest.mark.slow
def test_a_killed_night_was_made_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    """Killed before every 29th statement, the purge included; WHOLE=1 kills before every one."""
    first, second = made(tmp_path / "first"), tmp_path / "second"
    night(first, 1)
    with duckdb.connect(str(first / "w.duckdb")) as con:
        con.execute("DELETE FROM patients WHERE id % 9 = 0")
        con.execute("UPDATE patients SET age = 44 WHERE id % 7 = 1")
    old = state(first)
    shutil.copytree(first, second)
    night(second, 2)
    new = state(second)
    assert old != new
    found, at, step = [], 1, 1 if "WHOLE" in os.environ else 29
    while True:
        shutil.rmtree(second)
        shutil.copytree(first, second)
        ended = killed(lambda: night(second, 2), at)
        left = state(second)
        assert left in (old, new), at
        found.append(left == new)
        if os.WIFEXITED(ended):
            break
        if len(found) % 2:
            night(second, 2)
            assert rows(second) == new[0], "the night is made again as it would have been, or changes nothing"
        at += step
    assert found == sorted(found)
    assert len(found) > 10
    assert found[-1]
    assert not found[0]


@pytest.mark.slow
def test_who_has_the_series_audits_what_it_anonymized_and_nothing_else(tmp_path: Path) -> None:
    folder = made(tmp_path)
    night(folder, 1)
    night(folder, 2)
    with opened(
        folder / "w.duckdb"
    ) as con:  # a row of the table that nobody promised anything of any more, and two macros
        con.execute("UPDATE patients SET age = 99 WHERE id = 3")
        con.execute("CREATE MACRO hash(x) AS 1; CREATE MACRO count(x) AS 7")
    asked: dict[str, Any] = {"db": str(folder / "w.duckdb"), "table": "patients", "quasi": ["age", "pay"]}
    (own,) = (one for one in sqlmicro.audit(**asked, of_series="s")["audits"] if one["check"] == "k-anonymity")
    held = [(row[1], row[2]) for row in rows(folder) if row[3] is None and row[0] != 3]
    assert own["value"] == min(held.count(one) for one in held)
    report = sqlmicro.audit(**asked, of_series="s")
    assert report["notes"][0].startswith(f"{len(held)} rows of the table are anonymized; {60 - len(held)} others")
    (whole,) = (one for one in sqlmicro.audit(**asked)["audits"] if one["check"] == "k-anonymity")
    assert whole["value"] == 1  # the table has raw rows, too
    with pytest.raises(InputError, match="This table has s"):
        sqlmicro.audit(**asked, of_series="another")
    with pytest.raises(InputError, match=r"has no such series.*--only-where CONDITION --in-place"):
        with opened(folder / "w.duckdb") as con:
            con.execute("CREATE TABLE copied AS FROM patients")
        sqlmicro.audit(**{**asked, "table": "copied"}, of_series="s")


def test_another_secret_does_not_say_which_rows_are_anonymized(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = made(tmp_path)
    night(folder, 1)
    monkeypatch.setenv("SQLMICRO_SECRET", "0" * 64)
    with pytest.raises(InputError, match="the secret by which its rows are known again"):
        sqlmicro.audit(db=str(folder / "w.duckdb"), table="patients", quasi=["age"], of_series="s")


@pytest.mark.slow
def test_a_certificate_is_of_the_anonymized_rows_in_a_file_of_their_own(tmp_path: Path) -> None:
    folder = made(tmp_path)
    night(folder, 1)
    db, to, file = str(folder / "w.duckdb"), str(folder / "c.json"), folder / "rows.parquet"
    with pytest.raises(InputError, match="Give --rows-to"):
        sqlmicro.certify("patients", db=db, to=to, unsigned=True)
    assert not Path(to).exists()
    told = sqlmicro.certify("patients", db=db, to=to, unsigned=True, rows_to=str(file))["certificate"]
    written = [tuple(row.values()) for row in pq.read_table(file).to_pylist()]
    assert sorted(written) == sorted((*row[1:3], row[4]) for row in rows(folder) if row[3] is None)
    assert written == sorted(written)  # an order that tells of no key
    lines = verify.check(file, verify.certificate(Path(to).read_text()))
    assert any("3 was promised" in line for line in lines)
    assert "60" not in json.dumps(told["release"]) and told["release"]["rows"] == len(written)
    with opened(folder / "w.duckdb") as con:
        con.execute("DELETE FROM patients WHERE id = 7")
    with pytest.raises(InputError, match="run another night"):
        sqlmicro.certify("patients", db=db, to=to, unsigned=True, rows_to=str(file), overwrite=True)
    night(folder, 2)
    told = sqlmicro.certify("patients", db=db, to=to, unsigned=True, rows_to=str(file), overwrite=True)
    assert told["certificate"]["ledger"]["release"] == 2
    with pytest.raises(ParameterError, match="goes with a release that is some rows"):
        sqlmicro.mdav("patients", db=db, columns=["age"], rest="drop", k=3, into="out", rows_are_persons=True,
                      alone_because="a test")  # fmt: skip
        sqlmicro.certify("out", db=db, to=to, unsigned=True, rows_to=str(file), overwrite=True)


def test_rows_are_anonymized_once_and_go_on_as_a_series_only(tmp_path: Path) -> None:
    folder = made(tmp_path)
    with opened(folder / "w.duckdb") as con:
        con.execute('ALTER TABLE patients RENAME age TO "net ""income"""')
        con.execute("UPDATE patients SET pay = NULL WHERE id IN (2, 44); CREATE MACRO avg(x) AS 1")
    given: dict[str, Any] = {"series": None, "columns": ['net "income"', "pay"], "nulls": "keep", "no_purge": True}
    before = {row[0]: row for row in rows(folder)}
    report = night(folder, 1, **given)
    assert report["series"]["name"] == "patients" and report["series"]["raw"] == 20
    once = {row[0]: row for row in rows(folder)}
    assert all(once[one] == before[one] for one in range(40, 60)), "what has not come of age stays as it is"
    held = [once[one][1:3] for one in range(40) if once[one][3] is None]
    assert len(held) + report["series"]["withheld"] + (report["series"]["emptied"] or 0) == 40 and len(held) > 30
    assert min(held.count(one) for one in held) >= 3
    with pytest.raises(InputError, match="Continue it with --series patients"):
        night(folder, 2, **given)
    assert {row[0]: row for row in rows(folder)} == once
    night(folder, 2, **{**given, "series": "patients"})
    now = [row for row in rows(folder) if row[3] is None]
    assert {row[0] for row in now} > {one for one in range(40) if once[one][3] is None}
    assert min([row[1:3] for row in now].count(row[1:3]) for row in now) >= 3


def test_a_series_that_happens_to_be_called_as_the_table_is_not_gone_on_with(tmp_path: Path) -> None:
    folder = made(tmp_path)
    db, before = str(folder / "w.duckdb"), rows(folder)
    sqlmicro.mdav("patients", db=db, columns=["age"], rest="drop", k=3, into="out", row_key=["id"], series="patients",
                  rows_are_persons=True, night="2025-01-01")  # fmt: skip
    with pytest.raises(InputError, match="Give --series NAME"):
        night(folder, 2, series=None)
    assert rows(folder) == before
