"""Series of noise and of pseudonyms: nothing is averaged away, and what nights reveal is said."""

from __future__ import annotations

import datetime
import os
import random
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import world
from world import ODD, QUOTED, execute

import sqlmicro
from sqlmicro.database.templates import Name
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.history import remembered
from sqlmicro.system.secrets import Secret
from sqlmicro.work import Draws, Records, StepOf, Work

from .test_series import make

KEY = "a secret that is long enough"
NIGHTS = 31 if os.environ.get("HYPOTHESIS_PROFILE") == "ci" else 5
GIVEN: dict[str, Any] = {
    "columns": ["age", ODD], "keep": ["born"], "drop": ["id", "sex"], "accept_unique": ["born"], "row_key": ["id"],
    "into": "out", "overwrite": True, "series": "masks",
}  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> str:
    """Return persons whose day of birth says who they are."""
    path = make(tmp_path / "w.duckdb", 40)
    execute(path, f"UPDATE persons SET {QUOTED} = 1000 + 17 * id", "UPDATE persons SET born = DATE '1990-01-01' + id")
    return path


def night(db: str, number: int, **more: Any) -> dict[str, Any]:
    return world.night("noise", db, number, **{"kind": "correlated", "amount": 0.5, "rest": None, **GIVEN, **more})


def released(db: str) -> dict[Any, tuple[Any, ...]]:
    rows = execute(db, f"SELECT born, age, {QUOTED} FROM out")[0]
    return {born: tuple(row) for born, *row in rows}


def told(report: dict[str, Any]) -> tuple[int, ...]:
    return tuple(report["series"][name] for name in ("came", "went", "changed"))


BOUNDED = {"amount": None, "epsilon": 2.0, "lower": 0, "upper": 5000}


@pytest.mark.slow_but("laplace")
@pytest.mark.parametrize(
    "more",
    [
        {"kind": "correlated"}, {"kind": "linear"}, {"kind": "uncorrelated"},
        {"kind": "laplace", **BOUNDED},
        {"kind": "geometric", **BOUNDED, "columns": ["age"], "drop": ["id", "sex", ODD]},
    ],
    ids=lambda more: more["kind"],
)  # fmt: skip
def test_many_nights_averaged_are_one_night(db: str, more: dict[str, Any]) -> None:
    """Others come, go and change in every night, by so much that noise of its own size would be drawn anew."""
    draw, nights, own = random.Random(1), [], "age" if more["kind"] == "geometric" else f"age, {QUOTED}"
    for number in range(1, NIGHTS if more["kind"] == "correlated" else 4):
        report = night(db, number, **more)
        assert report["audits"][-1]["check"] == "series-kept"
        rows = execute(db, f"SELECT born, {own} FROM out WHERE born < '1990-01-21'")[0]
        nights.append({born: tuple(row) for born, *row in rows})
        execute(
            db, f"DELETE FROM persons WHERE id >= 20 AND id % 7 = {number % 7}",
            f"INSERT INTO persons SELECT {100 * number} + i, {draw.randrange(4000)}, {draw.randrange(10**6)}, 'f', "
            f"DATE '2000-01-01' + CAST({10 * number} + i AS INTEGER) FROM range(3) r(i)",
        )  # fmt: skip
    assert all(one == nights[0] for one in nights)
    assert len(nights[0]) == 20
    means = {born: np.mean([one[born] for one in nights], axis=0) for born in nights[0]}
    assert all(np.allclose(means[born], row, rtol=1e-12) for born, row in nights[0].items())


@pytest.mark.slow
def test_releases_that_are_no_series_are_averaged_to_the_values(db: str) -> None:
    """The attack that the series stops: the size of the noise changes with the table, so that it is drawn anew."""
    draws = []
    for number in range(4):
        sqlmicro.noise("persons", **{**GIVEN, "db": db, "series": None, "kind": "correlated", "amount": 0.5})
        draws.append(released(db))
        execute(db, f"UPDATE persons SET age = age * 3, {QUOTED} = {QUOTED} * {3 + number} WHERE id >= 20")
    first = [one for one in draws[0] if one.year == 1990 and one.month == 1 and one.day < 21]
    assert all(len({draw[one] for draw in draws}) == len(draws) for one in first)


@pytest.mark.slow
def test_who_comes_goes_or_changes_is_counted(db: str) -> None:
    assert told(night(db, 1)) == (40, 0, 0)
    before = released(db)
    execute(
        db, "DELETE FROM persons WHERE id IN (1, 2)", "UPDATE persons SET age = age + 1 WHERE id IN (3, 4, 5)",
        "INSERT INTO persons VALUES (99, 40, 2000, 'f', DATE '2000-01-01')",
    )  # fmt: skip
    report = night(db, 2)
    assert told(report) == (1, 2, 3)
    assert any("who knows of a person that she did finds her among these" in note for note in report["notes"])
    after = released(db)
    assert sum(after.get(born) == row for born, row in before.items()) == 35
    assert told(night(db, 2)) == (0, 0, 0)
    execute(db, "UPDATE persons SET age = age - 1 WHERE id IN (3, 4, 5)")
    assert told(night(db, 3)) == (0, 0, 3)
    back = released(db)
    assert sum(back.get(born) == row for born, row in before.items()) == 38, "the same value has the same noise again"
    (listed,) = sqlmicro.series(db=db)["series"]
    assert [listed[name] for name in ("persons", "waiting", "rows", "empty")] == [39, 0, 39, 0]


@pytest.mark.slow_but("correlated-2")
@pytest.mark.parametrize(("kind", "noises"), [("correlated", 2), ("uncorrelated", 1)])
def test_a_change_of_one_column_draws_anew_what_the_help_says(db: str, kind: str, noises: int) -> None:
    night(db, 1, kind=kind)
    execute(db, "CREATE TABLE first AS FROM out", "UPDATE persons SET age = age + 50 WHERE id = 7")
    night(db, 2, kind=kind)
    (found,) = execute(
        db, f"SELECT o.{QUOTED} - f.{QUOTED}, o.age - f.age FROM out AS o JOIN first AS f USING (born) "
        "WHERE born = DATE '1990-01-01' + 7",
    )[0]  # fmt: skip
    assert (found[0] != 0) == (noises == 2)
    assert found[1] not in (0, 50), "the change itself is noisy"


@pytest.mark.slow
def test_a_new_epoch_measures_the_size_of_the_noise_anew(db: str) -> None:
    night(db, 1)
    before = released(db)
    execute(db, f"UPDATE persons SET {QUOTED} = {QUOTED} * 50 WHERE id >= 20")
    assert told(night(db, 2)) == (0, 0, 20)
    assert night(db, 3, epoch=True)["series"]["epoch"] == 2
    after = released(db)
    assert not any(after[born] == row for born, row in before.items())


@pytest.mark.parametrize(
    ("more", "got"),
    [
        ({"kind": "nonlinear"}, "--kind nonlinear"),
        ({"seed": "s"}, "a seed"),
        ({"moves": True}, "goes with the methods that make classes"),
        ({"row_key": None}, "needs --row-key"),
        ({"drop": ["sex"], "keep": ["born", "id"], "accept_unique": ["born", "id"], "identifier_ok": ["id"]}, "never"),
    ],
)
def test_what_goes_with_no_such_series_is_refused(db: str, more: dict[str, Any], got: str) -> None:
    with pytest.raises(ParameterError, match=got):
        night(db, 1, **more)


@pytest.mark.parametrize(
    ("unit", "kind"), [("person", "correlated"), ("household", "linear"), ("person", "uncorrelated")]
)
def test_a_column_of_the_person_has_one_noise_in_all_her_rows_and_nights(tmp_path: Path, unit: str, kind: str) -> None:
    """Else the mean of her rows, or of what new visits show of it, would have less noise than one of them."""
    db = str(tmp_path / "w.duckdb")
    execute(
        db,
        """CREATE TABLE visits AS SELECT i AS id, i % 20 AS home, CAST(20 + 3 * (i % 20) AS DOUBLE) AS age,
        CAST(100 + (i * 37) % 83 AS DOUBLE) AS cost, CAST(i AS INTEGER) AS shown FROM range(100) r(i)""",
    )
    given = {"columns": ["age", "cost"], "keep": ["shown"], "accept_unique": ["shown"], "rest": "drop", "amount": 0.5,
             "row_key": ["id"], unit: ["home"], "into": "out", "overwrite": True, "series": "s",
             "kind": kind}  # fmt: skip
    ages: dict[int, set[float]] = {home: set() for home in range(20)}
    noise: dict[int, list[float]] = {home: [] for home in range(20)}
    rows: dict[int, tuple[float, float]] = {}
    for number in range(1, 4):
        sqlmicro.noise("visits", db=db, night=f"2026-01-0{number}", **given)
        for shown, age, cost, true in execute(db, """SELECT shown, o.age, o.cost, v.cost FROM out o
                                                  JOIN visits v USING (shown)""")[0]:  # fmt: skip
            assert rows.setdefault(shown, (age, cost)) == (age, cost)
            ages[shown % 20].add(age)
            noise[shown % 20].append(cost - true)
        execute(db, f"""INSERT INTO visits SELECT {100 * number} + i, i, 20.0 + 3 * i, 90.0 + i, {100 * number} + i
            FROM range(20) r(i)""", f"DELETE FROM visits WHERE id = {number}")  # fmt: skip
    assert all(len(own) == 1 for own in ages.values())
    assert len({own for one in ages.values() for own in one}) == 20
    assert all(len({*own}) >= 5 for own in noise.values()), "her costs differ, and so does their noise"


def test_a_column_that_no_longer_belongs_to_the_person_has_the_noise_of_each_of_its_values(db: str) -> None:
    """Whose age is corrected in one row: that row has another noise, the others keep theirs."""
    execute(db, "ALTER TABLE persons ADD COLUMN home INTEGER", "UPDATE persons SET home = id // 4, age = 30 + id // 4")
    given = {**GIVEN, "household": ["home"], "amount": 0.5, "db": db}
    sqlmicro.noise("persons", **given, night="2026-01-01")
    before = released(db)
    execute(db, "UPDATE persons SET age = 77 WHERE id = 5", "UPDATE persons SET home = 0 WHERE id = 20")
    assert told(sqlmicro.noise("persons", **given, night="2026-01-02")) == (0, 0, 2)
    after = released(db)
    changed = [born for born in sorted(after) if before[born] != after[born]]
    assert changed == [min(after) + datetime.timedelta(days) for days in (5, 20)], "and who moves, has that of her home"


MATRIX = ",f,m,d\nf,0.5,0.3,0.2\nm,0.3,0.5,0.2\nd,0.2,0.3,0.5\n"


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("pram", {"columns": ["sex"], "matrix": MATRIX}),
        ("top_code", {"columns": ["age"], "value": 40.0}),
        ("bottom_code", {"columns": ["age"], "value": 30.0, "replacement": "label", "label": "young"}),
        ("constant", {"columns": ["sex"], "value": "x"}),
        ("partial", {"columns": ["sex"], "keep_first": 0}),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_who_stays_as_she_is_has_the_same_row_whoever_comes(db: str, method: str, more: dict[str, Any]) -> None:
    """And so has who comes back: a mask depends on nobody else."""
    given = {**GIVEN, **more, "drop": ["id", ODD, *({"age", "sex"} - {*more["columns"]})]}
    if "matrix" in more:
        given["matrix"] = str(Path(db).with_name("matrix.csv"))
        Path(given["matrix"]).write_text(MATRIX)
    shown = []
    changes = (
        "DELETE FROM persons WHERE id = -1",
        "INSERT INTO persons SELECT 100 + i, 20 + i, 1, 'd', DATE '2000-01-01' + i::INTEGER FROM range(30) r(i)",
        "DELETE FROM persons WHERE id IN (3, 101)",
    )
    for number, change in enumerate(changes, 1):
        execute(db, change)
        report = getattr(sqlmicro, method)("persons", db=db, night=f"2026-01-{number:02}", **given)
        shown.append({row[0]: row for row in execute(db, f"SELECT born, {more['columns'][0]} FROM out")[0]})
        assert report["series"]["changed"] == 0
    assert [len(one) for one in shown] == [40, 70, 68]
    assert all(one[born] == other[born] for one, other in pairwise(shown) for born in one.keys() & other.keys())


@pytest.mark.slow_but("person")
@pytest.mark.parametrize("unit", [None, "person", "household"])
def test_who_is_drawn_is_so_in_every_night_and_nobody_else_ever(db: str, unit: str | None) -> None:
    """Whoever comes, leaves or changes, and with all rows of a person or with none."""
    given: dict[str, Any] = {
        "row_key": ["id"], "keep": ["born", "age"], "accept_unique": ["born", "age"], "rest": "drop", "fraction": 0.4,
        "weight_column": "weight", "into": "out", "overwrite": True, "series": "drawn",
    } | ({unit: [ODD]} if unit else {"rows_are_persons": True})  # fmt: skip
    execute(db, f"UPDATE persons SET {QUOTED} = id // 4")
    changes = (
        "DELETE FROM persons WHERE id = -1", "UPDATE persons SET age = age + 1",
        f"INSERT INTO persons (id, age, {QUOTED}, sex, born) SELECT 100 + i, 20 + i, 100 + i, 'd', "
        "DATE '2000-01-01' + i::INTEGER FROM range(300) r(i)",
        "DELETE FROM persons WHERE id IN (3, 4, 5, 101)", "CREATE MACRO sha256(x) AS 'a'",
    )  # fmt: skip
    ever: set[Any] = set()
    never: set[Any] = set()
    for number, change in enumerate(changes, 1):
        execute(db, change)
        report = sqlmicro.sample("persons", db=db, night=f"2026-01-{number:02}", **given)
        assert report["audits"][-1]["check"] == "series-kept"
        whose = dict(execute(db, f"SELECT born, {QUOTED} FROM persons")[0])
        shown = {born: (age, weight) for born, age, weight in execute(db, "SELECT born, age, weight FROM out")[0]}
        ages = dict(execute(db, "SELECT born, age FROM persons")[0])
        assert shown == {born: (ages[born], 2.5) for born in shown}
        assert not never & shown.keys() and ever & whose.keys() <= shown.keys()
        ever, never = ever | shown.keys(), never | (whose.keys() - shown.keys())
        assert not unit or not {whose[born] for born in shown} & {whose[born] for born in whose.keys() - shown.keys()}
    assert 0.3 < len(ever) / (len(ever) + len(never)) < 0.5


@pytest.mark.parametrize(
    ("method", "more", "got"),
    [
        ("pram", {"columns": ["sex"], "keep_probability": 0.5}, "categories of tonight.*--matrix"),
        ("top_code", {"columns": ["age"], "quantile": 0.9}, "threshold by tonight's values.*--value"),
        ("bottom_code", {"columns": ["age"], "value": 30.0, "replacement": "mean"}, "the mean of tonight's tail"),
        ("swap", {"columns": ["age"], "percent": 5.0}, "values of others, and who these are changes"),
        ("sample", {"columns": None, "size": 20}, "who is drawn changes with how many there are.*--fraction"),
        ("secure_k_ward", {"columns": ["age"], "k": 3}, "whoever takes a seat there later may be near it"),
        ("split_group", {"columns": ["age"], "k": 6}, "keep their mean and variance, and change"),
    ],
)
def test_what_would_tell_more_in_two_nights_says_why(db: str, method: str, more: dict[str, Any], got: str) -> None:
    without = ("keep", "drop", "accept_unique", *([] if more["columns"] else ["columns"]))
    given = {name: value for name, value in {**GIVEN, "rest": "drop", **more}.items() if name not in without}
    with pytest.raises(ParameterError, match=got):
        getattr(sqlmicro, method)("persons", db=db, **given)


def test_another_secret_or_column_needs_an_epoch(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    night(db, 1)
    with pytest.raises(InputError, match="another released"):
        night(db, 2, keep=["born", "sex"], drop=["id"], accept_unique=["born", "sex"])
    monkeypatch.setenv("SQLMICRO_SECRET", "another secret that lasts")
    with pytest.raises(InputError, match="another secret"):
        night(db, 2)


def test_noise_that_would_change_is_not_published(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The audit does not trust what was measured: it compares the rows."""
    monkeypatch.setattr(remembered, "digest", lambda *_: "the same")
    monkeypatch.setattr(remembered, "sealed", lambda *_: "the same")
    night(db, 1, kind="uncorrelated")
    before = released(db)
    execute(db, "UPDATE sqlmicro.series_measured SET value = '[4.0, 9.0]'")
    with pytest.raises(AuditFailed, match="series-kept is 40, needed at most 0"):
        night(db, 2, kind="uncorrelated", alone_because="nobody cares")
    assert released(db) == before


def pseudonyms(db: str, number: int, **more: Any) -> dict[str, Any]:
    given = {"columns": ["id"], "keep": ["age", "born"], "drop": ["sex", ODD], "accept_unique": ["age", "born"]}
    given = {"db": db, "night": f"2026-02-{number:02}", **GIVEN, **given, **more}
    report: dict[str, Any] = sqlmicro.pseudonymise("persons", **given)
    return report


def named(db: str, table: str = "out") -> dict[Any, str]:
    return dict(execute(db, f"SELECT born, id FROM {table}")[0])


@pytest.mark.slow
def test_a_pseudonym_stays_through_an_epoch_and_no_longer(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    sqlmicro.pseudonymise("persons", db=db, columns=["id"], keep=["born"], drop=["sex", ODD, "age"], into="once",
                          accept_unique=["born"])  # fmt: skip
    pseudonyms(db, 1)
    first = named(db)
    execute(db, "DELETE FROM persons WHERE id = 3", "UPDATE persons SET age = 20 WHERE id = 4")
    assert told(pseudonyms(db, 2)) == (0, 1, 1)
    assert named(db) == {born: name for born, name in first.items() if born.day != 4 or born.month != 1}
    pseudonyms(db, 2, series="another", into="other")
    assert named(db, "other") == named(db), "tables in the same epoch join"
    with pytest.raises(InputError, match="an epoch of a series has one key"):
        monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY[::-1])
        pseudonyms(db, 3)
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    pseudonyms(db, 3, epoch=True)
    names = [set(found.values()) for found in (first, named(db), named(db, "once"))]
    assert not (names[0] & names[1] or names[0] & names[2] or names[1] & names[2])


@pytest.mark.slow
def test_pseudonyms_and_noise_go_together(db: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    job = tmp_path / "job.toml"
    job.write_text(
        f'''db = "{db}"
table = "persons"
night = "2026-01-01"
row_key = ["id"]
drop = ["sex", "born"]
step = [{{do = "pseudonymise", columns = ["id"]}},
  {{do = "noise", columns = ["age", 'net "income"'], kind = "linear", amount = 0.3}},
  {{do = "publish", into = "out", overwrite = true, series = "both"}}]
''',
        encoding="utf-8",
    )
    sqlmicro.run(str(job))
    before = execute(db, "FROM out ORDER BY ALL")
    execute(db, "DELETE FROM persons WHERE id = 39")
    job.write_text(job.read_text(encoding="utf-8").replace("01-01", "01-02"), encoding="utf-8")
    sqlmicro.run(str(job))
    assert len(set(execute(db, "FROM out")[0]) & set(before[0])) == 39


def test_two_epochs_share_no_key_of_pseudonyms() -> None:
    secret = Secret(b"a secret of pseudonyms", "file")

    def key(epoch: int) -> bytes:
        nights = SimpleNamespace(epoch=epoch, first=lambda name, measure: measure())
        step = StepOf(Mock(), "step 1", "p", 0, ())
        return Work(Mock(), Records(Name("", "", "t"), ()), step, Draws(Mock(), Mock(), nights)).epoch_key(secret)

    assert key(1) == key(1)
    assert len({key(1), key(2), secret.value}) == 3
