"""SAFE with persons and households: what is promised, counted in plain Python on random tables."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

import sqlmicro
from sqlmicro import InputError, ParameterError
from sqlmicro.safe_method.persons import dealt, least_records

TABLES = int(os.environ.get("TABLES", "24"))


def _texts(values: Any) -> list[str]:
    return [f"v{value}" for value in values]


def _visits(seed: int) -> tuple[dict[str, list[Any]], dict[str, Any], bool]:
    """Return a random table of visits, the settings of a release, and whether there are enough persons for it."""
    rng = np.random.default_rng(seed)
    k, persons, columns = int(rng.integers(2, 6)), int(rng.integers(2, 40)), int(rng.integers(1, 5))
    often = rng.pareto(1.0, persons) + 0.1 if seed % 2 else np.ones(persons)
    n = int(rng.integers(k, 150))
    person = rng.choice(persons, n, p=often / often.sum())
    home = rng.integers(0, 4, (persons, columns))
    table = {"p": [None if seed % 5 == 0 and one == 0 else int(one) for one in person], "line": list(range(n))}
    for j in range(columns):
        table[f"c{j}"] = _texts(np.where(rng.random(n) < 0.3, rng.integers(0, 4, n), home[person, j]))
    by = ["c0"] if seed % 3 == 0 and columns > 1 else []
    names = [name for name in table if name[0] == "c" and name not in by]
    there = defaultdict(set)
    for i in range(n):
        there[table["c0"][i] if by else ""].add(table["p"][i])
    settings = {
        "k": k, "columns": names, "nominal": names, "by": by, "person": ["p"], "keep": ["line"], "seed": str(seed),
        "accept_unique": ["line"], "method": ["search", "best", "cluster"][seed // 7 % 3], "effort": "fast",
        "of_person": [], "identifier_ok": names,
    }  # fmt: skip
    return table, settings, all(len(found) >= k for found in there.values())


@pytest.mark.slow
def test_every_combination_has_k_persons_or_too_few_are_there() -> None:
    import pyarrow as pa

    released = heavy = 0
    with sqlmicro.open() as session:
        for seed in range(TABLES):
            table, settings, possible = _visits(seed)
            try:
                with session.safe(pa.table(table), **settings) as release:
                    found, report = release.arrow().to_pydict(), release.report
            except InputError:
                assert not possible, seed
                continue
            assert possible, seed
            columns = [found[name] for name in (*settings["by"], *settings["columns"])]
            classes: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
            for line, record in zip(found["line"], zip(*columns, strict=True), strict=True):
                classes[record].add(table["p"][line])
            assert sorted(found["line"]) == table["line"], seed
            assert min(map(len, classes.values())) >= settings["k"], seed
            released += 1
            heavy += any("have so many records" in note for note in report["notes"])
    assert released > TABLES / 2 and heavy > TABLES / 25


@pytest.mark.parametrize("seed", range(20))
def test_the_least_size_is_the_least_that_always_works(seed: int) -> None:
    """By trying: of all files of classes of that size each can be dealt, and one of classes a record smaller cannot."""
    rng = np.random.default_rng(seed)
    k, persons = int(rng.integers(2, 4)), np.sort(rng.integers(0, int(rng.integers(2, 9)), int(rng.integers(4, 60))))
    n, size = len(persons), least_records(persons, k)
    if len(set(persons.tolist())) < k:
        assert size > n
        return

    def possible(least: int) -> bool:
        labels = np.minimum(np.arange(n) // least, n // least - 1)
        found = dealt(rng.permutation(labels), persons, k)
        assert sorted(Counter(found.tolist()).values()) == sorted(Counter(labels.tolist()).values())
        return min(len({*persons[found == label].tolist()}) for label in set(found.tolist())) >= k

    assert all(possible(least) for least in range(size, n + 1))
    smaller = [least for least in range(k, size) if n // least > n // size]
    assert not any(possible(least) for least in smaller)


def test_what_can_be_denied_counts_persons() -> None:
    """A combination that one person has in many records is unique: recounted from the records."""
    import pyarrow as pa

    rng, k, n = np.random.default_rng(3), 4, 600
    person = np.minimum(rng.geometric(0.01, n), 150)
    home = np.minimum(rng.geometric(0.4, (151, 5)) - 1, 3)
    columns = [f"c{j}" for j in range(5)]
    rows = np.where(rng.random((n, 5)) < 0.05, rng.integers(0, 4, (n, 5)), home[person])
    table = {"p": person.tolist(), **{name: _texts(rows[:, j]) for j, name in enumerate(columns)}}
    settings = {"k": k, "columns": columns, "nominal": columns, "person": ["p"], "seed": "3", "effort": "fast"}
    settings |= {"nulls": "pattern"}  # what is drawn depends on it
    with sqlmicro.open() as session, session.safe(pa.table(table), method="search", rest="drop", **settings) as release:
        records, report = release.arrow().select(columns).to_pydict(), release.report
    released = Counter(zip(*records.values(), strict=True))
    whose = defaultdict(set)
    for *record, one in zip(*(table[name] for name in columns), table["p"], strict=True):
        whose[tuple(record)].add(one)
    (found,) = [row for row in report["audits"] if row["check"] == "invented"]
    rare = [record for record in released if len(whose.get(record, ())) < k]
    uniques = [record for record, some in whose.items() if len(some) == 1]
    many = Counter(zip(*(table[name] for name in columns), strict=True))
    assert any(many[record] >= k for record in uniques), "no person has one combination k times"
    assert (found["rare"], found["uniques"]) == (len(rare), len(uniques))
    assert found["invented"] == sum(record not in whose for record in rare) >= 0.2 * len(rare)
    assert found["uniques_shown"] == sum(record in released for record in uniques) <= 0.25 * len(uniques)


def _households(seed: int, many: int = 60) -> dict[str, list[Any]]:
    """Return persons in households: two columns of the household, three of the person, an income for each person."""
    rng = np.random.default_rng(seed)
    size = np.minimum(1 + rng.poisson(2, many), 9)
    size[0] = 200 if seed % 3 == 0 else size[0]
    home = np.repeat(np.arange(many), size)
    n = len(home)
    unknown = (home % 11 == 0) & (seed % 2 == 1)
    roof, water = rng.integers(0, 4, many), rng.integers(0, 3, many)
    return {
        "pid": list(range(n)),
        "hid": [None if there else one for one, there in zip(home.tolist(), unknown, strict=True)],
        "roof": [None if one == 3 else f"r{one}" for one in roof[home]], 'the "water"': _texts(water[home]),
        "sex": _texts(rng.integers(0, 2, n)), "age": rng.integers(0, 30, n).tolist(),
        "job": _texts(rng.integers(0, 5, n)),
    }  # fmt: skip


WATER = 'the "water"'
OF_HOUSEHOLD, COLUMNS = ["roof", WATER], ["roof", WATER, "sex", "age", "job"]
LEVELS = {
    "columns": COLUMNS, "nominal": ["roof", WATER, "sex", "job"], "numeric": ["age"], "person": ["pid"],
    "household": ["hid"], "keep": ["line"], "accept_unique": ["line"], "nulls": "keep", "effort": "fast",
}  # fmt: skip


def _placed(table: dict[str, list[Any]], **options: Any) -> tuple[dict[str, list[Any]], Any]:
    import pyarrow as pa

    with sqlmicro.open() as session:
        table = {**table, "line": list(range(len(table["pid"])))}
        with session.safe(pa.table(table), **{**LEVELS, "seed": "1", **options}) as release:
            found = release.arrow().to_pydict()
            report = release.report
    order = np.argsort(found["line"])
    return {name: [values[i] for i in order] for name, values in found.items()}, report


@pytest.mark.slow_but("3")
@pytest.mark.parametrize("seed", range(max(4, TABLES // 12)))
def test_households_stay_whole_and_both_levels_keep_k(seed: int) -> None:
    k, table = 3 + seed % 3, _households(seed)
    found, report = _placed(table, k=k, method=["search", "best", "cluster"][seed % 3])
    households: dict[Any, set[Any]] = defaultdict(set)
    of_class: dict[Any, set[Any]] = defaultdict(set)
    persons: dict[Any, set[Any]] = defaultdict(set)
    for i in range(len(table["pid"])):
        own = tuple(found[name][i] for name in OF_HOUSEHOLD)
        households[table["hid"][i] if table["hid"][i] is not None else -1 - i].add(own)
        of_class[own].add(table["hid"][i])
        persons[(*own, *(found[name][i] for name in COLUMNS[2:]))].add(table["pid"][i])
    assert all(len(values) == 1 for values in households.values())
    assert min(map(len, of_class.values())) >= k
    assert min(map(len, persons.values())) >= k
    assert any(row["check"] == "differing households" and row["value"] == 0 for row in report["audits"])


def _deviation(before: dict[str, list[Any]], after: dict[str, list[Any]], columns: list[str], order: int) -> float:
    """Return the mean over the tables of `order` columns of sum |dA| / 2n."""
    shares = []
    for some in combinations(columns, order):
        one, other = (Counter(zip(*(file[name] for name in some), strict=True)) for file in (before, after))
        shares.append(sum(abs(one[cell] - other[cell]) for cell in one | other) / (2 * len(before["pid"])))
    return float(np.mean(shares))


@pytest.mark.slow
def test_all_tables_stay_about_as_near_as_without_households() -> None:
    table = _households(1, many=1_000)
    whole, _ = _placed(table, k=3, method="search", effort="full")
    mixed, _ = _placed(table, k=3, method="search", effort="full", household=[], drop=["hid"], invented=0.0)
    for order in (1, 2, 3):
        assert _deviation(table, whole, COLUMNS, order) < 1.5 * _deviation(table, mixed, COLUMNS, order) + 0.001


@pytest.mark.slow
def test_what_cannot_be_is_refused() -> None:
    table = _households(1)
    with pytest.raises(InputError, match="every person belongs to one household"):
        _placed({**table, "pid": [*table["pid"][:-1], 0]}, k=3)
    n = len(table["pid"])
    with pytest.raises(InputError, match="k = 3"):
        _placed({**table, "hid": [0] * n, "roof": ["r0"] * n}, k=3)
    with pytest.raises(ParameterError, match="columns of a person or household are released by a search of their own"):
        _placed(table, k=3, invented=0.5)


@pytest.mark.slow
def test_columns_of_the_person_may_have_more_values_than_make_a_table() -> None:
    """They become means, by which no table is made, and classes with the same codes stay apart."""
    import pyarrow as pa

    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(200), 3)
    table = {
        "p": person.tolist(),
        "sex": _texts(rng.integers(0, 2, 200)[person]),
        "income": rng.normal(1000, 300, 200)[person].tolist(),
        "ward": _texts(rng.integers(0, 3, 600)),
    }
    given: dict[str, Any] = {
        "person": ["p"], "of_person": ["sex", "income"], "keep": ["line"], "accept_unique": ["line"], "k": 3,
        "seed": "1", "effort": "fast",
    }  # fmt: skip
    lined = pa.table({**table, "line": list(range(600))})
    with sqlmicro.open() as session, session.safe(lined, **given) as release:
        found = release.arrow().to_pydict()
    persons, incomes = defaultdict(set), defaultdict(set)
    for line, *values in zip(found["line"], found["sex"], found["income"], found["ward"], strict=True):
        persons[tuple(values)].add(table["p"][line])
        incomes[table["p"][line]].add((values[0], values[1]))
    assert min(map(len, persons.values())) >= 3
    assert {len(one) for one in incomes.values()} == {1}
