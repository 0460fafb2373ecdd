"""Row tests of sql/audit/."""

from __future__ import annotations

from math import log

from sqlmicro.audits import audited
from sqlmicro.database.templates import select

from .case import Case, about, case, col, rel, sql, values

X, NAME, INCOME = col("x"), col("name", "VARCHAR"), col('net "income"', "INTEGER")
SIZE = col("size", "INTEGER", "size_")


A, B, V = col("a", "INTEGER"), col("b", "VARCHAR"), col("v", "VARCHAR")
BY_SET = {
    "released": rel("released"), "original": rel("original"), "columns": [A, B], "person": [], "whose": [],
}  # fmt: skip
MEASURED = ["a", "records", "measure"]
SUMMARY = ["classes", "records", "lowest", "highest", "mean"] + [
    f"{what}_{side}" for side in ("below", "above") for what in ("classes", "records")
]
MEMBERS = values(
    "a, v, records, size", "(1, 'c', 2, 2)", "(1, 'd', 1, 1)", "(1, 'e', 1, 1)", "(2, 'c', 3, 3)", "(2, NULL, 1, 1)"
)
"""Two classes divided by a sensitive column."""
SHARES = values(
    "a, v, records, probability, share",
    *("(1, 'c', 2, 0.5e0, 0.625e0)", "(1, 'd', 1, 0.25e0, 0.125e0)", "(1, 'e', 1, 0.25e0, 0.125e0)"),
    *("(2, 'c', 3, 0.75e0, 0.625e0)", "(2, NULL, 1, 0.25e0, 0.125e0)"),
)
"""The same as shares of the classes and of the release."""
TREE = values(
    "value, level, place",
    *("('c', 0, 0)", "('d', 0, 1)", "('e', 0, 2)", "(NULL, 0, 3)"),
    *("('c', 1, 0)", "('d', 1, 0)", "('e', 1, 1)", "(NULL, 1, 2)"),
)
"""Their values in a hierarchy of two levels, without its root."""
KNOWN = values("a, b, records", "(1, 'a', 3)", "(2, 'a', 1)", "(2, 'b', 2)", "(NULL, 'c', 1)")
SHOWN = values(
    "a, b, records", "(1, 'a', 3)", "(2, 'a', 4)", "(2, 'b', 5)", "(9, 'c', 3)", "(1, 'b', 3)", "(8, 'b', 4)"
)
"""Combinations of an original, and of a release of it."""


def of_members(name, expect, **params):
    return Case(
        f"audit/{name}.sql",
        given={"members": MEMBERS},
        params={"members": rel("members"), "columns": [A], **params},
        returns=MEASURED,
        expect=expect,
    )


def of_shares(name, expect):
    return Case(
        f"audit/{name}.sql",
        given={"shares": SHARES},
        params={"shares": rel("shares"), "columns": [A]},
        returns=MEASURED,
        expect=expect,
    )


def forms(*columns):
    """Return columns by how they are compared."""
    return audited.canonical_forms(columns)


def shown(**by_form):
    """Return columns as audit/violating_classes.sql takes them."""
    return {name: by_form.get(name, []) for name in ("plain", "as_bits", "as_bytes", "as_nested_bits")}


def classes(relation, expect, columns):
    """Make a case of what every k is counted with: the sizes of the classes on canonical bytes, in one SELECT."""
    records = audited.canonical_records(rel("released"), columns)
    return Case(
        "audit/cell_sizes.sql",
        given={"released": relation},
        params={"cells": select("audit/cells.sql", relation=records, columns=columns, summed=[])},
        returns=["size", "classes", "records"],
        expect=[(size, classes, size * classes) for size, classes in expect],
        ordered=True,
    )


RISKS = ["class_size", "individual_risk", "household_risk", "suda", "dis_suda", "linked_by"]
# fmt: off
CASES = [
    # Smallest first, equal ones in the order of their text ('10' before '9'), NULL last; three are no violation.
    case("audit/violating_classes.sql",
        cells=values('name, "net ""income""", size',
            "('a', 9, 3), ('b', 9, 2), ('b', 10, 1), (NULL, 9, 1), ('a', NULL, 1), ('a', 10, 1)"),
        **shown(plain=[NAME, INCOME]), k=3, most=10,
        returns='name, net "income", size', ordered=True,
        expect=[("a", "10", 1), ("a", None, 1), ("b", "10", 1), (None, "9", 1), ("b", "9", 2)]),
    # No more than asked for; what was compared as bytes is shown as text again.
    case("audit/violating_classes.sql",
        cells=sql("SELECT encode(a) AS a, size FROM (" + values("a, size", "('ö', 2)", "('y', 1)", "('z', 2)") + ")"),
        **shown(as_bytes=[col("a", "VARCHAR")]), k=3, most=2,
        returns="a, size", ordered=True, expect=[("y", 1), ("z", 2)]),
    # What was compared bit by bit is shown as a number again.
    case("audit/violating_classes.sql",
        cells=sql(
            f"SELECT bits::BIT AS x, encode('[' || bits || ']') AS l, 1 AS size "
                f"FROM (SELECT '{0xBFF8000000000000:064b}' AS bits)"),
        **shown(as_bits=[X], as_nested_bits=[col("l", "DOUBLE[]")]), k=2, most=2,
        returns="x, l, size", expect=[("-1.5", "[-1.5]", 1)]),
    # Bits of a number, and of one in a list: -0.0 has the sign, and nothing else.
    case("audit/records.sql", released=values("x, l", "('-0.0'::DOUBLE, [0e0]), (NULL, NULL)"),
        relation=rel("released"), **forms(X, col("l", "DOUBLE[]")), complete=[],
        returns="x, l, n", expect=[(f"{1 << 63:064b}", f"[{0:064b}]".encode(), 1), (None, None, 1)]),
    # A collation and a length of time become bytes; a record without a value in a column of `complete` is left out.
    case("audit/records.sql",
        released=sql(
            "SELECT name COLLATE NOCASE AS name, size, span FROM (" + values("name, size, span",
                "('Bob', 1, INTERVAL '1 month')", "('BOB', NULL, INTERVAL '30 days')", "(NULL, 2, NULL)",) + ")"),
        relation=rel("released"), **forms(SIZE, col("name", "VARCHAR", collated=True), col("span", "INTERVAL")),
        complete=[SIZE],
        returns="size_, name, span, n", expect=[(1, b"Bob", b"1 month", 1), (2, None, None, 1)]),
    case("audit/records.sql", released=values("a", "(1), (NULL)"), relation=rel("released"), **forms(A), complete=[],
        returns="a, n", expect=[(1, 1), (None, 1)]),
    # The number 1 and the text 1 of a UNION: the same bytes, other values.
    case("audit/records.sql",
        released=sql(
            "SELECT union_value(i := 1)::UNION(i INTEGER, s VARCHAR) AS u UNION ALL "
                "SELECT union_value(s := '1')::UNION(i INTEGER, s VARCHAR)"),
        relation=rel("released"), **forms(col("u", "UNION(i INTEGER, s VARCHAR)")), complete=[],
        returns="u, n", expect=[((1, b"1"), 1), (("1", b"1"), 1)]),
    case("audit/ambiguous_floats.sql",
        released=values("x, y", "(0e0, -1e0), ('-0.0'::DOUBLE, 0e0), ('-nan'::DOUBLE, NULL), (-1e0, 1e0)"),
        relation=rel("released"), columns=[X, col("y")],
        returns="column_name, ambiguous", expect=[("x", 2), ("y", 0)]),
    # NULL is a value; the weights of a class are added up.
    case("audit/cells.sql",
        records=values("a, b, w", "(1, 'x', 2), (1, 'x', 3), (1, NULL, 5), (NULL, NULL, 1), (NULL, NULL, 1)"),
        relation=rel("records"), columns=[A, B], summed=[col("w", "INTEGER")],
        returns="a, b, total, records, size", expect=[(1, "x", 5, 2, 2), (1, None, 5, 1, 1), (None, None, 2, 2, 2)]),
    # A class whose weights are all missing stands for nobody that is known of: its risk is not left out as NULL.
    case("audit/cells.sql", records=values("a, w", "(1, 2), (1, NULL), (2, NULL)"), relation=rel("records"),
        columns=[A], summed=[col("w", "INTEGER")],
        returns="a, total, records, size", expect=[(1, 2, 2, 2), (2, 0, 1, 1)]),
    case("audit/cells.sql", records=values("a", "(1), (2), (2)"), relation=rel("records"), columns=[], summed=[],
        returns="records, size", expect=[(3, 3)]),
    case("audit/merged_cells.sql",
        cells=values("a, b, records, size", "(1, 'x', 2, 2), (1, NULL, 1, 1), (NULL, 'x', 4, 4)"),
        relation=rel("cells"), columns=[A],
        returns="a, records, size", expect=[(1, 3, 3), (None, 4, 4)]),
    # Person 7 has three records, two of them alike; two records say of nobody whose they are: one person.
    case("audit/person_records.sql", records=values("a, p", "(1, 7), (1, 7), (2, 7), (1, 8), (1, NULL), (1, NULL)"),
        relation=rel("records"), columns=[A], person=[col("p", "INTEGER")], weights=[],
        returns="a, p", expect=[(1, 7), (2, 7), (1, 8), (1, None)]),
    # Of two columns: (7, x) and (7, NULL) are two persons. Person (7, x) stands for 10 in class 1, where one of two
    # records says 12, and for 10 in class 2; (8, x) says nothing, and NaN is nothing; nobody stands for 3.
    case("audit/person_records.sql",
        records=values("a, p, q, w",
            "(1, 7, 'x', 12), (1, 7, 'x', 10), (2, 7, 'x', 10), (1, 7, NULL, 9), (1, 8, 'x', NULL)",
            "(1, 8, 'x', 'nan'::DOUBLE), (1, NULL, NULL, 3), (1, NULL, NULL, 4)"),
        relation=rel("records"), columns=[A], person=[col("p", "INTEGER"), col("q", "VARCHAR")], weights=[col("w")],
        returns="a, w, p, q",
        expect=[(1, 10, 7, "x"), (2, 10, 7, "x"), (1, 9, 7, None), (1, None, 8, "x"), (1, 3, None, None)]),
    # Class 1 has persons 7, 8 and nobody, class 2 has 7, class 3 has 8 and 9: 7 is alone somewhere, 8 and 9 are two.
    case("audit/person_sizes.sql", persons=values("a, p", "(1, 7), (1, 8), (1, NULL), (2, 7), (3, 8), (3, 9)"),
        columns=[A], person=[col("p", "INTEGER")],
        returns="size, classes, records", ordered=True, expect=[(1, 1, 1), (2, 1, 2), (3, 1, 1)]),
    # The same persons, classes of measure 1/3, 1 and 1/2: the largest of 7 is 1, of 8 and 9 1/2, of nobody 1/3.
    case("audit/person_summary.sql", persons=values("a, p", "(1, 7), (1, 8), (1, NULL), (2, 7), (3, 8), (3, 9)"),
        classes=values("a, measure", "(1, 1/3::DOUBLE), (2, 1), (3, 0.5)"), columns=[A], person=[col("p", "INTEGER")],
        threshold=0.5,
        returns="classes, records, lowest, highest, mean, classes_below, records_below, classes_above, records_above",
        expect=[(3, 4, about(0.333), 1, about(0.583), 1, 3, 1, 1)]),
    # Four values of one person are as diverse as one; three of five persons stay three.
    case("audit/at_most_persons.sql", classes=values("a, records, measure", "(1, 4, 4), (NULL, 9, 3)"),
        cells=values("a, records, size", "(1, 1, 1), (NULL, 5, 5)"), columns=[A],
        returns=MEASURED, expect=[(1, 1, 1), (None, 5, 3)]),
    case("audit/size_risk.sql", cells=values("a, records, size", "(1, 2, 2), (2, 1, 4)"), columns=[A],
        returns=MEASURED, expect=[(1, 2, 0.5), (2, 1, 0.25)]),
    case("audit/member_risks.sql", records=values("a, h", "(1, 5), (1, 5), (NULL, 6), (1, NULL)"),
        classes=values("a, measure", "(1, 0.5::DOUBLE), (NULL, 1)"), relation=rel("records"), columns=[A],
        household=[col("h", "INTEGER")],
        returns="h, measure", expect=[(5, 0.5), (5, 0.5), (6, 1.0), (None, 0.5)]),
    # Person 7 of household 5 has a record at 0.5 and one at 1; nobody is one person in every household.
    case("audit/person_risks.sql",
        records=values("a, p, h", "(1, 7, 5), (2, 7, 5), (1, 8, 5), (1, NULL, 5), (1, NULL, 5)"),
        classes=values("a, measure", "(1, 0.5::DOUBLE), (2, 1)"), relation=rel("records"), columns=[A],
        person=[col("p", "INTEGER")], household=[col("h", "INTEGER")],
        returns="h, measure", expect=[(5, 1.0), (5, 0.5), (5, 0.5)]),
    # 1 - 0.9 0.8 = 0.28; one of whom it is certain; two records of no household are alone, (5, NULL) is one of its own.
    case("audit/household_risk.sql",
        members=values("h, i, measure",
            "(5, 'x', 0.1::DOUBLE), (5, 'x', 0.2), (6, 'x', 0.5), (6, 'x', 1.0), (NULL, NULL, 0.3)",
            "(NULL, NULL, 0.3), (5, NULL, 0.25)"),
        household=[col("h", "INTEGER"), col("i", "VARCHAR")],
        returns="h, i, n, records, measure", show="h, i, n IS NULL, records, measure",
        expect=[(5, "x", True, 2, about(0.28)), (6, "x", True, 2, 1), (None, None, False, 1, about(0.3)),
            (None, None, False, 1, about(0.3)), (5, None, True, 1, about(0.25))]),
    # (1, x) twice, (1, NULL), (NULL, y): NULL matches every value, so that (1, NULL) matches all of them, and (NULL, y)
    # itself and (1, NULL), but not (1, x).
    case("audit/matching_cells.sql",
        cells=values("a, b, records", "(1, 'x', 2), (1, NULL, 1), (NULL, 'y', 1), (2, 'z', 3)"), relation=rel("cells"),
        among=rel("cells"), columns=[(A, 1), (B, 2)], kept=[], summed=[],
        returns="a, b, records, size", expect=[(1, "x", 2, 3), (1, None, 1, 4), (None, "y", 1, 2), (2, "z", 3, 3)]),
    # Divided by a column, with weights: (NULL) has neither of its own as d, but matches it.
    case("audit/matching_cells.sql",
        cells=values("a, v, total, records", "(1, 'c', 10, 1), (1, 'd', 40, 2), (NULL, 'c', 5, 1), (2, 'd', 7, 1)"),
        relation=rel("cells"), among=rel("cells"), columns=[(A, 1)], kept=[V], summed=["total"],
        returns="a, v, total, records, size",
        expect=[(1, "c", 15, 1, 2), (1, "d", 40, 2, 2), (None, "c", 15, 1, 2), (None, "d", 47, 0, 3), (2, "c", 5, 0, 1),
            (2, "d", 7, 1, 1)]),
    case("audit/cell_sizes.sql", cells=values("records, size", "(2, 2), (1, 2), (1, 1), (5, 7)"),
        returns="size, classes, records", ordered=True, expect=[(1, 1, 1), (2, 2, 3), (7, 1, 5)]),
    # Mean over the records: (2 · 0.5 + 1 · 0.25 + 1 · 1) / 4; 0.5 is neither below nor above 0.5.
    case("audit/class_summary.sql", classes=values("records, measure", "(2, 0.5e0), (1, 0.25e0), (1, 1e0)"),
        threshold=0.5,
        returns=SUMMARY, expect=[(3, 4, 0.25, 1.0, 0.5625, 1, 1, 1, 1)]),
    case("audit/class_summary.sql", classes=values("records, measure", "(2, 3), (1, 4)"), threshold=None,
        returns=SUMMARY, expect=[(2, 3, 3, 4, 10 / 3, 0, 0, 0, 0)]),
    # No class: nothing is counted, and there is no extreme.
    case("audit/class_summary.sql", classes=sql("SELECT 1 AS records, 0.5e0 AS measure WHERE false"), threshold=0.5,
        returns=SUMMARY, expect=[(0, 0, None, None, None, 0, 0, 0, 0)]),
    # Class 1: c twice, d, e. Class 2: c three times, NULL once.
    of_members("distinct_values", [(1, 4, 3), (2, 4, 2)]),
    # exp of the entropy of 1/2, 1/4, 1/4 and of 3/4, 1/4.
    of_members("entropy", [(1, 4, 2**1.5), (2, 4, 4 / 3**0.75)]),
    # Class 1: 2 < 2 · 4 and 2 < 2 · 2, not 2 < 2 · 1. Class 2: 3 < 2 · 4, not 3 < 2 · 1.
    of_members("recursive_diversity", [(1, 4, 2), (2, 4, 1)], c=2.0),
    # With c = 0.7 the most frequent value of class 2 is not even rarer than 0.7 times all of it: 3 < 2.8 fails.
    of_members("recursive_diversity", [(1, 4, 1), (2, 4, 0)], c=0.7),
    case("audit/reference_shares.sql", members=MEMBERS, cells=rel("members"), value=V,
        returns="v, share", expect=[("c", 0.625), ("d", 0.125), ("e", 0.125), (None, 0.125)]),
    # The input has f, which the release lacks; e and NULL are in the release only.
    case("audit/reference_shares.sql", members=MEMBERS, cells=values("v, records", "('c', 6), ('d', 1), ('f', 1)"),
        value=V,
        returns="v, share", expect=[("c", 0.75), ("d", 0.125), ("f", 0.125), ("e", 0.0), (None, 0.0)]),
    case("audit/shares.sql", members=MEMBERS,
        reference=values("v, share", "('c', 0.625), ('d', 0.125), ('e', 0.125), (NULL, 0.125)"), columns=[A], value=V,
        returns="a, v, records, probability, share",
        expect=[(1, "c", 2, 0.5, 0.625), (1, "d", 1, 0.25, 0.125), (1, "e", 1, 0.25, 0.125), (2, "c", 3, 0.75, 0.625),
            (2, None, 1, 0.25, 0.125)]),
    of_shares("closeness_nominal", [(1, 4, 0.25), (2, 4, 0.25)]),
    of_shares("highest_share", [(1, 4, 0.5), (2, 4, 0.75)]),
    of_shares("highest_gain", [(1, 4, 1.0), (2, 4, 1.0)]),
    # The salaries 3k, …, 11k of Li et al., section 4: {3k, 4k, 5k} is 0.375 from all nine, {6k, 8k, 11k} 0.167.
    case("audit/closeness_numeric.sql",
        shares=sql(
            "SELECT a, v, records, 1e0 / 3 AS probability, 1e0 / 9 AS share FROM (" + values("a, v, records",
                *(f"({1 if v < 6 else 2 if v in (6, 8, 11) else 3}, {v}000, 1)" for v in range(3, 12))) + ")"),
        reference=sql("SELECT v * 1000 AS v, 1e0 / 9 AS share FROM range(3, 12) AS r(v)"), columns=[A], value=V,
        returns=MEASURED, expect=[(1, 3, 0.375), (2, 3, 1 / 6), (3, 3, 17 / 72)]),
    # c and d are one class below the root, e and a missing value alone. Class 1: d and e have 1/8 too much each, on
    # level 1 {c, d} 0 and e 1/8: (2/8 + 1/8)/2. Class 2: c and NULL 1/8 too much, {c, d} 0: (2/8 + 1/8)/2.
    case("audit/closeness_hierarchical.sql", shares=SHARES,
        reference=values("v, share", "('c', 0.625e0), ('d', 0.125e0), ('e', 0.125e0), (NULL, 0.125e0)"), tree=TREE,
        columns=[A], value=V,
        returns=MEASURED, expect=[(1, 4, 0.1875), (2, 4, 0.1875)]),
    # The table has d, and nothing else of its class; the release has only c: on level 0 all of it is too much, on
    # level 1 nothing but what e has in the table.
    case("audit/closeness_hierarchical.sql",
        shares=values("a, v, records, probability, share", "(1, 'c', 4, 1e0, 0e0)"),
        reference=values("v, share", "('c', 0e0), ('d', 0.75e0), ('e', 0.25e0)"), tree=TREE, columns=[A], value=V,
        returns=MEASURED, expect=[(1, 4, 0.625)]),
    # 1 and NULL, which is the largest of three values: all in the first, half each in the second; 2 is in neither.
    case("audit/closeness_numeric.sql",
        shares=values("a, v, records, probability, share",
            "(1, 1, 2, 1e0, 0.375e0), (2, 1, 1, 0.5e0, 0.375e0), (2, NULL, 1, 0.5e0, 0.125e0), (3, 2, 4, 1e0, 0.5e0)"),
        reference=values("v, share", "(1, 0.375e0), (2, 0.5e0), (NULL, 0.125e0)"), columns=[A], value=V,
        returns=MEASURED,
        expect=[(1, 2, (0.625 + 0.125) / 2), (2, 2, (0.125 + 0.375) / 2), (3, 4, (0.375 + 0.125) / 2)]),
    # 1 has 5/8 of all and 1/4 of class 1: its cumulated share is below that of all from the start. |1/4 - 5/8| = 3/8 at
    # 1, nothing at 2; class 2 has only 1: 3/8. Two values: over m - 1 = 1.
    case("audit/closeness_numeric.sql",
        shares=values("a, v, records, probability, share",
            "(1, 1, 1, 0.25e0, 0.625e0), (1, 2, 3, 0.75e0, 0.375e0), (2, 1, 4, 1e0, 0.625e0)"),
        reference=values("v, share", "(1, 0.625e0), (2, 0.375e0)"), columns=[A], value=V,
        returns=MEASURED, expect=[(1, 4, 0.375), (2, 4, 0.375)]),
    # A column without variation is as far from itself as can be: not at all.
    case("audit/closeness_numeric.sql", shares=values("a, v, records, probability, share", "(1, 5, 2, 1e0, 1e0)"),
        reference=values("v, share", "(5, 1e0)"), columns=[A], value=V,
        returns=MEASURED, expect=[(1, 2, 0.0)]),
    # p = 1/4: f = 1 p/q log(1/p) = log(4)/3; f = 2 p/q - (p/q)^2 log(1/p); f = 3 p/(2 + p). Nobody else: 1/f.
    case("audit/individual_risk.sql",
        cells=values("a, records, size, total",
            "(1, 1, 1, 4), (2, 2, 2, 8), (3, 3, 3, 12), (4, 2, 2, 2), (5, 1, 1, 0.5)"),
        weighted_cells=rel("cells"), columns=[A],
        returns=MEASURED,
        expect=[(1, 1, log(4) / 3), (2, 2, 1 / 3 - log(4) / 9), (3, 3, 0.25 / 2.25), (4, 2, 0.5), (5, 1, 1.0)]),
    # Whom the population lacks counts 0; NULL equals NULL.
    case("audit/population_sizes.sql",
        cells=values("a, b, records, size", "(1, 'x', 2, 2), (1, NULL, 1, 1), (2, 'x', 1, 1)"),
        population=values("a, b, records, size", "(1, 'x', 9, 9), (1, NULL, 4, 4), (3, 'x', 5, 5)"), columns=[A, B],
        returns="a, b, records, size, total", expect=[(1, "x", 2, 2, 9), (1, None, 1, 1, 4), (2, "x", 1, 1, 0)]),
    case("audit/population_members.sql", sizes=values("a, records, size, total", "(1, 2, 2, 8), (2, 3, 3, 0)"),
        columns=[A],
        returns=MEASURED, expect=[(1, 2, 8), (2, 3, 0)]),
    case("audit/journalist_risk.sql", sizes=values("a, records, size, total", "(1, 2, 2, 8), (2, 3, 3, 0)"),
        columns=[A],
        returns=MEASURED, expect=[(1, 2, 0.125), (2, 3, 1 / 3)]),
    case("audit/presence.sql", cells=values("a, size", "(1, 2), (NULL, 1)"),
        population=values("a, size", "(1, 8), (NULL, 1), (3, 5)"), columns=[A],
        returns=MEASURED, expect=[(1, 8, 0.25), (None, 1, 1.0), (3, 5, 0.0)]),
    case("audit/suda_units.sql", cells=values("a, b, records", "(1, 'x', 2)"), columns=[A, B],
        returns="cell, owner, a, b, records", expect=[(1, 1, 1, "x", 2)]),
    # Person 7 has (1, x) and (2, x); what is of nobody is of one person.
    case("audit/suda_person_units.sql",
        persons=values("a, b, p", "(1, 'x', 7), (2, 'x', 7), (1, 'x', 9), (3, 'y', NULL)"), columns=[A, B],
        person=[col("p", "INTEGER")],
        returns="cell, owner, a, b, records",
        show="a, b, records, count(*) OVER (PARTITION BY owner), count(*) OVER (PARTITION BY cell)",
        expect=[(1, "x", 1, 2, 1), (2, "x", 1, 2, 1), (1, "x", 1, 1, 1), (3, "y", 1, 1, 1)]),
    # Person 1 has 12 twice, person 2 only what has no score.
    case("audit/suda_person_scores.sql", scores=values("cell, score", "(7, 6.0), (9, 12.0), (8, 12.0), (5, 2.0)"),
        units=values("cell, owner", "(7, 1), (8, 1), (9, 1), (6, 2), (5, 3)"),
        returns="cell, score", expect=[(8, 12.0), (5, 2.0)]),
    # (1, x) twice, (1, y), (2, y): y makes nobody unique, 2 does.
    case("audit/minimal_uniques.sql",
        units=values("cell, owner, a, b, records", "(1, 1, 1, 'x', 2), (2, 2, 1, 'y', 1), (3, 3, 2, 'y', 1)"),
        smaller=[], number=1, subsets=[(1, [A]), (2, [B])],
        returns="cell, bits, n", expect=[(3, 1, 1)]),
    # So 2 with y is not minimal, and 1 with y is. Person 4 has (5, z) and (5, w): nobody else has 5.
    case("audit/minimal_uniques.sql",
        units=values("cell, owner, a, b, records",
            "(1, 1, 1, 'x', 2), (2, 2, 1, 'y', 1), (3, 3, 2, 'y', 1), (4, 4, 5, 'z', 1), (5, 4, 5, 'z', 1)"),
        ones=values("cell, bits, n", "(3, 1, 1)"), smaller=[rel("ones")], number=2, subsets=[(3, [A, B])],
        returns="cell, bits, n", expect=[(2, 3, 2), (4, 3, 2), (5, 3, 2)]),
    # By Elliot, of two columns a unique in one counts 2 - 1, in two 1; here they count 6 and 2, as of three columns.
    case("audit/suda_scores.sql", ones=values("cell, bits, n", "(7, 1, 1), (7, 2, 1), (8, 1, 1)"),
        twos=values("cell, bits, n", "(9, 3, 2), (8, 6, 2)"), minimal_uniques=[(rel("ones"), 6), (rel("twos"), 2)],
        returns="cell, score", expect=[(7, 12), (8, 8), (9, 2)]),
    # By the IHSN, a unique in all columns counts 0, and 9 has no score.
    case("audit/suda_scores.sql", ones=values("cell, bits, n", "(7, 1, 1)"), twos=values("cell, bits, n", "(9, 3, 2)"),
        minimal_uniques=[(rel("ones"), 0.5), (rel("twos"), 0.0)],
        returns="cell, score", expect=[(7, 0.5)]),
    case("audit/suda_contributions.sql", ones=values("cell, bits, n", "(7, 1, 1), (7, 2, 1), (8, 1, 1), (6, 1, 1)"),
        twos=values("cell, bits, n", "(9, 3, 2)"), scores=values("cell, score", "(7, 12), (8, 6), (9, 2)"),
        minimal_uniques=[(rel("ones"), 6), (rel("twos"), 2)], columns=[(A, 1), (B, 2), (V, 4)],
        returns="column_name, total", expect=[("a", 14), ("b", 8), ("v", None)]),
    case("audit/suda_levels.sql", scores=values("cell, score", "(7, 6.0), (8, 12.0), (9, 6.0)"),
        returns="score, records", expect=[(6.0, 2), (12.0, 1)]),
    case("audit/sampling_fraction.sql", cells=values("a, total, records", "(1, 150, 2), (2, 50, 3)"),
        weighted_cells=rel("cells"),
        returns="fraction", expect=[(0.025,)]),
    case("audit/sampling_fraction.sql", cells=values("a, total, records", "(1, 0, 2), (2, 1, 3)"),
        weighted_cells=rel("cells"),
        returns="fraction", expect=[(1.0,)]),
    # Of four values of age one is missing, of two released both; every income is there, before and after.
    case("audit/missing_rates.sql", original=values('age, "net ""income"""', "(30, 1), (NULL, 2), (40, 3), (50, 4)"),
        release=values('age, "net ""income"""', "(NULL, 1), (NULL, 2)"), released=rel("release"),
        columns=[col("age", "INTEGER"), INCOME],
        returns="records_before, present_before_1, present_before_2, records_after, present_after_1, present_after_2",
        expect=[(4, 3, 4, 2, 0, 2)]),
]
# What every k is counted with, on values that GROUP BY would merge.
CASES += [
    # (a, 1) three times, (a, NULL) twice, (NULL, 1) once, (NULL, NULL) twice
    classes(
        values(
            'name, "net ""income"""',
            *("('a', 1)", "('a', 1)", "('a', 1)", "('a', NULL)", "('a', NULL)"),
            *("(NULL, 1)", "(NULL, NULL)", "(NULL, NULL)"),
        ),
        [(1, 1), (2, 2), (3, 1)],
        [NAME, INCOME],
    ),
    # Bob and BOB are told apart in the output, so they are here; NOCASE would make one class of three.
    classes(
        "SELECT name COLLATE NOCASE AS name FROM (" + values("name", "('Bob')", "('BOB')", "('Bob')", "(NULL)") + ")",
        [(1, 2), (2, 1)],
        [col("name", "VARCHAR", collated=True)],
    ),
    # 0.0 and -0.0 are two classes, NaN and NULL one each.
    classes(
        values("x", "(0e0)", "('-0.0'::DOUBLE)", "(0e0)", "('nan')", "('nan')", "(NULL)"),
        [(1, 2), (2, 2)],
        [X],
    ),
    # 1 month equals 30 days for GROUP BY, but reads differently.
    classes(
        values("span", "(INTERVAL '1 month')", "(INTERVAL '30 days')", "(INTERVAL '1 month')", "(NULL)", "(NULL)"),
        [(1, 1), (2, 2)],
        [col("span", "INTERVAL")],
    ),
    # Lists that only differ inside: a missing value and the word, one text with a comma and two texts.
    classes(
        "SELECT unnest([[NULL], ['NULL'], ['a, b'], ['a', 'b'], ['a', 'b']]) AS tags",
        [(1, 3), (2, 1)],
        [col("tags", "VARCHAR[]")],
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
        [col("i", "INTEGER"), col("name", "VARCHAR", collated=True), X, col("span", "INTERVAL")],
    ),
    # NaN by its bits, alone and in a list: the third has another payload.
    classes(
        "SELECT CAST(CAST(bits AS BIT) AS DOUBLE) AS x, [CAST(CAST(bits AS BIT) AS DOUBLE)] AS l FROM ("
        + values("bits", *(f"('{0x7FF8000000000000 + payload:064b}')" for payload in (0, 0, 7)))
        + ")",
        [(1, 1), (2, 1)],
        [X, col("l", "DOUBLE[]")],
    ),
    # A user's own column "size" is a quasi-identifier like any other: two classes, of 1 and of 2 records.
    classes(values("size", "(100)", "(200)", "(200)"), [(1, 1), (2, 1)], [SIZE]),
    classes("SELECT 1 AS x LIMIT 0", [], [col("x", "INTEGER")]),
    # A number and a text of a UNION are two values, however they are written.
    classes(
        "SELECT unnest([union_value(i := 1), union_value(i := 1)]::UNION(i INTEGER, s VARCHAR)[]) AS u UNION ALL "
        "SELECT unnest([union_value(s := '1'), NULL]::UNION(i INTEGER, s VARCHAR)[])",
        [(1, 2), (2, 1)],
        [col("u", "UNION(i INTEGER, s VARCHAR)")],
    ),
    # Income: 7 three times, NULL, which counts as a value, twice.
    classes(values('"net ""income"""', "(7)", "(NULL)", "(7)", "(7)", "(NULL)"), [(2, 1), (3, 1)], [INCOME]),
    # Five records without a value are one class.
    classes("SELECT NULL::INTEGER AS empty FROM range(5)", [(5, 1)], [col("empty", "INTEGER")]),
    # Of 6 combinations shown, k = 3: (1, a) has 3 records of the original, (2, a) one, (2, b) two; three have none.
    # Three are shown three times, two of these were invented. Two originals are unique.
    Case(
        "audit/invented.sql",
        given={"released": SHOWN, "original": KNOWN},
        params={"released": rel("released"), "original": rel("original"), "columns": [A, B], "k": 3},
        returns=["rare", "invented", "exactly", "exactly_invented", "uniques", "uniques_shown"],
        expect=[(5, 3, 3, 2, 2, 1)],
    ),
    Case(
        "audit/numbered_sides.sql",
        given={
            "released": values("a, b, records", "(5, 'y', 3)"),
            "original": values("a, b, who, records", "(5, 'x', 9, 1)", "(NULL, 'x', 8, 2)"),
        },
        params={**BY_SET, "person": [col("who")], "whose": [(col("who"),)]},
        returns=["before", "after", "whose", "a", "b"],
        expect=[(0, 3, 3, 0, 1), (1, 0, 2, 0, 0), (2, 0, 1, 1, 0)],
    ),
    Case(
        "audit/commonest.sql",
        given={"original": KNOWN},
        params={"original": rel("original"), "column": A},
        returns=["commonest"],
        expect=[(3 / 7,)],
    ),
    Case(
        "audit/foreign_values.sql",
        given={"released": SHOWN, "original": KNOWN},
        params={"released": rel("released"), "original": rel("original"), "columns": [A, B]},
        returns=["records", "a", "b"],
        expect=[(6, 2, 0)],
    ),
    Case(
        "audit/keyless.sql",
        given={"records": values("a, row_number", "(3, 'x')", "(1, 'y')", "(2, 'z')")},
        params={"relation": rel("records"), "number": "row_number_"},
        returns=["a", "row_number", "row_number_"],
        expect=[(3, "x", 1), (1, "y", 2), (2, "z", 3)],
        ordered=True,
    ),
    # (1, x) has the score 6, (2, NULL) the score 2; (1, y) has none.
    Case(
        "audit/scored_classes.sql",
        given={
            "units": values("cell, a, b", "(1, 1, 'x')", "(2, 1, 'y')", "(3, 2, NULL)"),
            "scores": values("cell, score", "(1, 6.0)", "(3, 2.0)"),
            "probabilities": values("score, dis_suda", "(6.0, 0.5)"),
        },
        params={
            "units": rel("units"),
            "scores": rel("scores"),
            "probabilities": rel("probabilities"),
            "columns": [A, B],
        },
        returns=["a", "b", "score", "dis_suda"],
        expect=[(1, "x", 6.0, 0.5), (2, None, 2.0, None)],
    ),
    # Record 8 is of no household, so that it stands alone; the attack linked record 7; the class (NULL) has no score.
    Case(
        "audit/record_risks.sql",
        given={
            "records": values("key_1, a, h", "(7, 1, 5)", "(8, 1, NULL::INTEGER)", "(9, NULL, 5)"),
            "cells": values("a, size", "(1, 2)", "(NULL, 1)"),
            "classes": values("a, measure", "(1, 0.25)", "(NULL, 1)"),
            "scored": values("a, score, dis_suda", "(1, 6.0, 0.5::DOUBLE)"),
            "households": values("h, n, measure", "(5, NULL, 1.0)", "(NULL, 1, 0.25)"),
            "linked": "SELECT {'key_1': 7} AS row_id, 'x' AS attack",
        },
        params={
            "records": rel("records"),
            "key": [(col("id", "INTEGER", "key_1"), 'the "id"')],
            "columns": [A],
            "cells": rel("cells"),
            "classes": rel("classes"),
            "scored": [(rel("scored"), 0.0)],
            "households": [rel("households")],
            "household": [col("h", "INTEGER")],
            "linked": [rel("linked")],
            "lacking": [],
        },
        returns=['the "id"', *RISKS],
        expect=[(7, 2, 0.25, 1.0, 6.0, 0.5, "x"), (8, 2, 0.25, 0.25, 6.0, 0.5, None), (9, 1, 1.0, 1.0, 0.0, 0.0, None)],
    ),
    Case(
        "audit/record_risks.sql",
        given={
            "records": values("key_1, a", "(1, 1)", "(2, 2)"),
            "cells": values("a, size", "(1, 2)", "(2, 1)"),
            "classes": values("a, measure", "(1, 0.5)", "(2, 1)"),
        },
        params={
            "records": rel("records"),
            "key": [(col("n", "BIGINT", "key_1"), "row_number")],
            "columns": [A],
            "cells": rel("cells"),
            "classes": rel("classes"),
            "scored": [],
            "households": [],
            "household": [],
            "linked": [],
            "lacking": [
                ("household_risk", "DOUBLE"),
                ("suda", "DOUBLE"),
                ("dis_suda", "DOUBLE"),
                ("linked_by", "VARCHAR"),
            ],
        },
        returns=["row_number", *RISKS],
        expect=[(1, 2, 0.5, None, None, None, None), (2, 1, 1.0, None, None, None, None)],
    ),
    # b is 0, c is 1, NULL is 2 in both files; a range stays text.
    Case(
        "audit/both_files.sql",
        given={
            "original": values("row_id, s, x, r", "(1, 'b', 2, 7)", "(0, NULL, 1.5, 8)"),
            "released": values("row_id, s, x, r", "(0, 'c', NULL, '[0, 9)')"),
        },
        params={
            "original": rel("original"),
            "released": rel("released"),
            "nominal": [col("s", "VARCHAR")],
            "numeric": [col("x")],
            "ranges": [col("r")],
        },
        returns=["is_first", "s", "x", "r"],
        expect=[(True, 2, 1.5, "8"), (True, 0, 2.0, "7"), (False, 1, None, "[0, 9)")],
        ordered=True,
    ),
    # All three parts together are all records; equal ones are in one part.
    Case(
        "audit/part.sql",
        given={"relation": values("x", "(1)", "(1)", "(2)", "(NULL)")},
        params={"relation": rel("relation"), "columns": [col("x", "INTEGER")], "parts": [0, 1, 2]},
        returns=["x"],
        expect=[(1,), (1,), (2,), (None,)],
    ),
]
