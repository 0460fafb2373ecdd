"""The JSON Schema of job files says what the reader of job files does."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from looping import each

import sqlmicro
from sqlmicro.jobs import file
from sqlmicro.registry import methods
from sqlmicro.system.progress import Progress

ROOT = Path(__file__).resolve().parents[1]
jsonschema = pytest.importorskip("jsonschema", reason="pip install 'sqlmicro[test]', which has jsonschema")

ONE = """
table = "t"
rest = "drop"
[[step]]
do = "mdav"
columns = ["a", "b"]
k = 3
[[gate]]
quasi = ["a", "b"]
min_k = 3
[[step]]
do = "publish"
into = "out"
"""
SEVERAL = """
db = "w.duckdb"
seed = "several"
[[table]]
name = "customers"
drop = ["name"]
[[table.step]]
do = "mdav"
columns = ["age", "income"]
[[table.gate]]
quasi = ["age", "income"]
min_k = 3
[[table.step]]
do = "publish"
into = "c"
[[table]]
name = "orders"
keep = ["article"]
[[table.step]]
do = "shuffle"
columns = ["amount"]
[[table.step]]
do = "publish"
into = "o"
"""
KEY = '[[key]]\nfrom = "orders.customer"\nto = "customers.id"\nmax_lost = 3\n'
ORDERS = '[[table]]\nname = "orders"'
AUDITS = (
    'table = "t"\n[[step]]\ndo = "register"\nfiles = ["t.csv"]\ntable = "t"\n[[step]]\ndo = "audit"\nquasi = ["a"]\n'
)

GOOD = {
    "one": ONE,
    "several": SEVERAL,
    "a key": SEVERAL + KEY,
    "a key of two columns": SEVERAL.replace('seed', 'key_file = "secret"\nseed') + KEY.replace('"orders.customer"',
        '["orders.tenant", "orders.customer"]').replace('"customers.id"', '["customers.tenant", "customers.id"]'),
    "audits": AUDITS,
    "measures": ONE.replace("min_k = 3", 'measure = ["information-loss"]'),
    "all options": ONE.replace('table = "t"', 'db = "w.duckdb"\ntable = "t.csv"\ndelimiter = ";"\nno_header = true\n'
                               'drop = ["c"]\nthreads = 2\nseed = "s"\ndry_run = true\ndiff_rows = 3'),
    "a whole number where any number may be": ONE.replace("min_k = 3", "max_il = 5"),
    "no gate": ONE.replace('[[gate]]\nquasi = ["a", "b"]\nmin_k = 3\n', ""),
}  # fmt: skip
WRONG = {
    "unknown key": ("rest =", "rset ="),
    "unknown key of a step": ("k = 3\n[[gate", "kk = 3\n[[gate"),
    "unknown key of a gate": ("min_k", "mink"),
    "unknown key of publish": ("into =", "onto ="),
    "unknown step": ('"mdav"', '"mdva"'),
    "a step that does nothing": ('do = "mdav"\n', ""),
    "wrong type": ("k = 3\n[[gate", 'k = "3"\n[[gate'),
    "a fraction": ("k = 3\n[[gate", "k = 3.5\n[[gate"),
    "too small": ("k = 3\n[[gate", "k = 1\n[[gate"),
    "below the gate's least": ("min_k = 3", "min_k = -1"),
    "no list": ('columns = ["a", "b"]', 'columns = "a"'),
    "numbers for names": ('columns = ["a", "b"]', "columns = [1]"),
    "a truth value for a number": ("k = 3\n[[gate", "k = true\n[[gate"),
    "no choice": ('rest = "drop"', 'rest = "discard"'),
    "no table": ('table = "t"\n', ""),
    "no publishing": ('[[step]]\ndo = "publish"\ninto = "out"\n', ""),
    "publishing twice": ("[[gate]]", '[[step]]\ndo = "publish"\n[[gate]]'),
    "nothing to publish": (ONE[ONE.index("[[step]]") : ONE.rindex("[[step]]")], ""),
    "a gate on nothing": (ONE[ONE.index("[[step]]") : ONE.index("[[gate]]")], '[[step]]\ndo = "audit"\n'),
    "an audit of a release": ("[[gate]]", '[[step]]\ndo = "audit"'),
    "a gate without a threshold": ("min_k = 3\n", ""),
    "a gate with an original": ("min_k = 3", 'min_k = 3\noriginal = "o"'),
    "an unknown measure": ("min_k = 3", 'measure = ["k-anonimity"]'),
    "gates that are none": ("[[gate]]", "[gate]"),
}  # fmt: skip
WRONG_SEVERAL = {
    "a column above": ('seed = "several"', 'keep = ["t"]'),
    "a step above": ('seed = "several"', '[[step]]\ndo = "mdav"\n'),
    "a seed within": ('name = "orders"', 'name = "orders"\nseed = "x"'),
    "an unknown key within": ('keep = ["article"]', 'kepe = ["article"]'),
    "an unknown step within": ('do = "shuffle"', 'do = "shufle"'),
    "a table that is not published": ('[[table.step]]\ndo = "publish"\ninto = "o"\n', ""),
    "tables within tables": ('keep = ["article"]', 'keep = ["article"]\ntable = []'),
    "no name": ('name = "orders"\n', ""),
    "an old job": ('seed = "several"', "[[job]]\n"),
    "a key within": ('keep = ["article"]', 'keep = ["article"]\nkey = []'),
    "a key without an end": (ORDERS, '[[key]]\nfrom = "a.b"\n' + ORDERS),
    "a key with another word": (ORDERS, KEY.replace("max_lost", "lost") + ORDERS),
    "a key below nothing": (ORDERS, KEY.replace("3", "-1") + ORDERS),
}


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = sqlmicro.schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def reads(folder: Path, text: str) -> bool:
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    try:
        file.read(str(path), {}, Progress(enabled=False))
    except sqlmicro.JobError:
        return False
    return True


@each("name", GOOD)
def test_what_is_right_is_right_for_both(validator: Any, tmp_path: Path, name: str) -> None:
    assert [error.message for error in validator.iter_errors(tomllib.loads(GOOD[name]))] == []
    assert reads(tmp_path, GOOD[name])


@each("name", [*WRONG, *WRONG_SEVERAL])
def test_what_is_wrong_is_wrong_for_both(validator: Any, tmp_path: Path, name: str) -> None:
    base, (old, new) = (ONE, WRONG[name]) if name in WRONG else (SEVERAL, WRONG_SEVERAL[name])
    assert old in base
    text = base.replace(old, new, 1)
    assert not validator.is_valid(tomllib.loads(text))
    assert not reads(tmp_path, text)


@each(
    "text",
    ["", 'table = "t"', 'table = "t"\nstep = 3', 'table = "t"\nstep = []', 'table = "t"\nstep = [1]', "table = []",
     "table = 3", 'table = "t"\nkey = []', 'table = "t"\n[[steps]]\ndo = "mdav"'],
)  # fmt: skip
def test_what_is_no_job_is_none_for_both(validator: Any, tmp_path: Path, text: str) -> None:
    assert not validator.is_valid(tomllib.loads(text))
    assert not reads(tmp_path, text)


def test_what_only_the_reader_can_see(validator: Any, tmp_path: Path) -> None:
    """A JSON Schema cannot say which element of a list is the last."""
    first, last = ONE.split("[[gate]]")[0], ONE[ONE.index("[[gate]]") :]
    start = first.index("[[step]]")
    swapped = first[:start] + last + first[start:]
    assert validator.is_valid(tomllib.loads(swapped))
    assert not reads(tmp_path, swapped)


@each("path", sorted((ROOT / "examples").glob("*.toml")))
def test_every_example_is_valid(validator: Any, path: Path) -> None:
    assert [error.message for error in validator.iter_errors(tomllib.loads(path.read_text("utf-8")))] == []


@each("name", sorted(methods()))
def test_every_step_has_its_parameters_with_help_choices_and_bounds(name: str) -> None:
    from sqlmicro.jobs.steps import step_parameters
    from sqlmicro.options.params import REQUIRED

    found = sqlmicro.schema()["$defs"][name]
    declared = step_parameters(name)
    assert set(found["properties"]) == {"do", *(parameter.name for parameter in declared)}
    assert set(found["required"]) == {"do", *(p.name for p in declared if p.default is REQUIRED)}
    for parameter in declared:
        said = found["properties"][parameter.name]
        assert said["description"] == parameter.param.help
        assert said.get("minimum") == parameter.param.min
        assert tuple(said.get("enum", ())) == parameter.choices


def test_the_command_prints_the_schema(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    from sqlmicro.cli import app

    monkeypatch.setattr("sys.argv", ["sqlmicro", "schema"])
    with pytest.raises(SystemExit) as caught:
        app()
    assert caught.value.code == 0
    assert json.loads(capfd.readouterr().out) == json.loads(json.dumps(sqlmicro.schema()))
