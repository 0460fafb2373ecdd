"""A condition that somebody gives as SQL is over columns of its table, by DuckDB's own functions, and nothing else."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import opened

import sqlmicro
from sqlmicro.database.columns import make_columns
from sqlmicro.database.conditions import condition, rows_where
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.errors import ParameterError, SqlmicroError

DAY = (date(2025, 3, 1) - date(1970, 1, 1)).days
HELD = {
    "last_visit < current_date - INTERVAL 2 YEAR": [1],
    "Last_Visit < current_date - INTERVAL 2 YEAR -- a remark": [1],
    "today() - 400 > last_visit": [1, 2],
    "extract(year FROM last_visit) = 2023 OR \"x; y\" LIKE 'b%'": [2],
    "\"x; y\" IN ('a', 'b') AND NOT last_visit > DATE '2024-01-01'": [1, 2],
    "CASE WHEN last_visit IS NULL THEN \"x; y\" = 'd' ELSE false END": [4],
    'TRY_CAST("x; y" AS INTEGER) > 1': [],
    "last_visit BETWEEN '2023-01-01' AND '2023-12-31'": [2],
}
REFUSED = {
    "id < (SELECT max(id) FROM secrets)": "a subquery", "EXISTS (FROM secrets)": "a subquery",
    "mine(id)": "mine", "lower(\"x; y\") = 'a' AND mine(id)": "mine", "main.lower(\"x; y\") = 'a'": "schema",
    "random() < 0.5 AND id > 0": "random", "last_visit < now()": "now", "getenv('HOME') = \"x; y\"": "getenv",
    "getvariable('k') = \"x; y\"": "getvariable", "current_setting('threads') = id": "current_setting",
    "nextval('s') > id": "nextval", "error(\"x; y\")": "error", "list_sum([id]) = 1": "list_sum",
    "id = ?": "a parameter", "id = $1": "a parameter", "id > 0 ORDER BY 1": "more than a condition",
    "id > 0) UNION SELECT (true": "does not read",
    "id > 0 UNION SELECT true": "more than a condition",
    "id > 0; DROP TABLE persons": "does not read",
    "id > 0) OR (": "does not read", "": "does not read",
    "id > 0 LIMIT 1": "more than a condition", "id > 0 GROUP BY id": "more than a condition",
    "true": "no column", "1 = 1": "no column",
    "sum(id) > 1": "sum", "row_number() OVER () > id": "a window function",
    "list_filter([id], lambda x: x > 0) = [id]": "a lambda", "\"x; y\" = 'a' COLLATE nocase": "a collation",
    "salary > 1": "salary, which is no column", "persons.id > 1": "persons.id, which is no column",
    "secrets.id > 1": "no column", "columns(*) > 1": "*", "read_text('/etc/passwd') = \"x; y\"": "read_text",
    "id::main.mood = 'sad'": "schema", "rowid > 3": "rowid, which is no column",
    "last_visit < current_localtimestamp()": "current_localtimestamp",
}  # fmt: skip


def test_a_condition_is_what_duckdb_reads_in_it_and_no_more(tmp_path: Path) -> None:
    with opened(tmp_path / "w.duckdb") as con:
        con.execute('CREATE TABLE persons (id INTEGER, last_visit DATE, "x; y" VARCHAR)')
        con.execute("INSERT INTO persons VALUES (1, '2022-05-05', 'a'), (2, '2023-08-08', 'b'), (3, '2025-02-02', 'c')")
        con.execute("INSERT INTO persons VALUES (4, NULL, 'd')")
        con.execute("CREATE TABLE secrets AS SELECT 3 AS id")
        con.execute("CREATE SEQUENCE s")
        con.execute("CREATE TYPE mood AS ENUM ('sad')")
        con.execute("CREATE MACRO mine(x) AS x = (SELECT max(id) FROM secrets)")
        con.execute("CREATE MACRO to_years(x) AS INTERVAL 0 DAY")
        con.execute("CREATE MACRO date_part(x, y) AS 2023")
    with open_warehouse(str(tmp_path / "w.duckdb"), read_only=True) as warehouse:
        relation = warehouse.full(Name("", "", "persons"))
        columns = make_columns(warehouse.describe(relation))
        for text, expected in HELD.items():
            view = rows_where(warehouse, relation, condition(warehouse, columns, text, DAY), "held")
            assert sorted(row["id"] for row in warehouse.table(view).to_pylist()) == expected, text
        for text, told in REFUSED.items():
            if "main." in text and duckdb.__version__ < "2":  # there it is `lower`, and a type has no schema
                continue
            with pytest.raises(ParameterError) as found:
                condition(warehouse, columns, text, DAY)
            assert told in str(found.value), text
        unlike = condition(warehouse, columns, "id = last_visit", DAY)
        with pytest.raises(ParameterError, match="cannot be computed"):
            rows_where(warehouse, relation, unlike, "held")
        value = condition(warehouse, columns, 'CAST("x; y" AS INTEGER) = 1', DAY)
        with pytest.raises(ParameterError) as found:
            rows_where(warehouse, relation, value, "held")
        assert "'a'" not in str(found.value) and found.value.__cause__ is None


JOB: dict[str, Any] = {
    "columns": ["age"], "keep": ["born"], "accept_unique": ["born"], "rest": "drop", "row_key": ["id"], "k": 3,
    "in_place": True, "series": "s", "only_where": "born < current_date", "no_purge": True, "night": "2025-01-01",
}  # fmt: skip


def test_what_cannot_be_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    db = str(tmp_path / "w.duckdb")
    with opened(db) as con:
        con.execute("CREATE TABLE persons AS SELECT i AS id, i + 20 AS age, DATE '2024-12-01' + i::INTEGER AS born "
                    "FROM range(60) r(i)")  # fmt: skip
        con.execute("CREATE VIEW seen AS FROM persons")
        before = con.execute("FROM persons").fetchall()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"in_place": False, "no_purge": False, "into": "x"}, "no --in-place"),
        ({"only_where": None, "waiting": "empty"}, "--waiting"), ({"only_where": None}, "--only-where"),
        ({"moves": True}, "--moves"), ({"epoch": True}, "--epoch"), ({"widen": True}, "--widen"),
        ({"watermark": "born"}, "--watermark"), ({"row_key": []}, "--row-key"), ({"nulls": "suppress"}, "--nulls"),
        ({"columns": ["age", "id"]}, "it stays in the table"), ({"only_where": "born < DATE '2024-12-03'"}, "fewer"),
    ]  # fmt: skip
    for given, told in cases:
        with pytest.raises(SqlmicroError) as found:
            sqlmicro.mdav("persons", db=db, **{**JOB, **given})
        assert told in str(found.value), given
    with pytest.raises(ParameterError, match="gives groups of records a mean"):
        sqlmicro.suppress("persons", db=db, **JOB)
    with opened(db) as con:
        assert con.execute("FROM persons").fetchall() == before
    sqlmicro.mdav("persons", db=db, **JOB)
    for given, told in [
        ({"series": None}, "--series s"),
        ({"series": "t"}, "--series s"),
        ({"night": "2024-12-31"}, "order"),
        ({"k": 4}, "k"),
    ]:
        with pytest.raises(SqlmicroError) as found:
            sqlmicro.mdav("persons", db=db, **{**JOB, **given})
        assert told in str(found.value), given
        assert "--epoch" not in str(found.value), "it is refused here"
