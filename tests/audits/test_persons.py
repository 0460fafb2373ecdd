"""Audits that count persons, against plain Python on random tables in which persons have several records."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlmicro
from sqlmicro.audits import inputs, runner
from sqlmicro.cli import app
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.templates import Name
from sqlmicro.options.params import take
from sqlmicro.system.reporting import as_json

from . import naive, naive_persons
from .conftest import Audit

TYPES = {
    "a": "INTEGER", 'net "income"': "VARCHAR", "c": "BOOLEAN", "s": "VARCHAR", "w": "DOUBLE", "person": "BIGINT",
    "clinic": "VARCHAR", "h": "INTEGER",
}  # fmt: skip
QUASI = ("a", 'net "income"', "c")
TABLES = int(os.environ.get("TABLES", "110"))
"""How many tables the slow tests draw; those of 2 000 at once are counted too."""
DRAWN = pytest.mark.parametrize(
    "seeds", [range(50), pytest.param(range(50, TABLES), marks=pytest.mark.slow)], ids=["quick", "more"]
)
MEASURES = (
    "l-diversity", "entropy-l-diversity", "recursive-l-diversity", "t-closeness", "beta-likeness", "alpha-k-anonymity",
)  # fmt: skip
GATES = {"min_k": 3, "max_prosecutor": 0.4, "max_risk": 0.4}


def drawn(seed: int) -> list[tuple[Any, ...]]:
    """Return records of few persons with several each, some of nobody, weights that differ, some of them missing."""
    rng = random.Random(seed)
    persons: list[tuple[int | None, str | None]] = [(i // 2, "xy"[i % 2]) for i in range(rng.randint(1, 9))]
    persons += [(None, None), (0, None)]
    lives = {who: rng.choice([None, 1, 2, 3]) for who in persons}
    values = rng.randint(1, 3)

    def record() -> tuple[Any, ...]:
        who = rng.choice(persons)
        return (
            rng.choice([1, 2, None][:values]), rng.choice(["x", "y", "z", None][: values + 1]),
            rng.choice([True, False, None][:values]), rng.choice(["flu", "cold", "cancer", None]),
            rng.choice([1.0, 2.5, 40.0, None, float("nan")]), *who, lives[who],
        )  # fmt: skip

    return [record() for _ in range(rng.randint(1, 30))]


def differing(found: dict[str, list[dict[str, Any]]], expected: dict[str, dict[str, Any]]) -> list[str]:
    """Return what was found otherwise than expected."""
    wrong = []
    for check, values in expected.items():
        for name, value in values.items():
            told = found[check][0].get(name)
            if isinstance(told, dict):
                told = {str(key): number for key, number in told.items()}
            if told != (value if isinstance(value, dict) else pytest.approx(value)):
                wrong.append(f"{check}.{name}: {told} is not {value}")
    return wrong


@pytest.mark.slow
@DRAWN
def test_every_audit_of_classes_is_what_plain_python_counts(audit: Audit, seeds: range) -> None:
    """The person is one column or two, the population has the columns of the person or not; NULL is left out or not."""
    wrong = {}
    for seed in seeds:
        rng = random.Random(seed)
        rows, others = drawn(seed), drawn(-seed - 1)
        person = ("person",) if seed % 2 else ("person", "clinic")
        nulls = "exclude" if seed % 5 == 0 else "own_value"
        of_persons = seed % 3 > 0
        kinds = TYPES if of_persons else dict(list(TYPES.items())[:3])
        everybody = [row[: len(kinds)] for row in rows + others]
        tables = {"release": (TYPES, rows), "everybody": (kinds, everybody)}
        size = rng.randint(1, 3)
        measures = naive_persons.measured([(1,)], [(1,)], [1.0], [(1,)], None, 3, 1)
        found = audit(
            tables, tuple(measures), quasi=QUASI, person=person, weight="w", population="everybody", nulls=nulls,
            suda_size=size, **GATES,
        )  # fmt: skip
        if nulls == "exclude":
            rows = [row for row in rows if None not in row[:3]]
            everybody = [row for row in everybody if None not in row[:3]]
        if not rows:
            assert found["prosecutor-risk"][0]["status"] == "unknown"
            continue
        assert set(measures) <= set(found)
        expected = naive_persons.measured(
            [row[:3] for row in rows], [row[5 : 5 + len(person)] for row in rows], [row[4] for row in rows],
            [row[:3] for row in everybody], [row[5 : 5 + len(person)] for row in everybody] if of_persons else None,
            3, size,
        )  # fmt: skip
        wrong |= {seed: one} if (one := differing(found, expected)) else {}
    assert wrong == {}


@pytest.mark.slow
@DRAWN
def test_what_a_class_tells_is_counted_over_records_and_no_person_is_diverse_alone(audit: Audit, seeds: range) -> None:
    for seed in list(seeds)[::2]:
        rows = drawn(seed)
        found = audit(
            {"release": (TYPES, rows)},
            MEASURES,
            quasi=QUASI[:2],
            sensitive=("s",),
            person=("person", "clinic"),
            min_l=2,
        )
        of: dict[Any, list[int]] = {}
        for place, row in enumerate(rows):
            of.setdefault(row[:2], []).append(place)
        everything = [row[3] for row in rows]
        inside = [[everything[place] for place in places] for places in of.values()]
        persons = [len({rows[place][5:7] for place in places}) for places in of.values()]
        diverse = [min(naive.distinct(values), n) for values, n in zip(inside, persons, strict=True)]
        below = {rows[place][5:7] for places, l_of in zip(of.values(), diverse, strict=True) for place in places
                 if l_of < 2}  # fmt: skip
        expected = {
            "l-diversity": {"value": min(diverse), "violating_records": len(below), "classes": len(of)},
            "entropy-l-diversity": {"value": min(map(min, map(naive.entropy, inside), persons))},
            "recursive-l-diversity": {
                "value": min(map(min, (naive.recursive(values, 2.0) for values in inside), persons))
            },
            "t-closeness": {"value": max(naive.equal_distance(values, everything) for values in inside)},
            "beta-likeness": {"value": max(naive.gain(values, everything) for values in inside)},
            "alpha-k-anonymity": {"records": len({row[5:7] for row in rows})},
        }
        assert differing(found, expected) == [], seed


@DRAWN
def test_household_risk_is_the_risk_of_any_member(audit: Audit, seeds: range) -> None:
    for seed in list(seeds)[::2]:
        rows = drawn(seed)
        keys, whose = [row[:2] for row in rows], [row[5:7] for row in rows]
        of_persons, weighted = seed % 4 > 0, seed % 3 > 0
        given: dict[str, Any] = {"person": ("person", "clinic")} if of_persons else {}
        given |= {"weight": "w"} if weighted else {}
        found = audit(
            {"release": (TYPES, rows)}, ("household-risk",), quasi=QUASI[:2], household=("h",), max_household_risk=0.9,
            **given,
        )["household-risk"][0]  # fmt: skip
        units: Sequence[Any] = whose if of_persons else [(place,) for place in range(len(rows))]
        sizes = {key: len(members) for key, members in naive_persons.classes(keys, units).items()}
        total = naive_persons.totals(keys, units, [row[4] for row in rows])
        risk = {key: naive.risk(sizes[key], total[key]) if weighted else 1 / sizes[key] for key in sizes}
        worst: dict[Any, float] = {}
        for key, unit, row in zip(keys, units, rows, strict=True):
            worst[unit, row[7]] = max(worst.get((unit, row[7]), 0.0), risk[key])
        households = naive_persons.households([((h,), r) for (_, h), r in worst.items()])
        assert found["value"] == pytest.approx(max(r for _, r in households)), seed
        assert found["expected"] == pytest.approx(sum(n * r for n, r in households)), seed
        assert (found["households"], found["members"]) == (len(households), len(worst)), seed
        assert found["passed"] is (found["value"] <= 0.9 + 1e-9), seed


VISITS = [("1", "u", 7, "h"), ("1", "u", 7, "h"), ("1", "v", 8, "h"), ("2", "u", 7, "h"), ("2", "u", 7, "h"),
          ("2", "v", 7, "h")]  # fmt: skip


def written(path: Path, rows: Sequence[Sequence[Any]], header: str = "a,s,who,home") -> str:
    lines = [",".join("" if value is None else str(value) for value in row) for row in rows]
    path.write_text("\n".join([header, *lines]) + "\n")
    return str(path)


def test_a_gate_fails_where_the_persons_are_too_few(tmp_path: Path) -> None:
    """Three records in every class, of two persons in one and of one in the other."""
    table = written(tmp_path / "visits.csv", VISITS)
    given = ["audit", "--table", table, "--quasi", "a", "--min-k", "3"]
    assert CliRunner().invoke(app, given).exit_code == 0
    found = CliRunner().invoke(app, [*given, "--person", "who"])
    assert found.exit_code == 1
    said = " ".join(found.stdout.split())
    assert "person who: classes count distinct persons, not records" in said
    assert "persons 2 in 2 classes" in said
    assert "below k 2 persons in 2 classes" in said
    assert "records" not in said.replace("not records", "").replace("a person with records", "")
    report = sqlmicro.audit(table, quasi=["a"], person=["who"], household="home", min_k=1)
    assert (report["person"], report["household"], report["passed"]) == (["who"], ["home"], True)
    assert [row["value"] for row in report["audits"] if row["check"] == "household-risk"] == [1.0]


def test_a_key_of_persons_that_repeats_is_noted(tmp_path: Path) -> None:
    table = written(tmp_path / "visits.csv", VISITS, "a,s,patient_id,home")
    found = sqlmicro.audit(table, quasi=["a"])
    assert found["notes"] == [
        "the records seem to be 6 of about 2 persons (patient_id: its name): here records are counted, with --person "
        "persons"
    ]
    assert "note            the records seem to be 6 of about 2 persons" in CliRunner().invoke(
        app, ["audit", "--table", table, "--quasi", "a"]
    ).stdout  # fmt: skip
    assert sqlmicro.audit(table, quasi=["a"], person="patient_id")["notes"] == []
    once = written(tmp_path / "once.csv", [VISITS[0], VISITS[2]], "a,s,patient_id,home")
    assert sqlmicro.audit(once, quasi=["a"])["notes"] == []
    assert sqlmicro.audit(once, quasi=["a"], population=once)["notes"] == []
    (note,) = sqlmicro.audit(once, quasi=["a"], population=table)["notes"]
    seems = "the rows of the population seem to be 6 of about 2 persons"
    assert note == f"{seems} (patient_id: its name): each counts as a member"


def test_four_diagnoses_of_one_patient_are_not_diverse(audit: Audit) -> None:
    types = {"a": "INTEGER", "s": "VARCHAR", "who": "INTEGER"}
    rows = [(1, value, 7) for value in "uvwx"]
    measures = ("l-diversity", "entropy-l-diversity")
    for person, expected in ((), 4.0), (("who",), 1.0):
        found = audit({"release": (types, rows)}, measures, quasi=("a",), sensitive=("s",), person=person)
        assert [found[name][0]["value"] for name in measures] == pytest.approx([expected, expected])


def test_nobody_is_one_person_whatever_the_type(audit: Audit) -> None:
    """UUID, text, numbers and several columns; records of nobody make no class look larger."""
    for kind, one, two in (
        ("UUID", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("VARCHAR", "one", "two"), ("BIGINT", 2**62, 2**62 + 1), ("DATE", "2020-01-01", "2020-01-02"),
    ):  # fmt: skip
        rows = [(1, one, 1), (1, one, 1), (1, two, 1), (1, two, None), (1, None, None), (1, None, None)]
        table = {"release": ({"a": "INTEGER", 'p "id"': kind, "q": "INTEGER"}, rows)}
        for person, expected in (('p "id"',), 3), (('p "id"', "q"), 4), (("q",), 2):
            found = audit(table, ("k-anonymity",), quasi=("a",), person=person)
            assert found["k-anonymity"][0]["value"] == expected, (kind, person)


def test_persons_are_never_told_apart_by_how_a_value_is_written(audit: Audit) -> None:
    """0.0 and -0.0 are one key, Bob and BOB of a NOCASE column are one person: more persons would look safer."""
    for kind, one, two in ("DOUBLE", 0.0, -0.0), ("VARCHAR COLLATE NOCASE", "Bob", "BOB"):
        found = audit(
            {"release": ({"a": "INTEGER", "p": kind}, [(1, one), (1, two)])}, ("k-anonymity",), quasi=("a",),
            person=("p",),
        )  # fmt: skip
        assert found["k-anonymity"][0]["value"] == 1, kind


def test_a_person_is_no_quasi_identifier(audit: Audit) -> None:
    table = {"release": ({"a": "INTEGER", "p": "INTEGER"}, [(1, 1)])}
    for given in ({"quasi": ("a", "p")}, {"quasi": ("a",), "sensitive": ("p",)}):
        with pytest.raises(sqlmicro.SqlmicroError, match="person"):
            audit(table, ("k-anonymity",), person=("p",), **given)
    with pytest.raises(sqlmicro.SqlmicroError, match="nowhere"):
        audit(table, ("k-anonymity",), quasi=("a",), person=("nowhere",))


def test_2000_tables_at_once(warehouse: DuckDBWarehouse, tmp_path: Path) -> None:
    """All of them as one table, told apart by a quasi-identifier: every class, and every person, of each."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [(seed, *row, seed) for seed in range(2000) for row in drawn(seed)]
    names = ["t", *TYPES, "table"]
    path = tmp_path / "tables.parquet"
    pq.write_table(pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)}), path)
    given = {
        "quasi": ("t", *QUASI),
        "person": ("table", "person", "clinic"),
        "weight": "w",
        "min_k": 3,
        "max_risk": 0.4,
    }
    options = take(inputs.AuditStep, given, "test")
    audited = inputs.audited(warehouse, str(path), options)

    def by_class(relation: Name, wanted: str) -> dict[Any, Any]:
        text = f"SELECT {{{{ quasi | idents }}}}, {wanted} FROM {{{{ relation | ident }}}}"
        return {row[:4]: row[4] for row in warehouse.query("test", text, quasi=audited.quasi, relation=relation)}

    params = {"columns": audited.quasi, "weighted_cells": audited.weighted_cells}
    keys, weights = [row[:4] for row in rows], [row[5] for row in rows]
    whose = [(row[0], *row[6:8]) for row in rows]
    of, total = naive_persons.classes(keys, whose), naive_persons.totals(keys, whose, weights)
    sizes = {key: len(persons) for key, persons in of.items()}
    risk = {key: naive.risk(size, total[key]) for key, size in sizes.items()}
    assert len({key[0] for key in of}) == 2000
    assert by_class(audited.cells, "size") == sizes
    assert by_class(audited.weighted_cells, "total") == pytest.approx(total)
    assert by_class(audited.stage("audit/individual_risk.sql", "risks", **params), "measure") == pytest.approx(risk)
    smallest = {who: min(found) for who, found in naive_persons.per_person(keys, whose, sizes.__getitem__).items()}
    risks = {who: max(found) for who, found in naive_persons.per_person(keys, whose, risk.__getitem__).items()}
    found = {row.check: as_json(row) for row in runner.run(
        audited, ("k-anonymity", "sample-uniques", "prosecutor-risk", "individual-risk", "global-risk"),
        options.thresholds, {},
    )}  # fmt: skip
    assert found["k-anonymity"]["records"] == len(smallest) > 10_000
    assert found["k-anonymity"]["violating_records"] == sum(size < 3 for size in smallest.values())
    assert found["sample-uniques"]["value"] == sum(size == 1 for size in smallest.values())
    assert found["sample-uniques"]["twice"] == sum(size == 2 for size in smallest.values())
    average = sum(1 / size for size in smallest.values()) / len(smallest)
    assert found["prosecutor-risk"]["average"] == pytest.approx(average)
    assert found["individual-risk"]["violating_records"] == sum(r > 0.4 for r in risks.values())
    assert found["global-risk"]["expected"] == pytest.approx(sum(risks.values()))
