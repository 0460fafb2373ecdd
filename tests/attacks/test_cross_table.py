"""The cross-table attack: persons found by the pattern of their rows, against plain Python and planted patterns."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import insert, opened

import sqlmicro

JOB = """
db = "w.duckdb"
key_file = "secret"
join_depth = 0
max_cross_table = LIMIT

[[table]]
name = "persons"
rows_are_persons = true
[[table.step]]
do = "constant"
columns = ["constant"]
[[table.step]]
do = "publish"

[[table]]
name = "visits"
person = ["patient"]
keep = ["net \\"income\\"", "ward"]
accept_unique = ["net \\"income\\"", "ward"]
[[table.step]]
do = "constant"
columns = ["constant"]
[[table.step]]
do = "publish"

[[key]]
from = "visits.patient"
to = "persons.id"
"""


def made(folder: Path, visits: list[tuple[Any, ...]], persons: int, limit: float = 1, **changes: str) -> Any:
    """Release visits (patient, income, ward) of persons, and return the report of a dry run."""
    (folder / "secret").write_bytes(os.urandom(32))
    (folder / "w.duckdb").unlink(missing_ok=True)
    with opened(folder / "w.duckdb") as connection:
        connection.execute("CREATE TABLE persons AS SELECT i AS id, 'x' AS constant FROM range(?) r(i)", [persons])
        connection.execute(
            'CREATE TABLE visits (patient INTEGER, "net ""income""" DOUBLE, ward VARCHAR, constant VARCHAR)'
        )
        insert(connection, "visits", [(*visit, "x") for visit in visits])
    text = JOB.replace("LIMIT", str(limit))
    for old, new in changes.items():
        text = text.replace(old, new)
    (folder / "job.toml").write_text(text)
    return sqlmicro.run(str(folder / "job.toml"))


def rates(report: Any) -> dict[tuple[str, ...], float]:
    return {
        tuple(check["columns"]): check["value"]
        for table in report["tables"] for check in table["audits"] if check["check"] == "cross-table"
    }  # fmt: skip


@pytest.mark.slow
def test_one_row_that_nobody_else_has_is_enough(tmp_path: Path) -> None:
    """Every person has three visits of its own income; the table of persons tells nothing of them."""
    found = rates(made(tmp_path, [(i // 3, i * 10, "a") for i in range(60)], 20))
    assert found[("visits", "1 row")] == found[("visits", "3 rows")] == 1
    assert found[("persons", "1 row")] == pytest.approx(1 / 20)
    assert found[("persons", "visits", "1 row")] == 1


def test_rows_that_are_all_alike_tell_nothing_but_how_many_they_are(tmp_path: Path) -> None:
    """One, two or three visits of 12 persons each: whoever knows how many, chooses among 12."""
    visits = [(i, 5, "a") for i in range(36) for _ in range(i % 3 + 1)]
    found = rates(made(tmp_path, visits, 36))
    assert found[("visits", "1 row")] == found[("visits", "3 rows")] == pytest.approx(1 / 36)
    assert found[("visits", "all rows, and how many")] == pytest.approx(1 / 12)


def test_two_rows_single_out_whom_one_does_not(tmp_path: Path) -> None:
    """25 persons with two wards each, of 10: every ward is that of 5 persons, every pair that of one."""
    visits = [row for i in range(25) for row in ((i, 0, f"first {i // 5}"), (i, 0, f"second {i % 5}"))]
    report = made(tmp_path, visits, 25)
    found = rates(report)
    assert found[("visits", "1 row")] == pytest.approx(0.2)
    assert found[("visits", "2 rows")] == 1
    (row,) = (check for table in report["tables"] for check in table["audits"] if check["columns"][1:] == ["2 rows"])
    assert (row["chance"], row["n"], row["rows"], row["threshold"], row["passed"]) == (1 / 25, 25, 2, 1, True)
    assert row["ci"][0] == pytest.approx(1 / (1 + 1.959963984540054**2 / 25))


@pytest.mark.slow
def test_what_is_found_is_held_to_the_limit(tmp_path: Path) -> None:
    visits = [(i // 3, i * 10, "a") for i in range(60)]
    with pytest.raises(sqlmicro.AuditFailed, match=r"cross-table \(.*visits.*\) is 1, needed at most 0.5") as caught:
        made(tmp_path, visits, 20, 0.5)
    assert caught.value.exit_code == 1
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(2,)]
    made(tmp_path, [(i // 3, 0, "a") for i in range(60)], 20, 0.5)
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        recorded = """SELECT value, threshold, passed FROM sqlmicro.audits WHERE starts_with("check", 'cross-table')"""
        assert {row[1:] for row in connection.execute(recorded).fetchall()} == {(0.5, True)}


def test_a_table_alone_with_pseudonyms(tmp_path: Path) -> None:
    """The rows of a person are told by their pseudonym, with no table of persons beside them."""
    alone = {'[[key]]\nfrom = "visits.patient"\nto = "persons.id"\n': "",
             'keep = ["net': 'drop = []\nkeep = ["net',
             '"ward"]\n[[table.step]]': '"ward"]\n[[table.step]]\n'
             'do = "pseudonymise"\nkey_file = "secret"\ncolumns = ["patient"]\n[[table.step]]',
             'rows_are_persons = true': 'rows_are_persons = true\ndrop = ["id"]'}  # fmt: skip
    found = rates(made(tmp_path, [(i // 3, i * 10, "a") for i in range(60)], 20, **alone))
    assert found[("visits", "1 row")] == 1
    assert all("persons" not in names for names in found)


@pytest.mark.slow
def test_rows_of_nobody_and_one_row_in_all(tmp_path: Path) -> None:
    found = rates(made(tmp_path, [(None, 1, "a"), (0, None, None)], 1))
    assert found[("visits", "1 row")] == 1
    assert rates(made(tmp_path, [(None, 1, "a"), (None, 2, "b")], 3)) == {("persons", "1 row"): pytest.approx(1 / 3)}


def nearest(visits: list[tuple[int, float, str]], persons: int) -> float:
    """Return the rate of somebody who knows all rows of a person and how many there are, in plain Python."""
    incomes = [income for _, income, _ in visits]
    mean = sum(incomes) / len(incomes)
    variance = sum((income - mean) ** 2 for income in incomes) / (len(incomes) - 1)
    rows: dict[int, list[tuple[float, str]]] = {}
    for person, income, ward in visits:
        rows.setdefault(person, []).append((income, ward))
    counts = [len(own) for own in rows.values()]
    spread = sum((count - sum(counts) / len(counts)) ** 2 for count in counts) / len(counts)

    def far(mine: list[tuple[float, str]], theirs: list[tuple[float, str]]) -> float:
        least = [
            min(((x - y) ** 2 / variance if variance else 0) + (ward != other) for y, other in theirs)
            for x, ward in mine
        ]
        return sum(least) / len(least) + ((len(mine) - len(theirs)) ** 2 / spread if spread else 0)

    hits = 0.0
    for person, mine in rows.items():
        away = {other: far(mine, theirs) for other, theirs in rows.items()}
        ties = [other for other, distance in away.items() if distance <= min(away.values()) + 1e-9]
        hits += (person in ties) / len(ties)
    return hits / len(rows)


def test_against_plain_python(tmp_path: Path) -> None:
    random.seed(16)
    for persons in (4, 15):
        visits = [
            (random.randrange(persons), float(random.choice([0, 1, 5])), random.choice("ab"))
            for _ in range(3 * persons)
        ]
        found = rates(made(tmp_path, visits, persons))
        assert found[("visits", "all rows, and how many")] == pytest.approx(nearest(visits, persons))
