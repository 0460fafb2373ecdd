"""Row tests of sql/safe/; deviations are also held against dense Z'Z in test_templates.py."""

from __future__ import annotations

from decimal import Decimal

import pytest

from .case import case, col, rel, sql, values

SEX, LAND, X, INCOME = col("sex", "VARCHAR"), col("land", "VARCHAR"), col("x"), col('net "income"', "INTEGER")

# m 1 | f 2 | NULL 1 | NULL NULL
CELLS = values(
    'cell, sex, "net ""income""", n', "(0, 'f', 2, 1)", "(1, 'm', 1, 2)", "(2, NULL, 1, 1)", "(3, NULL, NULL, 2)"
)
SEATED = values('row_id, sex, "net ""income"""', "(1, 'm', 1)", "(0, 'm', 1)", "(2, NULL, NULL)", "(3, NULL, NULL)")
MEMBERS = values("row_id, counted", "(0, 0)", "(1, 0)", "(2, 2)", "(3, -1)", "(4, 4)")
GROUPS = values("row_id, label", "(0, 7)", "(1, 7)", "(2, 8)", "(3, 8)")
DEVIATIONS = ["table_id", "cells", "cells_changed", "count_deviation", "count_max", "sum_deviation_1", "sum_max_1"]
ORIGINAL = values("sex, land, x, n", "('m', 'A', 10e0, 2)", "('f', 'A', 20e0, 1)", "('f', 'B', 30e0, 1)")
CHANGED = values("sex, land, x, n", "('m', 'A', 12e0, 3)", "('f', 'B', 30e0, 1)")

# fmt: off
CASES = [
    # NULL is the last value; no more combinations than are asked for.
    case("safe/nominal_codes.sql", cells=values("sex, land, n", "('m', 'A', 2), ('f', 'B', 1), (NULL, 'A', 1)"),
        nominal=[SEX, LAND], most=5,
        returns="sex, land", expect=[(1, 0), (0, 1), (2, 0)]),
    case("safe/nominal_codes.sql", cells=values("sex, land, n", "('m', 'A', 2), ('f', 'B', 1), (NULL, 'A', 1)"),
        nominal=[SEX, LAND], most=1,
        returns="sex, land", expect=[(0, 0)]),
    case("safe/seats.sql", groups=values("row_id, label", "(2, 7), (0, 0), (1, 7)"),
        returns="row_id, label", ordered=True, expect=[(0, 0), (1, 7), (2, 7)]),
    # Group 0 becomes cell 1 with the mean of its members' incomes, group 1 becomes cell 0.
    case("safe/placed_cells.sql", cells=values("cell, sex, x, n", "(0, 'f', 5, 2), (1, NULL, 7, 1)"),
        placed=values("label, cell", "(0, 1), (1, 0)"),
        means=values('label, n, "net ""income"""', "(0, 4, 2.5), (1, 3, NULL)"), own=[SEX, X], averaged=[INCOME],
        returns='label, sex, x, net "income", n', expect=[(0, None, 7, 2.5, 4), (1, "f", 5, None, 3)]),
    # x is 1, 1, 4 (mean 2) and becomes 1, 2, 2: SSE 0 + 1 + 4, SST 1 + 1 + 4. The missing value is in neither.
    case("safe/numeric_loss.sql", cells=values("cell, x, n", "(0, 1, 2), (1, 4, 1), (2, NULL, 3)"),
        members=values("cell, label, n", "(0, 0, 1), (0, 1, 1), (1, 1, 1), (2, 1, 3)"),
        released=values("label, x, n", "(0, 1, 1), (1, 2, 5)"), numeric=[X],
        returns="pairs, sse_1, sst_1", expect=[(4, 5.0, 6.0)]),
    # x is 1, 1, 4, -: mean 2, variance (1 + 1 + 4) / 2. y is 10, 10, 20, 30: mean 17.5, variance 275 / 3.
    # Together they are known of three records: (7.5 + 7.5 + 5) / 2.
    case("safe/moments.sql", cells=values("cell, x, y, n", "(0, 1, 10, 2), (1, 4, 20, 1), (2, NULL, 30, 1)"),
        numeric=[X, col("y")], pairs=[(1, 1), (1, 2), (2, 2)],
        returns="nothing, mean_1, mean_2, covariance_1_1, covariance_1_2, covariance_2_2",
        expect=[(0, 2.0, 17.5, 3.0, 10.0, 275 / 3)]),
    # Cells in the order of their values, NULL last; NULL is a value of its own.
    case("safe/cells.sql",
        typed=values('row_id, sex, "net ""income"""',
            "(0, NULL, NULL), (1, 'm', 1), (2, NULL, 1), (3, 'f', 2), (4, 'm', 1), (5, NULL, NULL)"),
        relation=rel("typed"), columns=[SEX, INCOME],
        returns='cell, sex, net "income", n',
        expect=[(0, "f", 2, 1), (1, "m", 1, 2), (2, None, 1, 1), (3, None, None, 2)]),
    # -0.0 and 0.0 are one cell.
    case("safe/cells.sql", typed=values("row_id, x", "(0, '-0.0'::DOUBLE), (1, 0e0), (2, 1e0)"), relation=rel("typed"),
        columns=[X],
        returns="cell, x, n", show="cell, n", expect=[(0, 2), (1, 1)]),
    case("safe/features.sql", cells=sql(CELLS + " ORDER BY n DESC, cell"), by=[], nominal=[SEX], numeric=[INCOME],
        returns='n, stratum, sex, net "income"', ordered=True,
        expect=[(1, 0, 0, 2.0), (2, 0, 1, 1.0), (1, 0, 2, 1.0), (2, 0, 2, None)]),
    # Sex: m 2, NULL 3, f 1. Income: 1 three times, 2 once, NULL twice.
    case("safe/rare_values.sql", cells=CELLS, columns=[SEX, INCOME], few=3, k=2,
        returns="place, distinct_values, records, with_few, below_k", expect=[(1, 3, 6, 3, 1), (2, 3, 6, 3, 1)]),
    case("safe/cell_of_records.sql",
        relation=values('row_id, sex, "net ""income"""', "(7, 'm', 1), (2, NULL, NULL), (0, 'm', 1)"), cells=CELLS,
        columns=[SEX, INCOME],
        returns="cell", ordered=True, expect=[(1,), (3,), (1,)]),
    # Equal values of both files have equal numbers: f 0, m 1, NULL 2.
    case("safe/both_features.sql", cells=values('cell, sex, "net ""income""", n', "(1, 'm', 7, 2), (0, NULL, NULL, 3)"),
        original=values('cell, sex, "net ""income""", n', "(1, NULL, 2, 4), (0, 'f', 7, 1)"), nominal=[SEX],
        numeric=[INCOME],
        returns='n, sex, net "income"', ordered=True, expect=[(3, 2, None), (2, 1, 7.0), (1, 0, 7.0), (4, 2, 2.0)]),
    # A column of the strata takes part as a nominal one, too. (1, f) 0, (1, m) 1, (1, -) 2, (2, f) 3, (-, -) 4.
    case("safe/features.sql",
        cells=values('cell, sex, "net ""income""", n',
            "(0, 'm', 1, 1), (1, 'f', 1, 1), (2, 'f', 2, 4), (3, NULL, 1, 1), (4, NULL, NULL, 1)"),
        by=[INCOME, SEX], nominal=[INCOME, SEX], numeric=[],
        returns='n, stratum, net "income", sex', ordered=True,
        expect=[(1, 1, 0, 1), (1, 0, 0, 0), (4, 3, 1, 0), (1, 2, 0, 2), (1, 4, 2, 2)]),
    # Group 0: f once, m twice. Group 1: half of its records have an income. Group 2: one of three, so none.
    # Groups 3 and 4 are of one cell each.
    case("safe/means.sql", cells=CELLS,
        members=values("cell, label, n",
            "(1, 0, 2), (0, 0, 1), (2, 1, 1), (3, 1, 1), (3, 2, 2), (2, 2, 1), (3, 3, 2), (1, 4, 7)"),
        columns=[INCOME],
        returns='label, n, net "income"', expect=[(0, 3, 4 / 3), (1, 2, 1.0), (2, 3, None), (3, 2, None), (4, 7, 1.0)]),
    # (3 + 1.5 (10^16 - 10^16)) / 5 of weights, whatever is added first; 10^38 beside them is added cell by cell.
    case("safe/means.sql",
        cells=values("cell, x, y, n", "(0, 1e16, 1e38, 1), (1, 1.5, 1.5, 2), (2, -1e16, -1e38, 1), (3, 7, 7, 1)"),
        members=values("cell, label, n", "(0, 0, 1.5), (1, 0, 2.0), (2, 0, 1.5), (3, 1, 4321.5), (3, 2, 0.5)"),
        columns=[col("x"), col("y")],
        returns="label, n, x, y", show="label, n::DOUBLE, x = [0.6, 7, 7][label + 1], y = [0, 7, 7][label + 1]",
        expect=[(0, 5.0, True, True), (1, 4321.5, True, True), (2, 0.5, True, True)]),
    case("safe/means.sql", cells=CELLS, members=values("cell, label, n", "(1, 0, 2), (0, 0, 1), (3, 5, 2)"), columns=[],
        returns="label, n", expect=[(0, 3), (5, 2)]),
    # 0 and 2 of 1 to 7 with mean 4: at most 5.5, at least 2.5. 1 of 2 and 2: stays. 3 has none. What is `other` stays.
    case("safe/moved_means.sql",
        cells=values("cell, x, other, n", "(0, 1, 9, 4), (1, 7, 9, 4), (2, 2, 9, 2), (3, NULL, 9, 2)"),
        members=values("cell, label, n", "(0, 0, 1), (1, 0, 1), (2, 1, 2), (0, 2, 1), (1, 2, 1), (3, 3, 2)"),
        means=values("label, n, x, other", "(0, 2, 4.0, 'a'), (1, 2, 2.0, 'b'), (2, 2, 4.0, 'c'), (3, 2, NULL, 'd')"),
        moved=values("label, x", "(0, 2.0), (1, 1.0), (2, -9.0), (3, 1.0)"), columns=[col("x")],
        others=[col("other", "VARCHAR")],
        returns="label, n, x, other", expect=[(0, 2, 5.5, "a"), (1, 2, 2.0, "b"), (2, 2, 2.5, "c"), (3, 2, None, "d")]),
    # 0: m 2, f 1. 1: f and m tie. 2: m and NULL tie. 3: NULL leads. 4: no cell of f (1 + 1) is as large as m (1), f is.
    case("safe/modes.sql",
        cells=values("cell, sex, x, n", "(0, 'f', 1, 9), (1, 'f', 2, 9), (2, 'm', 1, 9), (3, NULL, 1, 9)"),
        members=values("cell, label, n",
            "(2, 0, 2), (0, 0, 1), (2, 1, 3), (1, 1, 3), (3, 2, 1), (2, 2, 1), (3, 3, 2), (0, 3, 1), (2, 4, 3)",
            "(0, 4, 2), (1, 4, 2)"),
        column=SEX,
        returns="label, sex", expect=[(0, "m"), (1, "f"), (2, "m"), (3, None), (4, "f")]),
    # 0: 1, 1, 4, 10, the two in the middle 1 and 4. 1: 1, 1, 4. 2: half of its records have a value. 3: one of three.
    # 4: -5, 1, 4, 4, though the cells come in another order.
    case("safe/medians.sql", cells=values("cell, x, n", "(0, 1, 9), (1, 4, 9), (2, 10, 9), (3, -5, 9), (4, NULL, 9)"),
        members=values("cell, label, n",
            "(2, 0, 1), (0, 0, 2), (1, 0, 1), (0, 1, 2), (1, 1, 1), (3, 2, 1), (4, 2, 1), (4, 3, 2), (3, 3, 1)",
            "(1, 4, 2), (3, 4, 1), (0, 4, 1)"),
        column=X,
        returns="label, x", expect=[(0, 2.5), (1, 1.0), (2, -5.0), (3, None), (4, 2.5)]),
    # 0: two fA, two mB, one mC. m 3, f 2; A 2, B 2, C 1: fA agrees with 2 + 2 values, mB with 3 + 2, mC with 3 + 1; the
    # modes m and A are no record. 1: fA and mB tie. 2: twice nothing at all, once fA.
    case("safe/medoids.sql",
        cells=values("cell, sex, land, n", "(3, 'f', 'A', 9), (1, 'm', 'B', 9), (0, 'm', 'C', 9), (2, NULL, NULL, 9)"),
        members=values("cell, label, n", "(3, 0, 2), (1, 0, 2), (0, 0, 1), (3, 1, 1), (1, 1, 1), (2, 2, 2), (3, 2, 1)"),
        columns=[SEX, LAND],
        returns="label, sex, land", expect=[(0, "m", "B"), (1, "m", "B"), (2, None, None)]),
    case("safe/released_cells.sql", means=values('label, n, "net ""income"""', "(0, 3, 1.5e0), (1, 4, NULL)"),
        modes_1=values("label, sex", "(1, NULL), (0, 'm')"), modes_2=values("label, land", "(0, 'A'), (1, 'B')"),
        columns=[("j1", SEX), ("j2", LAND), ("m", INCOME)], joined=[("j1", rel("modes_1")), ("j2", rel("modes_2"))],
        returns='label, sex, land, net "income", n', expect=[(0, "m", "A", 1.5, 3), (1, None, "B", None, 4)]),
    # Half to even, as the type of the column can hold it; 2^63 is beyond BIGINT, 2^63 - 2^11 the next DOUBLE below.
    # 1.345 as (-0.01 + 2.7) / 2 is a DOUBLE above the half, 1.015 one below it; -1.01499 is no half.
    case("safe/rounded_cells.sql",
        released=values('label, sex, x, day, "net ""income""", pay, big, fee, n',
            "(0, 'm', 2.5e0, 2.5e0, 2.5e0, 0.25e0, 9223372036854775808e0, (-0.01e0 + 2.7e0) / 2, 3)",
            "(1, NULL, 3.5e0, 3.5e0, 3.5e0, 0.75e0, -9223372036854775808e0, 1.015e0, 4)",
            "(2, 'f', NULL, NULL, NULL, NULL, NULL, NULL, 5)",
            "(3, 'f', -0.4e0, -1.4e0, -0.4e0, 999.9e0, 7e0, -1.01499e0, 5)"),
        plain=[SEX, X], times=[col("day", "DATE")], whole=[INCOME, col("big", "BIGINT")],
        decimals=[(col("pay", "DECIMAL(4,1)"), 1), (col("fee", "DECIMAL(7,2)"), 2)],
        returns='label, sex, x, day, net "income", big, pay, fee, n',
        expect=[(0, "m", 2.5, 2.0, 2, 2**63 - 2**11, Decimal("0.2"), Decimal("1.34"), 3),
            (1, None, 3.5, 4.0, 4, -(2**63), Decimal("0.8"), Decimal("1.02"), 4),
            (2, "f", None, None, None, None, None, None, 5),
            (3, "f", -0.4, -1.0, 0, 7, Decimal("999.9"), Decimal("-1.01"), 5)]),
    # Of 1, 2 and 10, 1.5 is as near to 1 as to 2, 6.1 nearer to 10; beyond the ends the ends are taken.
    case("safe/nearest_values.sql",
        released=values('label, sex, "net ""income""", x, n',
            "(0, 'm', 1.5e0, 0.3e0, 3), (1, NULL, 6.1e0, -5e0, 4), (2, 'f', NULL, NULL, 5), (3, 'f', 11e0, 0.7e0, 6)"),
        cells=values('"net ""income""", x', "(1, 0.25e0), (2, 0.75e0), (10, 0.25e0), (NULL, NULL)"), plain=[SEX],
        columns=[INCOME, X],
        returns='label, sex, net "income", x, n',
        expect=[(0, "m", 1, 0.25, 3), (1, None, 10, 0.25, 4), (2, "f", None, None, 5), (3, "f", 10, 0.75, 6)]),
    # Counts of the original: m 2, f 2; A 3, B 1; mA 2, fA 1, fB 1. Changed: m 3, f 1; A 3, B 1; mA 3, fB 1.
    # Sums: m 20, f 50; A 40, B 30; mA 20, fA 20, fB 30. Changed: m 36, f 30; A 36, B 30; mA 36, fB 30.
    # table_id counts the last column as the lowest bit: 0 = {sex, land}, 1 = {sex}, 2 = {land}.
    case("safe/deviations.sql", original=ORIGINAL, changed=CHANGED, nominal=[SEX, LAND], numeric=[X],
        sets=[(SEX,), (LAND,), (SEX, LAND)],
        returns=DEVIATIONS, ordered=True,
        expect=[(0, 3, 2, 2, 1, 16 + 20, 20), (1, 2, 2, 2, 1, 16 + 20, 20), (2, 2, 0, 0, 0, 4, 4)]),
    # m: 0, 2, 4 before (mean 2, s = 2, standard error 2 / sqrt(3)) and 5, 5, 5 after: 3 / 1.1547 = 2.598. f: 1, 1, 7
    # (mean 3, s = 3.4641, error 2) and 1, 7 after: a shift of 0.5. A: all alike. B has two records; C is gone, its
    # value missing. A missing sex has two records. table_id: 1 = {sex}, 2 = {land}.
    case("safe/subgroup_means.sql",
        original=values("sex, land, x, n",
            "('m', 'A', 0e0, 1), ('m', 'C', 2e0, 1), ('m', 'C', 4e0, 1), ('f', 'B', 1e0, 2), ('f', 'C', 7e0, 1)",
            "(NULL, 'A', 0e0, 2), ('m', 'C', NULL, 9)"),
        changed=values("sex, land, x, n",
            "('m', 'A', 5e0, 3), ('f', 'A', 1e0, 1), ('f', 'B', 7e0, 1), ('m', 'C', NULL, 4)"),
        nominal=[SEX, LAND], numeric=[X], sets=[(SEX,), (LAND,)], unit=1.0, least=3,
        returns="table_id, subgroups_1, shifted_1, gone_1, largest_1", ordered=True,
        expect=[(1, 2, 1, 0, pytest.approx(3 / (2 / 3**0.5))), (2, 1, 1, 1, None)]),
    # Weights of 10 on average: 30 of them are three records. 1, 2, 6 have the mean 3, s = 2.6458, error 1.5275.
    case("safe/subgroup_means.sql",
        original=values("sex, x, n", "('m', 1e0, 10), ('m', 2e0, 10), ('m', 6e0, 10), ('f', 1e0, 29)"),
        changed=values("sex, x, n", "('m', 1e0, 15), ('m', 3e0, 15)"), nominal=[SEX], numeric=[X], sets=[(SEX,)],
        unit=10.0, least=3,
        returns="table_id, subgroups_1, shifted_1, gone_1, largest_1",
        expect=[(0, 1, 0, 0, pytest.approx(1 / (7 / 3) ** 0.5))]),
    # No nominal column: one table with one cell; 20 + 20 + 30 against 36 + 30.
    case("safe/deviations.sql", original=ORIGINAL, changed=CHANGED, nominal=[], numeric=[X], sets=[()],
        returns=DEVIATIONS, expect=[(0, 1, 0, 0, 0, 4, 4)]),
    # NULL is a value of its own, and not the "all" of a roll-up; a missing number adds nothing.
    # sex: NULL 3 - 1, m 1 - 3; sums 0 - 5 and 5 - 15. land: 4 - 4; 5 - 20.
    case("safe/deviations.sql", original=values("sex, land, x, n", "(NULL, 'A', NULL::DOUBLE, 3), ('m', 'A', 5e0, 1)"),
        changed=values("sex, land, x, n", "(NULL, 'A', 5e0, 1), ('m', 'A', 5e0, 3)"), nominal=[SEX, LAND], numeric=[X],
        sets=[(SEX,), (LAND,)],
        returns=DEVIATIONS, ordered=True, expect=[(1, 2, 2, 4, 2, 15, 10), (2, 1, 0, 0, 0, 15, 15)]),
    # Without numeric columns only the counts are there.
    case("safe/deviations.sql", original=ORIGINAL, changed=CHANGED, nominal=[SEX], numeric=[], sets=[(SEX,)],
        returns=DEVIATIONS[:5], expect=[(0, 2, 2, 2, 1)]),
    # Weights count instead of records: 2 of 1.5 and 1 of 0.25 against 1 of 3.25; what is left is exact.
    case("safe/deviations.sql", original=values("sex, x, n", "('m', 2e0, 3.0), ('f', 4e0, 0.25)"),
        changed=values("sex, x, n", "('m', 2e0, 3.25)"), nominal=[SEX], numeric=[X], sets=[(SEX,)],
        returns=DEVIATIONS, expect=[(0, 2, 2, Decimal("0.5"), Decimal("0.25"), 0.5 + 1.0, 1.0)]),
    # Two records of weight 1.5, one of 0.1: in all 3 and 0.1.
    case("safe/weighted_cells.sql", cells=values("cell, sex, w, n", "(0, 'm', 1.5, 2), (1, NULL, 0.1e0, 1)"),
        columns=[SEX], weights=col("w"),
        returns="sex, n", expect=[("m", Decimal("3")), (None, Decimal("0.1"))]),
    # One of the two records of cell 0 is in group 0, the other in group 1.
    case("safe/weighted_members.sql", members=values("cell, label, n", "(0, 0, 1), (0, 1, 1), (1, 1, 3)"),
        cells=values("cell, sex, w, n", "(0, 'm', 1.5, 2), (1, 'f', 2, 3)"), weights=col("w"),
        returns="cell, label, n", expect=[(0, 0, Decimal("1.5")), (0, 1, Decimal("1.5")), (1, 1, Decimal("6"))]),
    # Missing, nothing, negative, not a number, too large; 1 twice and 2 can be used.
    case("safe/unfit_weights.sql",
        relation=values("row_id, w",
            "(0, NULL), (1, 0e0), (2, -1e0), (3, 'NaN'::DOUBLE), (4, 1e10), (5, 1e0), (6, 1e0), (7, 2e0)"),
        weights=col("w"),
        returns="records, records_in_all", expect=[(5, 8)]),
    # Group 0 has both records of cell 0 and one of cell 2: 2 · 1.5 + 4.
    case("safe/weights_of_groups.sql", members=values("cell, label, n", "(0, 0, 2), (2, 0, 1), (1, 3, 3)"),
        cells=values("cell, w, n", "(0, 1.5, 2), (1, 2, 3), (2, 4, 1)"), weights=col("w"),
        returns="label, n, weight", ordered=True, expect=[(0, 3, 7.0), (3, 3, 6.0)]),
    case("safe/weights_of_cells.sql", cells=values("cell, w, n", "(1, 2.5, 3), (0, 1, 2)"), weights=col("w"),
        returns="weight", ordered=True, expect=[(1.0,), (2.5,)]),
    # f is 0, m is 1, NULL is 2, in both.
    case("safe/both_categories.sql", released=values("label, sex, n", "(1, 'm', 4), (0, NULL, 3)"),
        original=values("cell, sex, n", "(1, 'f', 2), (0, 'm', 5)"), nominal=[SEX],
        returns="n, sex", ordered=True, expect=[(3, 2), (4, 1), (5, 1), (2, 0)]),
    # 2 · 10 + 1 · -20 + 3 · nothing, and without the sign
    case("safe/totals.sql",
        cells=values('cell, x, "net ""income""", n', "(0, 10e0, 1, 2), (1, -20e0, 1, 1), (2, NULL, -1, 3)"),
        numeric=[X, INCOME],
        returns="records, total_1, absolute_1, total_2, absolute_2", expect=[(6, 0.0, 40.0, 0.0, 6.0)]),
    # m: seats 1, 2 of group 0 are records 0 and 2, seat 3 of group 1 is record 3. NULL: record 1; record 4 was dropped.
    case("safe/assigned.sql",
        typed=values('row_id, sex, "net ""income"""',
            "(3, 'm', 1), (0, 'm', 1), (4, NULL, NULL), (2, 'm', 1), (1, NULL, NULL), (5, NULL, 7)"),
        cells=values('cell, sex, "net ""income""", n', "(0, 'm', 1, 3), (1, NULL, 7, 1), (2, NULL, NULL, 2)"),
        members=values("cell, label, n", "(0, 1, 1), (2, 1, 1), (0, 0, 2), (1, 6, 1)"), relation=rel("typed"),
        columns=[SEX, INCOME],
        returns="row_id, label", expect=[(0, 0), (2, 0), (3, 1), (1, 1), (5, 6)]),
    case("safe/cells_as_records.sql", cells=CELLS, columns=[SEX, INCOME],
        returns='row_id, sex, net "income"', expect=[(0, "f", 2), (1, "m", 1), (2, None, 1), (3, None, None)]),
    # Cell 4 is cell 0 with the income of cell 3, cell 5 is cell 1 with the sex of cell 2.
    case("safe/combinations.sql", cells=CELLS,
        invented=values("cell, base, donor, changed", "(4, 0, 3, 2), (5, 1, 2, 1)"), columns=[SEX, INCOME],
        returns='cell, sex, net "income"',
        expect=[(0, "f", 2), (1, "m", 1), (2, None, 1), (3, None, None), (4, "f", None), (5, None, 1)]),
    # The numbers are of the text of a value, in the order of cell; NULL has one too.
    case("safe/contents.sql", cells=values("cell, land, x, n", "(1, '1', 2, 1), (0, '2', 1, 1), (2, NULL, 2, 1)"),
        columns=[LAND, X],
        returns="land, x, cell", show="cell, land = hash('2'), land = hash(CAST(NULL AS VARCHAR)), x = hash('2')",
        expect=[(0, True, False, False), (1, False, False, True), (2, False, True, True)]),
    # Class 30 is cell 0. The third day after 1970-01-01 is number 2; noon in Berlin is 11 o'clock UTC in winter.
    case("safe/shown_cells.sql",
        texts=values("class, column_name, value",
            "(30, 'sex', 'f'), (30, 'x', '-1.5'), (30, 'born', '1970-01-03'), (30, 'at', '1970-01-01 12:00:00+01')",
            "(7, 'sex', NULL), (7, 'x', NULL), (7, 'born', NULL), (7, 'at', NULL)"),
        numbers=values("class, cell, n", "(30, 0, 5), (7, 1, 0)"), columns=[SEX, X], dates=[col("born", "DATE")],
        timestamps=[col("at", "TIMESTAMP WITH TIME ZONE")],
        returns="cell, sex, x, born, at, n", show='cell, sex, x, born, "at", n',
        expect=[(0, "f", -1.5, 2.0, 11 * 3600e6, 5), (1, None, None, None, None, 0)]),
    # The cells from 4 on are those that were shown.
    case("safe/with_shown.sql", cells=CELLS,
        shown=values('cell, sex, "net ""income"""', "(0, 'f', 9), (1, NULL, NULL)"), first=4, columns=[SEX, INCOME],
        returns='cell, sex, net "income"',
        expect=[(0, "f", 2), (1, "m", 1), (2, None, 1), (3, None, None), (4, "f", 9), (5, None, None)]),
    # Records 0 and 1 are of person 0, who has two records of cell 1; of record 3 nobody is known.
    case("safe/persons_of_cells.sql", relation=SEATED, cells=CELLS, members=MEMBERS, columns=[SEX, INCOME],
        returns="cell, person, n", ordered=True, expect=[(1, 0, 2), (3, -1, 1), (3, 2, 1)]),
    # Group 7 has records of person 0 only, group 8 of two persons.
    case("safe/cells_of_short_groups.sql", groups=GROUPS, relation=SEATED, cells=CELLS, members=MEMBERS,
        columns=[SEX, INCOME], k=2,
        returns="cell", ordered=True, expect=[(1,)]),
    case("safe/seats_of_cells.sql", groups=GROUPS, relation=SEATED, cells=CELLS, members=MEMBERS,
        wanted=values("cell", "(3)"), columns=[SEX, INCOME],
        returns="row_id, label, cell, person", ordered=True, expect=[(2, 8, 3, 2), (3, 8, 3, -1)]),
    case("safe/with_seats.sql", groups=GROUPS, seats=values("row_id, label", "(1, 8), (3, 7)"),
        returns="row_id, label", expect=[(0, 7), (1, 8), (2, 8), (3, 7)]),
    # The records of unit 2 were left out before, and it is no unit any more.
    case("safe/counted_units.sql", relation=values('row_id, "net ""income"""', "(0, 5), (3, NULL)"),
        members=values("row_id, unit", "(0, 0), (1, 0), (2, 2), (3, 3), (4, 0)"),
        returns='row_id, net "income", records', expect=[(0, 5, 3), (3, None, 1)]),
]
