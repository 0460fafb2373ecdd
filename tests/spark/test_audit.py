"""Audits on Spark find what DuckDB finds on the same files."""

from __future__ import annotations

import math

import duckdb
import pytest

import sqlmicro
from sqlmicro.errors import ParameterError
from sqlmicro.spark import warehouse

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write records with missing values, a name to quote, visits of persons, and a release that moves some of them."""
    folder = tmp_path_factory.mktemp("data")
    duckdb.execute(
        f'''CREATE OR REPLACE TABLE p AS SELECT i AS id, i % 130 AS person,
          CASE i % 3 WHEN 0 THEN 'f' WHEN 1 THEN 'm' END AS sex,
          CAST(20 + (i * i) % 13 AS INTEGER) AS age, 100.5 + (i * 7919) % 40 AS "net ""income""",
          CASE i % 5 WHEN 0 THEN 'flu' WHEN 1 THEN NULL ELSE 'ok' END AS job, 1 + i % 3 AS share FROM range(400) t(i);
        COPY p TO '{folder}/original.parquet' (FORMAT parquet);
        COPY (SELECT id, person, sex, age // 4 * 4 AS age, round("net ""income""", -1) AS "net ""income""", job,
          share FROM p)
          TO '{folder}/release.parquet' (FORMAT parquet)'''
    )
    return folder


def rows(report):
    return {
        (row["check"], tuple(row["columns"])): (row["value"], row["threshold"], row["passed"])
        for row in report["audits"]
    }


def same(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other


NEED_RECORDS = {"linkage", "pmse", "suda", "suda-ihsn"}
"""The audits that need records in one place."""
CASES = {
    "alone": {"sensitive": ["job"]},
    "with persons": {"person": ["person"], "sensitive": ["job"]},
    "missing values match": {"nulls": "wildcard"},
    "a population": {"population": True},
}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=[pytest.mark.connect] * (name == "with persons"))
        for name, case in CASES.items()
    ],
)
def test_the_answer_is_that_of_duckdb(spark, files, case):
    given = {name: f"{files}/original.parquet" if value is True else value for name, value in case.items()}
    given |= {"quasi": ["sex", "age", 'net "income"']}
    table = f"{files}/release.parquet"
    ours = rows(sqlmicro.audit(table, **given))
    theirs = rows(sqlmicro.audit(table, engine="spark", **given))
    assert ours.keys() == theirs.keys() and len(ours) >= 4
    wrong = {found: (ours[found], theirs[found]) for found in ours if not all(map(same, ours[found], theirs[found]))}
    assert not wrong
    assert any(value for value, _, _ in theirs.values())


def test_every_audit_is_that_of_duckdb_or_listed(spark, files):
    from sqlmicro.audits.registry import audits

    given = {
        "quasi": ["sex", "age", 'net "income"'], "sensitive": ["job"], "original": f"{files}/original.parquet",
        "match": ["id"], "population": f"{files}/original.parquet", "measure": list(audits()), "weight": "share",
    }  # fmt: skip
    ours = rows(sqlmicro.audit(f"{files}/release.parquet", **given))
    theirs = rows(sqlmicro.audit(f"{files}/release.parquet", engine="spark", **given))
    other = {found[0] for found in ours if not all(map(same, ours[found], theirs.get(found, ("none",) * 3)))}
    assert other == NEED_RECORDS
    assert all(value is None for (check, _), (value, _, _) in theirs.items() if check in other)
    assert sum(value is not None for value, _, _ in theirs.values()) >= 30


def test_more_combinations_than_the_driver_takes_are_compared_where_they_are(spark, files, monkeypatch):
    monkeypatch.setattr(warehouse, "MOST_COMBINATIONS", 5)
    given = {"original": str(files / "original.parquet"), "quasi": ["sex", "job", "share"]}
    given |= {"max_inference": 0.9, "min_invented": 0.1, "measure": ["k-anonymity"]}
    found = [
        rows(sqlmicro.audit(str(files / "release.parquet"), engine=engine, **given)) for engine in ("spark", "duckdb")
    ]
    assert found[0].keys() == found[1].keys()
    assert all(all(map(same, found[0][name], found[1][name])) for name in found[0])
    assert {check for check, _ in found[0]} >= {"invented", "inference"}


@pytest.mark.connect
def test_gates_hold_or_fail_and_what_needs_records_counts_as_failed(spark, files, capfd):
    given = {"quasi": ["sex", "age"], "original": f"{files}/original.parquet", "match": ["id"], "engine": "spark"}
    table, k = f"{files}/release.parquet", {"measure": ["k-anonymity"]}
    held = sqlmicro.audit(table, min_k=4, max_missing_change=0.0, **k, **given)
    assert held["passed"] is True and held["recorded"] is False
    failed = sqlmicro.audit(table, min_k=90, **k, **given)["audits"]
    assert [row["status"] for row in failed if row["asked"]] == ["failed"]
    unknown = sqlmicro.audit(table, max_pmse=1.0, measure=["pmse"], **given)
    (row,) = [row for row in unknown["audits"] if row["asked"]]
    assert (row["check"], row["status"], unknown["passed"]) == ("pmse", "unknown", False)
    assert "never records" in row["reason"]
    assert "SQLQueryContextLogger" not in "".join(capfd.readouterr())  # it would quote the values it failed at


def test_what_means_nothing_there_is_refused(files):
    table = f"{files}/release.parquet"
    for given in ({"db": f"{files}/w.duckdb"}, {"with_": ["1"]}, {"per_record": "risks"}, {"memory_limit": "1GB"}):
        with pytest.raises(ParameterError, match=f"--{min(given).strip('_').replace('_', '-')}"):
            sqlmicro.audit(table, quasi=["sex"], engine="spark", **given)
    assert not (files / "w.duckdb").exists()
