"""Row tests of the templates of sql/mask/ that read a population."""

from __future__ import annotations

from .case import Case, col, rel, values

INCOME, LAND = col('net "income"', "INTEGER"), col("land", "VARCHAR")
PAIR = '"net ""income""", land'
RECORDS = f"row_id, {PAIR}"

CASES = [
    # 34.5 and 'x' are no whole numbers, '034' becomes 34 and is not written so; NULL stays; infinity is nobody.
    Case(
        "mask/population_records.sql",
        given={
            "typed": values(f"{PAIR}, born", "(34.5e0, '34', 1e0)", "(34e0, '34', 1e0)", "(NULL, '7', NULL)",
                            "(1e0, 'x', 1e0)", "(1e0, '034', 1e0)", "(1e0, '1', CAST('infinity' AS DOUBLE))",
                            "(1e0, '1', CAST('NaN' AS DOUBLE))", "(2e0, NULL, 0e0)"),
        },
        params={
            "typed": rel("typed"),
            "columns": [(INCOME, "INTEGER", "DOUBLE"), (LAND, "INTEGER", "VARCHAR"), (col("born"), "DOUBLE", "DOUBLE")],
            "floats": [INCOME, col("born")],
        },
        returns=["row_id", 'net "income"', "land", "born"],
        expect=[(0, 34, 34, 1.0), (1, None, 7, None), (2, 2, None, 0.0)],
    ),
    # 9 is in the population only: no record has it. Both have NULL.
    Case(
        "mask/population_values.sql",
        given={
            "typed": values(RECORDS, "(0, 5, 'a')", "(1, NULL, 'a')", "(2, 5, 'b')"),
            "everybody": values(RECORDS, "(0, 9, 'a')", "(1, 5, 'a')", "(2, NULL, 'b')", "(3, 9, 'b')"),
        },
        params={"relation": rel("typed"), "population": rel("everybody"), "column": INCOME},
        returns=["value", "n"],
        expect=[(5, 2), (None, 1), (9, 0)],
    ),
    # The combinations of the records have the first numbers, in their order, missing last; then the others.
    Case(
        "mask/population_cells.sql",
        given={
            "typed": values(RECORDS, "(0, 5, 'a')", "(1, NULL, 'a')", "(2, 5, 'a')", "(3, 4, NULL)"),
            "everybody": values(RECORDS, "(0, 1, 'a')", "(1, 5, 'a')", "(2, NULL, 'a')", "(3, 5, 'a')", "(4, 0, 'z')"),
        },
        params={"relation": rel("typed"), "population": rel("everybody"), "columns": [INCOME, LAND]},
        returns=["cell", 'net "income"', "land", "n", "members"],
        expect=[(0, 4, None, 1, 0), (1, 5, "a", 2, 2), (2, None, "a", 1, 1), (3, 0, "z", 0, 1), (4, 1, "a", 0, 1)],
    ),
    # Member 1 is in no class. land stays as it is.
    Case(
        "mask/population_recoded.sql",
        given={
            "everybody": values(RECORDS, "(0, 5, 'a')", "(1, 6, 'b')", "(2, NULL, 'c')"),
            "new": values('row_id, "net ""income"""', "(0, '[5, 10)')", "(2, NULL)"),
        },
        params={"population": rel("everybody"), "values": rel("new"), "columns": [(INCOME, "v"), (LAND, "r")]},
        returns=['net "income"', "land"],
        expect=[("[5, 10)", "a"), (None, "c")],
    ),
    Case(
        "mask/with_population.sql",
        given={
            "typed": values(f"{RECORDS}, record", "(0, 5, 'a', 77)", "(1, NULL, 'b', 78)"),
            "everybody": values(RECORDS, "(0, 6, NULL)", "(1, 5, 'a')"),
        },
        params={"relation": rel("typed"), "population": rel("everybody"), "columns": [INCOME, LAND]},
        returns=["row_id", 'net "income"', "land"],
        expect=[(0, 5, "a"), (1, None, "b"), (-1, 6, None), (-2, 5, "a")],
    ),
    # Group 0 is [5, 9] x {a, c}, group 1 is 20 or missing x b or missing. 10 is beyond 9, b is not in {a, c}, and a
    # missing income is in no range of group 0.
    Case(
        "mask/members_in_groups.sql",
        given={
            "grouped": values(f"label, {PAIR}", "(0, 5, 'a')", "(0, 9, 'c')", "(1, 20, 'b')", "(1, NULL, NULL)"),
            "members": values("row_id, label", "(0, 0)", "(1, 0)", "(2, 0)", "(3, 0)", "(4, 1)", "(5, 1)", "(6, 0)"),
            "everybody": values(RECORDS, "(0, 7, 'c')", "(1, 10, 'a')", "(2, 6, 'b')", "(3, NULL, 'a')",
                                "(4, NULL, 'b')", "(5, 20, NULL)", "(6, 7, NULL)"),
        },
        params={
            "members": rel("members"), "population": rel("everybody"), "grouped": rel("grouped"),
            "ranges": [INCOME], "sets": [LAND],
        },
        returns=["row_id", "label"],
        expect=[(0, 0), (4, 1), (5, 1)],
    ),
]  # fmt: skip
