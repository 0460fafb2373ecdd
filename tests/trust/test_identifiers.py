"""A direct identifier is found by its values or its name, however often it repeats; none is released by oversight."""

from __future__ import annotations

import json
import math
import random
import re
import string
from pathlib import Path
from typing import Any

import duckdb
import labelled
import pytest
from databases import insert, opened
from typer.testing import CliRunner
from world import execute, rows, warehouse

import sqlmicro
from sqlmicro.cli import app
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.identifiers.judge import NUMBERS, THINGS, by_chance, has_any_form
from sqlmicro.identifiers.scan import LEAST, NEEDS, PATTERNS, in_ascii, matching

VISITS = """CREATE TABLE visits AS SELECT
  printf('p%02d.mayer@example.com', i % 60) AS contact,
  printf('%03d-%02d-%04d', 100 + i % 60, 10 + i % 60, 1000 + i % 60) AS nr,
  ['flu', 'asthma', 'cold'][(i % 60) % 3 + 1] AS diagnosis, 20 + (i % 60) % 7 AS age, i % 4 AS ward
  FROM range(600) AS r(i)"""


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "0123456789abcdef0123456789abcdef")
    return warehouse(tmp_path, VISITS)


def kinds(db: str, name: str, **options: object) -> dict[str, str | None]:
    """Return what `profile` finds in each column of a table."""
    return {c["name"]: c["identifier"] for c in sqlmicro.profile(name, db=db, **options)["columns"]}


def test_no_address_of_patients_with_several_visits_is_published(db: str) -> None:
    """600 visits of 60 patients: none of the 60 addresses and numbers is in the release."""
    report = sqlmicro.safe("visits", db=db, k=3, into="out", rows_are_persons=True)
    assert {name for name, *_ in rows(db, "DESCRIBE out")} == {"diagnosis", "age", "ward"}
    text = str(rows(db, "FROM out"))
    assert not any(f"p{i:02}.mayer" in text or f"{100 + i}-{10 + i}" in text for i in range(60))
    assert report["notes"][0].startswith("dropped as direct identifiers: contact, nr")


def test_a_draft_drops_them(db: str, tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(sqlmicro.init("visits", db=db)["toml"])
    drafted = sqlmicro.run(str(tmp_path / "job.toml"))
    assert not {"contact", "nr"} & set(drafted["parameters"]["steps"][0]["columns"])


@pytest.mark.parametrize(
    "methods", [("safe",), pytest.param(("swap", "generalize", "suppress", "shuffle"), marks=pytest.mark.slow)]
)
def test_they_are_refused_in_every_list_of_columns(db: str, tmp_path: Path, methods: tuple[str, ...]) -> None:
    """In --keep, --columns and --by of every method that is not made for them, and where the rest is kept."""
    for method in methods:
        with pytest.raises(InputError, match=r"contact \(its values: e-mail addresses \(100 %\)\)"):
            getattr(sqlmicro, method)("visits", db=db, columns=["age", "contact"], rest="drop", into="out")
    for options in ({"keep": ["nr"], "rest": "drop"}, {"rest": "keep"}, {"by": ["contact"], "rest": "drop"}):
        with pytest.raises(InputError, match=r"direct identifier.*--identifier-ok"):
            sqlmicro.mdav("visits", db=db, columns=["age"], k=3, into="out", **options)
    (tmp_path / "job.toml").write_text(
        'db = "w.duckdb"\ntable = "visits"\nrest = "drop"\nkeep = ["contact"]\n'
        '[[step]]\ndo = "mdav"\ncolumns = ["age"]\n'
        '[[step]]\ndo = "publish"\n'
    )
    done = CliRunner().invoke(app, ["run", str(tmp_path / "job.toml")])
    assert done.exit_code == 2
    assert "e-mail addresses" in done.output
    assert "mayer" not in done.output


@pytest.mark.slow
def test_who_says_so_may_release_one(db: str) -> None:
    report = sqlmicro.mdav(
        "visits",
        db=db,
        columns=["age"],
        keep=["nr"],
        identifier_ok=["nr"],
        rest="drop",
        k=3,
        into="out",
        rows_are_persons=True,
    )
    assert len(rows(db, "SELECT DISTINCT nr FROM out")) == 60
    assert report["parameters"]["identifier_ok"] == ["nr"]
    # It is then a column like others for a method that takes all of them.
    report = sqlmicro.safe(
        "visits",
        db=db,
        k=3,
        into="both",
        identifier_ok=["nr"],
        effort="fast",
        rows_are_persons=True,
        alone_because="test",
    )
    assert "nr" in report["parameters"]["steps"][0]["columns"]
    with pytest.raises(ParameterError, match="no column 'nrr'"):
        sqlmicro.safe("visits", db=db, identifier_ok=["nrr"], into="none")


@pytest.mark.slow
def test_methods_made_for_them_take_them(db: str) -> None:
    for method, options in (("pseudonymise", {}), ("partial", {"keep_first": 1}), ("constant", {"value": "x"})):
        given = {"columns": ["contact"], "rest": "drop", "rows_are_persons": True, **options}
        getattr(sqlmicro, method)("visits", db=db, into=method, **given)
    # What an earlier step has replaced, a later one may take.
    with pytest.raises(InputError, match="direct identifier"):
        sqlmicro.pseudonymise("visits", db=db, columns=["contact"], keep=["nr"], rest="drop", into="other")


def test_nothing_shown_is_a_value(db: str) -> None:
    done = CliRunner().invoke(app, ["profile", "--db", db, "--table", "visits", "--json"])
    assert json.loads(done.output)["columns"][0]["identifier"] == "e-mail addresses"
    for arguments in (
        ["profile"],
        ["mdav", "--rest", "drop", "--columns", "age", "--dry-run", "--rows-are-persons"],
        ["safe", "--effort", "fast", "--show-sql", "--rows-are-persons"],
        ["init"],
    ):
        done = CliRunner().invoke(app, [*arguments, "--db", db, "--table", "visits"])
        assert done.exit_code == 0
        assert "mayer" not in done.output
        assert "100-10-1000" not in done.output
    done = CliRunner().invoke(app, ["safe", "--db", db, "--table", "visits"])
    assert done.exit_code == 2 and "600 of about 6" in " ".join(done.output.split())
    assert "mayer" not in done.output


def test_whatever_the_type_and_wherever_inside(db: str) -> None:
    mail = "'p' || i || '@example.org'"
    execute(
        db,
        f'''CREATE TABLE typed AS SELECT {{'a': {mail}, 'n': i}} AS s, [{mail}] AS l, MAP {{{mail}: i}} AS m,
        json_object('x', json_object('y', {mail})) AS j, CAST(json_object('x', {mail}) AS VARCHAR) AS t,
        '  ' || {mail} || ' ' AS blanks, CAST({mail} AS BLOB) AS b, 49151000000 + 977 * i AS handy,
        CAST(49151000000 + 977 * i AS DOUBLE) AS "Tel.", uuid() AS u, {mail} AS "net ""income""",
        ['a', 'b'] AS nothing, {{'x': i}} AS number, NULL AS missing, '' AS empty, {mail} COLLATE NOCASE AS collated
        FROM range(50) AS r(i)''',
    )
    found = kinds(db, "typed")
    nothing = {"nothing", "number", "missing", "empty"}
    assert {name for name, kind in found.items() if kind is None} == nothing
    assert found["handy"] == found["Tel."] == "telephone numbers"
    assert found["u"] == "UUIDs"
    assert {found[name] for name in ("s", "l", "m", "j", "t", "blanks", "b", 'net "income"', "collated")} == {
        "e-mail addresses"
    }


def test_one_in_a_hundred_values_is_enough_for_an_address(db: str) -> None:
    text = "CASE WHEN i % 50 = 0 THEN 'ask a' || i || '@b.de' ELSE 'text ' || i END"
    execute(db, f"CREATE TABLE notes AS SELECT {text} AS t FROM (SELECT i % 500 AS i FROM range(3000) AS r(i))")
    assert kinds(db, "notes") == {"t": "e-mail addresses"}


def test_numbers_without_a_country_need_a_name_or_a_region(db: str) -> None:
    execute(
        db,
        """CREATE TABLE calls AS SELECT printf('030 %07d', 1234567 + 7919 * i) AS a, printf('030 %07d', i) AS telefon,
        10000000 + 7919 * i AS b FROM range(100) AS r(i)""",
    )
    assert kinds(db, "calls") == {"a": None, "telefon": "telephone numbers", "b": None}
    assert kinds(db, "calls", region="DE")["a"] == "telephone numbers"
    assert kinds(db, "calls", region="DE")["b"] is None
    with pytest.raises(ParameterError, match="two letters of a country"):
        sqlmicro.profile("calls", db=db, region="Germany")


def test_the_order_of_the_table_does_not_matter(db: str) -> None:
    names = ["anna", "bernd", "carla", "dieter", "emma", "Haus", "Baum", "Weg", "rot", "blau"]
    values = [f"('{r} {i}@x.de', '{r}')" for i, r in enumerate(names * 300)]
    for name in ("a", "b"):
        execute(db, f"CREATE TABLE {name}(mail VARCHAR, word VARCHAR)")
        execute(db, f"INSERT INTO {name} VALUES {', '.join(values)}")
        random.Random(7).shuffle(values)
    first, second = (sqlmicro.profile(name, db=db)["columns"] for name in ("a", "b"))
    assert first == second


@pytest.mark.slow
def test_documents_without_end_are_looked_at_in_part(db: str) -> None:
    """Lists of thousands of values, thousands of keys, and nesting: bounded work, and no fault."""
    execute(db, """CREATE TABLE docs AS SELECT
      '{' || (SELECT string_agg('"k' || j || '":"v' || j || '"', ',') FROM range(3000) AS s(j)) || '}' AS wide,
      repeat('[', 900) || '1' || repeat(']', 900) AS deep, '{not json' AS broken, to_json(range(3000)) AS long
      FROM range(30) AS r(i)""")  # fmt: skip
    assert set(kinds(db, "docs").values()) == {None}


@pytest.mark.slow
def test_precision_and_recall_on_labelled_columns() -> None:
    """A third of the columns of tests/bench/identifiers.py, which prints the figures of all of them."""
    chosen = labelled.columns()[::3]
    found = labelled.found(chosen)
    alarms = [column for column, finding in zip(chosen, found, strict=True) if finding and not column.positive]
    missed = [column for column, finding in zip(chosen, found, strict=True) if not finding and column.positive]
    hits = sum(column.positive for column in chosen) - len(missed)
    assert len(chosen) > 110  # 142 where the reference data is, whose columns are among them
    assert hits / (hits + len(alarms)) >= 0.95, [column.title for column in alarms]
    assert hits / (hits + len(missed)) >= 0.98, [column.title for column in missed]


@pytest.mark.slow
def test_patterns_for_ascii_match_what_those_for_all_letters_match() -> None:
    """On labelled columns, on every single character, and on random texts of what the patterns ask for."""
    draw = random.Random(14)
    written = {str(value) for column in labelled.columns() for value in column.values}
    known = draw.sample(sorted(text for text in written if text.isascii()), 4_000)
    parts = [*map(chr, range(128)), "at", "St", "Am ", "rue de ", " 12", "www.", "://", ".com", "(at)", "5a", "hof"]
    made = ["".join(draw.choices(parts, k=draw.randint(1, 12))) for _ in range(3000)]
    crossed = [a[: draw.randint(0, len(a))] + b for a, b in zip(known, draw.sample(known, len(known)), strict=True)]
    numbered = [f"{word}#{i:06d}" for i, word in enumerate(("Customer", "Person", "Employee", "Patient"))]
    written_as = [
        "2024-05-06",
        "2024/05/06",
        "06.05.2024",
        "05/06/2024",
        "26/06/2024",
        "12 %",
        "12 EUR",
        "n/a",
        "1.5e3",
    ]
    every = [*map(chr, range(128)), *(f"{chr(i)}a1" for i in range(128)), *numbered, *written_as]
    values = list({*every, *known, *crossed, *made})
    assert all(value.isascii() for value in values)
    assert not any("\\p" in pattern for pattern in in_ascii().values())
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE v AS SELECT unnest($1) AS value", [values])
        for name, pattern in PATTERNS.items():
            matched, others = connection.execute(
                "SELECT count(*) FILTER (m), count(*) FILTER (m <> a) FROM ("
                "SELECT regexp_matches(value, $1) AS m, regexp_matches(value, $2) AS a FROM v)",
                [pattern, in_ascii()[name]],
            ).fetchall()[0]
            assert matched and others == 0, name


def test_a_pattern_is_left_out_only_where_it_can_match_nothing() -> None:
    """Without letters, or without marks, exactly those are left out that need one, as read from the pattern.

    And none matches without one character of each group that it is said to need, or is shorter than is said.
    """
    digits, letters, every = set(string.digits), set(string.ascii_letters), set(map(chr, range(128)))
    marks = every - digits - letters
    for with_letters, with_marks in ((True, True), (True, False), (False, True), (False, False)):
        there = digits | (letters if with_letters else set()) | (marks if with_marks else set())
        found = {name for name, pattern in in_ascii().items() if _matches_some(pattern, there)}
        assert set(matching(there, 10**6)) == found, (with_letters, with_marks)
    for name, pattern in in_ascii().items():
        assert _matches_some(pattern, every)
        assert not [group for group in NEEDS.get(name, ()) if _matches_some(pattern, every - {*group})], name
        least, _ = re._parser.parse(pattern.replace("(?i)", "")).getwidth()  # type: ignore[attr-defined]
        assert LEAST.get(name, 0) <= least, name
        assert name in matching({*"".join(NEEDS.get(name, ()))}, least)
    assert {*NEEDS, *LEAST} == {*PATTERNS}


def _matches_some(pattern: str, there: set[str]) -> bool:
    """Whether any value of these characters alone has a match, from the tree that Python reads the pattern into."""

    def matches(kind: str, given: Any) -> bool:
        if kind == "LITERAL":
            return bool({chr(given), chr(given).swapcase()} & there)
        if kind in ("ANY", "NOT_LITERAL"):
            return bool(there - {chr(given or 0)})
        if kind == "IN":
            return any(_is_in(char, given) for char in there)
        if kind == "BRANCH":
            return any(follows(one) for one in given[1])
        if kind == "SUBPATTERN":
            return follows(given[-1])
        if kind == "MAX_REPEAT":
            return given[0] == 0 or follows(given[2])
        assert kind == "AT", kind
        return True

    def follows(parts: Any) -> bool:
        return all(matches(str(kind), given) for kind, given in parts)

    return follows(re._parser.parse(pattern.replace("(?i)", "")))  # type: ignore[attr-defined]


def _is_in(char: str, given: Any) -> bool:
    negated = str(given[0][0]) == "NEGATE"
    found = False
    for kind, what in given[negated:]:
        if str(kind) == "RANGE":
            found |= what[0] <= ord(char) <= what[1]
        elif str(kind) == "LITERAL":
            found |= ord(char) == what
        else:
            assert str(what) == "CATEGORY_WORD", what
            found |= char.isalnum() or char == "_"
    return found != negated


def test_no_number_of_persons_or_things_has_fewer_than_eight_digits_and_nothing_else() -> None:
    """So that columns of small numbers need not be compared with the forms."""
    digits = {*string.digits}
    for number in (*NUMBERS, *THINGS):
        least, _ = re._parser.parse(number.form).getwidth()  # type: ignore[attr-defined]
        assert least >= 8 or not _matches_some(number.form, digits), number
    assert has_any_form(["12345", "1"]) == 0 == has_any_form([])
    assert has_any_form(["12345678"]) == 1
    assert has_any_form(["123456", "1"]) == 0.5, "two zeros may have been lost"


def test_one_value_with_other_letters_is_read_with_all_others(db: str) -> None:
    """Addresses whose only letters are not ASCII are found beside a column of numbers, and names beside others."""
    streets = ["Вулиця 1", "東京都新宿区西新宿2丁目8番1号"]
    execute(db, "CREATE TABLE t (n INTEGER, x VARCHAR, y VARCHAR)")
    with opened(db) as connection:
        rows = [[i, streets[i % 2] if i % 3 else "Øster Allé 4", f"{i}"] for i in range(60)]
        insert(connection, "t", rows)
    assert kinds(db, "t")["x"] == "street addresses"
    execute(db, "UPDATE t SET x = 'flu', y = ['Zoë', 'Jürgen', 'Ángel', 'José', 'André', 'Björn'][n % 6 + 1]")
    assert kinds(db, "t")["y"] == "names of persons"


def test_the_bound_of_chance_is_one() -> None:
    """It is never below the exact tail of the binomial distribution."""
    for tried in (1, 5, 20):
        for passed in range(tried + 1):
            for chance in (0.01, 0.1, 0.5):
                exact = sum(
                    math.comb(tried, j) * chance**j * (1 - chance) ** (tried - j) for j in range(passed, tried + 1)
                )
                assert by_chance(passed, tried, chance) >= exact - 1e-12


def test_safe_says_what_it_leaves_to_learn_of_sensitive_columns(db: str) -> None:
    """Distinct l and t-closeness over the classes of the other released columns, computed here by hand."""
    report = sqlmicro.safe("visits", db=db, k=3, into="out", rows_are_persons=True)
    (told,) = report["sensitive"]
    released = rows(db, "SELECT age, ward, diagnosis FROM out")
    whole = [diagnosis for *_, diagnosis in released]
    classes: dict[tuple, list[str]] = {}
    for *others, diagnosis in released:
        classes.setdefault(tuple(others), []).append(diagnosis)
    least = min(len(set(members)) for members in classes.values())
    furthest = max(
        sum(abs(members.count(v) / len(members) - whole.count(v) / len(whole)) for v in set(whole)) / 2
        for members in classes.values()
    )
    assert told["column"] == "diagnosis"
    assert told["l"] == least
    assert told["t"] == pytest.approx(furthest)
    assert any(note.startswith("sensitive by name") and "diagnosis l = " in note for note in report["notes"])
