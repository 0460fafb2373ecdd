"""What SAFE says that a release discloses is so: "no released record is known to be true" was not."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from databases import opened
from world import Workbench

import sqlmicro

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def db(workbench: Workbench) -> str:
    rng = random.Random(2)
    n = 300
    return workbench.make({
        "sex": ("VARCHAR", [rng.choice("fm") for _ in range(n)]),
        "region": ("VARCHAR", [rng.choice("abcdefgh") for _ in range(n)]),
        "children": ("DOUBLE", [float(rng.choice([0, 0, 1, 2, 3, 7])) for _ in range(n)]),
        "income": ("DOUBLE", [round(rng.lognormvariate(8, 1), 2) for _ in range(n)]),
        "stratum": ("INTEGER", [rng.choice([1, 2]) for _ in range(n)]),
    })  # fmt: skip


def rows(db: str, table: str, columns: list[str]) -> set[tuple[Any, ...]]:
    with opened(db, read_only=True) as connection:
        return set(connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall())


slow = partial(pytest.param, marks=pytest.mark.slow)


@pytest.mark.slow_but("options0-columns0", "options6-columns6")
@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (
            {"columns": ["sex", "region", "children"], "deal": "none", "invented": 0.0},
            ["sex", "region", "children"],
        ),
        ({"columns": ["sex", "region", "children"]}, ["sex", "region"]),
        ({"columns": ["sex", "region", "income"]}, ["sex", "region"]),
        slow({"columns": ["sex", "region", "income"], "round": ["income=1000"]}, ["sex", "region"]),
        slow({"columns": ["sex", "region", "children"], "numeric_values": "means"}, ["sex", "region"]),
        slow({"columns": ["sex", "region"], "by": ["stratum"]}, ["sex", "region", "stratum"]),
        (
            {"columns": ["sex", "region", "children"], "by": ["stratum"], "invented": 0.0, "deal": "none"},
            ["sex", "region", "children", "stratum"],
        ),
    ],
)
def test_what_the_search_releases_occurs(db: str, options: dict[str, Any], columns: list[str]) -> None:
    numeric = [name for name in ("children", "income") if name in options["columns"]]
    report = sqlmicro.safe(
        "records", db=db, k=3, method="search", effort="fast", rest="drop", into="out", numeric=numeric, seed="1",
        **options,
    )  # fmt: skip
    assert rows(db, "out", columns) <= rows(db, "records", columns)
    said = report["safe_parts"]["summary"]["not_told"]
    named, _, rest = said.removeprefix("every released combination of ").partition(" occurs in the original")
    assert set(named.split(", ")) == set(columns)
    assert rest


@pytest.mark.slow
def test_invented_combinations_are_said_where_there_are_some(workbench: Workbench) -> None:
    rng = random.Random(3)
    values = {"sex": 2, "region": 4, "size": 3, "band": 4, "town": 5}
    columns = list(values)
    path = workbench.make(
        {name: ("INTEGER", [rng.choice(range(top)) for _ in range(600)]) for name, top in values.items()}
    )
    for invented, said in ((0.5, "may be invented"), (0.0, "occurs in the original")):
        report = sqlmicro.safe(
            "records", db=path, k=3, method="search", effort="fast", nominal=columns, into="out", overwrite=True,
            seed="1", invented=invented,
        )  # fmt: skip
        note = report["safe_parts"]["summary"]["not_told"]
        assert said in note
        assert (rows(path, "out", columns) <= rows(path, "records", columns)) == (invented == 0)


def test_a_combination_of_means_and_modes_may_not_occur(db: str) -> None:
    report = sqlmicro.safe(
        "records", db=db, columns=["sex", "children", "income"], numeric=["children", "income"], k=5, method="cluster",
        algorithm=["mdav"], unify_numeric=["mean"], rest="drop", into="out", seed="1",
    )  # fmt: skip
    columns = ["sex", "children", "income"]
    assert not rows(db, "out", columns) <= rows(db, "records", columns)
    said = report["safe_parts"]["summary"]["not_told"]
    assert "may occur in the original or not" in said
    assert "every released combination" not in said


def test_the_false_sentence_is_nowhere() -> None:
    texts = [ROOT / "README.md", *(ROOT / "sqlmicro").rglob("*.py"), *(ROOT / "sqlmicro").rglob("*.md")]
    assert len(texts) > 100
    wrong = [path.name for path in texts if "known to be true" in " ".join(path.read_text(encoding="utf-8").split())]
    assert wrong == []
