"""The person that is proposed is the one whose record it is, not who treated or served them (A6)."""

import random
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from command import run
from databases import opened

import sqlmicro
from sqlmicro.errors import InputError

sys.path.append(str(Path(__file__).parents[1] / "bench"))
from _shapes import Made
from persons import asked


def encounters(subject, other):
    """Return the encounters of the issue: 31 patients, 55 providers, and six visits of one patient to six of them."""
    draw = random.Random(1)
    rows = [(draw.randrange(30), 1000 + draw.randrange(55), draw.choice((11, 12, 13)), 10) for _ in range(300)]
    rows += [(77, 1000 + d, 99, 10) for d in range(6)]
    return dict(zip((subject, other, "code", "cost"), map(list, zip(*rows, strict=True)), strict=True))


def looked(columns):
    ((_, found, _),) = asked([Made("one", columns)])
    return found


@pytest.mark.parametrize(
    ("subject", "other"),
    [
        ("PATIENT", "PROVIDER"),
        ("patient_id", "provider_id"),
        ("kunde", "verkaeufer"),
        ("KundenNr", "MitarbeiterNr"),
        ("member", "doctor"),
        ("client", "staff"),
        ("assuré", "médecin"),
        ("pupil_no", "teacher_id"),
        ("user_id", "agent_id"),
    ],
)
def test_who_the_record_is_about_comes_before_who_served_them(subject, other):
    found = looked(encounters(subject, other))
    assert (found.columns, found.others, found.choice) == ((subject,), (), f"--person {subject}")


def test_where_every_row_is_that_of_another_patient_the_doctor_is_no_person():
    assert looked({**encounters("PATIENT", "PROVIDER"), "PATIENT": list(range(306))}) is None


def test_where_it_is_unclear_both_are_shown_and_asked_for(tmp_path):
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.register("given", pa.table(encounters("patient", "member")))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    with pytest.raises(InputError, match=r"Give --person member or --person patient; or --rows-are-persons") as caught:
        sqlmicro.mdav("t", db=db, columns=["cost"], rest="drop")
    assert "member: its name; or those of patient" in str(caught.value)
    shown = " ".join(run("profile", "--db", db, "--table", "t").stdout.split())
    assert "A release needs --person member or --person patient, or --rows-are-persons." in shown
    assert "or those of patient" in " ".join(run("init", "--db", db, "--table", "t").stdout.split())


def test_one_person_by_two_names_is_no_choice():
    """Everybody has one address, and the address one person."""
    table = encounters("customer_id", "x")
    found = looked({**table, "customer_email": [f"u{who}@example.org" for who in table["customer_id"]]})
    assert found.others == ()


def test_a_release_that_counts_doctors_says_so(tmp_path):
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.register("given", pa.table(encounters("PATIENT", "PROVIDER")))
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    given = {"db": db, "columns": ["cost"], "rest": "drop", "dry_run": True}
    said = "k counts those of PROVIDER, who are not those of PATIENT"
    assert said in " ".join(sqlmicro.mdav("t", person="PROVIDER", **given)["notes"])
    assert said not in " ".join(sqlmicro.mdav("t", person="PATIENT", **given)["notes"])


def recurrent(name, persons=100, seed=16, **more):
    """Return records like those of recur in lifelines: age and treatment are the same in all of a person."""
    draw, rows = random.Random(seed), []
    for person in range(persons):
        age, treat = draw.randrange(40, 80), draw.randrange(2)
        rows += [(person * 13 + 7, age, treat, 30 * visit) for visit in range(draw.randrange(1, 7))]
    return dict(zip((name, "AGE", "TREAT", "TIME0"), map(list, zip(*rows, strict=True)), strict=True)) | more


@pytest.mark.parametrize("name", ["ID", "nr", "subject", "pid", "id", "SUBJID", "case_no", "Fallnummer", "pat_id"])
def test_a_number_of_anybody_on_which_something_depends_is_asked_about(name):
    found = looked(recurrent(name))
    assert found.columns == (name,)
    assert abs(found.persons - 100) < 8


def test_a_number_on_which_nothing_depends_is_not_asked_about():
    table = recurrent("ID")
    random.Random(3).shuffle(table["ID"])
    assert looked(table) is None


@pytest.mark.parametrize(("persons", "asked_about"), [(6, False), (20, True)])
def test_what_may_be_chance_is_no_evidence(persons, asked_about):
    """Six are of one sex and treatment each by chance at 2 to the power of -6; an age of forty at 0.1 ** 20."""
    assert (looked(recurrent("ID", persons)) is not None) == asked_about


def test_what_nearly_all_have_is_no_evidence():
    draw = random.Random(4)
    table = {"id": [draw.randrange(100) for _ in range(400)], "alive": [1] * 399 + [0], "x": list(range(400))}
    assert looked(table) is None


def test_a_code_of_few_values_numbers_nobody():
    """As in `randhie` of statsmodels, where num is the size of a family and lnum its logarithm."""
    draw = random.Random(8)
    num = [draw.randrange(1, 14) for _ in range(600)]
    assert looked({"num": num, "lnum": [n * 7 for n in num], "visits": [draw.randrange(9) for _ in num]}) is None


def test_a_doctor_gives_way_to_a_number_that_may_be_the_patients():
    table = recurrent("ID")
    draw = random.Random(6)
    found = looked({**table, "doctor_id": [draw.randrange(30) for _ in table["ID"]]})
    assert found.columns == ("ID",)


def test_the_size_of_a_staff_numbers_nobody():
    """As in `committee` of statsmodels: 20 committees with 17 different sizes."""
    sizes = [*range(20, 37), 20, 21, 22]
    assert looked({"committee": [f"c{i}" for i in range(20)], "staff": sizes}) is None
    assert looked({"school": list(range(600)), "staff": [90 + (i % 200) / 8 for i in range(600)]}) is None
