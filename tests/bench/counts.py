"""Counting: the SAFE distance over tables of 6 nominal columns, and the k-check over 4, each against one GROUP BY.

python tests/bench/counts.py [--rows 1000000 10000000] [--repeat 3]
"""

import argparse

from _measure import emit, peak_mb, rounds

from sqlmicro.audits import k_anonymity
from sqlmicro.database.finding import describe, find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.safe_method import distance

_TABLE = """CREATE TABLE memory.main.people AS SELECT
  ['red', 'green', 'blue', 'black', 'white'][1 + CAST(hash(i, 1) % 5 AS INTEGER)] AS a,
  'category ' || (hash(i, 2) % 12) AS b, CAST(hash(i, 3) % 7 AS INTEGER) AS c,
  'region number ' || (hash(i, 4) % 16) AS d, CAST(hash(i, 5) % 2 AS INTEGER) AS e, 'x' || (hash(i, 6) % 9) AS f
FROM range({{ n }}) t(i)"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    for rows in given.rows:
        with open_warehouse(None) as warehouse:
            warehouse.query("bench", _TABLE, n=rows)
            source = find_source(warehouse, "people")
            six, four = list(source.columns), list(source.columns)[:4]

            def cells(into="cells", warehouse=warehouse, source=source, six=six):
                return warehouse.run("safe/cells.sql", into, relation=source.relation, columns=six)

            other = cells("other")

            def measured(order, cells=cells, other=other, warehouse=warehouse, six=six):
                # Per file: one aggregation to cells and its half of the roll-up.
                return distance.measure(warehouse, cells(), other, six, [], order)

            def group_by(columns, warehouse=warehouse):
                text = "SELECT min(n) FROM (SELECT count(*) AS n FROM memory.main.people GROUP BY {{ c | idents }})"
                warehouse.query("bench", text, c=columns)

            cpu = rounds(
                {
                    "group_by_6": lambda g=group_by, six=six: g(six),
                    "distance_order_2": lambda m=measured: m(2),
                    "distance_all_64": lambda m=measured: m(6),
                    "group_by_4": lambda g=group_by, four=four: g(four),
                    "k_check_4": lambda w=warehouse, s=source, four=four: k_anonymity.class_sizes(w, s.relation, four),
                },
                given.repeat,
            )
            emit(
                bench="counts",
                rows=rows,
                combinations=warehouse.count(Name("staging", "", "cells")),
                columns=len(describe(warehouse, source.relation)),
                **{f"{name}_cpu": cpu.median(name) for name in cpu},
                ratio_distance_order_2=cpu.ratio("distance_order_2", "group_by_6"),
                ratio_distance_all=cpu.ratio("distance_all_64", "group_by_6"),
                ratio_k_check=cpu.ratio("k_check_4", "group_by_4"),
                peak_mb=peak_mb(),
            )


if __name__ == "__main__":
    main()
