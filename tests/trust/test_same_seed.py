"""One secret seed for several releases: what repeats, what shares nothing, what gives no original back."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import sqlmicro
from sqlmicro.system import secrets

SEED = "one secret seed for all of them"
ODD = 'net "income"'
N = 600
Table = dict[str, tuple[str, Any]]
SLOW = pytest.mark.slow


def persons(seed: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    return {
        "id": ("INTEGER", rng.permutation(N).tolist()),
        ODD: ("DOUBLE", rng.lognormal(8, 0.5, N).round(2).tolist()),
        "age": ("INTEGER", rng.integers(18, 90, N).tolist()),
        "town": ("VARCHAR", [None if i % 50 == 0 else t for i, t in enumerate(rng.choice(["Ulm", "Au", "Bonn"], N))]),
    }


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> str:
    from world import Workbench

    return Workbench(tmp_path_factory.mktemp("persons")).make(persons())


def release(workbench: Any, db: str, name: str, **options: Any) -> dict[str, list[Any]]:
    """Return the columns of a release, in its order; `id` is dropped, other columns are kept."""
    options = {"seed": SEED, "drop": ["id"], "rest": "keep", **options}
    made: dict[str, list[Any]] = workbench.release(name, db, **options).columns
    return made


def by_id(columns: Mapping[str, list[Any]], name: str) -> dict[int, Any]:
    """Return the values of a column by person, of a release that was made with keep=["id"]."""
    return dict(zip(columns["id"], columns[name], strict=True))


KEPT = {"drop": [], "keep": ["id"]}


# What two releases of one seed give to whoever lays them side by side


@pytest.mark.parametrize("kind", ["correlated", *(pytest.param(k, marks=SLOW) for k in ("uncorrelated", "linear"))])
@pytest.mark.parametrize("key", [{}, pytest.param({"row_key": ["id"]}, marks=SLOW)], ids=["content", "key"])
def test_two_noises_do_not_cancel(workbench: Any, db: str, kind: str, key: dict[str, Any]) -> None:
    """Amounts 0.5 and 0.3: (0.3 A - 0.5 B) / (0.3 - 0.5), place by place, was everybody's income."""
    a, b = (
        np.array(release(workbench, db, "noise", columns=[ODD], kind=kind, amount=amount, **key)[ODD])
        for amount in (0.5, 0.3)
    )
    found = (0.3 * a - 0.5 * b) / (0.3 - 0.5)
    income = np.sort(persons()[ODD][1])
    place = np.clip(np.searchsorted(income, found), 1, N - 1)
    off = np.minimum(np.abs(income[place] - found), np.abs(income[place - 1] - found))
    assert (off < 0.01).mean() < 0.02
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(N)


def test_two_noises_share_no_deviates(workbench: Any, db: str) -> None:
    """Not even for an intruder who knows which record is whose."""
    income = dict(zip(persons()["id"][1], persons()[ODD][1], strict=True))
    residuals = []
    for amount in (0.5, 0.3):
        made = by_id(release(workbench, db, "noise", columns=[ODD], amount=amount, row_key=["id"], **KEPT), ODD)
        residuals.append([made[i] - income[i] for i in range(N)])
    assert abs(np.corrcoef(*residuals)[0, 1]) < 5 / np.sqrt(N)


def test_two_shuffles_do_not_give_the_link_back(workbench: Any, db: str) -> None:
    first = release(workbench, db, "shuffle", columns=[ODD])
    second = release(workbench, db, "shuffle", columns=["age"])
    true = set(zip(persons()[ODD][1], persons()["age"][1], strict=True))
    linked = np.mean([pair in true for pair in zip(second[ODD], first["age"], strict=True)])
    chance = np.mean([pair in true for pair in zip(second[ODD], first["age"][1:] + first["age"][:1], strict=True)])
    assert linked < chance + 0.03


@pytest.mark.slow
def test_two_groupings_stand_in_two_orders(workbench: Any, db: str) -> None:
    five, seven = (
        release(workbench, db, "mdav", columns=[ODD, "age"], k=k, drop=["town"], keep=["id"])["id"] for k in (5, 7)
    )
    assert np.mean(np.array(five) == np.array(seven)) < 0.02
    assert abs(np.corrcoef(five, seven)[0, 1]) < 5 / np.sqrt(N)


@pytest.mark.parametrize(
    ("name", "options", "others"),
    [
        ("pram", {"columns": ["town"], "keep_probability": 0.5}, {"keep_probability": 0.6}),
        pytest.param("swap", {"columns": [ODD], "percent": 20}, {"percent": 21}, marks=SLOW),
        pytest.param("sample", {"fraction": 0.3}, {"fraction": 0.6}, marks=SLOW),
    ],
)
def test_other_settings_share_nothing(
    workbench: Any, db: str, name: str, options: dict[str, Any], others: dict[str, Any]
) -> None:
    """A small sample is no part of a large one; who keeps his town in one release may lose it in the other."""
    one, two = (
        release(workbench, db, name, row_key=["id"], **KEPT, **options | more) for more in ({}, others)
    )  # fmt: skip
    both = sorted(set(one["id"]) & set(two["id"]))
    if name == "sample":
        assert len(both) / len(one["id"]) == pytest.approx(0.6, abs=0.15)
        return
    column = options["columns"][0]
    original = dict(zip(persons()["id"][1], persons()[column][1], strict=True))
    stay = [[by_id(made, column)[i] == original[i] for i in both if original[i] is not None] for made in (one, two)]
    if name == "pram":
        assert abs(np.corrcoef(*stay)[0, 1]) < 5 / np.sqrt(N)
    moved = [[by_id(made, column)[i] for i in both] for made in (one, two)]
    assert np.mean([a == b for a, b in zip(*moved, strict=True)]) < 0.6


# What the next night tells


def night(number: int, table: Table | None = None) -> Table:
    """Return the persons of a night: one in a hundred has changed, in another order of the table."""
    rng = np.random.default_rng(100 + number)
    table = {name: (kind, list(values)) for name, (kind, values) in (table or persons()).items()}
    for i in rng.choice(N, N // 100, replace=False) if number else ():
        table[ODD][1][i] = round(float(rng.lognormal(8, 0.5)), 2)
        table["age"][1][i] = int(rng.integers(18, 90))
    order = rng.permutation(N)
    return {name: (kind, [values[i] for i in order]) for name, (kind, values) in table.items()}


NIGHTLY = [
    ("noise", {"columns": [ODD], "amount": 0.5}, ODD),
    ("noise", {"columns": [ODD, "age"], "amount": 0.5}, ODD),
    ("noise", {"columns": [ODD], "kind": "laplace", "epsilon": 1, "lower": 0, "upper": 10000}, ODD),
    ("pram", {"columns": ["town"], "keep_probability": 0.5}, "town"),
    ("swap", {"columns": ["town"], "kind": "data", "rate": 0.3}, "town"),
    ("sample", {"fraction": 0.3}, "id"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "column"), NIGHTLY)
@pytest.mark.parametrize("key", [{}, {"row_key": ["id"]}], ids=["content", "key"])
def test_the_same_value_of_the_same_person_is_the_same_next_night(
    workbench: Any, name: str, options: dict[str, Any], column: str, key: dict[str, Any]
) -> None:
    """So it cannot be averaged away, whatever others do and wherever the record lies in the table."""
    tables = [night(0), night(1, persons())]
    made = [by_id(release(workbench, workbench.make(t), name, **KEPT, **options, **key), column) for t in tables]
    before, after = (
        dict(zip(t["id"][1], zip(*(t[c][1] for c in (ODD, "age", "town")), strict=True), strict=True)) for t in tables
    )
    still = [i for i in range(N) if before[i] == after[i]]
    assert len(still) == N - N // 100
    same = np.mean([made[0].get(i) == made[1].get(i) for i in still])
    assert same == 1.0 if name in ("noise", "pram") else same > 0.95
    changed = [i for i in range(N) if before[i][0] != after[i][0]]
    if name == "noise":
        assert not any(made[0][i] == made[1][i] for i in changed if options.get("kind") != "laplace")


@pytest.mark.slow
def test_noise_of_another_size_is_drawn_anew(workbench: Any) -> None:
    """Where others change the standard deviation, two nights must not be two equations for one deviate.

    y = x + s e and y' = x + s' e: whoever has both regresses y on y - y' and has taken e out of it.
    """

    def noised(table: Table) -> dict[int, Any]:
        db = workbench.make(table)
        return by_id(release(workbench, db, "noise", columns=[ODD], amount=0.5, row_key=["id"], **KEPT), ODD)

    first = persons()
    a = noised(first)
    for factor in (1.001, 1.06, 1.12):
        second = {name: (kind, list(values)) for name, (kind, values) in first.items()}
        widest = sorted(range(N), key=lambda i: first[ODD][1][i])[-20:]
        for i in widest:
            second[ODD][1][i] *= factor
        b = noised(second)
        income = dict(zip(first["id"][1], first[ODD][1], strict=True))
        still = [i for i in range(N) if i not in {first["id"][1][j] for j in widest}]
        x, y, z = (np.array([values[i] for i in still]) for values in (income, a, b))
        difference = y - z
        if (difference == 0).all():
            continue
        slope = np.cov(y, difference)[0, 1] / difference.var(ddof=1)
        left = (y - slope * (difference - difference.mean()) - x).std() / (y - x).std()
        assert left > 0.6, "the mean of two independent noises has 0.7 of one"


@pytest.mark.slow
def test_many_nights_average_to_little(workbench: Any) -> None:
    table, released, still = persons(), [], set(range(N))
    for number in range(8):
        after = night(number, table)
        before = dict(zip(table["id"][1], table[ODD][1], strict=True))
        still &= {i for i, value in zip(after["id"][1], after[ODD][1], strict=True) if before[i] == value}
        made = release(workbench, workbench.make(after), "noise", columns=[ODD], amount=0.5, **KEPT)
        released.append(by_id(made, ODD))
        table = after
    income = dict(zip(persons()["id"][1], persons()[ODD][1], strict=True))
    off = np.array([[made[i] - income[i] for i in sorted(still)] for made in released])
    assert off.mean(axis=0).std() > 0.6 * off[0].std(), "independent noise would leave 0.35"
    assert len({made[min(still)] for made in released}) <= 3


# The order


def test_the_same_job_on_the_same_input_gives_the_same_bytes(workbench: Any, tmp_path: Path) -> None:
    """Whatever the target, and however the table is stored; another secret, another order."""
    files = []
    for number, table in enumerate((night(0), night(0), {n: (k, v[::-1]) for n, (k, v) in persons().items()})):
        to = tmp_path / f"{number}.csv"
        sqlmicro.noise("records", db=workbench.make(table), columns=[ODD], amount=1, seed=SEED, rest="keep", to=str(to),
                       accept_unique=["id", "age"])  # fmt: skip
        files.append(to.read_bytes())
    assert files[0] == files[1] == files[2]
    sqlmicro.noise("records", db=workbench.make(persons()), columns=[ODD], amount=1, seed="s", rest="keep", to=str(to),
                   overwrite=True, accept_unique=["id", "age"])  # fmt: skip
    assert to.read_bytes() != files[0]


@pytest.mark.slow
@pytest.mark.parametrize("change", ["value", "plan", "dropped", "source"])
def test_another_input_or_plan_gives_an_unrelated_order(workbench: Any, change: str) -> None:
    table, plan, name = (
        persons(),
        {"columns": [ODD], "k": 3, "keep": ["id"], "drop": ["town"], "rest": "keep", "accept_unique": ["id"]},
        "records",
    )
    first = by_place(workbench, table, name, plan)
    assert by_place(workbench, table, name, plan) == first
    if change == "value":
        table["age"][1][0] += 1
    elif change == "plan":
        plan["representative"] = "median"
    elif change == "dropped":
        plan["drop"] = ["town", "age"]
    else:
        name = "people"
    second = by_place(workbench, table, name, plan)
    assert np.mean(np.array(first) == np.array(second)) < 0.02
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(N)


def by_place(workbench: Any, table: Table, name: str, plan: dict[str, Any]) -> list[int]:
    db = workbench.make(table, name)
    sqlmicro.individual_ranking(name, db=db, seed=SEED, into="released", **plan)
    found: list[int] = workbench.read(db, "released")["id"]
    return found


def test_what_the_plan_does_not_say_decides_the_order_too(
    workbench: Any, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key of pseudonyms comes from elsewhere: two keys under one seed must not be laid side by side."""
    places = []
    for key in ("a secret key of some bytes", "another key of some bytes"):
        monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", key)
        made = release(workbench, db, "pseudonymise", columns=["town"], **KEPT)
        places.append(made["id"])
    assert np.mean(np.array(places[0]) == np.array(places[1])) < 0.02


@pytest.mark.slow
def test_candidates_that_are_kept_stand_in_orders_of_their_own(workbench: Any, tmp_path: Path) -> None:
    path = workbench.make(persons())
    sqlmicro.safe(
        "records", db=path, columns=[ODD, "age"], keep=["id"], drop=["town"], k=5, seed=SEED, keep_candidates=True,
        accept_unique=["id"],
        algorithm=["mdav", "kmeans++(clusters=20)"], into="best",
    )  # fmt: skip
    with duckdb.connect(path, read_only=True) as connection:
        names = [row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    places = [workbench.read(path, name)["id"] for name in names if name.startswith("best")]
    assert len(places) >= 3
    alike = [np.mean(np.array(a) == np.array(b)) for i, a in enumerate(places) for b in places[:i]]
    # The release and the candidate that was chosen are one file.
    assert sorted(alike)[-1] == 1.0
    assert sorted(alike)[-2] < 0.02


# Where draws come from


@pytest.mark.slow
def test_another_table_shares_nothing_and_another_day_does(workbench: Any, tmp_path: Path) -> None:
    """A table that is called otherwise is another source; files of the same columns are one, those of others not."""
    made = {}
    for name in ("records", "people"):
        path = workbench.make(persons(), name)
        sqlmicro.noise(name, db=path, columns=[ODD], amount=1, row_key=["id"], keep=["id"], rest="drop", seed=SEED,
                       accept_unique=["id"], into="released")  # fmt: skip
        made[name] = by_id(workbench.read(path, "released"), ODD)
    income = dict(zip(persons()["id"][1], persons()[ODD][1], strict=True))
    residuals = [[made[name][i] - income[i] for i in range(N)] for name in made]
    assert abs(np.corrcoef(*residuals)[0, 1]) < 5 / np.sqrt(N)
    files = []
    for file, town in (("p-2026-11-01", "town"), ("q-2026-11-02", "town"), ("p-2026-11-02", "place")):
        file += ".parquet"
        with duckdb.connect(path, read_only=True) as connection:
            connection.execute(f"COPY (FROM people SELECT * RENAME (town AS {town})) TO '{tmp_path / file}'")
        to = str(tmp_path / f"to-{file}.csv")
        sqlmicro.noise(
            str(tmp_path / file), columns=[ODD], amount=1, rest="keep", accept_unique=["id"], seed=SEED, to=to
        )
        files.append(duckdb.sql(f"FROM '{to}' SELECT id, COLUMNS('income')").fetchall())
    assert files[0] == files[1]
    assert {record[0] for record in files[0]} == {record[0] for record in files[2]}
    assert not set(files[0]) & set(files[2])


@pytest.mark.slow
def test_what_else_a_job_does_changes_no_draw(workbench: Any, tmp_path: Path) -> None:
    """The groups of one method, and the noise of another, are the same beside other steps and without them."""
    alone = '[[step]]\ndo = "kanonymeans"\ncolumns = ["net \\"income\\""]\nk = 5\nnulls = "error"\n'
    noise = '[[step]]\ndo = "noise"\ncolumns = ["age"]\namount = 0.5\n'
    found = []
    for steps in (alone, noise, noise + alone, alone + noise):
        path = workbench.make(persons())
        text = f'db = "{path}"\ntable = "records"\nkeep = ["id"]\nrow_key = ["id"]\nrest = "keep"\nseed = "{SEED}"\n'
        text += 'accept_unique = ["id"]\n' if alone in steps else 'accept_unique = ["id", "net \\"income\\""]\n'
        job = tmp_path / "job.toml"
        job.write_text(text + steps + '[[step]]\ndo = "publish"\ninto = "released"\n')
        assert tomllib.loads(job.read_text())
        sqlmicro.run(str(job))
        made = workbench.read(path, "released")
        found.append((by_id(made, ODD), by_id(made, "age")))
    assert found[1][1] == found[2][1] == found[3][1] != found[0][1]
    assert found[0][0] == found[2][0] == found[3][0] != found[1][0]


def test_a_step_that_is_taken_twice_draws_twice(workbench: Any, tmp_path: Path) -> None:
    """PRAM that keeps a half, two times, keeps a quarter of the values by not drawing them, and some by chance."""
    path = workbench.make({"id": ("INTEGER", range(4000)), "town": ("VARCHAR", ["a", "b"] * 2000)})
    step = '[[step]]\ndo = "pram"\ncolumns = ["town"]\nkeep_probability = 0.8\n'
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{path}"\ntable = "records"\nkeep = ["id"]\naccept_unique = ["id"]\nseed = "{SEED}"\n{step}{step}'
        '[[step]]\ndo = "publish"\ninto = "released"\n'
    )
    sqlmicro.run(str(job))
    town = by_id(workbench.read(path, "released"), "town")
    assert np.mean([town[i] == "ab"[i % 2] for i in range(4000)]) == pytest.approx(0.68, abs=0.03)


def test_records_of_one_content_draw_numbers_of_their_own(workbench: Any) -> None:
    path = workbench.make({"x": ("DOUBLE", [5.0] * 200 + [6.0] * 100), "town": ("VARCHAR", ["a", None, "b"] * 100)})
    made = release(workbench, path, "noise", columns=["x"], amount=1, drop=[], decimals=True)
    assert len(set(made["x"])) == 300
    again = release(workbench, path, "noise", columns=["x"], amount=1, drop=[], decimals=True)
    assert again == made


def test_a_copy_of_a_record_does_not_change_what_others_draw(workbench: Any) -> None:
    """Who adds a copy of a record could else have everybody's noise drawn a second time, and average."""
    given: Table = {"x": ("DOUBLE", [1.0 * i for i in range(200)]), "name": ("VARCHAR", [f"n{i}" for i in range(200)])}
    options: dict[str, Any] = {"columns": ["x"], "drop": [], "kind": "laplace", "epsilon": 1, "lower": 0, "upper": 200}
    before = release(workbench, workbench.make(given), "noise", **options)
    copied: Table = {name: (kind, [*values, values[7]]) for name, (kind, values) in given.items()}
    after = release(workbench, workbench.make(copied), "noise", **options)
    once, copies = (sorted(zip(made["name"], made["x"], strict=True)) for made in (before, after))
    assert set(once) <= set(copies) and len(copies) == len(once) + 1


@pytest.mark.slow
def test_nothing_is_shared_without_a_secret_that_lasts(
    workbench: Any, db: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    a, b = (release(workbench, db, "noise", columns=[ODD], amount=0.5, seed=None, **KEPT) for _ in range(2))
    assert a == b
    monkeypatch.delenv(secrets.LASTING_VARIABLE)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    a, b = (release(workbench, db, "noise", columns=[ODD], amount=0.5, seed=None, **KEPT) for _ in range(2))
    assert np.mean(np.array(a["id"]) == np.array(b["id"])) < 0.02
    assert not set(a[ODD]) & set(b[ODD])


# Keys


def test_keys_are_hmacs_of_the_secret() -> None:
    import hmac
    import json

    key = secrets.from_text(SEED)
    task = secrets.Task("noise", ("age",), (), "keep", {"amount": 0.5})
    own = {"by": [], "method": "noise", "nulls": "keep", "repeated": 0, "settings": {"amount": 0.5}}
    text = json.dumps(["draws", "main.p", own, ["age"], []], sort_keys=True)
    expected = hmac.new(key.value.encode(), text.encode(), "sha256").hexdigest()[:32]
    assert key.draws("main.p", task, ["age"]) == expected
    plan = secrets.Recipe("main.p", (), (), (task,))
    others = {
        key.draws("main.q", task, ["age"]), key.draws("main.p", task, ["sex"]), key.draws("main.p", task, ["age"], 1),
        key.order(plan, b"1", b"1"), key.order(plan, b"1", b"2"), key.order(plan, b"2", b"1"),
        key.of_input(b"1")[:32], key.value, expected,
    }  # fmt: skip
    assert len(others) == 9


@pytest.mark.parametrize("name", ["noise", "swap", "mdav"])
def test_no_key_is_in_a_statement(workbench: Any, db: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    derived = secrets.Key._derived

    def watched(self: secrets.Key, *parts: object) -> str:
        made.append(derived(self, *parts))
        return made[-1]

    monkeypatch.setattr(secrets.Key, "_derived", watched)
    settings = {"noise": {"amount": 1}, "swap": {"percent": 20}, "mdav": {"k": 3}}[name]
    verb = getattr(sqlmicro, name)
    report = verb("records", db=db, columns=[ODD], rest="drop", seed=SEED, show_sql=True, **settings)
    assert len(made) >= 2
    assert not any(key in report["sql"] for key in made)
    assert not re.search(r"'[0-9a-f]{32}'", report["sql"])


def test_the_hash_of_a_record_is_that_of_every_version_of_the_database() -> None:
    """Draws begin with DuckDB's hash(): where a version computes another, all noise would be drawn anew."""
    with duckdb.connect() as connection:
        (found,) = (
            connection.execute("SELECT [hash('key', 5::UBIGINT, 2.5::DOUBLE, 'a', NULL), hash(7::INTEGER)]").fetchone()
            or ()
        )
    assert found == [2143582756353033832, 8736873150706563146]
