"""Row tests of sql/publish/."""

from __future__ import annotations

from datetime import date, datetime
from hashlib import sha256

import duckdb

from .case import KEY, by_hash, case, col, rel, sql, values

ROW_ID, X, INCOME = col("row_id", "INTEGER", "row_id_"), col("x", "BIGINT"), col('net "income"', "INTEGER")
OWN = col("own", "BIGINT")
SHARE = col('net "income"', "DOUBLE", "c1")
KINDS = {"plain": [], "dates": [], "timestamps": [], "timestamps_with_zone": [], "casts": []}

SEX, AGE = col("sex", "VARCHAR"), col("age", "INTEGER")
SIX = values("row_id, sex, age, x", "(0, 'f', 30, 5)", "(1, 'f', 30, 5)", "(2, 'f', 30, 6)",
             "(3, 'm', 40, 5)", "(4, 'm', 40, 5)", "(5, NULL, 40, 5)")  # fmt: skip


def _of_values(x):
    """Return the keyed hash of a value; hash() is DuckDB's own."""
    number = duckdb.execute("SELECT hash($1::DOUBLE, signbit($1::DOUBLE), true) >> 1", [x]).fetchall()[0][0]
    return sha256(f"{KEY} {number}".encode()).hexdigest()


# fmt: off
CASES = [
    # Records without a person are one person, however many they are; their order is not that of the release.
    case("publish/with_persons.sql",
        released=values('row_id, "net ""income"""', "(2, 7.5), (0, 7.5), (1, 3.0), (4, 3.0)"),
        original=values("row_id, p", "(0, 'b'), (1, NULL), (2, 'b'), (3, 'a'), (4, NULL)"), person=[col("p")],
        columns=[col('net "income"')],
        returns='row_id, net "income", person', expect=[(0, 7.5, 1), (2, 7.5, 1), (1, 3.0, 0), (4, 3.0, 0)]),
    # Of a key of two columns a part is not enough.
    case("publish/with_persons.sql", released=values("row_id, x", "(0, 7), (1, 7), (2, 7), (3, 7)"),
        original=values("row_id, p, q", "(0, 'b', 1), (1, NULL, 1), (2, 'b', 2), (3, 'b', NULL)"),
        person=[col("p"), col("q")], columns=[col("x")],
        returns="row_id, x, person", expect=[(0, 7, 1), (1, 7, 0), (2, 7, 3), (3, 7, 0)]),
    # A record that was left out is not counted; those of no known household count as one.
    case("publish/with_units.sql", released=values('row_id, "net ""income"""', "(2, 7.5), (0, 7.5), (3, 3.0)"),
        members=values("row_id, counted", "(0, 0), (1, 0), (2, -1), (3, -1)"), columns=[col('net "income"')],
        returns='row_id, net "income", person', expect=[(0, 7.5, 0), (2, 7.5, -1), (3, 3.0, -1)]),
    # Of (sex, age) there are f 30 three times, m 40 twice and NULL 40 once; of x, 5 is there five times and 6 once.
    case("publish/preview.sql", released=SIX, classes=[([SEX, AGE], 2), ([X], 2)], most=10,
        returns="row_id, sex, age, x, size",
        expect=[(0, "f", 30, 5, 3), (1, "f", 30, 5, 3), (3, "m", 40, 5, 2), (4, "m", 40, 5, 2)]),
    # NULL is a value like others; no more records than asked for, and which ones is for the key to say.
    case("publish/preview.sql", released=sql("SELECT i AS row_id, CAST(NULL AS VARCHAR) AS sex FROM range(12) AS t(i)"),
        classes=[([SEX], 12)], most=5,
        returns="row_id, sex, size", expect=[(i, None, 12) for i in by_hash(range(12), "preview")[:5]]),
    # Age 30 is 30.0 whatever its type; the text of a number is the number; NULL was a value, or was none.
    case("publish/preview_marks.sql",
        original=values("row_id, age, sex", "(0, 30, '7'), (1, 31, 'm'), (2, NULL, NULL), (3, 4, 'f')"),
        preview=values("row_id, age, sex, size", "(2, NULL, NULL, 5), (0, 30.0e0, 7, 4), (1, 30.5e0, NULL, 4)"),
        numbers=[AGE], others=[SEX],
        returns="size, number_1, other_1", ordered=True,
        expect=[{0: (4, "unchanged", "unchanged"), 1: (4, "changed", "suppressed"), 2: (5, "unchanged", "unchanged")}[i]
            for i in by_hash(range(3))]),
    # The order is that of the words; the own row_id has no part in it.
    case("publish/records.sql",
        records=values("row_id, row_id_, own", "(0, 1, 50), (1, 1, 40), (3, 1, 30), (4, 1, 20)"),
        words=values("row_id, word", "(0, 7), (1, 2), (3, 9), (4, 5)"), columns=[ROW_ID, OWN],
        returns="row_id, own", ordered=True, expect=[(1, 40), (1, 20), (1, 50), (1, 30)]),
    # The order is that of the keyed hash of the record's number; the own row_id has no part in it.
    case("publish/records_apart.sql",
        records=sql("SELECT i AS row_id, 7 AS row_id_, i * 10 AS own FROM range(3, 15) AS t(i)"), columns=[ROW_ID, OWN],
        returns="row_id, own", ordered=True, expect=[(7, 10 * i) for i in by_hash(range(3, 15))]),
    # Record 2 was left out, and its word with it.
    case("publish/words_of_records.sql", records=values("row_id, word", "(3, 1), (0, 2), (1, 3)"),
        words=values("word", "(70), (20), (90), (80)"),
        returns="row_id, word", ordered=True, expect=[(0, 70), (1, 20), (3, 80)]),
    # The order is that of the keyed hash of the record's number, as in publish/preview_marks.sql.
    case("publish/preview_values.sql",
        records=sql("SELECT i AS row_id, 1 AS row_id_, i * 10 AS x FROM range(12) AS t(i)"), columns=[ROW_ID, X],
        returns="row_id, x", ordered=True, expect=[(1, 10 * i) for i in by_hash(range(12))]),
    # The order is that of the keyed hash of the values: rows of the same values follow each other, -0.0 is not 0.0.
    case("publish/records_of_series.sql",
        records=values("c1", "(7.5e0), (0.0e0), (2.5e0), (-0.0e0), (7.5e0), (0.0e0), (NULL)"), columns=[SHARE],
        kinds={"plain": [], "floats": [SHARE], "nested": [], "texts": []},
        returns='net "income"', ordered=True,
        expect=[(x,) for x in sorted([7.5, 7.5, 0.0, 0.0, 2.5, -0.0, None], key=_of_values)]),
    # A row that is emptied is none of the release.
    case("publish/rows_in_place.sql", records=values("row_id, c0, c1", "(0, 1.5, 'a'), (1, 2.5, 'b'), (2, 3.5, 'c')"),
        changed=values("row_id, record", "(2, 70::UBIGINT), (0, 80), (-1, 90)"),
        columns=[col("net income", "DOUBLE", "c0"), col("town", "VARCHAR", "c1")],
        returns="record, net income, town", expect=[(70, 3.5, "c"), (80, 1.5, "a"), (90, None, None)]),
    # Means of days and microseconds are rounded half to even: 0.5 is day 0, 1.5 and 2.5 are day 2.
    case("publish/own_types.sql",
        released=values("row_id, day, kept, moment, seconds, zoned",
            "(0, 0.5e0, 1::BIGINT, 1.5e0, 2000000::BIGINT, 3600000000e0)",
            "(1, 1.5e0, -1, 1600000000000000e0, -1000000, 0.5e0), (2, 2.5e0, 789, 2.5e0, 0, -0.6e0)",
            "(3, NULL, NULL, NULL, NULL, NULL)"),
        **KINDS | {"dates": [col("day", "DATE"), col("kept", "DATE")],
            "timestamps": [col("moment", "TIMESTAMP"), col("seconds", "TIMESTAMP_S")],
            "timestamps_with_zone": [col("zoned", "TIMESTAMP WITH TIME ZONE")]},
        returns="row_id, day, kept, moment, seconds, zoned",
        show="typeof(zoned), zoned AT TIME ZONE 'UTC', typeof(day), day, kept, typeof(moment), moment, "
            "typeof(seconds), seconds",
        expect=[("TIMESTAMP WITH TIME ZONE", zoned, "DATE", day, kept, "TIMESTAMP", moment, "TIMESTAMP_S", seconds)
            for zoned, day, kept, moment, seconds in (
            (datetime(1970, 1, 1, 1), date(1970, 1, 1), date(1970, 1, 2), datetime(1970, 1, 1, 0, 0, 0, 2),
                datetime(1970, 1, 1, 0, 0, 2)),
            (datetime(1970, 1, 1), date(1970, 1, 3), date(1969, 12, 31), datetime(2020, 9, 13, 12, 26, 40),
                datetime(1969, 12, 31, 23, 59, 59)),
            (datetime(1969, 12, 31, 23, 59, 59, 999999), date(1970, 1, 3), date(1972, 2, 29),
                datetime(1970, 1, 1, 0, 0, 0, 2), datetime(1970, 1, 1)), (None, None, None, None, None))]),
    case("publish/own_types.sql", released=values("row_id, day, x", "(0, 0.5e0, 1), (1, 1.5e0, NULL), (2, NULL, 3)"),
        **KINDS | {"plain": [X], "dates": [col("day", "DATE")]},
        returns="row_id, x, day", expect=[(0, 1, date(1970, 1, 1)), (1, None, date(1970, 1, 3)), (2, 3, None)]),
    # Text becomes the type it was; the columns stand by kind.
    case("publish/own_types.sql",
        released=values('row_id, span, grade, size_, "net ""income"""',
            "(0, '1 month', 'low', 1.5e0, 10), (1, '30 days', NULL, NULL, NULL)"),
        **KINDS | {"plain": [col("size", "INTEGER", "size_"), INCOME],
            "casts": [col("span", "INTERVAL"), col("grade", "ENUM('low', 'high')")]},
        returns='row_id, size_, net "income", span, grade',
        show='"net ""income""", typeof(grade), grade, size_, typeof(span), span::VARCHAR',
        expect=[(10, "ENUM('low', 'high')", "low", 1.5, "INTERVAL", "1 month"),
            (None, "ENUM('low', 'high')", None, None, "INTERVAL", "30 days")]),
    # The sum of DuckDB's hashes of the records: of a record twice, double; of none, NULL.
    case("publish/content.sql", relation=values("x, net", "(1, 'a'), (2, NULL), (1, 'a')"),
        plain=[col("x"), col("net")], floats=[], nested=[], texts=[],
        returns="records, hashes",
        show="records, hashes = 2 * CAST(hash(1, 'a', true) AS HUGEINT) + hash(2, NULL, true)", expect=[(3, True)]),
    case("publish/content.sql", relation=sql("SELECT 1 AS x WHERE false"), plain=[col("x")], floats=[], nested=[],
        texts=[],
        returns="records, hashes", expect=[(0, None)]),
    # 0.0 and -0.0 alone, in a list, a span of a month, the second label of an ENUM: as they are written.
    case("publish/content.sql",
        relation=sql(
            "SELECT -0.0::DOUBLE AS x, [-0.0::DOUBLE] AS xs, INTERVAL 1 MONTH AS span, "
                "'b'::ENUM('a', 'b') AS grade"),
        plain=[], floats=[col("x")], nested=[col("xs", "DOUBLE[]")], texts=[col("span"), col("grade")],
        returns="records, hashes",
        show="records, hashes = hash(0.0::DOUBLE, true, '[1' || repeat('0', 63) || ']', '1 month', 'b', true)",
        expect=[(1, True)]),
    # Each label once, NULL is none.
    case("publish/labels.sql",
        released=values("row_id, kind, grade", "(0, 'a', NULL), (1, 'a', NULL), (2, 'it''s', NULL)"),
        relation=rel("released"), columns=[col("kind", "VARCHAR"), col("grade", "VARCHAR")],
        returns="number, label", expect=[(1, "a"), (1, "it's")]),
]
