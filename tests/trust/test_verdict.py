"""The verdict of a release: over all that is released, in one voice, and only of what was promised."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest
from databases import opened
from typer.testing import CliRunner
from world import Workbench
from world import rows as query

import sqlmicro
from sqlmicro import AuditFailed, InputError, ParameterError
from sqlmicro.audits.registry import Check
from sqlmicro.audits.verdict import judge
from sqlmicro.cli import app
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.publish import gate

ROWS = 400
KEY = "0123456789abcdef-of-the-test"


@pytest.fixture
def db(workbench: Workbench) -> str:
    """Make a table whose income is distinct for nearly everybody, and whose age and zip are not."""
    rng = random.Random(7)
    return workbench.make({
        "id": ("INTEGER", list(range(ROWS))),
        "age": ("INTEGER", [rng.randrange(18, 90) for _ in range(ROWS)]),
        "zip": ("INTEGER", [rng.randrange(100) for _ in range(ROWS)]),
        "sex": ("VARCHAR", [rng.choice("fm") for _ in range(ROWS)]),
        'net "income"': ("DOUBLE", [round(rng.lognormvariate(8, 1), 2) for _ in range(ROWS)]),
        "diagnosis": ("VARCHAR", [rng.choice(["a", "b", "c"]) for _ in range(ROWS)]),
        "w": ("DOUBLE", [1 + rng.random() for _ in range(ROWS)]),
    })  # fmt: skip


def smallest(db: str, table: str, columns: list[str]) -> int:
    """Count classes naively."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in columns)
    return min(Counter(query(db, f"SELECT {names} FROM {table}")).values())


def mdav(db: str, into: str = "out", **options: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"columns": ["age", "zip"], "rest": "drop", "k": 5, "into": into, **options}
    return sqlmicro.mdav("records", db=db, **given)


INCOME = ['net "income"']


@pytest.mark.slow
def test_a_kept_column_lowers_the_verdict_everywhere(db: str, tmp_path: Path) -> None:
    """`mdav --columns age,zip --keep income` was headed "k = 5 held. Yes" while an attack linked nearly all records."""
    report = mdav(db, keep=INCOME, accept_unique=INCOME)
    known = ["age", "zip", *INCOME]
    assert (report["k"], report["k_released"]) == (smallest(db, "out", ["age", "zip"]), smallest(db, "out", known))
    assert report["k_released"] == 1
    assert query(db, "SELECT k, k_released, verdict FROM sqlmicro.releases") == [(report["k"], 1, "lowered")]
    found = sqlmicro.report(release="out", db=db, sample=200)
    attacked = sqlmicro.attack(original="records", release="out", db=db)
    for told in (report, found, attacked):
        verdict = told["verdict"]
        assert (verdict["status"], verdict["colour"], told["passed"]) == ("lowered", "amber", True)
        assert verdict["headline"] == "k = 5 held over age, zip only"
        assert not verdict["sentence"].startswith("Yes")
        assert "occurs in 1 record only" in verdict["sentence"]
    assert found["verdict"]["attack"]["rate"] > 0.99
    assert "100 %" in attacked["verdict"]["sentence"]
    assert attacked["verdict"]["k_released"] == 1

    given = ["report", "--db", db, "--release", "out", "--sample", "50"]
    page = tmp_path / "out.html"
    assert CliRunner().invoke(app, [*given, "--to", str(page)]).exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert '<section class="verdict amber"' in html
    assert "k = 5 held over age, zip only" in html
    assert "k = 5 held over age, zip only" in CliRunner().invoke(app, given).stdout
    assert "k = 5 held over age, zip only" in CliRunner().invoke(app, [*given, "--markdown"]).stdout
    told = CliRunner().invoke(app, ["attack", "--db", db, "--original", "records", "--release", "out"])
    assert told.exit_code == 0
    assert "k = 5 held over age, zip only" in told.stdout


@pytest.mark.slow
def test_held_is_held_over_all_that_is_released(db: str, tmp_path: Path) -> None:
    report = mdav(db)
    assert report["verdict"]["headline"] == "k = 5 held"
    assert report["verdict"]["sentence"].startswith("Every combination of values of age, zip is shared by")
    assert (report["verdict"]["colour"], report["passed"]) == ("green", True)
    page = tmp_path / "held.html"
    found = sqlmicro.report(release="out", db=db, sample=200, to=str(page))
    assert (found["verdict"]["status"], found["passed"]) == ("held", True)
    assert '<section class="verdict green"' in page.read_text(encoding="utf-8")


def test_a_promise_that_is_no_longer_kept_is_red_and_fails(db: str, tmp_path: Path) -> None:
    """Somebody changed the table after it was released: report and attack end with 1, whatever else they show."""
    mdav(db)
    with duckdb.connect(db) as connection:
        connection.execute("UPDATE out SET zip = -1 WHERE rowid = 0")
    page = tmp_path / "broken.html"
    for given in (
        ["report", "--db", db, "--release", "out", "--sample", "0", "--to", str(page)],
        ["attack", "--db", db, "--original", "records", "--release", "out"],
    ):
        told = CliRunner().invoke(app, given)
        assert told.exit_code == 1, told.output
        assert "k = 5 NOT held" in told.stdout
    assert '<section class="verdict red"' in page.read_text(encoding="utf-8")


def test_a_column_of_the_promise_that_is_gone_is_not_kept(db: str) -> None:
    """What could not be measured counts as failed."""
    mdav(db)
    with opened(db) as connection:
        connection.execute("ALTER TABLE out DROP zip")
    found = sqlmicro.attack(original="records", release="out", db=db)
    assert (found["passed"], found["verdict"]["status"]) == (False, "broken")
    assert "was not measured" in found["verdict"]["sentence"]


def test_without_a_promise_nothing_passed(db: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """`pseudonymise --rest keep` recorded the number of rows as k, and its JSON said that it passed."""
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    accepted = ["w", *INCOME]
    options: dict[str, Any] = {"db": db, "columns": ["id"], "rest": "keep", "accept_unique": accepted}
    report = sqlmicro.pseudonymise("records", into="out", **options)
    assert (report["k"], report["passed"], report["verdict"]["colour"]) == (None, None, "grey")
    assert all(check["passed"] is None for check in report["audits"] if check["threshold"] is None)
    assert query(db, "SELECT k, k_released, verdict FROM sqlmicro.releases") == [(None, 1, "none")]
    assert query(db, "SELECT count(*) FROM sqlmicro.audits WHERE passed AND threshold IS NULL") == [(0,)]
    page = tmp_path / "none.html"
    given = ["report", "--db", db, "--release", "out", "--sample", "0", "--to", str(page), "--json"]
    told = CliRunner().invoke(app, given)
    assert told.exit_code == 0
    assert json.loads(told.stdout)["passed"] is None
    assert '<section class="verdict grey"' in page.read_text(encoding="utf-8")
    assert sqlmicro.audit("out", db=db, quasi=["age"])["passed"] is None


def test_pseudonyms_alone_have_no_k_at_all(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    report = sqlmicro.pseudonymise("records", db=db, columns=["id"], rest="drop", into="out")
    assert (report["k"], report["k_released"], report["passed"]) == (None, None, None)
    assert query(db, "SELECT k, k_released FROM sqlmicro.releases") == [(None, None)]
    assert "no k was measured" in report["verdict"]["sentence"]


def test_a_method_for_single_columns_promises_no_k_for_records(db: str) -> None:
    report = sqlmicro.individual_ranking("records", db=db, columns=["age", "zip"], rest="drop", k=5, into="out")
    assert (report["k"], report["passed"]) == (None, None)
    assert report["k_released"] == smallest(db, "out", ["age", "zip"]) < 5
    assert "holds for single columns" in report["verdict"]["sentence"]


@pytest.mark.slow
def test_what_is_not_named_is_not_excluded(db: str) -> None:
    """A diagnosis, sensitive by its name, and a weight count like every column until somebody names them as such."""
    rng = random.Random(3)
    with duckdb.connect(db) as connection:
        values = [rng.choice("abcdefghij") for _ in range(ROWS)]
        connection.execute("UPDATE records SET diagnosis = CAST($1 AS VARCHAR[])[id + 1]", [values])
    report = mdav(db, keep=["diagnosis"])
    assert report["k_released"] == smallest(db, "out", ["age", "zip", "diagnosis"]) < 5
    assert report["verdict"]["status"] == "lowered"
    named = sqlmicro.report(release="out", db=db, sample=0, sensitive=["diagnosis"])
    assert (named["verdict"]["status"], named["verdict"]["apart"]) == ("held", {"diagnosis": "sensitive"})
    assert "Not counted: diagnosis (sensitive)." in named["verdict"]["sentence"]
    attacked = sqlmicro.attack(original="records", release="out", db=db, sensitive=["diagnosis"])
    assert attacked["verdict"]["apart"] == {"diagnosis": "sensitive"}


@pytest.mark.slow
def test_a_gate_names_what_is_sensitive_and_what_is_promised(db: str, tmp_path: Path) -> None:
    text = f"""db = "{db}"
table = "records"
keep = ["diagnosis"]
rest = "drop"
[[step]]
do = "mdav"
columns = ["age", "zip"]
k = 5
[[gate]]
quasi = ["age"]
sensitive = ["Diagnosis"]
min_k = 6
[[step]]
do = "publish"
into = "out"
"""
    path = tmp_path / "job.toml"
    path.write_text(text.replace("min_k = 6", "min_k = 5\nmax_linkage = 1.0"), encoding="utf-8")
    report = sqlmicro.run(str(path))
    assert report["verdict"]["apart"] == {"diagnosis": "sensitive"}
    assert report["verdict"]["status"] == "held"
    promised = {tuple(one["columns"]): one["k"] for one in report["verdict"]["promised"]}
    assert promised == {("age",): 5, ("age", "zip"): 5}
    assert report["verdict"]["attack"]["name"] == "linkage"
    assert report["parameters"]["apart"] == {"diagnosis": "sensitive"}
    path.write_text(text.replace("min_k = 6", "min_k = 300").replace('"out"', '"two"'), encoding="utf-8")
    with pytest.raises(AuditFailed) as failed:
        sqlmicro.run(str(path))
    assert failed.value.exit_code == 1


def test_an_attack_that_gets_further_lowers_the_verdict() -> None:
    """Over all released columns k holds, yet two releases together tell more: amber, by the attack alone."""
    from sqlmicro.audits.verdict import Attacked, Promised, Verdict
    from sqlmicro.audits.verdict_words import told

    held = Verdict((Promised(5, ("a",), 5),), ("a",), 5, {})
    assert held.after([Attacked("linkage", 0.2, 0.17, 0.001, 1000, False)]).status == "held"
    lowered = held.after([
        Attacked("difference", 0.69, 0.66, 0.0, 1000, False), Attacked("row-order", 0.9, 0.88, 0.95, 9, True)
    ])  # fmt: skip
    assert (lowered.status, lowered.passed, lowered.attack and lowered.attack.name) == ("lowered", True, "difference")
    assert told(lowered).headline == "k = 5 held, but an attack gets further"
    broken = Verdict((Promised(5, ("a",), 4),), ("a",), 4, {})
    assert broken.after([Attacked("x", 1.0, 1.0, 0.0, 9, False)]).status == "broken"
    nothing = Verdict((), ("a",), 1, {}).after([Attacked("x", 1.0, 1.0, 0.0, 9, False)])
    assert (nothing.status, nothing.passed) == ("none", None)


# Columns that single out records by themselves


KEEPING: list[tuple[str, dict[str, Any]]] = [
    ("mdav", {"columns": ["age"], "k": 3}), ("individual-ranking", {"columns": ["age"], "k": 3}),
    ("generalize", {"columns": ["age"], "width": ["age=10"]}), ("noise", {"columns": ["age"], "amount": 0.1}),
    ("safe", {"columns": ["sex"], "k": 3}),
    ("swap", {"columns": ["age"], "percent": 5}), ("constant", {"columns": ["sex"]}), ("sample", {"fraction": 0.5}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("method", "options"), KEEPING, ids=[name for name, _ in KEEPING])
def test_a_column_that_singles_out_records_is_accepted_by_name(
    db: str, method: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlmicro import pipeline

    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("the work had begun")

    verb = getattr(sqlmicro, method.replace("-", "_"))
    with monkeypatch.context() as patched:
        patched.setattr(pipeline, "step", work)
        for keeping in ({"keep": INCOME, "rest": "drop"}, {"rest": "keep", "accept_unique": ["w", "id"]}):
            said = r'--keep: .*5 %.*net "income" \(\d+ %\).*--accept-unique .net "income"'
            with pytest.raises(InputError, match=said) as refused:
                verb("records", db=db, into="out", **options, **keeping)
            assert refused.value.exit_code == 2
    assert query(db, "SELECT count(*) FROM duckdb_tables() WHERE table_name IN ('out', 'releases')") == [(0,)]
    report = verb("records", db=db, into="out", keep=INCOME, accept_unique=INCOME, rest="drop", **options)
    assert report["release"] == 1


def test_the_bound_is_one_record_in_twenty(workbench: Workbench) -> None:
    """Of 100 records 5 are alone with their value: not more than 5 %. With 6 it is."""
    for alone in (5, 6):
        values = [*range(alone), *([999] * (100 - alone))]
        db = workbench.make({"x": ("DOUBLE", [float(i % 7) for i in range(100)]), "kept": ("INTEGER", values)})
        options: dict[str, Any] = {"db": db, "columns": ["x"], "keep": ["kept"], "k": 3, "into": "out"}
        if alone == 5:
            sqlmicro.mdav("records", **options)
            continue
        with pytest.raises(InputError, match=r"kept \(6 %\)"):
            sqlmicro.mdav("records", **options)
        sqlmicro.mdav("records", **options, accept_unique=["KEPT"])


@pytest.mark.slow
def test_weights_and_pseudonyms_need_no_acceptance(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    options: dict[str, Any] = {"columns": ["age", "sex"], "method": "cluster", "k": 3, "rest": "drop", "into": "out"}
    report = sqlmicro.safe("records", db=db, weights="W", **options)
    assert report["verdict"]["apart"] == {"w": "weight"}
    assert report["verdict"]["status"] == "held"
    sampled = sqlmicro.sample(
        "records", db=db, fraction=0.5, weight_column="weight of sample", keep=["sex"], rest="drop", into="sampled"
    )
    assert sampled["verdict"]["apart"] == {"weight of sample": "weight"}


def test_only_a_kept_column_is_accepted(db: str) -> None:
    with pytest.raises(ParameterError, match=r"--accept-unique: .*released as they are.*age"):
        mdav(db, accept_unique=["age"])
    with pytest.raises(ParameterError, match="no column 'incom'"):
        mdav(db, accept_unique=["incom"])


@pytest.mark.slow
def test_job_files_and_sessions_accept_too(db: str, tmp_path: Path) -> None:
    text = f"""db = "{db}"
table = "records"
keep = ['net "income"']
rest = "drop"
[[step]]
do = "mdav"
columns = ["age", "zip"]
[[step]]
do = "publish"
into = "out"
"""
    path = tmp_path / "job.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="--accept-unique"):
        sqlmicro.run(str(path), dry_run=True)
    assert "It stops if such a column alone makes more than 5 %" in sqlmicro.explain(str(path))["paragraphs"][0]
    path.write_text("""accept_unique = ['net "income"']\n""" + text, encoding="utf-8")
    assert sqlmicro.run(str(path))["verdict"]["status"] == "lowered"
    assert 'except net "income"' in sqlmicro.explain(str(path))["paragraphs"][0]
    with sqlmicro.open(db) as session:
        options: dict[str, Any] = {"columns": ["age"], "keep": INCOME, "rest": "drop"}
        with pytest.raises(InputError, match="--accept-unique"):
            session.mdav("records", **options)
        with session.mdav("records", **options, accept_unique=INCOME) as release:
            assert "k = 3 held over age only" in repr(release)
            assert "k = 3 held over age only" in release._repr_html_()
            assert "var(--amber)" in release._repr_html_()


# The table of releases


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["id BIGINT, source VARCHAR, k BIGINT", "a INTEGER"])
def test_another_table_of_releases_is_told_in_words(db: str, columns: str) -> None:
    """That of an older version, or somebody else's: refused before the work, and by a report; nothing is lost."""
    with duckdb.connect(db) as connection:
        connection.execute("CREATE SCHEMA sqlmicro")
        connection.execute(f"CREATE TABLE sqlmicro.releases ({columns})")
    with pytest.raises(InputError, match=r"sqlmicro.releases: must have the columns.*Rename it"):
        mdav(db)
    for look in (
        lambda: sqlmicro.report(release="1", db=db),
        lambda: sqlmicro.report(release="records", db=db),
        lambda: sqlmicro.audit("records", db=db, quasi=["age"]),
        lambda: sqlmicro.attack(original="records", release="records", db=db),
    ):
        with pytest.raises(InputError, match=r"sqlmicro.releases: must have the columns"):
            look()
    assert query(db, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'out'") == [(0,)]
    with duckdb.connect(db) as connection:
        connection.execute("ALTER TABLE sqlmicro.releases RENAME TO releases_before")
    assert mdav(db)["release"] == 1


def test_the_columns_that_are_checked_are_those_that_are_made(db: str) -> None:
    from sqlmicro.publish.recording import RECORDED

    mdav(db)
    columns = query(db, "SELECT column_name FROM duckdb_columns() WHERE table_name = 'releases' ORDER BY column_index")
    assert tuple(name for (name,) in columns) == RECORDED


# Hostile tables


def test_a_column_with_a_comma_in_its_name_is_one_column(workbench: Workbench) -> None:
    """What was promised is recorded as a list, not as text to be cut at commas."""
    rng = random.Random(5)
    db = workbench.make({
        "a, b": ("DOUBLE", [rng.random() for _ in range(60)]), "a": ("DOUBLE", [rng.random() for _ in range(60)]),
        "b": ("INTEGER", [i % 3 for i in range(60)]),
    })  # fmt: skip
    sqlmicro.mdav("records", db=db, columns=["a, b", "a"], keep=["b"], k=4, into="out")
    found = sqlmicro.report(release="out", db=db, sample=0)
    assert [one["columns"] for one in found["verdict"]["promised"]] == [["a, b", "a"]]
    assert found["verdict"]["status"] == "lowered"


def test_values_that_are_only_written_alike_are_told_apart(workbench: Workbench) -> None:
    """A kept UNION of the number 1 and the text 1: two values, so that classes of two are classes of one."""
    db = workbench.make({"x": ("DOUBLE", [float(i // 4) for i in range(40)])})
    with duckdb.connect(db) as connection:
        connection.execute("CREATE TABLE u AS SELECT x, (row_number() OVER ()) % 4 AS n FROM records")
        connection.execute("ALTER TABLE u ADD COLUMN kept UNION(num INTEGER, str VARCHAR)")
        connection.execute("UPDATE u SET kept = 1::INTEGER WHERE n = 0")
        connection.execute("UPDATE u SET kept = '1' WHERE n > 0")
        connection.execute("ALTER TABLE u DROP n")
    report = sqlmicro.mdav("u", db=db, columns=["x"], keep=["kept"], k=4, into="out")
    assert (report["k"], report["k_released"]) == (4, 1)


def test_missing_values_single_out_too(workbench: Workbench) -> None:
    values = [None if i % 4 == 0 else "a" for i in range(40)]
    db = workbench.make({"x": ("DOUBLE", [float(i // 4) for i in range(40)]), "kept": ("VARCHAR", values)})
    report = sqlmicro.mdav("records", db=db, columns=["x"], keep=["kept"], k=4, into="out")
    assert (report["k"], report["k_released"], report["verdict"]["colour"]) == (4, 1, "amber")


def test_a_collation_hides_no_unique_value(tmp_path: Path) -> None:
    """For NOCASE n0 and N0 are one value, in a release they are two: six records of 46 are alone with theirs."""
    db = str(tmp_path / "c.duckdb")
    with opened(db) as connection:
        connection.execute("CREATE TABLE t (x INTEGER, kept VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t SELECT i // 4, ['bob', 'BOB'][1 + i % 2] FROM range(40) AS r(i)")
        connection.execute("INSERT INTO t SELECT 100, ['n', 'N'][1 + i // 3] || (i % 3) FROM range(6) AS r(i)")
    with pytest.raises(InputError, match=r"kept \(13 %\)"):
        sqlmicro.mdav("t", db=db, columns=["x"], keep=["kept"], k=4, into="out")
    report = sqlmicro.mdav("t", db=db, columns=["x"], keep=["kept"], accept_unique=["kept"], k=4, into="out")
    assert (report["k"], report["k_released"]) == (4, 1)


def test_of_several_releases_the_least_count_is_told() -> None:
    checks = [Check("union-k", [], value, 5, True, value >= 5) for value in (6, 2, 9)]
    assert judge([Check("k-anonymity", ["a"], 5, 5, True, True), *checks], {}).with_others == 2


def test_a_step_that_promises_k_is_held_to_k_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(gate, "persons", lambda *given: asked.append(given[3]))
    terms = SimpleNamespace(k=4, level=None, limits={}, kept=SimpleNamespace(sensitive=[], settings={}),
                            in_population=SimpleNamespace(weight=None))  # fmt: skip
    for promise in ("record", "column", "none"):
        claim: Any = SimpleNamespace(columns=(Column("a", "INTEGER", "a"),), promise=promise, terms=terms)
        for counted in (True, False):
            run: Any = SimpleNamespace(counted=counted)
            gate.kept(run, Name("", "", "t"), claim)
    assert asked == [4, 4]
