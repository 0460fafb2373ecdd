"""A wheel that brings machine code: used without numba, and as if it were not there where it does not fit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from sqlmicro.__main__ import main
try:
    main()
finally:
    if "numba" in sys.modules:
        sys.exit(7)
"""
RELEASE = ("optimal-univariate", "--table", str(ROOT / "examples" / "persons.csv"),
           "--columns", "age", "--rest", "drop", "--seed", "1", "--to", "released.csv", "--overwrite")  # fmt: skip
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler: apt-get install build-essential"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel with what one method needs compiled."""
    folder = tmp_path_factory.mktemp("wheels")
    plain = folder / "sqlmicro-0.0-py3-none-any.whl"
    info = "sqlmicro-0.0.dist-info"
    with zipfile.ZipFile(plain, "w") as made:
        for top, inside in ((ROOT / "sqlmicro", "sqlmicro"), (ROOT / "sql", "sqlmicro/sql")):
            for file in top.rglob("*"):
                if file.is_file() and file.suffix not in (".pyc", ".nbi", ".nbc"):
                    made.write(file, f"{inside}/{file.relative_to(top)}")
        made.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: sqlmicro\nVersion: 0.0\n")
        made.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(f"{info}/RECORD", "")
    command = [sys.executable, str(ROOT / ".ci" / "platform_wheel.py"), str(plain), str(folder), "optimal-univariate"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.split()[-1])


def release(package: Path, folder: Path) -> tuple[bool, bytes]:
    """Release a table with the package in a folder; tell whether numba was loaded, and return the release."""
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    env = os.environ | {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *RELEASE], capture_output=True, text=True, cwd=folder, env=env
    )
    assert done.returncode in (0, 7), done.stderr
    compiled = bool(list(cache.rglob("*.nbi")))
    assert ("compiling" in done.stderr) == compiled == (done.returncode == 7)
    return compiled, (folder / "released.csv").read_bytes()


@pytest.fixture
def package(wheel: Path, tmp_path: Path) -> Path:
    """Return the folder of an installed wheel, whose files this test may change."""
    with zipfile.ZipFile(wheel) as made:
        made.extractall(tmp_path / "package")
    return tmp_path / "package"


@pytest.mark.long
def test_it_is_used_where_it_fits_and_not_where_it_does_not(wheel: Path, package: Path, tmp_path: Path) -> None:
    assert wheel.name.startswith("sqlmicro-0.0-py3-none-")
    shipped = package / "sqlmicro" / "compiled"
    assert sorted(file.name for file in shipped.iterdir()) == ["kernels.json", "kernels.so"]
    library = (shipped / "kernels.so").read_bytes()
    for path in (str(wheel.parent), sys.prefix, str(Path.home() / ".")):
        assert path.encode() not in library
    (compiled, first) = release(package, tmp_path)
    assert not compiled

    kernels = package / "sqlmicro" / "group" / "_univariate_kernels.py"
    source = kernels.read_text()
    kernels.write_text(source + "\n")
    assert release(package, tmp_path) == (True, first), "the source is another one"
    kernels.write_text(source)
    assert release(package, tmp_path) == (False, first)
    (shipped / "kernels.so").write_bytes(library[:-1])
    assert release(package, tmp_path) == (True, first), "it is damaged"


@pytest.mark.parametrize("part", [".", "kernels.so", "kernels.json"])
def test_what_others_could_have_changed_is_not_read(package: Path, tmp_path: Path, part: str) -> None:
    (package / "sqlmicro" / "compiled" / part).chmod(0o777)
    assert release(package, tmp_path)[0]
