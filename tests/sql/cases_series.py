"""Row tests of the templates of series, in sql/history/ and sql/replace/seated.sql."""

from __future__ import annotations

from hashlib import sha256

import duckdb

from sqlmicro.database.warehouse import ORDER

from .case import KEY, case, col, keyed, rel, sql, values

INCOME = col('net "income"', "DOUBLE", "c1")
SEX = col("sex", "VARCHAR", "c2")
OWN = {"series": "nightly", "first": 3}
LAST = {**OWN, "last": 5}
PEOPLE = ["who", "seat", "here", "since", "founded"]


def _hash(*texts):
    """Return DuckDB's own hash of texts, after a 0, as a number that every database has."""
    marks = ", ".join(f"${number}" for number in range(1, len(texts) + 1))
    return duckdb.execute(f"SELECT hash(0, {marks}) >> 1", list(texts)).fetchall()[0][0]


def _whose(sql):
    """Return who the person is whose parts DuckDB hashes so."""
    return int(sha256(f"{KEY} {duckdb.sql(f'SELECT hash({sql})').fetchall()[0][0]}".encode()).hexdigest()[:15], 16)


def _who(record):
    return int(keyed(record, 1)[:15], 16)


def _unknown(number, place):
    """Return who stands for one who has left a class since release 4."""
    told = "SELECT hash(4, CAST($1 AS INTEGER), CAST($2 AS BIGINT)) >> 4"
    return duckdb.execute(told, [number, place]).fetchall()[0][0]


def _combination(*texts):
    return duckdb.execute("SELECT hash($1::VARCHAR[]) >> 1", [list(texts)]).fetchall()[0][0]


def _class(value):
    return duckdb.execute("SELECT hash($1::DOUBLE, signbit($1::DOUBLE), true) >> 1", [value]).fetchall()[0][0]


def _both(*rows):
    return sum(
        duckdb.execute(f"SELECT hash({', '.join(f'{value}::INTEGER' for value in row)})").fetchall()[0][0]
        for row in rows
    )


KEPT = values(
    "series, release, class, rows, since",
    "('nightly', 3, 7, 5, 3)",  # from the first night on, 5 rows, then 9
    "('nightly', 5, 7, 9, 5)",
    "('nightly', 5, 8, 6, 5)",  # since release 5
    "('nightly', 2, 9, 1, 2)",  # of an earlier epoch
    "('other', 4, 9, 2, 4)",
)
SEATS = values(
    "series, release, who, seat, founded, person",
    "('nightly', 3, 1, 0, 0, 0)",  # founded class 0, and waits since release 4
    "('nightly', 4, 1, -1, 0, 0)",
    "('nightly', 3, 2, 0, -1, 0)",
    "('nightly', 3, 3, -2, -1, 0)",  # was in class 0
    "('nightly', 2, 4, 5, 5, 0)",  # of an earlier epoch
)

# fmt: off
CASES = [
    # Who it is, is hashed as in classes_of_records; strata and sensitive values are those of several columns together.
    case("history/persons.sql", relation=values("row_id, record, c1, c2", "(1, 12, 2.0, NULL), (0, 11, 1.5, 'f')"),
        stream=ORDER, columns=["copy"], by=[INCOME, SEX], sensitive=[SEX],
        returns="row_id, record, who, stratum, sensitive", ordered=True,
        expect=[(0, 11, _who(11), _hash("1.5", "f"), _hash("f")), (1, 12, _who(12), _hash("2.0", None), _hash(None))]),
    # It is hashed as in classes_of_persons; who lacks a part of the person is one with all who do.
    case("history/whose.sql", relation=values("row_id, c1, c2", "(0, 7, 'f'), (1, 7, NULL), (2, NULL, 'm')"),
        stream=ORDER, person=[INCOME, SEX],
        returns="row_id, person", ordered=True,
        expect=[(0, _whose("7, 'f'")), (1, _whose("NULL")), (2, _whose("NULL"))]),
    case("history/by_unit.sql", relation=values("row_id, record, c3", "(0, 5, 1.5), (1, 6, 2.5), (2, 8, 3.5)"),
        original=values("row_id, c1, c2", "(0, 7, 'f'), (1, 7, NULL), (2, NULL, 'm')"), unit=[INCOME, SEX],
        columns=["c3"],
        returns="row_id, record, c3",
        expect=[(row_id, duckdb.sql(f"SELECT hash({unit})").fetchall()[0][0], value) for row_id, unit, value in (
            (0, "7, 'f'", 1.5), (1, "NULL", 2.5), (2, "NULL", 3.5))]),
    # A place in the order of the type stays, whichever values occur tonight.
    case("history/series_features.sql",
        relation=values("row_id, c1, c2, c3", "(1, NULL, 'high', 'b'), (0, 1.5, 'mid', NULL)"), numbers=[INCOME],
        places=[(SEX, "ENUM('low', 'mid', 'high')")], categories=[col("x", "VARCHAR", "c3")],
        returns="row_id, c1, c2, c3", show="row_id, c1, c2, c3 = hash('=b'), c3 = hash('')",
        expect=[(0, 1.5, 1.0, False, True), (1, None, 2.0, True, False)]),
    case("history/latest.sql", kept=KEPT, **LAST | {"keys": ["class"], "columns": ["class", "rows"]},
        returns="class, rows", expect=[(7, 9), (8, 6)]),
    # In the first night of an epoch, nothing of the one before.
    case("history/latest.sql", kept=KEPT, series="nightly", first=5, last=5, keys=["class", "since"],
        columns=["class", "rows"],
        returns="class, rows", expect=[(7, 9), (8, 6)]),
    # Of two keys both count: 7 since 3 is there beside 7 since 5.
    case("history/latest.sql", kept=KEPT, **LAST | {"keys": ["class", "since"], "columns": ["class", "rows"]},
        returns="class, rows", expect=[(7, 5), (7, 9), (8, 6)]),
    case("history/in_order.sql", relation=values("class, value", "(2, 'a'), (1, 'b'), (1, 'a')"),
        keys=["class", "value"],
        returns="class, value", ordered=True, expect=[(1, "a"), (1, "b"), (2, "a")]),
    # -0.0 is another value than 0.0, and the key is part of the content.
    case("history/rows_of_source.sql", relation=values('id, "net ""income"""', "(7, -0.0e0), (8, 0.0e0)"),
        row_key=[col("id", "INTEGER")], plain=[], nested=[], texts=[], floats=[col('net "income"', "DOUBLE")],
        returns="record, content",
        show="record = hash('7'), record = hash('8'), content = hash('7', -0.0e0, true, true), "
            "content = hash('8', 0.0e0, false, true)", expect=[(True, False, True, False), (False, True, False, True)]),
    case("history/asked_rows.sql", relation=values("id, part, x", "(7, 'a', 1), (7, 'b', 2), (NULL, 'a', 3)"),
        asked=sql("SELECT hash('7', 'b') AS record UNION ALL SELECT hash(CAST(NULL AS VARCHAR), 'a')"),
        row_key=[col("id", "INTEGER"), col("part", "VARCHAR", "c1")],
        columns=[col("part", "VARCHAR", "c1"), col("x", "INTEGER", "c2")],
        returns="part, x", expect=[("b", 2), ("a", 3)]),
    case("history/listed_keys.sql", relation=values("id, kind, part", "(8, 'u', 'a'), (8, 'd', 'a'), (NULL, 'd', 'b')"),
        row_key=[col("id", "INTEGER"), col("part", "VARCHAR", "c1")],
        returns="id, part", expect=[(8, "a"), (8, "a"), (None, "b")]),
    # A key that lacks a part is not found, and one that is listed twice brings its row once.
    case("history/rows_of_keys.sql", relation=values("id, part, x", "(7, 'a', 1), (7, 'b', 2), (NULL, 'a', 3)"),
        changes=values("id, part", "(7, 'b'), (7, 'b'), (NULL, 'a'), (8, 'a')"),
        row_key=[col("id", "INTEGER"), col("part", "VARCHAR", "c1")],
        columns=[col("part", "VARCHAR", "c1"), col("x", "INTEGER", "c2")],
        returns="part, x", expect=[("b", 2)]),
    # 1 is as she was; the row of 2 has changed, 3 waits, 4 has left, and somebody else has her token. A row that is
    # there twice is known twice.
    case("history/differing.sql",
        people=values("who, seat, here, token",
            "(1, 0, true, 11), (2, 0, true, 12), (3, -1, true, 13), (4, 0, false, 14)"),
        tokens=values("number, token", "(0, 11), (1, 11), (2, 13), (3, 14), (4, 15)"), columns=["who", "seat"],
        returns="who, seat, number",
        expect=[(2, 0, None), (3, -1, None), (4, 0, None), (None, None, 2), (None, None, 3), (None, None, 4)]),
    case("history/untouched.sql",
        people=values("who, seat, here, changed, token",
            "(1, 0, true, false, 11), (2, 0, true, true, 12), (3, -1, true, false, 13), (4, 0, false, false, 14)"),
        differing=values("who, number", "(2, NULL), (NULL, 2)"),
        returns="who, seat, changed, token", expect=[(1, 0, False, 11)]),
    case("history/unknown_rows.sql", differing=values("who, number", "(2, NULL), (NULL, 2)"),
        returns="number", expect=[(2,)]),
    # As late as the last one that was read is late enough; without a watermark nobody knows.
    case("history/rows_since.sql",
        relation=values('id, "at"', "(7, DATE '2026-01-01'), (8, DATE '2026-01-02'), (9, NULL)"),
        row_key=[col("id", "INTEGER")], watermark=col("at", "DATE"), mark="2026-01-02",
        returns="record, news", show="list_position([hash('7'), hash('8'), hash('9')], record), news",
        expect=[(1, False), (2, True), (3, True)]),
    case("history/rows_changed.sql", relation=values("id, x", "(7, 1), (8, 1)"),
        changes=values("id, kind", "(8, 'u'), (9, 'd')"), row_key=[col("id", "INTEGER")],
        returns="record, news", show="list_position([hash('7'), hash('8')], record), news",
        expect=[(1, False), (2, True)]),
    case("history/changed_keys.sql", relation=values("id, kind", "(8, 'u'), (8, 'd')"), row_key=[col("id", "INTEGER")],
        returns="record", show="record = hash('8')", expect=[(True,)]),
    # 1 has not changed; 2 has, 3 waits, 4 has left.
    case("history/differing_by_key.sql",
        people=values("who, seat, here, token",
            "(1, 0, true, 11), (2, 0, true, 12), (3, -1, true, 13), (4, 0, false, -1)"),
        tokens=values("token", "(12), (15)"), columns=["who", "token"],
        returns="who, token", expect=[(2, 12), (3, 13), (4, -1)]),
    case("history/touched.sql", differing=values("who, seat, number", "(2, 0, NULL), (NULL, NULL, 1)"),
        columns=["who", "seat"],
        returns="who, seat", expect=[(2, 0)]),
    case("history/seats_of.sql", persons=values("who, seat", "(1, 3), (2, 3)"), returns="seat", expect=[(3,), (3,)]),
    case("history/seated_persons.sql", untouched=values("who, seat", "(1, 3)"), tonight=values("who, label", "(2, 4)"),
        returns="who, label", expect=[(1, 3), (2, 4)]),
    # Two classes with the same values are one of the release; row 3 is an empty seat.
    case("history/classes_of_seats.sql", members=values("who, label", "(11, 0), (12, 1), (13, 2), (12, 2)"),
        founders=values("row_id, who, label", "(1, 12, 1)"),
        original=values("row_id, record, c1", "(0, 5, 7), (1, 6, 8), (2, 7, 9)"),
        groups=values("row_id, label", "(0, 0), (1, 1), (2, 2), (3, 2)"),
        classed=values("row_id, class", "(0, 7), (1, 7), (2, 8), (3, 8)"), stream=ORDER, averaged=["c1"], otherwise=-1,
        returns="who, class, value",
        expect=[(11, 7, -1), (12, 7, int(keyed(6, 8)[:15], 16)), (12, 8, -1), (13, 8, -1)]),
    # 1 founds 7 tonight; 2 has founded it; 3 sits in another class than she did; 4 never founded one; 5 is recoded.
    # 6 and 8 have left 7, and 9 has left 8.
    case("history/carried_members.sql",
        classes=values("who, class, value", "(1, 7, 5), (2, 7, -1), (3, 8, -1), (4, 7, -1), (5, 9, 0)"),
        memory=values("release, who, class, value",
            "(4, 1, 6, 3), (4, 2, 7, 4), (4, 3, 7, 4), (4, 5, 9, 0), (3, 4, 7, 1), (3, 7, 7, 1), (4, 6, 7, 2)",
            "(4, 8, 7, -1), (4, 9, 8, 2)"),
        last=4,
        returns="who, class, value",
        expect=[(1, 7, 5), (2, 7, 4), (3, 8, -1), (4, 7, -1), (5, 9, 0), (_unknown(7, 1), 7, -1),
            (_unknown(7, 2), 7, -1), (_unknown(8, 1), 8, -1)]),
    # 1 waits, who has founded a class; 4 is of an earlier epoch; 5 waits and is there; 6 and 8 are forgotten.
    case("history/latest_seats.sql",
        kept=values("series, release, who, seat, here, since, founded",
            "('nightly', 3, 1, 0, true, 9, 0), ('nightly', 5, 1, -1, false, 9, 0), ('nightly', 2, 4, 5, true, 9, 5)",
            "('nightly', 4, 5, -1, true, 9, -1), ('nightly', 5, 6, -1, false, 9, -1)",
            "('nightly', 4, 8, -1, false, 9, -1), ('other', 4, 7, 1, true, 9, -1)"),
        **LAST | {"columns": PEOPLE},
        returns=PEOPLE, expect=[(1, -1, False, 9, 0), (5, -1, True, 9, -1)]),
    # Class 8 is gone.
    case("history/latest_of_classes.sql", kept=KEPT, classes=values("class, last_number", "(7, -1), (8, 4)"),
        **LAST | {"keys": ["class"], "columns": ["class", "rows"]},
        returns="class, rows", expect=[(7, 9)]),
    case("history/kept_digest.sql",
        kept=values("series, release, class, rows",
            "('nightly', 3, 7, 5), ('nightly', 5, 8, 6), ('nightly', 2, 7, 9), ('nightly', 6, 7, 9)",
            "('other', 5, 7, 9)"),
        none=values("series, release, class", "('other', 3, 7)"),
        parts=[(0, rel("kept"), ["class", "rows"]), (1, rel("none"), ["class"])], series="nightly", first=3, last=5,
        returns="part, kept, hashes", expect=[(0, 2, _both((3, 7, 5), (5, 8, 6))), (1, 0, 0)]),
    # Days are whole as they are published: 3.5 becomes 4, and 4.5 becomes 4.
    case("history/class_texts.sql",
        representatives=values("label, c1, c2, day", "(0, 0.1, 'it''s', CAST(3.5 AS DOUBLE)), (1, NULL, 'b', 4.5)"),
        columns=[INCOME, SEX], whole=[col("day")],
        returns="column_name, class, value",
        expect=[(INCOME.name, 0, "0.1"), (INCOME.name, 1, None), ("sex", 0, "it's"), ("sex", 1, "b"), ("day", 0, "4.0"),
            ("day", 1, "4.0")]),
    case("history/class_representatives.sql",
        remembered=values("class, column_name, value", "(0, 'net \"income\"', '0.1'), (0, 'sex', 'f')"),
        opened=values("class, column_name, value", "(4, 'net \"income\"', NULL), (4, 'sex', 'm')"),
        columns=[INCOME, SEX],
        returns="label, c1, c2", expect=[(0, 0.1, "f"), (4, None, "m")]),
    # Classes 1 and 2 publish the same values; a missing value is not an empty text.
    case("history/class_combinations.sql",
        opened=values("class, column_name, value",
            "(2, 'b', NULL), (2, 'a', '1'), (1, 'a', '1'), (1, 'b', NULL), (0, 'a', '1'), (0, 'b', '')"),
        returns="class, combination", ordered=True,
        expect=[(0, _combination("=1", "=")), (1, _combination("=1", "")), (2, _combination("=1", ""))]),
    case("history/with_strata.sql", representatives=values("label, c1", "(7, 1.5)"),
        founders=values("row_id, label", "(0, 7), (1, 7)"),
        relation=values("row_id, c2", "(0, 'f'), (1, 'f'), (2, 'm')"), columns=[INCOME], strata=[SEX],
        returns="label, c1, c2", expect=[(7, 1.5, "f")]),
    # Of class 7 two founders have a value, of class 8 one.
    case("history/shared_means.sql", representatives=values("label, c1, c2", "(7, 1.5, 'f'), (8, 4.0, 'm')"),
        founders=values("row_id, label", "(0, 7), (1, 7), (2, 8), (3, 8)"),
        relation=values("row_id, c1, c2", "(0, 1.0, 'f'), (1, 2.0, 'f'), (2, 4.0, 'm'), (3, NULL, 'm')"), columns=[SEX],
        means=[INCOME], k=2,
        returns="label, c2, c1", expect=[(7, "f", 1.5), (8, "m", None)]),
    # The value of row 1, which has no seat, is not kept.
    case("history/with_texts.sql", remembered=values("value, column_name, text", "(5, 'another', 'x')"),
        relation=values("row_id, c2", "(0, 'f'), (1, 'secret')"), seats=values("row_id, label", "(0, 7)"),
        sensitive=[SEX],
        returns="column_name, value, text", expect=[("another", 5, "x"), ("sex", _hash("f"), "f")]),
    # A file may have made text of a number, and 0.0 is not -0.0.
    case("history/rows_of_classes.sql",
        published=values('"net ""income"""', "('2.5'), ('2.5'), ('-0.0'), ('0.0'), (NULL)"), columns=[INCOME],
        kinds={"plain": [], "floats": [INCOME], "nested": [], "texts": []},
        returns="class, rows", expect=[(_class(2.5), 2), (_class(-0.0), 1), (_class(0.0), 1), (_class(None), 1)]),
    # 8: gone after 6, and not there at first: 6 and 0. 2: 3 rows are new. 7 has its rows of the last night.
    case("history/row_steps.sql", kept=KEPT, changed=values("class, rows", "(8, 0), (2, 3)"), **OWN | {"k": 4},
        returns="smallest, below", expect=[(3, 1)]),
    # 7 has 8 rows after 5 and 9: steps of 3 and 1. 8 has 9 after 6, and had none in the first night.
    case("history/row_steps.sql", kept=KEPT, changed=values("class, rows", "(7, 8), (8, 9)"), **OWN | {"k": 3},
        returns="smallest, below", expect=[(1, 1)]),
    # Nothing has changed since the first night.
    case("history/row_steps.sql", kept=values("series, release, class, rows, since", "('nightly', 3, 7, 5, 3)"),
        changed=sql("SELECT 1 AS class, 2 AS rows WHERE false"), **OWN | {"k": 5},
        returns="smallest, below", expect=[(None, 0)]),
    case("history/changed_rows.sql", kept=KEPT, tonight=values("class, rows", "(7, 9), (2, 3)"), **OWN,
        returns="class, rows", expect=[(2, 3), (8, 0)]),
    # Records of persons: 50 founds class 6 with two; 1 and 7 are of 51, who has founded class 0 with 1. 53 founds both.
    # of an earlier epoch
    case("history/seat_changes.sql",
        kept=values("series, release, who, seat, founded, person",
            "('nightly', 3, 1, 0, 0, 51), ('nightly', 4, 2, 0, -1, 52), ('nightly', 2, 8, 0, 0, 54)"),
        changed=values("who, seat, founded, person",
            "(3, 6, 6, 50), (4, 6, 6, 50), (7, 6, 6, 51), (9, 6, 6, 52), (10, 6, 6, 53), (11, 7, 7, 53)",
            "(12, 7, 7, 54), (13, 7, 7, 55), (14, 0, -1, 51)"),
        **OWN,
        returns="fewest, most, moved", expect=[(3, 1, 0)]),
    # Class 6 has three founders; 1 has founded class 0 before, 4 only in an earlier epoch. 2 and 3 were in class 0.
    case("history/seat_changes.sql", kept=SEATS,
        changed=values("who, seat, founded, person",
            "(1, 6, 6, 0), (2, 6, -1, 0), (3, 0, -1, 0), (4, 6, 6, 0), (5, 6, 6, 0)"),
        **OWN,
        returns="fewest, most, moved", expect=[(3, 1, 1)]),
    # Nobody founds a class: there is nothing to be measured.
    case("history/seat_changes.sql", kept=SEATS,
        changed=values("who, seat, founded, person", "(1, -1, 0, 0), (3, 9, -1, 0)"), **OWN,
        returns="fewest, most, moved", expect=[(None, None, 1)]),
    # 1 has moved from 7 to 8 and keeps both; 2 is no longer there; release 2 is not the last.
    case("history/members_of_series.sql", classes=values("who, class, value", "(1, 8, -1), (3, 7, 5)"),
        memory=values("release, who, class, value", "(4, 1, 7, 6), (4, 2, 7, 6), (4, 3, 7, 5), (2, 3, 5, 5)"), last=4,
        returns="who, class, value", expect=[(1, 7, 6), (1, 8, -1), (3, 7, 5)]),
    # Row 1 has no seat. Row 0 has the stratum of its class, not what the person has become; so has the empty seat, and
    # its own sensitive value.
    case("replace/seated.sql",
        relation=values("row_id, record, c1, c2, d", "(0, 11, 1.5, 'x', 'flu'), (1, 12, 2.5, 'm', 'cold')"),
        seats=values("row_id, label", "(0, 7)"), empty=values("row_id, label, value", "(2, 7, 99)"),
        representatives=values("label, c1, c2", "(7, 3.5, 'f')"),
        texts=values("value, column_name, text", "(99, 'diagnosis', 'cough'), (98, 'diagnosis', 'flu')"), strata=[SEX],
        sensitive=[col("diagnosis", "VARCHAR", "d")], others=["c1"],
        returns="row_id, record, c2, d, c1", expect=[(0, 11, "f", "flu", 1.5), (2, 0, "f", "cough", None)]),
]  # fmt: skip
