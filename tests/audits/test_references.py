"""Disclosure audits against the figures of sdcMicro 5.8 on its test data: 4 580 persons, seven keys."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sqlmicro
from sqlmicro.audits import inputs
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.options.params import take

from .conftest import Audit

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")


def read(path: Path) -> list[dict[str, str]]:
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def missing(data_folder: Path, reference_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the test data with the keys missing by the rule of freqCalc_testdata_NA.json."""
    rows = read(data_folder / "testdata.csv")
    for i, row in enumerate(rows, 1):
        for j, key in enumerate(KEYS, 1):
            if (i * 7 + j * 13) % 97 == 0:
                row[key] = ""
    rule = json.loads((reference_folder / "freqCalc_testdata_NA.json").read_text())
    assert [sum(row[key] == "" for row in rows) for key in KEYS] == rule["n_missing"]
    path = tmp_path_factory.mktemp("missing") / "testdata.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def audited(warehouse: DuckDBWarehouse, path: Path, **given: Any) -> AuditedRelease:
    return inputs.audited(warehouse, str(path), take(inputs.AuditStep, {"quasi": KEYS, **given}, "test"))


def by_key(
    warehouse: DuckDBWarehouse, classes: Any, columns: str, keys: tuple[str, ...] = KEYS
) -> dict[tuple[Any, ...], Any]:
    """Return what was found for every class, by its key."""
    rows = warehouse.query("test", "SELECT " + ", ".join(keys) + f", {columns} FROM {{{{ r | ident }}}}", r=classes)
    return {row[: len(keys)]: row[len(keys) :] for row in rows}


def key_of(row: dict[str, str], keys: tuple[str, ...] = KEYS) -> tuple[int | None, ...]:
    return tuple(int(row[key]) if row[key] else None for key in keys)


def test_the_size_and_weight_of_every_class(
    warehouse: DuckDBWarehouse, data_folder: Path, reference_folder: Path
) -> None:
    found = audited(warehouse, data_folder / "testdata.csv", weight="sampling_weight")
    cells = by_key(warehouse, found.weighted_cells, "size, total")
    known = read(reference_folder / "risk_testdata.csv.gz")
    for row, theirs in zip(read(data_folder / "testdata.csv"), known, strict=True):
        assert cells[key_of(row)] == (int(theirs["fk"]), float(theirs["Fk"]))


def test_the_individual_risk_of_every_record(
    warehouse: DuckDBWarehouse, data_folder: Path, reference_folder: Path
) -> None:
    found = audited(warehouse, data_folder / "testdata.csv", weight="sampling_weight")
    params = {"weighted_cells": found.weighted_cells, "columns": found.quasi}
    risks = by_key(warehouse, found.stage("audit/individual_risk.sql", "risks", **params), "measure")
    known = read(reference_folder / "risk_testdata.csv.gz")
    for row, theirs in zip(read(data_folder / "testdata.csv"), known, strict=True):
        (risk,) = risks[key_of(row)]
        assert risk == pytest.approx(float(theirs["risk_approx"]), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.001, 0.1, 0.4, 0.6, 0.9, 0.999])
def test_how_near_the_approximation_of_the_individual_risk_is(audit: Audit, p: float) -> None:
    from scipy.special import hyp2f1

    for f in (1, 2, 3, 4, 8, 30):
        rows = [(1, 1 / p)] * f
        found = audit(
            {"release": ({"a": "INTEGER", "w": "DOUBLE"}, rows)}, ["individual-risk"], quasi=("a",), weight="w"
        )
        exact = p**f / f * hyp2f1(f, f, f + 1, 1 - p)
        ratio = found["individual-risk"][0]["value"] / exact
        assert ratio == pytest.approx(1, rel=1e-7) if f < 3 else 1 - 1e-9 < ratio < 1.05


def test_the_global_risk(data_folder: Path, reference_folder: Path) -> None:
    known = json.loads((reference_folder / "risk_testdata.json").read_text())
    report = sqlmicro.audit(str(data_folder / "testdata.csv"), quasi=KEYS, weight="sampling_weight")
    found = {row["check"]: row for row in report["audits"]}
    assert found["global-risk"]["expected"] == pytest.approx(known["global_risk_ER"], rel=1e-12)
    assert found["global-risk"]["value"] == pytest.approx(known["global_risk"], rel=1e-12)
    assert found["sample-uniques"]["value"] == known["n1"]
    assert found["sample-uniques"]["twice"] == known["n2"]
    assert found["prosecutor-risk"]["average"] == pytest.approx(known["unweighted_global_risk"], rel=1e-12)


def test_the_risk_of_households(data_folder: Path, reference_folder: Path) -> None:
    """Largest, mean and sum over the records, each of whom has the risk of its household."""
    known = json.loads((reference_folder / "risk_testdata.json").read_text())
    records = read(reference_folder / "risk_testdata.csv.gz")
    report = sqlmicro.audit(
        str(data_folder / "testdata.csv"), quasi=KEYS, weight="sampling_weight", household="ori_hid",
        measure="household-risk",
    )  # fmt: skip
    (found,) = report["audits"]
    assert found["value"] == pytest.approx(max(float(row["hier_risk"]) for row in records), rel=1e-12)
    assert found["expected"] == pytest.approx(known["hier_risk_ER"], rel=1e-12)
    assert found["mean"] == pytest.approx(known["hier_risk"], rel=1e-12)
    assert (found["households"], found["members"]) == (1000, 4580)


def test_missing_values_that_match_every_value(
    warehouse: DuckDBWarehouse, missing: Path, reference_folder: Path
) -> None:
    found = audited(warehouse, missing, weight="sampling_weight", nulls="wildcard")
    cells = by_key(warehouse, found.weighted_cells, "size, total")
    known = read(reference_folder / "freqCalc_testdata_NA.csv")
    assert len(known) == 4580
    for row, theirs in zip(read(missing), known, strict=True):
        assert cells[key_of(row)] == (int(theirs["fk_alpha1"]), float(theirs["Fk_alpha1"]))


def test_missing_values_are_told_apart_by_reading(missing: Path, reference_folder: Path) -> None:
    known = Counter(float(row["fk_alpha1"]) for row in read(reference_folder / "freqCalc_testdata_NA.csv"))
    uniques = {}
    for nulls in ("own_value", "wildcard", "exclude"):
        (row,) = sqlmicro.audit(str(missing), quasi=KEYS, nulls=nulls, measure="sample-uniques")["audits"]
        assert row["nulls"] == nulls
        uniques[nulls] = row["value"], row["records"]
    assert uniques["wildcard"] == (known[1], 4580)
    keys = [key_of(row) for row in read(missing)]
    complete = [key for key in keys if None not in key]
    assert uniques["own_value"] == (sum(n == 1 for n in Counter(keys).values()), 4580)
    assert uniques["exclude"] == (sum(n == 1 for n in Counter(complete).values()), len(complete))


def test_the_diversity_of_every_record(warehouse: DuckDBWarehouse, data_folder: Path, reference_folder: Path) -> None:
    keys = tuple(key for key in KEYS if key != "relat")  # those the figures were made with
    found = audited(warehouse, data_folder / "testdata.csv", quasi=keys, sensitive=("hhcivil",))
    members = found.members(found.sensitive[0])
    measured = []
    for name, more in (("distinct_values", {}), ("entropy", {}), ("recursive_diversity", {"c": 2.0})):
        classes = found.stage(f"audit/{name}.sql", name, members=members, columns=found.quasi, **more)
        measured.append(by_key(warehouse, classes, "measure", keys))
    known = read(reference_folder / "ldiversity_testdata_hhcivil.csv")
    for row, theirs in zip(read(data_folder / "testdata.csv"), known, strict=True):
        distinct, entropy, recursive = (part[key_of(row, keys)][0] for part in measured)
        assert distinct == int(theirs["hhcivil_Distinct_Ldiversity"])
        assert entropy == pytest.approx(float(theirs["hhcivil_Entropy_Ldiversity"]), rel=1e-9)
        assert recursive == int(theirs["hhcivil_Recursive_Ldiversity"])


def test_suda_scores_of_the_ihsn(data_folder: Path, reference_folder: Path) -> None:
    known = json.loads((reference_folder / "suda2_testdata_ihsn.json").read_text())
    path = str(data_folder / "testdata.csv")
    (row,) = sqlmicro.audit(path, quasi=KEYS, measure="suda-ihsn")["audits"]
    assert (row["total"], row["records"]) == (pytest.approx(known["sum_score"]), known["n_positive"])
    assert row["contributions"] == {
        part["variable"]: pytest.approx(part["contribution"]) for part in known["attribute_contributions"]
    }


def test_what_each_column_adds(data_folder: Path) -> None:
    (row,) = sqlmicro.audit(str(data_folder / "testdata.csv"), quasi=KEYS, measure="contribution")["audits"]
    rows = read(data_folder / "testdata.csv")
    average = {}
    for key in KEYS:
        counts = Counter(tuple(r[other] for other in KEYS if other != key) for r in rows)
        left = row["without"][key]
        assert (left["k"], left["uniques"]) == (min(counts.values()), sum(n == 1 for n in counts.values()))
        average[key] = len(counts) / len(rows)
    assert row["column"] == min(average, key=lambda key: average[key]) == "relat"
    assert row["value"] == pytest.approx(1 - average["relat"] / (412 / 4580))
