"""Whether rows are those of fewer persons is looked for before they are counted; then a release is refused."""

import random
import sys
from pathlib import Path

import duckdb
import pytest
from command import run
from world import execute, relations, warehouse

import sqlmicro
from sqlmicro.errors import InputError

sys.path.append(str(Path(__file__).parent / "bench"))
from _shapes import made
from persons import asked

VISITS = """CREATE TABLE visits AS SELECT i AS visit, 70500 + (hash(i) % 150)::INTEGER AS {name},
    (hash(i, 1) % 90)::INTEGER AS age, (hash(i, 2) % 1000)::INTEGER AS 'net "income"' FROM range(600) r(i)"""


@pytest.fixture
def db(tmp_path):
    return warehouse(tmp_path, VISITS.format(name="patient_id").replace("'net \"income\"'", '"net ""income"""'))


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--show-sql"]])
def test_a_release_that_would_count_rows_is_refused(db, more):
    done = run("mdav", "--db", db, "--table", "visits", "--columns", "age", "--rest", "drop", *more)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and relations(db) == [("main", "visits")]
    for words in ("patient_id: its name", "--person patient_id", "--rows-are-persons", "600 of about 1"):
        assert words in said
    assert "7050" not in said + done.stdout


def test_both_ways_out_are_recorded(db, tmp_path):
    given = {"db": db, "columns": ["age"], "rest": "drop", "k": 3}
    persons = sqlmicro.mdav("visits", person="patient_id", into="a", **given)
    given |= {"into": "b", "manifest": str(tmp_path / "b.json"), "alone_because": "test"}
    rows = sqlmicro.mdav("visits", rows_are_persons=True, **given)
    assert (persons["parameters"]["person"], persons["parameters"]["rows_are_persons"]) == (["patient_id"], False)
    assert (rows["parameters"]["person"], rows["parameters"]["rows_are_persons"]) == ([], True)
    assert "k counts rows: you said that every row is about another person" in rows["notes"]
    assert '"rows_are_persons": true' in (tmp_path / "b.json").read_text()
    assert (persons["verdict"]["unit"], rows["verdict"]["unit"]) == ("patient_id", "record")


def test_profile_init_and_explain_say_it(db, tmp_path):
    found = sqlmicro.profile("visits", db=db)["persons"]
    assert (found["columns"], found["why"], found["rows"]) == (("patient_id",), "its name", 600)
    assert 140 <= found["persons"] <= 160
    shown = " ".join(run("profile", "--db", db, "--table", "visits").stdout.split())
    assert f"rows: 600 of about {found['persons']} persons (patient_id: its name)" in shown
    job = tmp_path / "job.toml"
    job.write_text(run("init", "--db", db, "--table", "visits").stdout)
    assert 'person = ["patient_id"]' in job.read_text()
    assert "will stop" not in " ".join(run("explain", job).stdout.split())
    job.write_text(job.read_text().replace('person = ["patient_id"]', ""))
    said = " ".join(run("explain", job).stdout.split())
    assert "It will stop" in said
    assert 'person = ["patient_id"]' in said
    assert run("run", job).returncode == 2


def test_in_a_session_and_over_files_it_is_refused_too(db, tmp_path):
    with sqlmicro.open(db) as session, pytest.raises(InputError, match="--rows-are-persons"):
        session.mdav("visits", columns=["age"], rest="drop")
    for file in ("v.parquet", "v.csv"):
        execute(db, f"COPY visits TO '{tmp_path / file}'")
        with pytest.raises(InputError, match="--person patient_id"):
            sqlmicro.mdav(str(tmp_path / file), columns=["age"], rest="drop", to=str(tmp_path / "out.parquet"))
    frame = duckdb.connect(db).sql("FROM visits").to_arrow_table()
    with sqlmicro.open() as session, pytest.raises(InputError, match="--person patient_id"):
        session.mdav(frame, columns=["age"], rest="drop")


def columns_of(n, each, seed=0, **more):
    """Return a table of n rows in which every person has so many, called by an id that says nothing."""
    draw = random.Random(seed)
    who = [i // each for i in range(n)]
    draw.shuffle(who)
    own = {p: (draw.choice("fm"), draw.randrange(1930, 2010)) for p in who}
    return {"ref": who, "sex": [own[p][0] for p in who], "born": [own[p][1] for p in who],
            "cost": [draw.randrange(900) for _ in who], **more}  # fmt: skip


def looked(columns):
    from _shapes import Made

    ((_, found, _),) = asked([Made("one", columns)])
    return found and ",".join(found.columns)


def test_a_column_that_birth_year_and_sex_depend_on_is_found_whatever_its_name():
    assert looked(columns_of(600, 3)) == "ref"
    single = columns_of(600, 1)
    assert looked(single) is None
    # Only the age depends on the year of birth: it is another word for it.
    years = [1930 + i % 80 for i in range(600)]
    assert looked({"birth_year": years, "age": [2026 - year for year in years]}) is None
    # Nearly all are men: everything depends on that.
    table = {"ref": [i // 3 for i in range(600)], "sex": ["m"] * 595 + ["f"] * 5}
    assert looked(table) is None


@pytest.mark.slow
def test_signs_within_a_word_for_a_person_do_not_hide_it():
    draw = random.Random(3)
    who, rest = [draw.randrange(130) for _ in range(600)], [draw.randrange(90) for _ in range(600)]
    for name in ('per "son', "per-son", "Cus tomer", "patient"):
        assert looked({name: who, 'net "income"': rest}) == name
    # Short words may be parts of others, and a word more makes it another one.
    for name in ("us_er", "em p", "per_sonic", "person_count"):
        assert looked({name: who, 'net "income"': rest}) is None


@pytest.mark.slow
def test_what_repeats_without_speaking_for_persons_is_not_asked():
    n = 900
    for name in ("product_id", "sensor_id", "device_id", "station", "invoice_no", "created_by_user_id", "household_id"):
        assert looked({"id": list(range(n)), name: [i % 100 for i in range(n)], "x": [i % 7 for i in range(n)]}) is None
    pupils = {"pupil_id": list(range(n)), "teacher_id": [i % 30 for i in range(n)]}
    assert looked({**pupils, "student_id": list(range(n))}) is None
    # The number of a person within a household is no number of a person.
    assert looked({"household": [i // 3 for i in range(n)], "person_no": [1 + i % 3 for i in range(n)]}) is None


@pytest.mark.parametrize(("each", "found"), [(1.0, None), (1.02, None), (1.1, "patient_id"), (1.5, "patient_id")])
def test_few_repeated_rows_are_counted_not_estimated(each, found):
    n = 3000
    persons = round(n / each)
    assert looked({"patient_id": [i % persons for i in range(n)], "age": [i % 90 for i in range(n)]}) == found


def test_a_table_of_one_person_is_of_persons():
    assert looked({"user_id": [7] * 90, "steps": list(range(90))}) == "user_id"


def test_persons_that_are_numbered_anew_in_each_place_are_known_by_both():
    draw, n = random.Random(5), 900
    site, number = [draw.choice("NS") for _ in range(n)], [draw.randrange(90) for _ in range(n)]
    own = {(s, i): (draw.choice("fm"), draw.randrange(1930, 2010)) for s in "NS" for i in range(90)}
    table = {"site": site, "patient_no": number, "sex": [own[p][0] for p in zip(site, number, strict=True)],
             "born": [own[p][1] for p in zip(site, number, strict=True)]}  # fmt: skip
    assert looked(table) == "site,patient_no"


@pytest.mark.slow
def test_few_of_the_other_tables_are_asked_and_most_of_those_with_persons():
    """Seeds that the rules were not made with; the whole bench is tests/bench/persons.py."""
    wrong, missed, there, other = [], [], 0, 0
    for table, found, _ in asked(made(2, seed=77)):
        there, other = there + bool(table.person), other + (not table.person)
        if table.person and found is None:
            missed.append(table.title)
        if found is not None and not table.person:
            wrong.append(table.title)
    assert other > 30 and len(wrong) <= 1, wrong
    assert there > 10 and len(missed) <= 1, missed


def test_nothing_is_read_where_no_name_speaks(monkeypatch):
    from sqlmicro.identifiers import repeated

    def never(*_):
        raise AssertionError("the table was read")

    monkeypatch.setattr(repeated._Look, "count", never)
    assert looked({"x": [i % 9 for i in range(90)], "product_id": [i % 7 for i in range(90)]}) is None
