"""Publishing: what becomes visible, what stays as it was, and what is recorded."""

import csv
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from command import run as command
from databases import insert, opened
from world import execute, refused, release, warehouse
from world import rows as query

import sqlmicro
from sqlmicro.audits.registry import Check
from sqlmicro.database import files
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.publish import publish
from sqlmicro.publish.in_place import InPlace
from sqlmicro.publish.new_table import NewTable
from sqlmicro.publish.release import published_as
from sqlmicro.system import scratch

ROWS = 200


@pytest.fixture
def db(tmp_path):
    """A table with everything a table can have, and a view on it."""
    path = str(tmp_path / "warehouse.duckdb")
    with opened(path) as con:
        con.execute('''
            CREATE TABLE persons (
              id INTEGER PRIMARY KEY, code INTEGER UNIQUE, age INTEGER NOT NULL CHECK (age >= 0),
              "net ""income""" DECIMAL(12, 2) DEFAULT 7, city VARCHAR COLLATE NOCASE, born DATE, note VARCHAR)''')
        con.execute(
            """INSERT INTO persons SELECT i, 1000 + i, (i * 37) % 90, (i * i) % 1013 + 0.25,
               CASE i % 3 WHEN 0 THEN 'Bonn' WHEN 1 THEN 'BONN' ELSE 'Mainz' END,
               DATE '1950-01-01' + CAST((i * 111) % 20000 AS INTEGER), 'note ' || i FROM range(?) t(i)""",
            [ROWS],
        )
        con.execute("CREATE INDEX by_city ON persons (city)")
        con.execute("COMMENT ON TABLE persons IS 'people'")
        con.execute("COMMENT ON COLUMN persons.age IS 'in years'")
        con.execute("CREATE VIEW elders AS SELECT * FROM persons WHERE age > 60")
    return path


USED = ["age", 'net "income"', "born"]
KEPT = ["id", "code", "city"]
UNIQUE = ["id", "code", 'net "income"', "born", "note"]


@pytest.mark.slow
def test_in_place_keeps_the_definition_of_the_table(db):
    def definition():
        return (
            query(db, "SELECT sql, comment FROM duckdb_tables() WHERE table_name = 'persons'"),
            query(db, "SELECT column_name, data_type, column_default, comment FROM duckdb_columns() "
                  "WHERE table_name = 'persons' ORDER BY column_index"),
            query(db, "SELECT constraint_text FROM duckdb_constraints() WHERE table_name = 'persons' ORDER BY ALL"),
            query(db, "SELECT sql FROM duckdb_indexes()"),
            query(db, "SELECT sql FROM duckdb_views() WHERE NOT internal"),
        )  # fmt: skip

    before = definition()
    kept = query(db, "SELECT id, code, city FROM persons ORDER BY id")
    report = sqlmicro.mdav(
        "persons", db=db, columns=USED, keep=KEPT, accept_unique=["id", "code"], drop=["note"], k=4, in_place=True
    )
    assert definition() == before
    assert query(db, "SELECT id, code, city FROM persons ORDER BY id") == kept
    assert query(db, "SELECT count(note) FROM persons") == [(0,)]
    sizes = query(db, 'SELECT min(n) FROM (SELECT count(*) n FROM persons GROUP BY age, "net ""income""", born)')
    assert sizes == [(report["k"],)]
    assert report["k"] >= 4
    assert query(db, "SELECT count(*) > 0 FROM elders") == [(True,)]


def test_means_are_rounded_to_the_type_of_the_column_unless_widened(db):
    sqlmicro.individual_ranking(
        "persons", db=db, columns=["age"], rest="keep", accept_unique=UNIQUE, k=7, in_place=True
    )
    assert query(db, "SELECT DISTINCT typeof(age) FROM persons") == [("INTEGER",)]


@pytest.mark.slow
def test_widen_makes_columns_double(tmp_path):
    path = str(tmp_path / "plain.duckdb")
    execute(path, "CREATE TABLE t AS SELECT i AS x, i::DECIMAL(9, 2) AS y FROM range(10) r(i)")
    sqlmicro.mdav("t", db=path, columns=["x", "y"], k=3, in_place=True, widen=True)
    assert query(path, "SELECT DISTINCT typeof(x), typeof(y) FROM t") == [("DOUBLE", "DOUBLE")]
    assert query(path, "SELECT round(sum(x), 9) FROM t") == [(45.0,)]


@pytest.mark.parametrize(
    ("verb", "arguments", "word"),
    [
        ("mdav", {"columns": ["code", "age"], "k": 3}, "UNIQUE"),
        ("mdav", {"columns": ["age"], "keep": ["code"], "accept_unique": [], "rest": "drop", "k": 3}, "PRIMARY KEY"),
        ("generalize", {"columns": ["age"], "width": ["age=10"]}, "a column recoded to text must be text. Got age"),
        ("sample", {"size": 10, "weight_column": "w"}, "has the columns of the table. Got w"),
    ],
)
def test_in_place_refuses_what_a_constraint_forbids_and_columns_that_the_table_lacks(db, verb, arguments, word):
    before = query(db, "SELECT * FROM persons ORDER BY id")
    given = {"rest": "keep", "accept_unique": UNIQUE if verb != "mdav" else [], **arguments}
    with pytest.raises(sqlmicro.InputError, match=word):
        getattr(sqlmicro, verb)("persons", db=db, in_place=True, **given)
    assert query(db, "SELECT * FROM persons ORDER BY id") == before


def test_a_foreign_key_parent_is_refused_and_left_alone(db):
    execute(db, "CREATE TABLE visits (person INTEGER REFERENCES persons (id))", "INSERT INTO visits VALUES (1)")
    before = query(db, "SELECT * FROM persons ORDER BY id")
    with refused() as caught:
        sqlmicro.mdav("persons", db=db, columns=["age"], rest="keep", k=3, in_place=True)
    assert "1" not in str(caught.value).replace("k = 1", "")
    assert query(db, "SELECT * FROM persons ORDER BY id") == before
    assert query(db, "SELECT count(*) FROM duckdb_schemas() WHERE schema_name = 'sqlmicro'") == [(0,)]


@pytest.mark.parametrize(
    ("statement", "arguments", "word"),
    [
        ("CREATE UNIQUE INDEX once ON persons (born)", {}, "unique index"),
        ("SELECT 1", {"widen": True}, "by_city"),
        ("CREATE TABLE visits (person INTEGER REFERENCES persons (id))", {}, "foreign key"),
    ],
)
def test_in_place_is_refused_before_any_work_is_done(db, statement, arguments, word):
    execute(db, statement)
    with pytest.raises(sqlmicro.InputError, match=word):
        sqlmicro.mdav("persons", db=db, columns=["age"], rest="keep", k=3, in_place=True, **arguments)


@pytest.mark.slow
def test_a_dropped_column_is_emptied_in_place_whatever_its_default(tmp_path):
    path = str(tmp_path / "defaults.duckdb")
    execute(
        path, "CREATE TABLE t (secret INTEGER DEFAULT 77, x INTEGER)", "INSERT INTO t SELECT i, i FROM range(10) r(i)"
    )
    sqlmicro.mdav("t", db=path, columns=["x"], drop=["secret"], k=3, in_place=True)
    assert query(path, "SELECT count(*), count(secret), count(x) FROM t") == [(10, 0, 10)]


def test_infinite_dates_are_refused(tmp_path):
    path = str(tmp_path / "dates.duckdb")
    execute(path, "CREATE TABLE t AS SELECT DATE '2020-01-01' + i::INTEGER AS d FROM range(9) r(i)",
            "INSERT INTO t VALUES ('infinity')")  # fmt: skip
    with pytest.raises(sqlmicro.InputError, match="finite"):
        sqlmicro.mdav("t", db=path, columns=["d"], k=3, into="out", nulls="keep")


@pytest.mark.slow
def test_the_parameters_of_a_release_tell_what_was_kept_and_how_it_was_grouped(db):
    import json

    sqlmicro.safe(
        "persons", db=db, columns=["age", "city"], keep=["code"], accept_unique=["code"], rest="drop", k=3, into="out"
    )
    parameters = json.loads(query(db, "SELECT parameters FROM sqlmicro.releases")[0][0])
    assert parameters["kept"] == ["code"]
    assert parameters["dropped"] == ["id", 'net "income"', "born", "note"]
    assert parameters["steps"][0]["nulls"] == "pattern"
    assert parameters["steps"][0]["released"]["pass"] in ("numeric", "nominal", "both", "all")
    nearest = query(db, "SELECT candidate, released FROM sqlmicro.candidates ORDER BY distance, loss, candidate")
    assert [released for _, released in nearest] == [True] + [False] * (len(nearest) - 1)


def test_a_check_constraint_that_means_break_rolls_everything_back(tmp_path):
    path = str(tmp_path / "checked.duckdb")
    execute(path, "CREATE TABLE t (x DOUBLE CHECK (x = floor(x)))",
            "INSERT INTO t SELECT i FROM range(10) r(i) WHERE i <> 5")  # fmt: skip
    with pytest.raises(sqlmicro.InputError, match="constraint"):
        sqlmicro.mdav("t", db=path, columns=["x"], k=4, in_place=True, decimals=True)
    assert query(path, "SELECT sum(x), count(*) FROM t") == [(40.0, 9)]


def test_the_release_and_its_audits_are_recorded_and_agree_with_the_table(db):
    report = sqlmicro.mdav("persons", db=db, columns=USED, rest="drop", k=3, into="out", seed="a secret seed")
    measured = query(db, 'SELECT min(n), sum(n) FROM (SELECT count(*) n FROM out GROUP BY age, "net ""income""", born)')
    assert query(db, "SELECT id, source, target, method, k, n, suppressed FROM sqlmicro.releases") == [
        (report["release"], "persons", "out", "mdav", *measured[0], 0)
    ]
    assert query(db, "SELECT value, threshold, passed FROM sqlmicro.audits WHERE \"check\" LIKE 'k-anonymity%'") == [
        (measured[0][0], 3, True)
    ]
    everything = str([query(db, f"SELECT * FROM sqlmicro.{name}") for name in ("releases", "audits")])
    assert "secret" not in everything


def test_the_key_is_in_no_table_and_no_file(db, tmp_path):

    from sqlmicro.system import secrets

    for to in ({"into": "out"}, {"to": str(tmp_path / "o.parquet")}):
        sqlmicro.mdav("persons", db=db, columns=USED, rest="drop", k=3, seed="a secret seed", **to)
    for path in [Path(db), tmp_path / "o.parquet"]:
        content = path.read_bytes()
        assert b"a secret seed" not in content
        assert secrets.from_text("a secret seed").value.encode() not in content


def test_column_wise_methods_promise_no_k_and_record_what_was_measured(db):
    report = sqlmicro.individual_ranking("persons", db=db, columns=USED, rest="drop", k=3, into="out")
    assert report["k"] is None
    assert report["k_released"] < 3
    assert query(db, "SELECT k, k_released FROM sqlmicro.releases") == [(None, report["k_released"])]
    assert "No k was promised for the record" in report["verdict"]["sentence"]


def test_a_failed_audit_publishes_nothing(db):
    """Three NULLs in a column are fewer than k: the column-wise method leaves them, and the audit finds them."""
    with duckdb.connect(db) as con:
        con.execute("UPDATE persons SET note = NULL")
        con.execute('UPDATE persons SET "net ""income""" = NULL WHERE id < 3')
    with pytest.raises(sqlmicro.AuditFailed) as caught:
        sqlmicro.individual_ranking(
            "persons", db=db, columns=['net "income"'], rest="drop", k=5, into="out", nulls="keep"
        )
    assert caught.value.exit_code == 1
    assert "choose another --nulls" in str(caught.value)
    assert query(db, "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('out', 'releases')") == [(0,)]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.csv.gz"])
def test_a_file_is_audited_as_it_is_read_back(db, tmp_path, name, monkeypatch):
    path, seen = tmp_path / name, []
    monkeypatch.setattr(scratch, "fsync", lambda part: seen.append((part.is_dir(), part.stat().st_mode & 0o777)))
    report = sqlmicro.safe("persons", db=db, columns=["age", "city", "born"], rest="drop", k=3, to=str(path))
    with duckdb.connect() as con:
        rows = con.execute(f"SELECT count(*) n FROM '{path}' GROUP BY age, city, born").fetchall()
    assert min(n for (n,) in rows) == report["k"] >= 3
    assert sum(n for (n,) in rows) == ROWS
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []
    # Nobody else can read it before it is audited.
    assert seen == [(False, 0o600), (True, 0o700)]
    (tmp_path / "usual").touch()
    assert path.stat().st_mode == (tmp_path / "usual").stat().st_mode
    with pytest.raises(sqlmicro.InputError, match="overwrite"):
        sqlmicro.safe("persons", db=db, columns=["age", "city", "born"], rest="drop", k=3, to=str(path))


@pytest.mark.slow
def test_the_order_of_a_release_says_nothing(db):
    given = {"columns": ["age"], "keep": ["id"], "accept_unique": ["id"], "rest": "drop", "k": 3}
    for into, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        sqlmicro.mdav("persons", db=db, into=into, seed=seed, **given)
    orders = [[row[0] for row in query(db, f"SELECT id FROM {name}")] for name in "abc"]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(ROWS))
    together = sum(abs(a - b) == 1 for a, b in zip(orders[0], orders[0][1:], strict=False))
    assert together < 12  # 199 pairs, 2 expected by chance


def test_a_new_table_carries_no_collation_and_no_enum(db):
    execute(db, "CREATE TYPE colour AS ENUM ('red', 'green', 'secret')",
            "CREATE TABLE c AS SELECT i, ['red', 'green'][1 + i % 2]::colour AS col FROM range(20) r(i)")  # fmt: skip
    sqlmicro.safe("c", db=db, columns=["i", "col"], k=3, into="out")
    assert query(db, "SELECT DISTINCT typeof(col) FROM out") == [("VARCHAR",)]


def test_dates_come_back_as_dates(db):
    sqlmicro.safe("persons", db=db, columns=["age", "born"], rest="drop", k=3, into="out")
    assert query(db, "SELECT DISTINCT typeof(born) FROM out") == [("DATE",)]
    low, high = query(db, "SELECT min(born), max(born) FROM persons")[0]
    released = query(db, "SELECT min(born), max(born) FROM out")[0]
    assert low <= released[0] <= released[1] <= high


def test_values_become_what_their_columns_were():
    """Staged are numbers and text: dates and moments are made of numbers again, what has no numbers is cast back."""
    kinds = {"day": "DATE", "at": "TIMESTAMP", "there": "TIMESTAMP WITH TIME ZONE", "blob": "BLOB",
             "colour": "ENUM('red')", "age": "INTEGER"}  # fmt: skip
    columns = [Column(name, kind, name) for name, kind in kinds.items()]

    def found(used, text, in_place):
        chosen = [[column for column in columns if column.name in names] for names in (used, text)]
        roles, table = SimpleNamespace(used=chosen[0], released=columns), SimpleNamespace(text=set(chosen[1]))
        run = SimpleNamespace(roles=roles, table=table)
        return {kind: [c.name for c in of] for kind, of in published_as(run, in_place=in_place).items() if of}

    made = {"dates": ["day"], "timestamps": ["at"], "timestamps_with_zone": ["there"]}
    assert found(kinds, [], False) == {**made, "casts": ["blob"], "plain": ["colour", "age"]}
    assert found(kinds, [], True) == {**made, "casts": ["blob", "colour"], "plain": ["age"]}
    assert found([], [], False) == {"plain": list(kinds)}
    assert found(kinds, ["day", "at", "blob"], False) == {
        "timestamps_with_zone": ["there"], "plain": ["day", "at", "blob", "colour", "age"],
    }  # fmt: skip


def test_only_a_table_changed_in_place_keeps_its_collations():
    source = [Column("city", "VARCHAR", "city", collated=True), Column("note", "VARCHAR", "note")]
    run = SimpleNamespace(
        source=SimpleNamespace(columns=source),
        warehouse=SimpleNamespace(describe=lambda relation: [("city", "VARCHAR"), ("note", "VARCHAR")]),
    )
    name = Name("", "", "persons")
    for kind, collated in ((InPlace, [True, False]), (NewTable, [False, False])):
        found = publish._published_columns(run, name, kind(None, "persons", name))
        assert [column.collated for column in found] == collated


def test_a_file_is_what_its_ending_says(tmp_path):
    begins = {".parquet": b"PAR1", ".csv": b"x\n1\n2\n", ".json": b"[", ".ndjson": b'{"x":1}\n{"x":2}\n',
              ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd"}  # fmt: skip
    with duckdb.connect() as con:
        for ending in files.WRITTEN:
            path = tmp_path / f"out{ending}"
            options = files._options(path.name.upper(), ())
            # Under a name that says nothing: DuckDB takes some from the name, but not from one in capitals.
            con.execute(f"COPY (SELECT * FROM (VALUES (1), (2)) t(x)) TO '{tmp_path / 'out'}' ({options})")
            (tmp_path / "out").rename(path)
            assert path.read_bytes().startswith(begins[path.suffix])
            assert con.execute(f"SELECT x FROM '{path}' ORDER BY x").fetchall() == [(1,), (2,)]
        codec = f"SELECT DISTINCT compression FROM parquet_metadata('{tmp_path / 'out.parquet'}')"
        assert con.execute(codec).fetchall() == [("ZSTD",)]


def test_a_promise_is_kept_at_its_threshold():
    checks = [publish._check("k-anonymity", [Column("a", "DATE", "a_")], 3, least) for least in (None, 3, 4)]
    assert [check.passed for check in checks] == [None, True, False]
    assert checks[1] == Check("k-anonymity", ["a"], 3, 3, True, True)
    assert publish._check("rows", (), 4, 3, passed=False).passed is False


def test_text_of_a_csv_file_begins_as_no_formula_where_that_is_asked_for(tmp_path):
    texts = ["=1+1", "+1", "-1", "@x", "\tx", "\nx", "plain", "a=b", "'=1", None]
    db = tmp_path / "w.duckdb"
    with opened(db) as con:
        con.execute('CREATE TABLE t ("=n" VARCHAR, "net ""x""" ENUM (\'=a\', \'b\'), age INTEGER)')
        insert(con, "t", [(text, "b" if number % 2 else "=a", -5) for text in texts for number in range(4)])
    given = ("mdav", "--db", db, "--table", "t", "--columns", "age", "--rest", "keep", "--k", 3)
    done = command(*given, "--to", tmp_path / "o.csv", "--escape-formulas")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "o.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["=n", 'net "x"', "age"]
    found = ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\nx", "plain", "a=b", "'=1", ""]
    assert Counter(row[0] for row in rows) == dict.fromkeys(found, 4)
    assert Counter(row[1] for row in rows) == {"'=a": 20, "b": 20}
    assert {row[2] for row in rows} == {"-5"}, "numbers are no formulas"
    refused = command(*given, "--to", tmp_path / "o.parquet", "--escape-formulas")
    assert refused.returncode == 2 and "goes with --to FILE.csv" in refused.stderr


def test_a_missing_value_of_an_only_column_is_a_record_of_a_csv_file(tmp_path):
    warehouse(tmp_path, persons={"x": ("INTEGER", [1, 1, 1, None, None, None])})
    path = tmp_path / "o.csv"
    release("mdav", tmp_path, columns=["x"], nulls="keep", into=None, to=str(path))
    with path.open(newline="") as file:
        assert sorted(csv.reader(file)) == [[""]] * 3 + [["1"]] * 3 + [["x"]]
