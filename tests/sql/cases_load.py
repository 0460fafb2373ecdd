"""Row tests of sql/load/."""

from __future__ import annotations

from datetime import date

from .case import Case, col, keyed, rel, values

INCOME = col('net "income"', "INTEGER")

CASES = [
    Case(
        "load/shuffled.sql",
        given={"typed": "SELECT 7 * i % 12 AS record, 7 * i % 12 * 10 AS x FROM range(12) AS t(i)"},
        params={"relation": rel("typed"), "order": ["record"]},
        returns=["record", "x"],
        expect=[(i, i * 10) for i in range(12)],
        ordered=True,
    ),
    Case(
        "load/shuffled.sql",
        given={"typed": values("record, key_0, x", "(4, 8, 'a')", "(4, 7, 'a')", "(3, 9, 'b')")},
        params={"relation": rel("typed"), "order": ["record", "key_0"]},
        returns=["record", "key_0", "x"],
        expect=[(3, 9, "b"), (4, 7, "a"), (4, 8, "a")],
        ordered=True,
    ),
    # What is sorted by comes first, records without a value last; equal values go by the hash.
    Case(
        "load/shuffled.sql",
        given={
            "typed": values("record, key_0, x", "(1, 8, NULL)", "(9, 7, -2.5)", "(5, 9, 3)", "(4, 6, 3)", "(4, 2, 3)")
        },
        params={"relation": rel("typed"), "order": [col("x", "DOUBLE"), "record", "key_0"]},
        returns=["record", "key_0", "x"],
        expect=[(9, 7, -2.5), (4, 2, 3), (4, 6, 3), (5, 9, 3), (1, 8, None)],
        ordered=True,
    ),
    Case(
        "load/numbered.sql",
        given={"shuffled": values('record, "net ""income""", row_id_', "(9, 100, 7)", "(4, NULL, 7)", "(6, 300, 5)")},
        params={"shuffled": rel("shuffled"), "columns": [INCOME, col("row_id", "INTEGER", "row_id_")]},
        returns=["row_id", "record", 'net "income"', "row_id_"],
        expect=[(0, 9, 100, 7), (1, 4, None, 7), (2, 6, 300, 5)],
        ordered=True,
    ),
    # Record 1 is not in the relation; NULL is the last value, and all records without a person are one person.
    Case(
        "load/guaranteed.sql",
        given={
            "original": values(
                'row_id, "net ""income""", s, p, q',
                "(0, 300, 'b', 'x', 1)",
                "(1, 100, 'a', 'x', 2)",
                "(2, NULL, NULL, NULL, NULL)",
                "(3, 300, 'b', 'x', 1)",
                "(4, 100, 'a', 'x', NULL)",
            ),
            "relation": values("row_id", "(3)", "(0)", "(2)"),
        },
        params={
            "original": rel("original"),
            "relation": rel("relation"),
            "persons": [[col("p"), col("q")]],
            "sensitive": [INCOME, col("s")],
        },
        returns=["row_id", "stays", "person", 'net "income"', "s"],
        expect=[(0, True, 1, 1, 1), (1, False, 2, 0, 0), (2, True, 0, 2, 2), (3, True, 1, 1, 1), (4, False, 0, 0, 0)],
        ordered=True,
    ),
    # Household b has records of nobody only, p of no household two: neither is a household that counts.
    Case(
        "load/members.sql",
        given={
            "original": values(
                'row_id, "net ""income""", h, p',
                "(0, 7, 'a', 'x')",
                "(1, 7, NULL, 'y')",
                "(2, 7, 'a', 'z')",
                "(3, 7, NULL, NULL)",
                "(4, 7, NULL, 'y')",
                "(5, 7, 'b', NULL)",
                "(6, 7, 'b', NULL)",
                "(7, 7, NULL, NULL)",
                "(8, 7, 'a', NULL)",
            )
        },
        params={
            "relation": rel("original"),
            "key": [col("h")],
            "keys": [([col("h")], [col("h")]), ([col("p")], [col("h"), col("p")])],
            "persons": [[col("p")]],
        },
        returns=["row_id", "unit", "counted"],
        expect=[
            (0, 0, 0),
            (1, 1, -1),
            (2, 0, 0),
            (3, 3, -1),
            (4, 1, -1),
            (5, 5, -1),
            (6, 5, -1),
            (7, 7, -1),
            (8, 0, 0),
        ],
    ),
    # A key of two columns, of which one is missing, says nothing.
    Case(
        "load/members.sql",
        given={"original": values("row_id, p, q", "(0, 1, 2)", "(1, 1, 2)", "(2, 1, NULL)", "(3, NULL, NULL)")},
        params={
            "relation": rel("original"),
            "key": [col("p"), col("q")],
            "keys": [([col("p"), col("q")], [col("p"), col("q")])],
            "persons": [],
        },
        returns=["row_id", "unit", "counted"],
        expect=[(0, 0, 0), (1, 0, 0), (2, 2, -1), (3, 3, -1)],
    ),
    # Unit 0 has a value and none in s, unit 2 no value at all, unit 4 one record.
    Case(
        "load/differing_units.sql",
        given={
            "relation": values(
                'row_id, "net ""income""", s',
                "(0, 5, 'a')",
                "(1, 5, NULL)",
                "(2, NULL, NULL)",
                "(3, NULL, NULL)",
                "(4, 1, 'a')",
                "(5, 3, 'c')",
                "(6, 4, 'c')",
            ),
            "members": values("row_id, unit", "(0, 0)", "(1, 0)", "(2, 2)", "(3, 2)", "(4, 4)", "(5, 5)", "(6, 5)"),
        },
        params={"relation": rel("relation"), "members": rel("members"), "columns": [INCOME, col("s")]},
        returns=["units", "repeated", "differing_1", "differing_2"],
        expect=[(4, 3, 1, 1)],
    ),
    # The record that the unit is called by was left out before; the middle of two texts is the smaller.
    Case(
        "load/units.sql",
        given={
            "relation": values(
                "row_id, record, x, y, t, k",
                "(1, 9, 5, 0.1e0, 'b', 'u')",
                "(2, 8, 5, 0.4e0, 'a', 'u')",
                "(3, 7, NULL, NULL, NULL, NULL)",
            ),
            "members": values("row_id, unit", "(0, 0)", "(1, 0)", "(2, 0)", "(3, 3)"),
        },
        params={
            "relation": rel("relation"),
            "members": rel("members"),
            "constant": [col("x"), col("k")],
            "numeric": [col("y")],
            "others": [col("t")],
        },
        returns=["row_id", "record", "x", "k", "y", "t"],
        expect=[(0, 8, 5, "u", 0.25, "a"), (3, 7, None, None, None, None)],
    ),
    Case(
        "load/unit_counts.sql",
        given={
            "relation": values("row_id", "(4)", "(0)"),
            "members": values("row_id, counted", "(0, -1)", "(1, -1)", "(4, 4)", "(5, 4)"),
        },
        params={"relation": rel("relation"), "members": rel("members")},
        returns=["row_id", "counted"],
        expect=[(0, -1), (4, 4)],
        ordered=True,
    ),
    Case(
        "load/unit_of_records.sql",
        given={"members": values("row_id, unit", "(2, 1)", "(0, 0)", "(1, 1)")},
        params={"members": rel("members")},
        returns=["unit"],
        expect=[(0,), (1,), (1,)],
        ordered=True,
    ),
    # Records that are alike follow each other: they are told apart, whichever is the first of them.
    Case(
        "load/copies.sql",
        given={"numbered": values("row_id, record, x", "(0, 4, 'b')", "(1, 9, 'a')", "(2, 9, 'a')", "(3, 11, 'c')")},
        params={"numbered": rel("numbered"), "columns": [col("x")]},
        show="row_id, list_position([9, hash(9, 2), 4, 11]::UBIGINT[], record::UBIGINT), x",
        returns=["row_id", "record", "x"],
        expect=[(0, 3, "b"), (1, 1, "a"), (2, 2, "a"), (3, 4, "c")],
    ),
    # In any order: no two records have the same number any more, and those with a content of their own are still apart.
    Case(
        "load/copies_apart.sql",
        given={"numbered": values("row_id, record, x", "(3, 11, 'c')", "(2, 9, 'a')", "(0, 4, 'b')", "(1, 9, 'a')")},
        params={"numbered": rel("numbered"), "columns": [col("x")]},
        show="row_id, count(*) OVER (PARTITION BY record), x",
        returns=["row_id", "record", "x"],
        expect=[(0, 1, "b"), (1, 1, "a"), (2, 1, "a"), (3, 1, "c")],
    ),
    # From a folder's CSV files, in the order given; the name of a file may hold a quote.
    Case(
        "load/csv.sql",
        files={"o'hara.csv": 'id;net "income"\n1;100\n2;\n', "b.csv": 'id;net "income"\n3;"300"\n'},
        params={"paths": ["o'hara.csv", "b.csv"], "options": [("delim", ";"), ("header", True)]},
        returns=["id", 'net "income"'],
        expect=[(1, 100), (2, None), (3, 300)],
    ),
    # Options reach the reader: without all_varchar the leading zero is lost.
    Case(
        "load/csv.sql",
        files={"plz.csv": "plz,born\n01067,2001-02-03\n"},
        params={"paths": ["plz.csv"], "options": [("all_varchar", True)]},
        returns=["plz", "born"],
        expect=[("01067", "2001-02-03")],
    ),
    Case(
        "load/csv.sql",
        files={"a.csv": "plz,born\n1,2001-02-03\n"},
        params={"paths": ["a.csv"], "options": []},
        returns=["plz", "born"],
        expect=[(1, date(2001, 2, 3))],
    ),
    Case(
        "load/json.sql",
        files={"a.json": '[{"id": 1, "net \\"income\\"": 100}, {"id": 2, "net \\"income\\"": null}]'},
        params={"paths": ["a.json"], "options": []},
        returns=["id", 'net "income"'],
        expect=[(1, 100), (2, None)],
    ),
    Case(
        "load/parquet.sql",
        files={
            "a.parquet": values('id, "net ""income"""', "(1, 100)", "(2, NULL)"),
            "b.parquet": values('id, "net ""income"""', "(3, 300)"),
        },
        params={"paths": ["a.parquet", "b.parquet"], "options": []},
        returns=["id", 'net "income"'],
        expect=[(1, 100), (2, None), (3, 300)],
    ),
    # Any function that reads a path will do: those of Delta and Iceberg are in extensions.
    Case(
        "load/lake.sql",
        files={"a.parquet": values("id", "(1)", "(2)")},
        params={"function": "read_parquet", "path": "a.parquet"},
        returns=["id"],
        expect=[(1,), (2,)],
    ),
    # Only the ledger knows records by a key: its hash stands beside that of the content.
    Case(
        "load/typed.sql",
        given={"persons": values("id, x", "(7, 1)", "(8, 2)")},
        params={
            "relation": rel("persons"),
            "row_key": [col("id", "INTEGER")],
            "known_by": [["key_1"]],
            "identity": [col("x", "INTEGER")],
            "columns": [col("x", "INTEGER")],
            "plain": [col("x", "INTEGER")],
            **{kind: [] for kind in ("kept_floats", "floats", "collated", "as_text", "dates", "timestamps")},
        },
        returns=["record", "key_0", "x"],
        show="record = hash(x), key_0 IN (hash('7'), hash('8')), x",
        expect=[(True, True, 1), (True, True, 2)],
    ),
    # -0.0 becomes 0.0, an infinite date stays infinite, NULL stays NULL.
    Case(
        "load/typed.sql",
        given={
            "persons": values("x, day", "('-0.0'::DOUBLE, DATE 'infinity')", "(1.5, DATE '1970-01-03')", "(NULL, NULL)")
        },
        params={
            "relation": rel("persons"),
            "row_key": [],
            "known_by": [],
            "identity": [col("x", "DOUBLE"), col("day", "DATE")],
            "columns": [col("x", "DOUBLE"), col("day", "DATE")],
            "kept_floats": [],
            "plain": [],
            "floats": [col("x", "DOUBLE")],
            "collated": [],
            "as_text": [],
            "dates": [col("day", "DATE")],
            "timestamps": [],
        },
        returns=["record", "x", "day"],
        show="record = hash(x, day), x, day",
        expect=[(True, 0.0, float("inf")), (True, 1.5, 2.0), (True, None, None)],
    ),
    Case(
        "load/typed.sql",
        given={"persons": values('row_id, "net ""income"""', "(7, 100)", "(7, NULL)", "(5, 300)")},
        params={
            "relation": rel("persons"),
            "row_key": [],
            "known_by": [],
            "identity": [INCOME],
            "columns": [col("row_id", "INTEGER", "row_id_"), INCOME],
            "kept_floats": [],
            "plain": [col("row_id", "INTEGER", "row_id_"), INCOME],
            "floats": [],
            "collated": [],
            "as_text": [],
            "dates": [],
            "timestamps": [],
        },
        returns=["record", "row_id_", 'net "income"'],
        show='row_id_, "net ""income"""',
        expect=[(7, 100), (7, None), (5, 300)],
    ),
    # Known by a key of two columns as text: (1, 'b'), (2, 'a'), (2, 'b'). NaN loses its payload whether it is worked
    # with or not, -0.0 its sign where it is.
    Case(
        "load/typed.sql",
        given={
            "persons": "SELECT a, b, CASE x WHEN 'odd' THEN CAST(CAST('"
            + f"{0xFFF8000000000007:064b}"
            + "' AS BIT) AS DOUBLE) ELSE CAST(x AS DOUBLE) END AS x FROM ("
            + values("a, b, x", "(2, 'b', 'odd')", "(2, 'a', '-0.0')", "(1, 'b', NULL)")
            + ")"
        },
        params={
            "relation": rel("persons"),
            "row_key": [col("a", "INTEGER"), col("b", "VARCHAR")],
            "known_by": [],
            "identity": ["key_1", "key_2"],
            "columns": [col("a", "INTEGER"), col("x", "DOUBLE", "kept"), col("x", "DOUBLE", "used")],
            "plain": [col("a", "INTEGER")],
            "kept_floats": [col("x", "DOUBLE", "kept")],
            "floats": [col("x", "DOUBLE", "used")],
            "collated": [],
            "as_text": [],
            "dates": [],
            "timestamps": [],
        },
        returns=["record", "a", "kept", "used"],
        show="record IN (hash('1', 'b'), hash('2', 'a'), hash('2', 'b')), a, CAST(CAST(kept AS BIT) AS VARCHAR), "
        "CAST(CAST(used AS BIT) AS VARCHAR)",
        expect=[
            (True, 1, None, None),
            (True, 2, f"{1 << 63:064b}", f"{0:064b}"),
            (True, 2, f"{0x7FF8000000000000:064b}", f"{0x7FF8000000000000:064b}"),
        ],
    ),
    # Three records lack a part, (2, 'b') occurs twice.
    Case(
        "load/row_key_faults.sql",
        given={"persons": values("a, size", "(1, NULL)", "(NULL, 'a')", "(NULL, 'c')", "(2, 'b')", "(2, 'b')")},
        params={"relation": rel("persons"), "columns": [col("a", "INTEGER"), col("size", "VARCHAR", "size_")]},
        returns=["missing", "repeated"],
        expect=[(3, 2)],
    ),
    Case(
        "load/row_key_faults.sql",
        given={"persons": "SELECT 1 AS a LIMIT 0"},
        params={"relation": rel("persons"), "columns": [col("a", "INTEGER")]},
        returns=["missing", "repeated"],
        expect=[(0, 0)],
    ),
    # Days from 1970-01-01, microseconds from its midnight in UTC: 1969-12-31 is -1, 01:00 at +01:00 is 0.
    Case(
        "load/typed.sql",
        given={
            "persons": "SELECT name COLLATE NOCASE AS name, span, CAST(grade AS ENUM('low', 'high')) AS grade, "
            "day::DATE AS day, moment::TIMESTAMP AS moment, zoned::TIMESTAMPTZ AS zoned FROM ("
            + values(
                "name, span, grade, day, moment, zoned",
                "('Bob', INTERVAL '1 month', 'low', '1969-12-31', '1970-01-01 00:00:01.5', '1970-01-01 01:00:00+01')",
                "('BOB', INTERVAL '30 days', 'high', '1972-02-29', '1969-12-31 23:59:59', '1970-01-01 00:00:00-01')",
                "(NULL, NULL, NULL, NULL, NULL, NULL)",
            )
            + ")"
        },
        params={
            "relation": rel("persons"),
            "row_key": [],
            "known_by": [],
            "identity": [col("name", "VARCHAR", collated=True)],
            "columns": [col(name) for name in ("name", "span", "grade", "day", "moment", "zoned")],
            "kept_floats": [],
            "plain": [],
            "floats": [],
            "collated": [col("name", "VARCHAR", collated=True)],
            "as_text": [col("span", "INTERVAL"), col("grade", "ENUM('low', 'high')")],
            "dates": [col("day", "DATE")],
            "timestamps": [col("moment", "TIMESTAMP"), col("zoned", "TIMESTAMP WITH TIME ZONE")],
        },
        returns=["record", "name", "span", "grade", "day", "moment", "zoned"],
        show="record = hash(name), * EXCLUDE (record)",
        expect=[
            (True, "Bob", "1 month", "low", -1, 1_500_000, 0),
            (True, "BOB", "30 days", "high", 365 + 365 + 31 + 28, -1_000_000, 3_600_000_000),
            (True, None, None, None, None, None, None),
        ],
    ),
    Case(
        "load/no_rows.sql",
        given={"persons": values('"net ""income""", b', "(1, 'x')", "(2, 'y')")},
        params={"relation": rel("persons"), "columns": [('net "income"', "c0"), ("b", "c1")]},
        returns=["c0", "c1"],
        expect=[],
    ),
    # The ends of a BIGINT; a value that is no whole number, or NaN, takes them away.
    Case(
        "load/column_profile.sql",
        given={
            "persons": values(
                '"net ""income""", wide, empty, name, x, y, z',
                "(3, 9223372036854775807, NULL::INTEGER, 'a', 0.5, 5::DOUBLE, 'NaN'::DOUBLE)",
                "(1, -9223372036854775808, NULL, 'a', 0.5, -12, 1)",
                "(3, 0, NULL, NULL, 1.5, 0, 2)",
                "(NULL, 0, NULL, 'A', NULL, NULL, 3)",
            )
        },
        params={
            "relation": rel("persons"),
            "integers": [INCOME, col("wide", "BIGINT"), col("empty", "INTEGER")],
            "numbers": [col("x", "DECIMAL(2,1)"), col("y", "DOUBLE"), col("z", "DOUBLE")],
            "collated": [],
            "others": [col("name", "VARCHAR")],
        },
        returns=["column_name", "row_count", "nulls", "distinct_values", "low", "high", "fives"],
        expect=[
            ('net "income"', 4, 1, 2, 1, 3, 0),
            ("wide", 4, 0, 3, -9223372036854775808, 9223372036854775807, 1),
            ("empty", 4, 4, 0, None, None, 0),
            ("name", 4, 1, 2, None, None, 0),
            ("x", 4, 1, 2, None, None, 0),
            ("y", 4, 1, 3, -12, 5, 2),
            ("z", 4, 0, 4, None, None, 0),
        ],
    ),
    # A table without numbers: the columns keep the names the header gives them.
    Case(
        "load/column_profile.sql",
        given={"persons": values("name", "('a')", "('a')")},
        params={
            "relation": rel("persons"),
            "integers": [],
            "numbers": [],
            "collated": [],
            "others": [col("name", "VARCHAR")],
        },
        returns=["column_name", "row_count", "nulls", "distinct_values", "low", "high", "fives"],
        expect=[("name", 2, 0, 1, None, None, 0)],
    ),
    # Bob and BOB are two values, whatever the collation says.
    Case(
        "load/column_profile.sql",
        given={"persons": "SELECT name COLLATE NOCASE AS name FROM (VALUES ('Bob'), ('BOB'), ('Bob')) t(name)"},
        params={
            "relation": rel("persons"),
            "integers": [],
            "numbers": [],
            "collated": [col("name", "VARCHAR")],
            "others": [],
        },
        returns=["column_name", "row_count", "nulls", "distinct_values", "low", "high", "fives"],
        expect=[("name", 3, 0, 2, None, None, 0)],
    ),
    # Of four records with a city two are those of a city that fewer than two have; Bob and BOB are two values.
    Case(
        "load/rare_values.sql",
        given={
            "persons": values(
                'city, name, "net ""income"""',
                "('Graz', 'Bob', 1)",
                "('Graz', 'BOB', 1)",
                "('Linz', 'Eva', 2)",
                "('Wien', NULL, NULL)",
                "(NULL, NULL, NULL)",
            ).replace("SELECT *", 'SELECT city, name COLLATE NOCASE AS name, "net ""income"""')
        },
        params={
            "relation": rel("persons"),
            "blocks": [([col("city", "VARCHAR"), INCOME], [1, 2]), ([col("name", "VARCHAR")], [3])],
            "who": [],
            "k": 2,
        },
        returns=["place", "present", "rare"],
        expect=[(1, 4, 2), (2, 3, 1), (3, 3, 3)],
    ),
    # Both records in Graz are those of one person; those of nobody, in Wien, are one person's too.
    Case(
        "load/rare_values.sql",
        given={
            "persons": values(
                'city, "net ""income"""',
                "('Graz', 1)",
                "('Graz', 1)",
                "('Linz', 1)",
                "('Linz', 2)",
                "('Wien', NULL)",
                "('Wien', NULL)",
            )
        },
        params={
            "relation": rel("persons"),
            "blocks": [([col("city", "VARCHAR")], [1])],
            "who": [[INCOME]],
            "k": 2,
        },
        returns=["place", "present", "rare"],
        expect=[(1, 6, 4)],
    ),
    # Few values are counted exactly; NULL is none.
    Case(
        "load/column_estimates.sql",
        given={"persons": values('name, "net ""income"""', "('a', 1)", "('b', -3)", "(NULL, 1)")},
        params={"relation": rel("persons"), "columns": [col("name", "VARCHAR"), INCOME], "integers": [INCOME]},
        returns=["row_count", "present_1", "distinct_1", "present_2", "distinct_2", "spread_1", "smallest_1"],
        expect=[(3, 2, 2, 3, 2, 4.0, -3.0)],
    ),
    # Of the values 1, 2 and 9, the parent has two; NULL is none.
    Case(
        "load/contained_values.sql",
        given={
            "orders": values('"net ""income"""', "(1)", "(2)", "(2)", "(9)", "(NULL)", "(0)", "(-1)"),
            "persons": values("x", "(1)", "(2)", "(3)", "(NULL)"),
        },
        params={
            "child": rel("orders"),
            "parent": rel("persons"),
            "column": INCOME,
            "key": col("x", "INTEGER"),
            "every": 1,
            "most": 10,
        },
        returns=["sampled", "contained"],
        expect=[(3, 2)],
    ),
    # Of the keys 1 to 4, 1, 2 and 4 repeat; x depends on the key, name differs for 2; what is missing for 4 does not.
    # Of the keys 1 to 4, 1, 2 and 4 repeat; x differs for 2, name is missing once for 4 and always for 1.
    Case(
        "load/constant_columns.sql",
        given={
            "visits": values(
                '"net ""income""", x, name',
                "(1, 5, NULL)",
                "(1, 5, NULL)",
                "(2, 5, 'b')",
                "(2, 6, 'b')",
                "(3, 7, 'c')",
                "(4, 8, NULL)",
                "(4, 8, 'd')",
                "(NULL, 1, 'e')",
                "(NULL, 2, 'f')",
            )
        },
        params={
            "relation": rel("visits"),
            "key": INCOME,
            "columns": [col("x"), col("name", "VARCHAR")],
            "every": 1,
        },
        returns=["repeated", "differing_1", "differing_2"],
        expect=[(3, 1, 1)],
    ),
    Case(
        "load/dependent_columns.sql",
        given={
            "visits": values(
                '"net ""income""", x, name',
                *("(1, 5, 'a')", "(1, 5, 'a')", "(2, 6, 'b')", "(2, 6, 'c')", "(3, 7, 'd')", "(NULL, 1, 'x')"),
                *("(NULL, 2, 'y')", "(4, NULL, 'e')", "(4, NULL, NULL)"),
            )
        },
        params={
            "relation": rel("visits"),
            "keys": [INCOME],
            "columns": [col("x", "INTEGER"), col("name", "VARCHAR")],
            "every": 1,
        },
        returns=["keys", "records", "repeated", "differing_1", "differing_2"],
        expect=[(4, 7, 3, 0, 1)],
    ),
    # The pairs (n, 1), (n, 2) and (s, 1) repeat, x differs for the last; a pair with a missing part is none.
    Case(
        "load/dependent_columns.sql",
        given={
            "visits": values(
                'site, "net ""income""", x',
                *("('n', 1, 5)", "('n', 1, 5)", "('n', 2, 6)", "('n', 2, 6)", "('s', 1, 7)", "('s', 1, 8)"),
                *("('s', 3, 1)", "(NULL, 1, 9)", "('s', NULL, 9)"),
            )
        },
        params={
            "relation": rel("visits"),
            "keys": [col("site", "VARCHAR"), INCOME],
            "columns": [col("x", "INTEGER")],
            "every": 1,
        },
        returns=["keys", "records", "repeated", "differing_1"],
        expect=[(4, 7, 3, 1)],
    ),
    # Of 5 records 3 have the commonest x, which is a missing one, and 2 the commonest name.
    Case(
        "load/commonest_values.sql",
        given={
            "t": values('"net ""income""", name', "(NULL, 'a')", "(NULL, 'a')", "(NULL, 'b')", "(1, 'b')", "(1, 'c')")
        },
        params={"relation": rel("t"), "columns": [INCOME, col("name", "VARCHAR")]},
        returns=["row_count", "commonest_1", "commonest_2"],
        expect=[(5, 3, 2)],
    ),
    Case(
        "load/samples_together.sql",
        given={
            "first": values("place, path, value", "(1, '', 'a')"),
            "second": values("place, path, value", "(2, '$.x', 'b')", "(2, '', 'a')"),
        },
        params={"samples": [rel("first"), rel("second")]},
        returns=["place", "path", "value"],
        expect=[(1, "", "a"), (2, "$.x", "b"), (2, "", "a")],
    ),
    Case(
        "load/distinct_estimates.sql",
        given={"persons": values('name, "net ""income"""', "('a', 1)", "('b', 1)", "(NULL, 1)")},
        params={"relation": rel("persons"), "columns": [col("name", "VARCHAR"), INCOME]},
        returns=["distinct_1", "distinct_2"],
        expect=[(2, 1)],
    ),
    # Each value once, without blanks around it; 5.0 reads as a whole number; NULL is no value.
    Case(
        "load/sampled_values.sql",
        given={
            "persons": values(
                'name, "net ""income""", tags',
                "(' a@b.de ', 5.0::DOUBLE, [1, 2])",
                "('a@b.de', 5.5, NULL)",
                "(' \t', 5.5, NULL)",
                "(NULL, 5.5, [1, 2])",
            )
        },
        params={
            "relation": rel("persons"),
            "plain": [(col("name", "VARCHAR"), 1, 1)],
            "floats": [(col('net "income"'), 2, 1)],
            "nested": [(col("tags", "INTEGER[]"), 3, 1)],
            "most": 10,
            "blanks": " \t",
        },
        returns=["place", "path", "value"],
        expect=[(1, "", "a@b.de"), (2, "", "5"), (2, "", "5.5"), (3, "", "[1,2]")],
    ),
    # No more than asked for, here of three one.
    Case(
        "load/sampled_values.sql",
        given={"persons": values("name", "('a')", "('b')", "('c')")},
        params={
            "relation": rel("persons"),
            "plain": [(col("name", "VARCHAR"), 1, 1)],
            "floats": [],
            "nested": [],
            "most": 1,
            "blanks": " ",
        },
        returns=["place", "path", "value"],
        show="count(*)",
        expect=[(1,)],
    ),
    # JSON falls into its values, those of a list under one path; its keys are values too; other text stays.
    Case(
        "load/leaves.sql",
        given={
            "sampled": values(
                "place, path, value",
                """(1, '', '{"mail":"a@b.de","tags":["x","y"]}')""",
                "(1, '', '{no JSON')",
                "(2, '', 'plain')",
            )
        },
        params={"sampled": rel("sampled"), "most": 9},
        returns=["place", "path", "value"],
        expect=[
            (1, "mail", "a@b.de"),
            (1, "tags", "x"),
            (1, "tags", "y"),
            (1, "keys", "mail"),
            (1, "keys", "tags"),
            (1, "", "{no JSON"),
            (2, "", "plain"),
        ],
    ),
    # What may be JSON, what is not ASCII (the smallest character that is not is U+0080), what is a letter, what neither
    # a letter nor a digit.
    *(
        Case(
            "load/sampled_forms.sql",
            given={"sampled": values("value", *given) if given else "SELECT '{é' AS value WHERE false"},
            params={"sampled": rel("sampled")},
            returns=["json", "other_characters", "letters", "marks"],
            expect=[expect],
        )
        for given, expect in (
            (("('ab~')", "('{}')"), (True, False, True, True)),
            (("('[1]')", "('2[1]')"), (True, False, False, True)),
            (("('a{')", "('é')"), (False, True, True, True)),
            (("(chr(128))", "('1')"), (False, True, False, True)),
            (("('東京')", "('[')"), (True, True, False, True)),
            (("('0')", "('19')"), (False, False, False, False)),
            (("('0')", "('1Z9')"), (False, False, True, False)),
            (("('a')", "('z')"), (False, False, True, False)),
            (("('0')", "('-1')"), (False, False, False, True)),
            (("('0')", "('1 1')"), (False, False, False, True)),
            ((), (False, False, False, False)),
        )
    ),
    # Each value counts for every pattern that it matches; those of one pattern are listed, another is only counted.
    Case(
        "load/pattern_matches.sql",
        given={"leaves": values("place, path, value", "(1, '', 'a@b')", "(1, '', 'a1')", "(2, '$.x', '12')")},
        params={
            "leaves": rel("leaves"),
            "patterns": [("at", "@"), ("a digit", "[0-9]"), ("digits", "^[0-9]+$")],
            "folded": [],
            "listed": ["a digit", "at"],
            "most": 5,
        },
        returns=["place", "path", "pattern", "matched", "listed"],
        expect=[
            (1, "", "", 2, None),
            (1, "", "at", 1, ["a@b"]),
            (1, "", "a digit", 1, ["a1"]),
            (2, "$.x", "", 1, None),
            (2, "$.x", "a digit", 1, ["12"]),
            (2, "$.x", "digits", 1, None),
        ],
    ),
    # No more than asked for, here of three two.
    Case(
        "load/pattern_matches.sql",
        given={"leaves": values("place, path, value", "(1, '', '1')", "(1, '', '2')", "(1, '', '3')")},
        params={
            "leaves": rel("leaves"),
            "patterns": [("digits", "[0-9]")],
            "folded": [],
            "listed": ["digits"],
            "most": 2,
        },
        returns=["place", "path", "pattern", "matched", "listed"],
        show="matched, len(listed)",
        expect=[(3, None), (3, 2)],
    ),
    # Letters beyond ASCII are a z where a pattern asks for that, and no other signs; what is listed is as it was.
    Case(
        "load/pattern_matches.sql",
        given={"leaves": values("place, path, value", "(1, '', 'Ää')", "(1, '', 'ж´')", "(1, '', 'ab')")},
        params={
            "leaves": rel("leaves"),
            "patterns": [("as it is", "^Ää$")],
            "folded": [("letters", "^[a-z]{2}$"), ("zz", "^zz$"), ("with a sign", "^z´$")],
            "listed": ["zz"],
            "most": 5,
        },
        returns=["place", "path", "pattern", "matched", "listed"],
        expect=[
            (1, "", "", 3, None),
            (1, "", "letters", 2, None),
            (1, "", "zz", 1, ["Ää"]),
            (1, "", "with a sign", 1, None),
            (1, "", "as it is", 1, None),
        ],
    ),
    Case(
        "load/value_counts.sql",
        given={"people": values('"net ""income"""', "(10)", "(20)", "(10)", "(NULL)")},
        params={"relation": rel("people"), "column": col('net "income"', "INTEGER")},
        returns=["value", "n"],
        expect=[("10", 2), ("20", 1)],
        ordered=True,
    ),
    Case(
        "load/records.sql",
        given={"persons": values("id, name", "(1, 'a')", "(1, 'a')")},
        params={"relation": rel("persons")},
        returns=["id", "name"],
        expect=[(1, "a"), (1, "a")],
    ),
    Case(
        "load/complete_rows.sql",
        given={
            "typed": values(
                "row_id, a, b, c", "(0, 1, 'x', NULL)", "(1, NULL, 'y', 5)", "(2, 3, NULL, 5)", "(3, 4, '', 5)"
            )
        },
        params={"typed": rel("typed"), "columns": [col("a", "INTEGER"), col("b", "VARCHAR")]},
        returns=["row_id", "a", "b", "c"],
        expect=[(0, 1, "x", None), (3, 4, "", 5)],
    ),
    # NaN and both infinities are no finite numbers; NULL is missing, not infinite.
    Case(
        "load/gaps.sql",
        given={
            "typed": values(
                'row_id, "net ""income""", size_, name',
                "(0, 1e0, 'nan'::FLOAT, 'a')",
                "(1, NULL, 'inf', NULL)",
                "(2, '-inf', NULL, NULL)",
                "(3, -0e0, NULL, 'nan')",
            )
        },
        params={
            "typed": rel("typed"),
            "floats": [col('net "income"'), col("size", "FLOAT", "size_")],
            "others": [col("name", "VARCHAR")],
        },
        returns=["column_name", "nulls", "unusable"],
        expect=[('net "income"', 1, 1), ("size", 2, 2), ("name", 2, 0)],
    ),
    Case(
        "load/gaps.sql",
        given={"typed": values("row_id, name", "(0, 'a')", "(1, NULL)")},
        params={"typed": rel("typed"), "floats": [], "others": [col("name", "VARCHAR")]},
        returns=["column_name", "nulls", "unusable"],
        expect=[("name", 1, 0)],
    ),
    Case(
        "load/features.sql",
        given={
            "typed": values('row_id, "net ""income""", x', "(2, 30, 1.5)", "(0, 10, NULL)", "(1, NULL, -2.5)"),
        },
        params={
            "relation": rel("typed"),
            "numeric": [INCOME, col("x", "DECIMAL(2,1)")],
            "ordinal": [],
            "nominal": [],
            "strata": [],
        },
        returns=["row_id", 'net "income"', "x"],
        expect=[(0, 10.0, None), (1, None, -2.5), (2, 30.0, 1.5)],
        ordered=True,
    ),
    # The order of an ENUM is the declared one, not that of its names; NULL has no place. Nominal NULL comes last.
    Case(
        "load/features.sql",
        given={
            "typed": values(
                "row_id, x, grade, town",
                *("(3, 1, 'high', 'b')", "(0, 2, 'low', NULL)", "(2, 3, NULL, 'a')", "(1, 4, 'mid', 'a')"),
                "(4, 5, 'mid', 'b')",
            ),
        },
        params={
            "relation": rel("typed"),
            "numeric": [col("x", "INTEGER")],
            "ordinal": [(col("grade", "ENUM('low', 'mid', 'high')"), "ENUM('low', 'mid', 'high')")],
            "nominal": [col("town", "VARCHAR")],
            "strata": [],
        },
        returns=["row_id", "x", "grade", "town"],
        expect=[(0, 2.0, 0.0, 2), (1, 4.0, 1.0, 0), (2, 3.0, None, 0), (3, 1.0, 2.0, 1), (4, 5.0, 1.0, 1)],
        ordered=True,
    ),
    Case(
        "load/null_patterns.sql",
        given={"typed": values("row_id, a, b, c", "(0, 1, 'x', 9)", "(1, NULL, '', 9)", "(2, NULL, NULL, NULL)")},
        params={"relation": rel("typed"), "columns": [col("a", "INTEGER"), col("b", "VARCHAR")]},
        returns=["row_id", "a", "b", "c", "pattern"],
        expect=[(0, 1, "x", 9, "00"), (1, None, "", 9, "10"), (2, None, None, None, "11")],
    ),
    # Strata are numbered by the order of their values: a1 = 0, a2 = 1, b NULL = 2.
    Case(
        "load/features.sql",
        given={"typed": values("row_id, x, land, sex", "(2, 7, 'a', 2)", "(0, 8, 'b', NULL)", "(1, 9, 'a', 1)")},
        params={
            "relation": rel("typed"),
            "numeric": [col("x", "INTEGER")],
            "ordinal": [],
            "nominal": [],
            "strata": [[col("land", "VARCHAR"), col("sex", "INTEGER")]],
        },
        returns=["row_id", "stratum", "x"],
        expect=[(0, 2, 8.0), (1, 0, 9.0), (2, 1, 7.0)],
        ordered=True,
    ),
    Case(
        "load/numbers_of_column.sql",
        given={"features": values('row_id, stratum, "net ""income"""', "(1, 0, NULL)", "(2, 1, 6.0)", "(0, 1, 5.0)")},
        params={"features": rel("features"), "column": INCOME},
        returns=['net "income"'],
        expect=[(5.0,), (None,), (6.0,)],
        ordered=True,
    ),
    Case(
        "load/stratum_sizes.sql",
        given={
            "features": values(
                'row_id, stratum, "net ""income""", town', "(0, 1, 5.0, 3)", "(1, 0, NULL, 1)", "(2, 1, 5.0, 0)"
            )
        },
        params={"features": rel("features"), "nominal": [col("town", "VARCHAR")]},
        returns=["records", "town"],
        expect=[(1, 1), (2, 3)],
        ordered=True,
    ),
    Case(
        "load/features_of_strata.sql",
        given={
            "features": values(
                'row_id, stratum, "net ""income""", x',
                "(3, 1, 5.0, 1.5)",
                "(0, 2, 6.0, 2.5)",
                "(1, 1, NULL, 3.5)",
                "(2, 0, 7.0, 4.5)",
                "(4, 3, 8.0, 5.5)",
            )
        },
        params={"features": rel("features"), "columns": [INCOME, col("x", "DOUBLE")], "first": 1, "after": 3},
        returns=["row_id", "stratum", 'net "income"', "x"],
        expect=[(0, 2, 6.0, 2.5), (1, 1, None, 3.5), (3, 1, 5.0, 1.5)],
        ordered=True,
    ),
    # Numbers follow the order of the values, NULL last; the relation is not in the order of row_id.
    Case(
        "load/stratum_numbers.sql",
        given={
            "typed": values(
                "row_id, land, sex",
                "(4, 'b', 1)",
                "(3, NULL, 1)",
                "(2, 'a', 2)",
                "(1, 'b', NULL)",
                "(0, 'a', 2)",
                "(5, 'a', 1)",
            )
        },
        params={"relation": rel("typed"), "by": [col("land", "VARCHAR"), col("sex", "INTEGER")]},
        returns=["stratum"],
        # a1 = 0, a2 = 1, b1 = 2, b NULL = 3, NULL 1 = 4
        expect=[(1,), (3,), (1,), (4,), (2,), (0,)],
        ordered=True,
    ),
    # Strata are numbered by their value, NULL last.
    Case(
        "load/null_pattern_sizes.sql",
        given={
            "patterns": values(
                "row_id, land, pattern",
                "(0, 'b', '01')",
                "(1, 'a', '00')",
                "(2, NULL, '00')",
                "(3, 'a', '00')",
                "(4, 'a', '01')",
            )
        },
        params={"relation": rel("patterns"), "by": [col("land", "VARCHAR")]},
        returns=["pattern", "stratum", "n"],
        expect=[("00", 0, 2), ("00", 2, 1), ("01", 0, 1), ("01", 1, 1)],
        ordered=True,
    ),
    Case(
        "load/null_pattern_sizes.sql",
        given={"patterns": values("row_id, pattern", "(0, '1')", "(1, '0')", "(2, '0')")},
        params={"relation": rel("patterns"), "by": []},
        returns=["pattern", "stratum", "n"],
        expect=[("0", 0, 2), ("1", 0, 1)],
        ordered=True,
    ),
    # Two of the four complete records in stratum a lose y, as the keyed hash draws them; those in b keep theirs.
    Case(
        "load/coarsened_patterns.sql",
        given={
            "patterns": values(
                'row_id, record, land, x, y, "net ""income""", pattern',
                *(f"({i}, {i}, 'a', {i}, 'y', 7, '00')" for i in range(4)),
                *("(4, 4, 'a', 4, NULL, 7, '01')", "(5, 5, 'b', 5, 'y', NULL, '00')"),
            ),
            "moves": values("pattern, stratum, first_seat, last_seat, coarsened", "('00', 0, 1, 2, '01')"),
        },
        params={
            "relation": rel("patterns"),
            "moves": rel("moves"),
            "columns": [col("x", "INTEGER"), col("y", "VARCHAR")],
            "others": [INCOME, col("land", "VARCHAR")],
            "by": [col("land", "VARCHAR")],
            "stream": "sqlmicro_order",
        },
        returns=["row_id", "record", "x", "y", 'net "income"', "land", "pattern"],
        expect=[
            *((i, i, i, None, 7, "a", "01") for i in sorted(range(4), key=keyed)[:2]),
            *((i, i, i, "y", 7, "a", "00") for i in sorted(range(4), key=keyed)[2:]),
            *((4, 4, 4, None, 7, "a", "01"), (5, 5, 5, "y", None, "b", "00")),
        ],
    ),
]
