"""A PostgreSQL server beside the own database: commands that only read, what it records, and what it does not show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import run
from test_postgres import NEEDS, ROWS, URL, Server
from test_postgres import persons as persons
from test_postgres import server as server

import sqlmicro

pytestmark = [pytest.mark.slow, *NEEDS]
INTO = "crm.public.released"
GIVEN: dict[str, Any] = {"columns": ["age", "income"], "rest": "drop", "k": 4, "into": INTO, "attach": URL}


@pytest.fixture
def own(tmp_path: Path) -> str:
    """A database file of one's own."""
    path = tmp_path / "own.duckdb"
    with duckdb.connect(str(path)) as con:
        con.execute("CREATE TABLE other AS SELECT 1 AS x")
    return str(path)


@pytest.fixture
def released(persons: Server) -> Server:
    """A table that was released on the server, and recorded there."""
    persons.sql("DROP TABLE IF EXISTS released, nightly")
    sqlmicro.mdav("crm.public.persons", **GIVEN)
    return persons


def test_what_only_reads_its_own_database_reads_the_server_too(released: Server, own: str) -> None:
    assert len(sqlmicro.profile("crm.public.persons", db=own, attach=URL)["columns"]) == 7
    assert sqlmicro.audit(INTO, db=own, quasi=["age", "income"], min_k=4, attach=URL)["passed"]
    for command in ("ledger", "series"):
        assert run(command, "--db", own, "--attach", URL).returncode == 0
    for where in ((), ("--db", own)):
        done = run("scan", *where, "--attach", URL)
        assert done.returncode == 0, done.stderr
        assert 'name = "crm.public.persons"' in done.stdout and '"crm.public.released"' not in done.stdout


def test_a_release_is_found_where_it_is_recorded(released: Server, own: str, tmp_path: Path) -> None:
    for where in ({}, {"db": own}):
        (entry,) = sqlmicro.ledger(attach=URL, **where)["releases"]
        assert (entry["release"], entry["target"], entry["state"], entry["intact"]) == (1, INTO, "out", True)
        for release in (INTO, "1"):
            found = sqlmicro.report(release=release, attach=URL, sample=0, **where)
            assert (found["source"], found["passed"]) == ("crm.public.persons", True)
            assert [step["method"] for step in found["steps"]] == ["mdav"]
    with pytest.raises(sqlmicro.InputError, match=r"There are: 1"):
        sqlmicro.report(release="2", attach=URL)
    other = URL.replace("crm=", "again=")
    with pytest.raises(sqlmicro.InputError, match="several: again, crm"):
        sqlmicro.ledger(attach=[URL, other])
    sqlmicro.ledger("withdraw", 1, reason="nobody has a copy", attach=URL)
    assert released.sql("SELECT release, reason FROM sqlmicro.withdrawn") == ["1|nobody has a copy"]
    assert released.sql("SELECT count(*) FROM sqlmicro.memory") == ["0"]
    assert sqlmicro.ledger(attach=URL)["releases"][0]["state"] == "withdrawn"


def test_the_own_record_is_read_where_it_has_one(released: Server, own: str) -> None:
    released.sql("DROP TABLE released")
    sqlmicro.individual_ranking("crm.public.persons", db=own, **{**GIVEN, "into": "beside"})
    assert [one["target"] for one in sqlmicro.ledger(db=own, attach=URL)["releases"]] == ["beside"]
    assert [one["target"] for one in sqlmicro.ledger(attach=URL)["releases"]] == [INTO]


def test_a_series_to_the_server_is_kept_in_the_ledger_that_is_named(persons: Server, tmp_path: Path) -> None:
    persons.sql("DROP TABLE IF EXISTS nightly")
    night: dict[str, Any] = {**GIVEN, "into": "crm.public.nightly", "overwrite": True, "row_key": ["id"], "series": "s"}
    for more in ({}, {"epoch": True}):
        with pytest.raises(sqlmicro.InputError, match="Give --ledger FILE"):
            sqlmicro.microaggregate("crm.public.persons", **night, **more)
    ledger = str(tmp_path / "ledger.duckdb")
    sqlmicro.microaggregate("crm.public.persons", ledger=ledger, **night)
    persons.sql("INSERT INTO persons (age, income) SELECT 30 + i, 100 + i FROM generate_series(1, 9) i")
    sqlmicro.microaggregate("crm.public.persons", ledger=ledger, **night)
    (found,) = sqlmicro.series(ledger=ledger)["series"]
    assert (found["series"], found["target"], found["release"]) == ("s", "crm.public.nightly", 2)
    assert persons.sql("SELECT id, series, epoch FROM sqlmicro.releases ORDER BY 1") == ["1|s|1", "2|s|1"]
    with pytest.raises(sqlmicro.InputError, match="the database has nights of it"):
        sqlmicro.microaggregate("crm.public.persons", ledger=str(tmp_path / "new.duckdb"), **night)


def test_records_that_row_security_hides_are_not_taken_for_all(
    persons: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    persons.sql("""GRANT SELECT ON persons TO clerk; ALTER TABLE persons ENABLE ROW LEVEL SECURITY;
        CREATE POLICY young ON persons TO clerk USING (age < 50);
        CREATE VIEW seen AS SELECT * FROM persons; ALTER VIEW seen OWNER TO clerk""")
    monkeypatch.setenv("PGUSER", "clerk")
    for table in ("persons", "seen"):
        with pytest.raises(sqlmicro.InputError, match="every record must be readable"):
            sqlmicro.profile(f"crm.public.{table}", attach=URL)
    with pytest.raises(sqlmicro.InputError, match="row security"):
        sqlmicro.mdav("crm.public.persons", **GIVEN)
    monkeypatch.setenv("PGUSER", "postgres")
    assert sqlmicro.profile("crm.public.persons", attach=URL)["rows"] == ROWS, "who is above it sees all"


def test_rights_that_are_missing_are_named_before_the_work(persons: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each grant is what the refusal before it has named, and the last one is enough."""
    persons.sql("DROP TABLE IF EXISTS released; REVOKE CREATE ON DATABASE postgres FROM clerk")

    def refused(missing: str, **more: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setenv("PGUSER", "clerk")
            patch.setattr("sqlmicro.pipeline.step", lambda *_, **__: pytest.fail("the work was begun"))
            with pytest.raises(sqlmicro.InputError) as caught:
                sqlmicro.mdav("crm.public.persons", **{**GIVEN, **more})
        assert f"missing rights: {missing}. Have them granted" in str(caught.value)

    every = "id, code, age, income, city, born, note"
    refused(f"to select {every} of crm.public.persons")
    persons.sql("GRANT SELECT (id, age) ON persons TO clerk")
    refused("to select code, income, city, born, note of crm.public.persons")
    persons.sql("GRANT SELECT ON persons TO clerk")
    database = "for schema sqlmicro, CREATE ON DATABASE postgres"
    refused(f"CREATE ON SCHEMA public, {database}")
    persons.sql("GRANT CREATE ON SCHEMA public TO clerk")
    refused(database)
    persons.sql("CREATE SCHEMA sqlmicro")
    refused("USAGE ON SCHEMA sqlmicro, CREATE ON SCHEMA sqlmicro")
    persons.sql("GRANT USAGE, CREATE ON SCHEMA sqlmicro TO clerk")
    kept = {"into": None, "in_place": True, "keep": ["id"], "drop": ["code", "city", "born", "note"], "rest": None}
    refused("INSERT ON public.persons, DELETE ON public.persons", **kept, accept_unique=["id"])
    monkeypatch.setenv("PGUSER", "clerk")
    assert sqlmicro.mdav("crm.public.persons", **GIVEN)["rows"] == ROWS
    monkeypatch.setenv("PGUSER", "postgres")
    persons.sql("DROP TABLE released; CREATE TABLE released (x int); GRANT SELECT ON released TO clerk")
    refused("ownership of public.released", overwrite=True)
    persons.sql("DROP TABLE released; REVOKE CREATE ON SCHEMA public FROM clerk")
