"""A real MariaDB, started here on a free port of the loopback address: read, and written with nothing left behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_sources import OPTIONS, ROWS, needs

import sqlmicro
from sqlmicro.database import attach, mysql
from sqlmicro.database.connection import Held
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.publish import publish
from sqlmicro.publish.new_table import MySQLTable
from sqlmicro.publish.postgres import PostgresTable


def test_what_mysql_would_commit_is_taken_back_or_refused() -> None:
    """The same statements on DuckDB, without a transaction around them."""
    with open_warehouse(None) as warehouse:
        target = MySQLTable(warehouse, "m.a.t", Name("", "main", "t"))
        for wrong in ([target, target], [replace(target, keeps=True)], [replace(target, overwrite=True)]):
            with pytest.raises(sqlmicro.InputError, match="one new table"):
                wrong[0].check_together(wrong)
            others = [PostgresTable(warehouse, t.label, t.name, t.overwrite, t.keeps) for t in wrong]
            others[0].check_together(others)
        with pytest.raises(KeyboardInterrupt), target.taken_back([target]):
            warehouse.query("t", "CREATE TABLE memory.main.t AS SELECT 1 AS x")
            raise KeyboardInterrupt
        with pytest.raises(sqlmicro.AuditFailed), target.taken_back([target]):
            raise sqlmicro.AuditFailed("t", "must pass", "a failure", "")
        with pytest.raises(sqlmicro.InputError, match="Drop it by hand"), target.taken_back([target]):
            warehouse.query("t", "CREATE VIEW memory.main.t AS SELECT 1 AS x")  # what DROP TABLE fails on
            raise ValueError
        warehouse.query("t", "DROP VIEW t")
        with target.taken_back([target]):
            warehouse.query("t", "CREATE TABLE memory.main.t AS SELECT 1 AS x")
        with pytest.raises(sqlmicro.InputError, match="not exist yet"), target.taken_back([target]):
            pass
        assert warehouse.query("t", "SELECT x FROM t") == [(1,)]


SHOP = "shop=mysql:database=shop"
CUSTOMERS = """CREATE DATABASE shop CHARACTER SET utf8mb4;
CREATE USER clerk@'127.0.0.1' IDENTIFIED BY 'sesame'; GRANT ALL ON shop.* TO clerk@'127.0.0.1';
CREATE TABLE shop.persons (id INT PRIMARY KEY, age INT NOT NULL, income DECIMAL(12, 2), city VARCHAR(40), year INT,
  born DATE, seen DATETIME(6));
INSERT INTO shop.persons WITH RECURSIVE t AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM t WHERE i < 59)
SELECT i, i * 37 % 41, i * i % 997 + 0.25, IF(i % 3, 'Łódź', NULL), 2020 + i % 2,
  DATE_ADD('1950-01-01', INTERVAL i * 111 DAY), '2020-01-01 12:00:00.5' FROM t"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], list[str]]]:
    """Start MariaDB on a free port of the loopback address; return what runs statements in it as root."""
    if not (shutil.which("mariadbd") and shutil.which("mariadb-install-db")):
        pytest.skip("needs: apt-get install mariadb-server")
    folder = Path(tmp_path_factory.mktemp("m"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = ["--no-defaults", f"--datadir={folder}/data", *(["--user=root"] if os.geteuid() == 0 else [])]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["mariadb-install-db", *own, "--auth-root-authentication-method=normal"], check=True, **quiet)
    places = [f"--socket={folder}/s", f"--pid-file={folder}/pid", "--bind-address=127.0.0.1", f"--port={port}"]
    server = subprocess.Popen(["mariadbd", *own, *places], **quiet)

    def sql(text: str) -> list[str]:
        root = ["--default-character-set=utf8mb4", f"--socket={folder}/s", "-u", "root", "-N", "-e", text]
        own_path = {"PATH": os.environ["PATH"]}  # MYSQL_PWD is the clerk's
        found = subprocess.run(["mariadb", "--no-defaults", *root], capture_output=True, text=True, env=own_path)
        assert found.returncode == 0, found.stderr
        return found.stdout.splitlines()

    try:
        while not (folder / "s").exists():
            assert server.poll() is None, "MariaDB did not start"
            time.sleep(0.1)
        sql(CUSTOMERS)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in (("HOST", "127.0.0.1"), ("TCP_PORT", str(port)), ("USER", "clerk"), ("PWD", "sesame")):
                patch.setenv(f"MYSQL_{name}", value)
            yield sql
    finally:
        server.terminate()
        server.wait()


@pytest.mark.slow
@needs("mysql_scanner")
def test_mysql_is_read_and_written(shop: Callable[[str], list[str]], tmp_path: Path) -> None:
    given: dict[str, Any] = {**OPTIONS, "columns": ["age", "income", "born"], "attach": SHOP}
    db = str(tmp_path / "own.duckdb")
    duckdb.connect(db).close()
    own = sqlmicro.mdav("shop.shop.persons", db=db, into="released", **given)
    with duckdb.connect(db, read_only=True) as con:
        classes = "SELECT min(n), sum(n) FROM (SELECT count(*) n FROM released GROUP BY age, income, born)"
        assert con.execute(classes).fetchall() == [(own["k"], ROWS)]
        assert con.execute("SELECT count(*) FROM released WHERE city = 'Łódź'").fetchall() == [(40,)]
    report = sqlmicro.mdav("shop.shop.persons", into="shop.shop.released", **given)
    in_mysql = classes.replace("born)", "born) AS t").replace("released", "shop.released")
    assert shop(in_mysql) == [f"{report['k']}\t{ROWS}"]
    assert shop("SELECT target, k FROM shop.sqlmicro_releases") == [f"shop.shop.released\t{report['k']}"]
    assert shop("SELECT count(*), min(passed) FROM shop.sqlmicro_audits") == ["3\t1"]
    with pytest.raises(sqlmicro.InputError, match="DuckDB or PostgreSQL"):
        sqlmicro.mdav("shop.shop.persons", in_place=True, **given)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(sqlmicro.InputError, match="does not accept") as caught:
        patch.setenv("MYSQL_PWD", "guessed")
        sqlmicro.mdav("shop.shop.persons", **given)
    assert "clerk" not in str(caught.value) and "MYSQL_PWD" in str(caught.value)


@pytest.mark.slow
@needs("mysql_scanner")
def test_texts_that_are_equal_to_mysql_alone_stay_apart(shop: Callable[[str], list[str]]) -> None:
    """By its collation bonn is Bonn: a filter or a GROUP BY that the server ran would count six persons as four."""
    shop("CREATE TABLE shop.cities AS SELECT 1 AS id, 'Bonn' AS city UNION ALL VALUES (2, 'bonn'), (3, 'BONN'), "
         "(4, 'Bonn '), (5, 'Zürich'), (6, 'Zurich')")  # fmt: skip
    assert shop("SELECT count(*) FROM shop.cities WHERE city = 'bonn'") == ["4"], "the control"
    asked = (
        "SELECT count(*) FROM m.shop.cities WHERE city = 'bonn'",
        "SELECT count(*) FROM (SELECT city FROM m.shop.cities GROUP BY city HAVING count(*) = 1)",
        "SELECT id FROM m.shop.cities ORDER BY city, id LIMIT 1",
    )

    def found(warehouse: DuckDBWarehouse) -> list[int]:
        return [warehouse.query("t", text)[0][0] for text in asked]

    with open_warehouse(None) as warehouse:
        attach.attach(warehouse, ["m=mysql:database=shop"])
        assert found(warehouse) == [1, 6, 3]
    with duckdb.connect(config={"allow_unsigned_extensions": "false"}) as con:
        con.execute(f"LOAD '{attach._in_wheel('mysql_scanner', f'v{duckdb.__version__}') or 'mysql_scanner'}'")
        con.execute("ATTACH 'database=shop' AS m (TYPE mysql)")
        pushed = con.execute(mysql.PUSHED).fetchall()
        with open_warehouse(Held(con)) as warehouse:
            assert found(warehouse) == [1, 6, 3]
        assert con.execute(mysql.PUSHED).fetchall() == pushed != []
        con.execute("SET lock_configuration = true")
        with pytest.raises(sqlmicro.InputError, match="locked settings"), open_warehouse(Held(con)):
            pass


@pytest.mark.slow
@needs("mysql_scanner")
def test_a_release_that_fails_its_audit_leaves_no_table_in_mysql(
    shop: Callable[[str], list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MySQL commits a table as it is made: it is dropped again, and what could not be taken back is refused."""
    given: dict[str, Any] = {**OPTIONS, "attach": SHOP}
    before = shop("SHOW TABLES FROM shop")
    with pytest.raises(sqlmicro.InputError, match="--overwrite"):
        sqlmicro.mdav("shop.shop.persons", into="shop.shop.replaced", overwrite=True, **given)
    job = tmp_path / "two.toml"
    part = (
        '[[table]]\nname = "shop.shop.persons"\nrest = "drop"\n[[table.step]]\ndo = "mdav"\ncolumns = ["age"]\nk = 3\n'
    )
    ends = [f'[[table.step]]\ndo = "publish"\ninto = "shop.shop.{name}"\n' for name in "ab"]
    job.write_text(f'attach = ["{SHOP}"]\n' + "".join(part + end for end in ends), encoding="utf-8")
    with pytest.raises(sqlmicro.InputError, match="Got several"):
        sqlmicro.run(str(job))
    real, seen = publish.audit_release, []

    def failing(*arguments: Any) -> Any:
        real(*arguments)
        seen.append(shop("SHOW TABLES FROM shop"))
        raise sqlmicro.AuditFailed("release", "must pass", "a failure", "")

    monkeypatch.setattr(publish, "audit_release", failing)
    with pytest.raises(sqlmicro.AuditFailed):
        sqlmicro.mdav("shop.shop.persons", into="shop.shop.failed", **given)
    assert "failed" in seen[0], "nothing was to be taken back"
    assert shop("SHOW TABLES FROM shop") == before


@pytest.mark.slow
@needs("mysql_scanner")
def test_ctrl_c_during_the_commit_takes_no_recorded_release_back(
    shop: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DuckDBWarehouse.execute

    def interrupted(self: DuckDBWarehouse, title: str, text: str, /, **params: Any) -> None:
        if text == "COMMIT":
            signal.raise_signal(signal.SIGINT)
        real(self, title, text, **params)

    monkeypatch.setattr(DuckDBWarehouse, "execute", interrupted)
    with pytest.raises(KeyboardInterrupt, match="what was asked for is written"):
        sqlmicro.mdav("shop.shop.persons", into="shop.shop.late", attach=SHOP, alone_because="a test", **OPTIONS)
    assert shop("SELECT count(*) FROM shop.late") == [str(ROWS)]
    assert shop("SELECT count(*) FROM shop.sqlmicro_releases WHERE target = 'shop.shop.late'") == ["1"]
