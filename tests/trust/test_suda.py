"""SUDA as Elliot et al. (2002) and sdcMicro since 5.0.2 score it, by record, and the older formula by its name."""

from __future__ import annotations

import csv
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import sqlmicro
from sqlmicro.audits import inputs
from sqlmicro.audits.suda import Weigh, dis_suda, elliot, ihsn, scores, units
from sqlmicro.cli import app
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.options.common import MachineOptions
from sqlmicro.options.params import take

Rows = Sequence[Sequence[Any]]
GUIDELINE = [
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]
"""The ten records of the SDC practice guide, table "Illustrating the calculation of SUDA and DIS-SUDA scores"."""
BOOK = [
    *[("20s", "male", "50k+", "highschool")] * 2, *[("20s", "male", "50k-", "highschool")] * 2,
    ("20s", "female", "50k-", "university"), ("20s", "female", "50k-", "highschool"),
    ("20s", "female", "50k-", "middleschool"), ("60s", "male", "50k-", "university"),
]  # fmt: skip
"""The eight records of the paper's example, as sdcMicro tests them."""


@pytest.fixture(scope="module")
def warehouse() -> Iterator[DuckDBWarehouse]:
    with open_warehouse(None, machine=MachineOptions(threads=1)) as opened:
        yield opened


def load(warehouse: DuckDBWarehouse, rows: Rows) -> list[str]:
    """Make the table `release` and return its columns; the last one numbers the records."""
    names = [f"c{i}" for i in range(len(rows[0]))]
    defined = ", ".join(f"{name} VARCHAR" for name in names)
    warehouse.query("test", f"CREATE OR REPLACE TABLE memory.main.release ({defined}, number INTEGER)")
    marks = count(1)
    places = ", ".join("(" + ", ".join(f"${next(marks)}" for _ in row) + f", {n})" for n, row in enumerate(rows))
    texts = [None if value is None else str(value) for row in rows for value in row]
    warehouse.insert("test", f"INSERT INTO memory.main.release VALUES {places}", texts)
    return names


def by_record(
    warehouse: DuckDBWarehouse, rows: Rows, weigh: Weigh, size: int | None = None, **given: Any
) -> list[float]:
    """Return the score of every record, in order; of its person, where persons are counted."""
    names = load(warehouse, rows)
    person = given.get("person", ())
    quasi = tuple(name for name in names if name not in person)
    audited = inputs.audited(warehouse, "release", take(inputs.AuditStep, {"quasi": quasi, **given}, "test"))
    found = scores(audited, size or len(quasi), weigh)
    same = " AND ".join(f"u.{name} IS NOT DISTINCT FROM r.{name}" for name in quasi)
    text = f"""SELECT number, max(score) OVER (PARTITION BY {", ".join(person) or "number"}) FROM (
      SELECT r.number, {"".join(f"r.{name}, " for name in person)}max(coalesce(s.score, 0)) AS score
      FROM memory.main.release AS r
      JOIN {{{{ units | ident }}}} AS u ON {same}
      LEFT JOIN {{{{ scores | ident }}}} AS s USING (cell) GROUP BY ALL) ORDER BY ALL"""
    return [score for _, score in warehouse.query("test", text, units=units(audited), scores=found)]


def naive_minimal_uniques(rows: Rows) -> list[list[tuple[int, ...]]]:
    """Return the sets of columns in which each record is unique, and in no part of them."""
    m = len(rows[0])
    found: list[list[tuple[int, ...]]] = [[] for _ in rows]
    for n in range(1, m + 1):
        for chosen in combinations(range(m), n):
            seen = Counter(tuple(row[i] for i in chosen) for row in rows)
            for number, row in enumerate(rows):
                if seen[tuple(row[i] for i in chosen)] == 1:
                    found[number] += [] if any(set(part) <= set(chosen) for part in found[number]) else [chosen]
    return found


def naive(rows: Rows, formula: str) -> list[float]:
    """Return the score of every record by the published formula, with factorials."""
    m = len(rows[0])
    sets = [Counter(map(len, chosen)) for chosen in naive_minimal_uniques(rows)]
    if formula == "elliot":
        return [float(sum(math.factorial(m - n) * number for n, number in found.items())) for found in sets]
    return [sum((2 ** (m - n) - 1) / math.comb(m, n) * number for n, number in found.items()) for found in sets]


def test_example_of_the_guideline_record_by_record(warehouse: DuckDBWarehouse) -> None:
    """SDC practice guide, and tests/testthat/test_suda2.R of sdcMicro."""
    assert by_record(warehouse, GUIDELINE, elliot) == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert by_record(warehouse, GUIDELINE, ihsn) == [0, 0, 1.75, 0, 3.25, 0, 1.75, 2.75, 0, 0]


def test_example_of_the_paper_record_by_record(warehouse: DuckDBWarehouse) -> None:
    assert by_record(warehouse, BOOK, elliot)[4:] == [4, 2, 6, 8]


def test_a_record_that_is_unique_in_all_columns_only_has_the_least_score(warehouse: DuckDBWarehouse) -> None:
    """Minimal uniques of all columns are looked for too: 1 by Elliot, 0 by the formula of the IHSN."""
    rows = [("a", "x", 1), ("a", "x", 2), ("a", "y", 1), ("b", "x", 1)] + [
        pair for pair in [("a", "y", 2), ("b", "y", 1), ("b", "x", 2)] for _ in range(2)
    ]
    assert naive_minimal_uniques(rows)[0] == [(0, 1, 2)]
    assert by_record(warehouse, rows, elliot)[0] == 1
    assert by_record(warehouse, rows, elliot, size=2)[0] == 0
    assert by_record(warehouse, rows, ihsn)[0] == 0


def test_contributions_are_those_of_sdcmicro(tmp_path: Path) -> None:
    """Three small examples of its tests: 50, 37.5 and 37.5 percent in every order of the columns."""
    shares = {"a": 50.0, "b": 37.5, "c": 37.5}
    path = tmp_path / "three.csv"
    path.write_text("a,b,c\n2,0,0\n1,3,6\n1,0,0\n")
    for order in ("abc", "acb", "cab", "cba"):
        (row,) = sqlmicro.audit(str(path), quasi=list(order), measure="suda")["audits"]
        assert row["contributions"] == {name: shares[name] for name in order}


@pytest.mark.slow
def test_scores_of_every_record_of_testdata(data_folder: Path, warehouse: DuckDBWarehouse) -> None:
    """Seven columns of 4 580 records, of which 412 differ: every score against the definition."""
    keys = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
    with (data_folder / "testdata.csv").open(newline="") as file:
        rows = [tuple(row[key] for key in keys) for row in csv.DictReader(file)]
    expected = {"elliot": naive(rows, "elliot"), "ihsn": naive(rows, "ihsn")}
    for weigh in (elliot, ihsn):
        (row,) = sqlmicro.audit(
            str(data_folder / "testdata.csv"), quasi=list(keys), measure="suda" if weigh is elliot else "suda-ihsn"
        )["audits"]
        theirs = expected[weigh.__name__]
        assert row["value"] == pytest.approx(max(theirs))
        assert (row["total"], row["records"]) == (pytest.approx(sum(theirs)), sum(score > 0 for score in theirs))
        distinct = list(dict.fromkeys(rows))
        sizes = Counter(rows)
        some = [key for key in distinct for _ in range(min(2, sizes[key]))]
        of = dict(zip(rows, theirs, strict=True))
        assert by_record(warehouse, some, weigh) == pytest.approx([of[key] for key in some])


SEEDS = pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 25), marks=pytest.mark.slow)], ids=str)


@SEEDS
def test_scores_of_random_tables(warehouse: DuckDBWarehouse, seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(seed)
        m = rng.randint(1, 5)
        rows = [tuple(rng.choice(["a", "b", "c", None][: rng.randint(2, 4)]) for _ in range(m)) for _ in range(9)]
        for weigh in (elliot, ihsn):
            assert by_record(warehouse, rows, weigh) == pytest.approx(naive(rows, weigh.__name__)), (seed, rows)


def test_dis_suda_of_the_guideline(tmp_path: Path) -> None:
    """The guide prints 0.0051, 0.0107 and 0.0088 for a 1 % sample, which follow from the scores of the IHSN."""
    path = tmp_path / "guideline.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["residence", "gender", "education", "labour"], *GUIDELINE])
    given = {"quasi": ["residence", "gender", "education", "labour"], "sampling_fraction": 0.01}
    for measure, highest in (("suda-ihsn", 0.0107), ("suda", 0.0114)):
        (row,) = sqlmicro.audit(str(path), measure=measure, **given)["audits"]
        assert row["dis_suda"]["highest"] == pytest.approx(highest, abs=0.00005)
        assert row["dis_suda"]["records"]["0.1"] == sum(row["dis_suda"]["records"].values()) == 4
    found = dis_suda({1.75: 2, 3.25: 1, 2.75: 1}, uniques=4, paired=6, m=4, fraction=0.01)
    assert [round(found[score], 4) for score in (1.75, 3.25, 2.75)] == [0.0051, 0.0107, 0.0088]


@pytest.mark.slow
def test_dis_suda_takes_the_fraction_from_the_weights_and_says_when_it_has_none(tmp_path: Path) -> None:
    path = tmp_path / "guideline.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c", "d", "w"], *[(*row, 100) for row in GUIDELINE]])
    given: dict[str, Any] = {"quasi": list("abcd"), "measure": "suda"}
    (weighted,) = sqlmicro.audit(str(path), weight="w", **given)["audits"]
    (named,) = sqlmicro.audit(str(path), sampling_fraction=0.01, **given)["audits"]
    assert weighted["dis_suda"] == named["dis_suda"]
    (whole,) = sqlmicro.audit(str(path), sampling_fraction=1.0, **given)["audits"]
    assert whole["dis_suda"]["highest"] == 1.0, "who is unique in the whole population is found"
    (neither,) = sqlmicro.audit(str(path), **given)["audits"]
    assert neither["dis_suda"] == {"reason": "needs --sampling-fraction or --weight"}
    with pytest.raises(sqlmicro.SqlmicroError, match="must be above 0"):
        sqlmicro.audit(str(path), sampling_fraction=0, **given)
    arguments = ["audit", "--table", str(path), "--quasi", "a,b,c,d", "--measure", "suda"]
    out = " ".join(CliRunner().invoke(app, [*arguments, "--sampling-fraction", "0.01"]).stdout.split())
    assert "4 have a score, from combinations of up to 4 columns. DIS-SUDA is at most 0.0113" in out
    assert "DIS-SUDA needs --sampling-fraction or --weight." in " ".join(
        CliRunner().invoke(app, arguments).stdout.split()
    )


@SEEDS
def test_a_person_is_unique_where_nobody_else_has_her_values(warehouse: DuckDBWarehouse, seeds: range) -> None:
    """Two records of person 1 share `a`: counted by record, nobody would be unique in the first column."""
    rows = [("a", "x", 1), ("a", "y", 1), ("b", "x", 2), ("b", "y", 2), ("b", "x", 3), ("b", "y", 3)]
    assert by_record(warehouse, rows, elliot, person=("c2",)) == [1, 1, 0, 0, 0, 0]
    for seed in seeds:
        rng = random.Random(seed)
        drawn = [(rng.choice("abc"), rng.choice("xy"), rng.choice("pq"), rng.choice([1, 2, 3])) for _ in range(8)]
        expected = []
        for row in drawn:
            unique = [
                set(chosen)
                for n in (1, 2, 3)
                for chosen in combinations(range(3), n)
                if len({other[3] for other in drawn if all(other[i] == row[i] for i in chosen)}) == 1
            ]
            smallest = [chosen for chosen in unique if not any(part < chosen for part in unique)]
            expected.append(sum(math.factorial(3 - len(chosen)) for chosen in smallest))
        best = [max(score for other, score in zip(drawn, expected, strict=True) if other[3] == row[3]) for row in drawn]
        assert by_record(warehouse, drawn, elliot, person=("c3",)) == best, seed


def test_gates_hold_the_score_that_they_name(tmp_path: Path) -> None:
    path = tmp_path / "guideline.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c", "d"], *GUIDELINE])
    given: dict[str, Any] = {"quasi": list("abcd")}
    for gate, value in (("max_suda", 12), ("max_suda_ihsn", 3.25)):
        assert sqlmicro.audit(str(path), **given, **{gate: value})["passed"]
        assert not sqlmicro.audit(str(path), **given, **{gate: value - 0.01})["passed"]


def test_more_columns_than_can_be_searched_are_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    names = [f"c{i}" for i in range(13)]
    path.write_text("\n".join([",".join(names), *[",".join(str((i * j) % 3) for j in range(13)) for i in range(9)]]))
    (row,) = sqlmicro.audit(str(path), quasi=names, measure="suda")["audits"]
    assert "at most 5,000 combinations" in row["reason"]
    assert "Choose a smaller --suda-size" in row["reason"]
    assert row["status"] == "unknown"
    assert not row["passed"]
    (row,) = sqlmicro.audit(str(path), quasi=names, measure="suda", suda_size=2)["audits"]
    assert row["size"] == 2
