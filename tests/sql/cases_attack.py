"""Row tests of sql/attack/: what an attacker makes of a release."""

from __future__ import annotations

from .case import Case, by_hash, col, rel, values

X, Y = col("x"), col("y")
NAME, INCOME = col("name", "BLOB"), col('net "income"')
SIZE = col("size", "DOUBLE", "size_")
BOTH = {"original": rel("original"), "released": rel("released")}


def key(number: int) -> str:
    """Write a key of a record as it is staged."""
    return f"{{'key_1': {number}}}"


CASES: list[Case] = [
    # Equal names have one number over both tables, in the order of their bytes, NULL the last: a 0, b 1, c 2, NULL 3.
    Case(
        "attack/features.sql",
        given={
            "original": values('"net ""income""", name', "(5e0, 'b'::BLOB)", "(NULL, NULL)", "(1e0, 'a'::BLOB)"),
            "released": values('"net ""income""", name', "(3e0, 'c'::BLOB)", "(3e0, 'b'::BLOB)"),
        },
        params={**BOTH, "numeric": [INCOME], "nominal": [NAME]},
        returns=["source", "position", 'net "income"', "name"],
        expect=[(0, 0, 5.0, 1), (0, 1, None, 3), (0, 2, 1.0, 0), (1, 0, 3.0, 2), (1, 1, 3.0, 1)],
        ordered=True,
    ),
    Case(
        "attack/features.sql",
        given={"original": values("size_", "(5e0)"), "released": values("size_", "(3e0)")},
        params={**BOTH, "numeric": [SIZE], "nominal": []},
        returns=["source", "position", "size_"],
        expect=[(0, 0, 5.0), (1, 0, 3.0)],
        ordered=True,
    ),
    Case(
        "attack/columns.sql",
        given={"released": values('"net ""income""", name, x, n', "(2e0, 'b'::BLOB, 0, 1)", "(NULL, NULL, 0, 1)")},
        params={"relation": rel("released"), "numeric": [INCOME], "texts": [NAME]},
        returns=['net "income"', "name", "n"],
        expect=[(2.0, "b", 1), (None, None, 1)],
        ordered=True,
    ),
    # Record 7 is the third of the original and the first of the release; 9 was not released, 4 is new.
    Case(
        "attack/matches.sql",
        given={
            "original": values("row_id", f"({key(8)})", f"({key(9)})", f"({key(7)})"),
            "released": values("row_id", f"({key(7)})", f"({key(4)})", f"({key(8)})"),
        },
        params=BOTH,
        returns=["position", "other"],
        expect=[(0, 2), (2, 0)],
        ordered=True,
    ),
    # sha256("sample of an attack 0"), … 1, 2 and 3 begin with 7b, 2a, c2 and b8.
    Case(
        "attack/sampled.sql",
        params={"records": 4, "size": 2},
        returns=["position"],
        expect=[(1,), (0,)],
        ordered=True,
    ),
    Case(
        "attack/staged.sql",
        given={"people": values("row_id, x", "(7, 100)", "(8, NULL)")},
        params={"relation": rel("people"), "columns": [col("row_id", "INTEGER", "row_id_"), X]},
        returns=["row_id_", "x"],
        expect=[(7, 100), (8, None)],
    ),
    Case(
        "attack/records.sql",
        given={"typed": values("x, record", "(1, 30)", "(2, 10)", "(3, 20)")},
        params={"relation": rel("typed")},
        returns=["record"],
        expect=[(30,), (10,), (20,)],
        ordered=True,
    ),
    Case(
        "attack/replayed_order.sql",
        given={"replayed": values("position, record", "(10, 5)", "(11, 2)", "(12, 9)", "(13, 7)")},
        params={"relation": rel("replayed")},
        returns=["position"],
        expect=[((11, 10, 13, 12)[row_id],) for row_id in by_hash(range(4))],
        ordered=True,
    ),
    # x: the group with mean 2 has 1 and 3: 2 · 2 - 3 = 1. The group with mean 5 has 4 and 7, its sum is off by 1; the
    # standard deviation of 1, 3, 4, 7 is 2.5, of which 0.4 are 1. In the last group a value is missing.
    Case(
        "attack/group_sums.sql",
        given={
            "original": values("row_id, x", "(1, 1e0)", "(2, 3e0)", "(3, 4e0)", "(4, 7e0)", "(5, NULL)"),
            "released": values("row_id, x, g", "(4, 5e0, 2)", "(3, 5e0, 2)", "(2, 2e0, 1)", "(1, 2e0, 1)", "(5, 9, 3)"),
        },
        params={**BOTH, "columns": [(X, [X, col("g")])], "within": 0.3},
        returns=["column_name", "recovered", "records"],
        expect=[("x", 2, 4)],
    ),
    Case(
        "attack/group_sums.sql",
        given={
            "original": values("row_id, x, y", "(1, 1e0, 1e0)", "(2, 3e0, 2e0)", "(3, 4e0, 3e0)", "(4, 7e0, 4e0)"),
            "released": values("row_id, x, y", "(4, 5e0, 0)", "(3, 5e0, 3)", "(2, 2e0, 0)", "(1, 2e0, 0)"),
        },
        params={**BOTH, "columns": [(X, [X]), (Y, [Y])], "within": 0.41},
        returns=["column_name", "recovered", "records"],
        expect=[("x", 4, 4), ("y", 1, 4)],
    ),
    # The means of 1 and 3, of 5 and 6, of 0 and 4 are 2, 5.5 and 2; the values 2, 4, 2.1, with sd 1.13.
    Case(
        "attack/averages.sql",
        given={
            "original": values("row_id, x", "(1, 2e0)", "(2, 4e0)", "(3, 2.1e0)", "(4, NULL)"),
            "first": values("row_id, x", "(1, 1e0)", "(2, 5e0)", "(3, 0e0)", "(4, 1e0)"),
            "second": values("row_id, x", "(3, 4e0)", "(2, 6e0)", "(1, 3e0)", "(4, 1e0)"),
        },
        params={
            "original": rel("original"),
            "released": rel("first"),
            "alone": "r1",
            "others": [("r2", rel("second"))],
            "columns": [X],
            "within": 0.9,
        },
        returns=["column_name", "recovered", "alone", "records"],
        expect=[("x", 2, 2, 3)],
    ),
    # Of the classes of two, (a) has one value, NULL twice; (b) has a value and NULL. The class of one always has one.
    Case(
        "attack/class_values.sql",
        given={"written": values("name, v", "('a', NULL)", "('a', NULL)", "('b', 1)", "('b', NULL)", "(NULL, 3)")},
        params={"relation": rel("written"), "columns": [NAME], "sensitive": col("v")},
        returns=["size", "classes", "records"],
        expect=[(1, 1, 1), (2, 2, 2)],
        ordered=True,
    ),
    Case(
        "attack/value_sizes.sql",
        given={"written": values("v", "(1)", "(NULL)", "(1)", "(2)", "(NULL)", "(1)")},
        params={"relation": rel("written"), "column": col("v")},
        returns=["records"],
        expect=[(1,), (2,), (3,)],
        ordered=True,
    ),
    # First {1, 2}, {3, 4}; second {1, 3, 4, 5}, {2}: 1 is left with itself, 2 too, 3 and 4 with each other.
    Case(
        "attack/intersections.sql",
        given={
            "first": values("row_id, x, y", "(1, 1, NULL)", "(2, 1, NULL)", "(3, 1, 2)", "(4, 1, 2)"),
            "second": values("row_id, name", "(5, NULL)", "(2, 'b')", "(1, NULL)", "(3, NULL)", "(4, NULL)"),
        },
        params={"first": rel("first"), "second": rel("second"), "columns": [X, Y], "others": [NAME]},
        returns=["before", "after", "size", "records"],
        expect=[(2, 1, 1, 1), (2, 4, 1, 1), (2, 4, 2, 2)],
        ordered=True,
    ),
]
