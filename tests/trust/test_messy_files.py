"""Files as people have them: a decimal comma, postcodes, nothing at all."""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from databases import insert, opened
from typer.testing import CliRunner
from world import rows as query

import sqlmicro
from sqlmicro.cli import app
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.group.secure_k_ward import secure_whole_values


def scale(report: dict, name: str) -> tuple[str, str]:
    return next((c["scale"], c["scale_reason"]) for c in report["columns"] if c["name"] == name)


def test_a_decimal_comma_is_noticed(tmp_path: Path) -> None:
    """Text such as 0,14341: profile and release say how to read it as numbers."""
    path = tmp_path / "measured.csv"
    lines = [f"0,{14341 + i};{i % 40};1.234,{i:02}" for i in range(90)]
    path.write_text("\n".join(["share;age;amount", *lines]) + "\n")
    report = sqlmicro.profile(str(path), delimiter=";")
    for name in ("share", "amount"):
        assert scale(report, name) == ("nominal", "text that looks like numbers with decimal comma: --decimal ,")
    release = sqlmicro.mdav(
        str(path),
        delimiter=";",
        columns=["age"],
        keep=["share"],
        drop=["amount"],
        k=3,
        to=str(tmp_path / "o.csv"),
        accept_unique=["share"],
    )
    assert any("decimal comma" in note and note.endswith("share") for note in release["notes"])
    read = sqlmicro.profile(str(path), delimiter=";", decimal=",")
    assert next(c["type"] for c in read["columns"] if c["name"] == "share") == "DOUBLE"


def test_postcodes_are_nominal(tmp_path: Path) -> None:
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.execute(
            """CREATE TABLE p AS SELECT 10000 + 7 * i AS plz, 10000 + 7 * i AS "zipCode", 1000 + i AS income,
            printf('%05d', 900 + 7 * i) AS place, CAST(8000000 + i AS BIGINT) AS ags FROM range(100) AS r(i)"""
        )
    report = sqlmicro.profile("p", db=db)
    assert [scale(report, name)[0] for name in ("plz", "zipCode", "ags", "place", "income")] == [
        *["nominal"] * 4,
        "numeric",
    ]
    assert "start with 0" in scale(report, "place")[1]
    release = sqlmicro.mdav("p", db=db, columns=["plz", "income"], rest="drop", k=3, into="out")
    assert any("seem to be codes or years: plz (by its name). Name them in --nominal" in n for n in release["notes"])


def records_of(path: Path) -> dict[str, list[str]]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


def test_whole_numbers_written_with_a_point_are_codes_and_stay_whole(tmp_path: Path) -> None:
    """As pandas writes whole numbers once one is missing: no score that nobody can have is released."""
    draw, path, out = random.Random(14), tmp_path / "lung.csv", tmp_path / "o.csv"
    lines = [
        f"{draw.choice([1.0, 2.0])},{draw.choice([0.0, 1.0, 2.0, 3.0]) if i != 5 else ''},"
        f"{float(draw.randrange(40, 80))},{draw.choice([0.5, 1.25, 7.75])}"
        for i in range(120)
    ]
    path.write_text("\n".join(["sex,ecog,age,dose", *lines]) + "\n")
    profile = sqlmicro.profile(str(path))
    assert [scale(profile, name)[0] for name in ("sex", "ecog", "age", "dose")] == [*["nominal"] * 2, *["numeric"] * 2]
    sqlmicro.safe(str(path), to=str(out), method="cluster", algorithm=["mdav"], nulls="keep", seed="1")
    before, after = records_of(path), records_of(out)
    assert set(after["sex"]) | set(after["ecog"]) <= set(before["sex"]) | set(before["ecog"])
    assert all(float(age).is_integer() for age in after["age"])
    for name in before:
        assert len(set(after[name])) <= len(set(before[name])), "no more values than were read"
    assert set(after["dose"]) <= set(before["dose"]), "means of three values would be more than three"


def test_codes_are_seen_by_their_values_and_by_their_names(tmp_path: Path) -> None:
    db, draw = str(tmp_path / "w.duckdb"), random.Random(1)
    places = draw.sample(range(10_000, 99_999), 40)
    rows = [
        (draw.choice(places), draw.randrange(1, 300), draw.randrange(400, 440), draw.choice(places) * 10 + 7,
         100 * draw.randrange(100, 999), draw.randrange(10_000, 99_999), draw.randrange(1940, 2004))
        for _ in range(300)
    ]  # fmt: skip
    with opened(db) as connection:
        connection.execute("CREATE TABLE p (a INT, wahlkreis INT, station_id INT, b INT, pay INT, fee INT, born INT)")
        insert(connection, "p", rows)
    report = sqlmicro.profile("p", db=db)
    assert {c["name"]: c["scale"] for c in report["columns"]} == {
        **dict.fromkeys(("a", "wahlkreis", "station_id", "b"), "nominal"),
        **dict.fromkeys(("pay", "fee", "born"), "numeric"),
    }
    assert "codes by their name" in scale(report, "station_id")[1]
    assert "equally many digits, far apart" in scale(report, "a")[1]


def test_means_of_whole_numbers_are_whole_unless_decimals_are_asked_for(tmp_path: Path) -> None:
    """Worked by hand: 1, 1, 3 have the mean 5/3, 10, 12, 15 have 37/3; halves go to the even number."""
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.execute(
            "CREATE TABLE p AS SELECT unnest([1, 1, 3, 10, 12, 15])::SMALLINT AS n, "
            "unnest([1, 2, 3, 4, 5, 6]) / 2 AS x, unnest([1e0, 1, 3, 10, 12, NULL]) AS f"
        )
    given = {"db": db, "k": 3, "rest": "drop", "overwrite": True, "alone_because": "a test", "seed": "1"}
    report = sqlmicro.mdav("p", columns=["n"], into="o", **given)
    assert query(db, "SELECT n, typeof(n) FROM o ORDER BY n") == [*[(2, "SMALLINT")] * 3, *[(12, "SMALLINT")] * 3]
    assert report["parameters"]["decimals"] is False
    sqlmicro.individual_ranking("p", columns=["n"], into="o", decimals=True, **given)
    assert query(db, "SELECT DISTINCT n, typeof(n) FROM o ORDER BY n") == [(5 / 3, "DOUBLE"), (37 / 3, "DOUBLE")]
    in_place = {"columns": ["n"], "keep": ["x", "f"], "accept_unique": ["x", "f"], "k": 3, "in_place": True}
    with pytest.raises(ParameterError, match=r"n\. Add --widen"):
        sqlmicro.mdav("p", db=db, decimals=True, **in_place)
    sqlmicro.mdav("p", columns=["x"], into="o", **given)
    assert query(db, "SELECT DISTINCT x FROM o ORDER BY x") == [(1.0,), (2.5,)]
    sqlmicro.individual_ranking("p", columns=["f"], into="o", nulls="suppress", **{**given, "k": 2})
    assert query(db, "SELECT DISTINCT f FROM o ORDER BY f") == [(1.0,), (8.0,)], "3, 10 and 12 have the mean 25/3"
    sqlmicro.noise("p", columns=["n"], amount=0.5, into="o", **{name: given[name] for name in given if name != "k"})
    assert {kind for (kind,) in query(db, "SELECT typeof(n) FROM o")} == {"SMALLINT"}


def test_in_a_series_the_types_decide_what_is_whole(tmp_path: Path) -> None:
    """A night may read some of its rows only: values that decided would make classes of old nights whole, or not."""
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.execute(
            "CREATE TABLE p AS SELECT i AS id, (i * i % 61)::DOUBLE AS x, i * i % 67 AS n FROM range(60) r(i)"
        )
    shown = []
    for _ in range(2):
        sqlmicro.mdav(
            "p",
            db=db,
            columns=["x", "n"],
            rest="drop",
            k=5,
            row_key=["id"],
            into="o",
            overwrite=True,
            series="s",
            seed="1",
        )
        shown.append(dict(query(db, "SELECT x, n FROM o")))
        assert all(type(n) is int for n in shown[-1].values()) and any(x != int(x) for x in shown[-1])
        with opened(db) as connection:
            connection.execute("INSERT INTO p SELECT 100 + i, 20.5, 7 FROM range(3) r(i)")
    assert {x for x, n in shown[0].items() if shown[1].get(x) == n} == shown[0].keys(), "no class changed its values"


def test_years_and_columns_of_two_values_are_not_averaged_without_a_word(tmp_path: Path) -> None:
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.execute(
            "CREATE TABLE p AS SELECT (i % 2)::DOUBLE AS smokes, 1950 + i AS born, 7 * i AS pay FROM range(40) r(i)"
        )
    for method, do in ((sqlmicro.mdav, "Name them in --nominal"), (sqlmicro.single_axis, "such as mdav")):
        report = method("p", db=db, columns=["smokes", "born", "pay"], k=3, dry_run=True)
        (said,) = (note for note in report["notes"] if note.startswith("warning: means are taken"))
        assert "smokes (two values), born (years)." in said and do in said
    report = sqlmicro.mdav("p", db=db, columns=["smokes", "pay"], nominal=["smokes"], drop="born", k=3, dry_run=True)
    assert not any(note.startswith("warning: means are taken") for note in report["notes"])


def test_whole_representatives_of_secure_k_ward_are_the_nearest_safe_ones() -> None:
    """Against every whole number around, tried one by one."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        x, tolerance = np.sort(rng.integers(0, 12, 7)).astype(float), float(rng.choice([0.4, 1.0, 2.5]))
        ratio = float(rng.choice([0.4, 0.7, 1.0]))
        (found,) = secure_whole_values(x, np.zeros(7, dtype=int), tolerance, ratio).representatives
        safe = [c for c in range(-9, 22) if sum(abs(x - c) >= tolerance) >= ratio * 7]
        mean = float(np.rint(x.mean()))
        assert found == (mean if mean in safe else min(c for c in safe if c >= x.mean()))


TOKENS = ("NA", "N/A", "null", "-", "unknown", ".", "k.A.")


def with_tokens(path: Path, tokens: Sequence[str]) -> None:
    """Write 240 records of which one in thirty lacks each value, as one of the tokens."""
    draw = random.Random(11)
    lines = []
    for i in range(240):
        year, month, day = draw.randrange(1950, 2005), draw.randrange(1, 13), draw.randrange(1, 29)
        row = [
            draw.choice("mf"), draw.randrange(2700, 6300, 25), f"{draw.gauss(8, 1):.5f}", f"{year}-{month:02}-{day:02}",
            f"{day:02}.{month:02}.{year}", f"{draw.randrange(500, 5000)},{draw.randrange(10, 99)}",
            f"{draw.randrange(100)}.{draw.randrange(10)}%",
        ]  # fmt: skip
        lines.append(";".join(tokens[i % len(tokens)] if draw.random() < 0.03 else str(value) for value in row))
    path.write_text("\n".join(["sex;mass;delta;born;admitted;pay;part", *lines]) + "\n")


def test_a_word_for_a_missing_value_is_named_and_makes_no_identifier(tmp_path: Path) -> None:
    """Income, measurement and birth date were dropped as direct identifiers, with exit 0."""
    path = tmp_path / "p.csv"
    for token in TOKENS:
        with_tokens(path, [token])
        report = sqlmicro.profile(str(path), delimiter=";")
        found = {c["name"]: (c["role"], c["scale_reason"]) for c in report["columns"]}
        word = f"--null-string {token}"
        assert found["mass"] == ("quasi", f"text that looks like numbers: {word}")
        assert found["delta"][1] == found["mass"][1] and found["born"][1] == f"text that looks like dates: {word}"
        assert found["admitted"][1] == f"text that looks like dates: --date-format %d.%m.%Y {word}"
        assert found["pay"][1] == f"text that looks like numbers with decimal comma: --decimal , {word}"
        assert found["part"][1].startswith("text that looks like percentages: make numbers of it in SQL")
        assert {role for role, _ in found.values()} == {"quasi"}


def test_safe_refuses_distinct_text_that_reads_as_numbers_and_its_advice_works(tmp_path: Path) -> None:
    path, out = tmp_path / "p.csv", tmp_path / "o.csv"
    with_tokens(path, ["NA", "k.A."])
    given = {"delimiter": ";", "to": str(out), "method": "cluster", "algorithm": ["mdav"], "seed": "1"}
    with pytest.raises(InputError, match=r"delta: text that looks like numbers: --null-string NA,k\.A\.") as refused:
        sqlmicro.safe(str(path), **given)
    assert not out.exists() and "date-format %d.%m.%Y" in str(refused.value)
    report = sqlmicro.safe(
        str(path),
        null_string=["NA", "k.A."],
        decimal=",",
        date_format="DD.MM.YYYY",
        drop=["part", "delta", "born"],
        **given,
    )
    assert out.exists() and not any("text that looks like" in note for note in report["notes"])
    released = sqlmicro.profile(str(out))
    assert {c["name"]: c["type"] for c in released["columns"]} == {
        "sex": "VARCHAR", "mass": "BIGINT", "admitted": "DATE", "pay": "DOUBLE",
    }  # fmt: skip
    given = {"rest": "drop", "k": 3, "delimiter": ";", "dry_run": True}
    with pytest.raises(InputError, match=r"mass \(most .*; text that looks like numbers: --null-string NA,k\.A\.\)"):
        sqlmicro.mdav(str(path), columns=["mass"], **given)
    report = sqlmicro.mdav(str(path), columns=["sex"], keep="born", accept_unique="born", **given)
    assert any(note.startswith("text that looks like dates: --null-string") for note in report["notes"])


def test_digits_that_are_text_on_purpose_are_no_numbers(tmp_path: Path) -> None:
    """A column of a table has no reader, whose options would help nobody."""
    db = str(tmp_path / "w.duckdb")
    with opened(db) as connection:
        connection.execute(
            "CREATE TABLE p AS SELECT (1000 + i)::VARCHAR AS c, "
            "CASE WHEN i % 40 = 0 THEN 'NA' ELSE (i * 1.5)::VARCHAR END AS x FROM range(300) AS r(i)"
        )
    found = {c["name"]: (c["role"], c["scale_reason"]) for c in sqlmicro.profile("p", db=db)["columns"]}
    assert found["c"] == ("identifier", "VARCHAR has no arithmetic")
    assert found["x"][0] == "quasi" and "TRY_CAST(x AS DOUBLE)" in found["x"][1] and "--" not in found["x"][1]


def test_one_command_cleans_and_registers(tmp_path: Path) -> None:
    path, db = tmp_path / "p.csv", str(tmp_path / "w.duckdb")
    with_tokens(path, ["NA", "k.A.", "-"])
    words = ["register", str(path), "--db", db, "--table", "p", "--delimiter", ";", "--null-string", "NA,k.A.,-"]
    result = CliRunner().invoke(app, [*words, "--decimal", ",", "--date-format", "%d.%m.%Y"])
    assert result.exit_code == 0, result.output
    types = {name: kind for name, kind, *_ in query(db, "DESCRIBE p")}
    assert (types["mass"], types["admitted"], types["pay"]) == ("BIGINT", "DATE", "DOUBLE")
    assert query(db, "SELECT count(*) FROM p WHERE sex IN ('NA', 'k.A.', '-')") == [(0,)]
    for wrong in ("DD.MM", "%H"):
        assert CliRunner().invoke(app, [*words, "--date-format", wrong]).exit_code == 2


def test_a_header_of_numbers_is_said_to_have_become_a_record(tmp_path: Path) -> None:
    path, db = tmp_path / "years.csv", str(tmp_path / "w.duckdb")
    path.write_text("\n".join(["2019,2020,2021", *(f"{i},{i + 1},{i % 7}" for i in range(10, 22))]) + "\n")
    release = sqlmicro.mdav(str(path), columns="column0", rest="drop", k=3, dry_run=True)
    assert release["rows"] == 13
    (said,) = (note for note in release["notes"] if "first line" in note)
    assert "give --header" in said and "--no-header" in said
    shown = CliRunner().invoke(app, ["register", str(path), "--db", db, "--table", "p"])
    assert "first line was taken for a record" in shown.output
    for option, rows in (({"header": True}, 12), ({"no_header": True}, 13)):
        columns = ["2019"] if rows == 12 else ["column0"]
        release = sqlmicro.mdav(str(path), columns=columns, rest="drop", k=3, dry_run=True, **option)
        assert release["rows"] == rows and not any("first line" in note for note in release["notes"])
    with pytest.raises(ParameterError, match="--header"):
        sqlmicro.profile(str(path), header=True, no_header=True)


def test_encodings_are_named_as_people_name_them(tmp_path: Path) -> None:
    """The database reads two; Python writes the others in UTF-8, and nothing of it is left."""
    rows = ["name;town;net €", *(f"Łuć;{town};{i}" for i, town in enumerate(["Łódź", "Poznań"] * 6))]
    for codec, names, text in (
        ("cp1250", ("windows-1250", "CP1250"), rows), ("iso8859-2", ("latin-2", "ISO-8859-2", "l2"), rows[1:]),
        ("utf-16", ("UTF-16", "utf16"), rows), ("cp1252", ("ansi", "windows-1252"), ["name;net €", *["Müller;1"] * 3]),
        ("iso8859-15", ("latin-9", "ISO-8859-15"), ["a;net €", *["Müller;1"] * 3]),
        ("latin-1", ("ISO-8859-1", "latin1", "latin-1"), ["a;größe", *["Müller;1"] * 3]),
    ):  # fmt: skip
        path = tmp_path / f"{codec}.csv"
        path.write_bytes("\r\n".join(text).encode(codec))
        with pytest.raises(InputError, match=r"UTF-8.*Give --encoding"):
            sqlmicro.profile(str(path), delimiter=";")
        for name in names:
            db = str(tmp_path / f"{codec}_{name}.duckdb")
            sqlmicro.register([str(path)], db=db, table="p", delimiter=";", encoding=name, header=True)
            found = query(db, "FROM p")
            assert [tuple(map(str, row)) for row in found] == [tuple(line.split(";")) for line in text[1:]]
    packed = tmp_path / "p.csv.gz"
    packed.write_bytes(gzip.compress("\n".join(rows).encode("cp1250")))
    assert sqlmicro.profile(str(packed), delimiter=";", encoding="cp1250")["rows"] == 12
    for wrong, error in (({"encoding": "rot13"}, ParameterError), ({"encoding": "utf-16"}, InputError)):
        with pytest.raises(error, match="encoding") as refused:
            sqlmicro.profile(str(tmp_path / "cp1252.csv"), delimiter=";", **wrong)
        assert "Müller" not in str(refused.value)
    with pytest.raises(ParameterError, match="--view"):
        sqlmicro.register([str(packed)], db=str(tmp_path / "v.duckdb"), table="p", view=True, encoding="cp1250")


def test_a_file_with_nothing_in_it_is_refused(tmp_path: Path) -> None:
    for name, content in (
        ("zero.csv", b""), ("blank.csv", b" \n\n"), ("mark.csv", b"\xef\xbb\xbf"), ("zero.csv.gz", gzip.compress(b"")),
        ("zero.json", b""),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        done = CliRunner().invoke(app, ["profile", "--table", str(tmp_path / name)])
        assert done.exit_code == 2, name
        assert "there must be something in a file" in done.output
    with pytest.raises(InputError, match="something in a file"):
        sqlmicro.register([str(tmp_path / "zero.csv")], table="t", db=str(tmp_path / "w.duckdb"))
    assert not (tmp_path / "w.duckdb").exists()
    # A header without records is a table without records; an empty part of several is no more than that.
    (tmp_path / "head.csv").write_text("a,b\n")
    assert sqlmicro.profile(str(tmp_path / "head.csv"))["rows"] == 0
    (tmp_path / "part_1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "part_2.csv").write_text("")
    assert sqlmicro.profile(str(tmp_path / "part_*.csv"))["rows"] == 1
