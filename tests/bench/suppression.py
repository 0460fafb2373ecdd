"""Local suppression: the number of values, and CPU seconds from a table of the database to a table of the database.

On testdata.csv beside what the R package sdcMicro 5.8 needs there (157 / 293 / 500 for k = 2 / 3 / 5, where a missing
value may be any value), and on random tables, most of whose combinations are rare.

With --adult: what guarantees cost on the 30 162 records of Adult, seven columns, k = 5, the occupation sensitive,
beside k alone and whole records of classes that miss something; and exchanges until k-map holds.

    python tests/bench/suppression.py [--rows 20000 1000000] [--values 1000 60] [--k 3] [--adult]
"""

import argparse
import csv
import json
import math
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
from _measure import Measure, emit, peak_mb

from sqlmicro import pipeline
from sqlmicro.database.column_roles import Roles
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.mask.demand import Demand
from sqlmicro.mask.kept_suppression import KeptSuppression
from sqlmicro.mask.population_swap import Sought, exchange
from sqlmicro.mask.suppression import keys
from sqlmicro.options.guarantees import GuaranteeOptions
from sqlmicro.options.params import settle
from sqlmicro.registry import find, silent
from sqlmicro.system import secrets
from sqlmicro.work import Draws, Records, StepOf, Work

DATA = Path(os.environ.get("SQLMICRO_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
READINGS = ["own-value", "wildcard"]
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
LIMITS = [
    {"min_l": 2}, {"min_l": 3}, {"min_l": 4}, {"min_entropy_l": 3.0}, {"min_recursive_l": 3}, {"max_alpha": 0.5},
    {"max_beta": 4.0}, {"max_t": 0.4}, {"max_t": 0.3}, {"max_t": 0.2},
]  # fmt: skip


def suppress(warehouse, table, columns, **settings):
    """Return what was noted, and the measure of the method alone: loading the table into staging is not in it."""
    source = find_source(warehouse, table)
    chosen = [column for column in source.columns if column.name in columns]
    roles, plan = Roles(tuple(source.columns), (), ()), secrets.Recipe(source.identity, (), (), ())
    run = pipeline.load(warehouse, source, roles, secrets.from_text("bench"), plan)
    method = find("suppress")
    step = StepOf(source, "suppress", "suppress_1", run.table.loaded.rows, tuple(chosen))
    draws = Draws(run.repeat.key, secrets.Task("suppress", tuple(columns), (), "keep", settings))
    work = Work(warehouse, Records(run.table.original, tuple(chosen)), step, draws)
    with Measure() as measured:
        outcome = method.function(work, **settle(method.own_settings, settings, "suppress"))
    values = next(note for note in outcome.account.notes if " values suppressed" in note)
    return int(values.split()[0].replace(",", "")), outcome.account.notes, measured


def on_testdata(reading):
    theirs = json.loads((DATA.parent / "reference" / "kanon_testdata.json").read_text())
    with open_warehouse(None) as warehouse:
        file = DATA / "testdata.csv"
        warehouse.query("bench", f"CREATE TABLE memory.main.people AS SELECT * FROM read_csv('{file}')")
        for k in (2, 3, 5):
            values, notes, measured = suppress(warehouse, "people", KEYS, k=k, nulls_match=reading)
            emit(
                bench="suppression", data="testdata", nulls_match=reading, k=k, values=values,
                sdcmicro_wildcard=theirs[f"k{k}"]["total"], cpu=measured.cpu, notes=notes,
            )  # fmt: skip


def on_random(reading, rows, values, k):
    X = np.random.default_rng(1).integers(0, values, size=(rows, 5))
    table = pa.table({f"key_{j}": X[:, j] for j in range(5)})
    with open_warehouse(None) as warehouse:
        name = warehouse.load(table, "people", "random keys")
        warehouse.query("bench", "CREATE TABLE memory.main.people AS SELECT * FROM {{ name | ident }}", name=name)
        lost, notes, measured = suppress(warehouse, "people", table.column_names, k=k, nulls_match=reading)
        emit(
            bench="suppression", data="random", rows=rows, values=values, keys=5, nulls_match=reading, k=k,
            suppressed=lost, share=lost / rows / 5, cpu=measured.cpu, wall=measured.wall, peak_mb=peak_mb(),
            notes=notes,
        )  # fmt: skip


def adult():
    """Return the codes of Adult by column."""
    with (DATA / "adult" / "adult.csv").open() as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    return {name: np.unique([row[name] for row in rows], return_inverse=True)[1] for name in rows[0]}


def on_adult():
    """Measure what guarantees cost, one row each: with limits of a column, with persons, with a largest risk."""
    table = adult()
    codes, occupation = np.array([table[name] for name in ADULT]).T, table["occupation"]
    n, shares = len(codes), np.bincount(occupation) / len(codes)
    none, demands = np.zeros(n), {}
    for limit in LIMITS:
        one = Sensitive("occupation", occupation, shares, False, limits=GuaranteeOptions(values=limit).demand)
        demands[str(limit)] = Demand(Rules(5, None, (one,)), none)
    demands["k alone, by the same search"] = Demand(Rules(5), none)
    demands["two records a person"] = Demand(Rules(5, np.arange(n) // 2), none)
    weights = 1 + 20 * np.random.default_rng(1).random(n)
    for risk in (0.05, 0.02, 0.01):
        demands[f"risk {risk}"] = Demand(Rules(2), weights, risk)
    for named, demand in demands.items():
        whole = keys(codes)
        rare = int((demand.misses(whole) > 0)[whole].sum())
        search = KeptSuppression(codes, demand, np.ones(len(ADULT)), silent)
        with Measure() as measured:
            search.run()
        assert not demand.misses(keys(search.released)).any()
        emit(
            bench="suppression", data="adult", asked=named, values=int((search.released != codes).sum()),
            whole_records=rare * len(ADULT), of=codes.size, cpu=measured.cpu,
        )  # fmt: skip


def on_adult_swap():
    """Measure the exchanges until a tenth of Adult has combinations that all of it has k times."""
    table = adult()
    codes = np.array([np.minimum(table["age"], 60) // 5, *(table[name] for name in ("sex", "race", "education"))]).T
    everybody, count = np.unique(codes, axis=0, return_counts=True)
    rng = np.random.default_rng(1)
    sample = codes[rng.permutation(len(codes))[: len(codes) // 10]]
    # Data swapping of a fifth: their values of sex and race go around together.
    chosen = np.flatnonzero(rng.random(len(sample)) < 0.2)
    sample[chosen, 1:3] = sample[np.roll(chosen, 1), 1:3]
    for k in (2, 5, 10):
        sought = Sought(sample, everybody[count >= k], sample / sample.max(axis=0))
        if any(sought.hopeless()):
            emit(bench="k-map", k=k, hopeless=sought.hopeless())
            continue
        with Measure() as measured:
            _, before, left, made = exchange(sought, np.random.default_rng(1), silent)
        emit(
            bench="k-map", data="adult", records=len(sample), k=k, without=before, exchanges=made, left=left,
            least=math.ceil(before / 2), cpu=measured.cpu,
        )  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[20_000, 1_000_000])
    parser.add_argument("--values", type=int, nargs="*", default=[1000, 60], help="distinct values, for every --rows")
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--readings", nargs="+", default=READINGS)
    parser.add_argument("--adult", action="store_true", help="only what guarantees cost")
    given = parser.parse_args()
    if given.adult:
        on_adult()
        on_adult_swap()
        return
    for reading in given.readings:
        on_testdata(reading)
        for rows, values in zip(given.rows, given.values, strict=True):
            on_random(reading, rows, values, given.k)


if __name__ == "__main__":
    main()
