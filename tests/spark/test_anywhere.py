"""The job of examples/anywhere on Spark: the same file, the same audits as on one machine, persons counted."""

from __future__ import annotations

from pathlib import Path

import anywhere
import duckdb
import pytest

import sqlmicro
from sqlmicro.errors import InputError
from sqlmicro.spark import warehouse

pytestmark = pytest.mark.slow


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return anywhere.copied(tmp_path, monkeypatch)


def test_the_same_job_file_counts_persons(spark, job, tmp_path, monkeypatch, most_at_driver):
    tables = f"{tmp_path}/tables"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "alone"))
    ours = sqlmicro.run(str(job), location=f"{tables}/", release_location=f"{tmp_path}/")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "there"))
    theirs = sqlmicro.run(str(job), location=f"{tables}/", engine="spark")
    assert job.read_bytes() == anywhere.JOB.read_bytes()
    assert anywhere.told(theirs) == anywhere.told(ours)
    assert anywhere.promised(theirs) == anywhere.promised(ours)
    own = ", ".join(anywhere.QUASI)
    before = duckdb.sql(f"SELECT visit_id, patient_id, {own} FROM '{tables}/visits.parquet'").fetchall()
    released = f"SELECT {', '.join(anywhere.COLUMNS)} FROM '{tables}/visits_release.parquet/*.parquet'"
    anywhere.hold(duckdb.sql(released).fetchall(), before, anywhere.KEY)
    # What comes to the driver has numbers, or combinations; 1 200 are the seats of those who change them.
    assert max(most_at_driver) <= 1200
    notes = " ".join(theirs["notes"])
    assert "changed seats" in notes and "sex, decade, region; one value for each person" in notes


@pytest.mark.parametrize("local", [False, True])
def test_levels_until_every_class_has_k_persons(spark, visits, tmp_path, local):
    """What DuckDB releases, record by record: the levels depend on nothing but who is in which class."""
    given = {
        "columns": ["sex", "decade", "region"], "width": ["decade=20", "decade=40"], "until_k": 9, "local": local,
        "person": ["patient_id"], "keep": ["visit_id"], "accept_unique": ["visit_id"], "rest": "drop",
    }  # fmt: skip
    ours = sqlmicro.generalize(visits, to=str(tmp_path / "alone.parquet"), **given)
    theirs = sqlmicro.generalize(visits, to=str(tmp_path / "spark"), engine="spark", **given)
    rows = [
        duckdb.execute(f"SELECT visit_id, sex, decade, region FROM '{path}' ORDER BY visit_id").fetchall()
        for path in (tmp_path / "alone.parquet", f"{tmp_path}/spark/*.parquet")
    ]
    assert rows[0] == rows[1]
    assert anywhere.told(theirs) == anywhere.told(ours)
    assert theirs["k"] == ours["k"] >= 9
    assert any("30 records without a person" in note for note in theirs["notes"])


def test_values_are_suppressed_until_every_class_has_k_persons(spark, visits, tmp_path, most_at_driver):
    """Persons of every class are counted by hand; about as many values are lost as on DuckDB."""
    columns = ["decade", "region", "diagnosis"]
    given = {"columns": columns, "person": ["patient_id"], "keep": ["visit_id"], "accept_unique": ["visit_id"]}
    given |= {"rest": "drop", "k": 5}
    ours = sqlmicro.suppress(visits, to=str(tmp_path / "alone.parquet"), **given)
    theirs = sqlmicro.suppress(visits, to=str(tmp_path / "spark"), engine="spark", **given)
    own, lost = ", ".join(columns), []
    for path in (tmp_path / "alone.parquet", f"{tmp_path}/spark/*.parquet"):
        named = ", ".join(f"r.{name}" for name in columns)
        released = (
            f"SELECT {named}, coalesce(patient_id, -1) AS who FROM '{path}' AS r JOIN '{visits}' USING (visit_id)"
        )
        persons = duckdb.sql(f"SELECT count(DISTINCT who) AS n FROM ({released}) GROUP BY {own}").fetchall()
        assert min(persons)[0] >= 5
        hidden = " + ".join(f"count(*) - count({name})" for name in columns)
        lost.append(duckdb.sql(f"SELECT {hidden} FROM '{path}'").fetchall()[0][0])
    assert lost[0] > 0 and 0.9 * lost[0] <= lost[1] <= 1.1 * lost[0], lost
    assert theirs["k"] >= 5 and ours["k"] >= 5
    assert anywhere.promised(theirs) == anywhere.promised(ours)
    assert max(most_at_driver) <= 1200  # the numbers of records, or of persons


def test_rows_of_nobody_are_one_person(spark, visits, tmp_path):
    """Audited by hand: a class whose rows are of nobody counts as one."""
    given = {"columns": ["sex", "diagnosis"], "person": ["patient_id"], "rest": "drop", "k": 3, "effort": "fast"}
    given |= {"keep": ["visit_id"], "accept_unique": ["visit_id"], "method": "search", "engine": "spark"}
    report = sqlmicro.safe(visits, to=str(tmp_path / "spark"), **given)
    assert report["passed"] and any("30 records without a person" in note for note in report["notes"])
    counted = duckdb.execute(
        f"SELECT min(n) FROM (SELECT count(DISTINCT coalesce(patient_id, -1)) AS n FROM '{tmp_path}/spark/*.parquet' r "
        f"JOIN '{visits}' o USING (visit_id) GROUP BY r.sex, r.diagnosis)"
    ).fetchall()
    assert counted[0][0] >= 3


def test_too_many_seats_are_refused(spark, visits, tmp_path, monkeypatch):
    monkeypatch.setattr(warehouse, "MOST_SEATS", 5)
    with pytest.raises(InputError, match="at most 5 numbers of persons"):
        sqlmicro.safe(
            visits, columns=["sex", "diagnosis"], person=["patient_id"], rest="drop", engine="spark",
            to=str(tmp_path / "release"),
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_columns_that_differ_and_belong_to_persons_are_masked_level_by_level(spark, visits, tmp_path):
    """The decade of a person is the same in all visits, also with noise; the cost is one of each visit."""
    given = {"columns": ["decade", "cost"], "amount": 0.3, "person": ["patient_id"], "rest": "drop", "engine": "spark"}
    sqlmicro.noise(
        visits, to=str(tmp_path / "spark"), keep=["visit_id"], accept_unique=["visit_id"], **given
    )  # fmt: skip
    joined = f"'{tmp_path}/spark/*.parquet' r JOIN '{visits}' o USING (visit_id) WHERE patient_id IS NOT NULL"
    most, changed, costs = duckdb.execute(
        f"SELECT max(n), max(d), max(c) FROM (SELECT count(DISTINCT r.decade) AS n, "
        f"max(abs(r.decade - o.decade)) AS d, count(DISTINCT r.cost - o.cost) AS c FROM {joined} GROUP BY patient_id)"
    ).fetchall()[0]
    assert most == 1 and changed > 5 and costs > 1
