"""Row tests of sql/replace/."""

from __future__ import annotations

from math import sqrt

from .case import about, case, col, rel, sql, values
from .cases_group import LAND, ONE_TO_THIRTEEN, RANKED, SORTED, SORTED_BY, STRATA, ranges

X, Y, INCOME = col("x"), col("y", "INTEGER"), col('net "income"', "INTEGER")
MEANS = [*STRATA, "middle_mean"]


def in_groups(*groups, by=""):
    """Write groups of (row_id, value), ascending, as group/groups_by_rank.sql returns them."""
    rows, position = [], 0
    for group in groups:
        first, last = position, position + len(group) - 1
        for row_id, value in group:
            rows.append(f"({by}{row_id}, {value}::DOUBLE, {first}, {position}, {last})")
            position += 1
    return values(("land, " if by else "") + "row_id, value, label, position, group_last", *rows)


GROUPED = values(
    'label, x, "net ""income"""',
    *("(0, 6e0, 1)", "(0, 1e0, 2)", "(0, 2e0, 2)"),
    *("(1, 5e0, NULL)", "(1, NULL, 7)"),
    *("(2, 5e0, 1)", "(2, NULL, 4)", "(2, NULL, NULL)"),
)

SEATS, DRAWS = (3, 1, 4, 1, 5, 9, 2, 6), (2, 7, 1, 8, 2, 8, 1, 8)
DRAWN = values("row_id, draw_1, draw_2", *(f"({i}, {SEATS[i]}, {DRAWS[i]})" for i in range(8)))


def permuted(row_ids):
    """Return (row_id, value), value = 10 row_id before: the i-th by seat gets that of the i-th by draw."""
    by_seat, by_draw = (sorted(row_ids, key=lambda i: (numbers[i], i)) for numbers in (SEATS, DRAWS))
    return [(i, 10.0 * j) for i, j in zip(by_seat, by_draw, strict=True)]


# fmt: off
CASES = [
    case("replace/by_label.sql", groups=values("row_id, label", "(3, 1), (0, 0), (1, 1)"),
        representatives=values('label, x, "net ""income"""', "(0, 1.5e0, 10), (1, NULL, 20), (2, 9e0, 30)"),
        columns=[X, INCOME],
        returns='row_id, x, net "income"', expect=[(0, 1.5, 10), (1, None, 20), (3, None, 20)]),
    # Unit 2 was suppressed: its records get no value, and are left out with the others that have none.
    case("replace/by_unit.sql", members=values("row_id, unit", "(0, 0), (1, 0), (2, 2), (3, 3)"),
        values=values('row_id, "net ""income"""', "(0, 10), (3, NULL)"), columns=[INCOME],
        returns='row_id, net "income"', expect=[(0, 10), (1, 10), (3, None)]),
    # The record without a group and the group without a record are left out; a record keeps what is missing.
    case("replace/grouped.sql", groups=values("row_id, label", "(3, 1), (0, 0), (1, 1), (9, 2)"),
        typed=values('row_id, x, "net ""income""", name',
            "(0, 1.5e0, 10, 'a'), (1, NULL, 20, 'b'), (2, 9e0, 30, 'c'), (3, 2e0, NULL, NULL)"),
        relation=rel("typed"), columns=[INCOME, X],
        returns='label, net "income", x', expect=[(0, 10, 1.5), (1, 20, None), (1, None, 2.0)]),
    # Group 0: (1 + 2 + 6) / 3. Group 1: half of the values are there, the mean is theirs. Group 2: one of three, none.
    case("replace/group_means.sql", grouped=GROUPED, columns=[X, INCOME],
        returns='label, x, net "income"', expect=[(0, 3.0, 5 / 3), (1, 5.0, 7.0), (2, None, 2.5)]),
    case("replace/group_means_apart.sql", grouped=GROUPED, columns=[X, INCOME],
        returns='label, x, net "income"', expect=[(0, 3.0, 5 / 3), (1, 5.0, 7.0), (2, None, 2.5)]),
    # A night of a series in which nobody is new.
    case("replace/group_means.sql", grouped=sql("SELECT 1 AS label, 2.0 AS x WHERE false"), columns=[col("x")],
        returns="label, x", expect=[]),
    # (1 - 10^16 + 10^16) / 3, whatever is added first; beside 10^38 it is added in ascending order, where 1 is lost.
    case("replace/group_means.sql",
        grouped=values("label, x, y, z, empty",
            "(0, 1e16, 1e16, 0, NULL), (0, 1, 1, 0, NULL), (0, -1e16, -1e16, 0, NULL), (1, -3, 1e38, 0, NULL)",
            "(1, 4, 1e38, 0, NULL), (2, 1, 50000.25, 0, NULL), (2, 2, 50000.5, 0, 7)"),
        columns=[col("x"), col("y"), col("z"), col("empty")],
        returns="label, x, y, z, empty",
        show="label, x = [1 / 3::DOUBLE, 0.5, 1.5][label + 1], y = [0, 1e38, 50000.375][label + 1], z, empty",
        expect=[(0, True, True, 0.0, None), (1, True, True, 0.0, None), (2, True, True, 0.0, 7.0)]),
    # One column, as group/groups_by_rank.sql has it.
    case("replace/group_means.sql", grouped=sql(GROUPED.replace("x,", "value,")), columns=["value"],
        returns="label, value", expect=[(0, 3.0), (1, 5.0), (2, None)]),
    # The middle value, or the mean of the two in the middle.
    case("replace/group_medians.sql", grouped=GROUPED, columns=[X, INCOME],
        returns='label, x, net "income"', expect=[(0, 2.0, 2.0), (1, 5.0, 7.0), (2, None, 2.5)]),
    # b twice; a and b once each, so the smaller; NULL and c once each, so the value; NULL twice.
    case("replace/group_modes.sql",
        grouped=values('label, "net ""income"""',
            "(0, 'a'), (0, 'b'), (0, 'b'), (1, 'b'), (1, 'a'), (2, NULL), (2, 'c'), (3, NULL), (3, 'z'), (3, NULL)"),
        column=INCOME,
        returns='label, net "income"', expect=[(0, "b"), (1, "a"), (2, "c"), (3, None)]),
    # Group 0: low mid high, the middle one. Group 1: of low and high the lower. Group 2: one of two has a value.
    # Group 3: one of three, so none. Group 4: no value at all.
    case("replace/group_ordinal_medians.sql",
        grouped=values("label, grade",
            "(0, 'high'), (0, 'low'), (0, 'mid'), (1, 'high'), (1, 'low'), (2, NULL), (2, 'mid'), (3, NULL)",
            "(3, 'mid'), (3, NULL), (4, NULL), (4, NULL)"),
        column=col("grade"), type="ENUM('low', 'mid', 'high')",
        returns="label, grade", expect=[(0, "mid"), (1, "low"), (2, "mid"), (3, None), (4, None)]),
    case("replace/representatives.sql", means=values("label, x", "(0, 1.5e0), (1, NULL)"),
        modes=values("label, town", "(1, 'b'), (0, NULL)"), medians=values("label, grade", "(0, 'low'), (1, 'mid')"),
        numeric=[X], others=[("o1", rel("modes"), col("town")), ("o2", rel("medians"), col("grade"))],
        returns="label, x, town, grade", expect=[(0, 1.5, None, "low"), (1, None, "b", "mid")]),
    case("replace/grouped_only.sql", typed=values("row_id, label_, x", "(0, 'a', 1), (1, NULL, NULL), (2, 'c', 3)"),
        groups=values("row_id, label", "(2, 0), (1, 0)"), relation=rel("typed"),
        returns="row_id, label_, x", expect=[(1, None, None), (2, "c", 3)]),
    # 4 5 6 10 and, in the stratum NULL, 10 to 50: means 6.25 and 30. The columns of strata stay as they are.
    case("replace/middle_means.sql", {"ordered": SORTED_BY},
        strata=ranges("'a', 0, 6, 3, 6", "NULL, 7, 11, 7, 11", columns=["land", *STRATA]), sorted=rel("ordered"),
        by=[LAND],
        returns=["land", *STRATA, "middle_mean"], expect=[("a", 0, 6, 3, 6, 6.25), (None, 7, 11, 7, 11, 30.0)]),
    # Of 3 132 | 348 356 396 401 538 | ... the middle, (348 + 356 + 396 + 401 + 538) / 5; where it is empty, none.
    case("replace/middle_means.sql", {"ordered": SORTED}, strata=ranges("0, 10, 2, 6", "20, 30, 20, 19"),
        sorted=rel("ordered"), by=[],
        returns=[*STRATA, "middle_mean"], expect=[(0, 10, 2, 6, 407.8), (20, 30, 20, 19, None)]),
    # 1 2 3 | 4 5 6 10 and 10 to 50 in the stratum NULL: 2, and the given means of the groups in the middle.
    # Neighbours of the other stratum stay out.
    case("replace/rank_means.sql", {"ordered": SORTED_BY},
        strata=ranges("'a', 0, 6, 3, 6, 6.25e0", "NULL, 7, 11, 7, 11, 30e0", columns=["land", *MEANS]),
        sorted=rel("ordered"), by=[LAND], k=3,
        returns="row_id, value",
        expect=[*((row_id, 2.0) for row_id in (9, 8, 7)), *((row_id, 6.25) for row_id in (3, 4, 5, 6)),
            *((row_id, 30.0) for row_id in (0, 1, 2, 10, 11))]),
    # 1 2 3 | 4 5 6 | 7 8 9 10 | 11 12 13; row_id is 21 - value
    case("replace/rank_means.sql", {"ordered": ONE_TO_THIRTEEN}, strata=ranges("0, 12, 6, 9, 8.5e0", columns=MEANS),
        sorted=rel("ordered"), by=[], k=3,
        returns="row_id, value",
        expect=[*((21 - x, 2.0) for x in (1, 2, 3)), *((21 - x, 5.0) for x in (4, 5, 6)),
            *((21 - x, 8.5) for x in (7, 8, 9, 10)), *((21 - x, 12.0) for x in (11, 12, 13))]),
    # k = 2, 3 132 | 348 356 | 396 401 538 | 613 670 | 815 916: the innermost holds the median, 401
    case("replace/rank_means.sql", {"ordered": SORTED}, strata=ranges("0, 10, 4, 6, 445e0", columns=MEANS),
        sorted=rel("ordered"), by=[], k=2,
        returns="row_id, value",
        expect=[(row_id, mean) for (row_id, _), mean in zip(RANKED, [67.5] * 2 + [352] * 2 + [445] * 3 + [641.5] * 2 +
            [865.5] * 2, strict=True)]),
    # The last group of every stratum takes the remainder, k = 2: 1 2 | 3 4 | 5 6 10 and 10 20 | 30 40 50.
    case("replace/rank_means.sql", {"ordered": SORTED_BY},
        strata=ranges("'a', 0, 6, 4, 6, 7e0", "NULL, 7, 11, 9, 11, 40e0", columns=["land", *MEANS]),
        sorted=rel("ordered"), by=[LAND], k=2,
        returns="row_id, value",
        expect=[*((row_id, 1.5) for row_id in (9, 8)), *((row_id, 3.5) for row_id in (7, 3)),
            *((row_id, 7.0) for row_id in (4, 5, 6)), *((row_id, 15.0) for row_id in (0, 1)),
            *((row_id, 40.0) for row_id in (2, 10, 11))]),
    # x from its own relation, the income too, name as it was; record 2 has no new x (NULL stays NULL).
    case("replace/released.sql",
        typed=values('row_id, record, x, "net ""income""", name',
            "(0, 7, 1, 10, 'a'), (1, 8, 2, 20, 'b'), (2, 9, NULL, 30, NULL)"),
        new_x=values("row_id, value", "(1, 1.5e0), (0, 1.5e0)"),
        new_income=values('"net ""income""", row_id', "(15, 0), (15, 1), (30, 2)"), relation=rel("typed"),
        columns=[(col("name", "VARCHAR"), "r", "name"), (X, "v1", "value"), (INCOME, "v2", 'net "income"')],
        joined=[("v1", rel("new_x")), ("v2", rel("new_income"))], whole=[], whole_floats=[],
        returns='row_id, record, name, x, net "income"', ordered=True,
        expect=[(0, 7, "a", 1.5, 15), (1, 8, "b", 1.5, 15), (2, 9, None, None, 30)]),
    # Halves go to the even number; 2^63 as a DOUBLE is one more than a BIGINT holds: the largest DOUBLE in it is taken.
    case("replace/released.sql", typed=values("row_id, record", "(0, 7), (1, 8), (2, 9), (3, 6)"),
        new=values('row_id, "net ""income""", x, y',
            "(0, 2.5e0, 0.5e0, 9223372036854775807::DOUBLE), (1, 3.5e0, -0.4e0, -0.4e0), (2, NULL, NULL, NULL)",
            "(3, -2.6e0, 1.5e0, 1e0)"),
        relation=rel("typed"), columns=[], joined=[("v1", rel("new"))],
        whole=[(INCOME, "v1", 'net "income"'), (col("y", "BIGINT"), "v1", "y")], whole_floats=[(X, "v1", "x")],
        returns='row_id, record, net "income", y, x',
        show='row_id, record, "net ""income""", y, CAST(x AS VARCHAR) AS x', ordered=True,
        expect=[(0, 7, 2, 9223372036854774784, "0.0"), (1, 8, 4, 0, "0.0"), (2, 9, None, None, None),
            (3, 6, -3, 1, "2.0")]),
    # A record without a new value, or with one that is missing, has none.
    case("replace/in_order.sql", typed=values("row_id, x", "(0, 1), (1, 2), (2, 3), (3, 4)"),
        new=values("value, row_id, y", "(2.5e0, 3, 30), (NULL, 1, 10), (0.5e0, 0, NULL)"), relation=rel("typed"),
        values=rel("new"), columns=["value", "y"],
        returns="row_id, value, y", ordered=True,
        expect=[(0, 0.5, None), (1, None, 10), (2, None, None), (3, 2.5, 30)]),
    # Relations with a row for every record: one in their order, one in another.
    case("replace/released_in_order.sql",
        typed=values("row_id, record, x, y", "(0, 7, 1, 10), (1, 8, 2, 20), (2, 9, NULL, 30)"),
        new_x=values("row_id, value", "(0, 2.5e0), (1, 1.5e0), (2, NULL)"),
        new_y=values("y, row_id", "(15, 1), (5, 0), (10, 2)"), relation=rel("typed"), columns=[(INCOME, "r", "y")],
        in_order=[("v1", rel("new_x"))], unordered=[("v2", rel("new_y"))], whole=[(Y, "v2", "y")],
        whole_floats=[(X, "v1", "value")],
        returns='row_id, record, net "income", y, x', ordered=True,
        expect=[(0, 7, 10, 5, 2.0), (1, 8, 20, 15, 2.0), (2, 9, 30, 10, None)]),
    # The record that is i-th by the first draw takes the value of the one that is i-th by the second.
    case("replace/shuffled.sql",
        split=values("row_id, label, value", *(f"({i}, 0, {i * 10}::DOUBLE)" for i in range(8))), drawn=DRAWN,
        relation=rel("split"), within=[],
        returns="row_id, value", expect=permuted(range(8))),
    # Values stay within their group.
    case("replace/shuffled.sql",
        split=values("row_id, label, value", *(f"({i}, {i % 2}, {i * 10}::DOUBLE)" for i in range(8))), drawn=DRAWN,
        relation=rel("split"), within=["label"],
        returns="row_id, value", expect=[*permuted(range(0, 8, 2)), *permuted(range(1, 8, 2))]),
    # NULL is a stratum of its own.
    case("replace/shuffled.sql",
        split=values("land, row_id, label, value",
            *(f"({'NULL' if i < 3 else repr('a')}, {i}, 0, {i * 10}::DOUBLE)" for i in range(7))),
        drawn=DRAWN, relation=rel("split"), within=[LAND],
        returns="row_id, value", expect=[*permuted(range(3)), *permuted(range(3, 7))]),
    # Höhne's worked example, k = 3, by the formula of its documentation.
    case("replace/split_values.sql", groups=in_groups(RANKED[0:2], RANKED[2:5], RANKED[5:8], RANKED[8:11]), by=[],
        returns="row_id, label, value",
        expect=[(8, 0, 3.0), (3, 0, 132.0), (7, 2, about(336.97)), (0, 2, about(381.51)), (9, 2, about(381.51)),
            (10, 5, about(393.20)), (6, 5, about(579.40)), (4, 5, about(579.40)), (1, 8, about(657.55)),
            (2, 8, about(871.73)), (5, 8, about(871.73))]),
    # g = 5: b = 2 (2.5 to even), mean 3, sd √2, so 3 + √2 √(3/2) and 3 - √2 √(2/3).
    # g = 4: b = 2, mean 11, sd 1, so 12 and 10. g = 1: b = 1, the value itself. Equal values: sd 0, no change.
    case("replace/split_values.sql",
        groups=in_groups([(10 + i, i) for i in range(1, 6)], [(20, 10), (21, 10), (22, 12), (23, 12)], [(30, 99)],
            [(41, 100), (40, 100), (42, 100)], by="NULL, "),
        by=[LAND],
        returns="land, row_id, label, value",
        expect=[*((None, 10 + i, 0, 3 - sqrt(4 / 3)) for i in (1, 2, 3)),
            *((None, 10 + i, 0, 3 + sqrt(3)) for i in (4, 5)),
            *((None, row_id, 5, value) for row_id, value in ((20, 10.0), (21, 10.0), (22, 12.0), (23, 12.0))),
            (None, 30, 9, 99.0), *((None, row_id, 10, 100.0) for row_id in (41, 40, 42))]),
    # g = 7: b = 4 (3.5 to even): 0 0 0 | 7 7 7 7 has mean 4 and variance 12, so it comes out as it was.
    case("replace/split_values.sql", groups=in_groups([(i, 0 if i < 3 else 7) for i in range(7)]), by=[],
        returns="row_id, label, value",
        expect=[(i, 0, 4 - sqrt(12) * sqrt(4 / 3)) if i < 3 else (i, 0, 4 + sqrt(12) * sqrt(3 / 4)) for i in range(7)]),
]
