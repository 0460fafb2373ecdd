"""The examples for schedulers run: a line for cron, and a Dagster asset where Dagster is installed."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import duckdb
import pytest
from command import run

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_star_schema_is_scanned_planned_and_applied(tmp_path: Path) -> None:
    """Persons, visits and orders: the scan finds the keys of the policy; what joined before joins after."""
    for source in (EXAMPLES / "star_schema").glob("*.*"):
        shutil.copy(source, tmp_path)
    (tmp_path / "secret").write_bytes(os.urandom(32))
    for table in ("persons", "visits", "orders"):
        assert (
            run("register", f"{table}.csv", "--db", "warehouse.duckdb", "--table", table, cwd=tmp_path).returncode == 0
        )
    scanned = tomllib.loads(run("scan", "--db", "warehouse.duckdb", cwd=tmp_path).stdout)
    written = tomllib.loads((tmp_path / "policy.toml").read_text())
    assert sorted(map(str, scanned["key"])) == sorted(map(str, written["key"]))
    steps = {table["name"]: table["step"][0] for table in scanned["table"]}
    assert {name: step.get("person") for name, step in steps.items()} == {
        "persons": None, "visits": ["patient_id"], "orders": ["customer_id"],
    }  # fmt: skip
    assert run("plan", "policy.toml", cwd=tmp_path).returncode == 0
    assert run("apply", "policy.plan.json", cwd=tmp_path).returncode == 0
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as connection:
        for child, key in (("visits", "patient_id"), ("orders", "customer_id")):
            joined = f"SELECT count(*) FROM {child}{{0}} c JOIN persons{{0}} p ON c.{key} = p.person_id"
            before, after = (connection.execute(joined.format(end)).fetchall() for end in ("", "_release"))
            assert before == after
        numbers = connection.execute("SELECT patient_id, admitted, cost, diagnosis FROM visits_release").fetchall()
        connection.execute("ALTER TABLE persons ADD nickname VARCHAR")
    assert len(numbers) == 1200
    classes: dict[tuple[object, object], list[tuple[str, str]]] = {}
    for patient, admitted, cost, diagnosis in numbers:
        classes.setdefault((admitted, cost), []).append((patient, diagnosis))
    assert min(len({patient for patient, _ in rows}) for rows in classes.values()) == 5
    assert min(len({diagnosis for _, diagnosis in rows}) for rows in classes.values()) == 2
    assert run("plan", "policy.toml", cwd=tmp_path).returncode == 1
    assert run("apply", "policy.plan.json", cwd=tmp_path).returncode == 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("incomes_then_safe.toml", "nightly.sh", "dagster_release.py"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    few = (EXAMPLES / "persons.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:301]
    (tmp_path / "persons.csv").write_text("".join(few), encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_line_for_cron(folder: Path) -> None:
    """It is started in another folder, prints nothing, and its second night replaces the first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    job = (folder / "incomes_then_safe.toml").read_text().replace('do = "safe"', 'do = "safe"\neffort = "fast"')
    (folder / "incomes_then_safe.toml").write_text(job)
    for _ in range(2):
        done = subprocess.run([folder / "nightly.sh"], cwd="/", env={**os.environ, "PATH": path}, capture_output=True)
        assert (done.returncode, done.stdout) == (0, b""), done.stderr
    # Nothing that fails a gate is published: the exit code stops the night.
    (folder / "incomes_then_safe.toml").write_text(job.replace("min_k = 3", "min_k = 250"))
    assert (
        subprocess.run([folder / "nightly.sh"], env={**os.environ, "PATH": path}, capture_output=True).returncode == 1
    )


def test_the_jobs_of_the_examples_can_be_planned() -> None:
    for path in (*sorted(EXAMPLES.glob("*.toml")), EXAMPLES / "star_schema" / "policy.toml"):
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
