"""What a command loads, and what it keeps for the next one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("pandas", "numba", "scipy", "sklearn", "pydantic", "importlib.metadata", "numpy", "pyarrow", "duckdb")
LOADED = """
import json, sys
from sqlmicro.__main__ import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded(tmp_path: Path, *words: str) -> set[str]:
    """Return the modules that a process has loaded when its command is done."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    ("words", "may"),
    [
        (("--help",), ()),
        (("mdav", "--help"), ()),
        (("methods", "mdav"), ()),
        (("profile", "--table", "p.csv"), ("duckdb", "importlib.metadata")),
    ],
)
def test_a_command_loads_what_it_needs(words: tuple[str, ...], may: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("x\n1\n2\n3\n")
    found = loaded(tmp_path, *words)
    assert "typer" in found
    assert not found & {*HEAVY} - {*may}
    assert not [name for name in found if name.startswith(("sqlmicro.group.", "sqlmicro.mask.", "sqlmicro.attacks."))]


def test_a_release_loads_no_pandas_although_it_is_there(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "p.csv").write_text("x\n" + "\n".join(map(str, range(1, 10))))
    found = loaded(tmp_path, "mdav", "--table", "p.csv", "--columns", "x", "--to", "out.parquet")
    assert (tmp_path / "out.parquet").is_file()
    assert "pyarrow" in found
    assert "pandas" not in found


def test_pyarrow_finds_pandas_when_it_has_to() -> None:
    pytest.importorskip("pandas")
    script = (
        "import sys; from sqlmicro.system.arrow import without_pandas; without_pandas()\n"
        "import pyarrow as pa; table = pa.table({'x': [1.0, None]}); assert 'pandas' not in sys.modules\n"
        "assert len(table.to_pandas()) == 2; import pandas as pd\n"
        "assert pa.array(pd.Series([1.0, float('nan')])).null_count == 1"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.fixture
def kept(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a process that keeps what it compiles here."""
    (tmp_path / "p.csv").write_text("x\n1\n2\n3\n")
    return {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "kept")}


def profiled(tmp_path: Path, kept: dict[str, str], **more: str) -> str:
    words = [sys.executable, "-m", "sqlmicro", "profile", "--table", "p.csv"]
    env = {**{name: value for name, value in kept.items() if name != "PYTHONDONTWRITEBYTECODE"}, **more}
    return subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path, env=env).stdout


@pytest.mark.slow
def test_compiled_templates_are_kept_beside_modules_and_not_taken_if_they_are_broken(
    tmp_path: Path, kept: dict[str, str]
) -> None:
    shown = profiled(tmp_path, kept)
    files = sorted((tmp_path / "kept").rglob("sql/load/*.pyc"))
    assert files
    assert all(file.stat().st_mode & 0o022 == 0 for file in files)
    for file in files:
        file.write_bytes(file.read_bytes()[:-9])
    assert profiled(tmp_path, kept) == shown
    assert not list((tmp_path / "kept").rglob("*.pyc.*"))


def test_nothing_is_kept_where_python_shall_write_nothing(tmp_path: Path, kept: dict[str, str]) -> None:
    profiled(tmp_path, kept, PYTHONDONTWRITEBYTECODE="1")
    assert not list(tmp_path.rglob("*.pyc"))
