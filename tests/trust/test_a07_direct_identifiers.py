"""No text of one person is released for want of rows: neither numbers, nor names, nor notes that quote them (A7)."""

import csv
import random
from pathlib import Path

import pytest

import sqlmicro
from sqlmicro.errors import InputError
from sqlmicro.identifiers import judge
from sqlmicro.identifiers.judge import quotes_name

GIVEN = ("Anna", "Peter", "Maria", "Jonas", "Julia", "Lukas", "Emma", "David", "Laura", "Thomas", "Sarah", "Nina")
FAMILY = ("Meyer", "Smith", "Gruber", "Novak", "Rossi", "Garcia", "Silva", "Jensen", "Kowalski", "Dubois", "Brown")


def patients(n):
    """Return records of patients as Synthea writes them, one licence number and one case number being repeated."""
    draw = random.Random(13)
    return [
        {
            "DRIVERS": f"S999{10000 + i * 37 if i != 1 else 10000}" if i % 4 or n > 100 else None,
            "MAIDEN": f"Quorin{i % 97 + 3}" if i % 3 == 0 else None,
            "case_ref": f"AB-{1000 + (i if i != 1 else 0) * 7}",
            "GENDER": draw.choice("MF"),
            "born": draw.randrange(1940, 2005),
        }
        for i in range(n)
    ]


def written(path, rows):
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        made = csv.DictWriter(file, rows[0])
        made.writeheader()
        made.writerows(rows)
    return str(path)


def roles(table, **more):
    return {column["name"]: column["role"] for column in sqlmicro.profile(table, **more)["columns"]}


@pytest.mark.parametrize("n", [6, 24, 120, 240])
def test_what_one_person_has_is_dropped_however_many_rows_there_are(tmp_path, n):
    table = written(tmp_path / "t.csv", patients(n))
    assert {name for name, role in roles(table).items() if role == "identifier"} == {"DRIVERS", "MAIDEN", "case_ref"}


def test_a_release_holds_none_of_it(tmp_path):
    rows, out = patients(24), tmp_path / "o.csv"
    report = sqlmicro.safe(written(tmp_path / "t.csv", rows), to=str(out), k=3)
    assert report["parameters"]["direct_identifiers"] == ["DRIVERS", "MAIDEN", "case_ref"]
    released = out.read_text()
    assert not [row["case_ref"] for row in rows if row["case_ref"] in released or str(row["DRIVERS"]) in released]


@pytest.mark.parametrize("k", [3, 4])
def test_the_k_of_the_release_decides(tmp_path, k):
    """Every word is that of three: it can be a mode where k is 3, and none where k is 4."""
    table = written(tmp_path / "t.csv", [{"word": f"w{i // 3}", "sex": "fm"[i % 2]} for i in range(24)])
    report = sqlmicro.safe(table, to=str(tmp_path / "o.csv"), k=k)
    assert report["parameters"]["direct_identifiers"] == ([] if k == 3 else ["word"])


def test_a_column_that_is_named_is_refused(tmp_path):
    table, out = written(tmp_path / "t.csv", patients(120)), tmp_path / "o.csv"
    given = {"columns": ["case_ref", "born"], "nominal": ["case_ref"], "rest": "drop", "to": str(out)}
    with pytest.raises(
        InputError, match=r"case_ref \(most of its values are those of fewer than 5 records\)"
    ) as caught:
        sqlmicro.microaggregate(table, k=5, **given)
    assert "AB-" not in str(caught.value)
    assert not out.exists()
    sqlmicro.microaggregate(table, k=5, identifier_ok=["case_ref"], **given)
    assert out.exists()


@pytest.mark.parametrize("kind", ["text", "number"])
def test_persons_count_where_they_have_several_records(tmp_path, kind):
    """Forty patients with three records each; each of the thirteen cases is that of one, and has many records."""
    draw, rows = random.Random(5), []
    for patient in range(40):
        case = 1000 + 7 * patient if patient < 13 else None
        for visit in range(3):
            rows.append({
                "patient_id": patient, "case_no": case and (f"AB-{case}" if kind == "text" else case),
                "ward": draw.choice("ABC"), "visit": visit,
            })  # fmt: skip
    out = tmp_path / "o.csv"
    report = sqlmicro.safe(written(tmp_path / "t.csv", rows), person="patient_id", to=str(out), k=3, nulls="keep")
    assert report["parameters"]["direct_identifiers"] == ["case_no"]
    assert "1007" not in out.read_text()


def test_households_count_too(tmp_path):
    """The name of a farm is that of one household of four."""
    rows = [{"hh": i // 4, "farm": f"farm {i // 4}", "sex": "fm"[i % 2], "region": "NS"[i // 32]} for i in range(64)]
    table, out = written(tmp_path / "t.csv", rows), str(tmp_path / "o.csv")
    assert sqlmicro.safe(table, household="hh", to=out, k=3)["parameters"]["direct_identifiers"] == ["farm"]
    assert roles(table)["farm"] == "quasi"  # four records have each, as far as nobody says what hh is


@pytest.mark.parametrize(
    ("columns", "k", "unit"),
    [([], 13, "records"), (["person"], 5, "persons"), (["person", "household"], 3, "households")],
)
def test_a_table_of_fewer_than_k_is_called_so(tmp_path, columns, k, unit):
    """All its values are those of fewer than k: coarser columns, as are advised for rare ones, would not help."""
    table = [{"person": i // 3, "household": i // 6, "sex": "mf"[i % 2]} for i in range(12)]
    path = written(tmp_path / "few.csv", [{name: row[name] for name in (*columns, "sex")} for row in table])
    given = {"k": k, "columns": ["sex"], **{name: [name] for name in columns}}
    with pytest.raises(InputError, match=f"there must be at least k = {k} {unit}. Got fewer. Use a smaller --k"):
        sqlmicro.mdav(path, to=str(tmp_path / "o.csv"), nominal=["sex"], **given)


def test_common_texts_stay(tmp_path):
    """Cities of many, and some of one each, are no identifiers; nor are few long labels."""
    rows = [
        {
            "city": f"c{i % 10}" if i % 5 else f"town {i}",
            "status": ("never was in paid work before", "works for pay since a year or more")[i % 2],
        }
        for i in range(100)
    ]
    assert roles(written(tmp_path / "t.csv", rows)) == {"city": "quasi", "status": "quasi"}


@pytest.mark.parametrize(
    "names",
    [
        ("FIRST", "LAST"),
        ("first", "maiden"),
        ("Given", "Family"),
        ("Prénom", "Nom de famille"),
        ("Vorname", "Nachname"),
    ],
)
def test_names_are_known_by_what_the_columns_are_called(tmp_path, names):
    """No list has these names, which repeat so often that their values say nothing."""
    rows = [{names[0]: f"Zorb{'abcde'[i % 5]}", names[1]: f"Quor{'abcd'[i % 4]}", "x": i % 3} for i in range(60)]
    assert roles(written(tmp_path / "t.csv", rows)) == {names[0]: "identifier", names[1]: "identifier", "x": "quasi"}


@pytest.mark.parametrize("name", ["passport", "drivers", "licence", "license", "drivers_license", "Führerschein"])
def test_numbers_of_documents_are_known_by_what_the_column_is_called(tmp_path, name):
    rows = [{name: f"X{5550000 + i % 8}", "sex": "fm"[i % 2]} for i in range(80)]
    assert roles(written(tmp_path / "t.csv", rows)) == {name: "identifier", "sex": "quasi"}


def test_first_and_last_of_something_else_are_no_names(tmp_path):
    rows = [{"first": i % 7, "last": i % 5, "drivers": i % 4, "licence": ("MIT", "GPL-3.0")[i % 2]} for i in range(60)]
    assert set(roles(written(tmp_path / "t.csv", rows)).values()) == {"quasi"}


def test_many_decimals_are_no_token(tmp_path):
    """As `ip`, the industrial production in `cement` of Wooldridge."""
    rows = [{"ip": 90 + i / 7, "sex": "fm"[i % 2]} for i in range(60)]
    assert roles(written(tmp_path / "t.csv", rows)) == {"ip": "quasi", "sex": "quasi"}


def notes(n, quoted):
    """Return notes in the words of a ward; one in `quoted` names somebody, and all begin alike and repeat."""
    draw = random.Random(7)
    said = (
        "slept well until the morning",
        "took all of the tablets",
        "has pain in the left knee",
        "asked for some tea",
    )
    return [
        f"The patient {draw.choice(said)}"
        + (f", {draw.choice(GIVEN)} {draw.choice(FAMILY)} was told" if i % quoted == 0 else "")
        for i in range(n)
    ]


def test_notes_that_quote_names_are_direct_identifiers(tmp_path):
    rows = [{"note": note, "sex": "fm"[i % 2]} for i, note in enumerate(notes(200, 5))]
    table = written(tmp_path / "t.csv", rows)
    (found,) = (column for column in sqlmicro.profile(table)["columns"] if column["name"] == "note")
    assert (found["role"], found["identifier"]) == ("identifier", "text that names persons")
    for more in (
        {"columns": ["note"], "nominal": ["note"]},
        {"columns": ["sex"], "nominal": ["sex"], "keep": ["note"]},
    ):
        with pytest.raises(InputError, match="text that names persons"):
            sqlmicro.mdav(table, to=str(tmp_path / "o.csv"), rest="drop", **more)


def test_free_text_is_never_taken_for_what_is_known_of_persons(tmp_path):
    """One note in four is of its own, so that most of the values are those of many."""
    rows = [{"note": note if i % 4 else f"{note} at {i} o'clock", "x": i % 3} for i, note in enumerate(notes(400, 999))]
    table = written(tmp_path / "t.csv", rows)
    assert roles(table) == {"note": "identifier", "x": "quasi"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Call Anna Schmidt back tomorrow", True),
        ("spoke with Mrs. Okafor, who is the daughter", True),
        ("seen by Dr Zhelev this morning", True),
        ("Frau Yılmaz kommt am Montag wieder", True),
        ("vu avec Mme Lefèvre au service", True),
        ("García, José did not come", True),
        ("the patient slept well until the morning", False),
        ("He came back from New York on Monday", False),
        ("Frau mit Schmerzen im linken Knie", False),
        ("Never Married, works in an Office", False),
        ("Smith, Peter and Jones", False),
        ("Hermanos Anna García y Asociados S.L.", False),
        ("CALL ANNA SCHMIDT BACK TOMORROW", True),
        ("", False),
    ],
)
def test_texts_that_quote_names(text, names):
    assert quotes_name(text) is names


def test_a_long_text_is_read_in_one_go(monkeypatch):
    """Each pair of words beside each other is looked at once, however long the text is."""
    looked = []
    monkeypatch.setattr(judge, "_are_a_name", lambda *pair: looked.append(pair))
    for n in (1_000, 20_000):
        looked.clear()
        assert not quotes_name("Anna went Home and " * n)
        assert len(looked) == 2 * n - 1
    assert not quotes_name("a" * 1_000_000)
    assert not quotes_name("Anna_" * 200_000)
