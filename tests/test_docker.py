"""The Docker image of examples/ is built and run, wherever there is something that builds images."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILDERS = ("docker", "podman")


def builder() -> str | None:
    """Return the program that builds and runs images; one that cannot reach its daemon is none."""
    for name in filter(shutil.which, BUILDERS):
        try:
            if subprocess.run([name, "info"], capture_output=True, timeout=30).returncode == 0:
                return name
        except subprocess.TimeoutExpired:
            continue
    return None


@pytest.mark.slow
def test_the_image_makes_a_release_in_a_container_that_may_write_nothing_else(tmp_path: Path) -> None:
    program = builder()
    if program is None:
        pytest.skip("needs a builder of images that runs: a Docker daemon, or apt-get install podman")
    context, data = tmp_path / "context", tmp_path / "data"
    for name in ("sqlmicro", "sql", "examples"):
        shutil.copytree(ROOT / name, context / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, context)
    data.mkdir()
    shutil.copy(ROOT / "examples" / "persons.csv", data)
    image = f"sqlmicro-test-{os.getpid()}"
    built = [program, "build", "-q", "-t", image, "-f", str(context / "examples" / "Dockerfile"), str(context)]
    run = [program, "run", "--rm", "--read-only", "--tmpfs", "/tmp", "--network", "none",
           "--user", f"{os.getuid()}:{os.getgid()}", "-v", f"{data}:/data", image]  # fmt: skip
    try:
        subprocess.run(built, check=True, capture_output=True)
        command = [*run, "safe", "--table", "persons.csv", "--to", "out.parquet"]
        made = subprocess.run(command, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
    finally:
        subprocess.run([program, "rmi", "-f", image], capture_output=True)
    smallest = "SELECT min(n) FROM (SELECT count(*) AS n FROM read_parquet($1) AS records GROUP BY records)"
    assert duckdb.execute(smallest, [str(data / "out.parquet")]).fetchall()[0][0] >= 3
