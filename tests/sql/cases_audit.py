"""Row tests of sql/audit/."""

from __future__ import annotations

from .case import Case, col, rel, values

X, NAME, INCOME = col("x"), col("name", "VARCHAR"), col('net "income"', "INTEGER")
SIZE = col("size", "INTEGER", "size_")


def classes(relation, expect, **kinds):
    return Case(
        "audit/class_sizes.sql",
        given={"released": relation},
        params={"relation": rel("released"), "plain": [], "collated": [], "floats": [], "others": [], **kinds},
        returns=["size", "classes"],
        expect=expect,
        ordered=True,
    )


CASES = [
    # (a, 1) three times, (a, NULL) twice, (NULL, 1) once, (NULL, NULL) twice
    classes(
        values(
            'name, "net ""income"""',
            *("('a', 1)", "('a', 1)", "('a', 1)", "('a', NULL)", "('a', NULL)"),
            *("(NULL, 1)", "(NULL, NULL)", "(NULL, NULL)"),
        ),
        [(1, 1), (2, 2), (3, 1)],
        plain=[NAME, INCOME],
    ),
    # Bob and BOB are told apart in the output, so they are here; NOCASE would make one class of three.
    classes(
        "SELECT name COLLATE NOCASE AS name FROM (" + values("name", "('Bob')", "('BOB')", "('Bob')", "(NULL)") + ")",
        [(1, 2), (2, 1)],
        collated=[col("name", "VARCHAR", collated=True)],
    ),
    # 0.0 and -0.0 are two classes, NaN and NULL one each.
    classes(
        values("x", "(0e0)", "('-0.0'::DOUBLE)", "(0e0)", "('nan')", "('nan')", "(NULL)"),
        [(1, 2), (2, 2)],
        floats=[X],
    ),
    # 1 month equals 30 days for GROUP BY, but reads differently.
    classes(
        values("span", "(INTERVAL '1 month')", "(INTERVAL '30 days')", "(INTERVAL '1 month')", "(NULL)", "(NULL)"),
        [(1, 1), (2, 2)],
        others=[col("span", "INTERVAL")],
    ),
    # Lists that only differ inside: a missing value and the word, one text with a comma and two texts.
    classes(
        "SELECT unnest([[NULL], ['NULL'], ['a, b'], ['a', 'b'], ['a', 'b']]) AS tags",
        [(1, 3), (2, 1)],
        others=[col("tags", "VARCHAR[]")],
    ),
    # All kinds at once: every record its own class by one column only.
    classes(
        "SELECT i, name COLLATE NOCASE AS name, x, span FROM ("
        + values(
            "i, name, x, span",
            "(1, 'a', 0e0, INTERVAL '1 day')",
            "(2, 'a', 0e0, INTERVAL '1 day')",
            "(1, 'A', 0e0, INTERVAL '1 day')",
            "(1, 'a', -0e0, INTERVAL '24 hours')",
            "(1, 'a', 0e0, INTERVAL '1 day')",
        )
        + ")",
        [(1, 3), (2, 1)],
        plain=[col("i", "INTEGER")],
        collated=[col("name", "VARCHAR", collated=True)],
        floats=[X],
        others=[col("span", "INTERVAL")],
    ),
    # A user's own column "size" is a quasi-identifier like any other: two classes, of 1 and of 2 records.
    classes(values("size", "(100)", "(200)", "(200)"), [(1, 1), (2, 1)], plain=[SIZE]),
    classes("SELECT 1 AS x LIMIT 0", [], plain=[col("x", "INTEGER")]),
    # x: SSE = 4 · 0.5², SST = 1.5² + 0.5² + 0.5² + 1.5². Income: (30 - 20)², 10² + 0 + 10², the missing value left out.
    # A constant column has SST 0, and a column without values neither.
    Case(
        "audit/information_loss.sql",
        given={
            "typed": values(
                'row_id, x, "net ""income""", size_, empty',
                "(3, 4e0, 30, 5, NULL::DOUBLE)",
                "(2, 3e0, 20, 5, NULL)",
                "(1, 2e0, NULL, 5, NULL)",
                "(0, 1e0, 10, 5, NULL)",
            ),
            "released": values(
                'row_id, x, "net ""income""", size_, empty',
                "(0, 1.5e0, 10, 5, NULL::DOUBLE)",
                "(1, 1.5e0, NULL, 5, NULL)",
                "(2, 3.5e0, 20, 5, NULL)",
                "(3, 3.5e0, 20, 5, NULL)",
            ),
        },
        params={"original": rel("typed"), "released": rel("released"), "columns": [X, INCOME, SIZE, col("empty")]},
        returns=["column_name", "sse", "sst"],
        expect=[("x", 1.0, 5.0), ('net "income"', 100.0, 200.0), ("size", 0.0, 0.0), ("empty", 0.0, 0.0)],
    ),
    # What is missing in the release is lost: 1 and 6, as if they were the mean 3 (4 + 9); 2 became 2.5; NULL was none.
    Case(
        "audit/information_loss.sql",
        given={
            "typed": values("row_id, x", "(0, 1e0)", "(1, 6e0)", "(2, 2e0)", "(3, NULL)"),
            "released": values("row_id, x", "(1, NULL::DOUBLE)", "(0, NULL)", "(2, 2.5e0)", "(3, 2.5e0)"),
        },
        params={"original": rel("typed"), "released": rel("released"), "columns": [X]},
        returns=["column_name", "sse", "sst"],
        expect=[("x", 13.25, 14.0)],
    ),
    # Suppressed records count in neither sum: of 0, 2, 100 only 0 and 2 were released, both as 1.
    Case(
        "audit/information_loss.sql",
        given={
            "typed": values("row_id, x", "(0, 0e0)", "(1, 2e0)", "(2, 100e0)"),
            "released": values("row_id, x", "(1, 1e0)", "(0, 1e0)"),
        },
        params={"original": rel("typed"), "released": rel("released"), "columns": [X]},
        returns=["column_name", "sse", "sst"],
        expect=[("x", 2.0, 2.0)],
    ),
    # Income: 7 three times, NULL, which counts as a value, twice.
    Case(
        "audit/value_counts.sql",
        given={
            "released": values(
                'x, "net ""income""", empty',
                "(1e0, 7, NULL::INTEGER)",
                "(1e0, NULL, NULL)",
                "(2e0, 7, NULL)",
                "(2e0, 7, NULL)",
                "(2e0, NULL, NULL)",
            )
        },
        params={"relation": rel("released"), "floats": [X], "others": [INCOME, col("empty", "INTEGER")]},
        returns=["column_name", "rarest"],
        expect=[("x", 2), ('net "income"', 2), ("empty", 5)],
    ),
    Case(
        "audit/value_counts.sql",
        given={"released": "SELECT 1 AS x LIMIT 0"},
        params={"relation": rel("released"), "floats": [], "others": [X]},
        returns=["column_name", "rarest"],
        expect=[("x", None)],
    ),
    # 0.0 and -0.0 stay distinct in the output: each occurs once.
    Case(
        "audit/value_counts.sql",
        given={"released": values("x", "(0e0)", "('-0.0'::DOUBLE)", "(1e0)", "(1e0)")},
        params={"relation": rel("released"), "floats": [X], "others": []},
        returns=["column_name", "rarest"],
        expect=[("x", 1)],
    ),
    # From and to NULL is a change, NULL to NULL is none, case is.
    Case(
        "audit/values_changed.sql",
        given={
            "typed": values(
                "row_id, name, size_", "(0, 'a', 1)", "(1, 'b', NULL)", "(2, NULL, NULL)", "(3, 'A', 2)", "(4, NULL, 3)"
            ),
            "released": values(
                "row_id, name, size_", "(4, NULL, 3)", "(3, 'a', 2)", "(2, 'b', NULL)", "(1, NULL, 4)", "(0, 'a', 1)"
            ),
        },
        params={"original": rel("typed"), "released": rel("released"), "columns": [NAME, SIZE]},
        returns=["column_name", "changed", "records"],
        expect=[("name", 3, 5), ("size", 1, 5)],
    ),
    # Smallest first, equal ones in the order of their text ('10' before '9'), NULL last; (a, 9) has three records.
    Case(
        "audit/violating_classes.sql",
        given={
            "released": values(
                'name, "net ""income"""',
                *("('a', 9)", "('a', 9)", "('a', 9)", "('b', 9)", "('b', 9)", "('b', 10)"),
                *("(NULL, 9)", "('a', NULL)", "('a', 10)"),
            )
        },
        params={"relation": rel("released"), "columns": [NAME, INCOME], "k": 3, "most": 10},
        returns=["name", 'net "income"', "size"],
        expect=[("a", "10", 1), ("a", None, 1), ("b", "10", 1), (None, "9", 1), ("b", "9", 2)],
        ordered=True,
    ),
    # Smallest first, and no more than asked for.
    Case(
        "audit/violating_classes.sql",
        given={"released": values("size", "(5)", "(5)", "(5)", "(6)", "(7)", "(7)", "(8)", "(8)")},
        params={"relation": rel("released"), "columns": [SIZE], "k": 3, "most": 2},
        returns=["size", "size"],
        expect=[("6", 1), ("7", 2)],
        ordered=True,
    ),
    # -0.0, 1 month and a collation are told apart; classes of k are no violation.
    Case(
        "audit/violating_classes.sql",
        given={
            "released": "SELECT name COLLATE NOCASE AS name, x, span FROM ("
            + values(
                "name, x, span",
                "('bob', 0e0, INTERVAL '1 month')",
                "('bob', 0e0, INTERVAL '1 month')",
                "('BOB', 0e0, INTERVAL '1 month')",
                "('bob', '-0.0', INTERVAL '1 month')",
                "('bob', 0e0, INTERVAL '30 days')",
            )
            + ")"
        },
        params={
            "relation": rel("released"),
            "columns": [col("name", "VARCHAR", collated=True), X, col("span", "INTERVAL")],
            "k": 2,
            "most": 10,
        },
        returns=["name", "x", "span", "size"],
        expect=[("BOB", "0.0", "1 month", 1), ("bob", "-0.0", "1 month", 1), ("bob", "0.0", "30 days", 1)],
    ),
]
