"""Releases that were made for persons: their gates, audits, reports and attacks never take a record for a person."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from world import Workbench

import sqlmicro
from sqlmicro.errors import AuditFailed, JobError, ParameterError
from sqlmicro.publish import gate

VISITS, PATIENTS = 240, 60
INCOME = 'net "income"'


def visits(seed: int = 1) -> dict[str, tuple[str, list[Any]]]:
    """Return visits of patients, some of nobody."""
    rng = random.Random(seed)
    return {
        "visit": ("INTEGER", list(range(VISITS))),
        "patient_id": ("VARCHAR", [rng.choice([*(f"p{i}" for i in range(PATIENTS)), None]) for _ in range(VISITS)]),
        "age": ("INTEGER", [rng.randint(20, 40) for _ in range(VISITS)]),
        'net "income"': ("DOUBLE", [rng.gauss(0, 1) for _ in range(VISITS)]),
        "illness": ("VARCHAR", [rng.choice(["flu", "cold", "gout", "pox"]) for _ in range(VISITS)]),
        "sex": ("VARCHAR", [rng.choice("mf") for _ in range(VISITS)]),
    }


JOB = """
db = "{db}"
table = "records"
person = ["patient_id"]
rest = "drop"
seed = "1"
[[step]]
do = "mdav"
columns = ['net "income"']
k = 4
[[gate]]
quasi = ['net "income"']
{gate}
[[step]]
do = "publish"
into = "released"
"""


@pytest.fixture
def job(workbench: Workbench, tmp_path: Path) -> Any:
    def write(gate: str) -> str:
        path = tmp_path / "job.toml"
        path.write_text(JOB.format(db=workbench.make(visits()), gate=gate), encoding="utf-8")
        return str(path)

    return write


@pytest.mark.slow
def test_a_gate_counts_the_persons_of_its_table(job: Any) -> None:
    """Classes of 4 persons have more records: a k that records would pass and persons do not is refused."""
    report = sqlmicro.run(job("min_k = 4"))
    checks = {row["check"]: row for row in report["audits"]}
    assert checks["persons"]["value"] == report["k"] == 4
    assert report["verdict"]["unit"] == "patient_id"
    assert "4 persons (patient_id)" in report["verdict"]["sentence"]
    assert min(int(size) for size in report["histogram"]) == 4
    with pytest.raises(AuditFailed, match="k-anonymity"):
        sqlmicro.run(job("min_k = 5"))
    with pytest.raises(JobError, match="person"):
        sqlmicro.run(job('min_k = 4\nperson = ["age"]'))


def test_records_would_have_passed(job: Any, workbench: Workbench) -> None:
    """The gate of 5 holds for the records of the same groups."""
    given = {"db": workbench.make(visits()), "columns": [INCOME], "k": 4, "person": ["patient_id"], "rest": "drop"}
    with sqlmicro.open(given.pop("db")) as session, session.mdav("records", seed="1", **given) as release:
        found = release.audit(quasi=[INCOME], k=4)
        assert found.passed
        assert found.report["person"] == ["patient_id"]
        assert "classes count distinct persons" in found.table()
        assert not release.audit(quasi=[INCOME], k=5).passed
        with pytest.raises(ParameterError):
            release.audit(quasi=[INCOME], person=["age"])
        run = release._prepared.run
        assert gate.counter(run)([replace(c, name=c.staged) for c in run.roles.released]) == 4
        rows = {row["check"]: row for row in found.report["audits"]}
        table = release.arrow().to_pydict()
    ages = table[INCOME]
    assert rows["k-anonymity"]["value"] == 4
    assert min(ages.count(age) for age in set(ages)) >= 4
    assert rows["k-anonymity"]["records"] == len({*visits()["patient_id"][1]})


def test_diversity_needs_as_many_persons(workbench: Workbench) -> None:
    db = workbench.make(visits())
    given: dict[str, Any] = {"db": db, "columns": [INCOME], "person": ["patient_id"], "sensitive": ["illness"]}
    with pytest.raises(ParameterError, match="must be at most k"):
        sqlmicro.mdav("records", k=2, min_l=3, rest="drop", **given)
    with pytest.raises(ParameterError, match="must be at most k"):
        sqlmicro.mdav("records", k=2, min_entropy_l=2.5, rest="drop", **given)
    report = sqlmicro.mdav("records", k=3, min_l=3, min_entropy_l=2.2, rest="drop", seed="1", **given)
    checks = {row["check"]: row for row in report["audits"]}
    assert report["passed"]
    assert checks["l-diversity"]["value"] >= 3
    assert checks["entropy-l-diversity"]["value"] >= 2.2


@pytest.mark.slow
def test_what_nothing_tells_apart_any_more_is_said_to_be_records(workbench: Workbench) -> None:
    db = workbench.make(visits())
    given: dict[str, Any] = {"db": db, "columns": [INCOME], "person": ["patient_id"], "k": 4, "seed": "1"}
    sqlmicro.mdav("records", into="bare", rest="drop", **given)
    found = sqlmicro.report(release="bare", db=db, original="records", sample=50)
    assert found["verdict"]["headline"].startswith("k = 4 held, counted in records")
    assert "promised for persons (patient_id)" in found["verdict"]["sentence"]
    sqlmicro.mdav(
        "records", into="keyed", keep=["visit"], accept_unique=["visit"], rest="drop", alone_because="test", **given
    )
    attacked = sqlmicro.attack(db=db, original="records", release="keyed", match="visit", columns=[INCOME])
    # The original tells whose the records of the release are: persons are looked for without being named.
    assert attacked["person"] == ["patient_id"]
    assert attacked["verdict"]["unit"] == "patient_id"
    rates = {row["name"]: row for row in attacked["attacks"]}
    assert rates["linkage"]["n"] == len({*visits()["patient_id"][1]})
    assert rates["linkage"]["rate"] <= 1 / 4
    assert sqlmicro.attack(db=db, original="records", release="bare")["person"] == []


@pytest.mark.slow
def test_a_release_with_pseudonyms_is_reported_in_persons(
    workbench: Workbench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "0123456789abcdef" * 2)
    db = workbench.make(visits())
    path = tmp_path / "job.toml"
    steps = '[[step]]\ndo = "pseudonymise"\ncolumns = ["patient_id"]\n[[step]]\ndo = "mdav"'
    text = JOB.format(db=db, gate="min_k = 4").replace('[[step]]\ndo = "mdav"', steps, 1)
    path.write_text(text, encoding="utf-8")
    sqlmicro.run(str(path))
    found = sqlmicro.report(release="released", db=db, original="records", sample=50)
    assert (found["verdict"]["unit"], found["unit"]) == ("patient_id", "patient_id")
    assert found["verdict"]["k"] == 4
    attacks = {row["name"] for row in found["attacks"]}
    assert {"linkage", "all-records"} <= attacks
    page = sqlmicro.report(release="released", db=db, original="records", sample=50, markdown=True)["markdown"]
    assert "The unit is one person, told by patient_id" in page


def test_linkage_as_a_gate_finds_persons(job: Any) -> None:
    report = sqlmicro.run(job('min_k = 4\nmeasure = ["linkage"]\nmax_linkage = 0.25'))
    linked = next(row for row in report["audits"] if row["check"] == "linkage")
    assert linked["n"] == len({*visits()["patient_id"][1]})
    assert linked["value"] <= 0.25
