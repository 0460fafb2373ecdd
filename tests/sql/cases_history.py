"""Row tests of sql/history/."""

from __future__ import annotations

from hashlib import sha256

import duckdb

from sqlmicro.database.warehouse import ORDER

from .case import KEY, case, col, keyed, rel, sql, values

INCOME = col('net "income"', "DOUBLE")
TEXT = col('net "income"', "VARCHAR")
NONE = {"plain": [], "floats": [], "nested": [], "texts": []}


def _who(record, copy):
    """Return the first 15 digits of the keyed hash of a record and its number among the copies."""
    return int(keyed(record, copy)[:15], 16)


def _class(text):
    """Return the number of the class of a text; hash() is DuckDB's own."""
    return duckdb.execute("SELECT hash($1, true) >> 1", [text]).fetchall()[0][0]


def _person(number):
    """Return the first 15 digits of the keyed hash of a person."""
    ((person,),) = duckdb.execute("SELECT hash(CAST($1 AS INTEGER))", [number]).fetchall()
    return int(sha256(f"{KEY} {person}".encode()).hexdigest()[:15], 16)


def _valued(person, value):
    """Return the first 15 digits of the keyed hash of a person and a value of hers."""
    told = "SELECT hash($1, hash(CAST($2 AS INTEGER)), CAST($3 AS INTEGER))"
    ((hashed,),) = duckdb.execute(told, [KEY, person, value]).fetchall()
    return int(sha256(f"{KEY} {hashed}".encode()).hexdigest()[:15], 16)


def _value(text):
    """Return the first 15 digits of the keyed hash of a sensitive value."""
    return int(sha256(f"{KEY} {text}".encode()).hexdigest()[:15], 16)


def _both(*pairs):
    """Return the sum of DuckDB's own hashes of pairs of numbers."""
    return sum(
        duckdb.execute("SELECT hash(CAST($1 AS INTEGER), CAST($2 AS INTEGER))", pair).fetchall()[0][0] for pair in pairs
    )


MEMBERS = values(
    "release, who, class, value",
    *(f"(0, {who}, {kind}, {kind})" for who, kind in ((1, 7), (2, 7), (3, 7), (4, 8), (5, 8), (6, 8))),
    *(f"(1, {who}, {kind}, 8)" for who, kind in ((1, 7), (2, 7), (3, 9), (4, 9), (5, 9), (9, 9))),
)

# fmt: off
CASES = [
    case("history/classed.sql", records=values('row_id, "net ""income"""', "(0, 7.5), (1, NULL), (2, 7.5)"),
        kinds={**NONE, "texts": [INCOME]},
        returns="row_id, class", expect=[(0, _class("7.5")), (1, _class(None)), (2, _class("7.5"))]),
    # Two copies of one content in two classes, and a third record: numbered, each is somebody of her own.
    case("history/classes_of_records.sql", classed=values("row_id, class", "(0, 7), (1, 3), (2, 7)"),
        original=values("row_id, record, c1", "(0, 11, 5), (1, 11, 5), (2, 12, NULL)"), stream=ORDER, identity="record",
        columns=["copy"], averaged=["c1"],
        returns="who, class, value",
        expect=[(_who(11, 1), 3, _who(11, 5)), (_who(11, 2), 7, _who(11, 5)), (_who(12, 1), 7, _who(12, "NULL"))]),
    # A recoding averages nothing.
    case("history/classes_of_records.sql", classed=values("row_id, class", "(0, 7)"),
        original=values("row_id, record", "(0, 11)"), stream=ORDER, identity="record", columns=["copy"], averaged=[],
        returns="who, class, value", expect=[(_who(11, 1), 7, 0)]),
    # A person is in the classes of all her records, in each once; records without a person are one person.
    case("history/classes_of_persons.sql", classed=values("row_id, class", "(0, 1), (1, 2), (2, 1), (3, 1), (4, 1)"),
        original=values("row_id, p, c1", "(0, 7, 5), (1, 7, 5), (2, 7, 6), (3, NULL, 5), (4, NULL, 6)"), stream=ORDER,
        averaged=["c1"], person=[col("p", "INTEGER")],
        returns="who, class, value",
        expect=[(_person(7), 1, (_valued(7, 5) + _valued(7, 6)) % 2**60), (_person(7), 2, _valued(7, 5)),
            (_person(None), 1, (_valued(None, 5) + _valued(None, 6)) % 2**60)]),
    # NULL is a value of its own, and not the empty text.
    case("history/class_values.sql", classed=values("row_id, class", "(0, 1), (1, 1), (2, 2), (3, 2)"),
        records=values('row_id, "net ""income"""', "(0, 'flu'), (1, 'flu'), (2, NULL), (3, '')"), stream=ORDER,
        sensitive=[col('net "income"', "VARCHAR")],
        returns="column_name, class, value",
        expect=[('net "income"', 1, _value("=flu")), ('net "income"', 2, _value("")),
            ('net "income"', 2, _value("="))]),
    case("history/remembered_of.sql",
        remembered=values("release, column_name, class", "(3, 'd', 6), (3, 'e', 7), (4, 'd', 8)"),
        columns=["class", "column_name"], release=3,
        returns="class, column_name", expect=[(6, "d"), (7, "e")]),
    case("history/digest.sql", remembered=values("who, class", "(1, 6), (2, 6)"), columns=["who", "class"],
        returns="kept, hashes", expect=[(2, _both((1, 6), (2, 6)))]),
    case("history/digest.sql", remembered=sql("SELECT 1 AS who, 2 AS class WHERE false"), columns=["who", "class"],
        returns="kept, hashes", expect=[(0, 0)]),
    # Of each release asked for its own rows; another release counts for none, and one without rows is not there.
    case("history/digests.sql", remembered=values("release, who, class", "(3, 1, 6), (3, 2, 6), (4, 1, 6), (5, 1, 7)"),
        columns=["who", "class"], releases=[3, 5, 9],
        returns="release, kept, hashes", expect=[(3, 2, _both((1, 6), (2, 6))), (5, 1, _both((1, 7)))]),
    case("history/values_of_members.sql", class_values=values("column_name, class, value", "('d', 1, 7)"),
        remembered=values("release, column_name, class, value", "(1, 'd', 1, 6), (2, 'd', 1, 5)"), releases=[2],
        returns="release, column_name, class, value", expect=[(0, "d", 1, 7), (2, "d", 1, 5)]),
    # Persons 1 and 2 may have a or b, then a or c: a is left. Person 3 is in one release only and keeps a, b; person 4
    # has b or d, and then a or c: nothing is left. Release 2 does not have the column.
    case("history/union_values.sql",
        members=values("release, who, class",
            "(0, 1, 10), (0, 2, 10), (0, 3, 10), (0, 4, 11), (1, 1, 20), (1, 2, 20), (1, 4, 20), (2, 1, 30)"),
        class_values=values("release, class, column_name, value",
            "(0, 10, 'd', 1), (0, 10, 'd', 2), (0, 11, 'd', 2), (0, 11, 'd', 4), (1, 20, 'd', 1), (1, 20, 'd', 3)"),
        k=2,
        returns="column_name, persons, fewest, below", expect=[("d", 4, 0, 3)]),
    # Persons 1 and 2 were together in 7 and 7; 3 in 7 and 9; 4 and 5 in 8 and 9; 6 came, 9 left.
    case("history/union_classes.sql", members=MEMBERS, k=2,
        returns="persons, fewest, below, known, of_release", expect=[(7, 1, 3, 5, 6)]),
    # The same: 1 and 2 in 7 and 7; 3 in 7 and 9; 4 and 5 in 8 and 9; 6 came to 8, 9 left 9. 1, 2 and 3 had the value 8
    # and have 7 now, which tells nothing where a class publishes what it did.
    case("history/cells_of_records.sql", members=MEMBERS,
        returns="class, other, changed, persons",
        expect=[(7, 7, False, 2), (7, 9, True, 1), (8, 9, False, 2), (8, -1, False, 1), (-1, 9, False, 1)]),
    # Of who founds no class no mean has anything; a recoding has no means.
    case("history/cells_of_records.sql",
        members=values("release, who, class, value",
            "(0, 1, 7, -1), (3, 1, 9, -1), (0, 2, 7, 5), (3, 2, 9, -1), (0, 3, 7, 0), (3, 3, 9, 5)"),
        returns="class, other, changed, persons", expect=[(7, 9, True, 2), (7, 9, False, 1)]),
    # Two persons with records in both classes of a release, a third in one of them; only the first is in the other.
    case("history/cells_of_persons.sql",
        members=values("release, who, class, value",
            "(0, 1, 8, 5), (0, 1, 7, 6), (4, 1, 7, 11), (0, 2, 7, 5), (0, 2, 8, 6), (0, 3, 8, 5), (0, 4, 8, 5)",
            "(0, 5, 8, 5), (4, 5, 7, 6)"),
        returns="cell, persons, changed, release, class",
        show="persons, changed, release, class, count(*) OVER (PARTITION BY cell)",
        expect=[(1, False, 0, 7, 3), (1, False, 0, 8, 3), (1, False, 4, 7, 3), (1, False, 0, 7, 2), (1, False, 0, 8, 2),
            (2, False, 0, 8, 1), (1, True, 0, 8, 2), (1, True, 4, 7, 2)]),
    # A person with records in two classes shares both with somebody only if he is in both.
    case("history/union_classes.sql",
        members=values("release, who, class", "(0, 1, 7), (0, 1, 8), (0, 2, 8), (0, 2, 7), (0, 3, 7)"), k=3,
        returns="persons, fewest, below, known, of_release", expect=[(3, 1, 3, 0, 3)]),
    # Contents 11 and 13 are of one record each, 12 of two; the lowest hash of the two is taken.
    case("history/contents.sql", original=values("record, key_0", "(11, 1), (12, 2), (12, 3), (13, 4)"), stream=ORDER,
        identity="key_0", columns=["copy"], most=1,
        returns="who, value",
        expect=[min(((_who(1, 1), _value("=11")), (_who(4, 1), _value("=13"))), key=lambda pair: pair[1])]),
    # 7 and 8 are in both: 7 has its key, 8 another one; release 2 is not asked for.
    case("history/moved_keys.sql", contents=values("who, value", "(1, 7), (2, 8), (3, 9)"),
        remembered=values("release, who, value", "(1, 1, 7), (1, 5, 8), (2, 6, 9)"), releases=[1],
        returns="known, moved", expect=[(2, 1)]),
    case("history/own_members.sql", classes=values("who, class, value", "(1, 7, 9)"),
        returns="release, who, class, value", expect=[(0, 1, 7, 9)]),
    # Class 7 of a candidate is another one than class 7 of the release.
    case("history/classes_of_outputs.sql", release=values("who, class, value", "(1, 7, 5)"),
        candidate=values("who, class, value", "(1, 7, 6), (2, 8, 6)"), candidates=[(1, rel("candidate"))],
        returns="who, class, value", show="who, class IN (7, 8), class = (hash(1, 7) >> 1)::BIGINT, value",
        expect=[(1, True, False, 5), (1, False, True, 0), (2, False, False, 0)]),
    case("history/values_of_outputs.sql", release=values("column_name, class, value", "('d', 7, 5)"),
        candidate=values("column_name, class, value", "('d', 7, 6)"), candidates=[(1, rel("candidate"))],
        returns="column_name, class, value", show="column_name, class = (hash(1, 7) >> 1)::BIGINT, value",
        expect=[("d", False, 5), ("d", True, 6)]),
    case("history/class_values_of.sql",
        remembered=values("release, column_name, class, value", "(1, 'd', 7, 5), (2, 'd', 8, 6)"), release=2,
        returns="column_name, class, value", expect=[("d", 8, 6)]),
    # Persons 1 and 2 are alike in both tables, whatever the columns of the second are called; 1 has a row twice.
    case("history/keyed_classes.sql", first=values('id, "net ""income"""', "(1, 5e0), (1, 5e0), (2, 5e0), (3, NULL)"),
        second=values("size, id", "('a', 2), ('a', 1)"),
        tables=[(0, rel("first"), [col("id", "INTEGER")], [INCOME]),
            (2, rel("second"), [col("id", "INTEGER")], [col("size", "VARCHAR")])],
        returns="release, who, class, value",
        show="release, count(*) OVER (PARTITION BY who), count(*) OVER (PARTITION BY release, class), value",
        expect=[(0, 2, 2, 0), (0, 2, 2, 0), (0, 1, 1, 0), (2, 2, 2, 0), (2, 2, 2, 0)]),
    case("history/members.sql", classes=values("who, class, value", "(1, 7, 9)"),
        memory=values("release, who, class, value", "(1, 1, 6, 8), (2, 1, 5, 8), (3, 2, 4, -1)"), releases=[1, 3],
        returns="release, who, class, value", expect=[(0, 1, 7, 9), (1, 1, 6, 8), (3, 2, 4, -1)]),
    # Two combinations of texts were published, of which (a) was shown before.
    case("history/combinations_shown.sql", published=values('"net ""income"""', "('a'), ('b'), ('b'), (NULL)"),
        known=values("class", f"({_class('a')})"), columns=[TEXT], kinds={**NONE, "texts": [TEXT]},
        returns="class, column_name, value", show="class, column_name, value",
        expect=[(_class("b"), 'net "income"', "b"), (_class(None), 'net "income"', None)]),
    # Class 1 had 5 rows from release 3, 9 from 5; class 2 had 4 from 5 and none from 6: 5, 13, 9 rows. Tonight has 11.
    case("history/total_steps.sql", tonight=values("class, rows", "(1, 6), (3, 5)"),
        kept=values("series, release, class, rows, since",
            "('nightly', 3, 1, 5, 3), ('nightly', 5, 1, 9, 5), ('nightly', 5, 2, 4, 5), ('nightly', 6, 2, 0, 6)",
            "('nightly', 2, 1, 11, 2), ('other', 5, 1, 12, 5)"),
        series="nightly", first=3,
        returns="smallest", expect=[(2,)]),
]
