"""Drafts of job files, and what a job will do in words; and that no variable of the environment gets into a job."""

from __future__ import annotations

import shutil
import textwrap
import tomllib
from pathlib import Path

import pytest
from databases import opened
from world import execute

import sqlmicro

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
AWKWARD = (
    'net "income"',
    "two\nlines",
    "a,b",
    "it's",
    "tab\there",
    "\x7f delete",
    "row_id",
    "名前 # no comment",
    "$HOME",
)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    path = tmp_path / "w.duckdb"
    columns = ", ".join(
        '(i * {} % 4)::{} AS "{}"'.format(2 * j + 1, "VARCHAR" if j % 2 else "INTEGER", name.replace('"', '""'))
        for j, name in enumerate(AWKWARD)
    )
    execute(
        path,
        f"""CREATE TABLE "my ""table\""" AS SELECT 'customer ' || i AS customer_name, i AS id, uuid() AS u,
            {columns}, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 3 END AS gaps, i % 2 = 0 AS flag,
            'd' || i % 2 AS diagnosis, 1.5 AS weight, union_value(n := i) AS either FROM range(64) r(i)""",
    )
    return path


def test_a_draft_drops_identifiers_anonymizes_all_else_and_says_why(db: Path) -> None:
    text = sqlmicro.init('my "table"', db=str(db))["toml"]
    job = tomllib.loads(text)
    safe, publish = job["step"]
    assert (safe["do"], safe["k"], safe["nulls"], publish["do"]) == ("safe", 3, "pattern", "publish")
    assert set(job["drop"]) == {"customer_name", "id", "u", "either"}
    assert set(safe["columns"]) == {*AWKWARD, "gaps", "flag", "diagnosis", "weight"}
    assert job["gate"] == [{"quasi": [*AWKWARD, "gaps", "flag"], "min_k": 3}]
    assert "keep" not in job
    told = {line.split("#")[0].strip(): line.partition("  # ")[2] for line in text.splitlines()}
    assert told['"id",'].startswith("its name, and most of its values are distinct")
    assert "sensitive by its name" in told['"diagnosis",']
    assert "9 missing" not in told['"gaps",'] and "10 missing" in told['"gaps",']
    assert "# min_l = 2" in text
    words = " ".join(text.replace("# ", "").split())
    assert 'Missing in "gaps". This loses least: what is missing stays missing' in words


@pytest.mark.slow
def test_the_draft_of_awkward_names_runs_as_it_is(db: Path) -> None:
    execute(db, 'CREATE VIEW few AS SELECT id, "net ""income""", "two\nlines", gaps FROM "my ""table""" ORDER BY id')
    (db.parent / "job.toml").write_text(sqlmicro.init("few", db=str(db))["toml"], encoding="utf-8")
    assert sqlmicro.run(str(db.parent / "job.toml"))["k"] >= 3
    with opened(db, read_only=True) as connection:
        names = [row[0] for row in connection.execute("DESCRIBE few_anonymized").fetchall()]
    assert names == ['net "income"', "two\nlines", "gaps"]


@pytest.mark.slow
def test_the_draft_of_the_example_runs_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(EXAMPLES / "persons.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.toml").write_text(sqlmicro.init("persons.csv")["toml"], encoding="utf-8")
    report = sqlmicro.run("job.toml")
    assert report["k"] >= 3
    assert (tmp_path / "persons_anonymized.csv").is_file()
    assert set(report["parameters"]["dropped"]) == {"person_id", "name", "phone"}
    assert report["parameters"]["kept"] == []


def test_the_draft_keeps_how_a_file_is_read_and_refuses_a_table_of_identifiers(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("id;n\n" + "".join(f"{i};{i % 3},5\n" for i in range(30)))
    job = tomllib.loads(sqlmicro.init(str(tmp_path / "p.csv"), delimiter=";", decimal=",")["toml"])
    assert (job["delimiter"], job["decimal"], job["step"][0]["columns"]) == (";", ",", ["n"])
    (tmp_path / "q.csv").write_text("id\n" + "".join(f"{i}\n" for i in range(30)))
    with pytest.raises(sqlmicro.InputError, match="a column to anonymize"):
        sqlmicro.init(str(tmp_path / "q.csv"))


JOB = """
db = "w.duckdb"
table = "persons"
drop = ["name"]
keep = ["weight"]
seed_file = "secret"
[[step]]
do = "individual-ranking"
columns = ["income"]
k = 5
nulls = "suppress"
[[step]]
do = "safe"
columns = ["age", "sex"]
by = ["region"]
k = 3
[[gate]]
quasi = ["age", "sex"]
min_k = 3
max_il = 20
[[step]]
do = "publish"
into = "out"
"""


def explained(folder: Path, text: str) -> str:
    (folder / "job.toml").write_text(text, encoding="utf-8")
    return " ".join(sqlmicro.explain(str(folder / "job.toml"))["paragraphs"])


def test_a_job_is_explained_from_the_catalog_alone(tmp_path: Path) -> None:
    execute(
        tmp_path / "w.duckdb",
        """CREATE TABLE persons AS SELECT 'SECRET' AS name, 1 AS weight, 2 AS income, 3 AS age,
            'f' AS sex, 'r' AS region FROM range(70)""",
    )
    before = (tmp_path / "w.duckdb").read_bytes()
    text = explained(tmp_path, JOB)
    assert (tmp_path / "w.duckdb").read_bytes() == before
    for part in (
        "about 70 records, 6 columns",
        "It leaves out name.",
        "Released as it is, unprotected: weight.",
        "Step 1 is individual-ranking on income, k = 5",
        "every value occurs at least k times in its own column",
        "records with a missing value are left out",
        "Step 2 is safe on age and sex, k = 3, apart for every value of region",
        "every released record, over age, sex and region.",
        "k-anonymity over age and sex must be at least 3; information-loss over age and sex must be at most 20",
        "goes to the table out of",
        "which must not exist yet",
        "The secret seed is read from a file.",
    ):
        assert part in text, part
    assert "SECRET" not in text and "looked up" not in text
    assert "It will stop, since weight has no role" in explained(tmp_path, JOB.replace('keep = ["weight"]\n', ""))
    rest = explained(tmp_path, JOB.replace('keep = ["weight"]', 'rest = "drop"'))
    assert "It leaves out name and weight. No column is released as it is." in rest
    every = explained(tmp_path, JOB.replace('columns = ["age", "sex"]\n', ""))
    assert "Of the other columns (age, sex), direct identifiers are left out, and all else is anonymized." in every


def test_a_view_over_a_file_is_explained_without_the_file(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("name,weight,income,age,sex,region\na,1,2,3,f,r\n")
    execute(tmp_path / "w.duckdb", f"CREATE VIEW persons AS FROM read_csv('{tmp_path}/p.csv')")
    (tmp_path / "p.csv").unlink()
    assert "(6 columns)" in explained(tmp_path, JOB)


def test_a_job_is_explained_without_its_database(tmp_path: Path) -> None:
    text = explained(tmp_path, JOB)
    assert "could not be looked up: there is no database file yet" in text
    assert "It stops if the table has a column that is named nowhere" in text
    assert not (tmp_path / "w.duckdb").exists()
    with pytest.raises(sqlmicro.JobError, match="Did you mean 'k'"):
        explained(tmp_path, JOB.replace("k = 5", "kk = 5"))


def test_several_tables_and_jobs_without_a_release_are_explained(tmp_path: Path) -> None:
    several = """db = "w.duckdb"
[[table]]
name = "a"
step = [{do = "pseudonymise", columns = ["id"]}, {do = "publish"}]
[[table]]
name = "b"
step = [{do = "pseudonymise", columns = ["id"]}, {do = "publish"}]
"""
    text = explained(tmp_path, several)
    assert "The 2 releases are published together, in one transaction: if one fails, none is published." in text
    assert "Their pseudonyms are made with one key" in text
    text = explained(tmp_path, several + '[[key]]\nfrom = "b.x"\nto = "a.y"\nmax_lost = 1000\n')
    assert "x of b refers to y of a: what is released of both must join as before, but for 1,000 rows" in text
    dropped = several.replace('name = "a"', 'name = "a"\ndrop = ["y"]') + '[[key]]\nfrom = "b.x"\nto = "a.y"\n'
    assert "b.x is left out: it refers to a.y, which is." in explained(tmp_path, dropped)
    audit = explained(tmp_path, 'db = "w.duckdb"\ntable = "a"\n[[step]]\ndo = "audit"\nquasi = ["x"]\nmin_k = 3\n')
    assert audit.startswith("This job releases nothing.")


def test_an_explanation_is_wrapped_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from sqlmicro.cli import app

    (tmp_path / "job.toml").write_text(JOB)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.argv", ["sqlmicro", "explain", str(tmp_path / "job.toml")])
    with pytest.raises(SystemExit):
        app()
    lines = capfd.readouterr().out.splitlines()
    assert max(len(line) for line in lines if "/" not in line) <= 60
    assert len(lines) > 10


def test_no_variable_of_the_environment_gets_into_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only secrets are read from it: $HOME stays text, and no variable puts another database in place of the file's."""
    from sqlmicro.cli import app

    monkeypatch.setenv("SQLMICRO_DB", str(tmp_path / "other.duckdb"))
    monkeypatch.setenv("HOME", "elsewhere")
    execute(tmp_path / "w.duckdb", 'CREATE TABLE "${HOME}" AS SELECT i % 3 AS "$HOME", i % 2 AS b FROM range(30) r(i)')
    (tmp_path / "job.toml").write_text(
        textwrap.dedent("""
            db = "w.duckdb"
            table = "${HOME}"
            drop = ["b"]
            step = [{do = "constant", columns = ["$HOME"], value = "%HOME% ~ ${HOME} $HOME"},
              {do = "publish", into = "$HOME"}]
        """)
    )
    monkeypatch.setattr("sys.argv", ["sqlmicro", "run", str(tmp_path / "job.toml"), "--quiet"])
    with pytest.raises(SystemExit) as caught:
        app()
    assert caught.value.code == 0
    with opened(tmp_path / "w.duckdb", read_only=True) as connection:
        assert connection.execute('SELECT DISTINCT "$HOME" FROM "$HOME"').fetchall() == [("%HOME% ~ ${HOME} $HOME",)]
    assert not (tmp_path / "other.duckdb").exists()


@pytest.mark.parametrize(("unit", "counted"), [("person", "persons"), ("household", "households")])
def test_a_night_says_what_opens_a_class_and_keeps_nothing_constant(tmp_path: Path, unit: str, counted: str) -> None:
    job = f"""db = "w.duckdb"\ntable = "t"\nrow_key = ["id"]\n{unit} = ["of"]\nrest = "drop"
[[step]]\ndo = "mdav"\ncolumns = ["a", "b"]\nk = 3\n[[step]]\ndo = "publish"\ninto = "out"\n"""
    assert "keeps one" in explained(tmp_path, job)
    text = explained(tmp_path, f'{job}series = "s"\n')
    assert f"Every class opens with rows of k = 3 {counted} (of)." in text and "keeps one" not in text


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a database of the persons of the examples."""
    folder = tmp_path_factory.mktemp("registered")
    sqlmicro.register(str(EXAMPLES / "persons.csv"), db=str(folder / "w.duckdb"), table="persons")
    return folder


@pytest.mark.parametrize(
    ("step", "promised"),
    [
        (
            'do = "generalize"\nwidth = ["age=10"]\ncolumns = ["age"]\nuntil_k = 5',
            "record occurs at least k times in the",
        ),
        ('do = "generalize"\nwidth = ["age=10"]\ncolumns = ["age"]', "no k is promised"),
        ('do = "suppress"\ncolumns = ["age", "region"]', "record occurs at least k times in the"),
        ('do = "suppress"\ncolumns = ["age", "region"]\nsubsets = 1', "times in each block of columns"),
        ('do = "suppress"\ncolumns = ["age", "region"]\nnulls_match = "wildcard"', "no k is promised"),
    ],
)
def test_a_step_that_is_asked_for_k_is_said_to_promise_it(step: str, promised: str, registered: Path) -> None:
    job = registered / "job.toml"
    publish = '[[step]]\ndo = "publish"\ninto = "released"\n'
    job.write_text(f'db = "w.duckdb"\ntable = "persons"\nrest = "drop"\n[[step]]\n{step}\n{publish}', encoding="utf-8")
    said = " ".join(" ".join(sqlmicro.explain(str(job))["paragraphs"]).split())
    assert promised in said.split("It promises: ")[1].split(".")[0]
    assert ("The promised k holds" in said) == ("record occurs at least k times in the" in promised)
    done = sqlmicro.run(str(job), dry_run=True)
    verdict = (done[0] if isinstance(done, list) else done)["verdict"]
    assert (verdict["headline"].startswith("No k promised")) == (promised == "no k is promised")
