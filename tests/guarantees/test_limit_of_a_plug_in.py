"""A limit of another package is one class: options, searches, audit, report and certificate know it from there."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from command import run
from databases import opened

from sqlmicro.audits import runner
from sqlmicro.audits.inputs import AuditedOptions, audited
from sqlmicro.database.opening import open_warehouse
from sqlmicro.options.limits import LIMITS, limits
from sqlmicro.registry import find

ROOT = Path(__file__).parents[2]
ROWS = "SELECT range AS id, range % 41 AS age, ['flu', 'flu', 'flu', 'cough', 'gout'][1 + (range * 7) % 5] AS illness"


@pytest.fixture
def enhanced(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the option of the limit of the example, which is registered while a test runs."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "plugin"))
    from sqlmicro_neighbours import likeness

    limits()
    LIMITS.add(likeness.EnhancedBeta.declared)
    yield "max_enhanced_beta"
    LIMITS.remove("max_enhanced_beta")


def test_it_is_a_setting_of_every_method_that_keeps_guarantees(enhanced: str) -> None:
    for name in ("mdav", "mondrian", "generalize", "suppress", "safe"):
        assert enhanced in {setting.name for setting in find(name).settings}


@pytest.mark.parametrize("method", ["mdav", "suppress"])
def test_classes_keep_it_and_everything_that_tells_of_limits_tells_of_it(
    enhanced: str, method: str, tmp_path: Path
) -> None:
    db, to = tmp_path / "w.duckdb", tmp_path / "r.parquet"
    with opened(db) as connection:
        connection.execute(f"CREATE TABLE persons AS {ROWS} FROM range(300)")
    done = run(
        method, "--db", db, "--table", "persons", "--columns", "age", "--rest", "drop", "--k", 4, "--sensitive",
        "illness", "--max-enhanced-beta", 0.4, "--to", to, "--seed", 1, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    (check,) = [one for one in made["audits"] if one["check"] == "enhanced-beta-likeness"]
    assert (check["passed"], check["threshold"]) == (True, 0.4)
    assert 0.4 >= gain(to) == pytest.approx(check["value"], abs=1e-9)
    assert "no share above that in the whole table by more than" in made["verdict"]["sentence"]
    certified = run("certify", to, "--db", db, "--to", tmp_path / "r.json", "--unsigned")
    assert certified.returncode == 0, certified.stderr
    told = json.loads((tmp_path / "r.json").read_text())["attested"]
    assert [one["why"] for one in told if one["check"].startswith("enhanced")] == ["measured against the source"]


def gain(release: Path) -> float:
    """Return the largest gain of a value in a class, by its definition; the source has the same values."""
    rows = duckdb.sql(f"SELECT age, illness FROM '{release}'").fetchall()
    whole, classes = Counter(illness for _, illness in rows), defaultdict(Counter)
    for age, illness in rows:
        classes[age][illness] += 1
    gains = [n / one.total() / (whole[v] / len(rows)) - 1 for one in classes.values() for v, n in one.items()]
    assert all(
        n / one.total() <= (1 - math.log(p)) * p + 1e-9
        for one in classes.values() for v, n in one.items() for p in [whole[v] / len(rows)]
    )  # fmt: skip
    return max(gains)


def test_it_is_a_gate(enhanced: str, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,illness\n" + "30,flu\n30,flu\n30,gout\n40,flu\n40,gout\n40,gout\n")
    options = AuditedOptions(quasi=("age",), sensitive=("illness",))
    with open_warehouse(None) as warehouse:
        for limit, passed in ((0.34, True), (0.33, False)):
            (row,) = runner.run(audited(warehouse, str(table), options), (), {enhanced: limit}, {})[-1:]
            assert (row.check, row.passed) == ("enhanced-beta-likeness", passed)
            assert row.value == pytest.approx(1 / 3)


def test_what_it_asks_for_is_told_in_its_words(enhanced: str, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("age,illness\n" + "".join(f"{n},{'abc'[n % 3]}\n" for n in range(12)))
    words = ("mdav", "--table", table, "--columns", "age", "--rest", "drop", "--k", 2, "--to", tmp_path / "r.csv")
    alone = run(*words, "--max-enhanced-beta", 0.2)
    assert alone.returncode == 2 and "--max-enhanced-beta is about sensitive columns" in alone.stderr
    told = run(*words, "--sensitive", "illness", "--max-enhanced-beta", 0, "--json")
    assert told.returncode == 0, told.stderr
    (note,) = [one for one in json.loads(told.stdout)["notes"] if "enhanced" in one]
    assert note.startswith('enhanced beta = 0 of "illness" needs groups of at least 3')
