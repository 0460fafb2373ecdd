"""Compiled code is a pickle, which runs what it holds: it is read only from where nobody else can write."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from sqlmicro.system import closed
from sqlmicro.system.closed import is_closed
from sqlmicro.system.template_cache import TemplateCache

MODULE = """
from sqlmicro.system.compiled import njit
@njit(cache=True)
def twice(x): return x + x
"""
CALL = """
import own
answer, told, cache = own.twice(4), own.twice.stats, own.twice._cache
print(answer, sum(told.cache_hits.values()), told.cache_path and cache._cache_file._index_path)
"""
STRANGER = 12345
AS_ROOT = pytest.mark.skipif(closed.user() != 0, reason="gives files to other users: run as root")


class Poison:
    """What a stranger would leave: reading it makes a file."""

    def __init__(self, made: Path) -> None:
        self.made = made

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.made),)


def called(site: Path, **environment: str) -> tuple[str, int, Path | None]:
    """Return what a process gets of the kernel: its answer, how often it was read, and where it is kept."""
    home = site.parent / "home"
    (site.parent / "tmp").mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    given = {"HOME": str(home), "PYTHONPATH": f"{site}{os.pathsep}{Path.cwd()}", "TMPDIR": str(site.parent / "tmp")}
    done = subprocess.run(
        [sys.executable, "-c", CALL], env=kept | given | environment, capture_output=True, text=True, cwd=site.parent
    )
    assert done.returncode == 0, done.stderr
    answer, hits, index = done.stdout.split(maxsplit=2)
    return answer, int(hits), None if index.strip() == "None" else Path(index.strip())


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "own.py").write_text(MODULE)
    (tmp_path / "home").mkdir()
    return folder


def poisoned(index: Path, made: Path) -> Path:
    """Put poison in place of an index file of numba."""
    index.unlink()
    index.write_bytes(pickle.dumps(Poison(made)))
    return index


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "opened"),
    [
        ("named", "folder"), ("named", "above"), ("named", "owner"), ("beside", "file"), ("home", "folder"),
        ("home", "owner above"),
    ],
)  # fmt: skip
def test_poison_is_not_read_where_others_could_have_left_it(site: Path, place: str, opened: str) -> None:
    if "owner" in opened and closed.user() != 0:
        pytest.skip("gives files to other users: run as root")
    named = {"NUMBA_CACHE_DIR": str(site.parent / "all" / "kept")} if place == "named" else {}
    if place == "home":
        (site / "__pycache__").write_text("no folder, so that nothing is kept beside the module")
    answer, _, index = called(site, **named)
    assert answer == "8" and index is not None and index.is_file()
    assert called(site, **named)[1] == 1, "it is read where nobody else can write"
    made = site.parent / "made"
    poisoned(index, made)
    at = {"above": index.parent.parent, "file": index, "owner": index}.get(opened, index.parent)
    if "owner" in opened:
        os.chown(at, STRANGER, STRANGER)
    else:
        at.chmod(0o666 if at == index else 0o777)
    answer, hits, kept = called(site, **named)
    assert (answer, hits) == ("8", 0)
    assert not made.exists()
    if opened in ("folder", "above", "owner above"):
        assert kept is None or index.parent not in kept.resolve().parents
        assert index.read_bytes() == pickle.dumps(Poison(made)), "nothing is written there either"


def test_a_place_is_closed_where_no_folder_on_the_way_lets_others_write(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    file = inner / "file"
    file.touch(mode=0o644)
    assert is_closed(file) and is_closed(inner) and is_closed(inner / "not yet" / "there")
    for part, mode in ((file, 0o664), (inner, 0o775), (inner, 0o757), (inner.parent, 0o777)):
        before = part.stat().st_mode & 0o7777
        part.chmod(mode)
        assert not is_closed(file), (part.name, oct(mode))
        part.chmod(before)
    inner.parent.chmod(0o1777)
    assert is_closed(file), "a sticky folder keeps what is ours"
    assert not is_closed(inner.parent), "others may put files there"
    inner.parent.chmod(0o755)
    assert is_closed(file)


def test_links_are_followed_and_looked_at(tmp_path: Path) -> None:
    for name in ("mine", "open"):
        (tmp_path / name / "in").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "to open").symlink_to("open/in")
    (tmp_path / "to mine").symlink_to(tmp_path / "mine")
    (tmp_path / "open" / "to mine").symlink_to(tmp_path / "mine")
    (tmp_path / "round").symlink_to("round")
    assert is_closed(tmp_path / "to mine" / "in")
    assert is_closed(tmp_path / "open" / ".." / "mine") is False, "the way leads through it"
    assert not is_closed(tmp_path / "to open")
    assert not is_closed(tmp_path / "open" / "to mine" / "in"), "others can turn the link elsewhere"
    assert not is_closed(tmp_path / "round")


@AS_ROOT
def test_what_belongs_to_somebody_else_is_theirs_whatever_its_mode(tmp_path: Path) -> None:
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    os.chown(inner.parent, STRANGER, STRANGER)
    assert not is_closed(inner)
    assert is_closed(inner, owner=STRANGER), "who owns the program may change it anyway"
    (tmp_path / "link").symlink_to(tmp_path)
    os.lchown(tmp_path / "link", STRANGER, STRANGER)
    assert not is_closed(tmp_path / "link" / "here")


def test_where_users_have_no_numbers_nothing_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o777)
    assert not is_closed(tmp_path)
    monkeypatch.delattr(os, "geteuid")
    assert is_closed(tmp_path)


def test_templates_of_others_are_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template that is kept is code of Python."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "filters.py").touch()
    (tmp_path / "one.sql").write_text("mine")
    (tmp_path / "other.sql").write_text("theirs")

    def rendered() -> str:
        cache = TemplateCache(tmp_path, tmp_path / "filters.py")
        return Environment(loader=FileSystemLoader(tmp_path), bytecode_cache=cache).get_template("one.sql").render()

    assert rendered() == "mine"
    (kept,) = (tmp_path / "__pycache__").iterdir()
    (tmp_path / "one.sql").write_text("theirs")
    assert rendered() == "theirs"
    planted = kept.read_bytes()
    (tmp_path / "one.sql").write_text("mine")
    assert rendered() == "mine"
    bucket = planted.replace(checksum(tmp_path, "theirs"), checksum(tmp_path, "mine"))
    assert bucket != planted
    kept.write_bytes(bucket)
    assert rendered() == "theirs", "it is taken for what was compiled of this text"
    for part, mode in ((kept, 0o666), (kept.parent, 0o777), (tmp_path, 0o777)):
        kept.write_bytes(bucket)
        before = part.stat().st_mode & 0o7777
        part.chmod(mode)
        assert rendered() == "mine", part.name
        part.chmod(before)


def checksum(root: Path, text: str) -> bytes:
    return TemplateCache(root, root / "filters.py").get_source_checksum(text).encode()
