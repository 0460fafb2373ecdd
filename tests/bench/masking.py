"""Masks of one column, from a table of the database to a table of the database, against `CREATE TABLE … AS SELECT` of
the column with one `sha256` per row, and rank swapping against `CREATE TABLE … AS SELECT row_id, x … ORDER BY x`.

    python tests/bench/masking.py [--rows 1000000 10000000] [--repeat 3] [--only noise swap]
"""

import argparse
import os

from _measure import emit, peak_mb, rounds

from sqlmicro import pipeline
from sqlmicro.database.column_roles import Roles
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.options.common import MachineOptions
from sqlmicro.options.params import settle
from sqlmicro.registry import find
from sqlmicro.system import secrets
from sqlmicro.work import Draws, Records, StepOf, Work

MASKS = {
    "sample": ("sample", "x", {"fraction": 0.1}),
    "top-code": ("top-code", "x", {"quantile": 0.95}),
    "noise": ("noise", "x", {"kind": "uncorrelated", "amount": 0.1}),
    "laplace": ("noise", "x", {"kind": "laplace", "epsilon": 1.0, "lower": 0.0, "upper": 1e6}),
    "pram": ("pram", "town", {"keep_probability": 0.8}),
    "pseudonymise": ("pseudonymise", "person", {}),
    "partial": ("partial", "person", {"keep_last": 4}),
    "shuffle": ("shuffle", "x", {}),
    "swap": ("swap", "x", {"percent": 5.0}),
}
TABLE = """CREATE TABLE memory.main.people AS
SELECT
  (hash(i) % 1000000007) / 1000.0::DOUBLE AS x,
  'town ' || hash(i) % 20 AS town,
  'P' || hash(i) % 100000000 AS person
FROM range({{ n }}) AS t(i)"""
HASHED = """SELECT {{ column | ident }} AS value, sha256(concat(getvariable('sqlmicro_order'), ' ', row_id)) AS h
FROM staging.numbered"""
SORTED = "SELECT row_id, x FROM staging.numbered ORDER BY x"


def create(warehouse, select, **params):
    return lambda: warehouse.query("base", f"CREATE OR REPLACE TABLE staging.result AS {select}", **params)


def mask(run, name, column, settings):
    method = find(name)
    columns = [c for c in run.source.columns if c.name == column]
    values = settle(method.own_settings, settings, name)

    def ours():
        step = StepOf(run.source, name, f"{name}_1".replace("-", "_"), run.table.loaded.rows, tuple(columns))
        draws = Draws(run.repeat.key, secrets.Task(name, (column,), (), "keep", values))
        work = Work(run.warehouse, Records(run.table.original, tuple(columns)), step, draws)
        method.function(work, **values)

    return ours


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=list(MASKS))
    parser.add_argument("--memory-limit", default="2GB")
    given = parser.parse_args()
    os.environ.setdefault("SQLMICRO_PSEUDONYM_KEY", "a key for the benchmark")
    for rows in given.rows:
        with open_warehouse(None, machine=MachineOptions(memory_limit=given.memory_limit)) as warehouse:
            warehouse.query("bench", TABLE, n=rows)
            source = find_source(warehouse, "people")
            roles, plan = Roles(tuple(source.columns), (), ()), secrets.Recipe("main.people", (), (), ())
            run = pipeline.load(warehouse, source, roles, secrets.from_text("bench"), plan)
            for name in given.only:
                method, column, settings = MASKS[name]
                (staged,) = [c for c in source.columns if c.name == column]
                base = create(warehouse, SORTED if name == "swap" else HASHED, column=staged)
                cpu = rounds({"mask": mask(run, method, column, settings), "base": base}, given.repeat)
                emit(
                    bench="masking", mask=name, rows=rows, memory_limit=given.memory_limit,
                    base="sort" if name == "swap" else "sha256",
                    mask_cpu=cpu.median("mask"), base_cpu=cpu.median("base"),
                    ratio=cpu.ratio("mask", "base"), peak_mb=peak_mb(),
                )  # fmt: skip


if __name__ == "__main__":
    main()
