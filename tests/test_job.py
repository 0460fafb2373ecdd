"""Job files: steps in order, errors that name file, step and key."""

import duckdb
import pytest
from world import execute, refused

import sqlmicro


@pytest.fixture
def folder(tmp_path):
    execute(
        tmp_path / "w.duckdb",
        """CREATE TABLE persons AS SELECT i AS id, (i * 7) % 60 AS age, ['f', 'm'][1 + i % 2] AS sex,
            ((i * 7919) % 10007)::DOUBLE AS income FROM range(120) r(i)""",
    )
    return tmp_path


def job(folder, text):
    path = folder / "job.toml"
    path.write_text('db = "w.duckdb"\ntable = "persons"\n' + text, encoding="utf-8")
    return str(path)


GOOD = """
drop = ["id"]
[[step]]
do = "individual-ranking"
columns = ["income"]
k = 5
[[step]]
do = "safe"
columns = ["age", "sex"]
k = 3
[[gate]]
quasi = ["age", "sex"]
min_k = 3
[[step]]
do = "publish"
into = "out"
"""


def test_steps_run_in_order_and_are_recorded(folder):
    report = sqlmicro.run(job(folder, GOOD))
    assert report["method"] == "individual-ranking + safe"
    checks = {(c["check"], tuple(c["columns"])): (c["value"], c["threshold"]) for c in report["audits"]}
    assert checks["value frequency", ("income",)] == (5, 5)
    assert checks["k-anonymity", ("age", "sex")][0] >= 3
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as con:
        assert con.execute("SELECT min(n) FROM (SELECT count(*) n FROM out GROUP BY age, sex)").fetchone()[0] >= 3
        assert con.execute("SELECT min(n) FROM (SELECT count(*) n FROM out GROUP BY income)").fetchone()[0] >= 5
        assert con.execute("SELECT k FROM sqlmicro.releases").fetchone()[0] == report["k"]


def test_a_gate_that_fails_stops_the_job(folder):
    text = GOOD.replace('quasi = ["age", "sex"]\nmin_k = 3', 'quasi = ["age", "sex", "income"]\nmin_k = 3')
    with pytest.raises(sqlmicro.AuditFailed, match="gate 1"):
        sqlmicro.run(job(folder, text))
    with duckdb.connect(str(folder / "w.duckdb"), read_only=True) as con:
        assert con.execute("SELECT count(*) FROM duckdb_tables()").fetchone() == (1,)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("k = 5", "K = 5", ["step 1", "'K'", "Did you mean 'k'"]),
        ("k = 5", "k = 1", ["step 1", "k", "at least 2"]),
        ("k = 5", 'k = "5"', ["step 1", "whole number"]),
        ('do = "safe"', 'do = "saef"', ["step 2", "'saef'", "Did you mean 'safe'"]),
        ('do = "safe"\n', "", ["step 2", "'do'"]),
        ('drop = ["id"]', 'dorp = ["id"]', ["job.toml", "Did you mean 'drop'"]),
        ('drop = ["id"]', "", ["every column needs a role", "id"]),
        ('columns = ["income"]', 'columns = ["incom"]', ["step 1", "'incom'", "Did you mean 'income'"]),
        ('[[step]]\ndo = "publish"\ninto = "out"', "", ["publish"]),
        ("[[step]]", "[[step]", ["TOML", "line"]),
        ("[[gate]]", "[[gates]]", ["job.toml", "Did you mean 'gate'"]),
        ("[[gate]]", "[[job]]", ["job.toml", "'job' is not a key here"]),
        ("min_k = 3", "mink = 3", ["gate 1", "Did you mean 'min_k'"]),
        ("min_k = 3", 'measure = ["k-anonimity"]', ["gate 1, key 'measure'", "Did you mean 'k-anonymity'"]),
        ("min_k = 3", "", ["gate 1", "min_k = 3"]),
        ("[[gate]]", '[[step]]\ndo = "audit"', ["step 3 (audit)", "[[gate]]"]),
        ('into = "out"', 'onto = "out"', ["step 3 (publish)", "Did you mean 'into'"]),
    ],
)
def test_errors_name_file_step_and_key(folder, old, new, words):
    with refused() as caught:
        sqlmicro.run(job(folder, GOOD.replace(old, new, 1)))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.slow
def test_a_gate_looks_at_the_release_wherever_it_is_written(folder):
    """Between two steps income would still be its own: what counts is what is released."""
    gate = '[[gate]]\nquasi = ["income"]\nmin_k = 5\n'
    report = sqlmicro.run(job(folder, GOOD.replace('drop = ["id"]', 'drop = ["id"]\n' + gate)))
    assert [c["value"] for c in report["audits"] if c["check"] == "k-anonymity" and c["columns"] == ["income"]] == [5]


@pytest.mark.parametrize("gate", ["max_membership = 0.6", 'measure = ["singling-out"]'])
def test_a_gate_that_needs_a_control_group_is_refused_before_any_work(folder, gate):
    with pytest.raises(sqlmicro.JobError, match=r"people outside of the table.*sqlmicro audit --original"):
        sqlmicro.run(job(folder, GOOD.replace('drop = ["id"]', f'drop = ["id"]\n[[gate]]\n{gate}\n')))


def test_paths_are_taken_from_the_folder_of_the_file(folder, monkeypatch):
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    (folder / "levels.csv").write_text("f,any\nm,any\n", encoding="utf-8")
    text = """rest = "drop"
[[step]]
do = "generalize"
columns = ["sex"]
hierarchy = ["sex=levels.csv"]
[[step]]
do = "publish"
to = "out.csv"
"""
    sqlmicro.run(job(folder, text))
    assert set((folder / "out.csv").read_text().split()) == {"sex", "any"}


@pytest.mark.slow
def test_a_dry_run_of_a_job_writes_nothing(folder):
    before = (folder / "w.duckdb").read_bytes()
    report = sqlmicro.run(job(folder, GOOD), dry_run=True)
    assert report["dry_run"]
    assert report["release"] is None
    assert (folder / "w.duckdb").read_bytes() == before


def test_a_job_may_begin_with_files_and_only_audit(folder):
    (folder / "p.csv").write_text("a,b\n" + "1,2\n" * 3 + "5,6\n", encoding="utf-8")
    path = folder / "audit.toml"
    text = """
db = "w.duckdb"
table = "fresh"
[[step]]
do = "register"
files = ["p.csv"]
table = "fresh"
overwrite = true
[[step]]
do = "profile"
[[step]]
do = "audit"
quasi = ["a", "b"]
min_k = 2
"""
    path.write_text(text, encoding="utf-8")
    report = sqlmicro.run(str(path))
    assert [result["do"] for result in report["results"]] == ["register", "profile", "audit"]
    assert report["results"][0]["rows"] == 4
    assert report["results"][2]["audits"][0]["violating_records"] == 1
    assert report["passed"] is False
    with pytest.raises(sqlmicro.JobError, match=r"Got none\. Check the path, or draft one with: sqlmicro init"):
        sqlmicro.run(str(folder / "missing.toml"))
    path.write_text(text + "[[gate]]\nmin_k = 2\n", encoding="utf-8")
    with pytest.raises(sqlmicro.JobError, match="before it is published"):
        sqlmicro.run(str(path))
    path.write_text(text.replace("min_k = 2", 'min_k = 2\n[[step]]\ndo = "profile"'), encoding="utf-8")
    with pytest.raises(sqlmicro.JobError, match="come first"):
        sqlmicro.run(str(path))


def test_an_empty_file_is_told_how_to_begin(tmp_path):
    (tmp_path / "job.toml").write_text("# nothing yet\n")
    with pytest.raises(sqlmicro.JobError, match="an empty file"):
        sqlmicro.run(str(tmp_path / "job.toml"))
