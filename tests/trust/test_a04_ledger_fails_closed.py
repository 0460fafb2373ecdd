"""What could not be checked counts as failed: a ledger that cannot be used lets no release out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from command import run
from databases import opened
from looping import each

from sqlmicro.errors import InputError
from sqlmicro.publish import ledger_file

SALE = ("mdav", "--columns", "age,income", "--rest", "drop", "--row-key", "id", "--seed", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Release persons to a file once; one is new then, so that the next release would tell of her."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{18 + i * 7 % 60},{i * 37 % 1000}" for i in range(60)]
    Path("p.csv").write_text("\n".join(["id,age,income", *rows]))
    assert released("first.parquet").returncode == 0
    with Path("p.csv").open("a") as file:
        file.write("\n900,41,500")
    return tmp_path


def released(to: str, *more: str, k: int = 4):  # type: ignore[no-untyped-def]
    return run(*SALE, "--k", k, "--table", "p.csv", "--to", to, *more)


def ledger(folder: Path) -> Path:
    (found,) = folder.glob("config/**/ledger.duckdb")
    return found


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(path.stat().st_size))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def blocks_of_garbage(path: Path) -> None:
    """Leave the headers, by which DuckDB opens the file, and overwrite all that is after them."""
    whole = path.read_bytes()
    path.write_bytes(whole[:12288] + os.urandom(len(whole) - 12288))


def text_instead(path: Path) -> None:
    path.write_text("id,age\n1,2\n")


def without_columns(path: Path) -> None:
    with opened(path) as connection:
        connection.execute("ALTER TABLE sqlmicro.releases DROP COLUMN remembered")


def no_rights_to_it(path: Path) -> None:
    """A folder that is no folder: no file can be in it, whoever asks."""
    folder = path.parent
    shutil.rmtree(folder)
    folder.write_text("")


HARMS: list[Callable[[Path], None]] = [
    garbage, emptied, cut, a_folder, blocks_of_garbage, text_instead, without_columns, no_rights_to_it,
]  # fmt: skip


@pytest.mark.slow
@each("harm", HARMS)
def test_a_ledger_that_cannot_be_used_lets_nothing_out(folder: Path, harm: Callable[[Path], None]) -> None:
    kept = folder / "config.kept"
    if kept.exists():
        for path in (folder / "config", *folder.glob("second.*")):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    else:
        shutil.copytree(folder / "config", kept)
    shutil.rmtree(folder / "config", ignore_errors=True)
    shutil.copytree(kept, folder / "config")
    harm(ledger(folder))
    refused = released("second.parquet")
    assert (refused.returncode, refused.stdout) == (1, ""), refused.stderr
    assert "ledger" in refused.stderr and "--alone-because" in refused.stderr
    assert not Path("second.parquet").exists()
    alone = released("second.parquet", "--alone-because", "a test", "--json")
    assert alone.returncode == 0, alone.stderr
    assert '"headline": "k = 4 held, but it is not known what holds together with other releases"' in alone.stdout


def test_a_ledger_that_another_process_has_open_lets_nothing_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_file, "_PATIENCE", -1.0)

    def locked(*args: object, **more: object) -> None:
        raise InputError("--db", "must be open to this process", "one that another process has locked, 4711")

    monkeypatch.setattr(ledger_file, "open_warehouse", locked)
    refused = released("second.parquet")
    assert refused.returncode == 1 and not Path("second.parquet").exists()
    assert "another process has locked, 4711" in refused.stderr and "no other process has it open" in refused.stderr


@pytest.mark.slow
def test_where_no_secret_lasts_a_second_release_of_the_same_people_is_not_published(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SQLMICRO_SECRET", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "p.csv"))
    refused = released("second.parquet")
    assert refused.returncode == 1 and "Give --ledger FILE or --db FILE" in refused.stderr, refused.stderr
    first = released("third.parquet", "--ledger", "own.duckdb")  # nothing else is in it
    assert first.returncode == 0, first.stderr
    second = released("fourth.parquet", "--ledger", "own.duckdb")
    assert second.returncode == 1 and "no secret lasts" in second.stderr, second.stderr
    with opened("w.duckdb") as connection:
        connection.execute("CREATE TABLE persons AS FROM 'p.csv'")
    codes = [run(*SALE, "--k", 4, "--db", "w.duckdb", "--table", "persons", "--into", into).returncode
             for into in ("one", "two")]  # fmt: skip
    assert codes == [0, 1]


@each("name", ["ledger.csv", "ledger.parquet", "ledger.json", "p.csv", "data.tsv"])
def test_a_file_of_data_is_no_ledger(folder: Path, name: str) -> None:
    before = Path(name).read_bytes() if Path(name).exists() else None
    for command in ((*SALE, "--k", "4", "--table", "p.csv", "--to", "second.parquet"), ("ledger",), ("series",)):
        refused = run(*command, "--ledger", name)
        assert refused.returncode == 2 and "--ledger" in refused.stderr, refused.stderr
        assert "a file of data" in refused.stderr
    assert not Path("second.parquet").exists()
    assert (Path(name).read_bytes() if Path(name).exists() else None) == before


def test_a_file_of_data_by_another_name_is_no_database(folder: Path) -> None:
    """DuckDB opens a CSV or Parquet file as a database in memory, in which everything would be lost."""
    duckdb.sql("SELECT 1 AS x").write_parquet("x.parquet")
    for path, name in (("p.csv", "p.csv"), ("x.parquet", "x.parquet")):
        done = run(*SALE, "--k", 4, "--table", "p.csv", "--db", path, "--into", "out")
        assert done.returncode == 2 and "DuckDB database" in done.stderr, (name, done.stderr)


def test_a_series_does_not_begin_beside_a_ledger_that_cannot_be_read(folder: Path) -> None:
    with opened("w.duckdb") as connection:
        connection.execute("CREATE TABLE persons AS FROM 'p.csv'")
    garbage(ledger(folder))
    given = (*SALE[:-2], "--k", "4", "--db", "w.duckdb", "--table", "persons", "--into", "out", "--series", "nightly")
    refused = run(*given)
    assert refused.returncode == 2 and "cannot be read" in refused.stderr and "--epoch" in refused.stderr
    assert run(*given, "--epoch").returncode == 0
