"""Row tests of sql/audit/: what a release is still good for."""

from __future__ import annotations

from math import sqrt

from .case import case, col, rel, sql, values

X, NAME, INCOME = col("x"), col("name", "VARCHAR"), col('net "income"', "INTEGER")
SIZE = col("size", "INTEGER", "size_")
Y, G = col("y"), col("g", "VARCHAR")
BOTH = {"original": rel("original"), "released": rel("released")}
NO = {"whole": [], "nominal": [], "in_words": [], "counted": [], "aligned": []}

# fmt: off
CASES = [
    # x: SSE = 4 · 0.5², SST = 1.5² + 0.5² + 0.5² + 1.5². Income: (30 - 20)², 10² + 0 + 10², the missing value left out.
    # A constant column has SST 0, and a column without values neither.
    case("audit/losses.sql",
        typed=values('row_id, x, "net ""income""", size_, empty',
            "(3, 4e0, 30, 5, NULL::DOUBLE), (2, 3e0, 20, 5, NULL), (1, 2e0, NULL, 5, NULL), (0, 1e0, 10, 5, NULL)"),
        released=values('row_id, x, "net ""income""", size_, empty',
            "(0, 1.5e0, 10, 5, NULL::DOUBLE), (1, 1.5e0, NULL, 5, NULL), (2, 3.5e0, 20, 5, NULL)",
            "(3, 3.5e0, 20, 5, NULL)"),
        original=rel("typed"), joined=[rel("released")], numeric=[X, INCOME, SIZE, col("empty")], **NO,
        returns=["records_before", "records_after", *(f"{what}_{i}" for i in (1, 2, 3, 4) for what in ("sse", "sst"))],
        expect=[(4, 4, 1.0, 5.0, 100.0, 200.0, 0.0, 0.0, 0.0, 0.0)]),
    # What is missing in the release is lost: 1 and 6, as if they were the mean 3 (4 + 9); 2 became 2.5; NULL was none.
    case("audit/losses.sql", typed=values("row_id, x", "(0, 1e0), (1, 6e0), (2, 2e0), (3, NULL)"),
        released=values("row_id, x", "(1, NULL::DOUBLE), (0, NULL), (2, 2.5e0), (3, 2.5e0)"), original=rel("typed"),
        joined=[rel("released")], numeric=[X], **NO,
        returns="records_before, records_after, sse_1, sst_1", expect=[(4, 4, 13.25, 14.0)]),
    # Suppressed records count in neither sum: of 0, 2, 100 only 0 and 2 were released, both as 1.
    case("audit/losses.sql", typed=values("row_id, x", "(0, 0e0), (1, 2e0), (2, 100e0)"),
        released=values("row_id, x", "(1, 1e0), (0, 1e0)"), original=rel("typed"), joined=[rel("released")],
        numeric=[X], **NO,
        returns="records_before, records_after, sse_1, sst_1", expect=[(3, 2, 2.0, 2.0)]),
    # The same records in the same order: 1 became 3, NULL stayed, 6 was taken out, 2 was none and was filled in.
    case("audit/losses.sql", typed=values("row_id, x", "(0, 1e0), (1, NULL), (2, 6e0), (3, NULL)"),
        released=values("row_id, x", "(0, 3e0), (1, NULL::DOUBLE), (2, NULL), (3, 2e0)"), original=rel("typed"),
        **NO | {"aligned": [rel("released")], "joined": [], "numeric": [X], "counted": [X]},
        returns="records_before, records_after, sse_1, sst_1, before_1, after_1, filled_in_1, taken_out_1",
        expect=[(4, 4, 2**2 + 2.5**2, 2 * 2.5**2, 2, 2, 1, 1)]),
    # Where nothing is missing: 1 became 3, and 2, 6 became 4; the variance of 1, 2, 6 is 7.
    case("audit/losses.sql", typed=values("row_id, x", "(0, 1e0), (1, 2e0), (2, 6e0)"),
        released=values("row_id, x", "(0, 3e0), (1, 4e0), (2, 4e0)"), original=rel("typed"),
        **NO | {"aligned": [rel("released")], "joined": [], "numeric": [], "whole": [X]},
        returns="records_before, records_after, whole_sse_1, whole_sst_1", expect=[(3, 3, 12.0, 14.0)]),
    case("audit/present.sql", typed=values('x, "net ""income"""', "(1e0, NULL::INTEGER), (NULL, 1), (NULL, 2)"),
        relation=rel("typed"), columns=[X, INCOME],
        returns="records, present_1, present_2", expect=[(3, 1, 2)]),
    # (1, NULL) twice, (2, 'a') three times; in the second only the first two records are looked at, of three.
    *(
        case("audit/alone.sql",
            records=values("x, name", "(1e0, NULL)", "(2e0, 'a')", "(2e0, 'a')", "(1e0, NULL)", "(2e0, 'a')", *more),
            relation=rel("records"), columns=[X, NAME], most=most,
            returns="rarest", expect=[(rarest,)])
        for more, most, rarest in (((), 9, 2), (("(1e0, 'a')",), 2, 2), (("(1e0, 'a')",), 9, 1))
    ),
    # Record 1 was filled in, record 2 lost its value, record 3 lacks it as before, record 4 was left out.
    case("audit/losses.sql",
        before=values('row_id, "net ""income"""', "(0, 5), (1, NULL), (2, 7), (3, NULL), (4, NULL)"),
        after=values('row_id, "net ""income"""', "(3, NULL), (2, NULL), (1, 5), (0, 5)"), original=rel("before"),
        joined=[rel("after")], numeric=[], **NO | {"counted": [INCOME]},
        returns="records_before, records_after, before_1, after_1, filled_in_1, taken_out_1",
        expect=[(5, 4, 3, 2, 1, 1)]),
    # Of six records that refer, number 5 is not released. Before, (1, a) is there twice: records 0 and 1 join two rows
    # each, record 2 joins one, 3 has no value in one column, 4 joins nothing. After, one of (1, a) is gone.
    case("audit/references.sql",
        child_before=values("row_id, size_, b",
            "(0, 1, 'a'), (1, 1, 'a'), (2, 2, 'a'), (3, NULL, 'a'), (4, 9, 'a'), (5, 2, 'a')"),
        parent_before=values("x, b", "(1, 'a'), (1, 'a'), (2, 'a'), (NULL, 'a')"),
        child_kept=sql("SELECT range AS row_id FROM range(5)"),
        child=values("p, q", "('1', 'a'), ('1', 'a'), ('2', 'a'), (NULL, 'a'), ('9', 'a')"),
        parent=values("x, b", "(1, 'a'), (2, 'a'), (NULL, 'a')"), columns=[SIZE, col("b", "VARCHAR")],
        keys=[col("x", "INTEGER"), col("b", "VARCHAR")], released_columns=[col("p", "VARCHAR"), col("q", "VARCHAR")],
        released_keys=[col("x", "INTEGER"), col("b", "VARCHAR")],
        returns="records, missing, held, joined", expect=[(5, 1, 5, 3)]),
    # From and to NULL is a change, NULL to NULL is none, case is.
    case("audit/losses.sql",
        typed=values("row_id, name, size_", "(0, 'a', 1), (1, 'b', NULL), (2, NULL, NULL), (3, 'A', 2), (4, NULL, 3)"),
        released=values("row_id, name, size_", "(4, NULL, 3), (3, 'a', 2), (2, 'b', NULL), (1, NULL, 4), (0, 'a', 1)"),
        original=rel("typed"), joined=[rel("released")], numeric=[], **NO | {"nominal": [NAME, SIZE]},
        returns="records_before, records_after, changed_1, changed_2", expect=[(5, 5, 3, 1)]),
    # Codes of which one became a set, one is missing as before and one was taken out; the record of 4 was left out.
    case("audit/losses.sql", typed=values("row_id, size_", "(0, 1), (1, 2), (2, NULL), (3, 3), (4, 4)"),
        released=values("row_id, size_", "(0, '1'), (1, '{1, 2}'), (2, NULL), (3, NULL)"), original=rel("typed"),
        joined=[rel("released")], numeric=[], **NO | {"in_words": [SIZE]},
        returns="records_before, records_after, changed_in_words_1", expect=[(5, 4, 2)]),
    # A day and a microsecond after the beginning of 1970; NaN and infinity are no values; records are found by (id, g).
    case("audit/values.sql",
        released=values("id, g, x, day, moment",
            "(1, 'a', 2e0, DATE '1970-01-02', TIMESTAMP '1970-01-01 00:00:00.000001')",
            "(2, NULL, 'nan', DATE 'infinity', NULL)"),
        relation=rel("released"), numeric=[X], dates=[col("day", "DATE")], timestamps=[col("moment", "TIMESTAMP")],
        nominal=[G], keys=[(col("id", "INTEGER"), G)],
        returns="x, day, moment, g, row_id, n",
        show="x, day, moment, decode(g), concat(row_id.key_1, coalesce(row_id.key_2, '?')), n",
        expect=[(2.0, 1.0, 1.0, "a", "1a", 1), (None, None, None, None, "2?", 1)]),
    case("audit/repeated_keys.sql", released=values("row_id", "(1), (2), (2), (3), (3), (3)"), relation=rel("released"),
        returns="repeated", expect=[(3,)]),
    # 0, 1, 2, 3, 4: the 5 % quantile is 0.2 on.
    case("audit/numeric_summaries.sql",
        released=values("x, y", "(0e0, 1e0), (4e0, NULL), (2e0, NULL), (3e0, NULL), (1e0, NULL)"),
        relation=rel("released"), columns=[X, Y],
        returns="column_name, records, mean, variance, quantiles",
        show="column_name, records, mean, variance, quantiles[1], quantiles[3], quantiles[5]",
        expect=[("x", 5, 2.0, 2.5, 0.2, 2.0, 3.8), ("y", 1, 1.0, None, 1.0, 1.0, 1.0)]),
    # x = 1, 2, 3 and y = 2, 4, 9: products of deviations 3 + 0 + 4; a record without y takes no part.
    case("audit/comoments.sql", released=values("x, y", "(1e0, 2e0), (2e0, 4e0), (3e0, 9e0), (50e0, NULL)"),
        relation=rel("released"), pairs=[(X, Y), (X, X)],
        returns="covariance_1, correlation_1, covariance_2, correlation_2",
        show="covariance_1, correlation_1, correlation_2", expect=[(3.5, 3.5 / sqrt(13), 1.0)]),
    # sd of 1, 3, 5 is 2: |1 - 2| + |3 - 3| + |5 - 8| = 4 over 2 sqrt(2). y does not vary.
    case("audit/distances_per_value.sql",
        {"original": values("row_id, x, y", "(1, 1e0, 7e0), (2, 3e0, 7e0), (3, 5e0, NULL)"),
            "released": values("row_id, x, y", "(3, 8e0, 7e0), (2, 3e0, 7e0), (1, 2e0, 9e0)")},
        **BOTH | {"columns": [X, Y]},
        returns="column_name, total, records", expect=[("x", sqrt(2), 3), ("y", 0.0, 2)]),
    # sd of the released x, 2, 4, 6, is 2, so that half of it is 1; of y, 1, 1, 4, it is sqrt 3.
    case("audit/within_sd.sql",
        {"original": values("row_id, x, y", "(1, 1e0, 1e0), (2, 5.5e0, 1e0), (3, 7e0, 9e0)"),
            "released": values("row_id, x, y", "(3, 6e0, 4e0), (2, 4e0, 1e0), (1, 2e0, 1e0)")},
        **BOTH | {"columns": [X, Y], "sd": 0.5},
        returns="column_name, within, records", expect=[("x", 2, 3), ("y", 2, 3), (None, 1, 3)]),
    # Original 10, 20, 20, 40, 50: the middle of their ranks is 0.5, 2, 2, 3.5, 4.5; 25 is at 3, 5 at 0.
    case("audit/within_ranks.sql",
        {"original": values("row_id, x", "(1, 10e0), (2, 20e0), (3, 20e0), (4, 40e0), (5, 50e0), (6, NULL)"),
            "released": values("row_id, x", "(1, 5e0), (2, 25e0), (3, 10e0), (4, 20e0), (5, 50e0), (6, 1e0)")},
        **BOTH | {"columns": [X], "ranks": 1},
        returns="column_name, within, records", expect=[("x", 3, 5)]),
    # Five values with a rank each: the first was released 3 ranks above, the third as itself, the last 4 below.
    case("audit/within_ranks.sql",
        {"original": values("row_id, x", *(f"({i}, {10 * i}e0)" for i in range(1, 6))),
            "released": values("row_id, x", "(1, 40e0), (3, 30e0), (5, 10e0)")},
        **BOTH | {"columns": [X], "ranks": 3},
        returns="column_name, within, records", expect=[("x", 2, 3)]),
    # 20 is there twice: 2, the middle of 1 and 3. 10 and 40 have 1/2 and 7/2, each 3/2 away. 25 lies behind 3: 1 away.
    case("audit/within_ranks.sql",
        {"original": values("row_id, x", "(1, 10e0), (2, 20e0), (3, 20e0), (4, 40e0)"),
            "released": values("row_id, x", "(1, 20e0), (2, 25e0), (3, 40e0), (4, 20e0)")},
        **BOTH | {"columns": [X], "ranks": 1},
        returns="column_name, within, records", expect=[("x", 1, 4)]),
    # 1/4, 3/4 against 1: sqrt(((1/2)^2 + (sqrt(3)/2 - 1)^2)/2) = sqrt(1 - sqrt(3)/2); a and NULL have nothing alike.
    case("audit/hellinger.sql",
        {"original": values("g, name", "('a', 'a'), ('b', 'a'), ('b', 'a'), ('b', 'a')"),
            "released": values("g, name", "('b', NULL::VARCHAR), ('b', NULL)")},
        **BOTH | {"columns": [G, NAME]},
        returns="column_name, distance", expect=[("g", sqrt(1 - sqrt(3) / 2)), ("name", 1.0)]),
    # 0, 2 against 1, 1: one half between 0 and 1 and one half between 1 and 2, over sd sqrt(2). y does not vary.
    case("audit/earth_movers.sql",
        {"original": values("x, y", "(0e0, 3e0), (2e0, 3e0), (NULL, 3e0)"),
            "released": values("x, y", "(1e0, 4e0), (1e0, 4e0)")},
        **BOTH | {"columns": [X, Y]},
        returns="column_name, distance", expect=[("x", 1 / sqrt(2)), ("y", 0.0)]),
    # 0, 1, 3 cumulate to 1/3, 2/3, 1; 0, 0, 3 to 2/3, 2/3, 1: a third between 0 and 1, over sd sqrt(7/3).
    case("audit/earth_movers.sql",
        {"original": values("x", "(0e0), (1e0), (3e0)"), "released": values("x", "(0e0), (0e0), (3e0)")},
        **BOTH | {"columns": [X]},
        returns="column_name, distance", expect=[("x", sqrt(3 / 7) / 3)]),
    # Only the records with both: x = 1, 3 and y = 2, 8.
    case("audit/least_squares.sql", released=values("x, y", "(1e0, 2e0), (3e0, 8e0), (9e0, NULL), (NULL, 9e0)"),
        relation=rel("released"), columns=[Y, X], pairs=[(Y, Y), (Y, X), (X, X)],
        returns="mean_1, mean_2, covariance_1, covariance_2, covariance_3, records",
        expect=[(5.0, 2.0, 18.0, 6.0, 2.0, 2)]),
    case("audit/propensity_features.sql",
        {"original": values("x, g", "(1e0, 'b'), (2e0, NULL)"),
            "released": values("x, g", "(1.5e0, 'a'), (NULL, 'b')")},
        **BOTH | {"numeric": [X], "nominal": [G]},
        returns="x, g, target", expect=[(1.0, 2, 0), (2.0, 3, 0), (1.5, 1, 1), (None, 2, 1)]),
]
