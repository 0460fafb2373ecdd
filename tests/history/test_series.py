"""Series of releases: every situation of a nightly job, and what an outsider finds in all nights together."""

from __future__ import annotations

import datetime
import os
import random
import shutil
import time
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
import world
from command import run as command
from world import FIRST, ODD, QUOTED, execute
from world import counted as released

import sqlmicro
from sqlmicro.errors import AuditFailed, InputError, ParameterError, demand
from sqlmicro.history import remembered, seats
from sqlmicro.jobs.plan import drafted
from sqlmicro.jobs.steps import one_step
from sqlmicro.options.common import MethodOptions
from sqlmicro.registry import find
from sqlmicro.spark import engine
from sqlmicro.system.progress import Progress

GIVEN: dict[str, Any] = {
    "columns": ["age", ODD], "rest": "drop", "row_key": ["id"], "k": 4, "nulls": "keep", "into": "out",
    "overwrite": True, "series": "persons nightly",
}  # fmt: skip
Released = Counter[tuple[Any, ...]]


@pytest.fixture
def db(tmp_path: Path) -> str:
    return make(tmp_path / "w.duckdb", 60)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Publish the first night once, for all tests that go on from there."""
    db = make(tmp_path_factory.mktemp("series") / "w.duckdb", 60)
    night(db, 1)
    return db


@pytest.fixture
def begun(first: str, tmp_path: Path) -> str:
    return str(shutil.copy(first, tmp_path / "w.duckdb"))


def make(path: Path, rows: int, seed: int = 1) -> str:
    """Make persons, some of whom have no income."""
    draw = random.Random(seed)
    texts = [
        f"({i}, {draw.randrange(18, 90)}, {draw.choice(['NULL', *map(str, range(1000, 4000, 7))])}, "
        f"'{draw.choice('fm')}', DATE '1990-01-01' + {draw.randrange(3000)})"
        for i in range(rows)
    ]
    execute(str(path), f"CREATE TABLE persons(id INTEGER, age INTEGER, {QUOTED} DOUBLE, sex VARCHAR, born DATE)",
            f"INSERT INTO persons VALUES {', '.join(texts)}")  # fmt: skip
    return str(path)


def night(db: str, number: int, table: str = "persons", method: str = "mdav", **more: Any) -> dict[str, Any]:
    return world.night(method, db, number, table, **{**GIVEN, **more})


def smallest_step(nights: list[Released]) -> int:
    """Return by how few rows a combination differs between any two nights; what an outsider counts."""
    steps = [
        abs(a[one] - b[one]) for at, a in enumerate(nights) for b in nights[:at] for one in {*a, *b} if a[one] != b[one]
    ]
    return min(steps, default=10**9)


def checks(report: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {
        row["check"]: (row["value"], row["passed"]) for row in report["audits"] if row["check"].startswith("series")
    }


@pytest.mark.slow
def test_one_new_person_among_4950_changes_nothing_that_anybody_sees(tmp_path: Path) -> None:
    """The totals of two independent releases would differ by exactly her record."""
    db = make(tmp_path / "w.duckdb", 4950)
    night(db, 1, k=5)
    before = released(db)
    execute(db, "INSERT INTO persons VALUES (9999, 90, 9e6, 'f', NULL)")
    report = night(db, 2, k=5)
    assert (report["series"]["withheld"], report["series"]["night"], report["suppressed"]) == (1, 2, 1)
    assert released(db) == before
    assert report["verdict"]["headline"] == "k = 5 held, as night 2 of series persons nightly"


@pytest.mark.slow
def test_the_same_night_again_is_the_same_release_and_nothing_advances(begun: str) -> None:
    db = begun
    execute(db, "DELETE FROM persons WHERE id < 5",
            "INSERT INTO persons SELECT 100 + i, 40, 2000, 'f', NULL FROM range(9) r(i)")  # fmt: skip
    night(db, 2)
    first = execute(db, "FROM out", "SELECT * EXCLUDE (release) FROM sqlmicro.series")
    seats_before = execute(db, "FROM sqlmicro.series_seats WHERE release = 2 ORDER BY who")
    report = night(db, 2)
    again = execute(db, "FROM out", "SELECT * EXCLUDE (release) FROM sqlmicro.series")
    assert again[0] == first[0]
    assert (report["series"]["opened"], report["series"]["closed"], report["series"]["night"]) == (0, 0, 2)
    assert execute(db, "SELECT count(*) FROM sqlmicro.series_seats WHERE release = 3") == [[(0,)]]
    assert execute(db, "FROM sqlmicro.series_seats WHERE release = 2 ORDER BY who") == seats_before
    with pytest.raises(InputError, match="nights are published in their order"):
        night(db, 1)


@pytest.mark.slow
def test_missed_nights_late_rows_corrections_and_deletions_are_ordinary(begun: str) -> None:
    db, nights = begun, [released(begun)]
    for number, change in (
        (2, "DELETE FROM persons WHERE id IN (3, 17)"),
        (6, f"UPDATE persons SET {QUOTED} = 1e7, age = 20 WHERE id = 8"),  # three nights missed, one record corrected
        (7, "INSERT INTO persons SELECT 200 + i, 30 + i, 1500, 'm', NULL FROM range(4) r(i)"),
        (8, "INSERT INTO persons SELECT 3, 50, 1800, 'f', NULL"),  # a row that comes late, of somebody who was deleted
        (20, "DELETE FROM persons WHERE id % 5 = 0"),
    ):
        execute(db, change)
        report = night(db, number, max_loss_of_rows=0.25)
        assert report["verdict"]["status"] == "held"
        assert all(passed for _, passed in checks(report).values())
        nights.append(released(db))
        rows = sum(nights[-1].values())
        assert rows == report["rows"] == report["rows_in"] - report["series"]["withheld"] + report["series"]["empty"]
    assert smallest_step(nights) >= 4
    assert all(size >= 4 for one in nights for size in one.values())


@pytest.mark.slow_but("SELECT 1-more2-another columns")
@pytest.mark.parametrize(
    ("change", "more", "got"),
    [
        ("ALTER TABLE persons ALTER age TYPE BIGINT", {}, "columns of another type"),
        ("SELECT 1", {"k": 5}, "another k"),
        ("SELECT 1", {"columns": ["age"]}, "another columns"),
        ("SELECT 1", {"moves": True}, "another moves"),
        ("ALTER TABLE persons RENAME TO people", {"table": "people"}, "another one"),
        ("SELECT 1", {"method": "v_mdav"}, r"another .*method"),
        ("UPDATE sqlmicro.series SET release = 7", {}, "release 7, where the ledger has release 1"),
    ],
)
def test_what_has_changed_needs_a_new_epoch(begun: str, change: str, more: dict[str, Any], got: str) -> None:
    db = begun
    before = execute(db, "FROM out")
    execute(db, change)
    with pytest.raises(InputError, match=got) as no:
        night(db, 2, **more)
    assert "--epoch" in str(no.value)
    assert execute(db, "FROM out") == before
    if more and "k" not in more:
        return
    report = night(db, 2, epoch=True, **more)
    assert (report["series"]["epoch"], report["series"]["night"]) == (2, 1)
    assert "keeps nothing together with its earlier epochs" in report["verdict"]["headline"]
    assert night(db, 2, **more)["series"]["epoch"] == 2, "it goes on"


@pytest.mark.slow
def test_the_first_night_of_an_epoch_is_measured_with_the_last_of_the_one_before(db: str, tmp_path: Path) -> None:
    files = {"into": None, "overwrite": False}
    night(db, 1, to=str(tmp_path / "1.parquet"), **files)
    execute(db, "DELETE FROM persons WHERE id IN (1, 2)")
    night(db, 2, to=str(tmp_path / "2.parquet"), **files)  # both are out, and nothing is measured
    execute(db, "DELETE FROM persons WHERE id IN (7, 9)")
    with pytest.raises(AuditFailed, match="share their classes with fewer than 4, together with release 2"):
        night(db, 3, to=str(tmp_path / "3.parquet"), epoch=True, **files)
    report = night(db, 3, to=str(tmp_path / "3.parquet"), epoch=True, alone_because="agreed", **files)
    assert report["verdict"]["status"] == "lowered"
    assert [one["epoch"] for one in sqlmicro.ledger(db=db)["releases"]] == [1, 1, 2]


@pytest.mark.slow
def test_a_release_beside_a_series_is_measured_with_its_last_night(begun: str) -> None:
    db = begun
    execute(db, "DELETE FROM persons WHERE id = 5")
    night(db, 2)
    one_off = {**GIVEN, "series": None, "into": "other"}
    with pytest.raises(AuditFailed, match=r"together with release 2 \(out\)"):
        sqlmicro.mdav("persons", db=db, **one_off)
    assert execute(db, "SELECT DISTINCT release FROM sqlmicro.memory ORDER BY 1") == [[(2,)]]
    night(db, 3)
    assert execute(db, "SELECT DISTINCT release FROM sqlmicro.memory ORDER BY 1") == [[(3,)]]


@pytest.mark.slow
def test_a_series_that_was_forgotten_begins_anew_or_not_at_all(begun: str) -> None:
    db = begun
    (row,) = sqlmicro.series(db=db)["series"]
    told = [row[name] for name in ("series", "persons", "waiting", "empty", "nights")]
    assert told == ["persons nightly", 60, 0, 0, 1]
    with pytest.raises(InputError, match="names a series"):
        sqlmicro.series("forget", "another", db=db)
    with pytest.raises(ParameterError, match="takes the name"):
        sqlmicro.series("forget", db=db)
    assert sqlmicro.series("forget", "persons nightly", db=db)["series"] == []
    tables = ("series", *(f"series_{name}" for name in ("seats", "classes", "values", "sensitive", "texts", "rows")))
    assert execute(db, *(f"SELECT count(*) FROM sqlmicro.{table}" for table in tables)) == [[(0,)]] * 7
    with pytest.raises(InputError, match="must remember its nights"):
        night(db, 2)
    assert night(db, 2, epoch=True)["series"]["epoch"] == 2
    assert command("series", "--db", db).stdout.splitlines()[1].split() == [
        "persons", "nightly", '"main"."persons"', "out", "2", "1", "2026-01-02", "60", "0", "0"
    ]  # fmt: skip


@pytest.mark.slow
def test_a_person_is_erased_by_her_row_key(begun: str) -> None:
    db = begun
    with pytest.raises(InputError, match="not in the table of the last night"):
        sqlmicro.series("forget", "persons nightly", row_key_value="7", db=db)
    execute(db, "DELETE FROM persons WHERE id = 7")
    night(db, 2)
    before, persons = released(db), "SELECT count(DISTINCT who) FROM sqlmicro.series_seats"
    assert execute(db, persons) == [[(60,)]]
    with pytest.raises(ParameterError, match="one value for each column of the row key: id"):
        sqlmicro.series("forget", "persons nightly", row_key_value=["7", "8"], db=db)
    sqlmicro.series("forget", "persons nightly", row_key_value=["7"], db=db)
    assert execute(db, persons) == [[(59,)]]
    with pytest.raises(InputError, match="nobody of that key") as no:
        sqlmicro.series("forget", "persons nightly", row_key_value=["7"], db=db)
    assert "7" not in str(no.value)
    assert (night(db, 3)["series"]["empty"], released(db)) == (1, before)


@pytest.mark.slow
def test_a_backup_that_is_restored_as_a_whole_goes_on(begun: str, tmp_path: Path) -> None:
    db = begun
    shutil.copy(db, tmp_path / "backup.duckdb")
    execute(db, "DELETE FROM persons WHERE id < 9")
    second = night(db, 2) and released(db)
    shutil.copy(tmp_path / "backup.duckdb", db)
    execute(db, "DELETE FROM persons WHERE id < 9")
    night(db, 2)
    assert released(db) == second, "the same night tells nothing new"


@pytest.mark.slow_but("more2---person")
@pytest.mark.parametrize(
    ("more", "got"),
    [
        ({"row_key": ()}, "needs --row-key"),
        ({"row_key": (), "person": ["id"]}, "needs --row-key"),
        ({"person": ["id"], "moves": True}, "nobody moves. Got --person with --moves"),
        ({"household": ["id"], "moves": True}, "counts households .* nobody moves"),
        ({"household": ["id"], "person": ["born"]}, "who moves to another household"),
        ({"person": ["id"], "of_person": ["age"]}, "gives every record a class of its own"),
        ({"into": None, "overwrite": False, "in_place": True}, "--in-place"),
        ({"keep": ["born"], "sensitive": ["sex"], "min_l": 2}, "nothing as it is beside a limit.*--by or --sensitive"),
        ({"keep": ["id"], "identifier_ok": ["id"], "accept_unique": ["id"]}, "is never released"),
        ({"nulls": "pattern", "moves": True}, "who lost a value, so that k lack the same, would move"),
        ({"block_attributes": f"age;{QUOTED}"}, "groups whole records"),
        ({"sensitive": ["sex"], "max_t": 0.5}, "whole table, which changes while the class stays. Got --max-t"),
        ({"sensitive": ["sex"], "min_entropy_l": 1.5}, "keeps k and --min-l"),
        ({"night": "yesterday"}, "must be a date"),
        ({"series": " "}, "the name of a series"),
        ({"series": None, "night": None, "moves": True}, "goes with a series"),
    ],
)
def test_what_cannot_be_a_night_is_refused(db: str, more: dict[str, Any], got: str) -> None:
    with pytest.raises(ParameterError, match=got):
        night(db, 1, **more)
    assert execute(db, "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('out', 'series')") == [[(0,)]]


def test_other_methods_are_told_which_can(db: str) -> None:
    can = r"who these are changes.*makes classes of records: .*mdav.*k-ward.*mondrian.*noise"
    with pytest.raises(ParameterError, match=can):
        sqlmicro.shuffle("persons", db=db, columns=["sex"], row_key=["id"], rest="drop", series="s")
    with pytest.raises(ParameterError, match=r"means of a class.*--representative median"):
        sqlmicro.single_axis("persons", **{**GIVEN, "db": db, "columns": ["age"], "representative": "median"})


def test_without_a_lasting_secret_there_is_no_series(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/dev/null")
    monkeypatch.delenv("SQLMICRO_SECRET", raising=False)
    done = command("mdav", "--db", db, "--table", "persons", "--columns", "age", "--rest", "drop", "--row-key", "id",
                   "--series", "s")  # fmt: skip
    assert (done.returncode, "needs a secret that lasts" in " ".join(done.stderr.split())) == (2, True)


@pytest.mark.parametrize("series", [None, "s"])
def test_spark_has_no_series(tmp_path: Path, series: str | None) -> None:
    given = MethodOptions(
        table="a.parquet", columns=("age",), rest="drop", to=str(tmp_path / "out"), engine="spark",
        settings={"k": 3}, series=series,
    )  # fmt: skip
    plans = [drafted(one_step(find("mdav"), given, Progress(enabled=False)))]
    if series is None:
        demand(engine.needs(plans))  # what belongs to a series has no value of its own
        return
    with pytest.raises(ParameterError, match="Got --series"):
        demand(engine.needs(plans))


def test_a_dry_run_remembers_nothing(db: str) -> None:
    report = night(db, 1, dry_run=True)
    assert (report["series"]["night"], report["verdict"]["status"]) == (1, "held")
    assert execute(db, "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'sqlmicro'") == [[(0,)]]


@pytest.mark.slow_but("True-individual_ranking")
@pytest.mark.parametrize("method", ["mdav", "individual_ranking"])
@pytest.mark.parametrize("ledger", [True, False])
def test_files_are_remembered_in_a_ledger_of_their_own(db: str, tmp_path: Path, method: str, *, ledger: bool) -> None:
    rows, nights = tmp_path / "persons_2026.csv", []
    more: dict[str, Any] = {"ledger": str(tmp_path / "ledger.duckdb")} if ledger else {}
    for number in (1, 2):
        execute(db, f"DELETE FROM persons WHERE id % 17 = {number}", f"COPY persons TO '{rows}'")
        to = tmp_path / f"{number}.parquet"
        given = {**GIVEN, "into": None, "night": f"2026-01-0{number}", "to": str(to), **more}
        assert getattr(sqlmicro, method)(str(rows), **given)["series"]["night"] == number
        nights.append(Counter(duckdb.execute(f"FROM '{to}'").fetchall()))
    assert smallest_step(nights) >= 4 and (method == "mdav" or nights[0] == nights[1])
    assert method != "mdav" or sum(nights[1].values()) == 56
    if ledger:
        assert [one["nights"] for one in sqlmicro.series(db=more["ledger"])["series"]] == [2]


@pytest.mark.slow
def test_csv_files_beside_a_database_are_counted_in_the_types_of_the_release(db: str, tmp_path: Path) -> None:
    for number in (1, 2):
        night(db, number, into=None, to=str(tmp_path / "out.csv"), columns=["age", ODD, "born"])
        execute(db, "DELETE FROM persons WHERE id < 6")
    assert execute(db, "SELECT count(*) FROM sqlmicro.series_rows WHERE release > 1") == [[(0,)]]


@pytest.mark.parametrize(
    ("change", "failed"),
    [
        ("UPDATE sqlmicro.series_rows SET rows = rows + 1", "series-rows is 1, needed at least 4"),
        ("UPDATE sqlmicro.series_classes SET size = size + 1", "series-rows is 1"),
    ],
)
def test_what_the_audits_of_a_series_find_is_not_published(
    begun: str, change: str, failed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do not trust what is remembered, even where nobody is seen to have changed it."""
    monkeypatch.setattr(remembered, "digest", lambda *_: "the same")
    monkeypatch.setattr(remembered, "sealed", lambda *_: "the same")
    db = begun
    execute(db, "UPDATE sqlmicro.series SET digest = 'the same'")
    before = execute(db, "FROM out")
    execute(db, change)
    with pytest.raises(AuditFailed, match=failed):
        night(db, 2, alone_because="nobody cares")
    assert execute(db, "FROM out", "SELECT max(id) FROM sqlmicro.releases") == [before[0], [(1,)]]


@pytest.mark.slow_but("DELETE FROM sqlmicro.series_seats")
@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM sqlmicro.series_seats",
        "DELETE FROM sqlmicro.series_classes WHERE class = 2",
        "UPDATE sqlmicro.series_values SET value = 'abc'",
        "UPDATE sqlmicro.series_rows SET rows = rows + 4",
        "DROP TABLE sqlmicro.series_values",
        "UPDATE sqlmicro.series SET day = day - 9",
        "UPDATE sqlmicro.series SET scales = 'abc', settings = 'abc'",
        "UPDATE sqlmicro.series SET scales = '[{}]', epoch = NULL, first = NULL, day = NULL",
    ],
)
def test_what_somebody_has_changed_is_not_gone_on_with(begun: str, change: str) -> None:
    db = begun
    execute(db, change)
    with pytest.raises(InputError, match="must be as it was written"):
        night(db, 2)
    with pytest.raises(InputError, match="must be as it was written"):
        sqlmicro.series("forget", "persons nightly", row_key_value="7", db=db)
    assert [one["changed"] for one in sqlmicro.series(db=db)["series"]] == [True]


@pytest.mark.slow
def test_what_somebody_has_changed_is_said_and_an_epoch_begins_anew(begun: str) -> None:
    db = begun
    execute(db, "UPDATE sqlmicro.series SET scales = '[{}]', epoch = NULL, first = NULL, day = NULL")
    assert "changed by somebody" in command("series", "--db", db).stdout
    assert night(db, 2, epoch=True)["series"]["epoch"] == 2


@pytest.mark.slow
def test_who_changes_stratum_is_still_published_in_that_of_her_class(db: str) -> None:
    night(db, 1, by=["sex"])
    before = released(db)
    execute(db, "UPDATE persons SET sex = CASE sex WHEN 'f' THEN 'm' ELSE 'f' END WHERE id < 9")
    night(db, 2, by=["sex"])
    assert released(db) == before


@pytest.mark.parametrize("method", ["mdav", pytest.param("suppress", marks=pytest.mark.slow)])
def test_a_column_that_is_kept_stays_with_its_seat(db: str, method: str) -> None:
    """Who leaves, or gets another value, leaves it on her seat; who takes the seat has the same."""
    settings: dict[str, Any] = {"columns": ["age"], "keep": ["sex"], "patience": 0, "rows_are_persons": True}
    settings |= {"nulls": None} if method == "suppress" else {}

    def next_night(number: int) -> tuple[Counter[Any], Counter[Any]]:
        told = night(db, number, method=method, **settings)
        rows = Counter(execute(db, "SELECT age, sex FROM out")[0])
        assert rows.total() == told["rows"] and min(Counter(age for age, _ in rows.elements()).values()) >= 4
        return rows, Counter(sex for _, sex in rows.elements())

    first, kept = next_night(1)
    assert kept == Counter(sex for (sex,) in execute(db, "SELECT sex FROM persons")[0])
    women = kept["f"]
    execute(db, "DELETE FROM persons WHERE sex = 'f' AND id < 10", "UPDATE persons SET sex = 'f' WHERE id = 59")
    assert next_night(2)[0] == first
    execute(db, "INSERT INTO persons SELECT 100 + i, 30 + i, NULL, 'm', NULL FROM range(3) r(i)")
    assert next_night(3)[0] == first, "no seat of a man is free, and three open no class"
    execute(db, "INSERT INTO persons SELECT 200 + i, 40, NULL, 'd', NULL FROM range(4) r(i)")
    last, kept = next_night(4)
    assert first <= last and kept["d"] == 4 and kept["f"] == women, "who came fills a seat, or opens a class"


@pytest.mark.parametrize("unit", ["person", "household"])
def test_a_series_counts_persons_with_many_rows(tmp_path: Path, unit: str) -> None:
    """Every class opens with a row each of k units, whose mean it has; no mean is about fewer, nor a difference."""
    db = str(tmp_path / "w.duckdb")
    visits = "SELECT i AS id, i % {0} AS patient, pow(2, i) AS cost, 20 + i % {0} AS age FROM range({1}, {2}) r(i)"
    settings: dict[str, Any] = {unit: ["patient"], "patience": 0, "rows_are_persons": unit == "household"}
    nights: list[Counter[float]] = []
    for change in (
        f"CREATE TABLE visits AS {visits.format(30, 0, 40)}", "DELETE FROM visits WHERE id % 7 = 0",
        f"INSERT INTO visits {visits.format(45, 40, 52)}",
    ):  # fmt: skip
        execute(db, change)
        told = night(db, len(nights) + 1, "visits", columns=["cost", "age"], **settings)
        nights.append(Counter(cost for (cost,) in execute(db, "SELECT cost FROM out")[0]))
        assert min(nights[-1].values()) >= 4 and told["rows"] == nights[-1].total()
        checks = {check["check"]: check["value"] for check in told["audits"]}
        if len(nights) == 1:
            assert told["series"]["withheld"] == 0 and checks["series-founders"] == 4
            assert checks["series-founded-before"] == 2, "of four"
    founders = [
        {bit % 30 if bit < 40 else bit % 45 for bit in range(52) if int(4 * mean) >> bit & 1}
        for mean in {one for night in nights for one in night}
    ]
    assert len(founders) >= 5 and all(len(own) == 4 for own in founders)
    table = np.array([[patient in own for patient in range(45)] for own in founders], float)
    assert np.linalg.matrix_rank(table) == len(founders)
    for some in combinations(sorted(set().union(*founders)), 3):
        assert np.linalg.matrix_rank(np.delete(table, some, 1)) == len(founders)


def test_a_release_beside_a_series_of_persons_is_measured_in_persons(tmp_path: Path) -> None:
    """Everybody has other classes in both; a patient who has left is erased by each of her visits."""
    db = str(tmp_path / "w.duckdb")
    execute(db, "CREATE TABLE visits AS SELECT i AS id, i % 30 AS patient, (i * 37) % 101 AS age FROM range(90) r(i)")
    settings = {"db": db, "columns": ["age"], "rest": "drop", "k": 3, "person": ["patient"]}
    series = {**settings, "row_key": ["id"], "into": "out", "overwrite": True, "series": "s"}
    told = sqlmicro.mdav("visits", **series, night="2026-01-01")
    assert any("rows of 3 persons (patient)" in note for note in told["notes"]) and told["k"] >= 3
    printed = command("mdav", "--db", db, "--table", "visits", "--columns", "age", "--rest", "drop", "--k", "3",
                      "--person", "patient", "--row-key", "id", "--into", "out", "--overwrite", "--series", "s",
                      "--night", "2026-01-01")  # fmt: skip
    assert "every class opened with rows of 3 persons (patient)" in " ".join(printed.stdout.split())
    with pytest.raises(AuditFailed, match="30 of 30 persons share their classes with fewer than 3"):
        sqlmicro.microaggregate("visits", **settings, into="other")
    execute(db, "DELETE FROM visits WHERE patient = 7")
    sqlmicro.mdav("visits", **series, night="2026-01-02")
    before = execute(db, "SELECT count(DISTINCT who), count(DISTINCT person) FROM sqlmicro.series_seats")[0]
    for visit in ("7", "37", "67"):
        sqlmicro.series("forget", "s", row_key_value=[visit], db=db)
    assert before == [(90, 30)]
    assert execute(db, "SELECT count(DISTINCT who), count(DISTINCT person) FROM sqlmicro.series_seats")[0] == [(87, 29)]
    told = sqlmicro.mdav("visits", **series, night="2026-01-03")
    assert told["rows"] == 90 and told["series"]["empty"] == 3


def test_a_pattern_of_missing_values_is_a_stratum_of_every_night(tmp_path: Path) -> None:
    """Worked by hand, with k = 3: who lacks other values waits for k who do, or loses some when many wait."""
    db = str(tmp_path / "w.duckdb")
    shown = "SELECT age, cost, count(*) FROM out WHERE age IS NULL OR cost IS NULL GROUP BY ALL ORDER BY ALL"
    rows = "SELECT i AS id, 20 + i AS age, CASE WHEN i >= 9 THEN NULL ELSE 10.0 * i END AS cost FROM range(12) r(i)"
    nights = []
    for number, change in (
        (1, f"CREATE TABLE stays AS {rows}"),
        (2, "INSERT INTO stays VALUES (20, NULL, 5), (21, NULL, 6)"),
        (3, "UPDATE stays SET cost = NULL WHERE id = 1"),
        (4, "INSERT INTO stays VALUES (22, NULL, 7)"),
        (5, "INSERT INTO stays VALUES (23, NULL, 50), (24, NULL, NULL), (25, 60, NULL)"),
        (20, "DELETE FROM stays WHERE id = 9"),
    ):
        execute(db, change)
        told = night(db, number, "stays", columns=["age", "cost"], k=3, nulls="pattern", patience=7)
        nights.append((told["series"]["withheld"], execute(db, shown)[0]))
    first, of_cost, nothing = (30, None, 3), (None, 6.0, 3), (None, None, 3)
    assert nights == [
        (0, [first]),
        (2, [first]),  # two are fewer than k: they wait, and nobody sits in a class of another pattern
        (2, [first]),  # who has a class keeps it, whatever she lacks
        (0, [first, of_cost]),
        (0, [first, of_cost, nothing]),  # more than a fortieth wait: two of them lose a value
        (0, [first, of_cost, nothing]),  # who has left leaves an empty seat of the pattern
    ]


def test_a_household_whose_founder_is_erased_has_founded_a_class_until_all_of_it_is(tmp_path: Path) -> None:
    """Else the others found again beside the same households, and the two means tell the difference of few."""
    db = str(tmp_path / "w.duckdb")
    given: dict[str, Any] = {"columns": ["age"], "k": 3, "series": "s", "household": ["home"]}
    execute(db, "CREATE TABLE members AS SELECT i AS id, i % 12 AS home, i AS age FROM range(36) r(i)")
    assert any("rows of 3 households (home)" in note for note in night(db, 1, "members", **given)["notes"])
    told = """SELECT count(DISTINCT who) FILTER (WHERE founded >= 0), count(DISTINCT who) FILTER (WHERE who >= 0),
        count(DISTINCT person), count(DISTINCT who) FILTER (WHERE who < 0) FROM sqlmicro.series_seats"""
    ((founders, *_),) = execute(db, told)[0]
    for number, home in ((2, 5), (3, 7)):
        execute(db, f"DELETE FROM members WHERE id IN ({home}, {home + 12})")
        night(db, number, "members", **given)
        for row in (home, home + 12):
            sqlmicro.series("forget", "s", row_key_value=[str(row)], db=db)
    ((still, who, homes, nobody),) = execute(db, told)[0]
    assert (still, who, homes) == (founders, 32, 12) and nobody > 0
    execute(db, "DELETE FROM members WHERE id IN (29, 31)")
    night(db, 4, "members", **given)
    for row in (29, 31):
        sqlmicro.series("forget", "s", row_key_value=[str(row)], db=db)
    ((still, who, homes, nobody),) = execute(db, told)[0]
    assert (who, homes, nobody) == (30, 10, 0) and still < founders
    assert night(db, 5, "members", **given)["series"]["empty"] == 6


@pytest.mark.slow
def test_a_class_of_founders_who_founded_before_is_not_published(begun: str, monkeypatch: pytest.MonkeyPatch) -> None:
    db = begun
    honest = seats.go_on

    def broken(memory: Any, who: Any, X: Any, day: int, rules: Any, *more: Any) -> Any:
        memory.founded[:] = False
        return honest(memory, who, X, day, rules, *more)

    monkeypatch.setattr(seats, "go_on", broken)
    night(db, 1, series="moving", moves=True, epoch=True, alone_because="test")
    execute(db, "UPDATE persons SET age = age * 100 WHERE id < 30")
    with pytest.raises(AuditFailed, match="series-founded-before is 4, needed at most 2"):
        for number in (20, 40):  # whoever lost her seat waits until any others will do
            night(db, number, series="moving", moves=True, alone_because="test")


@pytest.mark.slow
def test_a_night_in_which_all_classes_close_is_refused(db: str) -> None:
    night(db, 1, moves=True)
    before = execute(db, "FROM out")
    execute(db, "UPDATE persons SET age = -1000 * id")  # all have founded a class, so that they can open none
    with pytest.raises(InputError, match=r"all classes closed, and none could open.*new epoch"):
        night(db, 2, moves=True)
    assert execute(db, "FROM out") == before


@pytest.mark.parametrize("table", ["series", "series_seats", "series_rows"])
def test_a_table_with_a_column_more_is_refused(begun: str, table: str) -> None:
    execute(begun, f"ALTER TABLE sqlmicro.{table} ADD COLUMN more INTEGER")
    with pytest.raises(InputError, match=f"have the columns they were made with: .*others in {table}. Remove"):
        night(begun, 2)


@pytest.mark.slow
def test_another_ledger_does_not_begin_a_series_anew_unasked(begun: str, tmp_path: Path) -> None:
    db, ledger = begun, str(tmp_path / "ledger.duckdb")
    with pytest.raises(InputError, match=r"the ledger that it began in\. Got another one: the database has nights"):
        night(db, 2, ledger=ledger)
    assert night(db, 2, ledger=ledger, series="another", into="other")["series"]["night"] == 1
    assert night(db, 2, ledger=ledger, epoch=True, alone_because="test")["series"]["night"] == 1
    rows, given = tmp_path / "persons.csv", {**GIVEN, "into": None, "night": "2026-01-01"}
    execute(db, f"COPY persons TO '{rows}'")
    sqlmicro.mdav(str(rows), **given, to=str(tmp_path / "1.parquet"))
    with pytest.raises(InputError, match="Got another one: the ledger beside the secret has nights"):
        sqlmicro.mdav(str(rows), **given, to=str(tmp_path / "2.parquet"), ledger=ledger + "2")


@pytest.mark.slow
def test_an_older_ledger_beside_a_newer_database_is_refused(
    begun: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else two nights would open classes that differ by one person each, both from the same night before."""
    db, book, old = begun, tmp_path / "ledger.duckdb", tmp_path / "old.duckdb"
    night(db, 2, ledger=str(book), epoch=True, alone_because="another ledger")
    night(db, 3, ledger=str(book))
    shutil.copy(book, old)
    night(db, 4, ledger=str(book))
    shutil.copy(old, book)
    before = released(db)
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + 2)  # a night is known by the second in which it began
    with pytest.raises(InputError, match="a ledger that does not know the last one of the database"):
        night(db, 5, ledger=str(book))
    assert released(db) == before
    night(db, 5, ledger=str(book), epoch=True, alone_because="another ledger")
    night(db, 6, ledger=str(book))


@pytest.mark.slow
def test_the_order_of_rows_tells_nothing_of_a_table_whose_rows_are_the_same(begun: str) -> None:
    db = begun
    before = execute(db, "FROM out")
    execute(db, "DELETE FROM persons WHERE id IN (3, 9)", "INSERT INTO persons VALUES (500, 30, 1e9, 'f', NULL)")
    night(db, 2)
    assert execute(db, "FROM out") == before
    execute(db, "INSERT INTO persons SELECT 600 + i, 500, 2e9, 'f', NULL FROM range(4) r(i)")
    assert night(db, 3)["series"]["opened"] == 1
    after = execute(db, "FROM out")[0]
    new = [row for row in after if row not in before[0]]
    assert len(new) == 4 and [row for row in after if row not in new] == before[0], "those that stay keep their order"
    assert sorted(after) != after


@pytest.mark.slow
def test_what_is_remembered_has_no_original_value(begun: str) -> None:
    db = begun
    columns = execute(db, "SELECT table_name, column_name FROM duckdb_columns() WHERE table_name LIKE 'series%'")[0]
    values = {str(v) for t, c in columns for (v,) in execute(db, f'SELECT DISTINCT "{c}" FROM sqlmicro."{t}"')[0]}
    published = {str(v) for row in released(db) for v in row}
    incomes = {str(v) for (v,) in execute(db, f"SELECT DISTINCT {QUOTED} FROM persons WHERE {QUOTED} IS NOT NULL")[0]}
    assert not (incomes - published) & values


def test_a_mean_is_of_k_persons_although_some_founders_lack_a_value(tmp_path: Path) -> None:
    """Incomes are powers of two, so that a mean tells whose it is."""
    db = make(tmp_path / "w.duckdb", 40)
    execute(db, f"UPDATE persons SET age = 10 * (id // 4) + 20, {QUOTED} = CASE WHEN id % 4 = 0 THEN 2.0 ** id END")
    night(db, 1)
    means = {income for _, income in released(db)} - {None}
    assert means
    for mean in means:
        assert any(bin(int(mean * n)).count("1") == n and mean * n % 1 == 0 for n in range(4, 33)), mean


@pytest.mark.slow
def test_a_column_called_copy_says_nothing_of_who_is_who(tmp_path: Path) -> None:
    """The number of a copy is hashed with the row key; a column of that name took its place."""
    db = str(tmp_path / "c.duckdb")
    execute(db, "CREATE TABLE persons AS SELECT i AS id, i % 7 AS copy, i * 3 AS pay FROM range(30) r(i)")
    for number in (1, 2):
        night(db, number, columns=["copy", "pay"], k=3)
        execute(db, "UPDATE persons SET copy = copy + 1 WHERE id < 4")
    assert execute(db, "SELECT count(DISTINCT who) FROM sqlmicro.series_seats")[0] == [(30,)]


@pytest.mark.slow
def test_a_series_begins_where_the_ledger_of_the_user_can_be_read(db: str, tmp_path: Path) -> None:
    """It may know nights of the series, so that what is begun anew would keep nothing with them."""
    rows = tmp_path / "persons.csv"
    execute(db, f"COPY persons TO '{rows}'")
    sqlmicro.mdav(str(rows), **{**GIVEN, "into": None, "night": "2026-01-01", "to": str(tmp_path / "1.parquet")})
    ledger = next(Path(os.environ["XDG_CONFIG_HOME"]).rglob("ledger.duckdb"))
    execute(ledger, "ALTER TABLE sqlmicro.releases DROP COLUMN place")  # as an older state of the program has made it
    with pytest.raises(InputError, match=r"ledger beside the secret that cannot be read.*--epoch"):
        night(db, 1)
    assert night(db, 1, epoch=True)["series"]["night"] == 1


@pytest.mark.slow
def test_who_sits_in_a_class_is_not_who_founded_it(tmp_path: Path) -> None:
    """One leaves, and another takes her seat, whom no mean knows of: a new epoch of the same classes tells of both.

    Union k counts who has left, by somebody unknown, of whom nothing can be known; and so do differences.
    """
    db = str(tmp_path / "w.duckdb")
    execute(db, "CREATE TABLE persons AS SELECT i AS id, (i // 5) * 20.0 + i % 5 AS age, "
                f"i // 5 * 1e3 + i % 5 * 7 AS {QUOTED} FROM range(20) AS r(i)")  # fmt: skip
    night(db, 1, k=5)
    execute(db, f"UPDATE persons SET id = 99, {QUOTED} = {QUOTED} + 3 WHERE id = 3")
    for number in (2, 3):
        assert night(db, number, k=5)["series"]["withheld"] == 0
    assert execute(db, "SELECT count(*), count(*) FILTER (WHERE value = -1) FROM sqlmicro.memory") == [[(21, 2)]]
    before, (those,) = released(db), execute(db, "SELECT who FROM sqlmicro.memory")
    assert len({*those} & {*execute(db, "SELECT who FROM sqlmicro.series_seats")[0]}) == 20
    with pytest.raises(AuditFailed, match="differences of totals about fewer than 5 persons: 1, on 1 of them"):
        night(db, 4, k=5, into="beside", series=None)
    report = night(db, 4, k=5, epoch=True)
    assert len(released(db) - before) == 1, "one class has another mean, by what two persons differ in"
    told = {row["check"]: row["value"] for row in report["audits"]}
    assert (told["union-k"], told["differences"]) == (1, 1)


@pytest.mark.slow
def test_a_ledger_of_files_that_was_restored_or_removed_is_seen(db: str, tmp_path: Path) -> None:
    """Nothing but the ledger knew of the last night: two could open classes that differ by one person each."""
    rows, book, old = tmp_path / "persons.csv", tmp_path / "ledger.duckdb", tmp_path / "old.duckdb"
    execute(db, f"COPY persons TO '{rows}'")
    given: dict[str, Any] = {**GIVEN, "into": None, "ledger": str(book), "to": str(tmp_path / "out.parquet")}

    def published(number: int, **more: Any) -> dict[str, Any]:
        return sqlmicro.mdav(str(rows), night=str(FIRST + datetime.timedelta(number)), **{**given, **more})

    published(1)
    shutil.copy(book, old)
    published(2)
    with pytest.raises(InputError):
        published(3, to=str(tmp_path / "no folder" / "out.parquet"))
    assert published(3)["series"]["night"] == 3, "a night that failed is not noted"
    shutil.copy(old, book)
    before = (tmp_path / "out.parquet").read_bytes()
    with pytest.raises(InputError, match=r"a ledger without the last night.*an older one was restored") as no:
        published(4)
    assert published(1, series="another", to=str(tmp_path / "another.parquet"), alone_because="a test")
    book.unlink()
    with pytest.raises(InputError, match="a ledger without the last night that was published"):
        published(4)
    assert (tmp_path / "out.parquet").read_bytes() == before and str(tmp_path) not in str(no.value)
    assert published(4, epoch=True)["series"]["epoch"] == 2, "the first epoch is another one"
    assert published(5)["series"]["night"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mdav", pytest.param("safe", marks=pytest.mark.slow)])
def test_columns_that_are_called_as_those_of_what_is_remembered(tmp_path: Path, method: str) -> None:
    """A night of a table with a column `class` could not count the rows of its classes."""
    db, names = str(tmp_path / "w.duckdb"), ["class", "who", "value"]
    columns = ", ".join(f"(i // 5) * 20 + (i * {j}) % 3 AS {name}" for j, name in enumerate(names, 1))
    execute(db, f"CREATE TABLE persons AS SELECT i AS id, {columns} FROM range(40) AS r(i)")
    given: dict[str, Any] = {"row_key": None, "nulls": "error", "effort": "fast", "k": 3} if method == "safe" else {}
    for number in (1, 2):
        report = night(db, number, method=method, columns=names, **given)
        assert report["series"]["night"] == number
        execute(db, "DELETE FROM persons WHERE id < 2")
    assert [name for name, *_ in execute(db, "DESCRIBE out")[0]] == names
