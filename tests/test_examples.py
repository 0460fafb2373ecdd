"""The examples for schedulers run: a line for cron, and a Dagster asset where Dagster is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command import run

EXAMPLES = Path(__file__).parent.parent / "examples"


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
    for path in sorted(EXAMPLES.glob("*.toml")):
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
