"""A wheel that brings compiled code: used without compiling, and as if it were not there where it does not fit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numba
import pytest

ROOT = Path(__file__).resolve().parents[2]
RELEASE = ("-m", "sqlmicro", "optimal-univariate", "--table", str(ROOT / "examples" / "persons.csv"),
           "--columns", "age", "--rest", "drop", "--seed", "1", "--to", "released.csv", "--overwrite")  # fmt: skip
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(numba.version_info < (0, 61), reason="stamps the time of the source"),
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
    """Release a table with the package in a folder; tell whether anything was compiled, and return the release."""
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    env = os.environ | {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, *RELEASE], capture_output=True, text=True, cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    compiled = bool(list(cache.rglob("*.nbi")))
    assert ("compiling" in done.stderr) == compiled
    return compiled, (folder / "released.csv").read_bytes()


@pytest.mark.long
def test_it_is_used_where_it_fits_and_is_not_there_where_it_does_not(wheel: Path, tmp_path: Path) -> None:
    assert wheel.name.startswith(f"sqlmicro-0.0-cp{sys.version_info[0]}{sys.version_info[1]}-none-")
    package = tmp_path / "package"
    with zipfile.ZipFile(wheel) as made:
        made.extractall(package)
    shipped = list((package / "sqlmicro" / "compiled").rglob("*.nb?"))
    assert {file.suffix for file in shipped} == {".nbi", ".nbc"}
    for file in shipped:
        for path in (str(wheel.parent), sys.prefix, str(Path.home() / ".")):
            assert path.encode() not in file.read_bytes(), file
    (compiled, first) = release(package, tmp_path)
    assert not compiled

    kernels = package / "sqlmicro" / "group" / "_univariate_kernels.py"
    source = kernels.read_text()
    kernels.write_text(source + "\n")
    assert release(package, tmp_path) == (True, first), "the source is another one"
    kernels.write_text(source)
    assert release(package, tmp_path) == (False, first)

    indexes = {file: file.read_bytes() for file in shipped if file.suffix == ".nbi"}
    for file, content in indexes.items():
        file.write_bytes(content.replace(numba.__version__.encode(), b"9" * len(numba.__version__), 1))
    assert release(package, tmp_path) == (True, first), "numba is another one"
    for file, content in indexes.items():
        file.write_bytes(content)
        for code in file.parent.glob(f"{file.stem}.*.nbc"):
            code.write_bytes(b"damaged")
    assert release(package, tmp_path) == (True, first), "it is damaged"


def test_what_others_could_have_changed_is_not_read(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as made:
        made.extractall(tmp_path / "package")
    (tmp_path / "package" / "sqlmicro" / "compiled" / "group").chmod(0o777)
    assert release(tmp_path / "package", tmp_path)[0]
