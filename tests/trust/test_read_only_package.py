"""A read-only package and no home, as in a hardened container: kernels run, and nobody else's compiled code is read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USER, STRANGER = 12345, 12346
KEPT = f"sqlmicro-compiled-{USER}"
# A user without a name or home, who may read all (the interpreter may be in root's home) and write only his own.
AS_USER = (
    "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=+dac_read_search",
    "--ambient-caps=+dac_read_search",
)  # fmt: skip
READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'
RELEASE = ("-m", "sqlmicro", "optimal-univariate", "--columns", "age,household_size", "--rest", "drop", "--k", "3")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package, without anything compiled."""
    probe = ["unshare", "-m", *AS_USER, "true"]
    if shutil.which("unshare") is None or shutil.which("setpriv") is None or subprocess.run(probe).returncode:
        pytest.skip("needs other users and mounts: run as root with util-linux, in a container with SYS_ADMIN")
    folder = tmp_path_factory.mktemp("site")
    for name in ("sqlmicro", "sql"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def environment(package: Path, temporary: Path) -> dict[str, str]:
    left_out = {"HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    return {**kept, "PYTHONPATH": str(package), "TMPDIR": str(temporary)}


def run(package: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a user who may write to `folder` alone, with the package on a read-only mount."""
    (folder / "tmp").mkdir(exist_ok=True)
    for path in (folder, folder / "tmp"):
        os.chown(path, USER, USER)
    inside = ["sh", "-c", READ_ONLY, str(package), *AS_USER, sys.executable, *arguments]
    given = {"env": environment(package, folder / "tmp"), "cwd": folder}
    done = subprocess.run(["unshare", "-m", *inside], capture_output=True, text=True, timeout=600, **given)  # type: ignore[call-overload]
    assert list(folder.glob("~*")) == [], "numba makes a folder ~ where a user has no home"
    return done


def release(package: Path, folder: Path, name: str) -> str:
    """Release a table, and return what was said."""
    table, to = str(ROOT / "examples" / "persons.csv"), str(folder / name)
    done = run(package, folder, *RELEASE, "--table", table, "--to", to)
    assert done.returncode == 0, done.stderr
    assert Path(to).stat().st_uid == USER
    return done.stderr


@pytest.mark.slow
def test_kernels_are_compiled_once_into_a_private_folder(package: Path, tmp_path: Path) -> None:
    assert "compiling" in release(package, tmp_path, "first.csv")
    kept = tmp_path / "tmp" / KEPT
    assert (kept.stat().st_uid, kept.stat().st_mode & 0o777) == (USER, 0o700)
    assert "compiling" not in release(package, tmp_path, "second.csv")
    assert list(package.rglob("*.nb?")) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "times"),
    [
        pytest.param(STRANGER, 2, id="a stranger's"),
        pytest.param(0, 1, id="root's"),
        pytest.param(USER, 1, id="open to others"),
    ],
)
def test_a_folder_that_is_not_this_users_alone_is_neither_read_nor_written(
    package: Path, tmp_path: Path, owner: int, times: int
) -> None:
    """Compiled code is kept as pickles, which run whatever is in them."""
    kept = tmp_path / "tmp" / KEPT
    kept.mkdir(parents=True)
    kept.chmod(0o777)
    os.chown(kept, owner, owner)
    (kept / "planted").touch()
    for number in range(times):
        assert "compiling" in release(package, tmp_path, f"{number}.csv")
    assert [path.name for path in kept.iterdir()] == ["planted"]


@pytest.mark.slow
def test_a_link_is_not_followed(package: Path, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    os.chown(tmp_path / "elsewhere", USER, USER)
    (tmp_path / "tmp" / KEPT).symlink_to(tmp_path / "elsewhere")
    release(package, tmp_path, "first.csv")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.slow
def test_what_an_image_has_compiled_is_used_unless_others_could_have_written_it(package: Path, tmp_path: Path) -> None:
    image = tmp_path / "image"
    shutil.copytree(package, image)
    table = str(ROOT / "examples" / "persons.csv")
    built = subprocess.run(
        [sys.executable, *RELEASE, "--table", table, "--to", "built.csv"],
        capture_output=True, text=True, cwd=tmp_path, env=environment(image, tmp_path) | {"HOME": "/root"},
    )  # fmt: skip
    assert "compiling" in built.stderr
    compiled = list(image.rglob("*.nb?"))
    assert compiled
    (tmp_path / "one").mkdir()
    assert "compiling" not in release(image, tmp_path / "one", "first.csv")
    for file in compiled:
        file.chmod(0o666)
    (tmp_path / "two").mkdir()
    assert "compiling" in release(image, tmp_path / "two", "first.csv")


def test_where_nothing_at_all_can_be_written_it_is_said_in_words(package: Path, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    shutil.copytree(package, tmp_path / "image")
    inside = ["sh", "-c", READ_ONLY, str(tmp_path), *AS_USER, sys.executable]
    table = str(ROOT / "examples" / "persons.csv")
    code = f"import tempfile; tempfile.tempdir = '{tmp_path}'; import sqlmicro; sqlmicro.profile({table!r})"
    env = environment(tmp_path / "image", tmp_path / "tmp")
    done = subprocess.run(["unshare", "-m", *inside, "-c", code], capture_output=True, text=True, env=env)
    assert "InputError: TMPDIR: must be a folder for temporary files that you may write to." in done.stderr


WARM_UP = """
import sys
import sqlmicro
from sqlmicro.__main__ import main
from sqlmicro.verbs import warm_up

def called(kernel):
    # They were compiled with it, if it was read from where it is kept.
    names = {name: kernel.py_func.__globals__.get(name) for name in kernel.py_func.__code__.co_names}
    return [one for one in names.values() if hasattr(one, "py_func")]

def compiled():
    return {(kernel.__module__, kernel.__name__, str(types)) for kernel in kernels for types in kernel.signatures}

table, *own = sys.argv[1:]
sys.argv = ["sqlmicro", "warm-up"]
try:
    main()
except SystemExit as end:
    assert not end.code
kernels = list(warm_up.kernels())
assert [kernel.__name__ for kernel in kernels if not kernel.stats.cache_path] == [], "they are not kept"
reached = [kernel for kernel in kernels if kernel.signatures]
for kernel in reached:
    reached += [one for one in called(kernel) if one not in reached]
left = [f"{kernel.__module__}.{kernel.__name__}" for kernel in kernels if kernel not in reached]
assert left == [], f"no call of warm-up leads to {left}"
known, refused = compiled(), []
assert known
for method in sqlmicro.methods()["methods"]:
    if method["name"] in own:
        continue
    nominal = method["name"] in ("safe", "suppress")
    columns = ["sex", "age", "region"] if nominal else ["age", "household_size"]
    verb = getattr(sqlmicro, method["name"].replace("-", "_"))
    try:
        verb(table, columns=columns, rest="drop", to=method["name"] + ".csv", alone_because="a test")
    except sqlmicro.ParameterError:
        refused.append(method["name"])
    assert compiled() == known, method["name"]
assert len(refused) <= 4, refused  # which need an option that has no default
sqlmicro.safe(table, dry_run=True)  # which averages two numbers
assert compiled() == known, "safe, all columns"
given = {"rest": "drop", "dry_run": True}
for name in ("mdav", "suppress", "mondrian", "safe"):
    for options in (
        {"by": ["sex"]}, {"person": ["age"]}, {"sensitive": ["household_size"], "max_t": 0.4},
        {"sensitive": ["household_size"], "min_l": 2, "by": ["sex"]},
    ):
        columns = ["age", "household_size"] if name in ("mdav", "mondrian") else ["region", "household_size"]
        columns = [column for column in columns if [column] not in options.values()]
        getattr(sqlmicro, name)(table, columns=columns, **options, **given)
        assert compiled() == known, (name, options)
for options in ({}, {"match": ["person_id"]}, {"person": ["household_size"]}):
    sqlmicro.attack(original=table, release=[table], columns=["age", "region"], sample=50, **options)
    assert compiled() == known, options
"""
OWN = (
    "apply-recoding",
    "top-code",
    "bottom-code",
    "constant",
    "encrypt",
    "fake",
    "generalize",
    "partial",
    "pseudonymise",
    "sample",
    "shift-dates",
)
"""They want options of their own, and have no kernels."""


@pytest.mark.long
@pytest.mark.slow
def test_warm_up_leaves_nothing_to_compile(tmp_path: Path) -> None:
    """With its default options no method calls a function, or calls it with types, that warm-up has not compiled.

    What is compiled is used by other users, see above; so it need not be compiled anew here.
    """
    table = tmp_path / "persons.csv"  # small sets are grouped without kernels: these are as many as warm-up takes
    table.write_text("".join((ROOT / "examples" / "persons.csv").read_text().splitlines(keepends=True)[:401]))
    program = [sys.executable, "-c", WARM_UP, str(table), *OWN]
    done = subprocess.run(program, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "functions are compiled" in done.stdout
    assert "1 of " in done.stderr, "a log of a build shows how far it is"
