"""What has come to a place since a run began is not replaced unless that was asked for; what is no file never is."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from command import run
from databases import opened

import sqlmicro
from sqlmicro.publish import consult, publish
from sqlmicro.system import moves

PERSONS = "id,age\n" + "".join(f"{i},{20 + i % 4}\n" for i in range(24))
THEIRS = "somebody else's\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "persons.csv").write_text(PERSONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def released(**options: object) -> object:
    return sqlmicro.mdav("persons.csv", columns=["age"], rest="drop", k=3, **options)


def after(monkeypatch: pytest.MonkeyPatch, module: object, name: str, appear: Callable[[], object]) -> None:
    """Have something appear when a function of a run is called."""
    real = getattr(module, name)

    def called(*args: object, **kwargs: object) -> object:
        appear()
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, called)


@pytest.mark.parametrize("when", ["while it is audited", "while it is recorded", "at the last moment"])
@pytest.mark.parametrize("db", [None, "w.duckdb"])
def test_a_file_that_appeared_stays(folder: Path, monkeypatch: pytest.MonkeyPatch, when: str, db: str | None) -> None:
    if db:
        with opened(db):
            pass
    place = {"while it is audited": (publish, "audit_release"), "while it is recorded": (publish, "place"),
             "at the last moment": (moves, "put")}[when]  # fmt: skip
    before = left(folder)
    with monkeypatch.context() as patched:
        after(patched, *place, lambda: (folder / "out.csv").write_text(THEIRS))
        with pytest.raises(
            sqlmicro.InputError, match=r"must not exist yet.*put there meanwhile.*Nothing was published"
        ):
            released(to="out.csv", db=db)
    assert (folder / "out.csv").read_text() == THEIRS
    assert left(folder) == sorted([*before, "out.csv"])
    told = run("ledger", *(("--db", db) if db else ()), "--json")
    assert "out.csv" not in told.stdout, "what is not out is not recorded"
    assert released(to="other.csv", db=db)


@pytest.mark.parametrize("when", [(publish, "audit_release"), (moves, "put")])
def test_what_appears_is_not_replaced_by_a_run_that_found_nothing_to_overwrite(
    folder: Path, monkeypatch: pytest.MonkeyPatch, when: tuple[object, str]
) -> None:
    """Until the file is planned, --overwrite replaces what is there; afterwards nothing was kept of it, so it stays."""
    with monkeypatch.context() as patched:
        after(patched, *when, lambda: (folder / "out.csv").write_text(THEIRS))
        if when[1] == "put":
            with pytest.raises(sqlmicro.InputError, match=r"put there meanwhile"):
                released(to="out.csv", overwrite=True)
        else:
            released(to="out.csv", overwrite=True)
    assert ((folder / "out.csv").read_text() == THEIRS) == (when[1] == "put")


def test_of_runs_at_once_one_publishes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three moves that are planned before the first is put, as three processes may have it."""
    news = []
    for number in range(3):
        new = folder / f"new{number}"
        new.write_text(str(number))
        news.append(moves.planned(new, folder / "out.csv", overwrite=False))
    barrier, failed = threading.Barrier(3), []

    def put(move: moves.Move) -> None:
        barrier.wait()
        try:
            moves.put([move])
        except sqlmicro.InputError:
            failed.append(move)
            moves.take_back([move])

    threads = [threading.Thread(target=put, args=[move]) for move in news]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(failed) == 2
    (published,) = (move for move in news if move not in failed)
    assert (folder / "out.csv").read_text() == str(news.index(published))


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "socket"])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_file_is_refused_with_and_without_overwrite(folder: Path, kind: str, linked: bool) -> None:
    place = folder / ("thing" if linked else "out.csv")
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("thing" if linked else "out.csv")
    elif linked:
        place = Path("/dev/null")
    else:
        pytest.skip("a device of its own needs root: a link to /dev/null stands for it")
    if linked:
        (folder / "out.csv").symlink_to(place)
    before = left(folder)
    for overwrite in (False, True):
        with pytest.raises(sqlmicro.InputError, match=r"must not exist yet. Got a (pipe, a device or a socket|folder)"):
            released(to="out.csv", overwrite=overwrite)
        with pytest.raises(sqlmicro.InputError, match=r"must not exist yet"):
            sqlmicro.hierarchy("draft", table="persons.csv", column="age", to="out.csv", overwrite=overwrite)
    assert left(folder) == before
    assert moves.found(folder / "out.csv") in (moves.OTHER, moves.FOLDER)


def test_a_pipe_that_appears_is_not_replaced_either(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, publish, "audit_release", lambda: (folder / "out.csv").exists() or os.mkfifo(folder / "out.csv"))
    with pytest.raises(sqlmicro.InputError, match=r"put there meanwhile"):
        released(to="out.csv", overwrite=True)
    assert moves.found(folder / "out.csv") == moves.OTHER


def test_a_link_to_nothing_is_something(folder: Path) -> None:
    (folder / "out.csv").symlink_to("elsewhere")
    with pytest.raises(sqlmicro.InputError, match=r"must not exist yet. Got a link to nothing"):
        released(to="out.csv")
    released(to="out.csv", overwrite=True)
    assert not (folder / "out.csv").is_symlink()
    assert not (folder / "elsewhere").exists()


@pytest.mark.parametrize("links", [True, False])
def test_nothing_is_put_where_something_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:

        def none(*_: object, **__: object) -> None:
            raise OSError(95, "not supported")

        monkeypatch.setattr(os, "link", none)
    new, place, folder = tmp_path / "new", tmp_path / "place", tmp_path / "folder"
    new.write_text("new")
    place.write_text(THEIRS)
    folder.mkdir()
    (folder / "part").write_text("new")
    (tmp_path / "empty").mkdir()
    (tmp_path / "dangling").symlink_to("nowhere")
    for made in (new, folder):
        for taken in (place, tmp_path / "empty", tmp_path / "dangling"):
            with pytest.raises(FileExistsError):
                moves.put_new(made, taken)
    assert place.read_text() == THEIRS and new.read_text() == "new" and (folder / "part").exists()
    moves.put_new(new, tmp_path / "free")
    moves.put_new(folder, tmp_path / "free folder")
    assert (tmp_path / "free").read_text() == (tmp_path / "free folder" / "part").read_text() == "new"
    assert not new.exists() and not folder.exists()


def test_what_lies_beside_a_release_is_not_put_over_what_appeared(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    after(monkeypatch, consult, "consult", lambda: (folder / "m.json").write_text(THEIRS))
    with pytest.raises(sqlmicro.InputError, match=r"put there meanwhile. The release is published"):
        released(to="out.csv", manifest="m.json")
    assert (folder / "m.json").read_text() == THEIRS
    assert (folder / "out.csv").is_file()


def test_a_place_that_got_free_is_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out.csv").write_text(THEIRS)
    after(monkeypatch, moves, "put", lambda: (folder / "out.csv").unlink())
    released(to="out.csv", overwrite=True)
    assert left(folder) == ["out.csv", "persons.csv"]
