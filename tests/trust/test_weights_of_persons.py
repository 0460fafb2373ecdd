"""Weights and persons together: every audit that takes both, against plain Python.

A person has several records in a release of visits. She stands for as many members of the population however many
visits she has, so that her weight counts once in a class.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

import sqlmicro
from sqlmicro.cli import app

Visit = tuple[str, int, int | None, float | None]
"""Quasi-identifiers, person, weight."""
AUDITS = ("journalist-risk", "marketer-risk", "individual-risk", "global-risk", "k-anonymity")


def naive_risk(f: int, population: float) -> float:
    """Return the risk of Benedetti & Franconi as the help of sdcMicro states it."""
    from math import log

    if population <= f:
        return 1 / f
    p = f / population
    if f == 1:
        return p / (1 - p) * log(1 / p)
    if f == 2:
        return p / (1 - p) - (p / (1 - p)) ** 2 * log(1 / p)
    return p / (f - (1 - p))


def naive(visits: Sequence[Visit]) -> dict[str, float]:
    """Return every audit, a class at a time: persons with their least weight, of whom nobody is one."""
    classes: dict[tuple[str, int], list[Visit]] = {}
    for visit in visits:
        classes.setdefault(visit[:2], []).append(visit)
    found: dict[tuple[str, int], tuple[int, float]] = {}
    for key, members in classes.items():
        persons = {who for _, _, who, _ in members}
        weights = [min((w for *_, p, w in members if p == who and w is not None), default=0.0) for who in persons]
        found[key] = (len(persons), sum(weights))
    risks: dict[int | None, float] = {}
    journalist: dict[int | None, float] = {}
    for *key, who, _ in visits:
        f, total = found[tuple(key)]  # type: ignore[index]
        risks[who] = max(risks.get(who, 0.0), naive_risk(f, total))
        journalist[who] = max(journalist.get(who, 0.0), 1 / max(f, total))
    return {
        "k-anonymity": min(f for f, _ in found.values()),
        "individual-risk": max(risks.values()),
        "global-risk": sum(risks.values()) / len(risks),
        "journalist-risk": max(journalist.values()),
        "marketer-risk": sum(journalist.values()) / len(journalist),
    }


def draw(seed: int) -> list[Visit]:
    """Return visits: weights by person, some that differ between visits, some missing, some of nobody."""
    rng = random.Random(seed)
    weight = {who: rng.choice([1.0, 2.5, 10.0, 120.0]) for who in range(12)}
    visits: list[Visit] = []
    for _ in range(rng.randint(1, 40)):
        who = rng.choice([*weight, None])
        own = weight[who] if who is not None else rng.choice([1.0, 7.0])
        own = own if rng.random() < 0.9 else rng.choice([None, 3.0])  # type: ignore[assignment]
        visits.append((rng.choice("abc"), rng.randint(1, 2), who, own))
    return visits


def write(path: Path, visits: Sequence[Visit]) -> str:
    rows = [",".join("" if value is None else str(value) for value in visit) for visit in visits]
    path.write_text("\n".join(["kind,ward,person,weight", *rows]) + "\n")
    return str(path)


@pytest.mark.slow
def test_every_audit_that_takes_both_is_what_plain_python_computes(tmp_path: Path) -> None:
    for seed in range(50):
        visits = [*draw(seed), ("a", 1, 1, 2.0), ("a", 1, None, 2.0)]
        table = write(tmp_path / "visits.csv", visits)
        rows = sqlmicro.audit(table, quasi=["kind", "ward"], weight="weight", person=["person"])["audits"]
        found = {row["check"]: row["value"] for row in rows}
        expected = naive(visits)
        assert {name: found[name] for name in AUDITS} == {name: pytest.approx(expected[name]) for name in AUDITS}, seed


def test_a_person_with_many_visits_is_as_rare_as_one_with_a_single_visit(tmp_path: Path) -> None:
    """Ten visits of one person who stands for 20: adding her weight up would make her one of 200."""
    table = write(tmp_path / "visits.csv", [("a", 1, 1, 20.0)] * 10 + [("b", 1, 2, 20.0), ("b", 1, 3, 20.0)])
    rows = sqlmicro.audit(table, quasi=["kind"], weight="weight", person=["person"])["audits"]
    assert {row["check"]: row["value"] for row in rows}["journalist-risk"] == pytest.approx(1 / 20)


def test_a_class_without_any_weight_has_the_risk_of_its_size(tmp_path: Path) -> None:
    """A missing weight must not take the class out of the largest risk."""
    table = write(tmp_path / "visits.csv", [("a", 1, 1, None)] + [("b", 1, i, 50.0) for i in range(2, 6)])
    for person in ((), ("person",)):
        rows = sqlmicro.audit(table, quasi=["kind"], weight="weight", person=person)["audits"]
        found = {row["check"]: row["value"] for row in rows}
        assert found["individual-risk"] == found["journalist-risk"] == 1.0, person


def test_names_that_mean_something_to_the_templates_are_columns_like_others(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text('"net ""income""",low,entity,total\n1,2,7,10\n1,2,7,10\n1,2,8,30\n3,2,9,5\n')
    rows = sqlmicro.audit(str(path), quasi=['net "income"', "low"], weight="total", person="entity")["audits"]
    found = {row["check"]: row["value"] for row in rows}
    assert (found["k-anonymity"], found["journalist-risk"]) == (1, pytest.approx(1 / 5))


def test_the_output_says_whose_weights_and_persons_were_counted(tmp_path: Path) -> None:
    table = write(tmp_path / "visits.csv", [("a", 1, 1, 20.0)] * 3 + [("a", 1, 2, 5.0)])
    given = ["audit", "--table", table, "--quasi", "kind", "--weight", "weight", "--person", "person"]
    out = CliRunner().invoke(app, given).stdout
    assert "weight          weight" in out
    assert "person          person: classes count distinct persons, not records" in out
    assert "persons         2 in 1 class\n" in out
    assert "binder" not in out.lower()
    report = json.loads(CliRunner().invoke(app, [*given, "--json"]).stdout)
    assert (report["weight"], report["person"]) == ("weight", ["person"])


def test_weights_that_are_no_numbers_make_nobody_safe(tmp_path: Path) -> None:
    """NaN and infinity count as no weight: they neither hide a class nor make it endless. A date is no weight."""
    path = tmp_path / "visits.csv"
    path.write_text("kind,person,weight,day\na,1,nan,2020-01-01\nb,2,inf,2020-01-01\nb,3,8,2020-01-02\n")
    for person in ((), ("person",)):
        rows = sqlmicro.audit(str(path), quasi=["kind"], weight="weight", person=person, measure=[*AUDITS, "suda"])
        found = {row["check"]: row for row in rows["audits"]}
        assert {name: found[name]["value"] for name in ("journalist-risk", "individual-risk")} == {
            "journalist-risk": 1.0, "individual-risk": 1.0,
        }, person  # fmt: skip
        assert found["suda"]["dis_suda"]["sampling_fraction"] == pytest.approx(3 / 8)
    with pytest.raises(sqlmicro.SqlmicroError, match="must be a column of numbers"):
        sqlmicro.audit(str(path), quasi=["kind"], weight="day")
