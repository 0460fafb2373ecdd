"""Audits that count, against one bare GROUP BY over the same columns.

python tests/bench/audits.py [--rows 1000000 10000000] [--repeat 3]
"""

import argparse

from _measure import emit, peak_mb, rounds

from sqlmicro.audits import inputs, runner
from sqlmicro.database.opening import open_warehouse

_TABLE = """CREATE TABLE memory.main.people AS SELECT
  ['red', 'green', 'blue', 'black', 'white'][1 + CAST(hash(i, 1) % 5 AS INTEGER)] AS a,
  'category ' || (hash(i, 2) % 12) AS b, CAST(hash(i, 3) % 7 AS INTEGER) AS c,
  'region number ' || (hash(i, 4) % 16) AS d, CAST(1 + hash(i, 5) % 9 AS DOUBLE) AS weight
FROM range({{ n }}) t(i)"""
_OVER_FOUR = ("k-anonymity", "sample-uniques", "prosecutor-risk", "marketer-risk", "individual-risk", "global-risk")
_OVER_THREE_AND_ONE = (
    "l-diversity", "entropy-l-diversity", "recursive-l-diversity", "t-closeness", "alpha-k-anonymity", "beta-likeness",
)  # fmt: skip
_MORE = ("contribution", "suda")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    for rows in given.rows:
        with open_warehouse(None) as warehouse:
            warehouse.query("bench", _TABLE, n=rows)

            def group_by(warehouse=warehouse):
                text = "SELECT min(n) FROM (SELECT count(*) AS n FROM memory.main.people GROUP BY a, b, c, d)"
                warehouse.query("bench", text)

            def run(check, warehouse=warehouse, **roles):
                audited = inputs.audited(warehouse, "people", inputs.AuditedOptions(**roles))
                (row,) = runner.run(audited, [check], {}, {})
                assert row.status == "measured", row

            functions = {"group_by": group_by}
            for check in (*_OVER_FOUR, *_MORE):
                weight = {"weight": "weight"} if check in ("individual-risk", "global-risk") else {}
                functions[check] = lambda c=check, w=weight: run(c, quasi=("a", "b", "c", "d"), **w)
            for check in _OVER_THREE_AND_ONE:
                functions[check] = lambda c=check: run(c, quasi=("a", "b", "c"), sensitive=("d",), nominal=("d",))
            functions["k-anonymity, wildcard"] = lambda: run(
                "k-anonymity", quasi=("a", "b", "c", "d"), nulls="wildcard"
            )
            cpu = rounds(functions, given.repeat)
            emit(
                bench="audits",
                rows=rows,
                group_by_cpu=cpu.median("group_by"),
                peak_mb=peak_mb(),
                **{f"{name} ratio": cpu.ratio(name, "group_by") for name in cpu if name != "group_by"},
            )


if __name__ == "__main__":
    main()
