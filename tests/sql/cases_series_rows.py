"""Row tests of the templates of series that keep rows, in sql/history/."""

from __future__ import annotations

import duckdb

from sqlmicro.database.content import by_kind
from sqlmicro.database.warehouse import ORDER

from .case import case, col, keyed, rel, values

INCOME = col('net "income"', "DOUBLE", "c1")
SEX = col("sex", "VARCHAR", "c2")
BOTH = [INCOME, SEX]
COHORT = values(
    "row, stratum, c1, c2",
    "(4, 1, '2.5', 'f')", "(5, 1, '2.5', NULL)", "(6, 2, '2.5', NULL)", "(7, 1, '7.0', 'f')",
)  # fmt: skip


def _hash(*texts):
    marks = ", ".join(f"${number}" for number in range(1, len(texts) + 1))
    return duckdb.execute(f"SELECT hash(0, {marks})", list(texts)).fetchall()[0][0]


def _keyed(*parts):
    return int(keyed(*parts)[:15], 16)


def _class(sql):
    return duckdb.execute(f"SELECT CAST(hash({sql}) >> 1 AS BIGINT)").fetchall()[0][0]


# fmt: off
CASES = [
    case("history/hashes_of_records.sql",
        relation=values("row_id, record, c1, c2", "(1, 12, 1.5, 'f'), (0, 11, NULL, 'm')"), stream=ORDER, columns=BOTH,
        returns="row_id, hashed", ordered=True, expect=[(0, _keyed(11, "NULL", "'m'")), (1, _keyed(12, 1.5, "'f'"))]),
    case("history/gaps.sql", relation=values("row_id, c1, c2", "(1, NULL, 'f'), (0, 1.5, NULL)"), columns=BOTH,
        returns="row_id, c1, c2", ordered=True, expect=[(0, False, True), (1, True, False)]),
    case("history/cohort.sql", relation=values("row_id, c1", "(0, 1.5), (1, 2.5)"),
        cohort=values("row_id, row", "(1, 7)"),
        returns="row_id, c1", expect=[(1, 2.5)]),
    case("history/with_coarsened.sql",
        relation=values("row_id, record, c1, c2, pattern", "(0, 5, 1.5, 'f', '0'), (1, 6, 2.5, 'm', '0')"),
        coarsened=values("row_id, record, c1, c2, pattern", "(1, 6, NULL, 'm', '1')"), columns=BOTH,
        returns="row_id, record, c1, c2, pattern", expect=[(0, 5, 1.5, "f", "0"), (1, 6, None, "m", "1")]),
    # A value that the method did not replace is missing; sex is a stratum, and stays.
    case("history/rows_of_cohort.sql", relation=values("row_id, c1, c2", "(0, 1.5, 'f'), (1, NULL, 'm')"),
        cohort=values("row_id, row", "(0, 8), (1, 7)"), ranked=values("row_id, value", "(0, 0.1)"), by=[SEX],
        joined=[("v1", rel("ranked"))], columns=[(INCOME, "v1", "value"), (SEX, "r", "c2")],
        returns="row, stratum, c1, c2", expect=[(8, _hash("f"), "0.1", "f"), (7, _hash("m"), None, "m")]),
    # 2.5 in stratum 2 is another class than 2.5 in stratum 1; missing values are a class too.
    case("history/classes_of_columns.sql", cohort=COHORT, columns=BOTH,
        returns="row, classes", expect=[(4, [4, 4]), (5, [4, 5]), (6, [6, 6]), (7, [7, 4])]),
    case("history/values_of_columns.sql", cohort=COHORT, columns=BOTH,
        returns="column_name, class, value",
        expect=[(INCOME.name, 4, "2.5"), (INCOME.name, 6, "2.5"), (INCOME.name, 7, "7.0"), ("sex", 4, "f"),
            ("sex", 5, None), ("sex", 6, None)]),
    # Of row 0 nobody was read tonight; row 4 came tonight.
    case("history/rows_of_columns.sql", tonight=values("row, row_id", "(1, 0), (4, 1)"),
        kept=values("row, classes", "(0, [0, 0]), (1, [0, 1])"), opened=values("row, classes", "(4, [4, 4])"),
        kept_texts=values("class, column_name, value",
            "(0, 'net \"income\"', '0.1'), (0, 'sex', 'f'), (1, 'sex', NULL), (1, 'net \"income\"', '99')"),
        texts=values("class, column_name, value", "(4, 'net \"income\"', NULL), (4, 'sex', 'm')"),
        relation=values("row_id, record", "(0, CAST(12 AS UBIGINT)), (1, 11), (2, 13)"), read=9,
        columns=[("v1", 1, INCOME), ("v2", 2, SEX)],
        returns="row_id, record, c1, c2", expect=[(9, 0, 0.1, "f"), (0, 12, 0.1, None), (1, 11, None, "m")]),
    case("history/rows_added.sql", relation=values("row_id, c1", "(0, 1.5), (1, 2.5), (9, 3.5)"),
        tonight=values("row, row_id", "(1, 0), (4, 1)"), first=4,
        returns="row_id, c1", expect=[(1, 2.5)]),
    case("history/rows_read.sql", relation=values("row_id, c1", "(0, 1.5), (1, 2.5), (2, 3.5)"), records=2,
        returns="row_id, c1", expect=[(0, 1.5), (1, 2.5)]),
    case("history/contents_of.sql", read=values("who, content, published", "(2, 7, 8), (1, 5, 6)"),
        kept=values("who, content, published", "(2, 7, 9), (3, 1, 1)"),
        returns="who, content, published, known, content_before, published_before", ordered=True,
        expect=[(1, 5, 6, False, 0, 0), (2, 7, 8, True, 7, 9)]),
    # In the first column classes 4 and 6 have two rows and one; a third column does not count.
    case("history/column_founders.sql",
        records=values("row, classes", "(4, [4, 4, 4]), (5, [4, 4, 5]), (6, [6, 4, 6])"), columns=2,
        returns="fewest", expect=[(1,)]),
    # Of 1 another row was published although she is the same; 2 has changed; 3 is new; 4 is of an earlier epoch.
    case("history/kept_rows.sql",
        changed=values("who, content, published", "(1, 10, 21), (2, 12, 22), (3, 13, 23), (4, 14, 24)"),
        kept=values("series, release, who, content, published",
            "('nightly', 3, 1, 99, 21), ('nightly', 4, 1, 10, 20), ('nightly', 3, 2, 11, 20)",
            "('nightly', 2, 4, 14, 20), ('other', 4, 3, 13, 20)"),
        series="nightly", first=3,
        returns="changed, alike", expect=[(2, 1)]),
    # Income within sex, and sex within itself: one value of two strata is two classes, so is one of two columns.
    case("history/rows_of_values.sql",
        published=values('"net ""income""", sex', "(1.5, 'f'), (1.5, 'f'), (1.5, 'm'), (NULL, 'm')"),
        parts=[{"number": number, "columns": columns, "kinds": by_kind(columns)} for number, columns in (
            (1, [SEX, INCOME]), (2, [SEX]))],
        returns="class, rows",
        expect=[(_class("'f', 1.5::DOUBLE, signbit(1.5::DOUBLE), 1"), 2),
            (_class("'m', 1.5::DOUBLE, signbit(1.5::DOUBLE), 1"), 1),
            (_class("'m', NULL::DOUBLE, signbit(NULL::DOUBLE), 1"), 1), (_class("'f', 2"), 2), (_class("'m', 2"), 2)]),
]
