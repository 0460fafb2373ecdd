"""The examples for schedulers run: a line for cron, and a Dagster asset where Dagster is installed."""

import ast
import hmac
import json
import os
import runpy
import shutil
import subprocess
import sys
import textwrap
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from command import run

import sqlmicro
from sqlmicro import verify

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.slow
def test_the_star_schema_is_scanned_planned_and_applied(tmp_path: Path) -> None:
    """Persons, visits and orders: the scan finds the keys of the policy; what joined before joins after."""
    for source in (EXAMPLES / "star_schema").glob("*.*"):
        shutil.copy(source, tmp_path)
    (tmp_path / "secret").write_bytes(os.urandom(32))
    for table in ("persons", "visits", "orders"):
        assert (
            run("register", f"{table}.csv", "--db", "warehouse.duckdb", "--table", table, cwd=tmp_path).returncode == 0
        )
    scanned = tomllib.loads(run("scan", "--keys", "--db", "warehouse.duckdb", cwd=tmp_path).stdout)
    written = tomllib.loads((tmp_path / "policy.toml").read_text())
    assert sorted(map(str, scanned["key"])) == sorted(map(str, written["key"]))
    assert {table["name"]: table.get("person") for table in scanned["table"]} == {
        "persons": None, "visits": ["patient_id"], "orders": ["customer_id"],
    }  # fmt: skip
    assert run("plan", "policy.toml", cwd=tmp_path).returncode == 0
    assert run("apply", "policy.plan.json", cwd=tmp_path).returncode == 0
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        for child, key in (("visits", "patient_id"), ("orders", "customer_id")):
            joined = f"SELECT count(*) FROM {child}{{0}} c JOIN persons{{0}} p ON c.{key} = p.person_id"
            before, after = (connection.execute(joined.format(end)).fetchall() for end in ("", "_release"))
            assert before == after
        both = [
            connection.execute(f"SELECT {key}, {columns}, born, sex FROM {child}_release c JOIN persons_release p ON "
                               f"c.{key} = p.person_id").fetchall()
            for child, key, columns in (
                ("visits", "patient_id", "admitted, cost"), ("orders", "customer_id", "article, amount"),
            )
        ]  # fmt: skip
        numbers = connection.execute("SELECT patient_id, admitted, cost, diagnosis FROM visits_release").fetchall()
        connection.execute("ALTER TABLE persons ADD nickname VARCHAR")
    assert len(numbers) == 1200
    classes: dict[tuple[object, object], list[tuple[str, str]]] = {}
    for patient, admitted, cost, diagnosis in numbers:
        classes.setdefault((admitted, cost), []).append((patient, diagnosis))
    assert min(len({patient for patient, _ in rows}) for rows in classes.values()) >= 5
    assert min(len({diagnosis for _, diagnosis in rows}) for rows in classes.values()) >= 2
    assert min(joined_k(seen) for seen in both) >= 5
    assert run("plan", "policy.toml", cwd=tmp_path).returncode == 1
    assert run("apply", "policy.plan.json", cwd=tmp_path).returncode == 1


OMOP = {
    "visit_occurrence": ("visit_start_date", "visit_end_date"),
    "condition_occurrence": ("condition_start_date",),
    "drug_exposure": ("drug_exposure_start_date", "drug_exposure_end_date"),
    "measurement": ("measurement_date", "measurement_datetime"),
}


@pytest.mark.slow
def test_the_clinical_warehouse_keeps_its_intervals_and_joins(tmp_path: Path) -> None:
    """The person behind a pseudonym is found here by the key that only the hospital has."""
    for source in (EXAMPLES / "omop").glob("*.*"):
        shutil.copy(source, tmp_path)
    (tmp_path / "secret").write_bytes(os.urandom(32))
    key = (tmp_path / "secret").read_bytes().rstrip(b"\r\n")
    policy, db = str(tmp_path / "policy.toml"), str(tmp_path / "warehouse.duckdb")
    with duckdb.connect(db) as connection:
        for table in ("person", *OMOP):
            connection.execute(f"CREATE TABLE {table} AS FROM read_csv('{tmp_path}/{table}.csv')")
    scanned = tomllib.loads(sqlmicro.scan(db=db, keys=True)["toml"])
    written = tomllib.loads(Path(policy).read_text())
    assert sorted(map(str, scanned["key"])) == sorted(map(str, written["key"]))
    assert sqlmicro.plan(policy)["passed"]
    sqlmicro.apply(str(tmp_path / "policy.plan.json"))
    with duckdb.connect(db, read_only=True) as connection:

        def rows(query: str) -> list[tuple[Any, ...]]:
            return connection.execute(query).fetchall()

        moved: dict[str, set[int]] = {}
        for table, columns in OMOP.items():
            for column in columns:
                lists = f"SELECT person_id::VARCHAR, list_sort(list(epoch_us({column}))) FROM {{}} GROUP BY ALL"
                released = dict(rows(lists.format(f"{table}_release")))
                for person, before in rows(lists.format(table)):
                    after = released.pop(hmac.new(key, person.encode(), sha256).hexdigest())
                    moved.setdefault(person, set()).update(b - a for a, b in zip(before, after, strict=True))
                assert not released
        assert {len(offsets) for offsets in moved.values()} == {1}, "one offset, in every table"
        days = {offset / 86_400e6 for offsets in moved.values() for offset in offsets}
        assert days <= set(range(-60, 61))
        assert len(days) > 60
        joined = """SELECT measurement_concept_id, visit_start_date - condition_start_date AS days, count(*)
            FROM measurement{0} m{0} JOIN visit_occurrence{0} v{0} USING (visit_occurrence_id, person_id)
            JOIN condition_occurrence{0} c{0} USING (person_id) JOIN person{0} p{0} USING (person_id)
            GROUP BY ALL ORDER BY ALL"""
        assert rows(joined.format("")) == rows(joined.format("_release"))
        of_person = "gender_concept_id, year_of_birth, race_concept_id"
        assert min(rows(f"SELECT count(*) FROM person_release GROUP BY {of_person}"))[0] >= 5
        for table, column in (("condition_occurrence", "condition_concept_id"), ("drug_exposure", "drug_concept_id"),
                              ("measurement", "measurement_concept_id, value_as_number")):  # fmt: skip
            least = f"SELECT min(n) FROM (SELECT count(DISTINCT person_id) AS n FROM {table}_release GROUP BY {column})"
            assert rows(least)[0][0] >= 5, table
        lost = rows("SELECT count(*) FROM condition_occurrence_release WHERE condition_concept_id IS NULL")[0][0]
        assert 0 < lost < 20


def joined_k(rows: list[tuple[object, ...]]) -> int:
    """Return how many persons are alike at least in what is said of them, in plain Python."""
    classes: dict[tuple[object, ...], set[object]] = {}
    for person, *told in rows:
        classes.setdefault(tuple(told), set()).add(person)
    return min(len(persons) for persons in classes.values())


@pytest.mark.long
@pytest.mark.slow
def test_an_outsider_who_kept_ten_nights_finds_no_difference_below_k(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who came and who left does not show in what anybody can count who has kept the files."""
    shutil.copytree(EXAMPLES / "nightly", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    outsider = (tmp_path / "outsider.sql").read_text()
    import make_nights

    for night in range(1, 11):
        make_nights.main("warehouse.duckdb", night)
        report = sqlmicro.run("nightly.toml", night=f"2026-01-{night:02}")
        with duckdb.connect("warehouse.duckdb") as connection:
            connection.execute(f"COPY persons_nightly TO 'night_{night:02}.parquet'")
    assert report["series"]["night"] == 10
    with duckdb.connect() as connection:
        nights, fewest, difference = connection.execute(outsider).fetchall()[0]
    assert (nights, fewest) == (10, 5)
    assert difference >= 5
    with duckdb.connect() as connection:  # one row more or less would be found
        connection.execute("COPY (FROM 'night_10.parquet' ORDER BY ALL OFFSET 1) TO 'night_11.parquet'")
        assert connection.execute(outsider).fetchall() == [(11, 4, 1)]


@pytest.mark.long
@pytest.mark.slow
def test_an_outsider_who_copied_a_table_before_and_after_ten_nights_finds_k_of_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES / "retention", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    nights = runpy.run_path("make_nights.py")
    outsider = (tmp_path / "outsider.sql").read_text()

    def copied(name: str) -> None:
        with duckdb.connect("warehouse.duckdb") as connection:
            connection.execute(f"COPY patients TO '{name}.parquet'")

    for night in range(1, 11):
        nights["main"]("warehouse.duckdb", night)
        copied(f"before_{night:02}")
        report = sqlmicro.run("retention.toml", night=f"2026-01-{night:02}")
        copied(f"after_{night:02}")
        assert report["purged"]
    assert report["series"]["night"] == 10
    with duckdb.connect() as connection:
        assert connection.execute(outsider).fetchall() == [(10, 0, 0, 5, 5)]
        (rows,) = connection.execute("SELECT list(id) FROM 'after_10.parquet' WHERE name IS NULL").fetchall()[0]
        assert len(rows) >= report["rows"] > 200
        one = connection.execute("SELECT max(id) FROM 'after_10.parquet' WHERE name IS NOT NULL").fetchall()[0][0]
        connection.execute(f"COPY (FROM 'after_10.parquet' WHERE id <> {one}) TO 'after_11.parquet'")
        connection.execute("COPY (FROM 'after_10.parquet') TO 'before_11.parquet'")
        assert connection.execute(outsider).fetchall()[0][:2] == (11, 1)


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("git") and shutil.which("ssh-keygen")), reason="needs git and OpenSSH")
def test_the_action_lets_no_release_in_that_is_not_certified(tmp_path: Path) -> None:
    """Its script runs as GitHub runs it, in a clone of a repository whose main branch has the check and the signers."""
    origin, clone, base = tmp_path / "origin", tmp_path / "clone", tmp_path / "temp"
    for part in (origin / "tools", origin / "releases", base):
        part.mkdir(parents=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", tmp_path / "key"], check=True)
    (origin / "tools" / "signers").write_text(f"me@example.org {(tmp_path / 'key.pub').read_text()}")
    shutil.copy(verify.__file__, origin / "tools" / "verify.py")
    release = origin / "releases" / "ages of 2026.parquet"
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute("CREATE TABLE persons AS SELECT range AS id, range % 70 AS age FROM range(300)")
    used: dict[str, Any] = {"db": str(tmp_path / "w.duckdb")}
    sqlmicro.mdav("persons", columns=["age"], k=5, rest="drop", to=str(release), **used)
    sqlmicro.certify(str(release), to=f"{release}.json", key=str(tmp_path / "key"), **used)
    who = {f"GIT_{role}_{what}": "me@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in ("init -q -b main", "add .", "commit -q -m releases", f"clone -q . {clone}"):
        subprocess.run(["git", *words.split()], cwd=origin, env={**os.environ, **who}, check=True)
    script = (EXAMPLES / "certificate" / "verify.yml").read_text().partition("- run: |\n")[2]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "BASE": "main", "RUNNER_TEMP": str(base)}

    def checked() -> int:
        (tmp_path / "script").write_text(textwrap.dedent(script))
        words = ["bash", "-e", tmp_path / "script"]
        return subprocess.run(words, cwd=clone, env=env, capture_output=True).returncode

    assert checked() == 0
    (clone / "tools" / "verify.py").write_text("")
    (clone / "tools" / "signers").write_text("")
    assert checked() == 0, "those of the branch that is merged into are taken"
    cloned = clone / "releases" / release.name
    shutil.copy(cloned, clone / "releases" / "another.parquet")
    assert checked() == 2, "it has no certificate"
    (clone / "releases" / "another.parquet").unlink()
    cloned.write_bytes(cloned.read_bytes() + b" ")
    assert checked() == 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("incomes_then_safe.toml", "dagster_release.py"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    few = (EXAMPLES / "persons.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:301]
    (tmp_path / "persons.csv").write_text("".join(few), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_line_for_cron(tmp_path: Path) -> None:
    """It is started in another folder, prints nothing, and its second night goes on with the series."""
    shutil.copytree(EXAMPLES / "nightly", tmp_path, dirs_exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for night in (1, 2):
        subprocess.run([sys.executable, "make_nights.py", "warehouse.duckdb", str(night)], cwd=tmp_path, check=True)
        done = subprocess.run([tmp_path / "nightly.sh"], cwd="/", env={**os.environ, "PATH": path}, capture_output=True)
        assert (done.returncode, done.stdout) == (0, b""), done.stderr
    # Nothing that fails is published: the exit code stops the night.
    job = (tmp_path / "nightly.toml").read_text()
    (tmp_path / "nightly.toml").write_text(job.replace("k = 5", "k = 6"))
    done = subprocess.run([tmp_path / "nightly.sh"], env={**os.environ, "PATH": path}, capture_output=True)
    assert done.returncode == 2


def test_the_jobs_of_the_examples_can_be_planned() -> None:
    for path in (
        *sorted(EXAMPLES.glob("*.toml")),
        *sorted(EXAMPLES.glob("*/policy.toml")),
        *sorted(EXAMPLES.glob("*/nightly.toml")),
        *sorted(EXAMPLES.glob("*/retention.toml")),
    ):
        assert run("explain", path, cwd=EXAMPLES).returncode == 0, path


def test_the_dagster_asset(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dagster = pytest.importorskip("dagster", reason="needs Dagster: pip install dagster")
    monkeypatch.syspath_prepend(folder)
    import dagster_release

    done = dagster.materialize([dagster_release.persons_release])
    assert done.success
    (found,) = done.asset_materializations_for_node("persons_release")
    assert found.metadata["target"].value == "persons_release"
    assert (folder / "warehouse.duckdb").exists()


@pytest.mark.slow
def test_the_cells_of_the_notebook_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="needs pandas: pip install pandas")
    shutil.copy(EXAMPLES / "persons.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    notebook = json.loads((EXAMPLES / "release.ipynb").read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            *lines, last = ast.parse("".join(cell["source"])).body
            exec(compile(ast.Module(lines, []), "cell", "exec"), names)
            alone = isinstance(last, ast.Expr)
            code = compile(
                ast.Expression(last.value) if alone else ast.Module([last], []), "cell", "eval" if alone else "exec"
            )
            shown = eval(code, names)
            assert shown is None or shown._repr_html_(), "a notebook shows it"
    assert pq.read_metadata(tmp_path / "persons_anonymized.parquet").num_rows == 1000
