"""Tables of a real PostgreSQL of every kind, anonymized in place; and who or what comes in between."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from test_postgres import BIN, CHILDREN, OPTIONS, Server, content, persons, pytestmark, server  # noqa: F401
from world import refused

import sqlmicro
from sqlmicro.publish import postgres

WHOLE = "SELECT min(n), sum(n) FROM (SELECT count(*) n FROM {} GROUP BY age, income, born) x"
TABLE = "crm.public.persons"
# Of each type that DuckDB does not have as it is: the definition, and a value made of the number i.
OTHERS = {
    "list": ("int[]", "ARRAY[i, NULL, -i]"), "bounds": ("int[]", "('[0:1]={' || i || ',2}')::int[]"),
    "words": ("text[]", """ARRAY['a "b" ' || i, 'NULL', NULL, 'x,y', E'tab\\t', '']"""),
    "grid": ("int[][]", "ARRAY[[i, 1], [2, 3]]"), "span": ("interval", "i * interval '1 mon -3 days 04:05:06.789'"),
    "net": ("inet", "('10.0.0.' || i % 256 || '/24')::inet"), "mac": ("macaddr", "'08:00:2b:01:02:03'::macaddr"),
    "block": ("cidr", "'192.168.0.0/24'::cidr"),
    "period": ("daterange", "daterange('2020-01-01', '2020-01-02'::date + i)"),
    "bits": ("varbit", "B'1010'"), "point": ("point", "point(i, 0.1)"),
    "doc": ("xml", "('<a b=\"' || i || '\"/>')::xml"), "at": ("timetz", "'12:30:00.5+02'::timetz"),
    "age_group": ("years", "(i % 90)::years"), "cash": ("money", "(i + 0.5)::numeric::money"),
    "pair": ("pair", """ROW(i, 'it''s "x", y')::pair"""),
}  # fmt: skip
NUMBERS = {
    "loose": ("numeric", "i * 1.10 + (CASE i % 3 WHEN 1 THEN 1e-30 ELSE 0 END)"),
    "amount": ("numeric(40, 3)", "i + 0.125"),
}
MORE = """DROP DOMAIN IF EXISTS years CASCADE; CREATE DOMAIN years AS int CHECK (VALUE < 150);
DROP TYPE IF EXISTS pair CASCADE; CREATE TYPE pair AS (a int, b text);"""


def changed(**options: Any) -> dict[str, Any]:
    return {**OPTIONS, **options}


def with_others(server: Server, *, numeric: bool) -> list[str]:  # noqa: F811
    """Add a column of every type to the table; a number of any precision only on request."""
    types = OTHERS | (NUMBERS if numeric else {})
    added = ", ".join(f"ADD {name} {kind}" for name, (kind, _) in types.items())
    given = ", ".join(f"{name} = {value}" for name, (_, value) in types.items())
    server.sql(f"{MORE} ALTER TABLE persons {added}")
    server.sql(f"UPDATE persons SET {given} FROM (SELECT id AS number, id AS i FROM persons) x WHERE id = number")
    server.sql("UPDATE persons SET " + ", ".join(f"{name} = NULL" for name in types) + " WHERE id % 10 = 0")
    return list(types)


def test_a_table_that_others_refer_to_is_updated_and_nothing_cascades(persons: Server) -> None:  # noqa: F811
    persons.sql("""
        CREATE TABLE visits (person int REFERENCES persons ON DELETE CASCADE ON UPDATE CASCADE,
          code int REFERENCES persons (code) ON DELETE SET NULL ON UPDATE CASCADE);
        INSERT INTO visits SELECT id, code FROM persons;
        ALTER TABLE persons ADD boss int REFERENCES persons ON DELETE SET NULL;
        UPDATE persons SET boss = 1 + id % 7""")
    visits = persons.sql("SELECT * FROM visits ORDER BY 1")
    kept = content(persons, "id, code, city, boss")
    files = persons.sql("SELECT pg_relation_filenode('visits')")
    report = sqlmicro.mdav(TABLE, in_place=True, **changed(keep=["id", "code", "city", "boss"]))
    assert persons.sql("SELECT * FROM visits ORDER BY 1") == visits
    assert persons.sql("SELECT pg_relation_filenode('visits')") == files
    assert content(persons, "id, code, city, boss") == kept
    assert persons.sql(WHOLE.format("persons")) == [f"{report['k']}|200"]
    assert persons.sql("SELECT count(note) FROM persons") == ["0"]
    assert report["purged"]
    assert persons.holding(b"note of person number 117", "base") == []
    assert "their order in the table is that of the originals" in " ".join(report["notes"])


@pytest.mark.parametrize(
    ("statement", "options", "words"),
    [
        (CHILDREN, {"columns": ["age", "income"], "rest": "drop", "keep": ["id"], "accept_unique": ["id"],
                    "nulls": "suppress"}, "none left out"),
        ("ALTER TABLE persons DROP CONSTRAINT persons_pkey; CREATE TABLE visits (c int REFERENCES persons (code))",
         {}, "must have a primary key"),
        ("CREATE TABLE visits (c int REFERENCES persons (code))",
         {"rest": "drop", "keep": ["id"], "accept_unique": ["id"], "columns": ["age", "born"]},
         "other tables refer to must be kept.*Got code"),
        ("ALTER TABLE persons DROP CONSTRAINT persons_pkey, ADD price numeric", {"rest": "keep"}, "primary key"),
        ("CREATE TABLE heirs (secret text) INHERITS (persons)", {}, "columns of their own.*Got secret"),
        ("ALTER TABLE persons ADD twice int GENERATED ALWAYS AS (age * 2) STORED", {"rest": "drop"}, "generated"),
        ("ALTER TABLE persons ADD twice int GENERATED ALWAYS AS (age * 2) STORED",
         {"columns": ["age", "twice"], "rest": "drop"}, "generated"),
    ],
)  # fmt: skip
def test_what_is_still_refused_changes_nothing(
    persons: Server,  # noqa: F811
    statement: str,
    options: dict[str, Any],
    words: str,
) -> None:
    persons.sql("UPDATE persons SET income = NULL WHERE id < 3; " + statement)
    before = content(persons)
    with refused(words, kind=sqlmicro.InputError):
        sqlmicro.mdav(TABLE, in_place=True, **changed(**options))
    assert content(persons) == before
    assert persons.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'sqlmicro'") == ["0"]


@pytest.mark.parametrize("key", ["PRIMARY KEY", "no key", "referred to"])
def test_kept_columns_of_every_type_come_back_as_they_were(persons: Server, key: str) -> None:  # noqa: F811
    """With a key, a number of any precision is too: it never leaves the server."""
    names = with_others(persons, numeric=key != "no key")
    if key == "no key":
        persons.sql("ALTER TABLE persons DROP CONSTRAINT persons_pkey")
    if key == "referred to":
        persons.sql(CHILDREN)
    kept = [*names, "id", "code", "city"]
    before = content(persons, ", ".join(kept))
    sqlmicro.mdav(TABLE, in_place=True, **changed(keep=kept, accept_unique=kept, identifier_ok=kept))
    assert content(persons, ", ".join(kept)) == before
    assert persons.sql("SELECT count(note), count(DISTINCT age) > 1 FROM persons") == ["0|t"]


def test_a_domain_whose_check_quotes_values_takes_them_and_tells_none(persons: Server) -> None:  # noqa: F811
    persons.sql("""DROP DOMAIN IF EXISTS quarter CASCADE;
        CREATE DOMAIN quarter AS numeric(12, 2) CHECK (VALUE = floor(VALUE) + 0.25);
        DROP DOMAIN IF EXISTS years CASCADE; CREATE DOMAIN years AS int CHECK (VALUE BETWEEN 0 AND 89);
        ALTER TABLE persons ALTER income TYPE quarter, ALTER age TYPE years""")
    before = content(persons)
    with pytest.raises(sqlmicro.InputError, match="constraints of the table") as caught:
        sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
    assert "0.25" not in str(caught.value)
    assert content(persons) == before
    sqlmicro.mdav(TABLE, in_place=True, **changed(columns=["age", "born"], keep=["id", "code"], rest="drop"))
    assert persons.sql("SELECT count(income), max(age) < 90 FROM persons") == ["0|t"]


PARTED = """
DROP TABLE persons CASCADE;
CREATE TABLE persons (id int, code int, age int, income numeric(12, 2), city text, born date, note text,
  PRIMARY KEY (id, city)) PARTITION BY LIST (city);
CREATE TABLE bonn PARTITION OF persons FOR VALUES IN ('Bonn');
CREATE TABLE others PARTITION OF persons DEFAULT PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF others FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE high PARTITION OF others FOR VALUES FROM (100) TO (MAXVALUE);
INSERT INTO persons SELECT i, 1000 + i, (i * 37) % 90, (i * i) % 1013 + 0.25,
  CASE i % 3 WHEN 0 THEN 'Bonn' ELSE 'Mainz' END, date '1950-01-01' + (i * 111) % 20000, 'note of person number ' || i
FROM generate_series(1, 200) i;
ANALYZE persons"""


@pytest.mark.parametrize("referred", [False, True])
def test_a_partitioned_table_changes_with_all_its_partitions(persons: Server, referred: bool) -> None:  # noqa: F811
    persons.sql(PARTED)
    if referred:
        persons.sql("CREATE TABLE visits (id int, city text, "
                    "FOREIGN KEY (id, city) REFERENCES persons ON DELETE CASCADE ON UPDATE CASCADE); "
                    "INSERT INTO visits SELECT id, city FROM persons")  # fmt: skip
    where = "SELECT tableoid::regclass, id, code, city FROM persons ORDER BY id"
    before = persons.sql(where)
    report = sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
    assert persons.sql(where) == before
    assert persons.sql(WHOLE.format("persons")) == [f"{report['k']}|200"]
    assert report["purged"]
    assert persons.holding(b"note of person number 117", "base") == []
    if referred:
        assert persons.sql("SELECT count(*) FROM visits") == ["200"]


def test_a_partition_with_a_trigger_of_its_own_and_one_alone(persons: Server) -> None:  # noqa: F811
    persons.sql(PARTED)
    persons.sql("""CREATE OR REPLACE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO history VALUES (OLD.note); RETURN OLD; END $$;
        CREATE TRIGGER remember BEFORE DELETE ON low FOR EACH ROW EXECUTE FUNCTION remember()""")
    before = content(persons)
    with pytest.raises(sqlmicro.InputError, match=r"must have no triggers.*Got remember"):
        sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
    assert content(persons) == before
    there = (
        "SELECT count(*) FROM pg_statistic s WHERE starelid = 'persons'::regclass AND stavalues1::text LIKE '%number%'"
    )
    assert persons.sql(there) != ["0"]
    report = sqlmicro.mdav("crm.public.bonn", in_place=True, **OPTIONS)
    assert report["rows"] == 66
    assert persons.sql("SELECT count(note) FROM persons") == [str(200 - 66)]
    assert persons.sql("SELECT count(*) FROM pg_statistic WHERE starelid = 'persons'::regclass "
                       "AND stavalues1::text LIKE '%number 66\"%'") == ["0"]  # fmt: skip


def test_a_partition_key_that_changes_moves_records_to_their_partition(persons: Server) -> None:  # noqa: F811
    parted = PARTED.replace(",\n  PRIMARY KEY (id, city)", "").replace("BY LIST (city)", "BY LIST (age)")
    persons.sql(parted.split("CREATE TABLE bonn")[0])
    persons.sql("""CREATE TABLE young PARTITION OF persons FOR VALUES IN (1, 2, 3);
        CREATE TABLE rest PARTITION OF persons DEFAULT""")
    persons.sql("INSERT" + PARTED.split("INSERT")[1])
    sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
    assert persons.sql("SELECT count(*) FILTER (WHERE tableoid = 'young'::regclass AND age NOT IN (1, 2, 3)), "
                       "count(*) FROM persons") == ["0|200"]  # fmt: skip


def test_records_of_heirs_stay_in_their_tables(persons: Server) -> None:  # noqa: F811
    persons.sql("""CREATE TABLE heirs () INHERITS (persons);
        INSERT INTO heirs SELECT id + 1000, code + 1000, age, income, city, born, note || ' heir' FROM persons;
        ANALYZE persons""")
    where = "SELECT tableoid::regclass, id FROM persons ORDER BY id"
    before = persons.sql(where)
    report = sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
    assert persons.sql(where) == before
    assert persons.sql("SELECT min(n) FROM (SELECT count(*) n FROM persons GROUP BY age, income, born) x") == [
        str(report["k"])
    ]
    assert persons.sql("SELECT count(note) FROM persons") == ["0"]
    assert persons.holding(b"note of person number 117", "base") == []
    persons.sql("INSERT INTO heirs SELECT * FROM persons WHERE id = 1")
    before = content(persons)
    with pytest.raises(sqlmicro.InputError, match="found again by its key"):
        sqlmicro.mdav(
            TABLE, in_place=True, alone_because="a test", **{k: v for k, v in OPTIONS.items() if k[:5] != "alone"}
        )
    assert content(persons) == before


def test_generated_columns_and_identities_are_the_servers(persons: Server) -> None:  # noqa: F811
    persons.sql("""ALTER TABLE persons ADD twice int GENERATED ALWAYS AS (age * 2) STORED,
        ADD said text GENERATED ALWAYS AS (note || '!') STORED, ADD number int GENERATED ALWAYS AS IDENTITY""")
    kept = ["id", "code", "city", "twice", "said", "number"]
    numbers = content(persons, "id, number")
    report = sqlmicro.mdav(TABLE, in_place=True, **changed(keep=kept, accept_unique=kept))
    assert persons.sql("SELECT bool_and(twice = age * 2), count(said) FROM persons") == ["t|0"]
    assert content(persons, "id, number") == numbers
    assert "computes anew, from what is released: said, twice" in " ".join(report["notes"])


def test_only_the_log_has_the_originals_afterwards_in_all_of_the_data_directory(persons: Server) -> None:  # noqa: F811
    """Frequent values too, which statistics quote, and which would stay in dead rows of theirs."""
    persons.sql("UPDATE persons SET city = 'Cloppenburg-Frequent' WHERE id % 2 = 0; ANALYZE persons; ANALYZE persons")
    words = (b"Cloppenburg-Frequent", b"note of person number 117")
    assert persons.holding(words[0], "base")
    report = sqlmicro.mdav(TABLE, in_place=True, **changed(keep=["id", "code"], drop=["note", "city"]))
    found = {path.split("/data/")[1].split("/")[0] for word in words for path in persons.holding(word, "")}
    assert found == {"pg_wal"}
    assert report["purged"]
    notes = " ".join(report["notes"])
    assert "still in the write-ahead log (WAL)" in notes
    assert "pg_statistic" not in notes


def test_who_may_not_vacuum_statistics_is_told(persons: Server, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    persons.sql("ALTER TABLE persons OWNER TO clerk; GRANT CREATE ON DATABASE postgres TO clerk")
    monkeypatch.setenv("PGUSER", "clerk")
    report = sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
    assert report["purged"]
    assert "dead rows of pg_statistic until a superuser" in " ".join(report["notes"])


def test_a_purge_that_somebodys_older_snapshot_defeats_is_not_called_one(persons: Server) -> None:  # noqa: F811
    older = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT pg_sleep(100)"
    with subprocess.Popen([BIN / "psql", "-XAtq", "-d", "postgres", "-c", older], stdout=subprocess.DEVNULL) as process:
        time.sleep(1)
        report = sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
        assert persons.holding(b"note of person number 117", "base")
        process.kill()
    assert not report["purged"]
    assert "can still see the replaced records" in report["warning"]


def test_names_with_quotes_dots_and_words_of_sql(persons: Server) -> None:  # noqa: F811
    persons.sql('''DROP SCHEMA IF EXISTS "a.b""c" CASCADE; CREATE SCHEMA "a.b""c";
        CREATE TABLE "a.b""c"."select ""x"" -- '" AS
          SELECT id AS "i""d", age AS "net ""income""", income AS "%s {}", born AS "where", note AS "$1", code AS "c'd"
          FROM persons;
        ALTER TABLE "a.b""c"."select ""x"" -- '" ADD PRIMARY KEY ("i""d");
        CREATE TABLE visits (p int REFERENCES "a.b""c"."select ""x"" -- '" ON DELETE CASCADE);
        INSERT INTO visits VALUES (3)''')
    name = '''"a.b""c"."select ""x"" -- '"'''
    kept = ['i"d', "c'd"]
    options = changed(columns=['net "income"', "%s {}", "where"], keep=kept, accept_unique=kept, drop=["$1"])
    report = sqlmicro.mdav(f"crm.{name}", in_place=True, **options)
    sizes = f'SELECT min(n) FROM (SELECT count(*) n FROM {name} GROUP BY "net ""income""", "%s {{}}", "where") x'
    assert persons.sql(sizes) == [str(report["k"])]
    assert persons.sql(f'SELECT count("$1"), sum("c\'d") FROM {name}') == [f"0|{200 * 1000 + 20100}"]
    assert persons.sql("SELECT * FROM visits") == ["3"]


def test_odd_records_are_read_and_kept_as_they_are(persons: Server) -> None:  # noqa: F811
    """Lines of NULL only, empty text, quotes, line ends, the end mark of COPY, and a record longer than a block."""
    persons.sql(r"""ALTER TABLE persons DROP CONSTRAINT persons_pkey; ALTER TABLE persons ADD word text;
        UPDATE persons SET word = (ARRAY['', NULL, '"', ',', E'a\nb\r\n', '\.', 'NULL', E'\\N', ' x '])[1 + id % 9];
        UPDATE persons SET word = repeat('long "text", ', 500000) WHERE id = 77;
        DROP TABLE IF EXISTS lone; CREATE TABLE lone AS SELECT NULLIF(i % 4, 0) AS a FROM generate_series(1, 40) i;
        DROP TABLE IF EXISTS nobody; CREATE TABLE nobody (a int)""")
    before = persons.sql("SELECT id, md5(word), word IS NULL FROM persons ORDER BY id")
    kept = ["id", "code", "city", "word"]
    sqlmicro.mdav(TABLE, in_place=True, **changed(keep=kept, accept_unique=kept))
    assert persons.sql("SELECT id, md5(word), word IS NULL FROM persons ORDER BY id") == before
    audits = [sqlmicro.audit("crm.public.lone", quasi=["a"], min_k=k, attach=OPTIONS["attach"]) for k in (10, 11)]
    assert [audit["passed"] for audit in audits] == [True, False]
    with pytest.raises(sqlmicro.InputError, match="empty table"):
        sqlmicro.mdav("crm.public.nobody", columns=["a"], k=2, to="unused.csv", attach=OPTIONS["attach"])


def test_tables_and_columns_that_differ_in_case_only_are_not_mistaken(persons: Server) -> None:  # noqa: F811
    persons.sql("""DROP TABLE IF EXISTS "Twin", twin, cased; CREATE TABLE "Twin" (a int); CREATE TABLE twin (a int);
        CREATE TABLE cased ("A" int, a int)""")
    for table in ("Twin", "twin", "cased"):
        with pytest.raises(sqlmicro.InputError, match="must be a table"):
            sqlmicro.mdav(f"crm.public.{table}", columns=["a"], k=2, to="unused.csv", attach=OPTIONS["attach"])


# Whoever comes in between


def _held(monkeypatch: pytest.MonkeyPatch, then: Any) -> None:
    """Call something after the records were deleted and written anew, before they are audited."""
    real = postgres.PostgresInPlace.write

    def late(*arguments: Any) -> None:
        real(*arguments)
        then()

    monkeypatch.setattr(postgres.PostgresInPlace, "write", late)


def test_a_backend_that_is_killed_leaves_everything_as_it_was(
    persons: Server,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = content(persons)
    _held(monkeypatch, lambda: persons.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sqlmicro'"))  # fmt: skip
    with pytest.raises(sqlmicro.QueryError, match="connection to the server") as caught:
        sqlmicro.mdav(TABLE, in_place=True, **OPTIONS)
    assert caught.value.exit_code == 3
    assert content(persons) == before


KILLED = """
import os, signal, sys
import sqlmicro
from sqlmicro.publish import postgres, publish
where = sys.argv.pop()
target, name = {"write": (postgres.PostgresInPlace, "write"), "record": (publish, "record")}[where]
real = getattr(target, name)
def late(*arguments):
    real(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(target, name, late)
sqlmicro.mdav("crm.public.persons", in_place=True, columns=["age", "income", "born"], keep=["id", "code"],
  accept_unique=["id", "code"], rest="drop", k=4, attach="crm=postgres:dbname=postgres", alone_because="a test")
"""


@pytest.mark.parametrize("where", ["write", "record"])
def test_a_client_that_is_killed_leaves_everything_as_it_was(persons: Server, where: str) -> None:  # noqa: F811
    before = content(persons)
    process = subprocess.run([sys.executable, "-c", KILLED, where], capture_output=True, env=os.environ)
    assert process.returncode == -signal.SIGKILL, process.stderr
    for _ in range(50):
        if persons.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'sqlmicro'") == ["0"]:
            break
        time.sleep(0.1)
    assert content(persons) == before
    with contextlib.suppress(AssertionError):
        assert persons.sql("SELECT count(*) FROM sqlmicro.releases") == ["0"]


def test_two_releases_at_once_do_not_both_get_a_number(
    persons: Server,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sqlmicro.mdav(TABLE, into="crm.public.first", overwrite=True, **OPTIONS)
    real = postgres.PostgresTable.write

    def late(*arguments: Any) -> None:
        real(*arguments)
        monkeypatch.undo()
        sqlmicro.mdav(TABLE, into="crm.public.second", overwrite=True, **OPTIONS)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres.PostgresTable, "write", late)
        monkeypatch = patch
        with pytest.raises(sqlmicro.InputError, match="at the same time"):
            sqlmicro.mdav(TABLE, into="crm.public.third", overwrite=True, **OPTIONS)
    assert persons.sql("SELECT target FROM sqlmicro.releases ORDER BY id") == ["crm.public.first", "crm.public.second"]
    assert persons.sql("SELECT to_regclass('third')") == [""]
    persons.sql("DROP TABLE first, second")
