"""Row tests of the recoding templates of sql/mask/."""

from __future__ import annotations

from .case import case, col, rel, sql, values

INCOME = col('net "income"', "INTEGER")
VALUES = {"values": values("value, n", "(12, 1)", "(-3, 2)", "(30, 1)", "(NULL, 1)", "(10, 3)")}
BINS = values("value, low, high", "(1, 0e0, 10e0)", "(2, NULL, 2.5e0)", "(3, 3e0, NULL)", "(NULL, NULL, NULL)")

# fmt: off
CASES = [
    case("mask/distinct_values.sql",
        typed=values('row_id, "net ""income"""', "(0, 5), (1, NULL), (2, 5), (3, NULL), (4, 7)"), relation=rel("typed"),
        column=INCOME,
        returns="value, n", expect=[(5, 2), (7, 1), (None, 2)]),
    # -3 is in [-10, 0): bins begin at multiples of the width on both sides of 0.
    case("mask/width_bins.sql", {**VALUES}, values=rel("values"), width=10.0,
        returns="value, low, high",
        expect=[(12, 10.0, 20.0), (-3, -10.0, 0.0), (30, 30.0, 40.0), (None, None, None), (10, 10.0, 20.0)]),
    # A width of 0.1 leaves no rounding error in the ends.
    case("mask/width_bins.sql", values=values("value, n", "(0.35e0, 1), (0.72e0, 1)"), width=0.1,
        returns="value, low, high", expect=[(0.35, 0.3, 0.4), (0.72, 0.7, 0.8)]),
    # A break belongs to the bin it begins.
    case("mask/break_bins.sql", {**VALUES}, values=rel("values"), breaks=[10.0, 30.0],
        returns="value, low, high",
        expect=[(12, 10.0, 30.0), (-3, None, 10.0), (30, 30.0, None), (None, None, None), (10, 10.0, 30.0)]),
    # Seven records with a value: -3 -3 | 10 10 10 | 12 30 begin at 0, 2, 5 and 6 of 7; in halves 10 starts in the first
    # (2 * 2 // 7 = 0), 12 in the second (5 * 2 // 7 = 1), so that the halves meet at 12.
    case("mask/quantile_bins.sql", {**VALUES}, values=rel("values"), parts=2,
        returns="value, low, high",
        expect=[(12, 12.0, None), (-3, None, 12.0), (30, 12.0, None), (None, None, None), (10, None, 12.0)]),
    # 11 and 40 are values of the population that no record has: they move no end, and are in the bin where they lie.
    case("mask/quantile_bins.sql",
        values=sql(VALUES["values"].replace("(12, 1)", "(12, 1), (11, 0), (40, 0), (-9, 0)")), parts=2,
        returns="value, low, high",
        expect=[*((value, 12.0, None) for value in (12, 40, 30)), *((value, None, 12.0) for value in (11, -9, -3, 10)),
            (None, None, None)]),
    case("mask/range_labels.sql", bins=BINS,
        returns="value, recoded", expect=[(1, "[0, 10)"), (2, "< 2.5"), (3, ">= 3"), (None, None)]),
    case("mask/date_range_labels.sql",
        bins=values("value, low, high", "(1, 0e0, 31e0), (2, NULL, 0e0), (3, 366e0, NULL)"),
        returns="value, recoded", expect=[(1, "[1970-01-01, 1970-02-01)"), (2, "< 1970-01-01"), (3, ">= 1971-01-02")]),
    case("mask/range_midpoints.sql", bins=BINS,
        returns="value, recoded", expect=[(1, 5.0), (2, 2.5), (3, 3.0), (None, None)]),
    # 1970-02-14 is day 44, its quarter begins with day 0; 1969-12-31 is day -1, its quarter begins 92 days earlier.
    case("mask/truncated_dates.sql", values=values("value, n", "(44e0, 1), (-1e0, 1), (NULL, 1)"), unit="quarter",
        returns="value, recoded", expect=[(44.0, 0.0), (-1.0, -92.0), (None, None)]),
    # 25 hours and a bit after the start of 1970.
    case("mask/truncated_timestamps.sql", values=values("value, n", "(90000123456e0, 1), (NULL, 1)"), unit="day",
        returns="value, recoded", expect=[(90000123456.0, 86400000000.0), (None, None)]),
    case("mask/prefixes.sql", values=values("value, n", "('10115', 1), ('ÄÖ', 2), ('7', 1), (NULL, 1)"), length=2,
        returns="value, recoded", expect=[("10115", "10***"), ("ÄÖ", "ÄÖ"), ("7", "7"), (None, None)]),
    case("mask/one_class.sql", values=values("value, n", "(1, 4), (NULL, 1)"), label="*",
        returns="value, recoded", expect=[(1, "*"), (None, "*")]),
    # No record has 5 or 6, only the population has: the other four count. Level 1 joins 1 and 2, and 5: they cover
    # (2 - 1) / (4 - 1) of the column. Level 2 joins all but NULL.
    case("mask/ladder.sql", values=values("value, n", "(3, 1), (1, 9), (2, 1), (NULL, 1), (5, 0), (6, 0)"),
        one=values("value, recoded", "(1, 'a'), (2, 'a'), (3, 'b'), (5, 'a'), (6, 'z'), (NULL, NULL)"),
        two=values("value, recoded", "(1, 'c'), (2, 'c'), (3, 'c'), (5, 'c'), (6, 'c'), (NULL, NULL)"),
        rungs=[("l1", rel("one"), "level_1", "code_1", "share_1"), ("l2", rel("two"), "level_2", "code_2", "share_2")],
        returns="value, code_0, level_1, code_1, share_1, level_2, code_2, share_2",
        expect=[(1, 1, "a", 1, 1 / 3, "c", 1, 2 / 3), (2, 2, "a", 1, 1 / 3, "c", 1, 2 / 3),
            (3, 3, "b", 2, 0.0, "c", 1, 2 / 3), (5, 4, "a", 1, 1 / 3, "c", 1, 2 / 3),
            (6, 5, "z", 3, 0.0, "c", 1, 2 / 3), (None, 6, None, 4, 0.0, None, 2, 0.0)]),
    # 1 goes to 5 only; 2 goes to 5 and 6.
    case("mask/split_classes.sql", ladder=values("code_1, code_2", "(1, 5), (1, 5), (2, 5), (2, 6), (3, 6)"),
        lower="code_1", upper="code_2",
        returns="split", expect=[(1,)]),
    # The file has four leaves, of which 3 does not occur. a covers (2 - 1) / (4 - 1) of it, the top all.
    # A missing value is missing on every level but the last; 7 is not in the file.
    case("mask/hierarchy_ladder.sql",
        texts=values("value, recoded", "(1, '1'), (2, '2'), (9, '9'), (NULL, NULL), (7, '7')"),
        hierarchy=values("value, level_1, level_2",
            "('1', 'a', '*'), ('2', 'a', '*'), ('3', 'b', '*'), ('9', 'c', '*'), (NULL, NULL, '*')"),
        levels=[("level_1", "code_1", "share_1"), ("level_2", "code_2", "share_2")],
        returns="value, found, code_0, level_1, code_1, share_1, level_2, code_2, share_2",
        expect=[(1, True, 1, "a", 1, 1 / 3, "*", 1, 1.0), (2, True, 2, "a", 1, 1 / 3, "*", 1, 1.0),
            (7, False, 3, None, 3, None, None, 2, None), (9, True, 4, "c", 2, 0.0, "*", 1, 1.0),
            (None, True, 5, None, 3, 0.0, "*", 1, 1.0)]),
    case("mask/ladder_codes.sql",
        ladder=values("value, code_0, code_1, share_1", "(NULL, 2, 1, 0.5e0), ('b', 1, 2, 0e0)"),
        levels=[("code_1", "share_1")],
        returns="code_0, code_1, share_1", ordered=True, expect=[(0, 1, 0.0), (1, 0, 0.5)]),
    case("mask/recoded.sql", typed=values('row_id, "net ""income"""', "(0, 10), (1, NULL)"),
        incomes=values("value, level_1", "(NULL, 'none'), (10, 'some'), (20, 'much')"), relation=rel("typed"),
        recoded=[(INCOME, "a1", rel("incomes"), "level_1")],
        returns='row_id, net "income"', expect=[(0, "some"), (1, "none")]),
    case("mask/cell_members.sql", typed=values('row_id, "net ""income""", x', "(4, 10, 1), (5, NULL, 1), (6, 10, 1)"),
        cells=values('cell, "net ""income""", x, n', "(0, 10, 1, 2), (1, NULL, 1, 1)"), relation=rel("typed"),
        columns=[INCOME, col("x")],
        returns="row_id, label", expect=[(4, 0), (5, 1), (6, 0)]),
    case("mask/member_values.sql", typed=values('row_id, "net ""income"""', "(4, 20), (5, NULL), (6, 10)"),
        members=values("row_id, label", "(4, 0), (5, 1), (6, 0)"), relation=rel("typed"), column=INCOME,
        returns="label, code", expect=[(0, 1), (1, 2), (0, 0)]),
    # Combination 0 is released as it is, 2 on levels 1 and 2; 1 is suppressed.
    case("mask/chosen_levels.sql",
        cells=values('cell, "net ""income""", x, n', "(0, 10, 'a', 2), (1, NULL, 'a', 1), (2, NULL, 'b', 1)"),
        chosen=values("label, chosen_1, chosen_2", "(0, 0, 0), (2, 1, 2)"),
        incomes=values("value, level_1", "(NULL, 'none'), (10, 'some')"),
        texts=values("value, recoded", "(NULL, NULL), (10, '10')"),
        letters=values("value, level_1, level_2", "('a', 'ab', '*'), ('b', 'ab', '*')"),
        joined=[(rel("incomes"), "a1", INCOME), (rel("texts"), "t1", INCOME), (rel("letters"), "a2", col("x"))],
        columns=[(INCOME, "chosen_1", [(0, "t1", "recoded"), (1, "a1", "level_1")]),
            (col("x"), "chosen_2", [(0, "a2", "value"), (1, "a2", "level_1"), (2, "a2", "level_2")])],
        returns='label, net "income", x', expect=[(0, "10", "a"), (2, "none", "*")]),
    case("mask/value_texts.sql", values=values("value, n", "(10.5, 4), (NULL, 1)"),
        returns="value, recoded", expect=[(10.5, "10.5"), (None, None)]),
    case("mask/date_texts.sql", values=values("value, n", "(31e0, 4), (NULL, 1)"),
        returns="value, recoded", expect=[(31.0, "1970-02-01"), (None, None)]),
    case("mask/timestamp_texts.sql", values=values("value, n", "(60000000e0, 4), (NULL, 1)"),
        returns="value, recoded", expect=[(60000000.0, "1970-01-01 00:01:00"), (None, None)]),
    # Group 0: 10 and 30. Group 1: one value, and one is missing. Group 2: nothing there.
    case("mask/group_ranges.sql",
        grouped=values('label, "net ""income"""', "(0, 10), (0, 30), (1, 7), (1, NULL), (2, NULL)"), column=INCOME,
        returns='label, low, high, nothing, net "income"',
        expect=[(0, "10", "30", False, "[10, 30]"), (1, "7", "7", True, "7 or missing"), (2, None, None, True, None)]),
    # Half of the way from 1.23456 to 1.29 is 1.262: group 0 may end at 1.24, not at 1.3. The smallest and the largest
    # value stay; 2000000.123 is all that group 3 has.
    case("mask/group_rounded_ranges.sql",
        grouped=values('label, "net ""income"""', "(0, -2.71828e0), (0, 1.23456e0), (1, 1.29e0), (1, 3.14159e0), "
            "(1, NULL), (2, 4.25137e0), (2, 1234567.891e0), (3, 2000000.123e0), (3, 2000000.123e0), (4, NULL)"),
        column=INCOME,
        returns='label, low, high, nothing, net "income"',
        expect=[(0, "-2.71828", "1.24", False, "[-2.71828, 1.24]"), (1, "1.29", "3.2", True, "[1.29, 3.2] or missing"),
            (2, "4.2", "1234568.0", False, "[4.2, 1234568.0]"), (3, "2000000.123", "2000000.123", False, "2000000.123"),
            (4, None, None, True, None)]),
    case("mask/group_date_ranges.sql", grouped=values("label, born", "(0, 0e0), (0, 31e0), (1, 59e0), (1, NULL)"),
        column=col("born", "DATE"), returns="label, low, high, nothing, born",
        expect=[(0, "1970-01-01", "1970-02-01", False, "[1970-01-01, 1970-02-01]"),
            (1, "1970-03-01", "1970-03-01", True, "1970-03-01 or missing")]),
    case("mask/group_timestamp_ranges.sql",
        grouped=values("label, seen", "(0, 0e0), (0, 60000000e0), (1, 0e0), (1, 0e0)"), column=col("seen", "TIMESTAMP"),
        returns="label, low, high, nothing, seen",
        expect=[(0, "1970-01-01 00:00:00", "1970-01-01 00:01:00", False, "[1970-01-01 00:00:00, 1970-01-01 00:01:00]"),
            (1, "1970-01-01 00:00:00", "1970-01-01 00:00:00", False, "1970-01-01 00:00:00")]),
    case("mask/group_sets.sql",
        grouped=values("label, land", "(0, 'b'), (0, 'a'), (0, 'b'), (1, 'c'), (1, NULL), (2, NULL)"),
        column=col("land"),
        returns="label, land", expect=[(0, "{a, b}"), (1, "c or missing"), (2, None)]),
    # A missing value is -1 and takes no number; -5 comes before 10. The rows are in the order of cell.
    case("mask/cell_codes.sql",
        cells=values('cell, "net ""income""", land, n',
            "(2, NULL, 'b', 1), (0, 10, 'b', 3), (1, -5, NULL, 2), (3, 10, 'a', 4)"),
        counted=["n"], columns=[INCOME, col("land")],
        returns='n, net "income", land', ordered=True, expect=[(3, 1, 1), (2, 0, -1), (1, -1, 1), (4, 1, 0)]),
    # Cell 0 is released whole and without its income, cell 1 without both; a value that was missing stays so.
    case("mask/suppressed_cells.sql",
        cells=values('cell, "net ""income""", land, n', "(0, 10, 'b', 3), (1, 20, 'a', 1), (2, NULL, 'a', 1)"),
        chosen=values("label, cell, hidden_0, hidden_1",
            "(0, 0, false, false), (1, 0, true, false), (2, 1, true, true), (3, 2, false, false)"),
        columns=[(INCOME, "hidden_0"), (col("land"), "hidden_1")],
        returns='label, net "income", land', expect=[(0, 10, "b"), (1, None, "b"), (2, None, None), (3, None, "a")]),
]
