"""Swapping until k-map holds: margins and combinations counted naively, tiny tables against the fewest exchanges."""

import itertools
import os
import random
from collections import Counter

import numpy as np
import pytest
from world import execute

import sqlmicro
from sqlmicro.errors import InputError, ParameterError, SqlmicroError
from sqlmicro.mask import population_swap
from sqlmicro.mask.population_swap import Sought, exchange
from sqlmicro.registry import silent

INCOME = 'net "income"'


def random_table(rng, n, p, strata, values, allowed, planted=0.8):
    """Return records and combinations they may have; with a share of `planted` such that there is a way."""
    codes = np.concatenate([rng.integers(0, values, (n, p)), rng.integers(0, 2, (n, strata))], axis=1)
    codes[:, :p][rng.random((n, p)) < 0.05] = -1
    combinations = np.concatenate(
        [rng.integers(0, values, (allowed, p)), rng.integers(0, 2, (allowed, strata))], axis=1
    )
    solution = codes.copy()
    for stratum in {tuple(row) for row in codes[:, p:].tolist()}:
        for c in range(p):
            rows = np.flatnonzero((codes[:, p:] == stratum).all(axis=1) & (codes[:, c] >= 0))
            solution[rows, c] = codes[rng.permutation(rows), c]
    if rng.random() < planted:
        combinations = np.concatenate([combinations, solution])
    return Sought(codes, np.unique(combinations, axis=0), np.maximum(codes[:, :p] / values, 0))


def exchanged(sought, rng):
    """Return the records after the exchange, how many are left without, and the exchanges; margins and gaps stay."""
    source, before, left, made = exchange(sought, rng, silent)
    codes, p = sought.codes, sought.rank.shape[1]
    after = codes.copy()
    for c in range(p):
        assert sorted(source[c].tolist()) == list(range(len(codes))), "every value is used once"
        after[:, c] = codes[source[c], c]
        assert (codes[source[c]][:, p:] == codes[:, p:]).all(), "within a stratum"
    assert ((after < 0) == (codes < 0)).all(), "a missing value stays where it is"
    allowed = {tuple(row) for row in sought.allowed.tolist()}
    assert left == sum(tuple(row) not in allowed for row in after.tolist())
    assert before == sum(tuple(row) not in allowed for row in codes.tolist())
    assert made >= (before - left) / 2
    return left, made


def fewest(sought):
    """Return the least number of exchanges of single values, breadth first; None if there is no way."""
    p, allowed = sought.rank.shape[1], {tuple(row) for row in sought.allowed.tolist()}
    level = [tuple(tuple(row) for row in sought.codes.tolist())]
    seen, made = set(level), 0
    while level:
        if any(all(row in allowed for row in rows) for rows in level):
            return made
        found = []
        for rows in level:
            for (i, one), (j, other) in itertools.combinations(enumerate(rows), 2):
                for c in range(p if one[p:] == other[p:] else 0):
                    if one[c] != other[c] and one[c] >= 0 and other[c] >= 0:
                        now = list(rows)
                        now[i], now[j] = (*one[:c], other[c], *one[c + 1 :]), (*other[:c], one[c], *other[c + 1 :])
                        if tuple(now) not in seen:
                            seen.add(tuple(now))
                            found.append(tuple(now))
        level, made = found, made + 1
    return None


def against_fewest(seeds):
    """Return the exchanges made and the fewest, of the tables that were solved, and the feasible ones that were not."""
    made = least = missed = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        sought = random_table(rng, n, p, int(rng.integers(2)), 3, int(rng.integers(1, 8)))
        left, ours = exchanged(sought, rng)
        best = fewest(sought)
        if best is None:
            assert left
        elif left:
            missed += 1
        else:
            assert ours >= best and not any(sought.hopeless())
            made, least = made + ours, least + best
    return made, least, missed


@pytest.mark.slow
def test_tiny_tables_against_the_fewest_exchanges():
    """Tables of 2 to 4 records: 19 exchanges where 17 are the fewest."""
    assert against_fewest(range(60)) == (19, 17, 0)


@pytest.mark.slow
def test_many_tiny_tables_against_the_fewest_exchanges():
    made, least, missed = against_fewest(range(1000, 1600))
    assert made <= 1.02 * least and missed <= 2


def unsolved(seeds, planted=0.8):
    """Return how many random tables are left with records that have no allowed combination."""
    left = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(5, 80)), int(rng.integers(1, 5))
        left += exchanged(random_table(rng, n, p, int(rng.integers(2)), 2 + seed % 5, 100, planted), rng)[0] > 0
    return left


def test_margins_stay_and_combinations_are_allowed_on_random_tables():
    """Of tables that can be mended 10 of 300 are not, 4 of the first 30; whether it can be is NP-hard to tell."""
    unsolved(range(50))
    assert unsolved(range(30), 1.0) <= 4


@pytest.mark.slow
def test_margins_stay_and_combinations_are_allowed_on_many_random_tables():
    """300 in CI, 3 000 by hand."""
    unsolved(range(10_000, 10_000 + int(os.environ.get("TABLES", "300"))))


def test_hopeless_values_are_counted_by_stratum():
    codes = np.array([[0, 1, 0], [2, 1, 0], [0, 1, 1], [-1, 1, 1]])
    sought = Sought(codes, np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]]), np.zeros((4, 2)))
    assert sought.hopeless() == [2, 0], "2 is in none, nothing is in none of the second stratum"


NAMES = ["size", INCOME, "town"]


def people(n, seed, members=12):
    """Make a population and a sample of it: two combinations have one member each, and nine could."""
    draw = random.Random(seed)
    everybody = [
        (draw.choice([20, 30, 40, 50]), draw.choice([1.5, 2.0, None]), draw.choice("xyz")) for _ in range(n * members)
    ]
    everybody += [(20, 9.0, "x"), (50, 9.0, "y")] + [(30, 9.0, "z")] * 9
    sample = [*draw.sample(everybody[: n * members], n), (20, 9.0, "x"), (50, 9.0, "y")]
    kinds = dict(zip(NAMES, ("INTEGER", "DOUBLE", "VARCHAR"), strict=True))
    population, records = (
        {name: (kinds[name], [row[i] for row in rows]) for i, name in enumerate(NAMES)} for rows in (everybody, sample)
    )
    records["number"] = ("INTEGER", list(range(len(sample))))
    return population, records


def made(workbench, population, records):
    """Return a database with both, and the file of the population."""
    db, other = workbench.make(records), workbench.make(population, "everybody")
    file = f"{other}.parquet"
    execute(other, f"COPY everybody TO '{file}' (FORMAT parquet)")
    execute(db, f"CREATE TABLE everybody AS SELECT * FROM '{file}'")
    return db, file


def members(population, release, names=NAMES):
    """Return how many members of the population have the rarest combination of a release."""
    count = Counter(zip(*(population[name][1] for name in names), strict=True))
    return min(count[row] for row in release.records(names))


@pytest.mark.parametrize("by", [[], ["town"]])
@pytest.mark.parametrize("kind", ["rank", "data"])
def test_a_release_has_combinations_that_the_population_has(workbench, kind, by):
    population, records = people(120, 1)
    if by:
        population = {name: (t, [*v, *([9.0, 30][name == "size"] if name != "town" else t for t in "xy" * 6)])
                      for name, (t, v) in population.items()}  # fmt: skip
    db, _ = made(workbench, population, records)
    on = [name for name in NAMES if name not in by and (kind == "data" or name != "town")]
    how = {"percent": 10.0} if kind == "rank" else {"rate": 0.2}
    release = workbench.release(
        "swap", db, kind=kind, columns=on, by=by, min_k_map=5, population="everybody", keep=["number"], rest="drop",
        seed="1", **how,
    )  # fmt: skip
    assert members(population, release, [*on, *by]) >= 5
    strata = list(zip(*(records[name][1] for name in by), strict=True)) or [()] * 122
    for name in on:
        before = Counter(zip(records[name][1], strata, strict=True))
        after = Counter((value, strata[number]) for value, number in release.records([name, "number"]))
        assert after == before, "margins stay, in every stratum"
    (found,) = (row for row in release.report["audits"] if row["check"] == "k-map")
    assert found["value"] == members(population, release, [*on, *by]) and found["threshold"] == 5 and found["passed"]
    assert any("further exchanges of single values" in note for note in release.report["notes"])


def test_population_in_a_file_and_the_same_again(workbench):
    population, records = people(80, 2)
    db, file = made(workbench, population, records)
    given = {"kind": "data", "rate": 0.1, "columns": NAMES, "min_k_map": 4, "keep": ["number"]}
    one, other = (workbench.release("swap", db, **given, population=file, seed="s") for _ in range(2))
    assert one.columns == other.columns and members(population, one) >= 4


def test_where_all_is_well_nothing_is_exchanged(workbench):
    population, records = people(80, 3)
    db, _ = made(workbench, population, records)
    given = {"kind": "data", "rate": 0.1, "columns": NAMES, "keep": ["number"], "seed": "s"}
    release = workbench.release("swap", db, **given, min_k_map=1, population="everybody")
    # Data swapping keeps the combinations.
    assert Counter(release.records(NAMES)) == Counter(zip(*(records[name][1] for name in NAMES), strict=True))
    assert any(": 0 further exchanges" in note for note in release.report["notes"])


@pytest.mark.slow
def test_what_cannot_be_is_refused_with_the_reason(workbench):
    population, records = people(40, 4)
    records["born"] = ("DATE", ["2000-01-01"] * 42)
    population["born"] = ("DATE", ["2000-01-01"] * len(population["size"][1]))
    db, _ = made(workbench, population, records)
    common = {"kind": "data", "rate": 0.1, "columns": NAMES, "rest": "drop", "seed": "1"}
    for given, error, words in (
        ({"min_k_map": 5}, ParameterError, "goes with --population"),
        ({"population": "everybody"}, ParameterError, "goes with --min-k-map"),
        ({"min_k_map": 10, "population": "everybody"}, InputError, "2 records have a value of 'net"),
        ({"min_k_map": 5000, "population": "everybody"}, InputError, "42 records have a value of 'size'"),
        ({"min_k_map": 2, "population": "nobody"}, InputError, "nobody"),
        ({"min_k_map": 2, "population": "everybody", "columns": ["size", "number"]}, SqlmicroError, "number"),
        ({"min_k_map": 2, "population": "everybody", "columns": ["size", "born"]}, InputError, "born .DATE."),
    ):
        with pytest.raises(error, match=words) as raised:
            workbench.release("swap", db, **{**common, **given})
        assert "9.0" not in str(raised.value)


def test_no_way_is_said_and_nothing_is_published(workbench):
    """Both margins allow it, but of (0, 0) and (1, 1) two of each would be needed."""
    records = {"a": ("INTEGER", [0, 0, 1, 1]), "b": ("INTEGER", [0, 1, 1, 1])}
    population = {"a": ("INTEGER", [0, 1] * 3), "b": ("INTEGER", [0, 1] * 3)}
    db, _ = made(workbench, population, records)
    with pytest.raises(InputError, match=r"no exchange of values was found for \d of [12] records"):
        sqlmicro.swap("records", db=db, kind="data", rate=0.5, columns=["a", "b"], min_k_map=3, population="everybody",
                      into="out", seed="1")  # fmt: skip
    assert [name for schema, name in workbench.relations(db) if schema == "main"] == ["everybody", "records"]


def test_the_audit_holds_the_release_to_it(workbench, monkeypatch):
    population, records = people(60, 5)
    db, _ = made(workbench, population, records)

    def nothing(sought, rng, tick):
        n, p = sought.rank.shape
        return np.tile(np.arange(n), (p, 1)), 2, 0, 0

    monkeypatch.setattr(population_swap, "exchange", nothing)
    with pytest.raises(SqlmicroError) as raised:
        sqlmicro.swap("records", db=db, kind="data", rate=0.1, columns=NAMES, min_k_map=3, population="everybody",
                      rest="drop", into="out", seed="1")  # fmt: skip
    assert raised.value.exit_code == 1
    assert "out" not in [name for _, name in workbench.relations(db)]
