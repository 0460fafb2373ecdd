"""Row tests of sql/report/: what a report shows of a release and its original."""

from __future__ import annotations

from .case import Case, col, rel, values

X, Y = col("x"), col("y")
G = col("g", "VARCHAR")
BOTH = {"original": rel("original"), "released": rel("released")}


def texts(*letters):
    """Write the SELECT of a column of bytes."""
    return values("g", *(f"({'NULL::BLOB' if letter is None else f'encode({letter!r})'})" for letter in letters))


CASES = [
    # Before 1, 9.5 | 10, 15 | 20, 99; after none | 10, 19 | 20. An edge belongs to the bin above it, NULL to none. y
    # has one edge, and no value below it before.
    Case(
        "report/bins.sql",
        given={
            "original": values(
                "x, y", "(1e0, 1e0)", "(9.5e0, 1e0)", "(10e0, 2e0)", "(15e0, NULL)", "(20e0, NULL)", "(99e0, NULL)",
                "(NULL, NULL)",
            ),
            "released": values("x, y", "(10e0, 0e0)", "(19e0, 0.5e0)", "(20e0, NULL)"),
        },
        params={**BOTH, "columns": [(X, [10.0, 20.0]), (Y, [1.0])]},
        returns=["column_name", "bin", "before", "after"],
        expect=[("x", 0, 2, 0), ("x", 1, 2, 2), ("x", 2, 2, 1), ("y", 1, 3, 0), ("y", 0, 0, 2)],
    ),
    # k = 2, three values at most: a 3 and 4 times, missing 2 and 2, c 2 and 2; b occurs once before, d twice but not
    # after: both are others. Of values as frequent the one that sorts first comes first, missing last.
    Case(
        "report/categories.sql",
        given={
            "original": texts("a", "a", "a", "b", "c", "c", None, None, "d", "d"),
            "released": texts("a", "a", "a", "a", "b", "b", "b", "c", "c", None, None),
        },
        params={**BOTH, "columns": [G], "k": 2, "most": 3},
        returns=["column_name", "place", "value", "before", "after"],
        expect=[("g", 1, "a", 3, 4), ("g", 2, "c", 2, 2), ("g", 3, None, 2, 2), ("g", 4, None, 3, 3)],
    ),
    # The same with one value at most: c and the missing ones are others too.
    Case(
        "report/categories.sql",
        given={
            "original": texts("a", "a", "a", "b", "c", "c", None, None, "d", "d"),
            "released": texts("a", "a", "a", "a", "b", "b", "b", "c", "c", None, None),
        },
        params={**BOTH, "columns": [G], "k": 2, "most": 1},
        returns=["column_name", "place", "value", "before", "after"],
        expect=[("g", 1, "a", 3, 4), ("g", 2, None, 7, 7)],
    ),
    # Of 1, 2, …, 9, 1000 and k = 2 the median is the mean of the ranks 5 and 6. The quantile 0.25 has rank 3.25, so
    # that it is the mean of the ranks 3 and 4, which are none of the two smallest. 0.05 (rank 1.45) would take 1 and 2,
    # 0.95 (rank 9.55) 9 and 1000: they are left out. y has one value, fewer than k: no row but those without a value.
    Case(
        "report/quantiles.sql",
        given={
            "released": values(
                "x, y", *(f"({x}e0, NULL::DOUBLE)" for x in (7, 3, 1000, 1, 9, 2, 5, 4, 8)), "(6e0, 3e0)",
                "(NULL, NULL)",
            )
        },
        params={"relation": rel("released"), "columns": [X, Y], "levels": [0.05, 0.25, 0.5, 0.95], "k": 2},
        returns=["column_name", "level", "value"],
        expect=[
            ("x", 0.05, None), ("x", 0.25, 3.5), ("x", 0.5, 5.5), ("x", 0.95, None), ("y", 0.05, None),
            ("y", 0.25, None), ("y", 0.5, None), ("y", 0.95, None),
        ],
    ),
]  # fmt: skip
