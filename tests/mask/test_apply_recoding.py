"""Recodings as files: written, applied to the same and to other rows, against plain Python, and tampered with."""

from __future__ import annotations

import copy
import datetime
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import naive_recoding
import pytest
from databases import insert

import sqlmicro
from sqlmicro import SqlmicroError

TABLES, QUICK = int(os.environ.get("TABLES", "50")), 8
INCOME = 'net "income"'
TREE = [["Ulm", "south", "DE"], ["Au", "south", "DE"], ["Kiel", "north", "DE"], ["O'Hara", "west", "US"]]
KINDS = {"age": "INTEGER", INCOME: "DOUBLE", "town": "VARCHAR", "born": "DATE", "flag": "BOOLEAN", "land": "VARCHAR"}


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with sqlmicro.open() as opened:
        yield opened


def _rows(rng: random.Random, n: int, *, wider: bool = False) -> list[dict[str, Any]]:
    """Draw rows with missing values; `wider` ones have values that nobody has seen."""
    more = 1.4 if wider else 1
    towns = [row[0] for row in TREE] + (["Rom"] if wider else [])

    def maybe(value: Any) -> Any:
        return None if rng.random() < 0.06 else value

    return [
        {
            "age": maybe(rng.randrange(int(60 * more))),
            INCOME: maybe(rng.randrange(int(40 * more)) / 4),
            "town": maybe(rng.choice(towns)),
            "born": maybe(datetime.date(1970, 1, 1) + datetime.timedelta(rng.randrange(-500, int(2000 * more)))),
            "flag": maybe(rng.random() < 0.5),
            "land": rng.choice(["a", "b's", None, *(["c"] if wider else [])]),
        }
        for _ in range(n)
    ]


def _table(session: Any, rows: list[dict[str, Any]], name: str) -> str:
    con = session.connection
    columns = ", ".join(f'"{column.replace(chr(34), chr(34) * 2)}" {kind}' for column, kind in KINDS.items())
    con.execute(f"CREATE OR REPLACE TABLE {name} ({columns})")
    insert(con, name, [[row[column] for column in KINDS] for row in rows])
    return name


def _plan(rng: random.Random, tree: Path) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Draw a method, its settings, and what apply-recoding is given."""
    method = rng.choice(["generalize", "generalize", "generalize", "mondrian", "top-code", "bottom-code"])
    by = ["land"] if rng.random() < 0.4 else []
    k = rng.choice([2, 3, 5])
    applied = {"withhold": True, "by": by, "k": k}
    if method == "mondrian":
        columns = rng.sample([name for name in KINDS if name != "land"], rng.randint(1, 4))
        return method, {"columns": columns, "by": by, "k": k}, applied
    if method != "generalize":
        columns = rng.sample(["age", INCOME], rng.randint(1, 2))
        limit = rng.choice([{"value": 5.0}, {"value": 4.5}, {"quantile": 0.5}, {"count": 9}])
        how: dict[str, Any] = {"replacement": rng.choice(["threshold", "mean", "median", "label"])}
        if how["replacement"] == "label":
            how["label"] = "it's far"
        return method, {"columns": columns, "by": by, "k": 2, **limit, **how}, {**applied, "k": 2}
    rules: dict[str, dict[str, list[str]]] = {
        "age": rng.choice([{"width": ["age=5", "age=20"]}, {"breaks": ["age=10;30"]}, {"quantiles": ["age=4"]}]),
        INCOME: rng.choice([{"width": [f"{INCOME}=0.5"]}, {"quantiles": [f"{INCOME}=5"]}, {}]),
        "town": rng.choice([{"prefix": ["town=1"]}, {"hierarchy": [f"town={tree}"]}]),
        "born": rng.choice([{"truncate": ["born=month", "born=year"]}, {"width": ["born=100"]}]),
    }
    columns = rng.sample(list(rules), rng.randint(1, 3))
    local = rng.random() < 0.4
    if local:
        rules = {name: {} if "quantiles" in rule else rule for name, rule in rules.items()}
    settings: dict[str, Any] = {"columns": columns, "by": by, "until_k": k, "local": local}
    settings |= {"suppress_up_to": rng.choice([0.0, 0.1, 0.5]), "bins_as": rng.choice(["range", "midpoint"])}
    if "born" in columns and "width" in rules["born"]:
        settings["bins_as"] = "range"
    for name in columns:
        for option, given in rules[name].items():
            settings[option] = [*settings.get(option, []), *given]
    if "hierarchy" in settings:
        applied["hierarchy"] = settings["hierarchy"]
    return method, settings, applied


def _released(release: Any, told: dict[str, Any]) -> Counter[Any]:
    names = [one["name"] for one in (*told["columns"], *told["by"])]
    columns = release.arrow().to_pydict()
    return Counter(zip(*(columns[name] for name in names), strict=True))


@pytest.mark.parametrize(
    "numbers", [range(QUICK), pytest.param(range(QUICK, QUICK + TABLES), marks=pytest.mark.slow)], ids=["quick", "more"]
)
def test_the_same_rows_give_the_same_release_and_others_what_plain_python_gives(
    session: Any, tmp_path: Path, numbers: range
) -> None:
    tree = tmp_path / "town.csv"
    tree.write_text("\n".join(",".join(row) for row in TREE))
    seen: Counter[str] = Counter()
    for number in numbers:
        rng = random.Random(number)
        first = _rows(rng, rng.choice([40, 90]))
        other = [*rng.choices(first, k=30), *_rows(rng, 30, wider=True)]
        method, settings, applied = _plan(rng, tree)
        file = tmp_path / f"{number}.json"
        table = _table(session, first, "first_night")
        try:
            release = getattr(session, method.replace("-", "_"))(table, rest="drop", recoding_to=str(file), **settings)
        except SqlmicroError as error:
            assert "seed" not in str(error)
            seen["refused"] += 1
            continue
        assert not file.exists(), "nothing is written before the release is published"
        release.publish(to=str(tmp_path / f"{number}.parquet"), alone_because="a test")
        told = json.loads(file.read_text())
        given = {"columns": settings["columns"], "rest": "drop", "recoding": str(file), **applied}
        again = session.apply_recoding(table, **given)
        assert again.arrow().schema.equals(release.arrow().schema), (number, settings)
        assert _released(again, told) == _released(release, told), (number, settings)
        expected = naive_recoding.released(told, other, applied["k"], {"town": TREE})
        second = _table(session, other, "second_night")
        if not expected:
            with pytest.raises(SqlmicroError, match="some rows must be released"):
                session.apply_recoding(second, **given)
            continue
        assert _released(session.apply_recoding(second, **given), told) == expected, (number, settings)
        if number % 5 == 0 and sum(expected.values()) < len(other):
            with pytest.raises(SqlmicroError, match="every row must be known"):
                session.apply_recoding(second, **(given | {"withhold": False}))
        seen[method + (" local" if settings.get("local") else "")] += 1
    if len(numbers) >= 50:
        every = ("generalize", "generalize local", "mondrian", "top-code", "bottom-code")
        assert min(seen[name] for name in every) >= 3
        assert seen["refused"] < len(numbers) / 3
    assert len(seen - Counter("refused")) >= 3


def _written(session: Any, folder: Path, method: str, **settings: Any) -> tuple[Path, dict[str, Any], dict[str, Any]]:
    """Write a recoding of a table; return the file, what it says, and how to apply it to the table."""
    table = _table(session, _rows(random.Random(7), 120), "tampered_with")
    file = folder / f"{method}.json"
    release = getattr(session, method.replace("-", "_"))(table, rest="drop", recoding_to=str(file), **settings)
    release.publish(to=str(folder / f"{method}.csv"), alone_because="a test")
    given = {"table": table, "columns": settings["columns"], "by": settings.get("by", []), "rest": "drop"}
    return file, json.loads(file.read_text()), {**given, "recoding": str(file), "withhold": True, "k": 3}


def _put(told: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of a document with another value in one place, such as columns.0.name."""
    made = copy.deepcopy(told)
    *way, last = path.split(".")
    at: Any = made
    for step in way:
        at = at[int(step) if isinstance(at, list) else step]
    if value is None and isinstance(at, dict):
        del at[last]
    else:
        at[int(last) if isinstance(at, list) else last] = value
    return made


EVIL = "x'); DROP TABLE tampered_with; --"
WRONG = {
    "generalize": [
        ("recoding", 2, "version 1"),
        ("recoding", True, "version 1"),
        ("recoding", None, "version 1"),
        ("method", "swap", "method: must be one of"),
        ("method", "mondrian", "what mondrian decides"),
        ("k", 1, "at least 2"),
        ("k", "5", "k: must be a whole number or null"),
        ("k", 9, "at least that of the recoding"),
        ("more", 1, "without more"),
        (EVIL, 1, "without other keys"),
        ("columns", [], "named once"),
        ("columns.0.name", "nobody", "--columns are those of the recoding"),
        ("columns.0.name", EVIL, "--columns are"),
        ("columns.0.name", "town", "named once"),
        ("columns.0.type", "VARCHAR", "fits the type of its column"),
        ("columns.0.type", f"INTEGER) {EVIL}", "fits the type|types that they had"),
        ("columns.0.levels.0.width", 0, "above 0"),
        ("columns.0.levels.0.width", -3.5, "above 0"),
        ("columns.0.levels.0.width", "5", "must be a number"),
        ("columns.0.levels.0.width", None, "needs and nothing else"),
        ("columns.0.levels.0.breaks", [1.0], "needs and nothing else"),
        ("columns.0.levels.0.kind", EVIL, "one of width"),
        ("columns.0.numeric", "yes", "true or false"),
        ("columns.1.numeric", True, "false of text"),
        ("columns.1.levels.0.step", 0, "at least 1"),
        ("columns.1.levels.0.step", 9, "have the level of the recoding"),
        ("columns.1.levels.0.sha256", "0" * 64, "the hierarchy that the recoding was made with"),
        ("by", [{"name": "flag", "type": "BOOLEAN"}], "--by are those of the recoding"),
        ("promised.limits", {"min_l": 3}, "classes keep what the recoding was made with"),
    ],
    "mondrian": [
        ("boxes", None, "what mondrian decides"),
        ("boxes.0.sides", [], "one for each column"),
        ("boxes.0.stratum", ["x"], "a value for each stratum"),
        ("boxes.0.sides.0.low", "99999", "do not cross"),
        ("boxes.0.sides.0.low", EVIL, "do not cross"),
        ("boxes.0.sides.0.low", "nan", "do not cross"),
        ("boxes.0.sides.0.low", "1_0", "do not cross"),
        ("boxes.0.sides.0.high", 5, "must be text or null"),
        ("boxes.0.sides.0.values", ["1"], "a range where the column is numeric"),
        ("boxes.0.sides.1.values", None, "with values"),
        ("boxes.0.sides.1.values", ["Au", "Au"], "values, each once"),
        ("columns.0.levels", [{"kind": "one-class"}], "none with"),
    ],
    "top-code": [
        ("columns.0.tails.0.start", "a", "a number as text"),
        ("columns.0.tails.0.becomes", EVIL, "a number as text"),
        ("columns.0.tails.0.beyond", "3", "from a value on, or beyond one"),
        ("columns.0.becomes", EVIL, "a type of numbers"),
        ("columns.0.becomes", "DOUBLE); DROP TABLE x", "a type of numbers"),
        ("columns.0.tails", [], "decides"),
        ("columns.0.tails.0.stratum", ["x"], "a value for each stratum"),
        ("columns.0.tails.0.start", "1e999999999", "a number as text"),
    ],
}


@pytest.mark.slow_but("top-code")
@pytest.mark.parametrize("method", WRONG)
def test_a_tampered_file_is_refused_with_a_message(session: Any, tmp_path: Path, method: str) -> None:
    tree = tmp_path / "town.csv"
    tree.write_text("\n".join(",".join(row) for row in TREE))
    more: dict[str, Any] = {"k": 3}
    if method == "generalize":
        more = {"width": ["age=15"], "hierarchy": [f"town={tree}"]}
    if method == "top-code":
        more = {"value": 40.0}
    columns = ["age"] if method == "top-code" else ["age", "town"]
    file, told, given = _written(session, tmp_path, method, columns=columns, **more)
    if method == "generalize":
        given["hierarchy"] = [f"town={tree}"]
        assert [level["kind"] for column in told["columns"] for level in column["levels"]] == ["width", "hierarchy"]
    assert session.apply_recoding(**given).report["rows"]
    for path, value, message in WRONG[method]:
        file.write_text(json.dumps(_put(told, path, value)))
        with pytest.raises(SqlmicroError, match=message) as error:
            session.apply_recoding(**given)
            pytest.fail(path)
        assert "DROP" not in str(error.value) or path.endswith("name"), "only names of columns are in a message"
    for text in ("", "[", "[1]", '"x"', "{}", "[" * 100_000, "\x00", '{"recoding": 1e400}'):
        file.write_text(text)
        with pytest.raises(SqlmicroError, match=r"must be (JSON|a recoding)"):
            session.apply_recoding(**given)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(SqlmicroError, match="must be a file that --recoding-to wrote"):
        session.apply_recoding(**given)
    assert session.connection.execute("SELECT count(*) FROM tampered_with").fetchone() == (120,)


@pytest.mark.slow
def test_values_outside_a_hierarchy_are_not_known_however_many(session: Any, tmp_path: Path) -> None:
    tree, rows = tmp_path / "town.csv", _rows(random.Random(7), 120)
    tree.write_text("\n".join(",".join(row) for row in TREE))
    given = {"columns": ["town"], "rest": "drop", "hierarchy": [f"town={tree}"]}
    release = session.generalize(_table(session, rows, "inside"), **given, recoding_to=str(tmp_path / "h.json"))
    release.publish(to=str(tmp_path / "h.csv"), alone_because="a test")
    table = _table(session, [*rows, *({**row, "town": "Rom"} for row in rows[:30])], "outside")
    given |= {"recoding": str(tmp_path / "h.json"), "k": 5}
    with pytest.raises(SqlmicroError, match="of 150 rows 30 with values that the recoding does not know") as error:
        session.apply_recoding(table, **given)
    assert "Rom" not in str(error.value)
    again = session.apply_recoding(table, **given, withhold=True)
    assert sorted(map(str, again.arrow().to_pydict()["town"])) == sorted(map(str, release.arrow().to_pydict()["town"]))


def test_boxes_that_share_a_record_are_refused(session: Any, tmp_path: Path) -> None:
    file, told, given = _written(session, tmp_path, "mondrian", columns=["age", "town"], k=3)
    file.write_text(json.dumps(told | {"boxes": [*told["boxes"], told["boxes"][0]]}))
    with pytest.raises(SqlmicroError, match="boxes must be apart"):
        session.apply_recoding(**given)


def test_text_of_the_file_is_data(session: Any, tmp_path: Path) -> None:
    file, told, given = _written(session, tmp_path, "mondrian", columns=["town"], k=20)
    for box in told["boxes"]:
        box["sides"][0]["values"].append(f"{EVIL} {box['sides'][0]['values'][:1]}")
    file.write_text(json.dumps(told))
    given["k"] = 20
    shown = session.apply_recoding(**given).arrow().to_pydict()["town"]
    assert any(EVIL in text for text in shown if text)


def test_the_file_has_no_value_that_the_release_hides(session: Any, tmp_path: Path) -> None:
    _, told, _ = _written(session, tmp_path, "top-code", columns=["age", INCOME], quantile=0.9, replacement="mean")
    rows = _rows(random.Random(7), 120)
    for column in told["columns"]:
        values = sorted(row[column["name"]] for row in rows if row[column["name"]] is not None)
        (tail,) = column["tails"]
        inside = [value for value in values if value > float(tail["beyond"])]
        assert tail["start"] is None and tail["becomes"] == str(sum(inside) / len(inside))
        assert float(tail["beyond"]) in values, "the last value outside the tail, which is released as it is"
    text = json.dumps(told)
    assert not any(word in text for word in ("seed", "key", "secret", "rows"))


def test_quantiles_of_suppressed_records_are_not_written(session: Any, tmp_path: Path) -> None:
    rows = [{"age": i % 3, INCOME: 1.0, "town": "Ulm", "born": None, "flag": True, "land": "a"} for i in range(30)]
    rows += [{"age": 50 + i, INCOME: 1.0, "town": f"t{i}", "born": None, "flag": True, "land": "a"} for i in range(15)]
    table, file = _table(session, rows, "sparse"), tmp_path / "q.json"
    release = session.generalize(
        table, columns=["age", "town"], rest="drop", quantiles=["age=9"], prefix=["town=2"], until_k=5,
        suppress_up_to=0.5, recoding_to=str(file),
    )  # fmt: skip
    release.publish(to=str(tmp_path / "q.csv"), alone_because="a test")
    shown = set(filter(None, release.arrow().to_pydict()["age"]))
    (column,) = (one for one in json.loads(file.read_text())["columns"] if one["name"] == "age")
    assert column["levels"][0]["kind"] == "bins"
    assert {naive_recoding._bin(*ends, date=False) for ends in column["levels"][0]["bins"]} == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relaxed": True}, "--relaxed"),
        ({"recoding_to": "x.csv"}, "ends in .json"),
        ({"recoding_to": "/nowhere/x.json"}, "must exist"),
    ],
)
def test_what_cannot_be_written_is_refused_before_any_work(
    session: Any, tmp_path: Path, options: Any, message: str
) -> None:
    table = _table(session, _rows(random.Random(1), 40), "refusing")
    given = {"columns": ["age", "town"], "rest": "drop", "recoding_to": str(tmp_path / "x.json"), **options}
    with pytest.raises(SqlmicroError, match=message):
        session.mondrian(table, **given).publish(to=str(tmp_path / "x.csv"))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_file_keeps_to_the_schema(session: Any, tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="pip install 'sqlmicro[test]', which has jsonschema")
    schema = sqlmicro.schema(recoding=True)
    checker = jsonschema.Draft202012Validator(schema)
    for method, settings in (
        ("mondrian", {"columns": ["age", "town"], "k": 5}),
        ("top-code", {"columns": ["age"], "count": 9}),
        ("generalize", {"columns": ["age", "flag"], "width": ["age=5"], "until_k": 5, "local": True}),
    ):
        _, told, _ = _written(session, tmp_path, method, **settings)
        checker.validate(told)
        assert not checker.is_valid(told | {"more": 1})


@pytest.mark.slow
def test_classes_have_k_persons_and_keep_guarantees(session: Any, tmp_path: Path) -> None:
    con, file = session.connection, tmp_path / "p.json"
    text = "SELECT i AS id, i // 10 AS age, chr((97 + i % 3)::INT) AS ill FROM range(30) t(i)"
    con.execute(f"CREATE OR REPLACE TABLE kept AS {text}")
    given = {"columns": ["age"], "rest": "drop", "by": []}
    guarantee = {"sensitive": ["ill"], "min_l": 3}
    release = session.mondrian("kept", **given, k=10, person=["id"], **guarantee, recoding_to=str(file))
    release.publish(to=str(tmp_path / "p.csv"), alone_because="a test")
    told = {**given, "recoding": str(file), "k": 10}
    with pytest.raises(SqlmicroError, match="Give --sensitive ill --min-l 3"):
        session.apply_recoding("kept", **told, person=["id"])
    with pytest.raises(SqlmicroError, match="Give --k 10"):
        session.apply_recoding("kept", **(told | {"k": 9}), **guarantee)
    # Ten rows of age 0 are of nine persons, ten of age 1 have two diagnoses; age 2 stays as it was.
    con.execute("UPDATE kept SET id = 1 WHERE id = 2")
    con.execute("UPDATE kept SET ill = 'a' WHERE age = 1 AND ill = 'c'")
    with pytest.raises(SqlmicroError, match="of 30 rows 20 in a class"):
        session.apply_recoding("kept", **told, person=["id"], **guarantee)
    released = session.apply_recoding("kept", **told, person=["id"], **guarantee, withhold=True)
    assert released.arrow().to_pydict()["age"] == ["2"] * 10
    assert released.report["suppressed"] == 20
    assert any("20 of 30 rows withheld" in note for note in released.report["notes"])


JOB = """
db = "{db}"

[[table]]
name = "persons"
rest = "drop"
step = [
  {{do = "top-code", columns = ["net \\"income\\""], value = 8, recoding_to = "{first}"}},
  {{do = "mondrian", columns = ["age"], k = 4, recoding_to = "{second}"}},
  {{do = "publish", into = "{into}", alone_because = "a test"}},
]
"""


@pytest.mark.slow
def test_steps_of_a_job_file_write_a_file_each_and_apply_them(workbench: Any, tmp_path: Path) -> None:
    db, first, second = tmp_path / "job.db", tmp_path / "tails.json", tmp_path / "boxes.json"
    with sqlmicro.open(str(db), create=True) as opened:
        _table(opened, _rows(random.Random(3), 80), "persons")
    job = tmp_path / "job.toml"
    job.write_text(JOB.format(db=db, first=first, second=first, into="made"))
    with pytest.raises(SqlmicroError, match="a place of its own"):
        sqlmicro.run(str(job))
    job.write_text(JOB.format(db=db, first=first, second=second, into="made").replace("k = 4", "k = 400"))
    with pytest.raises(SqlmicroError, match="at least k"):
        sqlmicro.run(str(job))
    assert not first.exists(), "the first step was done, but nothing was published"
    job.write_text(JOB.format(db=db, first=first, second=second, into="made"))
    sqlmicro.run(str(job))
    text = JOB.format(db=db, first=first, second=second, into="applied")
    text = text.replace('"top-code"', '"apply-recoding"').replace('"mondrian"', '"apply-recoding"')
    text = text.replace("value = 8", "k = 3").replace("recoding_to", "recoding")
    job.write_text(text)
    sqlmicro.run(str(job))
    made, applied = (workbench.read(str(db), name) for name in ("made", "applied"))
    assert Counter(zip(*made.values(), strict=True)) == Counter(zip(*applied.values(), strict=True))


@pytest.mark.parametrize(
    ("later", "message"),
    [
        ('{do = "top-code", columns = ["age"], count = 9}', "no later step changes its columns. Got age"),
        ('{do = "sample", size = 20}', "no later step leaves out records"),
    ],
)
def test_a_recoding_shows_nothing_that_a_later_step_hides(tmp_path: Path, later: str, message: str) -> None:
    db, job = tmp_path / "job.db", tmp_path / "job.toml"
    with sqlmicro.open(str(db), create=True) as opened:
        _table(opened, _rows(random.Random(3), 80), "persons")
    text = JOB.format(db=db, first=tmp_path / "one.json", second=tmp_path / "two.json", into="made")
    job.write_text(text.replace('  {do = "publish"', f'  {later},\n  {{do = "publish"'))
    with pytest.raises(SqlmicroError, match=message):
        sqlmicro.run(str(job))
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.slow
def test_a_release_that_fails_its_audit_writes_no_file(session: Any, tmp_path: Path) -> None:
    table, file = _table(session, _rows(random.Random(5), 60), "failing"), tmp_path / "x.json"
    given = {"columns": ["age", "town"], "rest": "drop", "k": 3, "recoding_to": str(file)}
    session.mondrian(table, **given).publish(to=str(tmp_path / "one.csv"), alone_because="a test")
    before = file.read_text()
    with pytest.raises(SqlmicroError, match="must not exist yet"):
        session.mondrian(table, **given).publish(to=str(tmp_path / "two.csv"), alone_because="a test")
    with pytest.raises(SqlmicroError, match="guarantees together"):
        session.mondrian(table, **(given | {"columns": ["born"]})).publish(to=str(tmp_path / "two.csv"), overwrite=True)
    assert file.read_text() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.csv", "x.json"]


@pytest.mark.slow
def test_mondrian_of_adult_is_applied_alike(session: Any, data_folder: Path, tmp_path: Path) -> None:
    adult = data_folder / "adult" / "adult.csv"
    if not adult.is_file():
        pytest.skip(f"no {adult}")
    columns = ["age", "sex", "race", "education", "workclass"]
    given = {"columns": columns, "rest": "drop", "delimiter": ";", "k": 50}
    release = session.mondrian(str(adult), **given, recoding_to=str(tmp_path / "a.json"))
    release.publish(to=str(tmp_path / "a.parquet"), alone_because="a test")
    again = session.apply_recoding(str(adult), **given, recoding=str(tmp_path / "a.json"))
    rows = [Counter(zip(*one.arrow().to_pydict().values(), strict=True)) for one in (release, again)]
    assert rows[0] == rows[1]
    assert sum(rows[0].values()) == 30_162
