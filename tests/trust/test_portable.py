"""Portability: nothing is needed from Linux to import the package and to release a table.

Windows itself is not tested here, which the classifiers of pyproject.toml say.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "examples" / "persons.csv"


@pytest.mark.slow
def test_every_module_is_imported_and_safe_runs_without_anything_of_linux(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("portable_driver.py")), str(SMALL), str(tmp_path)],
        capture_output=True, text=True, timeout=600, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["imported"] > 150
    assert found["k"] >= 3
    assert found["locked"] > 0, "the locks of msvcrt were asked for"
    assert "as Linux has them" in found["refused"], "a purge that cannot be made is refused before any work"
    assert found["in_place"] >= 3
    assert found["left"] == ["safe.parquet", "w.duckdb"]


def test_the_classifiers_say_what_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    systems = [text for text in project["classifiers"] if text.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
