"""`audit --with`: a table together with releases of the same people, by the ledger or by a key that all have."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from command import run as command
from databases import insert, opened
from world import entry, execute, refused

import sqlmicro
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import AuditedWith
from sqlmicro.verbs import with_releases

ODD = 'net "income"'
GIVEN: dict[str, Any] = {"columns": ["age", ODD], "k": 4, "row_key": ["id"], "alone_because": "test"}


@pytest.fixture
def db(tmp_path: Path) -> str:
    """Two nights of 200 persons and one more, the releases `first` and `second`."""
    path, draw = str(tmp_path / "w.duckdb"), random.Random(1)
    rows = ", ".join(f"({i}, {draw.randrange(18, 90)}, {draw.randrange(1000)})" for i in range(200))
    execute(path, f'CREATE TABLE persons AS SELECT * FROM (VALUES {rows}) AS t(id, age, "net ""income""")')
    sqlmicro.mdav("persons", db=path, into="first", **GIVEN)
    execute(path, "INSERT INTO persons VALUES (999, 50, 500)")
    return path


def found(report: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    names = ("union-k", "differences", "union-l")
    return {row["check"]: (row["value"], row["threshold"], row["passed"], row["status"]) for row in report["audits"]
            if row["check"] in names}  # fmt: skip


@pytest.mark.slow
def test_what_a_publish_measured_is_measured_again(db: str) -> None:
    published = sqlmicro.mdav("persons", db=db, into="second", **GIVEN)
    values = {row["check"]: row["value"] for row in published["audits"]}
    for name in ("first", "1"):
        assert found(sqlmicro.audit("second", db=db, with_=[name])) == {
            "union-k": (values["union-k"], None, None, "measured"),
            "differences": (values["differences"], None, None, "measured"),
        }
    assert values["differences"] == 1  # the newcomer
    done = command("audit", "--table", "second", "--db", db, "--with", "first", "--min-union-k", "4")
    assert (done.returncode, "union-k" in done.stdout) == (1, True)
    assert "999" not in done.stdout + done.stderr
    execute(db, "CREATE TABLE kept AS FROM persons")
    assert found(sqlmicro.audit("first", db=db, with_=["first"], min_union_k=4))["union-k"] == (4, 4, True, "passed")


@pytest.mark.slow
def test_what_cannot_be_measured_is_said(db: str) -> None:
    sqlmicro.mdav("persons", db=db, into="second", **GIVEN)
    for given, said in (
        ({"table": "second", "with_": ["nowhere"]}, "must be a release that the ledger knows"),
        ({"table": "persons", "with_": ["first"]}, "Name the columns that all of them have with --match"),
    ):
        with pytest.raises(InputError, match=said):
            sqlmicro.audit(db=db, **given)
    with pytest.raises(ParameterError, match="no --with"):
        sqlmicro.audit("second", db=db, min_union_k=3, quasi=["age"])
    sqlmicro.ledger("withdraw", 1, reason="deleted", db=db)
    with pytest.raises(InputError, match="none of release 1"):
        sqlmicro.audit("second", db=db, with_=["1"])


@pytest.mark.slow
def test_files_have_their_ledger(db: str, tmp_path: Path) -> None:
    """The release of a file is known by where the file is; the ledger is the user's, or the one that is named."""
    rows, ledger = tmp_path / "p.csv", str(tmp_path / "ledger.duckdb")
    rows.write_text("id,age\n" + "\n".join(f"{i},{18 + i * 7 % 60}" for i in range(60)))
    given: dict[str, Any] = {"columns": ["age"], "row_key": ["id"], "k": 3, "alone_because": "test", "ledger": ledger}
    one, two = str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")
    sqlmicro.mdav(str(rows), to=one, **given)
    rows.write_text(rows.read_text() + "\n900,41")
    sqlmicro.mdav(str(rows), to=two, **given)
    report = sqlmicro.audit(two, with_=[one], ledger=ledger)
    assert found(report)["differences"][0] == 1
    with pytest.raises(InputError, match="must be the ledger of the releases"):
        sqlmicro.audit(two, with_=[one], ledger=str(tmp_path / "none.duckdb"))


@pytest.mark.slow_but("1")
@pytest.mark.parametrize("seed", range(3))
def test_by_a_key_that_all_have_it_is_plain_python(tmp_path: Path, seed: int) -> None:
    """Tables of any origin, other columns each, persons who come and leave; a table and a file."""
    draw, path = random.Random(seed), str(tmp_path / "t.duckdb")
    told: dict[int, set[tuple[Any, ...]]] = defaultdict(set)
    for name, columns in (("a", ["id", ODD, "s"]), ("b", ["y", "id"]), ("c", [ODD, "id", "y"])):
        rows = [[draw.choice([None, 1.5, -0.0, 0.0]) if c != "id" else i for c in columns]
                for i in range(30) if draw.random() < 0.95]  # fmt: skip
        types = ", ".join(f'"{c.replace(chr(34), chr(34) * 2)}" {"INT" if c == "id" else "DOUBLE"}' for c in columns)
        with opened(path) as connection:
            connection.execute(f"CREATE TABLE {name} ({types})")
            insert(connection, name, rows)
            connection.execute(f"COPY {name} TO '{tmp_path}/{name}.parquet'")
        for row in rows:
            values = dict(zip(columns, row, strict=True))
            told[values["id"]].add((name, *(str(values[c]) for c in columns if c not in ("id", "s"))))
    alike = Counter(frozenset(of) for of in told.values())
    report = sqlmicro.audit(
        "a", db=path, quasi=[ODD], sensitive=["s"], match=["id"], with_=["b", f"{tmp_path}/c.parquet"]
    )
    assert found(report)["union-k"][0] == min(alike.values())
    with pytest.raises(ParameterError, match="must be columns of b too"):
        sqlmicro.audit("a", db=path, quasi=[ODD], match=["id", "s"], with_=["b"])


@pytest.mark.parametrize(
    ("units", "said"), [(("row key: id", "person: p"), "known by the same columns"), (("person: p",) * 2, "")]
)
def test_persons_that_are_known_by_other_columns_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, units: tuple[str, str], said: str
) -> None:
    there = [entry(number, unit=unit) for number, unit in enumerate(units, 1)]
    for name, found in (("records_in", None), ("refuse_other", None), ("_remembered", "compared")):
        monkeypatch.setattr(with_releases, name, lambda *_, found=found: found)
    monkeypatch.setattr(with_releases.ledger, "entries", lambda *_: there)
    monkeypatch.setattr(with_releases.union, "forgotten", lambda *_: [])
    asked = AuditedWith(table="1", with_=("2",))
    with refused(said) if said else nullcontext():
        assert with_releases._by_ledger(None, None, asked) == "compared"  # type: ignore[arg-type,comparison-overlap]
