"""No text is code: hostile names, paths, values, job files and hierarchies through every command."""

from __future__ import annotations

import ast
import csv
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from databases import insert
from sources import nodes
from typer.testing import CliRunner

import sqlmicro
from sqlmicro import api
from sqlmicro.errors import SqlmicroError
from sqlmicro.options.common import MethodOptions
from sqlmicro.options.params import Parameter, parameters
from sqlmicro.registry import methods

from .hostile import CANARY, Watched, connect, names, outcome, quoted, texts, watched

canary_frame = pa.table({"x": [CANARY]})  # a variable that DuckDB would find by its name
ROWS = 24
KINDS = {"top-code": {"value": 0.5}, "bottom-code": {"value": 0.5}, "noise": {"kind": "uncorrelated", "amount": 0.1},
         "sample": {"fraction": 0.5}, "partial": {"keep_last": 1}, "fake": {"kind": ["name"]},
         "pram": {"keep_probability": 0.5}, "suppress": {"k": 2}, "swap": {"percent": 20.0},
         "safe": {"k": 2}}  # fmt: skip
"""Settings a method cannot do without, beside k."""
TEXT_METHODS = ("partial", "pram", "suppress", "constant", "pseudonymise", "fake")
RELEASES = ("audit", "attack", "report", "residue", "safe-distance", "profile")
"""Verbs that read a release and its original."""
OTHERS = ("register", "run", "methods", "macros", "purge", "init", "explain", "schema", "compare", "warm-up",
          "hierarchy", "scan", "plan", "apply", "ledger", "series", "certify",
          "publish-draft", "check", "verify", "decrypt", "subset")  # fmt: skip
counted = {"texts": 0, "runs": 0, "done": 0}


def test_every_verb_is_put_through() -> None:
    assert set(api.verbs()) == {*methods(), *RELEASES, *OTHERS}


@pytest.fixture(autouse=True)
def _world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "a secret key of a few bytes")
    monkeypatch.delenv("SQLMICRO_DB", raising=False)
    folder = tmp_path / "deep" / "deeper" / "deepest"
    folder.mkdir(parents=True)
    with watched(folder, monkeypatch):
        yield


def verb(name: str, /, **given: Any) -> str:
    """Run a verb as Python or a job file would, and return what it said."""
    named = api.verbs()[name]
    known = {parameter.name for parameter in named.parameters}
    counted["runs"] += 1

    said = outcome(named.run, {key: value for key, value in given.items() if key in known})
    counted["done"] += not said.startswith("refused")
    return said


def made(draw: random.Random, table: str, columns: list[str], values: list[str]) -> str:
    """Make a database with a sentinel, and a table of hostile names and values; the first two columns are numbers."""
    db = "w.duckdb"
    Path(db).unlink(missing_ok=True)
    with connect(db) as con:
        con.execute(f"CREATE TABLE sentinel AS SELECT range AS i FROM range({ROWS})")
        kinds = ["DOUBLE", "INTEGER", *["VARCHAR"] * (len(columns) - 2)]
        defined = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(columns, kinds, strict=True))
        con.execute(f"CREATE TABLE {quoted(table)} ({defined})")
        few, rows = values[:3], list[list[Any]]()
        for i in range(ROWS):
            row = [draw.random(), draw.randint(0, 5), *(few[(i + j) % 3] for j in range(2))]
            rows.append([*row, *(values[(i + j) % len(values)] for j in range(len(columns) - 4))])
        insert(con, quoted(table), rows)
    return db


def relations(db: str) -> set[str]:
    """Return the user's tables and views, after a look at the sentinel."""
    with connect(db, read_only=True) as con:
        assert con.execute("SELECT count(*), sum(i) FROM sentinel").fetchall() == [(ROWS, ROWS * (ROWS - 1) // 2)]
        found = con.execute(
            "SELECT table_name FROM duckdb_tables() WHERE schema_name = 'main' UNION ALL "
            "SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main'"
        )
        return {name for (name,) in found.fetchall()}


def options_of(name: str, columns: list[str]) -> dict[str, Any]:
    """Return what a method needs: columns it can work on, and a few of its settings that take names."""
    x, y, c, d, *_ = columns
    declared = {parameter.name for parameter in api.verbs()[name].parameters}
    used = [c, d] if name in TEXT_METHODS else [x] if name == "optimal-univariate" else [x, y]
    own: dict[str, Any] = {"importance": [f"{x}=2"], "width": [f"{x}=0.5", f"{y}=2"], "nominal": [], "k": 2}
    if name in ("safe", "mdav", "suppress"):
        used = [y, c] if name == "suppress" else [x, c]
        own |= {"nominal": [c], "importance": [f"{c}=2"]}
    if name == "sample":
        used = []
    if name in ("top-code", "bottom-code"):
        used = [x]
    return {**{key: value for key, value in own.items() if key in declared}, **KINDS.get(name, {}), "columns": used}


def worlds(number: int, verbs: tuple[str, ...], wide: int) -> None:
    """Put the verbs through a table where everything has a hostile name."""
    draw = random.Random(number)
    taken = {"sentinel"}
    table, *columns = names(draw, wide + 1, taken)
    values = names(draw, wide, set())
    db = made(draw, table, columns, values)
    whole = {*relations(db)}
    target = ""
    for name in sorted(verbs, key=lambda name: (name not in methods(), name not in RELEASES)):
        if name in methods():
            target = names(draw, 3, set(taken))[number % 3]
            given = options_of(name, columns)
            given["accept_unique"] = [column for column in columns if column not in given["columns"]]
            said = verb(name, db=db, table=table, rest="keep", into=quoted(target), overwrite=True, **given)
            assert relations(db) - whole <= {target}, name
            counted["texts"] += 2 + len(columns)
            if not said.startswith("refused"):
                whole.add(target)
                taken.add(target.lower())
        elif name in RELEASES:
            x, y, c, d, *rest = columns
            verb(
                name, db=db, table=target, release=[target] if name == "attack" else target, original=table,
                first=table, second=target, quasi=[y, c], sensitive=[d], match=rest[:1],
                nominal=[c], columns=[x, y, c], min_k=2,
                to=f"{number}.html", attack=[], overwrite=True,
            )  # fmt: skip
            counted["texts"] += 12
            assert relations(db) == whole, name
        else:
            tried: dict[str, Any] = {
                "compare": {"columns": columns[:3], "methods": ["mdav"], "k": ["2"]},
                "hierarchy": {"action": "draft", "column": columns[3], "to": "h.csv", "k": 2},
            }.get(name, {})
            verb(name, db=db, table=table, name=table, overwrite=True, **tried)
            counted["texts"] += 1 + len(tried)
            assert relations(db) == whole, name
    assert CANARY.encode() not in Path(db).read_bytes()


QUICK = ("mdav", "generalize", "audit")


@pytest.mark.slow
def test_a_world_of_hostile_names() -> None:
    before = dict(counted)
    worlds(1, QUICK, 40)
    assert counted["done"] - before["done"] == len(QUICK)


def plain() -> dict[str, Any]:
    """Make a database of plain names, and return what every verb can be given of it."""
    db = made(random.Random(0), "records", ["x", "y", "c", "d"], ["a", "b", "e"])
    with connect(db) as con:
        con.execute("CREATE TABLE release AS FROM records")
        con.execute("COPY records TO 'records.csv'")
    Path("job.toml").write_text(
        f'db = "{db}"\ntable = "records"\nrest = "keep"\naccept_unique = ["y", "c", "d"]\n'
        '[[step]]\ndo = "shuffle"\ncolumns = ["x"]\n'
        '[[step]]\ndo = "publish"\n'
    )
    return {
        "db": db, "table": "records", "rest": "keep", "dry_run": True, "original": "records", "match": ["x"],
        "quasi": ["y", "c"], "sensitive": ["d"], "first": "records", "second": "release", "min_k": 2,
        "files": ["records.csv"], "job": "job.toml",
    }  # fmt: skip


def wrong_places(
    name: str, given: dict[str, Any], tried: list[Parameter]
) -> Iterator[tuple[Parameter, dict[str, Any]]]:
    """Yield every parameter of a verb that takes text, and the other options to give with it.

    What methods have in common one code reads for all of them; it is in `tried` once one of them had it.
    """
    for parameter in api.verbs()[name].parameters:
        if parameter.base is not str and not parameter.many:
            continue
        if name in methods():
            if name not in ("mdav", "generalize") and (parameter in tried or parameter in parameters(MethodOptions)):
                continue
            tried.append(parameter)
        others = {**given, **(options_of(name, ["x", "y", "c", "d"]) if name in methods() else {})}
        if name == "register":
            others["table"] = "fresh"
        others |= {
            "residue": {"table": "release"}, "attack": {"release": ["release"]},
            "compare": {"methods": ["mdav"], "k": ["2"]},
        }.get(name, {})  # fmt: skip
        if name == "report":
            others |= {"release": "release", "overwrite": True, "to": "r.html"}
        if parameter.name in ("into", "to", "manifest"):
            others |= {"dry_run": False, "overwrite": False}
        others.pop("seed_file" if parameter.name == "seed" else "seed", None)
        yield parameter, others


def misplaced(number: int, verbs: list[str], each: int) -> None:
    """Write hostile text into every option of the verbs, one at a time."""
    given = plain()
    draw = random.Random(number)
    stream, tried = texts(draw), list[Parameter]()
    for name in verbs:
        for parameter, others in wrong_places(name, given, tried):
            for _ in range(each):
                text = next(stream)
                if "canary" in text and parameter.name in ("table", "files", "first", "second", "original", "release"):
                    continue  # the user asks for that very file
                value: Any = [f"x={text}" if draw.random() < 0.3 else text] if parameter.many else text
                counted["texts"] += 1
                verb(name, **{**others, parameter.name: value})
        relations(given["db"])
        assert CANARY.encode() not in Path(given["db"]).read_bytes(), name


def test_hostile_text_in_every_option() -> None:
    misplaced(2, ["register", "methods"], 1)


def toml(text: str) -> str:
    """Write text as a TOML string; what TOML cannot hold is left out."""
    return json.dumps(text.replace("\ud800", "").replace("\x7f", ""), ensure_ascii=True)


def hostile_jobs(number: int, count: int) -> None:
    """Run job files whose keys and values are hostile: at the top, in a step, and as columns that are there."""
    given, draw = plain(), random.Random(number)
    taken: set[str] = {"sentinel"}
    columns = names(draw, 24, taken)
    db = made(draw, "records", columns, names(draw, 9, set()))
    stream = (text for text in texts(draw) if "\ud800" not in text)
    listed = ", ".join(map(toml, columns[4:]))
    others = [column for column in columns if column != columns[3]]
    for i in range(count):
        a, b, c, d = (next(stream) for _ in range(4))
        top = f'db = "{given["db"]}"\ntable = "records"\n'
        publish = '[[step]]\ndo = "publish"\noverwrite = true\n'
        body = (
            f"keep = [{listed}]\naccept_unique = [{listed}]\nrest = \"keep\"\nseed = {toml(a)}\n"
            "[[step]]\ndo = \"mdav\"\n"
            f"columns = [{toml(columns[0])}, {toml(columns[1])}]\nk = 2\n{publish}into = {toml(quoted(columns[2]))}\n",
            f"rest = {toml(a)}\n[[step]]\ndo = {toml(b)}\n{toml(c)} = {toml(d)}\n{publish}",
            f"{toml(a)} = {toml(b)}\n[[step]]\ndo = \"mdav\"\ncolumns = [{toml(c)}]\n{publish}",
            f"rest = \"keep\"\naccept_unique = [{', '.join(map(toml, others))}]\n"
            f"[[step]]\ndo = \"constant\"\ncolumns = [{toml(columns[3])}]\nvalue = {toml(a)}\n"
            f"{publish}into = \"constants\"\n",
            f"[[step]]\ndo = \"register\"\nfiles = [{toml(a)}]\ntable = {toml(b)}\n[[step]]\ndo = \"audit\"\n"
            f"quasi = [{toml(c)}]\n",
        )[i % 5]  # fmt: skip
        Path("hostile.toml").write_text(top + body, encoding="utf-8")
        counted["texts"] += 4 + (len(columns) if i % 5 == 0 else 0)
        verb("run", job="hostile.toml")
    assert relations(db) <= {"records", "sentinel", "constants", columns[2]}
    assert CANARY.encode() not in Path(db).read_bytes()


def hostile_hierarchies(number: int, count: int) -> None:
    """Generalize by hierarchies, and PRAM by matrices, whose entries are hostile; some are broken."""
    draw = random.Random(number)
    for i in range(count):
        values = names(draw, 30, set())
        db = made(draw, "records", ["x", "y", "c", "d", "e"], values)
        labels = names(draw, 6, set())
        rows = [[value, labels[j % 6], labels[j % 2]] for j, value in enumerate(values)]
        if i % 3 == 2:
            rows.append([next(texts(draw)).replace("\ud800", "")] * draw.randint(1, 3))
        with Path("h.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(rows)
        Path("h.toml").write_text(
            "[[level]]\n" + "".join(f"{toml(label)} = [{', '.join(map(toml, values[j::6]))}]\n"
                                    for j, label in enumerate(labels)), encoding="utf-8"
        )  # fmt: skip
        for file_name in ("h.csv", "h.toml"):
            verb(
                "generalize", db=db, table="records", columns=["e"], rest="keep", hierarchy=[f"e={file_name}"],
                level=["e=1"], into="out", overwrite=True, accept_unique=["x", "y", "c", "d"],
            )  # fmt: skip
        few = values[:3]
        with Path("m.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["", *few], *([value, "0.5", "0.25", "0.25"][:4] for value in few)])
        verb(
            "pram", db=db, table="records", columns=["c"], rest="keep", accept_unique=["x", "y", "d", "e"],
            matrix="m.csv", into="pram", overwrite=True,
        )  # fmt: skip
        counted["texts"] += 2 * (len(rows) + 6) + 3
        assert relations(db) <= {"records", "sentinel", "out", "pram"}


def hostile_files(number: int, count: int) -> None:
    """Register files of hostile names, one and many; read and publish every second of them, with HOSTILE all."""
    draw = random.Random(number)
    Path("files").mkdir(exist_ok=True)
    paths = []
    for name in names(draw, count, {"", ".", ".."}):
        # DuckDB takes a backslash in the names of a folder for a slash as soon as it has to match a pattern there.
        path = Path("files") / (name.replace("/", "∕").replace("\\", "∖")[:60] + ".csv")
        path.write_text("x,y\n1,2\n3,4\n")
        paths.append(str(path))
    given, released = plain(), 0
    for i, path in enumerate(paths):
        if i % 10 == 0:
            verb("register", db=given["db"], files=paths[i : i + 10], table=quoted(f"all {i} {path}"), view=i % 20 == 0)
            counted["texts"] += 11
        if i % 2 and not HOSTILE:
            continue
        released += 1
        out = str(Path("files") / f"o{Path(path).name}")
        said = verb("mdav", table=path, columns=["x", "y"], k=2, to=out)
        assert not said.startswith("refused"), said
        assert Path(out).is_file()
        counted["texts"] += 2
    assert len(list(Path("files").iterdir())) == len(paths) + released
    relations(given["db"])


@pytest.mark.slow
def test_hostile_jobs_hierarchies_and_files() -> None:
    hostile_jobs(3, 5)
    hostile_hierarchies(4, 1)
    hostile_files(5, 2)


def hostile_arguments(number: int, count: int) -> None:
    """Give hostile arguments to the command line itself."""
    from sqlmicro.cli import app

    given = plain()
    draw, runner = random.Random(number), CliRunner()
    stream = (text for text in texts(draw) if "canary" not in text)
    commands = list(api.verbs())
    for i in range(count):
        a, b, c = (next(stream) for _ in range(3))
        command = commands[i % len(commands)]
        line = (
            [command, "--db", given["db"], "--table", a, "--columns", b, "--rest", c],
            [command, a, "--db", given["db"], "--table", b, "--quasi", c],
            [command, "--db", given["db"], "--table", "records", "--columns", a, "--keep", b, "--drop", c],
            [command, a, b, c],
        )[i // len(commands) % 4]
        result = runner.invoke(app, line)
        assert result.exit_code in (0, 1, 2), (line, result.output, result.exception)
        assert CANARY not in result.output
        assert "Traceback" not in result.output
        counted["texts"] += 3
    relations(given["db"])


def test_hostile_arguments() -> None:
    hostile_arguments(6, 6)


HOSTILE = int(os.environ.get("HOSTILE", "0"))


def unlike() -> tuple[str, ...]:
    """Return a method for every set of templates: names reach these, and not what groups numbers between them."""
    return tuple({method.templates: name for name, method in reversed(methods().items())}.values())


@pytest.mark.slow
@pytest.mark.long
def test_thousands_of_hostile_texts() -> None:
    """HOSTILE=3 has more than 10 000; without it there are 3 000."""
    before = dict(counted) | {"statements": Watched.ran}
    for number in range(10, 10 + max(HOSTILE, 1)):
        worlds(number, tuple(methods()) if HOSTILE else unlike(), 90 if HOSTILE else 42)
        worlds(number + 10, ("mdav", "shuffle", *RELEASES, "compare", "purge", "macros"), 12)
    misplaced(20, list(api.verbs()), 1)
    hostile_jobs(30, 50)
    hostile_hierarchies(40, 10)
    hostile_files(50, 40)
    hostile_arguments(60, 3 * len(api.verbs()))
    found = {name: counted[name] - before[name] for name in counted}
    print(json.dumps(found | {"statements": Watched.ran - before["statements"]}))
    assert found["texts"] >= (3_300 * HOSTILE or 3_000)
    assert found["done"] >= (56 * HOSTILE or 50), "most of the hostile names must be worked with, not refused"


# What the fuzzing is a sample of: every {{ }} is filtered, wherever a statement is written


PRINTED = re.compile(
    r"[\w.\[\]]+ \| (ident|idents|lit|sqltype|comment)|k|select|sql|statement|block|function|options|loop.index|number"
    r"|members|release|before|new|name|names|tags|entries|where"
    # of the type Sql, as the ones before: a bare text is refused when it is rendered
    r'|\w+ \| draw\("\w+", purpose="\w+"\)'
    r'|\w+ \| listed\("[\w(){}, .=*<>]+"\)'
)


@pytest.mark.slow
def test_every_statement_in_the_code_prints_filtered_values_only() -> None:
    """sql/ is held to this by its own test; these are the statements that are no SELECT, written where they are run."""
    found = 0
    for path in Path(sqlmicro.__file__).parent.rglob("*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for printed in re.findall(r"{{\s*(.*?)\s*}}", node.value):
                    found += 1
                    assert PRINTED.fullmatch(printed), f"{path.name}:{node.lineno}: {printed}"
    assert found > 50


# What a connection may do while a release is computed


def test_a_sealed_database_reaches_no_other_file_and_takes_no_setting(tmp_path: Path) -> None:
    from sqlmicro.database.finding import find_source
    from sqlmicro.database.opening import open_warehouse
    from sqlmicro.database.templates import Sql, lit

    given = plain()
    inside = tmp_path / "inside"
    inside.mkdir()
    Path("b1.csv").write_text("x\n1\n")
    with open_warehouse(given["db"]) as warehouse:
        find_source(warehouse, "b[1].csv" if Path("b[1].csv").exists() else "b?.csv")
        warehouse.seal(inside)
        refused = [
            *(f"SELECT * FROM {lit(name)}" for name in ("canary.csv", "canary.parquet", "canary.json", "records.csv")),
            *(f"SELECT * FROM {read}" for read in ("read_text('canary.txt')", "read_csv('*.csv')", "glob('/*')")),
            'SELECT * FROM "canary.csv"', "SELECT * FROM canary_frame", "ATTACH 'canary.duckdb'", "ATTACH 'new.duckdb'",
            "COPY records TO 'owned.csv'", "EXPORT DATABASE 'owned'", "SET threads = 1",
            "SET enable_external_access = true", "SET python_enable_replacements = true",
            "SET autoload_known_extensions = true",
            "INSTALL httpfs", "LOAD httpfs",
            "SELECT * FROM 's3://bucket/x.csv'", "SELECT * FROM 'http://127.0.0.1:1/x.csv'", "RESET lock_configuration",
            f"COPY records TO {lit(str(tmp_path / 'inside' / '..' / 'owned.csv'))}",
        ]  # fmt: skip
        for text in refused:
            with pytest.raises(SqlmicroError):
                warehouse.query("try", Sql(text))
        warehouse.query("try", Sql(f"COPY records TO {lit(str(inside / 'o.csv'))}"))
        assert warehouse.query("try", Sql("SELECT count(*) FROM records")) == [(ROWS,)]
        assert warehouse.query("try", Sql(f"SELECT x FROM read_csv({lit(str(Path('b?.csv').absolute()))})")) == [(1,)]
    assert not list(tmp_path.rglob("owned*"))


@pytest.mark.parametrize("source", ["records", "records.csv", "a_view"])
def test_every_release_is_computed_in_a_sealed_database(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings of the database while the records are grouped."""
    from sqlmicro import pipeline

    given, seen = plain(), []
    with connect(given["db"]) as con:
        con.execute("CREATE VIEW a_view AS FROM read_csv('records.csv')")
    step = pipeline.step

    def watching(run: Any, *args: Any) -> None:
        names = ("enable_external_access", "lock_configuration", "autoinstall_known_extensions",
                 "autoload_known_extensions", "python_enable_replacements")  # fmt: skip
        seen.extend(
            run.warehouse.query("try", "SELECT value FROM duckdb_settings() WHERE name = $1", [name])[0][0]
            for name in names
        )
        step(run, *args)

    monkeypatch.setattr(pipeline, "step", watching)
    sqlmicro.mdav(source, db=given["db"], columns=["x"], rest="drop", k=2, into="out", overwrite=True)
    assert seen == ["true" if source == "a_view" else "false", "true", "false", "false", "false"]
