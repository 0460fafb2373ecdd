"""What all tests share: where the reference data is, and how tests are run."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from compiling import compile_once
from hypothesis import Phase, settings
from world import Workbench

from sqlmicro.database import duckdb_warehouse
from sqlmicro.system import interrupts


def in_memory() -> bool:
    """Tell whether there is a file system in memory that can take the place of the disk, with programs too."""
    if not os.access(_MEMORY, os.W_OK):
        return False
    found = os.statvfs(_MEMORY)
    return found.f_bavail * found.f_frsize > 4 << 30 and not found.f_flag & os.ST_NOEXEC


# Every release waits some ten times until a disk has what was written.
_MEMORY = "/dev/shm"
if "TMPDIR" not in os.environ and in_memory():
    os.environ["TMPDIR"] = tempfile.tempdir = _MEMORY  # pytest has asked tempfile already, which asks once

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data")
REFERENCE = DATA.parent / "reference"
SMALL = ROOT / "examples" / "persons.csv"
HOW = "set SQLMICRO_DATA to the folder of the reference data (census.csv, tarragona.csv, eia.csv, testdata.csv, …)"

# The same examples in every run: a release is not held up by an example that nobody had seen before. Others are looked
# for by HYPOTHESIS_PROFILE=thorough and by FUZZ, tests/trust/test_fuzz.py. A property that needs a release or an audit
# for every example takes a fixed share of these numbers. An example that fails is shown as it was drawn: to make it
# small takes minutes where each is a release, and `thorough` does it.
_AS_DRAWN = (Phase.explicit, Phase.generate)
settings.register_profile("quick", deadline=None, derandomize=True, print_blob=True, max_examples=50, phases=_AS_DRAWN)
settings.register_profile("ci", settings.get_profile("quick"), max_examples=300)
settings.register_profile("thorough", deadline=None, database=None, print_blob=True, max_examples=300)
# Choices that are keyed by the lasting secret are the same in every run, and nobody's own secret is touched.
os.environ.setdefault("SQLMICRO_SECRET", "a lasting secret of the tests")
# Neither is anybody's own ledger: see `own_ledger`.
os.environ["XDG_CONFIG_HOME"] = tempfile.mkdtemp(prefix="sqlmicro-tests-")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Threads of scikit-learn that wait for each other keep every core busy, by default, and more so beside other workers:
# boosting in a benchmark took 66 CPU seconds in place of 4. What is computed is the same.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_TESTS = count(1)
gc.disable()  # until all tests are collected

# A shell without a terminal starts its background jobs with Ctrl-C ignored, which they hand down to their children.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave nothing behind."""
    shutil.rmtree(os.environ["XDG_CONFIG_HOME"], ignore_errors=True)


@pytest.fixture(autouse=True)
def own_ledger(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give every test a ledger of its own for files without a database: others have released the same people."""
    folder = tmp_path_factory.getbasetemp() / f"settings-{next(_TESTS)}"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    yield
    shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Run statements in the thread of a test, unless Ctrl-C may come: stopping each costs a tenth of a release."""
    stops = item.path.name in _STOPPED
    duckdb_warehouse.interruptible = interrupts.interruptible if stops else lambda function, interrupt: function()


_STOPPED = (
    "test_a08_python_quotes_no_record.py", "test_approval.py", "test_cli.py", "test_crash.py", "test_interrupts.py",
    "test_locks.py", "test_messages.py", "test_mysql.py", "test_parallel.py", "test_scratch_folders.py",
    "test_unfinished.py",
)  # fmt: skip
"""Tests whose statements run as a user's do: those of signals, threads, locks, and of what an error says."""


def pytest_configure(config: pytest.Config) -> None:
    """Compile before the workers are started."""
    compile_once(config)


def pytest_collection_finish() -> None:
    """Look for garbage from here on, and not among the tests: these stay."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the quick suite some cases of what is `slow_but` them; start the longest first, or they would end alone."""
    for item in items:
        quick = item.get_closest_marker("slow_but")
        if quick and isinstance(item, pytest.Function) and item.callspec.id not in quick.args:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def reported(verb: str, *records: str, **given: Any) -> Any:
    """Return the report of a verb as it is before it becomes a dictionary: what reports are rendered from."""
    from sqlmicro import api
    from sqlmicro.system.progress import Progress

    found = api.verbs()[verb]
    many = {parameter.name for parameter in found.parameters if parameter.many}
    named = [parameter.name for parameter in found.parameters if parameter.param.positional] or ["table"]
    values = {**dict(zip(named, records, strict=False)), **given}
    values = {name: (value,) if name in many and isinstance(value, str) else value for name, value in values.items()}
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return found.run(values, Progress(enabled=False))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say on which data the tests run."""
    if not DATA.is_dir():
        return [
            f"reference data: MISSING, no folder {DATA}: small tables from examples/ are used where they can be, "
            f"tests of published figures are skipped; {HOW}"
        ]
    lines = [f"reference data: {DATA}"]
    if not REFERENCE.is_dir():
        lines.append(f"reference results: MISSING, no folder {REFERENCE}; tests that compare with them are skipped")
    return lines


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of the reference data, or skip the test."""
    if not DATA.is_dir():
        pytest.skip(f"no reference data at {DATA}: {HOW}")
    return DATA


@pytest.fixture(scope="session")
def reference_folder(data_folder: Path) -> Path:
    """Return the folder of results of other programs on the reference data, or skip the test."""
    if not REFERENCE.is_dir():
        pytest.skip(f"no reference results at {REFERENCE}, beside the data: {HOW}")
    return REFERENCE


@pytest.fixture(scope="session")
def real_table() -> Path:
    """Return a CSV file nobody prepared: a survey of 4 580 persons, or the small table of examples/ without it."""
    for path in (DATA / "testdata.csv", SMALL):
        if path.is_file():
            return path
    pytest.skip(f"neither reference data nor {SMALL}: {HOW}")


def tie_order(numbers: Sequence[int]) -> dict[int, int]:
    """Return the place of every record in the order that ties go by, with these numbers as its row key.

    It is that of DuckDB's hash() of their text.
    """
    import duckdb

    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT n FROM unnest($1) AS t(n) ORDER BY hash(CAST(n AS VARCHAR))", [list(numbers)]
        ).fetchall()
    return {int(number): place for place, (number,) in enumerate(rows)}


@pytest.fixture(scope="session")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    """Return a workbench; every table it makes has a database file of its own."""
    return Workbench(tmp_path_factory.mktemp("workbench"))
