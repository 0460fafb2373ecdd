"""Columns of persons or households: all records of a class together keep what is asked, counted in plain Python.

Each case is a random table; a release has many of them, as strata. SQLMICRO_UNIT_TABLES=300 says how many for every
method and kind of units.
"""

from __future__ import annotations

import math
import os
from collections import Counter, defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from command import run
from looping import each
from naive_rules import keeps_column
from world import refused

import sqlmicro as sm
from sqlmicro.guarantees.limits import Distinct
from sqlmicro.guarantees.read import with_households
from sqlmicro.guarantees.rules import Rules, Sensitive
from sqlmicro.options.guarantees import GuaranteeOptions

MANY = int(os.environ.get("SQLMICRO_UNIT_TABLES", "50"))
K = 3
COLUMNS = ["rent", "age", "ward"]
"""Of the household, of the person, and of the record."""
METHODS: dict[str, dict[str, Any]] = {
    "suppress": {"k": K},
    "generalize": {"until_k": K, "local": True, "width": ["rent=100", "rent=400", "age=10", "age=30"]},
}
SAFE: dict[str, Any] = {"k": K, "effort": "fast", "nominal": "ward"}
UNITS: dict[str, dict[str, Any]] = {
    "person": {"person": "pid"},
    "household": {"household": "hid", "rows_are_persons": True},
    "both": {"person": "pid", "household": "hid"},
}
Row = dict[str, Any]


def tables(many: int, seed: int) -> list[Row]:
    """Return random tables as strata of one: households of persons with several visits, some of nobody."""
    rng = np.random.default_rng(seed)
    rows, person, household = [], 0, 0
    for table in range(many):
        few = int(rng.integers(2, 8))
        for number in range(K + int(rng.integers(5))):
            household += 1
            rent = int(rng.integers(few)) * 100
            for _ in range(int(rng.integers(1, 4))):
                person += 1
                age, ill = 20 + int(rng.integers(few)) * 7, int(rng.integers(4))
                always = rng.random() < 0.3  # a person all of whose rows hold the same value
                nobody = number >= K and rng.random() < 0.1
                for _ in range(int(rng.integers(1, 6))):
                    rows.append({
                        "table": table, "pid": None if nobody else person, "hid": household, "rent": rent, "age": age,
                        "ward": f"w{rng.integers(3)}",
                        "illness": f"i{ill if always else rng.integers(2 + few)}",
                    })  # fmt: skip
    return [{"rid": rid, **rows[at]} for rid, at in enumerate(rng.permutation(len(rows)))]


def limited(rows: list[Row], rng: np.random.Generator) -> tuple[dict[str, Any], Sensitive]:
    """Return limits that every table whole keeps, some of them only just, and the same as the definitions read them."""
    whole = Counter(row["illness"] for row in rows)
    of_tables = defaultdict(Counter)
    for row in rows:
        of_tables[row["table"]][row["illness"]] += 1
    shares = [{v: n / sum(one.values()) for v, n in one.items()} for one in of_tables.values()]
    entropies = [math.exp(-sum(p * math.log(p) for p in one.values())) for one in shares]
    limits = {
        "min_l": min(K, *(len(one) for one in shares)),
        "min_entropy_l": min(K, math.floor(100 * min(entropies)) / 100),
        "max_t": max(sum(abs(one.get(v, 0) - n / len(rows)) for v, n in whole.items()) / 2 for one in shares) + 0.01,
        "max_alpha": min(1.0, max(max(one.values()) for one in shares) + 0.01),
        "max_beta": max(p / (whole[v] / len(rows)) - 1 for one in shares for v, p in one.items()) + 0.01,
    }
    chosen = rng.choice(list(limits), int(rng.integers(1, 3)), replace=False)
    asked = {str(name): limits[str(name)] for name in chosen}
    one = Sensitive(
        "illness", np.zeros(0), np.array([n / len(rows) for _, n in sorted(whole.items())]), False,
        limits=GuaranteeOptions(values=asked).demand,
    )  # fmt: skip
    return asked, one


def faults(rows: list[Row], after: list[Row], units: str, one: Sensitive) -> list[str]:
    """Return what does not hold of the classes of a release, and of what was constant within a unit."""
    numbered = {value: q for q, value in enumerate(sorted({row["illness"] for row in rows}))}
    original, found = {row["rid"]: row for row in rows}, []
    for columns in (COLUMNS, ["rent", "age"], ["rent"]):
        classes = defaultdict(list)
        for row in after:
            classes[tuple((row[c]) for c in ("table", *columns))].append(original[row["rid"]])
        for members in classes.values():
            if len({row["pid"] if units != "household" else row["rid"] for row in members}) < K:
                found.append(f"k of {columns}")
            if columns == ["rent"] and units != "person" and len({row["hid"] for row in members}) < K:
                found.append("k households")
            if not keeps_column(one, [numbered[row["illness"]] for row in members]):
                found.append(f"limits of {columns}")
    for column, key in (("age", "pid"), ("rent", "hid")):
        values = defaultdict(set)
        for row in after:
            values[original[row["rid"]][key]].add(row[column])
        if (key == "pid" and units == "household") or (key == "hid" and units == "person"):
            continue
        if any(len(own) > 1 for unit, own in values.items() if unit is not None):
            found.append(f"{column} differs within {key}")
    return found


def kept(method: str, units: str, many: int, seed: int) -> None:
    rows = tables(many, seed)
    asked, one = limited(rows, np.random.default_rng([seed, len(method), len(units)]))
    names = ["rid", "table", "illness", *COLUMNS, *(u for u in ("pid", "hid") if u in UNITS[units].values())]
    given = {**METHODS.get(method, SAFE), **UNITS[units], **asked, "sensitive": "illness"}
    table = pa.Table.from_pylist([{name: row[name] for name in names} for row in rows])
    given |= {"columns": COLUMNS, "by": "table", "keep": ["rid"], "accept_unique": ["rid"], "seed": str(seed)}
    with sm.open() as w, getattr(w, method)(table, **given) as release:
        after, report = release.arrow().to_pylist(), release.report
    assert faults(rows, after, units, one) == [], asked
    assert len(after) + report["suppressed"] == len(rows)
    gates = {row["check"]: row for row in report["audits"] if row["threshold"] is not None}
    assert all(row["passed"] for row in gates.values())


def visits(ages: list[int], illnesses: list[str]) -> pa.Table:
    """Return the visits of some persons, of whom each has one age, and a letter for the illness of each visit."""
    rows = [{"pid": who, "age": age, "illness": ill}
            for who, (age, ills) in enumerate(zip(ages, illnesses, strict=True)) for ill in ills]  # fmt: skip
    return pa.Table.from_pylist([{"rid": rid, **row} for rid, row in enumerate(rows)])


def classes(method: str, table: pa.Table, **limits: float) -> list[list[int]]:
    """Return the persons of every class of ages that a method makes, each once, ascending."""
    given = {**METHODS[method], **limits, "sensitive": "illness", "person": "pid", "columns": ["age"], "keep": ["rid"]}
    given |= {"width": [rule for rule in given["width"] if rule[0] == "a"]} if "width" in given else {}
    with sm.open() as w, getattr(w, method)(table, **given, accept_unique=["rid", "illness"]) as release:
        rows, person = release.arrow().to_pylist(), table["pid"].to_pylist()
    found = defaultdict(set)
    for row in rows:
        found[row["age"]].add(person[row["rid"]])
    return sorted(sorted(own) for own in found.values())


@pytest.mark.slow_but("suppress")
@pytest.mark.parametrize("method", list(METHODS))
def test_by_hand_three_persons_of_one_illness_join_others(method: str) -> None:
    """Each of three ages has three persons; those of the first have but one illness, in however many visits.

    With l = 2 they join one of the other two, whose persons have two illnesses together; the third stays as it is.
    """
    ages = [21] * 3 + [22] * 3 + [48] * 3
    table = visits(ages, ["aaa", "a", "aa", "ab", "a", "b", "b", "ab", "ac"])
    found = classes(method, table, min_l=2)
    assert found in ([[0, 1, 2, 3, 4, 5], [6, 7, 8]], [[0, 1, 2, 6, 7, 8], [3, 4, 5]])


@pytest.mark.slow_but("suppress")
@pytest.mark.parametrize("method", list(METHODS))
def test_a_person_whose_many_visits_all_are_of_one_rare_illness_is_in_a_class_with_enough_others(method: str) -> None:
    """Eight visits of z are 8 of 44: with alpha = 1/2 the three of that age, with ten visits, need six more of others.

    Counted by persons each class would keep it: one of three has z.
    """
    ages = [21] * 3 + [22] * 6 + [23] * 6
    table = visits(ages, ["zzzzzzzz", "a", "b", *(["abc", "ab", "ca"] * 4)])
    found = classes(method, table, max_alpha=0.5)
    (with_z,) = [own for own in found if 0 in own]
    visits_of = Counter(table["pid"].to_pylist())
    assert len(with_z) > 3
    assert sum(visits_of[one] for one in with_z) >= 16


@each("method", list(METHODS))
def test_where_only_all_together_keep_it_all_are_one_class(method: str) -> None:
    table = visits([21, 22, 23, 44, 45, 46], ["a", "aa", "a", "b", "b", "bb"])
    assert classes(method, table, max_t=0.0) == [[0, 1, 2, 3, 4, 5]]


@each("method", list(METHODS))
def test_what_not_even_all_records_keep_is_refused_in_words(method: str) -> None:
    table = visits([21, 22, 23, 44], ["aa", "aa", "a", "bbb"])
    for limits, told in (
        ({"min_l": 3}, "they have 2 values"),
        ({"max_alpha": 0.4}, "the most frequent 62.5 % of them"),
    ):
        with refused(told):
            classes(method, table, **limits)


def test_a_household_of_more_members_than_l_is_not_enough(workbench: Any) -> None:
    """Four illnesses in one household are l = 4 of its records, but k = 3 households are needed as well."""
    rows = [(h, 300 + 50 * (h // 3), ill) for h, ills in enumerate(["abcd", "a", "a", "a", "b", "c"]) for ill in ills]
    db = workbench.make({
        "rid": ("INTEGER", list(range(len(rows)))),
        **{name: (kind, [row[i] for row in rows])
           for i, (name, kind) in enumerate((("hid", "INTEGER"), ("rent", "INTEGER"), ("illness", "VARCHAR")))},
    })  # fmt: skip
    given = {"columns": ["rent"], "k": K, "household": ["hid"], "sensitive": ["illness"], "keep": ["rid"]}
    released = {}
    for l in (3, 4):  # noqa: E741 (l-diversity is called so)
        made = workbench.release("suppress", db, **given, min_l=l, rows_are_persons=True)
        of_rent = defaultdict(set)
        for rent, rid in made.records(["rent", "rid"]):
            of_rent[rent].add(rows[rid][0])
        released[l] = sorted(map(sorted, of_rent.values()))
    assert released == {3: [[0, 1, 2], [3, 4, 5]], 4: [[0, 1, 2, 3, 4, 5]]}


@pytest.mark.slow
def test_the_command_the_job_file_and_what_is_recorded_say_the_same(workbench: Any, tmp_path: Any) -> None:
    rng = np.random.default_rng(5)
    ages = [int(a) for a in rng.integers(20, 40, 60)]
    table = visits(ages, ["".join(rng.choice(list("abc"), int(rng.integers(1, 5)))) for _ in ages])
    db = workbench.make({
        "rid": ("INTEGER", table["rid"].to_pylist()), "pid": ("INTEGER", table["pid"].to_pylist()),
        "age": ("INTEGER", table["age"].to_pylist()), "illness": ("VARCHAR", table["illness"].to_pylist()),
    })  # fmt: skip
    words = ["--columns", "age", "--k", "3", "--person", "pid", "--sensitive", "illness", "--min-l", "2", "--max-t",
             "0.3", "--keep", "rid", "--accept-unique", "rid", "--seed", "s"]  # fmt: skip
    done = run("suppress", "--db", db, "--table", "records", *words, "--into", "a", "--json")
    assert done.returncode == 0, done.stderr
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nseed = "s"\nkeep = ["rid"]\nperson = ["pid"]\naccept_unique = ["rid"]\n'
        '[[step]]\ndo = "suppress"\ncolumns = ["age"]\nk = 3\nsensitive = ["illness"]\nmin_l = 2\nmax_t = 0.3\n'
        '[[step]]\ndo = "publish"\ninto = "b"\nalone_because = "a test"\n'
    )
    assert run("explain", job).returncode == 0
    assert run("run", job, "--json").returncode == 0
    one, other = (sorted(zip(*(workbench.read(db, t)[c] for c in ("rid", "age")), strict=True), key=repr) for t in "ab")
    assert one == other
    assert any(age is None for _, age in one)
    found = sm.certify("a", db=str(db), to=str(tmp_path / "a.json"), unsigned=True)["certificate"]
    recounted = {row["check"]: row["threshold"] for row in found["recounted"] if row["threshold"]}
    assert recounted == {"k-anonymity": 3, "l-diversity": 2, "t-closeness": 0.3}
    attested = {row["check"]: row["threshold"] for row in found["attested"] if row["passed"]}
    assert attested == {"persons (age)": 3, "t-closeness (age, illness)": 0.3, "differing persons (age)": 0}
    first = sm.ledger(db=str(db))["releases"][0]
    assert (first["unit"], first["k"], first["intact"]) == ("person: pid", 3, True)


@each("method", list(METHODS))
def test_all_records_of_persons_in_households_keep_what_is_asked(method: str) -> None:
    kept(method, "both", MANY, 1)


def test_safe_keeps_what_is_asked_of_all_records_of_persons_in_households() -> None:
    """Classes become larger where nobody's seat mends them: some tables keep their limits only just, as one class."""
    kept("safe", "both", 50, 1)


@pytest.mark.slow
@each("units", list(UNITS))
@each("method", [*METHODS, "safe"])
def test_all_records_of_any_units_keep_what_is_asked(method: str, units: str) -> None:
    for seed in range(2, 2 + max(6, MANY // 50)):
        kept(method, units, 50, seed)


def test_a_class_has_k_households_where_it_has_columns_of_theirs() -> None:
    class Members:
        def arrays(self, *_template: object, **_names: object) -> dict[str, np.ndarray]:
            return {"counted": np.array([5, 5, 9, 7])}

    given: Any = SimpleNamespace(
        demand=SimpleNamespace(households=SimpleNamespace(members=None)), warehouse=Members(), relation=None
    )
    (found,) = with_households(given, Rules(K)).sensitive
    assert found.limits == (Distinct(K),)
    assert found.codes.tolist() == [0, 0, 2, 1]
    given.demand.households = None
    assert not with_households(given, Rules(K)).sensitive
