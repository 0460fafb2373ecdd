"""The audit reads what was written, not what was meant to be: a writer that errs publishes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from databases import opened

import sqlmicro
from sqlmicro.database import templates
from sqlmicro.publish import publish

ROWS = 200
USED: dict[str, Any] = {"columns": ["age", "income"], "keep": ["id"], "accept_unique": ["id"], "k": 5}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "w.duckdb"
    with opened(path) as con:
        con.execute(
            "CREATE TABLE persons AS SELECT i AS id, (i * 37) % 90 AS age, sqrt(i) AS income FROM range(?) r(i)", [ROWS]
        )
    return path


def query(db: Path, text: str) -> list[tuple[Any, ...]]:
    with opened(db) as con:
        return con.execute(text).fetchall()


# What a writer may do wrong: the first leaves as many records as there were.
WRONG = {
    "one record is another": "SELECT * REPLACE (CASE WHEN id = 3 THEN -1 ELSE age END AS age) FROM ({})",
    "the original": "SELECT r.id, o.age, r.income FROM ({}) r JOIN main.persons o ON o.id = r.id",
    "one is missing": "SELECT * FROM ({}) WHERE id <> 3",
    "one is there twice": "FROM ({0}) UNION ALL (FROM ({0}) LIMIT 1)",
    "nothing": "SELECT * FROM ({}) WHERE false",
}


FIRST = next(iter(WRONG))
CASES = [("table", what) for what in WRONG] + [
    ("in place", FIRST),
    ("x.csv", FIRST),
    ("x.parquet", FIRST),
    ("folder", FIRST),
]


QUICK = [("table", FIRST), ("in place", FIRST), ("x.csv", FIRST)]


@pytest.mark.parametrize(
    ("to", "what"),
    [pytest.param(*case, id=", ".join(case), marks=[] if case in QUICK else [pytest.mark.slow]) for case in CASES],
)
def test_what_is_written_wrongly_is_not_published(
    db: Path, monkeypatch: pytest.MonkeyPatch, to: str, what: str
) -> None:
    """The staging relation stays right: an audit of that would pass."""
    folder = db.parent
    target: dict[str, Any] = {
        "table": {"into": "released"}, "in place": {"in_place": True, "no_purge": True},
        "folder": {"to": str(folder / "f"), "partition_by": ["id"]},
    }.get(to, {"to": str(folder / to)})  # fmt: skip
    real = publish.select_of
    monkeypatch.setattr(publish, "select_of", lambda *given: templates.Sql(WRONG[what].format(real(*given))))
    before = query(db, "FROM persons ORDER BY ALL")
    with pytest.raises(sqlmicro.AuditFailed, match="must keep what its methods promise") as caught:
        sqlmicro.mdav("persons", db=str(db), **USED, **target)
    assert caught.value.exit_code == 1
    assert query(db, "FROM persons ORDER BY ALL") == before
    assert query(db, "SELECT count(*) FROM duckdb_tables()") == [(1,)]
    assert [path.name for path in folder.iterdir()] == ["w.duckdb"]
    monkeypatch.undo()
    sqlmicro.mdav("persons", db=str(db), **USED, **target)


# Comments

BREAKS = ("\n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\x00", "\x1b[2J", "\u202e", "\n\n")
HOSTILE = [*(f"a{broken}DROP TABLE t" for broken in BREAKS), "--\n; DROP TABLE t"]


def test_a_comment_is_one_printable_line_whatever_is_in_it() -> None:
    """What stands behind it is a statement of ours, and nothing of it another one."""
    for text in HOSTILE:
        written = templates.comment(text)
        assert written.isprintable() or not written, repr(text)
        made = templates.statement("-- {{ said | comment }}\nSELECT 1 AS one", said=text)
        assert made.splitlines()[1:] == ["SELECT 1 AS one"], repr(text)
        assert duckdb.sql(made).fetchall() == [(1,)]
    with duckdb.connect() as con:
        con.execute("CREATE TABLE t (x INTEGER)")
        for text in HOSTILE:
            con.execute(templates.statement("-- {{ said | comment }}\nSELECT 1", said=text))
        assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == [(1,)]
    assert templates.comment("pandas DataFrame, loaded") == "pandas DataFrame, loaded"
