"""Targeted record swapping: against a naive reading of the algorithm, and what it keeps of a table with households."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from databases import insert, opened
from world import execute, records

import sqlmicro
from sqlmicro import InputError, ParameterError, SqlmicroError
from sqlmicro.mask.targeted import Households, exchange, shares


def naive(households: Households, wanted: Sequence[int]) -> tuple[list[int], int]:
    """Read the algorithm of sdcMicro's recordSwap word by word, with risks that fall; loops over all households."""
    levels, n = households.region.shape
    partner, used, alone, begun = list(range(n)), list(households.stays), 0, Counter[int]()

    def chance(level: int, i: int) -> float:
        return float(households.risk[level][i] / households.drawn[level][i])

    def swapped(level: int, i: int) -> bool:
        region = households.region[level]
        for profile in households.profiles:
            others = [j for j in range(n) if not used[j] and region[j] != region[i] and profile[j] == profile[i]]
            if others:
                best = max(others, key=lambda j: (chance(level, j), -j))
                partner[i], partner[best], used[i], used[best] = best, i, True, True
                begun[int(households.region[-1][i])] += 1
                return True
        return False

    for level in range(levels):
        due = [i for i in range(n) if not used[i] and households.due[i] == level]
        due.sort(key=lambda i: (-households.risk[level][i], -chance(level, i), i))
        for i in due:
            if not used[i]:
                alone += not swapped(level, i)
    for region in sorted(set(households.region[-1].tolist())):
        own = [i for i in range(n) if households.region[-1][i] == region and households.due[i] == levels]
        for i in sorted(own, key=lambda i: (-chance(levels - 1, i), i)):
            if not used[i] and begun[region] < wanted[region]:
                swapped(levels - 1, i)
    return partner, alone


def drawn(rng: np.random.Generator, n: int, levels: int, profiles: int) -> Households:
    """Draw households of regions within regions."""
    region = [rng.integers(0, 3, n)]
    for _ in range(levels - 1):
        region.append(region[-1] * 3 + rng.integers(0, 3, n))
    numbered = np.array([np.unique(one, return_inverse=True)[1] for one in region])
    risk = 1 / rng.integers(1, 9, (levels, n))
    due = np.where((risk > 0.4).any(axis=0), (risk > 0.4).argmax(axis=0), levels)
    alike = np.array([rng.integers(0, 2 + 20 // (1 + p), n) for p in range(profiles)])
    return Households(numbered, risk, due, alike, rng.exponential(size=(levels, n)), rng.random(n) < 0.1)


@pytest.mark.parametrize("n", [1, 2, 7, 40, 150])
@pytest.mark.parametrize(("levels", "profiles"), [(1, 1), (2, 1), (3, 2)])
def test_against_a_naive_one(n: int, levels: int, profiles: int) -> None:
    for seed in range(5):
        rng = np.random.default_rng([seed, n, levels])
        households = drawn(rng, n, levels, profiles)
        wanted = shares(np.bincount(households.region[-1]), rng.random(), rng)
        found = exchange(households, wanted)
        partner, alone = naive(households, wanted.tolist())
        assert found.partner.tolist() == partner
        assert found.alone == alone


def test_the_share_is_reached_by_whole_numbers() -> None:
    sizes = np.array([10, 100, 0, 33, 57])
    found = [shares(sizes, 0.05, np.random.default_rng(seed)) for seed in range(200)]
    assert {int(one.sum()) for one in found} == {5}
    assert all((np.abs(one - sizes * 0.025) < 1).all() for one in found)
    assert np.mean(found, axis=0) == pytest.approx(sizes * 0.025, abs=0.12)
    assert shares(sizes, 0.0, np.random.default_rng(0)).sum() == 0


# As a release

REGIONS = ["land", 'the "kreis"']
Row = dict[str, Any]


def made(path: Path, n: int = 240) -> str:
    """Write households of one to four in 3 lands of 4 parts each; every 20th is the only one of its job."""
    db = str(path / "people.duckdb")
    rng, rows = np.random.default_rng(3), []
    for home in range(n):
        land = int(rng.integers(3))
        kreis, size = f"{land}{int(rng.integers(4))}", int(rng.integers(1, 5))
        for member in range(size):
            job = f"job {home}" if home % 20 == 0 and member == 0 else "ab"[int(rng.integers(2))]
            rows.append(
                (len(rows), home, land, kreis, f"{kreis}-{home % 3}", job, size, "urban" if home % 2 else "rural")
            )
    with opened(db) as connection:
        connection.execute(
            'CREATE TABLE people (id INTEGER PRIMARY KEY, home INTEGER, land INTEGER, "the ""kreis""" VARCHAR, '
            "street VARCHAR, job VARCHAR, size INTEGER, area VARCHAR)"
        )
        insert(connection, "people", rows)
    return db


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    return made(tmp_path_factory.mktemp("targeted"))


def read(db: str, table: str) -> dict[int, Row]:
    return {row["id"]: row for row in records(db, f"FROM {table}")}


def swapped(db: str, columns: list[str] = REGIONS, **options: Any) -> tuple[str, dict[int, Row], dict[int, Row]]:
    """Return the note of a swap, and the records before and after, by id."""
    given = {"household": ["home"], "rest": "keep", "risk_columns": ["job"], "min_count": 2} | options
    apart = (*columns, *given.get("household", ()), *given.get("by", ()), *given.get("drop", ()))
    keep = [c for c in ("id", "home", "land", 'the "kreis"', "street", "job", "size", "area") if c not in apart]
    report = sqlmicro.swap(
        "people", db=db, columns=columns, kind="targeted", into="out", overwrite=True, alone_because="a test",
        accept_unique=keep, **given,
    )  # fmt: skip
    note = next((one for one in report["notes"] if "swapped" in one), "")
    return note, read(db, "people"), read(db, "out")


def moved(before: dict[int, Row], after: dict[int, Row], column: str = 'the "kreis"') -> set[int]:
    """Return the households whose region is another one."""
    return {row["home"] for i, row in before.items() if after[i][column] != row[column]}


RARE = set(range(0, 240, 20))


def test_who_is_rare_is_swapped_as_a_whole(db: str) -> None:
    note, before, after = swapped(db)
    homes = moved(before, after)
    assert note == f"{len(homes)} of 240 households swapped, {len(RARE)} were at risk"
    assert homes >= RARE
    assert len(homes) <= 2 * len(RARE), "two that are rare may exchange with each other"
    assert moved(before, after, "land") >= RARE, "rare in the largest regions: to another one of these"
    parts = defaultdict(set)
    for i, row in before.items():
        parts[row["home"]].add((after[i]["land"], after[i]['the "kreis"']))
    assert all(len(found) == 1 for found in parts.values()), "households stay together"
    assert all(kreis[0] == str(land) for found in parts.values() for land, kreis in found), "regions stay in each other"
    for columns in (["land", 'the "kreis"'],):
        counts = [Counter(tuple(row[c] for c in columns) for row in one.values()) for one in (before, after)]
        assert counts[0] == counts[1], "households of equal sizes were exchanged"
    assert all(after[i][c] == row[c] for i, row in before.items() for c in ("job", "size", "area", "street"))


@pytest.mark.slow
def test_the_rate_is_reached(db: str) -> None:
    for rate in (0.2, 0.5):
        _, before, after = swapped(db, rate=rate)
        assert len(moved(before, after)) == pytest.approx(240 * rate, abs=2)
    _, before, after = swapped(db, risk_columns=["size"], min_count=1, rate=0.1)
    assert len(moved(before, after)) == pytest.approx(24, abs=2), "nobody is at risk, and yet"


@pytest.mark.slow
def test_profiles(db: str) -> None:
    """A household of the same area and size where there is one, else of the same size."""
    _, before, after = swapped(db, similar="area,size;size")
    counts = [Counter((row["land"], row["size"]) for row in one.values()) for one in (before, after)]
    assert counts[0] == counts[1]
    note, before, after = swapped(db, similar="street")
    assert "found no similar one in another region and stay" in note
    note, before, after = swapped(db, similar="street;area")
    assert "found no similar" not in note
    with pytest.raises(ParameterError, match="has columns in every profile"):
        swapped(db, similar="area;;size")
    with pytest.raises(SqlmicroError, match="nowhere"):
        swapped(db, similar="nowhere")
    with pytest.raises(ParameterError, match="must be columns that are released"):
        swapped(db, similar="street", drop=["street"])


def test_strata_and_what_goes_along(db: str) -> None:
    _, before, after = swapped(db, [*REGIONS, "street"], carry_along=["street"], by=["area"])
    assert all(row["street"].startswith(row['the "kreis"']) for row in after.values())
    counts = [Counter((row["land"], row["area"]) for row in one.values()) for one in (before, after)]
    assert moved(before, after) >= RARE
    assert counts[0] == counts[1], "sizes and areas agree"


@pytest.mark.slow
def test_by_the_table_of_risks(tmp_path: Path) -> None:
    db = made(tmp_path)
    sqlmicro.audit("people", db=db, quasi=["job"], household=["home"], per_record="record_risk")
    for risk, where in (("individual", "> 0.5"), ("class-size", "< 2"), ("household", "> 0.999")):
        note, before, after = swapped(db, risk_columns=[], min_count=None, where_risk=where, risk=risk)
        assert f"{len(RARE)} were at risk" in note
        assert moved(before, after, "land") >= RARE


def test_records_without_households_and_without_a_region(tmp_path: Path) -> None:
    db = str(tmp_path / "p.duckdb")
    execute(
        db,
        "CREATE TABLE people AS SELECT i AS id, CASE WHEN i % 4 <> 3 THEN i % 4 END AS land, "
        "CASE WHEN i < 8 THEN i ELSE -1 END AS job FROM range(60) AS t(i)",
    )
    report = sqlmicro.swap(
        "people", db=db, columns=["land"], keep=["id", "job"], kind="targeted", risk_columns=["job"], into="out",
        accept_unique=["id", "job"],
    )  # fmt: skip
    before, after = read(db, "people"), read(db, "out")
    number = sum(before[i]["land"] != after[i]["land"] for i in before)
    assert any(f"{number} of 60 records swapped, 8 were at risk" in note for note in report["notes"])
    assert {i for i in before if before[i]["land"] is None} == {i for i in after if after[i]["land"] is None}
    assert {i for i in range(8) if i % 4 != 3} <= {i for i in before if before[i]["land"] != after[i]["land"]}


@pytest.mark.parametrize("rows", [[(1, 5, "x")], [(1, 5, "x"), (2, 5, "y")], [(1, None, "x"), (2, None, "y")]])
def test_where_there_is_nobody_to_swap_with(tmp_path: Path, rows: list[tuple[Any, ...]]) -> None:
    db = str(tmp_path / "p.duckdb")
    with opened(db) as connection:
        connection.execute("CREATE TABLE people (id INTEGER, land INTEGER, job VARCHAR)")
        insert(connection, "people", rows)
    sqlmicro.swap(
        "people", db=db, columns=["land"], keep=["id", "job"], accept_unique=["id", "job"], kind="targeted", rate=1.0,
        risk_columns=["job"], into="out",
    )  # fmt: skip
    assert sorted(row["land"] or 0 for row in read(db, "out").values()) == [row[1] or 0 for row in rows]


@pytest.mark.slow
def test_options_that_do_not_go_together(db: str) -> None:
    for options, said in (
        ({"risk_columns": [], "min_count": None}, "needs what is rare, or the records at risk"),
        ({"percent": 5.0}, "does not go with --kind targeted"),
        ({"rate": 1.5}, "up to 1"),
        ({"carry_along": REGIONS}, "leaves at least one column"),
        ({"carry_along": ["area"]}, "no column 'area'"),
        ({"risk_columns": ["street"], "drop": ["street"]}, "must be columns that are released"),
    ):
        with pytest.raises(SqlmicroError, match=said):
            swapped(db, **options)
    with pytest.raises(ParameterError, match="goes with --kind targeted"):
        sqlmicro.swap("people", db=db, columns=["land"], rest="drop", percent=5.0, similar="area", into="x")
    with pytest.raises(InputError, match="the same for all its members"):
        swapped(db, ["land", "job"], risk_columns=["size"])


@pytest.mark.slow
def test_one_key_makes_one_swap(db: str) -> None:
    first, again, other = (moved(*swapped(db, rate=0.3, seed=seed)[1:]) for seed in ("a", "a", "b"))
    assert first == again != other


def test_on_testdata(data_folder: Path, tmp_path: Path) -> None:
    """Of a survey in regions that are drawn: every household at risk goes, or is said to have found nobody."""
    db = str(tmp_path / "survey.duckdb")
    execute(
        db,
        "CREATE TABLE people AS SELECT row_number() OVER () AS id, ori_hid AS home, urbrur, relat, sex, "
        "ori_hid % 4 AS nuts1, 10 * (ori_hid % 4) + ori_hid // 7 % 3 AS nuts2, "
        f"count(*) OVER (PARTITION BY ori_hid) AS hsize FROM '{data_folder / 'testdata.csv'}'",
    )
    report = sqlmicro.swap(
        "people", db=db, columns=["nuts1", "nuts2"], household=["home"], rest="keep", kind="targeted", rate=0.1,
        risk_columns=["relat", "sex"], similar="hsize,urbrur;hsize", accept_unique=["id"], into="out", seed="s",
    )  # fmt: skip
    before, after = read(db, "people"), read(db, "out")
    for columns in (("nuts1", "nuts2", "hsize"),):
        counts = [Counter(tuple(row[c] for c in columns) for row in one.values()) for one in (before, after)]
        assert counts[0] == counts[1]
    rare = Counter((row["relat"], row["sex"], row["nuts1"], row["nuts2"]) for row in before.values())
    due = {row["home"] for row in before.values() if rare[row["relat"], row["sex"], row["nuts1"], row["nuts2"]] < 3}
    homes = moved(before, after, "nuts2")
    lost = len(due - homes)
    assert any(f"{len(homes):,} of 1,000 households swapped, {len(due):,} were at risk" in n for n in report["notes"])
    assert lost == 0 or any(f"{lost} found no similar one" in n for n in report["notes"])
    assert len(homes) >= 100
