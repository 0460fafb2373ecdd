"""Row tests of the templates that write a recoding down, and apply one to other records."""

from __future__ import annotations

from dataclasses import replace

import duckdb

from .case import case, col, rel, values

INCOME = col('net "income"', "INTEGER")
TOWN, BORN, SEEN, BY = col("town", "VARCHAR"), col("born", "DATE"), col("seen", "TIMESTAMP"), col("land", "VARCHAR")
TAILS = {
    "typed": values(
        'row_id, land, "net ""income"""', "(0, 'a', 9)", "(1, 'a', 3)", "(2, NULL, 7)", "(3, 'a', 5)", "(4, 'b', 8)",
        "(5, NULL, 1)", "(6, 'a', NULL)", "(7, 'c', 2)",
    ),
    # In a it begins at 5; beyond 6 where the land is missing; in b nobody knows what becomes of it; c is not known.
    "tails": values(
        "stratum_1, start, beyond, whole, becomes", "('a', 5, NULL, false, 6.5e0)", "(NULL, NULL, 6, false, 7e0)",
        "('b', NULL, 7, false, NULL)",
    ),
}  # fmt: skip
RECORDS = {
    "typed": values(
        'row_id, land, "net ""income""", town, born, seen', "(0, 'a', 5, 'Ulm', 0e0, 90000123456e0)",
        "(1, 'a', 7, 'Au', 31e0, 0e0)", "(2, NULL, NULL, NULL, NULL, NULL)", "(3, NULL, 6, 'Au', 1e0, 0e0)",
    ),
    "groups": values("row_id, label", "(0, 0)", "(1, 0)", "(2, 1)", "(3, 1)"),
}  # fmt: skip


def _stratum(text):
    """Return the number of a stratum; hash() is DuckDB's own."""
    return duckdb.execute("SELECT hash(0, $1::VARCHAR) >> 1", [text]).fetchall()[0][0]


# fmt: off
CASES = [
    case("mask/known_bins.sql", values=values("value, n", "(12, 1), (-3, 2), (30, 1), (NULL, 1), (10, 3), (20, 1)"),
        lows=[None, 10.0, 25.0], highs=[0.0, 20.0, None],
        returns="value, low, high",
        expect=[(-3, None, 0.0), (12, 10.0, 20.0), (10, 10.0, 20.0), (30, 25.0, None), (None, None, None)]),
    # 20 is in no bin that a kept record has; the record of 12 is not kept.
    case("mask/released_bins.sql",
        bins=values("value, low, high", "(12, 10e0, 20e0), (-3, NULL, 10e0), (30, 20e0, NULL), (-4, NULL, 10e0)"),
        typed=values('row_id, "net ""income"""', "(0, 12), (1, 30), (2, -3), (3, -4), (4, NULL)"),
        kept=values("row_id", "(1), (2), (3), (4)"), relation=rel("typed"), column=INCOME,
        returns="low, high", ordered=True, expect=[(None, 10.0), (20.0, None)]),
    case("mask/found_values.sql",
        ladder=values("value, found, level_1", "('a', true, 'x'), ('b', false, NULL), (NULL, true, NULL)"),
        returns="value, found, level_1", expect=[("a", True, "x"), (None, True, None)]),
    case("mask/group_boxes.sql", {**RECORDS,
            "incomes": values("label, low, high, nothing", "(0, '5', '7', false)", "(1, '6', '6', true)"),
            "dates": values("label, low, high, nothing", "(1, '1970-01-02', '1970-01-02', true)",
                "(0, '1970-01-01', '1970-02-01', false)")},
        groups=rel("groups"), relation=rel("typed"), strata=[(BY, "stratum_1")],
        ranges=[(rel("incomes"), "low_1", "high_1", "missing_1"), (rel("dates"), "low_3", "high_3", "missing_3")],
        sets=[(TOWN, "low_2", "high_2", "missing_2")],
        order=[(f"low_{i}", f"high_{i}", f"missing_{i}") for i in range(1, 4)],
        returns=["stratum_1", *(f"{part}_{i}" for i in range(1, 4) for part in ("low", "high", "missing"))],
        ordered=True,
        expect=[("a", "5", "7", False, ["Au", "Ulm"], None, False, "1970-01-01", "1970-02-01", False),
            (None, "6", "6", True, ["Au"], None, True, "1970-01-02", "1970-01-02", True)]),
    case("mask/boxes.sql", boxes=2, strata=[("stratum_1", ["a", None])],
        ranges=[("low_1", "high_1", "missing_1", "label_1", ["5", None], ["7", None], [False, True], "INTEGER")],
        dates=[("low_2", "high_2", "missing_2", "label_2", ["1970-01-02", "1970-01-01"], ["1970-02-01", "1970-01-01"],
            [True, False], "DOUBLE")],
        timestamps=[("low_3", "high_3", "missing_3", "label_3", ["1970-01-01 00:00:00", None],
            ["1970-01-01 00:00:01", None], [False, True], "DOUBLE")],
        sets=[("low_4", "missing_4", "label_4", [["b", "a's"], []], [False, True])],
        returns="box, stratum_1, low_1, high_1, low_2, high_2, low_3, high_3, missing_1, label_1, "
            "missing_2, label_2, missing_3, label_3, low_4, missing_4, label_4",
        expect=[(0, "a", 5, 7, 1.0, 31.0, 0.0, 1e6, False, "[5, 7]", True, "[1970-01-02, 1970-02-01] or missing", False,
            "[1970-01-01 00:00:00, 1970-01-01 00:00:01]", ["b", "a's"], False, "{a's, b}"),
            (1, None, None, None, 0.0, 0.0, None, None, True, None, False, "1970-01-01", True, None, [], True, None)]),
    # 0 is inside by both columns; 1 has another town; 2 lacks both, as the second box allows; 3 lies between the boxes.
    case("mask/rows_in_boxes.sql",
        typed=values('row_id, land, "net ""income""", town',
            "(0, 'a', 7, 'Ulm'), (1, 'a', 6, 'Au'), (2, NULL, NULL, NULL), (3, 'a', 8, 'Ulm'), (4, 'b', 7, 'Ulm')"),
        boxes=values("box, stratum_1, low_1, high_1, missing_1, label_1, low_2, missing_2, label_2",
            "(0, 'a', 5, 7, false, '[5, 7]', ['Ulm'], false, 'Ulm')",
            "(1, NULL, 1, 2, true, '[1, 2] or missing', ['Au'], true, 'Au or missing')"),
        relation=rel("typed"), several=2, strata=[(BY, "stratum_1")], ranges=[(INCOME, "low_1", "high_1", "missing_1")],
        sets=[(TOWN, "low_2", "missing_2")], columns=[(INCOME, "label_1"), (TOWN, "label_2")],
        returns='row_id, net "income", town', expect=[(0, "[5, 7]", "Ulm"), (2, "[1, 2] or missing", "Au or missing")]),
    case("mask/recoded_classes.sql",
        typed=values("row_id, land, town", "(0, 'a', 'x'), (1, 'a', 'y'), (2, NULL, 'z'), (3, 'a', 'z')"),
        recoded=values("row_id, town", "(0, 'T'), (1, 'T'), (2, 'T')"), relation=rel("typed"), values=rel("recoded"),
        columns=[(TOWN, "v"), (BY, "r")],
        returns="row_id, label, n", expect=[(0, 1, 2), (1, 1, 2), (2, 2, 1)]),
    case("mask/large_classes.sql", classes=values("row_id, label, n", "(0, 1, 2), (1, 1, 2), (2, 2, 1)"), k=2,
        returns="row_id", expect=[(0,), (1,)]),
    case("mask/class_of_records.sql", typed=values("row_id", "(2), (0), (1)"),
        classes=values("row_id, label, n", "(2, 1, 1), (0, 3, 1)"), relation=rel("typed"),
        returns="row_id, label", ordered=True, expect=[(0, 3), (1, 0), (2, 1)]),
    # In a the tail begins at 7: 5 is the last value outside. In b it is given that nobody is in it: all are outside.
    case("mask/tail_bounds.sql",
        typed=values('row_id, land, "net ""income"""',
            "(0, 'a', 9), (1, 'a', 7), (2, 'a', 5), (3, 'a', NULL), (4, 'b', 8), (5, 'b', 2)"),
        tails=values("land, threshold, records, mean, median", "('a', 7, 2, 8e0, 8e0)"), relation=rel("typed"), by=[BY],
        strata=[(BY, "stratum_1")], column=INCOME, top=True, replacement="mean",
        returns="stratum_1, threshold, beyond, becomes", ordered=True,
        expect=[("a", "7", "5", "8.0"), ("b", None, "8", None)]),
    case("mask/known_tails.sql", strata=[("stratum_1", ["a", None])], starts=["5", None], beyonds=[None, None],
        becomes=["6.5", None], type="INTEGER", result="DOUBLE",
        returns="stratum_1, start, beyond, whole, becomes",
        expect=[("a", 5, None, False, 6.5), (None, None, None, True, None)]),
    case("mask/rows_in_tails.sql", {**TAILS}, relation=rel("typed"), tails=rel("tails"), strata=[(BY, "stratum_1")],
        column=INCOME, top=True, result="DOUBLE",
        returns="row_id, value, in_tail, n",
        expect=[(0, 6.5, True, 2), (3, 6.5, True, 2), (1, 3.0, False, 2), (6, None, False, 2), (2, 7.0, True, 1),
            (5, 1.0, False, 1)]),
    case("mask/rows_of_all_tails.sql", typed=values("row_id", "(0), (1), (2), (3)"),
        one=values("row_id, value, in_tail, n", "(0, 6, true, 2), (1, 6, true, 1), (2, 1, false, 1), (3, 6, true, 2)"),
        two=values("row_id, value, in_tail, n", "(0, 1, false, 0), (1, 1, false, 0), (2, 1, false, 0)"),
        relation=rel("typed"), tails=[("t1", rel("one")), ("t2", rel("two"))], k=2,
        returns="row_id", expect=[(0,), (2,)]),
    case("mask/known_classes.sql", classes=2, strata=[("stratum_1", ["a", None])],
        columns=[("level_1", "value_1", [0, 1], ["5", "*"])],
        returns="place, stratum_1, level_1, value_1", expect=[(0, "a", 0, "5"), (1, None, 1, "*")]),
    # 5 in Ulm fits the class of its own value before that of all values; 6 fits only the second; 7 in b fits none.
    case("mask/cells_in_classes.sql",
        cells=values('cell, "net ""income""", town, land, n',
            "(0, 5, 'Ulm', 'a', 3), (1, 6, 'Ulm', 'a', 1), (2, 7, 'Ulm', 'b', 1), (3, NULL, 'Ulm', 'a', 1)"),
        classes=values("place, stratum_1, level_1, value_1, level_2, value_2",
            "(0, 'a', 0, '5', 0, 'Ulm'), (1, 'a', 1, '*', 0, 'Ulm')"),
        ladder=values("value, level_1", "(5, '*'), (6, '*'), (7, '*'), (NULL, '*')"),
        texts=values("value, recoded", "(5, '5'), (6, '6'), (7, '7'), (NULL, NULL)"), strata=[(BY, "stratum_1")],
        joined=[(rel("ladder"), "a1", INCOME), (rel("texts"), "t1", INCOME)],
        columns=[(INCOME, "value_1", "level_1", "VARCHAR", [(0, "t1", "recoded"), (1, "a1", "level_1")]),
            (TOWN, "value_2", "level_2", "VARCHAR", [(0, "c", "town")])],
        changed=[(INCOME, "value_1", "level_1", "VARCHAR", [])],
        returns='label, net "income"', expect=[(0, "5"), (1, "*"), (3, "*")]),
    case("mask/class_values.sql",
        cells=values('cell, "net ""income""", town, land, n', "(0, 5, 'Ulm', 'a', 3), (1, 6, 'Au', NULL, 1)"),
        representatives=values('label, "net ""income"""', "(0, '5'), (1, '*')"), chosen=[1, 0], strata=[BY],
        columns=[(INCOME, "p"), (TOWN, "c")],
        returns='land, net "income", town', ordered=True, expect=[(None, "*", "Au"), ("a", "5", "Ulm")]),
    # The recoding does not know record 2, whose own value stays inside.
    case("mask/recoded_night.sql",
        typed=values('row_id, record, "net ""income""", town, land', "(0, 7, 5, 'Ulm', 'a'), (2, 9, 6, 'Au', NULL)"),
        recoded=values('row_id, "net ""income"""', "(0, '[0, 10)')"), relation=rel("typed"), values=rel("recoded"),
        others=[BY], partial=False, columns=[(INCOME, "v", "VARCHAR"), (TOWN, "r", "VARCHAR")],
        returns='row_id, record, net "income", town, land, place',
        expect=[(0, 7, "[0, 10)", "Ulm", "a", None), (2, 9, None, None, None, 2)]),
    # Of a recoding that says only what is suppressed, others stay as they are.
    case("mask/recoded_night.sql", typed=values("row_id, record, town", "(0, 7, 'Ulm'), (2, 9, 'Au')"),
        recoded=values("row_id, town", "(0, CAST(NULL AS VARCHAR))"), relation=rel("typed"), values=rel("recoded"),
        others=[], partial=True, columns=[(TOWN, "v", "VARCHAR")],
        returns="row_id, record, town, place", expect=[(0, 7, None, None), (2, 9, "Au", None)]),
    case("mask/recoded_strata.sql", night=values("row_id, land, place", "(2, 'a', 2), (0, 'a', NULL), (1, NULL, NULL)"),
        relation=rel("night"), strata=[BY],
        returns="row_id, stratum, known", ordered=True,
        expect=[(0, _stratum("a"), True), (1, _stratum(None), True), (2, _stratum("a"), False)]),
    # Record 2 was recoded by itself, as a number where the others have text; of record 3 that is not known either.
    case("mask/with_cohort.sql",
        night=values('row_id, record, "net ""income""", land, place',
            "(0, 7, '[0, 10)', 'a', NULL), (2, 9, NULL, 'b', 2), (3, 5, NULL, NULL, 3), (4, 6, NULL, NULL, 4)"),
        cohort=values('row_id, record, "net ""income""", land, place', "(2, 9, 6, 'b', NULL), (3, 5, NULL, NULL, 3)"),
        relation=rel("night"), columns=[replace(INCOME, type="VARCHAR")], others=[BY],
        returns='row_id, record, net "income", land, place',
        expect=[(0, 7, "[0, 10)", "a", None), (2, 9, "6", "b", None), (3, 5, None, None, 3), (4, 6, None, None, 4)]),
    case("mask/founded_classes.sql", founders=values("row_id, label", "(0, 5), (1, 5), (3, 6)"),
        night=values("row_id, town", "(0, 'U*'), (1, 'U*'), (2, 'A*'), (3, NULL)"), relation=rel("night"),
        columns=[TOWN],
        returns="label, town", expect=[(5, "U*"), (6, None)]),
    case("mask/released_combinations.sql",
        typed=values('row_id, land, "net ""income""", town',
            "(0, 'a', 5, 'Ulm'), (1, 'a', 5, 'Au'), (2, 'b', 5, 'Au')"),
        recoded=values('row_id, "net ""income""", town', "(0, 5, NULL), (1, 5, NULL), (2, 5, 'Au')"),
        relation=rel("typed"), values=rel("recoded"), strata=[(BY, "stratum_1")], columns=[INCOME, TOWN],
        returns='stratum_1, net "income", town', ordered=True, expect=[("a", "5", None), ("b", "5", "Au")]),
]
