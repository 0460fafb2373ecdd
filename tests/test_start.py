"""What a command loads, and what it keeps for the next one."""

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
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


def test_methods_of_dataclasses_are_compiled_when_they_are_called_and_do_the_same() -> None:
    script = """
import dataclasses, inspect, pickle
from sqlmicro.system.dataclass_methods import when_called
made = []
real = dataclasses._create_fn
def counted(name, args, body, *, globals=None, locals=None, return_type=dataclasses.MISSING):
    made.append(name)
    return real(name, args, body, globals=globals, locals=locals, return_type=return_type)
dataclasses._create_fn = counted
when_called()

@dataclasses.dataclass(frozen=True, order=True)
class One:
    self: int
    name: list = dataclasses.field(default_factory=list, compare=False)

@dataclasses.dataclass(frozen=True, slots=True)
class Two(One):
    given: str = "g"
    def __post_init__(self):
        object.__setattr__(self, "given", self.given * 2)

assert not made
one = One(self=1)
assert made == ["__init__"], made
assert One(1) == one < One(2) and hash(one) == hash(One(1)) and made.count("__init__") == 1
assert vars(One)["__init__"].__code__.co_varnames[1] == "self" and One.__init__.__qualname__ == "One.__init__"
two = Two(3, ["x"], given="h")
assert repr(two) == "Two(self=3, name=['x'], given='hh')", repr(two)
assert dataclasses.asdict(two) == {"self": 3, "name": ["x"], "given": "hh"}
assert pickle.loads(pickle.dumps(one)) == one and dataclasses.replace(one, self=4).self == 4
for wrong in (lambda: setattr(one, "self", 2), lambda: delattr(one, "self")):
    try:
        wrong()
    except dataclasses.FrozenInstanceError:
        continue
    raise AssertionError
try:
    One()
except TypeError as error:
    assert "missing 1 required positional argument" in str(error), error
"""
    if not hasattr(dataclasses, "_create_fn"):
        pytest.skip("this Python compiles all methods of a class at once, and is left as it is: Python 3.11 has it")
    subprocess.run([sys.executable, "-c", script], check=True)


def test_pyarrow_takes_its_memory_from_where_the_environment_says() -> None:
    other = next((name for name in pa.supported_memory_backends() if name != "system"), None)
    if other is None:
        pytest.skip("this pyarrow has one allocator: install the wheel of PyPI")
    script = (
        "from sqlmicro.system.arrow import memory_of_the_system; memory_of_the_system()\n"
        "import pyarrow; print(pyarrow.default_memory_pool().backend_name)"
    )
    free = {name: value for name, value in os.environ.items() if name != "ARROW_DEFAULT_MEMORY_POOL"}
    for env, pool in ((free, "system"), ({**free, "ARROW_DEFAULT_MEMORY_POOL": other}, other)):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env)
        assert done.stdout.strip() == pool


@pytest.mark.slow
def test_pyarrow_finds_pandas_when_it_has_to() -> None:
    """DuckDB 1.5 loads pandas first: pyarrow asked for one that was half there, and every series ended in a fault."""
    pytest.importorskip("pandas")
    first = "import sys; from sqlmicro.system.arrow import without_pandas; without_pandas()\n"
    for script in (
        "import pyarrow as pa; table = pa.table({'x': [1.0, None]}); assert 'pandas' not in sys.modules\n"
        "assert len(table.to_pandas()) == 2; import pandas as pd\n",
        "import pandas as pd, pyarrow as pa; assert pa.lib\n",
    ):
        last = "assert pa.array(pd.Series([1.0, float('nan')])).null_count == 1"
        subprocess.run([sys.executable, "-c", first + script + last], check=True)


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


@pytest.mark.slow
def test_nothing_is_kept_where_python_shall_write_nothing(tmp_path: Path, kept: dict[str, str]) -> None:
    profiled(tmp_path, kept, PYTHONDONTWRITEBYTECODE="1")
    assert not list(tmp_path.rglob("*.pyc"))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [20_000, 200_000, 1_500_000])
def test_a_small_address_space_is_said_in_words(tmp_path: Path, limit: int) -> None:
    """With less than it needs a library ends the process as it pleases: with a traceback, ABORT, or exit code 1."""
    (tmp_path / "p.csv").write_text("id,age\n" + "".join(f"{i},{i % 50}\n" for i in range(60)))
    words = f"mdav --table {tmp_path}/p.csv --columns age --rest drop --k 3 --to {tmp_path}/o.parquet"
    done = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -v {limit}; exec {sys.executable} -m sqlmicro {words}"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode in (2, 3) and "ulimit -v" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr and not (tmp_path / "o.parquet").exists()
