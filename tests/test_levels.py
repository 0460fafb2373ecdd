"""Levels: what is constant within a person or a household stays so, in classes of k persons and k households."""

from __future__ import annotations

import os
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from databases import opened
from hypothesis import settings
from naive_levels import KINDS, MASKS, NOT_SENSITIVE, NUMBERS, ONLY_NUMBERS, Row, faults, lose_values, possible, table
from world import execute

import sqlmicro as sm
from sqlmicro.database import levels
from sqlmicro.group.class_size import _told

TABLES = int(os.environ.get("TABLES", settings.default.max_examples // 5))


def released(w: Any, rows: list[Row], columns: list[str], kind: str, k: int, keys: dict[str, Any]) -> list[Row]:
    """Return the released records of a method, with the number that each had in the input."""
    method, given = kind.split(" ")[0].replace("-", "_"), dict(KINDS[kind])
    if "until_k" in given:
        given["until_k"] = k
        given["width"] = [rule for rule in given["width"] if rule.split("=")[0] in columns]
    elif method not in ("noise", "shuffle", "swap"):
        given["k"] = k
    given |= {name: value for name, value in keys.items() if name in ("sensitive", "min_l", "max_t", "nulls")}
    keys = {name: value for name, value in keys.items() if name not in given}
    unit = [key for key in ("hh", "pid") if key in keys.values()]
    kept = ["rid", *([given["sensitive"]] if "sensitive" in given else [])]
    names = [*kept, *columns, *unit]
    given_table = pa.Table.from_pylist([{name: row[name] for name in names} for row in rows])
    call = getattr(w, method)
    with call(given_table, columns=columns, keep=["rid"], accept_unique=kept, **keys, **given) as release:
        found: list[Row] = release.arrow().to_pylist()
        return found


def checked(w: Any, seed: int) -> str:
    """Release a random table by a random method, and fail if it does not keep its levels; return what was done."""
    rng = np.random.default_rng([16, seed])
    rows, kind, k = table(rng), list(KINDS)[seed % len(KINDS)], int(rng.integers(2, 5))
    keys = [{"person": "pid"}, {"household": "hh"}, {"person": "pid", "household": "hh"}][rng.integers(3)]
    if keys == {"household": "hh"}:
        keys = {**keys, "rows_are_persons": True}
    if rng.random() < 0.2 and "pid" in keys.values():
        keys = {**keys, "of_person": "age"}
    names = [
        c for c in (NUMBERS if kind in ONLY_NUMBERS else (*NUMBERS, "roof", "sex", "nearly")) if rng.random() < 0.7
    ]
    columns = [str(c) for c in rng.permutation(names or ["age"])]
    person, household = (keys.get(key) for key in ("person", "household"))
    if "of_person" in keys and "age" not in columns:
        keys.pop("of_person")
    if kind not in NOT_SENSITIVE and rng.random() < 0.3:
        keys = {**keys, "sensitive": str(rng.choice(["chronic", "diagnosis"])), "min_l": 2}
        keys |= {"max_t": 0.5} if rng.random() < 0.5 else {}
    nulls = ["keep", "suppress", "pattern"][rng.integers(3)] if rng.random() < 0.3 else None
    if nulls:
        lose_values(rows, rng)
        keys |= {} if kind in MASKS else {"nulls": nulls}
    try:
        after = released(w, rows, columns, kind, k, keys)
    except sm.SqlmicroError as error:
        assert nulls or not possible(rows, k, person, household), f"seed {seed}, {kind}, {keys}: {error}"
        return f"refused {nulls}"
    wrong = faults(rows, after, columns, kind, k, person, household, keys.get("of_person"),
                   keys.get("sensitive"), keys.get("min_l", 0), keys.get("max_t"))  # fmt: skip
    assert not wrong, f"seed {seed}, {kind}, k = {k}, {keys}, {columns}: {wrong}"
    return kind


@pytest.mark.long
@pytest.mark.slow
def test_random_tables_keep_their_levels() -> None:
    with sm.open() as w:
        done = [checked(w, seed) for seed in range(TABLES)]
    assert sum("refused" in one for one in done) < len(done) / 3


def visits(patients: int = 40, seed: int = 1) -> pa.Table:
    """Return visits of patients in households, whose keys are a UUID and two columns; a name needs to be quoted."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(patients), rng.integers(1, 5, patients))
    n = len(person)
    return pa.table({
        "rid": np.arange(n),
        "patient": [f"00000000-0000-0000-0000-{one:012d}" for one in person],
        "block": [f"b{one // 8}" for one in person],
        "flat": (person // 2 % 4).astype("int16"),
        'net "income"': 100.0 * (person // 2 % 7),
        "age": 20 + person,
        "cost": np.round(rng.gamma(2, 100, n), 2),
        "year": rng.integers(2019, 2022, n),
    })  # fmt: skip


GIVEN: dict[str, Any] = {"person": "patient", "household": ["block", "flat"], "keep": ["rid"], "accept_unique": ["rid"]}
COLUMNS = ['net "income"', "age", "cost"]


def released_visits(table: pa.Table, method: str = "mdav", **more: Any) -> tuple[list[Row], Any]:
    given = {**GIVEN, "columns": COLUMNS, "k": 3, "rest": "drop", "seed": "a seed of the tests", **more}
    with sm.open() as w, getattr(w, method)(table, **given) as release:
        return release.arrow().to_pylist(), release.report


@pytest.mark.slow
def test_composite_keys_a_uuid_and_a_quoted_name() -> None:
    table = visits()
    after, report = released_visits(table)
    rows = [{**row, "hh": (row["block"], row["flat"])} for row in table.to_pylist()]
    assert faults(rows, after, COLUMNS, "mdav", 3, "patient", "hh") == []
    told = {row["check"]: (row["value"], row["passed"]) for row in report["audits"]}
    assert told["differing households"] == told["differing persons"] == (0, True)
    assert told["households"][0] >= 3
    assert told["households"][1]
    notes = " ".join(report["notes"])
    assert 'columns of the household, found constant within every household: net "income"; one value' in notes
    assert "columns of the person, found constant within every person: age; one value for each person" in notes


@pytest.mark.slow
def test_the_order_of_the_rows_does_not_matter() -> None:
    table = visits(60)
    turned = table.take(np.random.default_rng(0).permutation(len(table)))
    keys: dict[str, Any] = {"row_key": "rid", "keep": ["rid"]}
    one, other = (released_visits(which, **keys)[0] for which in (table, turned))
    assert sorted(one, key=lambda row: row["rid"]) == sorted(other, key=lambda row: row["rid"])


def test_what_the_user_says_is_tested_on_all_rows() -> None:
    table = visits()
    differing = sum(
        len({row["cost"] for row in table.to_pylist() if row["patient"] == one}) > 1
        for one in set(table["patient"].to_pylist())
    )
    with pytest.raises(sm.SqlmicroError) as found:
        released_visits(table, of_person=["age", "cost"])
    assert f"cost differs within {differing} of 40" in str(found.value)
    for value in table["cost"].to_pylist():
        assert str(value) not in str(found.value)
    _, report = released_visits(table, of_person="age", household=[])
    assert "columns of the person: age; one value for each person" in report["notes"]


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"person": [], "of_person": "age", "rows_are_persons": True}, "--person"),
        ({"columns": ["age", "block"]}, "--household"),
        ({"by": "year"}, "all records of a household are in one stratum"),
        ({"household": [], "of_person": "age", "by": "year"}, "all records of a person are in one stratum"),
        ({"household": "year"}, "every person belongs to one household"),
        ({"block_attributes": 'net "income",age;cost'}, "block_attributes"),
        ({"k": 41}, "k = 41"),
    ],
)
def test_what_cannot_be_is_refused(more: dict[str, Any], told: str) -> None:
    with pytest.raises(sm.SqlmicroError) as found:
        released_visits(visits(), **more)
    assert told in str(found.value)


def test_strata_that_cut_persons_are_said() -> None:
    _, report = released_visits(visits(), household=[], by="year", columns=["age", "cost"])
    assert "the strata differ within persons, whose age may differ too now" in report["notes"]
    assert "differing persons" not in {row["check"] for row in report["audits"]}


def test_a_table_without_repeated_persons_has_no_levels() -> None:
    table = visits()
    first = table.take(np.unique(np.array(table["patient"].to_pylist()), return_index=True)[1])
    with_person, _ = released_visits(first, household=[])
    without, _ = released_visits(first.drop_columns(["patient"]), household=[], person=[])
    values = [[sorted(row[name] for row in rows) for name in COLUMNS] for rows in (with_person, without)]
    assert values[0] == values[1]


def test_a_release_that_mixes_a_household_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "parts", lambda _, columns, *, nested: [levels.Part(tuple(columns))])
    with pytest.raises(sm.AuditFailed) as found:
        released_visits(visits(), k=2)
    assert "differing households" in str(found.value)


def test_a_check_that_cannot_run_publishes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    def fails(*_: Any) -> None:
        raise sm.SqlmicroError("a test", "fails")

    monkeypatch.setattr(levels, "differing", fails)
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.register("given", visits())
        connection.execute("CREATE TABLE visits AS FROM given")
    with pytest.raises(sm.SqlmicroError):
        sm.mdav(db=str(tmp_path / "w.duckdb"), table="visits", **GIVEN, columns=COLUMNS, k=3, rest="drop", into="out")
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("visits",)]


def test_records_without_a_person_are_one_person_and_keep_their_own_values() -> None:
    table = visits()
    patients = [None if at % 5 == 0 else one for at, one in enumerate(table["patient"].to_pylist())]
    table = table.set_column(1, "patient", pa.array(patients))
    after, report = released_visits(table, household=[], columns=["age", "cost"])
    rows = table.to_pylist()
    assert faults(rows, after, ["age", "cost"], "mdav", 3, "patient", None) == []
    of_nobody = {row["rid"] for row in rows if row["patient"] is None}
    assert len({row["age"] for row in after if row["rid"] in of_nobody}) > 1
    assert any("without a person: all of them count as one person" in note for note in report["notes"])


def test_classes_are_as_large_as_is_said_where_many_units_are_unknown() -> None:
    """Those of nobody are near each other: a class of them is united with another one, and all others stay as they are.

    All classes were made anew, of four persons, and the costs had nothing to choose from: IL was 27.9 %.
    """
    rng = np.random.default_rng(28)
    person = [None if i % 20 == 0 else i // 3 for i in range(1200)]
    age = [99 if one is None else 20 + one * 7919 % 70 for one in person]
    rows = {"rid": range(1200), "patient": person, "age": age, "cost": rng.lognormal(size=1200)}
    table = pa.table({name: pa.array(values) for name, values in rows.items()})
    given: dict[str, Any] = {"keep": ["rid"], "accept_unique": ["rid"], "columns": ["age", "cost"], "k": 4}
    with sm.open() as w, w.mdav(table, person="patient", **given) as release:
        after, report = release.arrow().to_pylist(), release.report
    (told,) = [note for note in report["notes"] if "classes of" in note]
    least = int(told.split()[2])
    assert f"classes of {least} persons or more, each unknown one counted by itself for the columns" in told
    units: dict[float, set[Any]] = {}
    for row in after:
        who = person[row["rid"]]
        units.setdefault(row["age"], set()).add(("nobody", row["rid"]) if who is None else who)
    assert least > 8
    assert min(map(len, units.values())) >= least
    assert report["IL"] < 10


def test_a_stratum_of_few_persons_is_one_class_and_that_is_said() -> None:
    rng = np.random.default_rng(29)
    person = np.arange(900) // 3
    rows = {"rid": range(900), "patient": person, "age": 20 + person * 7919 % 70, "cost": rng.lognormal(size=900)}
    table = pa.table({**{name: pa.array(values) for name, values in rows.items()}, "ward": pa.array(person < 6)})
    given: dict[str, Any] = {"keep": ["rid"], "accept_unique": ["rid"], "columns": ["age", "cost"], "k": 4}
    with sm.open() as w, w.mdav(table, person="patient", by="ward", **given) as release:
        after, report = release.arrow().to_pylist(), release.report
    (told,) = [note for note in report["notes"] if "classes of" in note]
    least = int(told.split()[2])
    assert told.startswith(f"classes of {least} persons or more, or all of a stratum that has fewer for the columns")
    units: dict[tuple[bool, float], set[int]] = {}
    for row in after:
        units.setdefault((row["ward"], row["age"]), set()).add(row["rid"] // 3)
    assert [len(who) for (ward, _), who in units.items() if ward] == [6]
    assert 6 < least <= min(len(who) for (ward, _), who in units.items() if not ward)


def test_classes_that_a_population_holds_are_of_k_persons(tmp_path: Any) -> None:
    """It was said that they are of 54."""
    person = np.arange(900) // 3
    costs = np.random.default_rng(29).lognormal(size=900)
    rows = {"rid": np.arange(900), "patient": person, "age": 20 + person * 7919 % 70, "cost": costs}
    visits = pa.table({name: pa.array(values) for name, values in rows.items()})  # noqa: F841 (DuckDB reads it)
    with opened(db := tmp_path / "w.duckdb") as connection:
        connection.execute("CREATE TABLE visits AS FROM visits; CREATE TABLE everybody AS SELECT age, cost FROM visits")
    given: dict[str, Any] = {"person": "patient", "k": 4, "population": "everybody", "min_k_map": 6, "keep": ["rid"]}
    report = sm.mondrian("visits", db=str(db), into="out", columns=["age", "cost"], accept_unique=["rid"], **given)
    with opened(db, read_only=True) as connection:
        sizes = connection.execute("SELECT count(DISTINCT rid // 3) FROM out GROUP BY age ORDER BY ALL").fetchall()
    assert (4,) <= sizes[0] < (8,)
    assert not [note for note in report["notes"] if "classes of" in note]


@pytest.mark.slow
def test_households_of_the_survey_keep_their_roof(data_folder: Any) -> None:
    """17 of its 1 000 households had two kinds of roof after `safe` that knew of no household, none before."""
    table = pa.csv.read_csv(data_folder / "testdata.csv")
    table = table.append_column("rid", pa.array(np.arange(len(table))))
    columns = ["roof", "walls", "water", "electcon", "sex", "age"]
    given: dict[str, Any] = {"columns": columns, "keep": ["rid"], "accept_unique": ["rid"], "rest": "drop", "k": 3}
    given |= {"rows_are_persons": True, "nulls": "pattern", "nominal": columns[:5]}
    before, mixed = table.to_pylist(), []
    for more in ({}, {"household": "ori_hid"}):
        with sm.open() as w, w.mdav(table, **given, **more) as release:
            after = release.arrow().to_pylist()
        own = {row["rid"]: row["ori_hid"] for row in before}
        roofs: dict[int, set[int]] = {}
        for row in after:
            roofs.setdefault(own[row["rid"]], set()).add(row["roof"])
        mixed.append(sum(len(found) > 1 for found in roofs.values()))
    assert mixed[0] > 10
    assert mixed[1] == 0


def dated(workbench: Any) -> str:
    """Return a table of 40 persons with up to three visits each, of which one and three columns lack values."""
    rng = np.random.default_rng(4)
    rows = []
    for person in range(40):
        age, region = None if person % 9 == 0 else int(rng.integers(20, 60)), str(rng.choice(["N", "S"]))
        for visit in range(1 + person % 3):
            rest = [None if rng.random() < 0.2 else int(rng.integers(9)) for _ in range(2)]
            day = f"2020-01-{1 + (person + visit) % 3:02}"
            rows.append((person, person // 2, age, region, *rest, day, f"{day} 12:00:00"))
    kinds = dict.fromkeys(("pid", "hid", "age", "region", "cost", "score"), "BIGINT") | {"region": "VARCHAR"}
    columns = [*kinds.items(), ("day", "DATE"), ("at", "TIMESTAMP")]
    return str(workbench.make({name: (kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(columns)}))


ANY = {"k": 3, "person": ["pid"], "rest": "drop"}


@pytest.mark.slow
def test_safe_with_persons_needs_no_option_for_missing_values(workbench: Any) -> None:
    """Patterns of missing values inside the classes of persons would need k persons each: it says what does not."""
    db, columns = dated(workbench), ["age", "region", "cost", "score"]
    given = {**ANY, "columns": columns, "effort": "fast"}
    release = workbench.release("safe", db, **given)
    assert release.report["parameters"]["steps"][0]["nulls"] == "keep"
    assert [note for note in release.report["notes"] if note.startswith("--nulls keep: ")]
    with pytest.raises(sm.errors.InputError, match="--nulls keep, which makes no strata") as refused:
        workbench.release("safe", db, **given, nulls="pattern")
    assert "--by" not in str(refused.value)  # nobody gave it


@pytest.mark.slow
def test_a_draft_for_persons_with_missing_values_runs_as_it_is(workbench: Any, tmp_path: Any) -> None:
    """The columns are called so that patient_id is taken for a person."""
    db = dated(workbench)
    execute(db, "CREATE TABLE visits AS SELECT pid + 1000 AS patient_id, * EXCLUDE (pid, hid) FROM records")
    text = sm.init("visits", db=db)["toml"]
    assert 'nulls = "keep"' in text
    job = tmp_path / "job.toml"
    job.write_text(text)
    assert sm.run(str(job))["verdict"]["passed"]


DATED: dict[str, dict[str, Any]] = {
    "mdav": {"columns": ["cost"], "nulls": "keep"},
    "individual-ranking": {"columns": ["cost"], "nulls": "keep"},
    "microaggregate": {"columns": ["cost"], "nulls": "keep"},
    "noise": {"columns": ["age"], "amount": 0.2},
    "shuffle": {"columns": ["age"]},
    "mondrian": {"columns": ["age"]},
    "swap": {"columns": ["age"], "percent": 20},
}


@pytest.mark.slow_but("mdav")
@pytest.mark.parametrize("method", list(DATED))
def test_dates_that_are_released_as_they_are_stay_dates_with_persons(method: str, workbench: Any) -> None:
    """They are no numbers in the records that stand for persons and households, whatever the method."""
    db = dated(workbench)
    before = workbench.read(db, "records")
    given = {name: value for name, value in ANY.items() if name != "k"} | DATED[method]
    for more in ({}, {"household": ["hid"]}):
        made = workbench.release(method, db, **given, **more, keep=["day", "at"])
        assert sorted(made.columns["day"]) == sorted(before["day"])
        assert sorted(made.columns["at"]) == sorted(before["at"])


def test_that_a_stratum_has_fewer_is_said_where_one_has() -> None:
    """A number that no stratum has is none without records."""
    told = [
        _told(5, "person", strata, np.arange(len(strata)))
        for strata in (np.repeat([1, 3], 6), np.repeat([0, 1], [6, 3]))
    ]
    assert ["or all of a stratum that has fewer" in one for one in told] == [False, True]
