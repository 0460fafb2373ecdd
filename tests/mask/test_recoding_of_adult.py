"""Recoding of the Adult data: the optima that ARX finds, and local recoding, measured on what was published alone."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

import sqlmicro

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
SENSITIVE = "occupation"
MODELS: dict[str, dict[str, Any]] = {
    "a k=5": {},
    "b k=5 l=3": {"min_l": 3},
    "c k=5 t=0.2": {"max_t": 0.2},
    "d k=5 l=3 t=0.2": {"min_l": 3, "max_t": 0.2},
}
LOCAL = {"a k=5": 0.0267, "b k=5 l=3": 0.0302, "c k=5 t=0.2": 0.4351, "d k=5 l=3 t=0.2": 0.4351}
QUICK = (("b k=5 l=3", 0.05),)


def _read(path: Path, delimiter: str) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def _release(folder: Path, tmp_path: Path, model: str, **given: Any) -> tuple[list[dict[str, str]], list[str]]:
    hierarchies = [f"{name}={folder / f'adult_hierarchy_{name}.csv'}" for name in QUASI]
    asked = {"sensitive": [SENSITIVE], **MODELS[model]} if MODELS[model] else {"keep": [SENSITIVE]}
    report = sqlmicro.generalize(
        str(folder / "adult.csv"), delimiter=";", columns=QUASI, hierarchy=hierarchies, until_k=5, rest="drop",
        to=str(tmp_path / "release.csv"), overwrite=True, **asked, **given,
    )  # fmt: skip
    return _read(tmp_path / "release.csv", ","), report["notes"]


def _measured(folder: Path, released: list[dict[str, str]]) -> dict[str, float]:
    """Measure k, l, t and the loss by the leaves of the hierarchy files, where a label stands on one level only."""
    original = _read(folder / "adult.csv", ";")
    total = 0.0
    for name in QUASI:
        with (folder / f"adult_hierarchy_{name}.csv").open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file, delimiter=";") if row]
        leaves = defaultdict(set)
        for row in rows:
            for label in row:
                leaves[label].add(row[0])
        total += sum((len(leaves[record[name]]) - 1) / (len(rows) - 1) for record in released)
        total += len(original) - len(released)
    whole = Counter(record[SENSITIVE] for record in original)
    classes: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for record in released:
        classes[tuple(record[name] for name in QUASI)][record[SENSITIVE]] += 1
    t = max(
        sum(abs(own[value] / sum(own.values()) - n / len(original)) for value, n in whole.items()) / 2
        for own in classes.values()
    )
    return {
        "loss": total / len(original) / len(QUASI), "classes": len(classes), "t": t,
        "suppressed": len(original) - len(released), "k": min(sum(own.values()) for own in classes.values()),
        "l": min(len(own) for own in classes.values()),
    }  # fmt: skip


@pytest.fixture(scope="session")
def adult(data_folder: Path) -> Path:
    """Return the folder of the Adult data, or skip the test."""
    if not (data_folder / "adult").is_dir():
        pytest.skip(f"no folder {data_folder / 'adult'}")
    return data_folder / "adult"


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        pytest.param(model, limit, marks=[] if (model, limit) in QUICK else [pytest.mark.slow])
        for model in MODELS
        for limit in (0.0, 0.05, 1.0)
    ],
)
def test_the_optimum_is_that_of_arx(
    adult: Path, reference_folder: Path, tmp_path: Path, model: str, limit: float
) -> None:
    results = json.loads((reference_folder / "arx_adult.json").read_text(encoding="utf-8"))["arx"]["results"]
    (theirs,) = (
        found
        for found in results
        if (found["model"], found["suppression_limit"], found["metric"]) == (model, limit, "loss-arithmetic")
        and found["local_recoding_fraction"] is None
    )
    released, notes = _release(adult, tmp_path, model, suppress_up_to=limit)
    found = _measured(adult, released)
    for measure, name in (("loss", "loss_arithmetic"), ("t", "t")):
        assert found[measure] == pytest.approx(theirs[name], abs=1e-9)
    for name in ("classes", "suppressed", "k", "l"):
        assert found[name] == theirs[name]
    note = next(note for note in notes if note.startswith("levels: "))
    assert {name: int(level) for name, level in re.findall(r"([a-z-]+) (\d+) of", note)} == theirs["levels"]
    told = next(note for note in notes if note.startswith("loss "))
    assert f"loss {theirs['loss_arithmetic']:.4f}," in told
    assert f"discernibility {theirs['discernibility']:,}" in told


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_local_recoding_suppresses_nothing_and_loses_no_more_than_was_reached(
    adult: Path, tmp_path: Path, model: str
) -> None:
    released, _ = _release(adult, tmp_path, model, local=True)
    found = _measured(adult, released)
    assert found["suppressed"] == 0
    assert round(found["loss"], 4) <= LOCAL[model]
    assert found["k"] >= 5
    assert found["l"] >= MODELS[model].get("min_l", 1)
    assert found["t"] <= MODELS[model].get("max_t", 1) + 1e-9


@pytest.mark.slow
def test_the_entropy_of_a_release_without_suppression_is_that_of_arx(
    adult: Path, reference_folder: Path, tmp_path: Path
) -> None:
    results = json.loads((reference_folder / "arx_adult.json").read_text(encoding="utf-8"))["arx"]["results"]
    for model in ("a k=5", "c k=5 t=0.2"):
        (theirs,) = (
            found
            for found in results
            if (found["model"], found["suppression_limit"], found["metric"]) == (model, 0, "entropy")
        )
        released, _ = _release(adult, tmp_path, model, metric="entropy")
        found = _measured(adult, released)
        assert found["loss"] == pytest.approx(theirs["loss_arithmetic"], abs=1e-9)
        assert found["classes"] == theirs["classes"]
