"""Two releases of the same people are measured together: what the union keeps, against plain Python."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections import Counter, defaultdict
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from command import run as command
from world import ODD, QUOTED, entry, execute, refused, rows, warehouse

import sqlmicro
from sqlmicro.audits.registry import Check
from sqlmicro.database import opening, unfinished
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.history import ledger, remembered
from sqlmicro.history.union import Union
from sqlmicro.pipeline import Log
from sqlmicro.publish import consult

TABLES = int(os.environ.get("TABLES", "21"))
METHODS = ("mdav", "kanonymeans", "mondrian", "k_ward", "suppress", "microaggregate")
QUICK = 3  # tables, each of another method
EVERY_VALUE = """INSERT INTO sqlmicro.class_values
  SELECT c.release, c.column_name, c.class, o.value FROM sqlmicro.class_values AS c, sqlmicro.class_values AS o"""
GIVEN: dict[str, Any] = {"columns": ["age", ODD], "k": 4, "row_key": ["id"], "seed": "1"}


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "w.duckdb")
    draw = random.Random(1)
    rows = ", ".join(f"({i}, {draw.randrange(18, 90)}, {draw.randrange(1000)})" for i in range(200))
    execute(path, f"CREATE TABLE persons AS SELECT * FROM (VALUES {rows}) AS t(id, age, {QUOTED})")
    return path


def released(db: str, into: str, **more: Any) -> dict[str, Any]:
    return sqlmicro.mdav("persons", db=db, into=into, **{**GIVEN, **more})


def unions(report: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(row["value"], row["threshold"], row["passed"]) for row in report["audits"] if row["check"] == "union-k"]


def test_the_newcomer_of_the_next_night_is_not_published(db: str) -> None:
    released(db, "first")
    execute(db, "INSERT INTO persons VALUES (999, 50, 500)")
    with pytest.raises(AuditFailed, match=r"classes with fewer than 4, together with release 1 \(first\)") as no:
        released(db, "second")
    assert "differences of totals about fewer than 4 persons: " in str(no.value)
    assert "999" not in str(no.value)
    tables = execute(db, "SELECT table_name FROM duckdb_tables() ORDER BY ALL")[0]
    assert ("second",) not in tables
    assert execute(db, "SELECT max(id) FROM sqlmicro.releases", "SELECT max(release) FROM sqlmicro.memory") == [
        [(1,)], [(1,)]
    ]  # fmt: skip


@pytest.mark.slow
def test_a_corrected_value_is_told_by_the_difference_of_two_means(tmp_path: Path) -> None:
    """All persons keep their classes: five times the difference of two means is how much one value has changed."""
    db = str(tmp_path / "w.duckdb")
    execute(db, "CREATE TABLE persons AS SELECT i AS id, (i // 5) * 20.0 + i % 5 AS age, "
                f"i // 5 * 1e3 + i % 5 AS {QUOTED} FROM range(20) AS r(i)")  # fmt: skip
    released(db, "first", k=5)
    execute(db, f"UPDATE persons SET {QUOTED} = {QUOTED} + 5 WHERE id = 3")
    with pytest.raises(AuditFailed, match="Got differences of totals about fewer than 5 persons: 1, on 1 of them, tog"):
        released(db, "second", k=5)
    report = released(db, "second", k=5, alone_because="a test")
    means = execute(db, f"SELECT sum({QUOTED}) FROM first", f"SELECT sum({QUOTED}) FROM second")
    assert means[1][0][0] - means[0][0][0] == 5
    assert unions(report) == [(5, 5, True)]
    # What is published is the same again, so that nothing is told: a recoding does not know the value.
    execute(db, f"UPDATE persons SET {QUOTED} = {QUOTED} + 5 WHERE id = 3")
    recoded: dict[str, Any] = {
        "columns": ["age", ODD], "width": ["age=100", f"{ODD}=10000"], "until_k": 5, "row_key": ["id"], "rest": "drop",
    }  # fmt: skip
    for into in ("wide", "wide_again"):
        sqlmicro.generalize("persons", db=db, into=into, **recoded, alone_because="a test" if into == "wide" else None)
        execute(db, f"UPDATE persons SET {QUOTED} = {QUOTED} + 5 WHERE id = 3",
                "DROP TABLE IF EXISTS first", "DROP TABLE IF EXISTS second")  # fmt: skip


def test_the_same_night_again_tells_nothing_new(db: str) -> None:
    released(db, "first")
    assert unions(released(db, "again")) == [(4, 4, True)]
    first, again = execute(db, "FROM first", "FROM again")
    assert first == again


def test_the_same_night_again_tells_nothing_new_of_persons_with_many_rows(tmp_path: Path) -> None:
    """A person shares the classes of all of her rows with nobody, in one release already."""
    db = str(tmp_path / "w.duckdb")
    draw = random.Random(4)
    visits = ", ".join(f"({draw.randrange(40)}, {draw.randrange(90)}, {draw.randrange(1000)})" for _ in range(200))
    execute(db, f"CREATE TABLE persons AS SELECT * FROM (VALUES {visits}) AS t(id, age, {QUOTED})")
    given = {"row_key": [], "person": ["id"], "rest": "drop"}
    first = released(db, "first", **given)
    again = released(db, "again", **given)
    assert "nothing new: release 1 (first) is the same, of the same persons" in again["notes"]
    assert (again["verdict"]["status"], again["output_hash"]) == ("held", first["output_hash"])
    assert released(db, "again", **given, overwrite=True)["verdict"]["status"] == "held"
    with pytest.raises(AuditFailed, match="40 of 40 persons share their classes with fewer than 5, together with"):
        released(db, "third", **given, k=5)
    execute(db, f"UPDATE persons SET {QUOTED} = {QUOTED} + 1 WHERE id = 3")
    with pytest.raises(AuditFailed, match="differences of totals about fewer than 4 persons"):
        released(db, "third", **given)


def test_one_row_more_or_another_value_of_one_row_is_new(tmp_path: Path) -> None:
    """Classes, and the values that each has, stay the same: the rows of two releases differ, so they are measured."""
    db = str(tmp_path / "w.duckdb")
    execute(db, "CREATE TABLE persons AS SELECT i % 40 AS id, 20 + i % 40 // 10 AS age, "
                "['ok', 'flu'][1 + i % 2] AS ill FROM range(200) AS r(i)")  # fmt: skip
    given: dict[str, Any] = {
        "columns": ["age"], "keep": ["ill"], "sensitive": ["ill"], "min_l": 2, "row_key": [], "person": ["id"],
    }  # fmt: skip
    released(db, "first", **given, rest="drop")
    for change in ("INSERT INTO persons VALUES (3, 20, 'flu')", "UPDATE persons SET ill = 'ok' WHERE id = 3"):
        execute(db, change)
        report = released(db, "second", **given, rest="drop", overwrite=True)
        assert unions(report)[0] == (10, 4, True) and not any("nothing new" in note for note in report["notes"])
    assert unions(released(db, "second", **given, rest="drop", overwrite=True, min_union_k=3))


@pytest.mark.slow
def test_what_is_replaced_is_measured_but_not_demanded(db: str) -> None:
    released(db, "nightly")
    execute(db, "DELETE FROM persons WHERE id < 3")
    report = released(db, "nightly", overwrite=True)
    ((fewest, needed, passed),) = unions(report)
    assert (fewest < 4, needed, passed) == (True, None, None)
    assert report["verdict"]["status"] == "lowered"
    assert f"held, but k = {fewest:.0f} together with other releases" in report["verdict"]["headline"]
    execute(db, "DELETE FROM persons WHERE id < 5")
    with pytest.raises(AuditFailed, match="share their classes"):
        released(db, "nightly", overwrite=True, min_union_k=2)
    assert [row["state"] for row in sqlmicro.ledger(db=db)["releases"]] == ["replaced", "out"]


def test_alone_is_said_and_kept(db: str) -> None:
    released(db, "first")
    execute(db, "INSERT INTO persons VALUES (999, 50, 500)")
    report = released(db, "second", alone_because="two parties that never meet")
    assert report["verdict"]["status"] == "lowered"
    assert any("share their classes with fewer than 4" in note for note in report["notes"])
    entry = sqlmicro.ledger(db=db)["releases"][1]
    assert (entry["alone_because"], entry["state"], entry["intact"]) == ("two parties that never meet", "out", True)


@pytest.mark.slow
def test_a_check_of_a_release_alone_says_what_it_found(db: str) -> None:
    """What passed was recorded as passed over, and what was passed over was printed as FAILED."""
    released(db, "first")
    given = ("mdav", "--db", db, "--table", "persons", "--columns", 'age,net "income"', "--k", "4", "--row-key", "id",
             "--seed", "1", "--alone-because", "two parties that never meet", "--details")  # fmt: skip
    same = command(*given, "--into", "again")
    assert re.findall(r"(?:differences|union-k): \d+, needed 4, (.*)", same.stdout) == ["passed", "passed"]
    assert execute(db, "SELECT DISTINCT passed FROM sqlmicro.audits WHERE threshold IS NOT NULL") == [[(True,)]]
    execute(db, "INSERT INTO persons VALUES (999, 50, 500)")
    less = command(*given, "--into", "second")
    assert re.findall(r"(?:differences|union-k): \d+, needed 4, (.*)", less.stdout) == ["passed over", "passed over"]


@pytest.mark.slow
def test_what_nobody_has_any_more_does_not_count(db: str, tmp_path: Path) -> None:
    released(db, "first")
    execute(db, "DROP TABLE first", "INSERT INTO persons VALUES (999, 50, 500)")
    assert unions(released(db, "second")) == []
    sqlmicro.mdav("persons", db=db, to=str(tmp_path / "o.parquet"), **GIVEN)
    (tmp_path / "o.parquet").unlink()
    execute(db, "DELETE FROM persons WHERE id IN (3, 4)", "DROP TABLE second")
    with pytest.raises(AuditFailed, match=r"o\.parquet"):  # a file is out for ever
        released(db, "third")
    with pytest.raises(InputError, match="names a release"):
        sqlmicro.ledger("withdraw", 9, reason="x", db=db)
    with pytest.raises(ParameterError, match="the reason why nobody has it"):
        sqlmicro.ledger("withdraw", 3, db=db)
    sqlmicro.ledger("withdraw", 3, reason="deleted before anybody saw it", db=db)
    with pytest.raises(InputError, match="once"):
        sqlmicro.ledger("withdraw", 3, reason="again", db=db)
    assert unions(released(db, "third")) == []
    states = {row["release"]: row["state"] for row in sqlmicro.ledger(db=db)["releases"]}
    assert states == {1: "gone", 2: "gone", 3: "withdrawn", 4: "out"}


@pytest.mark.slow
def test_what_cannot_be_measured_was_not_kept(db: str) -> None:
    execute(db, "ALTER TABLE persons DROP id")
    sqlmicro.mdav("persons", db=db, columns=["age"], rest="drop", k=4, into="first")
    with pytest.raises(AuditFailed, match="known by other columns there"):
        sqlmicro.mdav("persons", db=db, columns=[ODD], rest="drop", k=4, into="second")
    execute(db, "UPDATE persons SET age = age + 500 WHERE rowid < 150")
    with pytest.raises(AuditFailed, match="most records have changed"):
        sqlmicro.mdav("persons", db=db, columns=["age"], rest="drop", k=4, into="second")


@pytest.mark.slow
def test_what_a_sensitive_column_has_left_is_measured(tmp_path: Path) -> None:
    """Two nights of one person: the classes have four diagnoses and two, of which they share one (Xiao & Tao 2007)."""
    db = str(tmp_path / "d.duckdb")
    rows = [(i, 20 + i, "abcd"[i % 4]) for i in range(8)]
    execute(db, f"CREATE TABLE p AS SELECT * FROM (VALUES {', '.join(map(str, rows))}) AS t(id, age, d)")
    given = {"columns": ["age"], "sensitive": ["d"], "min_l": 2, "k": 4, "row_key": ["id"], "accept_unique": ["d"]}
    sqlmicro.mdav("p", db=db, into="first", **given)
    execute(db, "UPDATE p SET d = CASE id % 2 WHEN 0 THEN 'a' ELSE 'z' END")
    with pytest.raises(AuditFailed, match="8 of 8 persons have fewer than 2 values of d left") as no:
        sqlmicro.mdav("p", db=db, into="second", **given)
    assert "persons share" not in str(no.value)
    report = sqlmicro.mdav("p", db=db, into="first", overwrite=True, **given)
    found = [row for row in report["audits"] if row["check"] == "union-l"]
    assert [(row["columns"], row["value"], row["threshold"]) for row in found] == [(["d"], 1, None)]


@pytest.mark.slow_but("DELETE FROM sqlmicro.class_values")
@pytest.mark.parametrize(
    "change", ["DROP TABLE sqlmicro.class_values", "DELETE FROM sqlmicro.class_values", EVERY_VALUE]
)
def test_what_is_remembered_of_sensitive_values_is_what_was_published(tmp_path: Path, change: str) -> None:
    """Every class seemed to have had every diagnosis, or none was compared: the next release passed."""
    db = str(tmp_path / "d.duckdb")
    execute(db, "CREATE TABLE p AS SELECT range AS id, 20 + range AS age, 'abcd'[1 + range % 4] AS d FROM range(8)")
    given = {"columns": ["age"], "sensitive": ["d"], "min_l": 2, "k": 4, "row_key": ["id"], "accept_unique": ["d"]}
    sqlmicro.mdav("p", db=db, into="first", **given)
    execute(db, "UPDATE p SET d = CASE id % 2 WHEN 0 THEN 'a' ELSE 'z' END", change)
    with pytest.raises(AuditFailed, match="the classes of release 1 are not remembered"):
        sqlmicro.mdav("p", db=db, into="second", **given)


@pytest.mark.slow
def test_what_is_remembered_of_contents_is_what_was_published(tmp_path: Path) -> None:
    """Else a key that stands for other persons tonight is not seen."""
    db = str(tmp_path / "d.duckdb")
    execute(
        db, "CREATE TABLE p (id INTEGER PRIMARY KEY, age INTEGER)", "INSERT INTO p SELECT i, i * 3 FROM range(40) r(i)"
    )
    given = {"columns": ["age"], "k": 4, "rest": "drop"}
    sqlmicro.mdav("p", db=db, into="first", **given)
    assert unions(sqlmicro.mdav("p", db=db, into="again", **given)) == [(4, 4, True)]
    execute(db, "UPDATE sqlmicro.contents SET value = value + 1 WHERE release = 2")
    with pytest.raises(AuditFailed, match="the classes of release 2 are not remembered"):
        sqlmicro.mdav("p", db=db, into="third", **given)


def test_a_renamed_copy_is_of_the_same_people(db: str) -> None:
    released(db, "first")
    execute(db, "CREATE TABLE copied AS FROM persons", "DELETE FROM copied WHERE id = 7")
    with pytest.raises(AuditFailed, match="release 1"):
        sqlmicro.mdav("copied", db=db, into="second", **GIVEN)


def test_records_are_known_again_where_a_step_draws(db: str, tmp_path: Path) -> None:
    """Without a row key they are known by their content, which is the same where equal ones are told apart to draw."""
    execute(db, f"CREATE TABLE nameless AS SELECT age, {QUOTED} FROM persons")
    given: dict[str, Any] = {"columns": ["age", ODD], "k": 4}
    sqlmicro.mdav("nameless", db=db, into="first", **given)
    job = tmp_path / "job.toml"
    job.write_text(
        f"db = '{db}'\ntable = 'nameless'\n[[step]]\ndo = 'noise'\ncolumns = ['age']\namount = 0.5\n"
        f"[[step]]\ndo = 'mdav'\ncolumns = ['age', '{ODD}']\nk = 4\n[[step]]\ndo = 'publish'\ninto = 'second'\n"
        "alone_because = 'test'\n"
    )
    report = sqlmicro.run(str(job))
    assert not [note for note in report["notes"] if "most records have changed" in note]
    assert [value is None for value, _, _ in unions(report)] == [False]


def test_a_dry_run_and_what_promises_no_k_never_collide(db: str) -> None:
    released(db, "first")
    execute(db, "DELETE FROM persons WHERE id = 7")
    assert unions(released(db, "second", dry_run=True)) == []
    report = sqlmicro.noise("persons", db=db, columns=["age"], amount=0.5, row_key=["id"], rest="drop", into="noisy")
    assert unions(report) == []


@pytest.mark.slow
def test_an_entry_that_is_removed_is_seen(db: str, tmp_path: Path) -> None:
    chain = []
    for name in ("a", "b", "c"):
        released(db, name, manifest=str(tmp_path / f"{name}.json"))
        chain.append(json.loads((tmp_path / f"{name}.json").read_text())["chain"])
    assert [one["previous"] for one in chain] == [None, chain[0]["entry"], chain[1]["entry"]]
    assert all(row["intact"] for row in sqlmicro.ledger(db=db)["releases"])
    execute(db, "DELETE FROM sqlmicro.releases WHERE id = 2")
    assert [row["intact"] for row in sqlmicro.ledger(db=db)["releases"]] == [True, False]
    done = command("ledger", "--db", db)
    assert "release 3: this entry or the one before it was changed or removed" in done.stdout


@pytest.mark.slow
def test_all_that_an_entry_says_is_in_its_hash_but_losses_and_seconds(db: str, tmp_path: Path) -> None:
    """As `sqlmicro help ledger` says it; each column is changed by itself."""
    released(db, "first")
    columns = {str(row[0]): str(row[1]) for row in execute(db, "DESCRIBE sqlmicro.releases")[0]}
    not_seen, copied = set(), str(tmp_path / "copied.duckdb")
    for name, kind in columns.items():
        shutil.copy(db, copied)
        other = {"JSON": "'{}'", "TIMESTAMP": "TIMESTAMP '2000-01-01'", "VARCHAR": "'x'"}.get(kind, "77")
        execute(copied, f"UPDATE sqlmicro.releases SET {name} = {other}")
        not_seen |= {name for row in sqlmicro.ledger(db=copied)["releases"] if row["intact"]}
    assert not_seen == {"il", "loss_by_column", "seconds"}


def test_a_ledger_of_another_version_says_what_to_do(db: str) -> None:
    released(db, "first")
    execute(db, "ALTER TABLE sqlmicro.releases DROP checks")
    with pytest.raises(InputError, match=r"checks\. Rename it, to keep what it holds"):
        sqlmicro.ledger(db=db)


@pytest.mark.slow_but("UPDATE sqlmicro.memory SET who = who + 1-the classes of release 1 are not remembered")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("DELETE FROM sqlmicro.memory", "the classes of release 1 are not remembered"),
        ("UPDATE sqlmicro.memory SET who = who + 1", "the classes of release 1 are not remembered"),
        ("DROP TABLE sqlmicro.memory", "the classes of release 1 are not remembered"),
        ("UPDATE sqlmicro.releases SET k = NULL", "the ledger was changed or entries removed, at release 1"),
        ("UPDATE sqlmicro.releases SET people = 'x', schema_hash = 'y'", "the ledger was changed"),
        ("DELETE FROM sqlmicro.releases", "entries removed, at release 1"),
    ],
)
def test_a_ledger_that_was_changed_proves_nothing(db: str, change: str, said: str) -> None:
    """The owner of the warehouse makes room for a release that the ledger stands against."""
    released(db, "first")
    execute(db, "INSERT INTO persons VALUES (999, 50, 500)", change)
    with pytest.raises(AuditFailed, match=said):
        released(db, "second")
    report = released(db, "second", alone_because="somebody has cleaned up")
    assert report["verdict"]["headline"].endswith("but it is not known what holds together with other releases")


def test_a_trigger_on_the_memory_is_refused(db: str) -> None:
    released(db, "first")
    try:
        execute(db, "CREATE TRIGGER t AFTER INSERT ON sqlmicro.memory FOR EACH STATEMENT DELETE FROM sqlmicro.audits")
    except duckdb.Error:
        return  # 1.5 has no triggers
    with pytest.raises(InputError, match="must have no triggers"):
        released(db, "first", overwrite=True)


def test_persons_in_many_rows_are_the_unit(tmp_path: Path) -> None:
    db = str(tmp_path / "v.duckdb")
    execute(db, "CREATE TABLE visits AS SELECT i // 3 AS patient, (i * 37) % 101 AS cost FROM range(300) r(i)")
    given = {"columns": ["cost"], "person": ["patient"], "k": 3, "rest": "drop"}
    sqlmicro.mdav("visits", db=db, into="first", **given)
    (members,) = execute(db, "SELECT count(DISTINCT who) FROM sqlmicro.memory")
    assert members == [(100,)]
    execute(db, "INSERT INTO visits VALUES (500, 50)")
    with pytest.raises(AuditFailed, match="persons share their classes"):
        sqlmicro.mdav("visits", db=db, into="second", **given)


@pytest.mark.parametrize("seeds", [range(QUICK), pytest.param(range(QUICK, TABLES), marks=pytest.mark.slow)])
def test_the_union_is_that_of_plain_python(workbench: Any, seeds: range) -> None:
    """Random histories: inserts, deletes, updates; the fewest who share their classes, counted from the releases."""
    for seed in seeds:
        _history(workbench, seed)


def _history(workbench: Any, seed: int) -> None:
    draw = random.Random(seed)
    rows = {i: (draw.randrange(6), draw.choice("abc")) for i in range(draw.randrange(12, 40))}
    db, classes = "", []
    for night in range(draw.randrange(2, 4)):
        path = workbench.make(
            {"id": ("INTEGER", list(rows)), "x": ("INTEGER", [v[0] for v in rows.values()]),
             "s": ("VARCHAR", [v[1] for v in rows.values()])}, table=f"night_{night}")  # fmt: skip
        if not db:
            db = path
            execute(db, f"CREATE TABLE persons AS FROM night_{night}")
        else:
            execute(db, f"ATTACH '{path}' AS n; CREATE OR REPLACE TABLE persons AS FROM n.night_{night}")
        k = draw.randrange(2, 4)
        name = METHODS[seed % len(METHODS)]
        more = {} if name in ("mondrian", "suppress") else {"nominal": ["s"]}
        report = getattr(sqlmicro, name)(
            "persons", db=db, columns=["x", "s"], **more, row_key=["id"], keep=["id"], accept_unique=["id"],
            identifier_ok=["id"], rest="drop", k=k, into=f"r{night}", alone_because="test",
        )  # fmt: skip
        (found,) = execute(db, f"SELECT id, x, s FROM r{night}")
        classes.append({row[0]: row[1:] for row in found})
        together: dict[int, list[Any]] = defaultdict(list)
        for number, release in enumerate(classes):
            for who, values in release.items():
                together[who].append((number, values))
        alike = Counter(tuple(found) for found in together.values())
        if night:
            assert unions(report) == [(min(alike.values()), k, None)]
            (found,) = [row["value"] for row in report["audits"] if row["check"] == "differences"]
            about = min(_about(earlier, classes[-1]) for earlier in classes[:-1])
            assert min(alike.values()) <= found <= about
        for who in draw.sample(list(rows), 2):
            del rows[who]
        rows[100 + night] = (draw.randrange(6), "a")


def _about(one: dict[int, Any], other: dict[int, Any]) -> int:
    """Return the fewest persons that a class holds, or the totals of connected classes of two releases differ by."""
    sides = [(0, values) for values in one.values()] + [(1, values) for values in other.values()]
    top = {side: side for side in sides}
    for who in one.keys() & other.keys():
        a, b = top[0, one[who]], top[1, other[who]]
        top = {side: a if of == b else of for side, of in top.items()}
    lone = Counter(top[0, one[who]] for who in one.keys() - other.keys())
    lone += Counter(top[1, other[who]] for who in other.keys() - one.keys())
    return min([*Counter(sides).values(), *lone.values()])


@pytest.mark.slow
def test_one_name_in_two_folders_is_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tmp_path / "p.csv"
    rows.write_text("id,age\n" + "\n".join(f"{i},{18 + i * 7 % 60}" for i in range(60)))
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        given = ["mdav", "--table", str(rows), "--columns", "age", "--row-key", "id", "--k", "3", "--to", "o.parquet"]
        done = command(*given)
        rows.write_text(rows.read_text() + "\n900,41")
    assert done.returncode == 1
    assert "share their classes with fewer than 3, together with release 1 (o.parquet)" in " ".join(done.stderr.split())


@pytest.mark.slow
def test_a_table_of_another_database_is_out_in_a_ledger_elsewhere(db: str, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.duckdb")
    released(db, "first", ledger=ledger)
    execute(db, "INSERT INTO persons VALUES (999, 50, 500)")
    assert [row["state"] for row in sqlmicro.ledger(db=ledger)["releases"]] == ["out"]
    with pytest.raises(AuditFailed, match=r"release 1 \(first\)"):
        released(db, "second", ledger=ledger)
    other = str(tmp_path / "other.duckdb")
    execute(other, f"CREATE TABLE persons AS SELECT i AS id, i % 70 AS age, i * 7 AS {QUOTED} FROM range(200) r(i)")
    with pytest.raises(AuditFailed, match=r"release 1 \(first\)"):  # of the same name, in another database
        released(other, "first", ledger=ledger)


@pytest.mark.parametrize("faster", ["has it open", "has written"])
def test_a_run_that_fails_does_not_remove_the_new_ledger_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, faster: str
) -> None:
    ledger, connect = tmp_path / "ledger.duckdb", opening.connect

    def slower(db: str | None, *rest: Any, **named: Any) -> duckdb.DuckDBPyConnection:
        execute(str(ledger), "CREATE TABLE kept AS SELECT 1 AS one")
        if faster == "has it open":
            raise InputError("--db", "must be open to this process", "one that another process has locked")
        return connect(db, *rest, **named)

    monkeypatch.setattr(opening, "connect", slower)
    with pytest.raises((InputError, KeyboardInterrupt)), opening.open_warehouse(str(ledger), may_create=True):
        raise KeyboardInterrupt
    assert execute(str(ledger), "FROM kept") == [[(1,)]]


def test_a_run_that_fails_removes_the_ledger_that_it_has_made(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), opening.open_warehouse(str(tmp_path / "ledger.duckdb"), may_create=True):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("given", [(), ("--ledger", "elsewhere.duckdb")])
def test_a_ledger_without_a_database_is_listed_and_withdrawn_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]
) -> None:
    """The message of a release that fails says `ledger withdraw`, where there is no --db either."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.csv").write_text("id,age\n" + "".join(f"{i},{i % 50}\n" for i in range(60)))
    ledger = {"ledger": given[1]} if given else {}
    with pytest.raises(InputError, match="--db FILE, --ledger FILE or --attach NAME=URL"):
        sqlmicro.ledger(**ledger)
    sqlmicro.mdav("p.csv", to="o.parquet", columns=["age"], rest="drop", k=4, row_key=["id"], series="s", **ledger)
    assert "o.parquet" in command("ledger", *given).stdout
    assert sqlmicro.series(**ledger)["series"][0]["series"] == "s"
    assert command("ledger", "withdraw", "1", "--reason", "nobody has read it", *given).returncode == 0
    assert [one["state"] for one in sqlmicro.ledger(**ledger)["releases"]] == ["withdrawn"]


def test_a_ledger_without_a_time_is_listed_and_proves_nothing(db: str) -> None:
    """`UPDATE … SET started = NULL` ended in a TypeError."""
    released(db, "first")
    execute(db, "UPDATE sqlmicro.releases SET started = NULL")
    assert command("ledger", "--db", db).returncode == 0
    assert not sqlmicro.ledger(db=db)["releases"][0]["intact"]
    refused = command("report", "--db", db, "--release", "1", "--json")
    assert refused.returncode == 2 and "must be as it was written" in refused.stderr
    with pytest.raises(AuditFailed, match="the ledger was changed"):
        released(db, "second")


@pytest.mark.slow
def test_whatever_is_taken_out_of_a_ledger_is_no_fault(db: str) -> None:
    released(db, "first")
    columns = {name for name, *_ in execute(db, "DESCRIBE sqlmicro.releases")[0]}
    assert "started" in columns
    for name in sorted(columns - {"id"}):
        execute(db, "CREATE OR REPLACE TABLE main.whole AS FROM sqlmicro.releases",
                f'UPDATE sqlmicro.releases SET "{name}" = NULL')  # fmt: skip
        assert command("ledger", "--db", db).returncode == 0, name
        assert command("ledger", "--db", db, "--json").returncode == 0, name
        assert command("report", "--db", db, "--release", "1", "--sample", "0", "--json").returncode in (0, 2), name
        execute(db, "DELETE FROM sqlmicro.releases", "INSERT INTO sqlmicro.releases FROM main.whole")


@pytest.mark.parametrize("reason", [None, "", "  "])
def test_a_release_is_withdrawn_for_a_reason(tmp_path: Path, reason: str | None) -> None:
    (tmp_path / "l.duckdb").touch()
    with refused("the reason why nobody has it"):
        sqlmicro.ledger("withdraw", 1, reason=reason, ledger=str(tmp_path / "l.duckdb"))


@pytest.mark.parametrize("told", [False, True])
def test_what_was_demanded_and_passed_over_did_not_pass(told: bool) -> None:
    """A reason publishes a release, and makes no check of it one that has passed."""
    missed, kept = (Check("union-k", [], value, 3, True, value >= 3) for value in (2, 4))
    run, audit = SimpleNamespace(log=Log()), SimpleNamespace(checks=[])
    past = SimpleNamespace(alone_because="a reason" if told else None)
    release = SimpleNamespace(run=run, audits={None: audit}, past=past)
    found = [consult._Finding(missed, "missed"), consult._Finding(kept, "")]
    with nullcontext() if told else refused("missed", kind=AuditFailed, exit_code=1):
        consult._settle(release, found, "release 1")  # type: ignore[arg-type]
    assert [check.passed for check in audit.checks] == [None if told else False, True]


def test_what_a_failed_run_has_entered_is_taken_back_from_every_table(tmp_path: Path) -> None:
    names = [name for name in (*ledger.TABLES, "audits", "candidates", *remembered.TABLES) if name != "withdrawn"]
    made = [f"CREATE TABLE sqlmicro.{name} AS SELECT unnest([1, 2, 3]) AS {key}" for name in names
            for key in ("id" if name == "releases" else "release",)]  # fmt: skip
    with open_warehouse(warehouse(tmp_path, "CREATE SCHEMA sqlmicro", *made)) as opened_:
        unfinished.take_back(opened_, "", [2, 3])
    assert [rows(tmp_path, f"FROM sqlmicro.{name}") for name in names] == [[(1,)]] * len(names)


@pytest.mark.parametrize(("units", "measured"), [("aa", True), ("ab", False), ("ba", False), ("bb", False)])
def test_one_release_whose_persons_are_known_by_other_columns_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, units: str, measured: bool
) -> None:
    monkeypatch.setattr(ledger, "unit", lambda _: "a")
    run = SimpleNamespace(roles=SimpleNamespace(person=(), row_key=("id",)))
    book = SimpleNamespace(table=lambda _: None, told=None)
    others = [entry(number, unit=unit) for number, unit in enumerate(units, 1)]
    said = consult._unknown(book, run, others, Union(9, 9, 0, 9, 9))  # type: ignore[arg-type]
    assert (said == "") is measured


def test_a_release_that_is_withdrawn_leaves_nothing_of_its_persons(tmp_path: Path) -> None:
    names = ("memory", "class_values", "contents")
    made = [f"CREATE TABLE sqlmicro.{name} AS SELECT unnest([1, 2]) AS release" for name in names]
    with open_warehouse(warehouse(tmp_path, "CREATE SCHEMA sqlmicro", *made)) as opened_:
        ledger.withdraw(opened_, Name(opened_.catalog, "sqlmicro", "releases"), 1, "nobody has it")
    assert [rows(tmp_path, f"FROM sqlmicro.{name}") for name in names] == [[(2,)]] * 3
    assert rows(tmp_path, "SELECT release, reason FROM sqlmicro.withdrawn") == [(1, "nobody has it")]


@pytest.mark.parametrize(
    ("told", "newest", "state"),
    [({"kind": "file"}, False, "out"), ({"kind": "file", "reason": "late"}, True, "withdrawn"), ({}, False, "replaced"),
     ({}, True, "gone"), ({"place": '["shop", "main", "t"]'}, True, "out"), ({"place": "t"}, True, "out")],
)  # fmt: skip
def test_a_release_is_out_unless_it_is_surely_not(told: dict[str, Any], newest: bool, state: str) -> None:
    with open_warehouse(None) as empty:
        assert ledger._state(empty, Name("", "", "sqlmicro_releases"), entry(1, **told), newest) == state
    assert ledger.place(Name("w", "Main", "Out"), None) == ledger.place(Name("w", "main", "out"), None)
    assert ledger.place(None, "/data/Out.csv") != ledger.place(None, "/data/out.csv")


def test_releases_are_counted_together_and_their_differences_too(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: Any = SimpleNamespace(check=SimpleNamespace(value=3))
    held: list[Any] = []
    monkeypatch.setattr(consult, "_shared", lambda *_: counted)
    monkeypatch.setattr(consult, "_differences", lambda *_: "differences")
    monkeypatch.setattr(consult, "_settle", lambda _release, found, _named: held.extend(found))
    monkeypatch.setattr("sqlmicro.history.union.forgotten", lambda *_: [])
    told = SimpleNamespace(classes=Name("", "", "c"), values=None)
    book: Any = SimpleNamespace(warehouse=None, told=told, table=lambda name: Name("", "", name))
    release: Any = SimpleNamespace(run=None)
    consult._hold(book, release, [entry(1)], 3, None)
    assert held == ["differences", counted]


def test_an_entry_that_was_taken_out_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "find_beside", lambda *_: (True, None))
    more = [0] * len(ledger.SEALED)
    rows, before = [], None
    for number in range(1, 4):
        told = [number, *["a"] * (len(ledger.TOLD) - 1)]
        before, previous = ledger.hashed(before, [*told, *more], ["{}"]), before
        rows.append((*told, previous, before, *more, "{}"))

    def intact(*kept: int) -> list[bool]:
        here: Any = SimpleNamespace(query=lambda *_, **__: [rows[one] for one in kept])
        return [one.intact for one in ledger.entries(here, Name("", "", "sqlmicro_releases"))]

    assert intact(0, 1, 2) == [True, True, True]
    assert intact(0, 2) == [True, False]
    assert intact(1, 2) == [False, True]
