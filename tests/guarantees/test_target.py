"""--target: what models are to tell is released as it is; k holds of all else, and limits of the target too."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

import pytest
from world import refused

TABLE: dict[str, tuple[str, list[Any]]] = {}
_r = random.Random(2)
TABLE["age"] = ("INTEGER", [_r.randint(20, 60) for _ in range(90)])
TABLE["sex"] = ("VARCHAR", [_r.choice("mf") for _ in range(90)])
TABLE['net "income"'] = ("INTEGER", [100 * _r.randint(5, 9) for _ in range(90)])
TABLE["id"] = ("INTEGER", list(range(90)))
TARGET = 'net "income"'


def _released(workbench: Any, method: str, **options: Any) -> Any:
    given = {"k": 3, "target": TARGET, "keep": ["id"], "accept_unique": ["id"], "seed": "1", **options}
    return workbench.release(method, workbench.make(TABLE), **given)


@pytest.mark.parametrize("method", ["microaggregate", "safe"])
def test_every_record_keeps_its_target_and_k_holds_of_the_rest(workbench: Any, method: str) -> None:
    options = {"columns": ["age"], "rest": "drop"} if method == "microaggregate" else {"effort": "fast"}
    release = _released(workbench, method, **options)
    own = dict(zip(TABLE["id"][1], TABLE[TARGET][1], strict=True))
    rest = ["age"] if method == "microaggregate" else ["age", "sex"]
    records = release.records([*rest, TARGET, "id"])
    assert len(records) == 90 and all(own[row[-1]] == row[-2] for row in records)
    assert min(Counter(row[: len(rest)] for row in records).values()) >= 3
    assert release.report["steps"][0]["parameters"]["target"] == TARGET


def test_a_limit_holds_of_the_target(workbench: Any) -> None:
    release = _released(workbench, "microaggregate", columns=["age"], rest="drop", min_l=3)
    seen = defaultdict(set)
    for age, income in release.records(["age", TARGET]):
        seen[age].add(income)
    assert min(map(len, seen.values())) >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["age", TARGET]}, "a column has one role only"),
        ({"columns": ["age"], "target": "nowhere"}, "no column 'nowhere'"),
        ({"columns": ["age"], "target": "id", "accept_unique": []}, "must not alone make more than 5 %"),
    ],
)
def test_a_target_that_cannot_be_kept_is_refused(workbench: Any, options: dict[str, Any], message: str) -> None:
    db = workbench.make(TABLE)
    with refused(message, db):
        workbench.release("microaggregate", db, **{"k": 3, "target": TARGET, "rest": "drop", **options})
