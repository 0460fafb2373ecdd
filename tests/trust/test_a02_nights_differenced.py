"""What is told of two nights of a series, beside the release: the difference says nothing of whoever is new.

Every place where something is told of a night is in `PLACES`, and all of them are compared, word by word, between two
series that are alike but for one newcomer who waits.
"""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import run
from databases import insert, opened

K = 4
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
METHODS = {
    "mdav": ("mdav", "--columns", "age,income", "--nulls", "keep"),
    "sensitive": ("mdav", "--columns", "age", "--by", "sex", "--sensitive", "region", "--min-l", 2),
    "suppress": ("suppress", "--columns", "sex,region"),
    "generalize": ("generalize", "--columns", "age,region", "--until-k", K, "--width", "age=20", "--suppress-up-to",
                   "20%"),
    "individual-ranking": ("individual-ranking", "--columns", "age,income", "--nulls", "keep"),
}  # fmt: skip
PLACES = ("text", "json", "manifest", "releases", "audits", "ledger", "certificate", "page json", "markdown", "page")
"""What leaves: `sqlmicro.series*`, `sqlmicro.memory` and `sqlmicro series` are the data holder's, as help says."""
_VARY = re.compile(r"[0-9a-f]{64}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|\d{4}-\d\d-\d\d \d\d:\d\d")
"""Hashes under a secret, and times of the clock."""


def make(path: Path) -> Path:
    draw = random.Random(2)
    rows = [
        (number, draw.randrange(18, 70), draw.choice([None, *range(1000, 4000, 7)]), draw.choice("fm"),
         draw.choice(["East", "West", "North"]))
        for number in range(60)
    ]  # fmt: skip
    with opened(path) as connection:
        connection.execute("CREATE TABLE persons(id INTEGER, age INTEGER, income DOUBLE, sex VARCHAR, region VARCHAR)")
        insert(connection, "persons", rows)
    return path


def night(db: Path, day: str, method: tuple[object, ...], *more: object) -> str:
    options = ("--rest", "drop", "--row-key", "id", "--into", "out", "--overwrite", "--series", "nightly")
    k = () if "--until-k" in method else ("--k", K)
    done = run(*method, *k, "--db", db, "--table", "persons", *options, "--night", day, *more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def told(db: Path, day: str, method: tuple[object, ...], folder: Path) -> dict[str, str]:
    """Publish a night twice over the same records, and return all that is told of it."""
    folder.mkdir()
    found = {"text": night(db, day, method)}
    found["json"] = night(db, day, method, "--json", "--manifest", folder / "manifest.json")
    found["manifest"] = (folder / "manifest.json").read_text()
    with opened(db, read_only=True) as connection:
        for table, number in (("releases", "id"), ("audits", "release")):
            newest = f"SELECT max({number}) FROM sqlmicro.{table}"
            rows = connection.execute(f"FROM sqlmicro.{table} WHERE {number} = ({newest})").fetchall()
            found[table] = json.dumps(rows, default=str)
    found["ledger"] = run("ledger", "--db", db, "--json").stdout
    certified = run("certify", "out", "--db", db, "--to", folder / "out.json", "--unsigned")
    found["certificate"] = (folder / "out.json").read_text() if certified.returncode == 0 else certified.stderr
    for name, more in {"page json": ("--json", "--to", folder / "p.html"), "markdown": ("--markdown",)}.items():
        done = run("report", "--db", db, "--release", "out", *more)
        assert done.returncode == 0, done.stderr
        found[name] = done.stdout
    found["page"] = (folder / "p.html").read_text()
    return {name: _VARY.sub("#", text.replace(str(folder), "")) for name, text in found.items()}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, f"{path}.{name}")
    elif isinstance(value, list):
        for one in value:
            yield from leaves(one, f"{path}[]")
    else:
        yield path, value


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_one_newcomer_who_waits_changes_nothing_that_is_told(name: str, tmp_path: Path) -> None:
    method = METHODS[name]
    quiet = make(tmp_path / "w.duckdb")
    for day in DAYS[:2]:  # whoever the method leaves over is seated by then
        night(quiet, day, method)
    (tmp_path / "other").mkdir()
    with_her = Path(shutil.copy(quiet, tmp_path / "other" / "w.duckdb"))
    with opened(with_her) as connection:
        connection.execute("INSERT INTO persons VALUES (999, 95, 9e6, 'f', 'Nowhere')")
    ours, hers = (told(db, DAYS[2], method, tmp_path / folder) for db, folder in ((quiet, "ours"), (with_her, "hers")))
    assert tuple(ours) == PLACES
    for place in PLACES:
        one, other = (text.replace(f"{tmp_path}/other/", f"{tmp_path}/") for text in (ours[place], hers[place]))
        assert one == other, place


@pytest.mark.slow
def test_one_who_leaves_changes_nothing_that_is_told(tmp_path: Path) -> None:
    method = METHODS["mdav"]
    quiet = make(tmp_path / "w.duckdb")
    night(quiet, DAYS[0], method)
    (tmp_path / "other").mkdir()
    without = Path(shutil.copy(quiet, tmp_path / "other" / "w.duckdb"))
    with opened(without) as connection:
        connection.execute("DELETE FROM persons WHERE id = 7")
    ours, other = (told(db, DAYS[1], method, tmp_path / folder) for db, folder in ((quiet, "a"), (without, "b")))
    for place in PLACES:
        assert ours[place] == other[place].replace(f"{tmp_path}/other/", f"{tmp_path}/"), place


def test_a_night_is_not_compared_with_its_source_on_a_page(tmp_path: Path) -> None:
    db = make(tmp_path / "w.duckdb")
    night(db, DAYS[0], METHODS["mdav"])
    refused = run("report", "--db", db, "--release", "out", "--original", "persons")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "night of a series" in refused.stderr and "Leave it out" in refused.stderr
    facts = json.loads(run("report", "--db", db, "--release", "out", "--json").stdout)
    assert "night of a series" in facts["no_original"]
    assert facts["records_before"] == {"recorded": None, "now": None}
    assert facts["loss"] == {"IL": None, "by_column": {}, "changed": {}, "measured": False}
    before = [value for path, value in leaves(facts) if path.endswith(".before")]
    assert before and set(before) == {None}
    with opened(db, read_only=True) as connection:
        (recorded,) = connection.execute(
            "SELECT il, loss_by_column, suppressed, seconds, input_hash, sql_hash FROM sqlmicro.releases"
        ).fetchall()
    assert recorded == (None,) * 6, "what is unknown, or not told, is NULL"


def test_the_program_that_has_the_source_is_told_who_waits(tmp_path: Path) -> None:
    import sqlmicro

    db = make(tmp_path / "w.duckdb")
    night(db, DAYS[0], METHODS["mdav"])
    with opened(db) as connection:
        connection.execute("INSERT INTO persons VALUES (999, 95, 9e6, 'f', 'Nowhere')")
    report = sqlmicro.mdav(
        "persons", db=str(db), columns=["age", "income"], nulls="keep", rest="drop", row_key=["id"], k=K, into="out",
        overwrite=True, series="nightly", night=DAYS[1],
    )  # fmt: skip
    assert (report["series"]["withheld"], report["rows_in"]) == (1, 61)
    listed = json.loads(run("series", "--db", db, "--json").stdout)
    assert [one["waiting"] for one in listed["series"]] == [1]


@pytest.mark.slow
def test_the_map_of_another_release_has_no_night_on_it(tmp_path: Path) -> None:
    db = make(tmp_path / "w.duckdb")
    night(db, DAYS[0], METHODS["mdav"])
    done = run("mdav", "--db", db, "--table", "persons", "--columns", "age,income", "--nulls", "keep", "--rest", "drop",
               "--row-key", "id", "--k", K, "--into", "alone", "--alone-because", "a test")  # fmt: skip
    assert done.returncode == 0, done.stderr
    facts = json.loads(run("report", "--db", db, "--release", "alone", "--json").stdout)
    assert [one["label"] for one in facts["other_candidates"]] == ["out"]
    assert "night of a series" in facts["other_candidates"][0]["why"]


def test_a_night_in_a_file_is_not_compared_with_its_source_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but the ledger of the user knows that it is one."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{18 + i * 7 % 60},{i * 37 % 1000}" for i in range(60)]
    Path("p.csv").write_text("\n".join(["id,age,income", *rows]))
    done = run("mdav", "--table", "p.csv", "--columns", "age,income", "--rest", "drop", "--row-key", "id", "--k", K,
               "--to", "n.parquet", "--series", "nightly")  # fmt: skip
    assert done.returncode == 0, done.stderr
    refused = run("report", "--release", "n.parquet", "--quasi", "age,income", "--original", "p.csv")
    assert refused.returncode == 2 and "night of a series" in refused.stderr
