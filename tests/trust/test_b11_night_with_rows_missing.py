"""A night whose source was loaded in part is not published: its classes would close for good."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import run
from databases import opened

METHODS = {
    "mdav": ("mdav", "--columns", "age,income", "--row-key", "id", "--k", 4),
    "moves": ("mdav", "--columns", "age,income", "--row-key", "id", "--k", 4, "--moves"),
    "individual-ranking": ("individual-ranking", "--columns", "age,income", "--row-key", "id", "--k", 4),
    "noise": ("noise", "--columns", "age", "--amount", "0.1", "--row-key", "id"),
    "safe": ("safe", "--columns", "sex,region", "--k", 3, "--effort", "fast", "--nulls", "error"),
}
SLOW = [pytest.param(name, marks=[] if name == "mdav" else pytest.mark.slow) for name in METHODS]


def make(folder: Path, rows: int = 100) -> Path:
    db = folder / "w.duckdb"
    with opened(db) as connection:
        connection.execute(
            f"CREATE TABLE persons AS SELECT i AS id, 18 + i * 7 % 60 AS age, i * 37 % 1000 AS income, "
            f"['f', 'm'][1 + i % 2] AS sex, ['N', 'S', 'E'][1 + i // 2 % 3] AS region FROM range({rows}) AS r(i)"
        )
    return db


def night(db: Path, day: int, method: str, *more: object):  # type: ignore[no-untyped-def]
    return run(
        *METHODS[method], "--db", db, "--table", "persons", "--rest", "drop", "--into", "out", "--overwrite",
        "--series", "nightly", "--night", f"2026-01-{day:02}", *more,
    )  # fmt: skip


def asked(db: Path, text: str) -> list[tuple[object, ...]]:
    with opened(db) as connection:
        found: list[tuple[object, ...]] = connection.execute(text).fetchall()
        return found


@pytest.mark.parametrize("method", SLOW)
def test_a_source_that_lost_more_than_a_fifth_is_not_published(tmp_path: Path, method: str) -> None:
    db = make(tmp_path)
    assert night(db, 1, method).returncode == 0
    before = asked(db, "SELECT max(id) FROM sqlmicro.releases"), asked(db, "FROM out ORDER BY ALL")
    asked(db, "DELETE FROM persons WHERE id >= 79")  # 21 of 100
    refused = night(db, 2, method)
    assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
    told = " ".join(refused.stderr.split())
    assert "may lose 20 % of its rows from night to night (--max-loss-of-rows)" in told
    assert "about 79 rows, where the last night had about 100: a loss of 21 %" in told
    assert "--max-loss-of-rows 22%" in told
    assert before == (asked(db, "SELECT max(id) FROM sqlmicro.releases"), asked(db, "FROM out ORDER BY ALL"))
    assert night(db, 2, method, "--max-loss-of-rows", "20%").returncode == 2
    if method != "safe":  # whose file may have to stay where it may change by k rows only
        done = night(db, 2, method, "--max-loss-of-rows", "22%")
        assert done.returncode == 0, done.stderr
        assert night(db, 3, method).returncode == 0, "that night is the one to be compared with"


def test_a_fifth_may_be_lost_and_night_by_night_it_is_the_last_one_that_counts(tmp_path: Path) -> None:
    db = make(tmp_path)
    assert night(db, 1, "mdav").returncode == 0
    asked(db, "DELETE FROM persons WHERE id >= 80")
    assert night(db, 2, "mdav").returncode == 0
    asked(db, "DELETE FROM persons WHERE id >= 63")
    refused = night(db, 3, "mdav")
    assert refused.returncode == 2 and "about 63 rows, where the last night had about 80" in " ".join(
        refused.stderr.split()
    )


@pytest.mark.parametrize("method", SLOW)
def test_an_emptied_table_is_refused_in_words(tmp_path: Path, method: str) -> None:
    db = make(tmp_path)
    assert night(db, 1, method).returncode == 0
    rows = asked(db, "SELECT count(*) FROM out")
    asked(db, "DELETE FROM persons")
    for more in ((), ("--max-loss-of-rows", "100%")):
        refused = night(db, 2, method, *more)
        assert (refused.returncode, refused.stdout) == (2, ""), refused.stderr
        assert "rows" in refused.stderr or "records" in refused.stderr
        assert "fault" not in refused.stderr
    assert asked(db, "SELECT count(*) FROM out") == rows


def test_the_option_goes_with_a_series(tmp_path: Path) -> None:
    db = make(tmp_path)
    given = ("--db", db, "--table", "persons", "--rest", "drop", "--into", "out")
    refused = run(*METHODS["mdav"], *given, "--max-loss-of-rows", "50%")
    assert refused.returncode == 2 and "goes with a series" in refused.stderr
