"""Recoding and suppression that a population holds: releases, counted by what they show, in plain Python."""

import datetime
import os
import random
from collections import Counter
from functools import cache

import duckdb
import pytest
from command import run
from world import execute, warehouse

import sqlmicro
from sqlmicro.errors import InputError, ParameterError, SqlmicroError
from sqlmicro.mask import recoding

INCOME = 'net "income"'
NAMES = ["age", INCOME, "zip"]
KINDS = {"age": "INTEGER", INCOME: "DOUBLE", "zip": "VARCHAR", "land": "VARCHAR"}
RULES = {"width": [f"{INCOME}=1", "age=5", "age=20"], "prefix": ["zip=2", "zip=1"]}
METHODS = {
    "levels": ("generalize", {"until_k": 2, **RULES}),
    "local": ("generalize", {"until_k": 2, "local": True, **RULES}),
    "boxes": ("mondrian", {"k": 2}),
    "suppress": ("suppress", {"k": 2}),
}
TABLES = int(os.environ.get("TABLES", "300"))
"""Releases of random tables in CI; 3 000 by hand."""


def slowly(*names):
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


def people(n, seed, *, members=8, gaps=0.04):
    """Make a population and a sample of it, each as columns; both lack values."""
    draw = random.Random(seed)

    def person():
        return (
            draw.choice([None, *range(18, 66)] if draw.random() < gaps else range(18, 66)),
            None if draw.random() < gaps else draw.choice([1.5, 2.0, 2.5, 9.0]),
            draw.choice(["101", "102", "117", "20", "211"]),
            draw.choice("xy"),
        )

    everybody = [person() for _ in range(n * members)]
    sample = everybody[:n]
    return tuple(
        {name: (kind, [row[i] for row in rows]) for i, (name, kind) in enumerate(KINDS.items())}
        for rows in (everybody, sample)
    )


def made(workbench, population, records, *, name="everybody"):
    """Return a database with the records and a population."""
    db = workbench.make({**records, "number": ("INTEGER", range(len(records["age"][1])))})
    return warehouse(db, **{name: population})


@cache
def matches(shown, value, *, suppressed=False):
    """Tell whether somebody with a value may be one for whom this is released."""
    if suppressed:
        return shown is None or value is None or shown == value
    if shown is None or value is None:
        return (shown is None and value is None) or shown == "*" or (isinstance(shown, str) and "missing" in shown)
    text = str(shown).removesuffix(" or missing")
    if text == "*":
        return True
    if text[0] == "[":
        low, high = text[1:-1].split(", ")
        return float(low) <= float(value) and (float(value) < float(high) if text[-1] == ")" else value <= float(high))
    if text[0] == "{":
        return str(value) in text[1:-1].split(", ")
    if text.endswith("*"):
        return len(value) == len(text) and value.startswith(text.rstrip("*"))
    return text in (str(value), str(value).removesuffix(".0"))


def counted(population, release, names=NAMES, *, suppressed=False):
    """Return of every class of a release its records and the members of the population who may be in it."""
    rows = Counter(zip(*(population[name][1] for name in names), strict=True))
    return {
        shown: (size, sum(
            n for row, n in rows.items()
            if all(matches(a, b, suppressed=suppressed) for a, b in zip(shown, row, strict=True))
        ))
        for shown, size in Counter(release.records(names)).items()
    }  # fmt: skip


def audited(release, check):
    (found,) = (row for row in release.report["audits"] if row["check"] == check)
    return found


def hold(release, population, name, least, share=None):
    """Hold a release to k-map and delta-presence."""
    classes = counted(population, release, suppressed=name == "suppress")
    assert min(members for _, members in classes.values()) >= least
    found = audited(release, "k-map")
    assert found["passed"] and found["threshold"] == least
    # With local recoding somebody may be in several classes; the audit counts everybody once.
    exact = name != "local"
    lowest = min(members for _, members in classes.values())
    assert found["value"] == lowest if exact else least <= found["value"] <= lowest
    if share is not None:
        worst = max(size / members for size, members in classes.values())
        found = audited(release, "delta-presence")
        assert found["passed"] and (
            found["value"] == pytest.approx(worst) if exact else worst <= found["value"] <= share
        )
    return classes


@pytest.mark.slow_but("suppress")
@pytest.mark.parametrize("name", list(METHODS))
def test_a_release_is_held_by_the_population(workbench, name):
    population, records = people(150, 1)
    method, given = METHODS[name]
    db = made(workbench, population, records)
    common = {"columns": NAMES, "keep": ["number"], "rest": "drop", "seed": "1", **given}
    plain = workbench.release(method, db, **common)
    assert min(n for _, n in counted(population, plain, suppressed=name == "suppress").values()) < 25
    release = workbench.release(method, db, **common, min_k_map=25, population="everybody")
    hold(release, population, name, 25)
    assert "Every class has" in release.report["verdict"]["sentence"]
    assert "members of the population at least" in release.report["verdict"]["sentence"]
    if name != "suppress":
        release = workbench.release(method, db, **common, min_k_map=3, max_delta=0.16, population="everybody")
        hold(release, population, name, 3, 0.16)
        release = workbench.release(method, db, **common, max_delta=0.16, population="everybody")
        hold(release, population, name, 1, 0.16)


def random_releases(workbench, seeds):
    """Hold releases of random tables by every method to what was asked of them; return how many there were."""
    done = Counter()
    for seed in seeds:
        draw = random.Random(seed)
        name = list(METHODS)[seed % len(METHODS)]
        method, given = METHODS[name]
        population, records = people(draw.randrange(4, 60), seed, members=draw.choice([1, 3, 8]))
        least = draw.randrange(1, 20)
        share = draw.choice([None, draw.uniform(0.2, 1.0)]) if name != "suppress" else None
        if name in ("levels", "local"):
            given = {**given, "suppress_up_to": draw.choice([0.0, 0.2])}
        limits = {"min_k_map": least} if share is None else {"min_k_map": least, "max_delta": share}
        db = made(workbench, population, records)
        try:
            release = workbench.release(method, db, columns=NAMES, rest="drop", seed="1", population="everybody",
                                        **given, **limits)  # fmt: skip
        except InputError as error:
            assert error.exit_code == 2
            assert "members of the population" in str(error) or "make every record occur" in str(error), seed
            continue
        hold(release, population, name, least, share)
        done[name] += 1
    return done


def with_persons(records, several, seed):
    """Return records with whose they are: each person has as many as `several`, alike or not."""
    draw = random.Random(seed)
    n = len(records["age"][1])
    persons = [number for number in range(n) for _ in range(draw.randrange(1, several + 1))]
    alike = [draw.random() < 0.5 for _ in persons]
    rows = [person if same else draw.randrange(n) for person, same in zip(persons, alike, strict=True)]
    return persons, {name: (kind, [values[row] for row in rows]) for name, (kind, values) in records.items()}


@pytest.mark.parametrize("name", slowly("levels", "local", "boxes"))
def test_a_share_of_the_population_is_one_of_persons_where_they_are_counted(workbench, name):
    """Random tables, counted in plain Python; TABLES=3000 runs hundreds."""
    method, given = METHODS[name]
    kept = less = 0
    for seed in range(3 if TABLES == 300 else TABLES // 10):
        population, once = people(40, seed, members=4)
        persons, records = with_persons(once, 4, seed)
        db = made(workbench, population, {**records, "whose": ("INTEGER", persons)})
        share = random.Random(seed).uniform(0.3, 0.6)
        try:
            release = workbench.release(
                method, db, columns=NAMES, keep=["number"], rest="drop", seed="1", person=["whose"], max_delta=share,
                population="everybody", **given,
            )  # fmt: skip
        except InputError as error:
            assert "members of the population" in str(error) or "make every record occur" in str(error), seed
            continue
        rows = release.records([*NAMES, "number"])
        members = {shown: people_ for shown, (_, people_) in counted(population, release).items()}
        here = {}
        for *shown, number in rows:
            here.setdefault(tuple(shown), set()).add(persons[number])
        sizes = Counter(tuple(shown) for *shown, _ in rows)
        assert max(len(whose) / members[shown] for shown, whose in here.items()) <= share, seed
        found = audited(release, "delta-presence")
        assert found["passed"] and found["value"] <= share
        kept += 1
        less += max(size / members[shown] for shown, size in sizes.items()) > share
    assert kept > 1 and less, "a share of records would be refused"


def test_persons_whom_nobody_can_count_are_no_share_of_a_population(workbench):
    population, once = people(40, 3, members=4)
    persons, records = with_persons(once, 3, 3)
    common = {"columns": NAMES, "rest": "drop", "person": ["whose"], "population": "everybody", "max_delta": 0.9}
    db = made(workbench, population, {**records, "whose": ("INTEGER", [None, *persons[1:]])})
    with pytest.raises(InputError, match="1 records that lack it"):
        sqlmicro.mondrian("records", db=db, k=2, into="out", **common)
    execute(db, "UPDATE records SET whose = 0 WHERE whose IS NULL",
            "CREATE TABLE visits AS SELECT *, 7 AS whose FROM everybody")  # fmt: skip
    for limits in ({"max_delta": 0.9}, {"max_delta": None, "min_k_map": 2}):
        with pytest.raises(InputError, match="one row of each person"):
            sqlmicro.mondrian("records", db=db, k=2, into="out", **{**common, "population": "visits", **limits})


@pytest.mark.slow
def test_releases_of_random_tables(workbench):
    assert len(random_releases(workbench, range(8))) >= 3
    assert min(random_releases(workbench, range(1000, 1000 + TABLES // 4)).values()) >= TABLES // 60


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local", *slowly("levels")])
def test_of_the_table_itself_k_map_is_k(workbench, name):
    """The members of a class are its records then: k-map is k-anonymity, with records left out as well."""
    _, records = people(120, 2)
    db = made(workbench, records, records)
    method, given = METHODS[name]
    for more in ({}, {"suppress_up_to": 0.1}):
        common = {"columns": NAMES, "keep": ["number"], "rest": "drop", "seed": "1", **given, **more}
        one = workbench.release(method, db, **{**common, "until_k": 6})
        other = workbench.release(method, db, **common, min_k_map=6, population="everybody")
        assert set(one.records([*NAMES, "number"])) == set(other.records([*NAMES, "number"]))
        if not more:
            whole = workbench.release(method, db, **common, min_k_map=6, max_delta=1, population="everybody")
            assert audited(whole, "delta-presence")["value"] == 1
            assert set(whole.records([*NAMES, "number"])) == set(other.records([*NAMES, "number"]))


def test_of_the_table_itself_boxes_have_k(workbench):
    _, records = people(120, 2, gaps=0)
    db = made(workbench, records, records)
    common = {"columns": NAMES, "keep": ["number"], "rest": "drop", "seed": "1"}
    one = workbench.release("mondrian", db, **common, k=6)
    other = workbench.release("mondrian", db, **common, k=2, min_k_map=6, population="everybody")
    assert set(one.records([*NAMES, "number"])) == set(other.records([*NAMES, "number"]))


@pytest.mark.slow_but("suppress")
@pytest.mark.parametrize("name", ["boxes", "suppress", *slowly("levels", "local")])
def test_strata_hold_their_own(workbench, name):
    population, records = people(120, 3)
    method, given = METHODS[name]
    db = made(workbench, population, records)
    release = workbench.release(method, db, columns=NAMES, by=["land"], keep=["number"], min_k_map=20,
                                population="everybody", seed="1", **given)  # fmt: skip
    classes = counted(population, release, [*NAMES, "land"], suppressed=name == "suppress")
    assert min(members for _, members in classes.values()) >= 20


@pytest.mark.slow
@pytest.mark.parametrize("name", ["boxes", *slowly("levels", "local", "suppress")])
def test_a_population_of_other_types_has_the_values_it_can(workbench, name):
    """34.5 is no age and 'x' is none: who has them is in no class, or in more of them than the audit counts."""
    population, records = people(120, 4)
    other = {
        "zip": ("INTEGER", [int(value) for value in population["zip"][1]]),
        INCOME: ("DECIMAL(9, 2)", list(population[INCOME][1])),
        "AGE": ("VARCHAR", [value if value is None else str(value) for value in population["age"][1]]),
    }
    strange = {"zip": 101, INCOME: 2.0}
    for value in ("34.5", "x", "034"):
        for column, (_, values) in other.items():
            values += [strange.get(column, value)] * 40
    method, given = METHODS[name]
    db = made(workbench, other, records)
    common = {"columns": NAMES, "rest": "drop", "seed": "1", "min_k_map": 15, **given}
    release = workbench.release(method, db, **common, population="everybody")
    hold(release, population, name, 15)
    db = made(workbench, population, records)
    assert Counter(workbench.release(method, db, **common, population="everybody").records(NAMES)) == Counter(
        release.records(NAMES)
    )


@pytest.mark.slow
def test_dates_are_held_by_dates(workbench):
    draw = random.Random(5)
    born = [datetime.date(1950, 1, 1) + datetime.timedelta(days=draw.randrange(9000)) for _ in range(800)]
    population = {"age": ("INTEGER", [1] * 800), "born": ("DATE", born), "at": ("TIMESTAMP", born)}
    records = {name: (kind, values[:400]) for name, (kind, values) in population.items()}
    db = made(workbench, population, records)
    release = workbench.release("generalize", db, columns=["born"], truncate=["born=month", "born=year"], until_k=2,
                                min_k_map=20, population="everybody", rest="drop", seed="1")  # fmt: skip
    years = Counter(day.year for day in born)
    assert {day for (day,) in release.records(["born"])} <= {datetime.date(year, 1, 1) for year in years}
    assert audited(release, "k-map")["value"] == min(years[day.year] for (day,) in release.records(["born"]))
    release = workbench.release("mondrian", db, columns=["born", "at"], k=2, min_k_map=20, population="everybody",
                                rest="drop", seed="1")  # fmt: skip
    for shown, _ in release.records(["born", "at"]):
        low, high = (datetime.date.fromisoformat(day) for day in shown.strip("[]").split(", "))
        assert sum(low <= day <= high for day in born) >= 20
    warehouse(db, "CREATE TABLE other AS SELECT * REPLACE (born + INTERVAL 0 DAY AS born) FROM everybody")
    with pytest.raises(InputError, match=r"dates are compared with dates.* born .DATE, TIMESTAMP there"):
        workbench.release("mondrian", db, columns=["born"], min_k_map=2, population="other", rest="drop")


@pytest.mark.slow
def test_a_population_in_which_persons_repeat_is_noted(workbench, tmp_path):
    """Five rows of one person are no five members: nobody can tell by the rows, so it is said."""
    db = workbench.make({"age": ("INTEGER", [20 + i % 3 for i in range(30)])})
    with duckdb.connect(db) as connection:
        for name, key in ("visits", "range // 5"), ("everybody", "range"):
            columns = f"{key} AS patient_id, 20 + range % 3 AS age"
            connection.execute(f"CREATE TABLE {name} AS SELECT {columns} FROM range(300)")
        connection.execute(f"COPY visits TO '{tmp_path / 'visits.parquet'}'")
    given = {"columns": ["age"], "width": ["age=5"], "until_k": 2, "min_k_map": 3, "rest": "drop", "seed": "1"}
    persons = "300 of about 60 persons (patient_id: its name)"
    said = f"the rows of the population seem to be {persons}: each counts as a member"
    for population, expected in ("visits", 1), (str(tmp_path / "visits.parquet"), 1), ("everybody", 0):
        release = workbench.release("generalize", db, population=population, **given)
        assert release.report["notes"].count(said) == expected


@pytest.mark.slow
def test_what_cannot_be_is_refused_before_the_work(workbench):
    population, records = people(60, 6, members=2)
    db = made(workbench, population, records)
    warehouse(db, "CREATE TABLE lacking AS SELECT age, zip FROM everybody",
              "CREATE TABLE nobody AS SELECT * FROM everybody WHERE false",
              "CREATE TABLE elsewhere AS SELECT * REPLACE ('zz' AS land) FROM everybody")  # fmt: skip
    table, stratum = "120 in the whole table: at least 60 of 60", "0 in a stratum: at least 60 of 60"
    for name in METHODS:
        method, given = METHODS[name]
        common = {"columns": NAMES, "rest": "drop", "seed": "1", "db": db, "into": "out", **given}
        for more, error, words in (
            ({"min_k_map": 5}, ParameterError, "min_k_map: goes with --population"),
            ({"population": "everybody"}, ParameterError, "population: goes with --min-k-map"),
            ({"min_k_map": 121, "population": "everybody"}, InputError, table),
            ({"min_k_map": 2, "population": "nobody"}, InputError, "0 in the whole table"),
            ({"min_k_map": 2, "population": "nowhere"}, InputError, "nowhere"),
            ({"min_k_map": 2, "population": "lacking"}, ParameterError, "no column 'net"),
            ({"min_k_map": 2, "population": "elsewhere", "by": ["land"]}, InputError, stratum),
            ({"max_delta": 0.4, "population": "everybody"}, InputError, "0.4 of them .*at least 12 of 60"),
            ({"max_delta": 0, "population": "everybody"}, InputError, "at least 60 of 60"),
            (
                {"max_delta": 0.9, "population": "everybody", "person": ["land"]},
                InputError,
                "persons with several rows",
            ),
        ):
            by_method = error is InputError and "nowhere" not in words and "stratum" not in words
            if (name != "boxes" and not by_method) or ("max_delta" in more and name == "suppress"):
                continue  # the same lines for all, or no such option
            with pytest.raises(error, match=words) as raised:
                getattr(sqlmicro, method)("records", **{**common, **more})
            said = str(raised.value).replace(db, "")  # a path may have any number in it
            assert raised.value.exit_code == 2 and "9.0" not in said and "117" not in said
    for method, more, words in (
        ("generalize", {"min_k_map": 2, "width": ["age=5"]}, "population goes with --until-k.*Give --until-k"),
        ("mondrian", {"min_k_map": 2, "relaxed": True}, "one group only"),
        ("suppress", {"min_k_map": 2, "nulls_match": "wildcard"}, "nulls_match"),
        ("suppress", {"min_k_map": 2, "subsets": 2}, "subsets"),
    ):
        with pytest.raises(ParameterError, match=words):
            getattr(sqlmicro, method)("records", db=db, columns=NAMES, rest="drop", population="everybody", **more)
    assert "out" not in [name for _, name in workbench.relations(db)]


def test_a_value_that_a_hierarchy_lacks_is_counted_in_the_population_too(workbench, tmp_path):
    (tmp_path / "zip.csv").write_text("101,a\n102,a\n117,b\n20,b\n211,b\n", encoding="utf-8")
    population, records = people(60, 7)
    population["zip"][1][-3:] = ["999", "998", "998"]
    db = made(workbench, population, records)
    with pytest.raises(InputError, match="2 of the 7 values of 'zip' are not in it") as raised:
        sqlmicro.generalize("records", db=db, columns=["zip"], hierarchy=[f"zip={tmp_path / 'zip.csv'}"], until_k=2,
                            min_k_map=5, population="everybody", rest="drop")  # fmt: skip
    assert "99" not in str(raised.value).replace(str(tmp_path), "")


@pytest.mark.slow
def test_records_that_nobody_holds_are_left_out_or_refused(workbench):
    """The population has two incomes on the top only: they are left out, or everybody goes to the top."""
    population, records = people(100, 8, gaps=0)
    records[INCOME][1][:2] = [70.0, 71.0]
    db = made(workbench, population, records)
    common = {"columns": [INCOME], "width": [f"{INCOME}=1"], "until_k": 2, "min_k_map": 50, "population": "everybody",
              "rest": "drop", "seed": "1"}  # fmt: skip
    release = workbench.release("generalize", db, **common, suppress_up_to=0.02)
    assert release.rows == 98 and audited(release, "k-map")["value"] >= 50
    whole = workbench.release("generalize", db, **common)
    assert whole.rows == 100 and {value for (value,) in whole.records([INCOME])} == {"*"}
    cut = workbench.release("mondrian", db, columns=[INCOME], k=2, min_k_map=50, population="everybody", rest="drop")
    assert all(members >= 50 for _, members in counted(population, cut, [INCOME]).values())


def test_methods_that_release_means_have_no_such_option(workbench, tmp_path):
    population, records = people(30, 9)
    db = made(workbench, population, records)
    for method in ("mdav", "microaggregate", "safe"):
        done = run(method, "--db", db, "--table", "records", "--columns", "age", "--rest", "drop", "--min-k-map", "3",
                   "--population", "everybody", "--into", "out")  # fmt: skip
        assert done.returncode == 2 and "--min-k-map" in done.stderr
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nrest = "drop"\n[[step]]\ndo = "mdav"\ncolumns = ["age"]\nmin_k_map = 3\n'
        'population = "everybody"\n[[step]]\ndo = "publish"\ninto = "out"\n',
        encoding="utf-8",
    )
    done = run("run", job)
    assert done.returncode == 2 and "min_k_map" in done.stderr
    assert [name for schema, name in workbench.relations(db) if schema == "main"] == ["everybody", "records"]


@pytest.mark.slow
def test_the_audit_holds_a_release_to_it(workbench, monkeypatch):
    population, records = people(80, 10)
    db = made(workbench, population, records)
    before = recoding.Members

    def nothing(count, least, share):
        return before(count + 10_000, 1)

    monkeypatch.setattr(recoding, "Members", nothing)
    given = {"db": db, "columns": NAMES, "rest": "drop", "population": "everybody", "into": "out", "seed": "1"}
    for limits, check in (({"min_k_map": 40}, "k-map"), ({"max_delta": 0.13}, "delta-presence")):
        with pytest.raises(SqlmicroError, match=f"{check} .*ask for less") as raised:
            sqlmicro.generalize("records", until_k=2, **RULES, **given, **limits)
        assert raised.value.exit_code == 1
    assert "out" not in [name for _, name in workbench.relations(db)]


@pytest.mark.slow
def test_a_job_says_what_the_population_holds(workbench, tmp_path):
    population, records = people(80, 11)
    db = made(workbench, population, records)
    file = f"{tmp_path}/everybody.csv"
    warehouse(db, f"COPY everybody TO '{file}' (FORMAT csv, HEADER)", "DROP TABLE everybody")
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nrest = "drop"\nseed = "1"\n[[step]]\ndo = "mondrian"\ncolumns = ["age"]\n'
        f'k = 2\nmin_k_map = 30\npopulation = "{file}"\n[[gate]]\nquasi = ["age"]\nmin_k = 2\n'
        '[[step]]\ndo = "publish"\ninto = "out"\n',
        encoding="utf-8",
    )
    assert "min k map = 30" in " ".join(run("explain", job).stdout.split())
    done = run("run", job)
    assert done.returncode == 0, done.stderr
    ages = [age for age in population["age"][1] if age is not None]
    for shown in workbench.read(db, "out")["age"]:
        low, _, high = shown.removesuffix(" or missing").strip("[]").partition(", ")
        gaps = "missing" in shown and population["age"][1].count(None)
        assert sum(int(low) <= age <= int(high or low) for age in ages) + gaps >= 30
