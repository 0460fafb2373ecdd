"""A real PostgreSQL, started here on a free port of the loopback address: read, written, and anonymized in place."""

from __future__ import annotations

import importlib.util
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from world import refused

import sqlmicro
from sqlmicro.publish import postgres

ROWS = 200
URL = "crm=postgres:dbname=postgres"
SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
BIN = SERVERS[-1].parent if SERVERS else Path(shutil.which("postgres") or "/nowhere/postgres").parent
NEEDS = [
    pytest.mark.skipif(not (BIN / "initdb").is_file(), reason="needs: apt-get install postgresql"),
    pytest.mark.skipif(importlib.util.find_spec("psycopg") is None, reason="needs: pip install 'sqlmicro[postgres]'"),
]
pytestmark = [pytest.mark.slow, *NEEDS]
PERSONS = """
DROP SCHEMA IF EXISTS sqlmicro CASCADE;
DROP TABLE IF EXISTS persons, visits, history CASCADE;
CREATE TABLE persons (
  id serial PRIMARY KEY, code int UNIQUE, age int NOT NULL CHECK (age >= 0), income numeric(12, 2) DEFAULT 7,
  city text, born date CONSTRAINT alive CHECK (born > '1900-01-01'), note varchar(60));
INSERT INTO persons (code, age, income, city, born, note)
SELECT 1000 + i, (i * 37) % 90, (i * i) % 1013 + 0.25, CASE i % 3 WHEN 0 THEN 'Bonn' ELSE 'Mainz' END,
  date '1950-01-01' + (i * 111) % 20000, 'note of person number ' || i FROM generate_series(1, 200) i;
CREATE INDEX by_city ON persons (city);
GRANT SELECT ON persons TO reader;
ANALYZE persons;"""
CHILDREN = "CREATE TABLE visits (person int REFERENCES persons ON DELETE CASCADE); INSERT INTO visits VALUES (1)"
OPTIONS: dict[str, Any] = {"alone_because": "a test",
    "columns": ["age", "income", "born"], "keep": ["id", "code", "city"], "accept_unique": ["id", "code"],
    "drop": ["note"], "k": 4, "attach": URL,
}  # fmt: skip


class Server:
    """A PostgreSQL server in a folder of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port

    def run(self, *command: str) -> None:
        """Run a program of the server, which refuses to be root."""
        user = ("runuser", "-u", "postgres", "--") if os.geteuid() == 0 else ()
        subprocess.run(
            [*user, *command], check=True, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def sql(self, text: str) -> list[str]:
        """Run statements, and return the rows of the last one."""
        found = subprocess.run(
            [BIN / "psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-c", text],
            capture_output=True,
            text=True,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout.splitlines()

    def holding(self, word: bytes, folder: str) -> list[str]:
        """Return the files of a folder of the server that hold a word."""
        self.sql("CHECKPOINT")
        files = (path for path in (self.folder / "data" / folder).rglob("*") if path.is_file())
        return [str(path) for path in files if word in path.read_bytes()]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    folder = Path(tempfile.mkdtemp(prefix="sqlmicro-postgres-"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(folder, port)
    (folder / "password").write_text("sesame", encoding="utf-8")
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        for path in (folder, folder / "password"):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    data = str(folder / "data")
    first = ("-D", data, "-U", "postgres", "-A", "scram-sha-256", "-E", "UTF8", "-N", f"--pwfile={folder}/password")
    server.run(str(BIN / "initdb"), *first)
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off -c autovacuum=off"
    server.run(str(BIN / "pg_ctl"), "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("HOST", "127.0.0.1"), ("PORT", str(port)), ("USER", "postgres"), ("PASSWORD", "sesame")):
            patch.setenv(f"PG{name}", value)
        try:
            server.sql("CREATE ROLE reader; CREATE ROLE clerk LOGIN PASSWORD 'sesame'")
            yield server
        finally:
            server.run(str(BIN / "pg_ctl"), "-D", data, "-m", "immediate", "stop")
            shutil.rmtree(folder)


@pytest.fixture
def persons(server: Server) -> Server:
    """A table with constraints, an index and a grant."""
    server.sql(PERSONS)
    return server


def content(server: Server, columns: str = "*") -> list[str]:
    return server.sql(f"SELECT {columns} FROM persons ORDER BY id")


def test_in_place_keeps_the_definition_and_leaves_the_originals_in_the_wal_only(persons: Server) -> None:
    def definition() -> list[list[str]]:
        return [
            persons.sql("SELECT column_name, data_type, column_default, is_nullable FROM information_schema.columns "
                        "WHERE table_name = 'persons' ORDER BY ordinal_position"),
            persons.sql("SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint "
                        "WHERE conrelid = 'persons'::regclass ORDER BY 1"),
            persons.sql("SELECT indexdef FROM pg_indexes WHERE tablename = 'persons' ORDER BY 1"),
            persons.sql("SELECT relacl FROM pg_class WHERE oid = 'persons'::regclass"),
        ]  # fmt: skip

    word = b"note of person number 117"
    before, kept = definition(), content(persons, "id, code, city")
    assert persons.holding(word, "base")
    report = sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert definition() == before
    assert content(persons, "id, code, city") == kept
    assert persons.sql("SELECT count(note), count(*) FROM persons") == [f"0|{ROWS}"]
    sizes = persons.sql("SELECT min(n), sum(n) FROM (SELECT count(*) n FROM persons GROUP BY age, income, born) x")
    assert sizes == [f"{report['k']}|{ROWS}"]
    assert report["k"] >= 4
    assert report["purged"]
    assert persons.holding(word, "base") == []
    assert persons.holding(word, "pg_wal")
    assert any("write-ahead log" in note for note in report["notes"])
    recorded = "SELECT source, target, k, n, parameters::jsonb -> 'dropped' ->> 0 FROM sqlmicro.releases"
    assert persons.sql(recorded) == [f"crm.public.persons|crm.public.persons|{report['k']}|{ROWS}|note"]
    assert persons.sql("SELECT bool_and(passed), count(*) FROM sqlmicro.audits") == ["t|3"]


def test_without_a_purge_the_originals_stay_in_the_files(persons: Server) -> None:
    report = sqlmicro.mdav("crm.public.persons", in_place=True, no_purge=True, **OPTIONS)
    assert not report["purged"]
    assert 'VACUUM (FULL, ANALYZE) "public"."persons"' in report["warning"]
    assert persons.holding(b"note of person number 117", "base")


def test_a_failed_audit_changes_nothing(persons: Server) -> None:
    persons.sql("UPDATE persons SET income = NULL WHERE id < 3")
    before = content(persons)
    with pytest.raises(sqlmicro.AuditFailed):
        sqlmicro.individual_ranking(
            "crm.public.persons", columns=["income"], rest="keep", accept_unique=["id", "code", "born", "note"], k=5,
            nulls="keep", in_place=True, attach=URL,
        )  # fmt: skip
    assert content(persons) == before
    assert persons.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'sqlmicro'") == ["0"]


def test_a_constraint_that_the_means_break_changes_nothing(persons: Server) -> None:
    persons.sql("ALTER TABLE persons ADD CHECK (income = floor(income) + 0.25)")
    before = content(persons)
    with pytest.raises(sqlmicro.InputError, match="constraints of the table") as caught:
        sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert "0.25" not in str(caught.value)
    assert content(persons) == before


@pytest.mark.parametrize(
    ("statement", "changed", "words"),
    [
        ("SELECT 1", {"columns": ["code", "age"], "keep": ["id", "city", "income", "born"], "accept_unique": []},
         "UNIQUE"),
        ("CREATE UNIQUE INDEX ON persons (lower(note))", {}, "unique index on an expression"),
        ("ALTER TABLE persons ALTER note SET NOT NULL", {}, "NOT NULL"),
        ("ALTER TABLE persons ADD twice int GENERATED ALWAYS AS (age * 2) STORED", {"rest": "drop"}, "generated"),
        ("CREATE RULE nothing AS ON DELETE TO persons DO INSTEAD NOTHING", {}, "rules"),
        ("SELECT 1", {"widen": True}, "ALTER TABLE"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_in_place_is_refused_before_any_work(
    persons: Server, statement: str, changed: dict[str, Any], words: str
) -> None:
    persons.sql(statement)
    before = content(persons)
    with refused(words):
        sqlmicro.mdav("crm.public.persons", in_place=True, **{**OPTIONS, **changed})
    assert content(persons) == before


def test_records_that_row_security_hides_are_not_left_behind(persons: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    persons.sql("GRANT ALL ON persons TO clerk; ALTER TABLE persons ENABLE ROW LEVEL SECURITY; "
                "CREATE POLICY young ON persons TO clerk USING (age < 50)")  # fmt: skip
    monkeypatch.setenv("PGUSER", "clerk")
    with pytest.raises(sqlmicro.InputError, match="every record"):
        sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)


def test_who_does_not_own_the_table_is_told_that_it_was_not_purged(
    persons: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    persons.sql("GRANT ALL ON persons TO clerk; GRANT CREATE ON DATABASE postgres TO clerk")
    monkeypatch.setenv("PGUSER", "clerk")
    report = sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert report["purge_failed"]
    assert not report["purged"]
    assert "only the owner" in report["warning"]
    monkeypatch.setenv("PGUSER", "postgres")
    assert persons.sql("SELECT count(note) FROM persons") == ["0"]


def test_triggers_are_refused_and_materialized_views_noted(persons: Server) -> None:
    """Triggers write what is replaced elsewhere; on the tables of records they would run after the audit."""
    persons.sql("""
        CREATE TABLE history (note text);
        CREATE OR REPLACE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO history VALUES (OLD.note); RETURN OLD; END $$;
        CREATE TRIGGER remember BEFORE DELETE ON persons FOR EACH ROW EXECUTE FUNCTION remember();
        CREATE VIEW elders AS SELECT * FROM persons WHERE age > 60;
        CREATE MATERIALIZED VIEW counted AS SELECT * FROM elders""")
    before = content(persons)
    with pytest.raises(sqlmicro.InputError, match=r"must have no triggers.*Got remember"):
        sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert content(persons) == before
    persons.sql("ALTER TABLE persons DISABLE TRIGGER remember")
    report = sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert "until they are refreshed: counted" in " ".join(report["notes"])
    assert persons.sql("SELECT count(*) FROM history") == ["0"]
    persons.sql("""CREATE TRIGGER after AFTER INSERT ON sqlmicro.audits EXECUTE FUNCTION remember();
        CREATE TABLE released (x int); CREATE TRIGGER lost AFTER INSERT ON released EXECUTE FUNCTION remember()""")
    for into, named in (("other", "after"), ("released", "lost")):
        with pytest.raises(sqlmicro.InputError, match=f"must have no triggers.*Got {named}"):
            sqlmicro.mdav("crm.public.persons", into=f"crm.public.{into}", overwrite=True, **OPTIONS)
    persons.sql("DROP TABLE released")


@pytest.mark.parametrize(
    "meanwhile", ["INSERT INTO persons (age) VALUES (33)", "UPDATE persons SET note = 'x' WHERE id = 7"]
)
def test_what_others_write_meanwhile_is_not_overwritten(
    persons: Server, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    real = postgres.lock

    def late(*arguments: Any) -> None:
        persons.sql(meanwhile)
        real(*arguments)

    monkeypatch.setattr(postgres, "lock", late)
    before = content(persons)
    with pytest.raises(sqlmicro.InputError, match="must not change"):
        sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert len(set(content(persons)) ^ set(before)) in (1, 2)


def test_a_table_that_somebody_holds_is_left_alone(persons: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_PATIENCE", "1s")
    before = content(persons)
    held = "BEGIN; LOCK TABLE persons IN ROW EXCLUSIVE MODE; SELECT pg_sleep(6)"
    with (
        subprocess.Popen([BIN / "psql", "-XAtq", "-d", "postgres", "-c", held], stdout=subprocess.DEVNULL),
        pytest.raises(sqlmicro.InputError, match="free to be locked"),
    ):
        sqlmicro.mdav("crm.public.persons", in_place=True, **OPTIONS)
    assert content(persons) == before


def test_columns_that_are_kept_come_back_as_they_were(persons: Server) -> None:
    persons.sql("""
        DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
        ALTER TABLE persons ADD a bool, ADD b smallint, ADD c bigint, ADD d real, ADD e double precision, ADD f char(5),
          ADD g time, ADD h timestamp, ADD i timestamptz, ADD j uuid, ADD l bytea, ADD m json, ADD n jsonb, ADD o mood,
          ADD p numeric(30, 8), ADD q date,
          ADD r int GENERATED ALWAYS AS IDENTITY;
        UPDATE persons SET a = id % 2 = 0, b = -id, c = 9007199254740993 + id, d = 0.1 * id, e = 0.1 * id, f = id,
          g = '23:59:59.999999', h = '1999-12-31 23:59:59.123456', i = '2024-06-01 12:00:00.5+02',
          j = md5(id::text)::uuid, l = decode(md5(id::text), 'hex'), m = '{"b":  1, "a": "ü"}', n = '{"a": "ü"}',
          o = 'ok', p = 1234567890123456789012.12345678,
          q = CASE WHEN id = 5 THEN 'infinity' ELSE '2024-02-29' END::date
        WHERE id % 10 <> 0;
        UPDATE persons SET e = 'NaN', d = '-infinity' WHERE id = 6""")
    kept = [*"abcdefghijlmnopqr", "id", "code", "city"]
    before = content(persons, ", ".join(kept))
    sqlmicro.mdav(
        "crm.public.persons", in_place=True, **{**OPTIONS, "keep": kept, "accept_unique": kept, "identifier_ok": ["j"]}
    )
    assert content(persons, ", ".join(kept)) == before


def test_a_new_table_is_published_recorded_and_audited(persons: Server) -> None:
    persons.sql("CREATE VIEW elders AS SELECT * FROM persons WHERE age > 40")
    report = sqlmicro.mdav("crm.public.elders", into="crm.public.released", overwrite=True, **OPTIONS)
    assert persons.sql("SELECT count(*) FROM released") == [str(report["rows"])]
    audit = sqlmicro.audit("crm.public.released", quasi=OPTIONS["columns"], min_k=4, attach=URL)
    assert audit["passed"]
    assert persons.sql("SELECT target, k FROM sqlmicro.releases") == [f"crm.public.released|{report['k']}"]
    with pytest.raises(sqlmicro.InputError, match="must not exist yet"):
        sqlmicro.mdav("crm.public.persons", into="crm.public.released", **OPTIONS)
    with pytest.raises(sqlmicro.InputError, match="needs a table"):
        sqlmicro.mdav("crm.public.elders", in_place=True, **OPTIONS)


def test_a_dry_run_writes_nothing_and_shows_no_connection(persons: Server) -> None:
    before = content(persons)
    url = f"crm=postgres:host=127.0.0.1 port={persons.port} user=postgres dbname=postgres"
    report = sqlmicro.mdav("crm.public.persons", in_place=True, show_sql=True, **{**OPTIONS, "attach": url})
    assert content(persons) == before
    assert not report["purged"]
    for word in (str(persons.port), "127.0.0.1", "sesame"):
        assert word not in json.dumps(report, default=str)
    assert "DELETE FROM" in report["sql"]


def test_no_message_and_no_record_tells_the_connection(persons: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"crm=postgres:host=127.0.0.1 port={persons.port} user=postgres dbname=postgres"
    sqlmicro.mdav("crm.public.persons", into="crm.public.other", overwrite=True, **{**OPTIONS, "attach": url})
    recorded = " ".join(persons.sql("SELECT * FROM sqlmicro.releases"))
    assert "127.0.0.1" not in recorded
    for name, value, words in (("PGPASSWORD", "wrong", "password"), ("PGDATABASE", "nowhere", "does not have")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            open_url = url.replace(" dbname=postgres", "")
            with pytest.raises(sqlmicro.InputError, match=words) as caught:
                sqlmicro.mdav("crm.public.persons", in_place=True, **{**OPTIONS, "attach": open_url})
        assert not {"127.0.0.1", str(persons.port), "wrong", "nowhere"} & set(
            str(caught.value).replace(".", " ").split()
        )
