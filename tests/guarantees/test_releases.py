"""Releases whose classes keep more than k: counted from what was published, by nothing of ours."""

import random
from collections import Counter, defaultdict

import pytest
from command import run
from world import ODD as INCOME
from world import people, refused

import sqlmicro
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.registry import methods

QUASI = ["age", INCOME]
QUICK = ("mdav", "secure-k-ward", "individual-ranking")


def classes(release, quasi, column):
    """Return the values of a column in every class."""
    found = defaultdict(list)
    for *key, value in release.records([*quasi, column]):
        found[tuple(key)].append(value)
    return list(found.values())


def equal(values, table):
    """Return how far values are from the table where any two values are one apart."""
    own, whole = Counter(values), Counter(table)
    return sum(max(0, own[v] / len(values) - whole[v] / len(table)) for v in own)


def ordered(values, table):
    """Return how far values are from the table by rank; a missing value is the largest."""
    ranks = sorted(set(table), key=lambda v: (v is None, v or 0))
    whole, own = Counter(table), Counter(values)
    carried = total = 0.0
    for value in ranks:
        carried += own[value] / len(values) - whole[value] / len(table)
        total += abs(carried)
    return total / max(1, len(ranks) - 1)


@pytest.mark.slow_but("mdav")
@pytest.mark.parametrize("method", ["mdav", "microaggregate", "k-ward"])
def test_classes_keep_l_and_t_of_two_columns(workbench, method):
    table = people(300, 1, gaps=0.05)
    release = workbench.release(
        method, workbench.make(table), k=4, columns=QUASI, sensitive=["illness", "cost"], min_l=3, max_t=0.35,
        rest="drop", seed="1",
    )  # fmt: skip
    assert set(release.columns) == {*QUASI, "illness", "cost"}
    assert Counter(release.columns["illness"]) == Counter(table["illness"][1])
    for values in classes(release, QUASI, "illness"):
        assert len(values) >= 4 and len(set(values)) >= 3
        assert equal(values, table["illness"][1]) <= 0.35 + 1e-9
    for values in classes(release, QUASI, "cost"):
        assert len(set(values)) >= 3 and ordered(values, table["cost"][1]) <= 0.35 + 1e-9
    audits = {(row["check"], *row["columns"][-1:]): row for row in release.report["audits"]}
    assert audits["t-closeness", "cost"]["distance"] == "ordered" and audits["t-closeness", "cost"]["passed"]
    assert audits["l-diversity", "illness"]["value"] >= 3
    assert "at least 3 different values (illness)" in release.report["verdict"]["sentence"]
    assert release.report["verdict"]["apart"] == {"illness": "sensitive", "cost": "sensitive"}


def test_classes_have_k_persons_and_all_without_one_are_one(workbench):
    table = people(240, 2, visits=3, gaps=0.1)
    table["number"] = ("INTEGER", list(range(240)))
    db = workbench.make(table)
    release = workbench.release(
        "mdav", db, k=3, columns=QUASI, person=["patient"], keep=["number"], drop=["illness", "cost", "ward"], seed="1"
    )
    patients = table["patient"][1]
    for numbers in classes(release, QUASI, "number"):
        assert len({patients[number] for number in numbers}) >= 3
    assert "patient" not in release.columns
    nobody = patients.count(None)
    assert f"{nobody} records without a person: all of them count as one person" in release.report["notes"]
    rows = workbench.release(
        "mdav", db, k=3, columns=QUASI, keep=["number"], rest="drop", rows_are_persons=True, seed="1"
    )
    assert min(len({patients[i] for i in numbers}) for numbers in classes(rows, QUASI, "number")) < 3
    whole, found = (row for row in release.report["audits"] if row["check"] == "persons")
    assert found["columns"] == QUASI and found["value"] >= 3 and found["threshold"] == 3 and found["passed"]
    assert whole["columns"] == [*QUASI, "number"] and whole["value"] == 1 and whole["threshold"] is None
    verdict = release.report["verdict"]
    assert (verdict["unit"], verdict["k"], verdict["k_released"]) == ("patient", found["value"], 1)
    assert verdict["status"] == "lowered" and release.report["k"] == found["value"]


def test_t_is_that_of_the_input_where_records_are_left_out(workbench):
    table = people(200, 3)
    rare = [i for i, value in enumerate(table["illness"][1]) if value == "flu"]
    table["age"][1][:] = [None if i in rare[: len(rare) // 2] else age for i, age in enumerate(table["age"][1])]
    release = workbench.release(
        "mdav", workbench.make(table), k=5, columns=QUASI, sensitive=["illness"], max_t=0.4, nulls="suppress",
        rest="drop", seed="1",
    )  # fmt: skip
    worst = max(equal(values, table["illness"][1]) for values in classes(release, QUASI, "illness"))
    (found,) = (row for row in release.report["audits"] if row["check"] == "t-closeness")
    assert worst <= 0.4 + 1e-9 and found["value"] == pytest.approx(worst) and found["input"] is True


def test_strata_are_held_to_the_whole_table(workbench):
    table = people(300, 4)
    release = workbench.release(
        "mdav", workbench.make(table), k=5, columns=QUASI, by=["ward"], sensitive=["illness"], max_t=0.3, rest="drop",
        seed="1",
    )  # fmt: skip
    for values in classes(release, [*QUASI, "ward"], "illness"):
        assert len(values) >= 5 and equal(values, table["illness"][1]) <= 0.3 + 1e-9


def test_a_second_step_is_held_to_the_values_as_they_were_read(workbench, tmp_path):
    table = people(120, 5, visits=2)
    db = workbench.make(table)
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\ndrop = ["ward", "cost"]\nseed = "1"\nperson = ["patient"]\n'
        '[[step]]\ndo = "top-code"\ncolumns = ["age"]\nquantile = 0.9\n'
        f"[[step]]\ndo = \"mdav\"\ncolumns = ['age', '{INCOME}']\nk = 3\n"
        'sensitive = ["illness"]\nmin_l = 2\n'
        '[[step]]\ndo = "publish"\ninto = "out"\n',
        encoding="utf-8",
    )
    done = run("run", job, "--json")
    assert done.returncode == 0, done.stderr
    found = workbench.read(db, "out")
    groups = defaultdict(set)
    for age, income, illness in zip(found["age"], found[INCOME], found["illness"], strict=True):
        groups[age, income].add(illness)
    assert all(len(values) >= 2 for values in groups.values()) and "patient" not in found
    said = run("explain", job).stdout
    assert "at least k = 3 persons (patient)" in " ".join(said.split())
    assert "every class has at least 2 different values" in " ".join(said.split())


KEEPING = [found for found in methods().values() if found.keeps_guarantees and found.stage == "group"]


@pytest.mark.slow_but("suppress-mdav", "suppress-secure-k-ward", "suppress-individual-ranking", "pattern-mdav")
@pytest.mark.parametrize(
    "method",
    [pytest.param(found, id=found.name, marks=() if found.name in QUICK else pytest.mark.slow) for found in KEEPING],
)
@pytest.mark.parametrize("nulls", ["suppress", "pattern"])
def test_every_grouping_method_keeps_persons_l_and_t(workbench, method, nulls):
    table = people(150, 8, visits=2, gaps=0.03)
    table["number"] = ("INTEGER", list(range(150)))
    table["age"][1][:12] = [None] * 12
    release = workbench.release(
        method.name, workbench.make(table), k=3, columns=QUASI, by=["ward"], nulls=nulls, keep=["number"],
        person=["patient"], sensitive=["illness"], min_l=2, max_t=0.6, max_beta=9.0, drop=["cost"], seed="1",
    )  # fmt: skip
    patients, illness = table["patient"][1], table["illness"][1]
    known = [[column] for column in QUASI] if method.promise == "column" else [[*QUASI, "ward"]]
    assert release.rows == (138 if nulls == "suppress" else 150)
    for quasi in known:
        for numbers in classes(release, quasi, "number"):
            found = [illness[number] for number in numbers]
            assert len({patients[number] for number in numbers}) >= 3
            assert len(set(found)) >= 2 and equal(found, illness) <= 0.6 + 1e-9
            own, whole = Counter(found), Counter(illness)
            assert all(own[v] / len(found) <= 10 * whole[v] / 150 + 1e-9 for v in own)


def moved(one, other, columns):
    """Return how many records are in one release and not in the other."""
    return len(set(one.records(columns)) - set(other.records(columns)))


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_safe_lets_records_change_seats(workbench, seed):
    draw = random.Random(seed)
    n = 400
    table = people(n, seed, visits=2, gaps=0.02)
    table["band"] = ("VARCHAR", [draw.choice(["young", "old"]) for _ in range(n)])
    table["town"] = ("VARCHAR", [draw.choice("xyz") for _ in range(n)])
    table["number"] = ("INTEGER", list(range(n)))
    db, quasi = workbench.make(table), ["band", "town", "ward"]
    common = {"columns": ["band", "town"], "by": ["ward"], "k": 4, "keep": ["number"], "drop": ["age", INCOME, "cost"]}
    limits = {"person": ["patient"], "sensitive": ["illness"], "min_l": 3, "max_t": 0.12}
    without = {**common, "drop": [*common["drop"], "patient", "illness"]}
    plain = workbench.release("safe", db, seed="1", rows_are_persons=True, **without)
    release = workbench.release("safe", db, seed="1", **{**common, **limits})
    # The file is the same: who sits where has changed.
    assert Counter(release.records(quasi)) == Counter(plain.records(quasi))
    patients, illness = table["patient"][1], table["illness"][1]
    for numbers in classes(release, quasi, "number"):
        found = [illness[number] for number in numbers]
        assert len({patients[number] for number in numbers}) >= 4
        assert len(set(found)) >= 3 and equal(found, illness) <= 0.12 + 1e-9
    assert any(note.endswith("so that every class keeps what was asked for") for note in release.report["notes"])
    assert moved(release, plain, [*quasi, "number"]) > 10
    for number, ward in release.records(["number", "ward"]):
        assert table["ward"][1][number] == ward


@pytest.mark.slow
def test_what_cannot_be_is_refused_before_anything_is_written(workbench):
    db = workbench.make(people(60, 6, visits=20))
    common = {"db": db, "k": 3, "columns": QUASI, "rest": "drop"}
    for given, error, words in (
        ({"sensitive": ["illness"]}, ParameterError, "a limit says"),
        ({"min_l": 3}, ParameterError, "--min-l is about sensitive columns"),
        ({"sensitive": ["illness"], "min_l": 5}, InputError, "groups must keep what was asked for"),
        ({"person": ["patient"], "k": 4}, InputError, "groups must keep what was asked for"),
        ({"person": ["patient"], "keep": ["patient"]}, ParameterError, "left out of the release"),
        ({"person": ["age"]}, ParameterError, "left out of the release"),
        ({"sensitive": ["age"], "min_l": 2}, ParameterError, "one role only"),
        ({"sensitive": ["nobody"], "min_l": 2}, ParameterError, "nobody"),
        ({"sensitive": ["illness"], "min_l": 2, "block_attributes": f"age;{INCOME}"}, ParameterError, "whole records"),
    ):
        with refused(words, db, kind=error):
            sqlmicro.mdav("records", **{**common, **given})


def test_a_kernel_that_breaks_its_promise_publishes_nothing(workbench, monkeypatch):
    from sqlmicro.group import guaranteed

    monkeypatch.setattr(guaranteed, "keep", lambda X, labels, *rest, **named: labels)
    db = workbench.make(people(100, 7, visits=4))
    for given, check in (
        ({"sensitive": ["illness"], "min_l": 4, "rows_are_persons": True}, "l-diversity"),
        ({"sensitive": ["illness"], "max_t": 0.1, "rows_are_persons": True}, "t-closeness"),
        ({"person": ["patient"]}, "persons"),
    ):
        with pytest.raises(sqlmicro.SqlmicroError, match=check) as failed:
            sqlmicro.mdav("records", db=db, k=4, columns=QUASI, rest="drop", **given)
        assert failed.value.exit_code == 1
    assert workbench.relations(db) == [("main", "records")]


def test_a_column_is_named_once_where_a_gate_holds_it_to_the_same_k(workbench, tmp_path):
    db = workbench.make(people(60, 9))
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nrest = "drop"\n[[step]]\ndo = "mdav"\ncolumns = ["age"]\nk = 3\n'
        '[[gate]]\nquasi = ["age"]\nmin_k = 3\n[[step]]\ndo = "publish"\ninto = "out"\n',
        encoding="utf-8",
    )
    assert "k-anonymity (age): " in run("run", job, "--details").stdout


def test_a_sensitive_column_that_singles_out_must_be_accepted(workbench):
    db = workbench.make(people(200, 10))
    given = {"db": db, "k": 5, "columns": ["age"], "sensitive": [INCOME], "max_t": 0.4, "rest": "drop"}
    with refused("accept it with --accept-unique", db, kind=InputError):
        sqlmicro.mdav("records", **given)
    assert sqlmicro.mdav("records", accept_unique=INCOME, **given)["passed"]


@pytest.mark.slow
def test_a_script_does_not_publish_what_it_cannot_test(workbench):
    db = workbench.make(people(90, 11, visits=2))
    given = {"db": db, "k": 3, "columns": ["age"], "rest": "drop", "show_sql": True}
    rows = {"rows_are_persons": True}
    assert "more was promised" not in sqlmicro.mdav("records", **given, **rows)["sql"]
    for more in ({"person": ["patient"]}, {"sensitive": ["illness"], "min_l": 2, **rows}):
        script = sqlmicro.mdav("records", **given, **more)["sql"]
        begin, stop = script.index("BEGIN TRANSACTION"), script.index("more was promised")
        assert begin < stop < script.index("CREATE TABLE", stop) < script.index("COMMIT")
