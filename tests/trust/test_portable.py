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

from sqlmicro.errors import InputError
from sqlmicro.system import numba_code, secrets
from sqlmicro.system.closed import is_closed

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "examples" / "persons.csv"


@pytest.mark.slow
def test_every_module_is_imported_and_safe_runs_without_anything_of_linux(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "SQLMICRO_SECRET"}
    own = {"TMPDIR": str(tmp_path / "tmp"), "XDG_CONFIG_HOME": str(tmp_path / "tmp" / "settings")}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("portable_driver.py")), str(SMALL), str(tmp_path)],
        capture_output=True, text=True, timeout=600, env={**environment, **own},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["imported"] > 150
    assert found["k"] >= 3
    assert found["locked"] > 0, "the locks of msvcrt were asked for"
    assert "as Linux has them" in found["refused"], "a purge that cannot be made is refused before any work"
    assert found["in_place"] >= 3
    assert found["left"] == ["safe.parquet", "w.duckdb", "settings"]
    assert (tmp_path / "tmp" / "settings" / "sqlmicro" / "secret").is_file(), "the lasting secret was made, and read"


def test_the_secret_of_the_first_command_needs_nothing_of_linux(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SQLMICRO_SECRET")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with monkeypatch.context() as windows:
        for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "geteuid", "getuid"):
            windows.delattr(os, name)
        windows.setattr(secrets, "_PLAIN", 0)
        made = secrets.lasting()
        assert (made.lasts, len(made.value)) == (True, 64)
        assert secrets.lasting() == made
        (tmp_path / "sqlmicro" / "secret").rename(tmp_path / "elsewhere")
        (tmp_path / "sqlmicro" / "secret").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(InputError, match="must be a file of this user"):
            secrets.lasting()
        assert numba_code.private_cache.__wrapped__() is None
    assert is_closed(tmp_path)


def test_the_classifiers_say_what_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    systems = [text for text in project["classifiers"] if text.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
