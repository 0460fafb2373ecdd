"""Row tests of sql/group/; the worked example of Höhne's split groups is that of sqlmicro/group/split_group.py."""

from __future__ import annotations

from .case import Case, about, case, col, rel, sql, values

LAND, INCOME = col("land", "VARCHAR"), col('net "income"', "INTEGER")

HOEHNE = (356, 670, 815, 132, 613, 916, 538, 348, 3, 396, 401)
"""The worked example: the values, in the order of row_id."""
RANKED = sorted(enumerate(HOEHNE), key=lambda pair: pair[1])

STRATA = ["first_position", "last_position", "middle_first", "middle_last"]

SORTED = values("row_id, value", *(f"({row_id}, {value}::DOUBLE)" for row_id, value in RANKED))
# 'a' at positions 0 to 6, NULL at 7 to 11
SORTED_BY = values(
    "land, row_id, value",
    *(
        f"('a', {row_id}, {value}::DOUBLE)"
        for row_id, value in ((9, 1), (8, 2), (7, 3), (3, 4), (4, 5), (5, 6), (6, 10))
    ),
    *(f"(NULL, {row_id}, {value}::DOUBLE)" for row_id, value in ((0, 10), (1, 20), (2, 30), (10, 40), (11, 50))),
)
ONE_TO_SIX = values("row_id, value", *(f"({i}, {i}::DOUBLE)" for i in range(6)))
ONE_TO_THIRTEEN = values("row_id, value", *(f"({20 - i}, {i + 1}::DOUBLE)" for i in range(13)))
NOBODY = "SELECT 0 AS row_id, 0::DOUBLE AS value LIMIT 0"


def strata(name, given, expect, by=(), k=3):
    return Case(
        f"group/strata_{name}.sql",
        given={"ordered": given},
        params={"sorted": rel("ordered"), "by": list(by), "k": k},
        returns=[*(column.staged for column in by), *STRATA],
        expect=expect,
    )


def ranges(*rows, columns=STRATA):
    return values(", ".join(columns), *(f"({row})" for row in rows))


# fmt: off
CASES = [
    case("group/labels.sql", typed=values("row_id", "(3), (0), (2), (1)"),
        groups=values("row_id, label, value, position", "(2, 7, 1.5, 0), (0, 0, NULL, 1), (3, 7, 3.5, 2)"),
        relation=rel("typed"),
        returns="label", ordered=True, expect=[(0,), (-1,), (7,), (7,)]),
    # Groups 0 and 1 were united.
    case("group/united.sql",
        groups=values("row_id, label, value, position", "(2, 7, 1.5, 0), (0, 0, NULL, 1), (1, 1, 3.5, 2)"),
        united=values("label, united", "(0, 0), (1, 0), (7, 1)"),
        returns="row_id, label, value", expect=[(0, 0, None), (1, 0, 3.5), (2, 1, 1.5)]),
    # Ties go by row_id, whatever the physical order; a record without a value is left out; NULL strata come last.
    case("group/sorted.sql",
        typed=values('row_id, land, "net ""income"""',
            "(5, 'b', 10), (4, 'a', 30), (3, NULL, 1), (2, 'b', NULL), (1, 'a', 30), (0, 'b', 10), (6, 'b', -5)"),
        relation=rel("typed"), by=[LAND], column=INCOME,
        returns="land, row_id, value", ordered=True,
        expect=[("a", 1, 30.0), ("a", 4, 30.0), ("b", 6, -5.0), ("b", 0, 10.0), ("b", 5, 10.0), (None, 3, 1.0)]),
    case("group/sorted.sql", typed=values("row_id, x", *(f"({i}, {x})" for i, x in enumerate(HOEHNE))),
        relation=rel("typed"), by=[], column=col("x", "INTEGER"),
        returns="row_id, value", ordered=True,
        expect=[(8, 3), (3, 132), (7, 348), (0, 356), (9, 396), (10, 401), (6, 538), (4, 613), (1, 670), (2, 815),
            (5, 916)]),
    # Numbered in the order of the value: its place is its number; who has no value comes last, and is left out.
    # and rowid, which is no column of its own elsewhere
    case("group/in_order.sql", numbered=values('row_id, "net ""income"""', "(0, -5), (1, 10), (2, 10), (3, NULL)"),
        relation=rel("numbered"), column=INCOME,
        returns="row_id, value", expect=[(0, -5.0, 0), (1, 10.0, 1), (2, 10.0, 2)]),
    # -0.0 and 0.0 are one value for the order: row_id decides. An axis is sorted by its name.
    # DuckDB 1.5 sorts -0.0 and returns 0.0, 2.0 returns -0.0
    case("group/sorted.sql", axis=values("row_id, value", "(1, '-0.0'::DOUBLE), (2, 0e0), (0, 0e0), (3, -1e0)"),
        relation=rel("axis"), by=[], column="value",
        returns="row_id, value", show="row_id, value + 0", ordered=True,
        expect=[(3, -1.0), (0, 0.0), (1, 0.0), (2, 0.0)]),
    # 11 records, k = 3: three groups from the top, positions 2 to 10; 3 and 132 remain.
    strata("as_documented", SORTED, [(0, 10, 0, 1)]),
    # 'a' has 7 records: one remains; NULL has 5: two remain.
    strata("as_documented", SORTED_BY, [("a", 0, 6, 0, 0), (None, 7, 11, 7, 8)], by=[LAND]),
    # Nothing remains: an empty middle.
    strata("as_documented", ONE_TO_SIX, [(0, 5, 0, -1)]),
    strata("as_documented", NOBODY, []),
    # The two that remain join the lowest group: 3 + 2 records.
    strata("merged", SORTED, [(0, 10, 0, 4)]),
    strata("merged", SORTED_BY, [("a", 0, 6, 0, 3), (None, 7, 11, 7, 11)], by=[LAND]),
    strata("merged", ONE_TO_SIX, [(0, 5, 0, 2)]),
    strata("merged", NOBODY, []),
    # From the smallest value upward, the last takes the remainder.
    strata("last", SORTED, [(0, 10, 6, 10)]),
    strata("last", SORTED_BY, [("a", 0, 6, 3, 6), (None, 7, 11, 7, 11)], by=[LAND]),
    strata("last", ONE_TO_SIX, [(0, 5, 3, 5)]),
    strata("last", NOBODY, []),
    # 11 records, k = 3: 3 groups, one at either end; the innermost, 3 to 7, holds the median (position 5).
    strata("spread_from_both_ends", SORTED, [(0, 10, 3, 7)]),
    # 13 records: 4 groups, two below and one above; 6 to 9 holds the median (position 6).
    strata("spread_from_both_ends", ONE_TO_THIRTEEN, [(0, 12, 6, 9)]),
    strata("spread_from_both_ends", SORTED_BY, [("a", 0, 6, 3, 6), (None, 7, 11, 7, 11)], by=[LAND]),
    strata("spread_from_both_ends", ONE_TO_SIX, [(0, 5, 3, 5)]),
    strata("spread_from_both_ends", NOBODY, []),
    # Groups of 3 and 5 records at k = 3 (source: at least k, below 2k).
    case("group/groups_by_rank.sql", {"ordered": SORTED}, strata=ranges("0, 10, 3, 7"), sorted=rel("ordered"), by=[],
        k=3,
        returns="row_id, value, label, position, group_last",
        expect=[(row_id, value, label, position, last) for (row_id, value), position, (label, last) in zip(RANKED,
            range(11), [(0, 2)] * 3 + [(3, 7)] * 5 + [(8, 10)] * 3, strict=True)]),
    # The worked example: 3 132 | 348 356 396 | 401 538 613 | 670 815 916.
    case("group/groups_by_rank.sql", {"ordered": SORTED}, strata=ranges("0, 10, 0, 1"), sorted=rel("ordered"), by=[],
        k=3,
        returns="row_id, value, label, position, group_last",
        expect=[(row_id, value, label, position, last) for (row_id, value), position, (label, last) in zip(RANKED,
            range(11), [(0, 1)] * 2 + [(2, 4)] * 3 + [(5, 7)] * 3 + [(8, 10)] * 3, strict=True)]),
    # Two groups below the middle, one above, 13 records; the strata of NULL are a stratum; 1 record remains in 'a'.
    case("group/groups_by_rank.sql", {"ordered": ONE_TO_THIRTEEN}, strata=ranges("0, 12, 6, 9"), sorted=rel("ordered"),
        by=[], k=3,
        returns="row_id, value, label, position, group_last",
        expect=[(20 - i, i + 1, label, i, last) for i, (label, last) in enumerate([(0, 2)] * 3 + [(3, 5)] * 3 + [(6, 9)]
            * 4 + [(10, 12)] * 3)]),
    case("group/groups_by_rank.sql", {"ordered": SORTED_BY},
        strata=ranges("'a', 0, 6, 0, 0", "NULL, 7, 11, 7, 8", columns=["land", *STRATA]), sorted=rel("ordered"),
        by=[LAND], k=3,
        returns="land, row_id, value, label, position, group_last",
        expect=[("a", 9, 1, 0, 0, 0), ("a", 8, 2, 1, 1, 3), ("a", 7, 3, 1, 2, 3), ("a", 3, 4, 1, 3, 3),
            ("a", 4, 5, 4, 4, 6), ("a", 5, 6, 4, 5, 6), ("a", 6, 10, 4, 6, 6), (None, 0, 10, 7, 7, 8),
            (None, 1, 20, 7, 8, 8), (None, 2, 30, 9, 9, 11), (None, 10, 40, 9, 10, 11), (None, 11, 50, 9, 11, 11)]),
    # 1 + 3 + 3 and 2 + 3 records
    case("group/rank_group_sizes.sql", strata=ranges("0, 6, 0, 0", "7, 11, 7, 8"), k=3,
        returns="groups, smallest, largest", expect=[(5, 1, 3)]),
    # 3 + 4 and 5 records
    case("group/rank_group_sizes.sql", strata=ranges("0, 6, 3, 6", "7, 11, 7, 11"), k=3,
        returns="groups, smallest, largest", expect=[(3, 3, 5)]),
    # 3 + 3 + 4 + 3 records
    case("group/rank_group_sizes.sql", strata=ranges("0, 12, 6, 9"), k=3,
        returns="groups, smallest, largest", expect=[(4, 3, 4)]),
    # 3 + 3, the middle is empty
    case("group/rank_group_sizes.sql", strata=ranges("0, 5, 0, -1"), k=3,
        returns="groups, smallest, largest", expect=[(2, 3, 3)]),
    # A column without a value has no strata, and no groups.
    case("group/rank_group_sizes.sql", strata=sql(ranges("0, 5, 0, 1") + " LIMIT 0"), k=3,
        returns="groups, smallest, largest", expect=[(None, None, None)]),
    case("group/group_sizes.sql",
        groups=values("row_id, label", "(0, 2), (1, 0), (2, 2), (3, 2), (4, 0), (5, 7), (6, 7)"),
        returns="groups, smallest, largest", expect=[(3, 2, 3)]),
    # Variances with divisor g: (1 + 0 + 1) / 3, 0, (25 + 25) / 2, and 0 for a record on its own.
    case("group/variance_sum.sql",
        groups=values("label, value",
            "(0, 1e0), (9, 10e0), (0, 3e0), (4, 4e0), (4, 4e0), (0, 2e0), (9, 0e0), (12, 8e0)"),
        returns="variance_sum", expect=[(2 / 3 + 25,)]),
    # The worked example: groups of 3 from the top, 132 and 3 remain.
    case("group/variance_sum.sql",
        groups=values("label, value",
            *(f"({label}, {value}::DOUBLE)" for (_, value), label in zip(RANKED, [0, 0, 2, 2, 2, 5, 5, 5, 8, 8, 8],
                strict=True))),
        returns="variance_sum", expect=[(about(22498.92),)]),
    # x = 1, 2, 5 is 0, 0.25, 1 of its range; y = 10, -, 30, 20 is 0, -, 1, 0.5. Both are there in records 0 and 2.
    # u is 0, 0.25, 1, - and 0, -, 1, 0.5; centred -5/12, -2/12, 7/12, 0 and -1/2, 0, 1/2, 0.
    case("group/cross_moments.sql",
        typed=values('row_id, x, "net ""income"""', "(0, 1, 10), (1, 2, NULL), (2, 5, 30), (3, NULL, 20)"),
        relation=rel("typed"), columns=[col("x", "INTEGER"), INCOME],
        returns="records, mean_1, sum_1_1, sum_1_2, mean_2, sum_2_2", expect=[(4, 5 / 12, 78 / 144, 0.5, 0.5, 0.5)]),
    # A constant column has no range, an empty one no values: nothing to count.
    case("group/cross_moments.sql", typed=values("row_id, x, y", "(0, 7, NULL::DOUBLE), (1, 7, NULL)"),
        relation=rel("typed"), columns=[col("x", "INTEGER"), col("y")],
        returns="records, mean_1, sum_1_1, sum_1_2, mean_2, sum_2_2", expect=[(2, None, 0.0, 0.0, None, 0.0)]),
    # (0, 0.25, 1) - 0.5 times 2 is -1, -0.5, 1; (0, -, 1) - 0.5 times -1 is 0.5, 0 (the mean), -0.5; the constant is 0.
    case("group/axis.sql",
        typed=values('row_id, land, x, "net ""income""", c',
            "(0, 'a', 1, 10, 7), (1, NULL, 2, NULL, 7), (2, 'a', 5, 30, 7)"),
        relation=rel("typed"), by=[LAND, "c"],
        terms=[(col("x", "INTEGER"), 0.5, 2.0), (INCOME, 0.5, -1.0), (col("c", "INTEGER"), 0.25, 4.0)],
        returns="land, c, row_id, value", expect=[("a", 7, 0, -0.5), (None, 7, 1, -0.5), ("a", 7, 2, 0.5)]),
    # Every column constant: no terms, all records alike.
    case("group/axis.sql", typed=values("row_id, x", "(0, 7), (1, 7)"), relation=rel("typed"), by=[], terms=[],
        returns="row_id, value", expect=[(0, 0), (1, 0)]),
]
