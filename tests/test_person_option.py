"""Whose records they are is said of the table: every method takes it, and the key of the persons is never released."""

import json
import random
from datetime import date

import duckdb
import pytest
from command import run
from databases import opened
from world import refused

import sqlmicro
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.jobs.schema import job_schema
from sqlmicro.registry import methods

INCOME = 'net "income"'
SETTINGS = {
    "top-code": {"quantile": 0.9},
    "bottom-code": {"quantile": 0.1},
    "constant": {"value": "0"},
    "generalize": {"columns": ["age"], "width": ["age=10"]},
    "noise": {"amount": 0.1},
    "shift-dates": {"columns": ["day"], "within": "30d"},
    "partial": {"columns": ["ward"], "keep_first": 1},
    "pram": {"columns": ["ward"], "keep_probability": 0.8},
    "pseudonymise": {"columns": ["patient"]},
    "encrypt": {"columns": ["patient"], "alphabet": "lower"},
    "fake": {"columns": ["patient"], "kind": ["login"]},
    "swap": {"percent": 5},
    "sample": {"columns": None, "fraction": 0.5, "keep": ["age", INCOME, "ward", "day"]},
}


def visits(n=60, each=3, seed=1):
    """Return a table of visits with some records of nobody."""
    draw = random.Random(seed)
    return {
        "patient": ("VARCHAR", [None if draw.random() < 0.05 else f"p{i // each:04}" for i in range(n)]),
        "age": ("INTEGER", [20 + draw.randrange(50) for _ in range(n)]),
        INCOME: ("DOUBLE", [float(draw.randrange(500)) for _ in range(n)]),
        "ward": ("VARCHAR", [draw.choice("ABC") for _ in range(n)]),
        "day": ("DATE", [date(2026, 1, 1 + i % 28) for i in range(n)]),
    }


@pytest.mark.slow_but("partial")
@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_leaves_out_whose_record_it_is(workbench, name, tmp_path):
    db, own = workbench.make(visits()), SETTINGS.get(name, {})
    if methods()[name].surrogate:
        (tmp_path / "key").write_text("a key of the tests, long enough")
        own = {**own, "key_file": str(tmp_path / "key")}
    if name == "apply-recoding":
        own = {"columns": ["age"], "recoding": str(tmp_path / "r.json"), "withhold": True}
        decided = {"width": ["age=10"], "until_k": 3, "suppress_up_to": 0.5, "recoding_to": own["recoding"]}
        workbench.release("generalize", db, person="patient", rest="drop", columns=["age"], **decided)
    given = {"columns": ["age", INCOME], **own, **({k.name: 3} if (k := methods()[name].setting("k")) else {})}
    given = {option: value for option, value in given.items() if value is not None}
    made = workbench.release(name, db, person="patient", rest=None if name == "sample" else "drop", seed="1", **given)
    assert ("patient" in made.columns) == (methods()[name].surrogate is not None)
    assert not {f"p{i}" for i in range(20)} & set(made.columns.get("patient", ()))
    assert made.report["parameters"]["person"] == ["patient"]
    assert made.report["verdict"]["unit"] == "patient"
    assert made.report["k_released"] is None or made.report["audits"][0]["check"] == "persons"


@pytest.mark.parametrize("given", [
    {"columns": ["age", "patient"]}, {"columns": ["age"], "by": ["patient"]}, {"columns": ["age"], "keep": ["PATIENT"]},
])  # fmt: skip
def test_what_says_whose_record_it_is_is_neither_grouped_nor_kept_nor_a_stratum(workbench, given):
    db = workbench.make(visits())
    with refused("left out of the release", db, kind=ParameterError):
        sqlmicro.mdav("records", db=db, person="patient", rest="drop", **given)


def test_k_counts_persons_or_rows_not_both(workbench):
    db = workbench.make(visits())
    done = run("mdav", "--db", db, "--table", "records", "--columns", "age", "--rest", "drop", "--person", "patient",
               "--rows-are-persons")  # fmt: skip
    assert done.returncode == 2 and "Leave one of them out" in done.stderr
    with refused("Leave one of them out", db, kind=ParameterError):
        sqlmicro.mdav("records", db=db, columns=["age"], rest="drop", person="patient", rows_are_persons=True)


@pytest.mark.slow
def test_it_is_a_key_of_the_table_not_of_a_step(workbench, tmp_path):
    db = workbench.make(visits())
    job = tmp_path / "job.toml"
    text = f"""db = "{db}"
[[table]]
name = "records"
person = ["patient"]
rest = "drop"
step = [{{do = "individual-ranking", columns = ['{INCOME}'], k = 3}}, {{do = "mdav", columns = ["age"], k = 4}},
  {{do = "publish", into = "out"}}]
"""
    job.write_text(text)
    report = sqlmicro.run(str(job))
    held = {tuple(row["columns"]): row["threshold"] for row in report["audits"] if row["check"] == "persons"}
    assert held == {("age", INCOME): None, ("age",): 4, (INCOME,): 3}
    job.write_text(text.replace('person = ["patient"]\n', "").replace("k = 4", 'k = 4, person = ["patient"]'))
    with pytest.raises(JobError, match="'person' is not a parameter here"):
        sqlmicro.run(str(job))
    schema = job_schema()
    for part in (schema, schema["$defs"]["table"]):
        assert {"person", "rows_are_persons"} <= part["properties"].keys()
    assert "person" not in schema["$defs"]["mdav"]["properties"]


def test_explain_says_what_k_counts(workbench, tmp_path):
    db = workbench.make(visits())
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nperson = ["patient"]\nrest = "drop"\n[[step]]\ndo = "mdav"\n'
        'columns = ["age"]\nk = 4\n[[step]]\ndo = "publish"\n'
    )
    assert "Every class has at least k = 4 persons (patient)." in " ".join(run("explain", job).stdout.split())


def test_a_person_is_what_several_columns_say_together(workbench):
    """Two sites number their patients alike: k numbers are fewer than k persons only where sites are not looked at."""
    draw, n = random.Random(3), 240
    site, number = [draw.choice("NS") for _ in range(n)], [draw.randrange(12) for _ in range(n)]
    table = {"site": ("VARCHAR", site), "number": ("BIGINT", number), "id": ("INTEGER", list(range(n))),
             "age": ("INTEGER", [draw.randrange(18, 90) for _ in range(n)])}  # fmt: skip
    db = workbench.make(table)
    made = workbench.release("mdav", db, person=["site", "number"], columns=["age"], keep=["id"], k=15, seed="1")
    groups = {}
    for age, row in made.records(["age", "id"]):
        groups.setdefault(age, set()).add((site[row], number[row]))
    assert 15 <= min(map(len, groups.values())) <= 24
    with pytest.raises(InputError, match="groups must keep"):
        sqlmicro.mdav("records", db=db, person="number", columns=["age"], rest="drop", k=15)


@pytest.mark.slow_but("hive")
@pytest.mark.parametrize("how", ["glob", "hive"])
def test_persons_may_be_spread_over_files(workbench, tmp_path, how):
    """Each file has rows of every person: the numbers are told apart nowhere but in the whole."""
    table = visits(120, 6)
    patients = table["patient"][1]
    table["row"] = ("INTEGER", list(range(120)))
    db, to = workbench.make(table), tmp_path / "shards"
    with opened(db) as connection:
        shared = f"COPY (SELECT *, row % 4 AS part FROM records) TO '{to}' (FORMAT parquet, PARTITION_BY (part))"
        connection.execute(shared)
    files = f"{to}/**/*.parquet"
    if how == "glob":
        (tmp_path / "flat").mkdir()
        for number, file in enumerate(sorted(to.rglob("*.parquet"))):
            file.rename(tmp_path / "flat" / f"{number}.parquet")
        files = f"{tmp_path}/flat/*.parquet"
    out = str(tmp_path / "out.parquet")
    common = {
        "columns": ["age"],
        "keep": ["row"],
        "accept_unique": ["row"],
        "rest": "drop",
        "k": 4,
        "to": out,
        "seed": "1",
    }
    with pytest.raises(InputError, match="--person patient"):
        sqlmicro.mdav(files, **common)
    sqlmicro.mdav(files, person="patient", **common)
    groups = {}
    for age, row in duckdb.sql(f"SELECT age, row FROM '{out}'").fetchall():
        groups.setdefault(age, set()).add(patients[row])
    assert min(map(len, groups.values())) >= 4


@pytest.mark.slow_but("VARCHAR")
@pytest.mark.parametrize("kind", ["VARCHAR", "DOUBLE", "DECIMAL(18,0)", "UHUGEINT", "BLOB"])
def test_the_key_may_have_any_name_and_type(workbench, kind):
    table = visits(90, 3)
    numbers = [None if p is None else str(10**15 + int(p[1:])) for p in table.pop("patient")[1]]
    odd = 'who "is" it, then'
    table[odd] = (kind, [number and float(number) if kind == "DOUBLE" else number for number in numbers])
    table["row"] = ("INTEGER", list(range(90)))
    given = {"columns": ["age"], "keep": ["row"], "rest": "drop", "k": 3, "seed": "1"}
    made = workbench.release("mdav", workbench.make(table), person=[odd], **given)
    groups = {}
    for age, row in made.records(["age", "row"]):
        groups.setdefault(age, set()).add(numbers[row])
    assert min(map(len, groups.values())) >= 3 and made.report["verdict"]["unit"] == 'who "is" it, then'


def test_more_persons_than_there_are_cannot_be_asked_for(workbench):
    db = workbench.make(visits(12, 3))
    for k in (6, 13):
        with refused(db=db, kind=InputError):
            sqlmicro.mdav("records", db=db, person="patient", columns=["age"], rest="drop", k=k)


def test_what_replays_a_run_knows_whose_records_it_read(workbench, tmp_path):
    """The key of the order of a release is made from all that the run read, the key of the persons included."""
    db = workbench.make(visits(90, 3))
    made = workbench.release("mdav", db, person="patient", columns=["age", INCOME], rest="drop", k=3, seed="weak")
    (target,) = (name for _, name in workbench.relations(db) if name.startswith("release_"))
    given = {"db": db, "original": "records", "release": [target], "attack": ["key-replay"]}
    manifest = tmp_path / "m.json"
    rates = []
    for person in (["patient"], []):
        parameters = {**made.report["parameters"], "person": person}
        manifest.write_text(json.dumps({"seed": "weak", "parameters": parameters}))
        (row,) = sqlmicro.attack(**given, manifest=str(manifest))["attacks"]
        rates.append(row["rate"])
    assert rates[0] > 0.8 and rates[1] < 0.3
