"""The JSON Schema of reports: real reports of the verbs keep to it, and nothing else does."""

from __future__ import annotations

import inspect
import json
import random
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import reported
from world import Workbench

import sqlmicro
from sqlmicro import api
from sqlmicro.publish.report import Preview
from sqlmicro.reports.done import LookingJob, ReleasingJob, ReleasingJobs
from sqlmicro.reports.rendering import RENDER
from sqlmicro.system.reporting import as_json

jsonschema = pytest.importorskip("jsonschema", reason="pip install 'sqlmicro[test]', which has jsonschema")
RECORDS = 60
JOB = """
seed = "s"
db = "{db}"

[[table]]
name = "records"
rest = "drop"
gate = [{{quasi = ["age", "pay"], min_k = 3}}]
step = [{{do = "mdav", columns = ["age", "pay"]}}, {{do = "publish", into = "first"}}]

[[table]]
name = "records"
rest = "drop"
keep = ["sex"]
step = [{{do = "individual-ranking", columns = ["age"]}}, {{do = "publish", into = "second"}}]
"""
LOOKING = """
db = "{db}"
table = "records"
step = [{{do = "profile"}}, {{do = "audit", quasi = ["age", "sex"], min_k = 2}}]
"""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = sqlmicro.schema(report=True)
    jsonschema.Draft202012Validator.check_schema(found)
    return found


def validate(schema: dict[str, Any], report: Any) -> None:
    """Hold a report, as `--json` prints it, to the schema of its own class and to the whole."""
    told = json.loads(json.dumps(as_json(report), default=str))
    own = {"$ref": f"#/$defs/{type(report).__name__}", "$defs": schema["$defs"]}
    assert [str(error.message)[:300] for error in jsonschema.Draft202012Validator(own).iter_errors(told)] == []
    assert jsonschema.Draft202012Validator(schema).is_valid(told)
    assert not jsonschema.Draft202012Validator(own).is_valid({**told, "nobody knows this": 1})
    assert not jsonschema.Draft202012Validator(own).is_valid({})


@pytest.fixture
def db(workbench: Workbench, tmp_path: Path) -> str:
    rng = random.Random(5)
    return workbench.make({
        "id": ("INTEGER", list(range(RECORDS))),
        "age": ("INTEGER", [rng.randrange(18, 70) for _ in range(RECORDS)]),
        "pay": ("DOUBLE", [rng.random() for _ in range(RECORDS)]),
        "sex": ("VARCHAR", [rng.choice("mf") for _ in range(RECORDS)]),
    })  # fmt: skip


@pytest.mark.slow
def test_reports_of_releases(schema: dict[str, Any], db: str) -> None:
    used: dict[str, Any] = {"db": db, "rest": "drop", "seed": "s"}
    validate(schema, reported("mdav", "records", columns=["age", "pay"], into="grouped", **used))
    validate(schema, reported("mdav", "records", columns=["age"], dry_run=True, diff=True, show_sql=True, **used))
    validate(schema, reported("shuffle", "records", columns=["pay"], into="masked", **used))
    cluster = {"method": "cluster", "algorithm": ["mdav", "kmeans++(clusters=5)"], "keep_candidates": True,
               "alone_because": "a test"}  # fmt: skip
    safe = reported("safe", "records", columns=["sex", "age"], into="safe", **cluster, **used)
    assert len(safe.candidates) > 1
    assert safe.candidates[0].kept
    validate(schema, safe)
    validate(schema, reported("report", release="safe", db=db, sample=20))
    used["alone_because"] = "a test"
    in_place = reported("mdav", "records", columns=["age", "pay"], in_place=True, widen=True, **used)
    assert in_place.purging.purged
    validate(schema, in_place)
    validate(schema, reported("purge", db=db))


@pytest.mark.slow
def test_the_schema_is_the_same_before_and_after_an_audit(schema: dict[str, Any]) -> None:
    """A process of its own has loaded no audit: what each of them tells is in the schema all the same."""
    told = subprocess.run([sys.executable, "-m", "sqlmicro", "schema", "--report"], capture_output=True, check=True)
    assert json.loads(told.stdout) == json.loads(json.dumps(schema))


@pytest.mark.slow
def test_reports_of_jobs(schema: dict[str, Any], db: str, tmp_path: Path) -> None:
    for text in (JOB, LOOKING):
        file = tmp_path / "job.toml"
        file.write_text(text.format(db=db))
        validate(schema, reported("run", str(file)))
        validate(schema, reported("explain", str(file)))


@pytest.mark.slow
def test_reports_of_what_is_measured(schema: dict[str, Any], db: str) -> None:
    kept: dict[str, Any] = {"keep": ["id", "sex"], "accept_unique": ["id"]}
    sqlmicro.mdav("records", db=db, columns=["age", "pay"], into="out", seed="s", **kept)
    shared = {"db": db, "original": "records", "match": ["id"]}
    asked = {"quasi": ["age", "pay"], "sensitive": ["sex"], "min_k": 3, "regress": "pay ~ age", "suda_size": 2}
    audit = reported("audit", "out", show_values=True, sampling_fraction=0.1, **asked, **shared)
    assert len({row.check for row in audit.audits}) > 15
    validate(schema, audit)
    attack = reported("attack", release=["out", "out"], sensitive=["sex"], **shared)
    assert len(attack.attacks) > 5
    validate(schema, attack)
    found = reported("compare", "records", db=db, columns=["age", "pay"], methods=["mdav", "suppress"], max_risk=1.0)
    validate(schema, found)
    validate(schema, reported("report", release="out", db=db, match=["id"], sample=20, sensitive=["sex"]))
    validate(schema, reported("report", release="out", db=db, match=["id"], sample=0, markdown=True))
    validate(schema, reported("residue", "out", db=db, original="records"))
    validate(schema, reported("residue", "out", db=db))
    validate(schema, reported("safe-distance", "records", "out", db=db))


@pytest.mark.slow
def test_reports_of_the_rest(schema: dict[str, Any], db: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,a\n2,b\n")
    validate(schema, reported("register", files=[str(tmp_path / "a.csv")], table="a", db=db))
    for found in (
        reported("profile", "records", db=db), reported("methods"), reported("methods", "noise"),
        reported("macros", print=True), reported("init", "records", db=db),
    ):  # fmt: skip
        validate(schema, found)


def test_every_command_returns_a_dataclass_with_words() -> None:
    for name, verb in api.verbs().items():
        kinds = verb.returns
        for kind in getattr(kinds, "__args__", [kinds]):
            assert is_dataclass(kind), name
            assert kind.__doc__ and not kind.__doc__.startswith(kind.__name__), kind
            assert fields(kind)


def test_every_report_has_a_text_of_its_own() -> None:
    """What writes a report is found by the name of its class, which must stand for one class only."""
    kinds = {
        kind
        for verb in api.verbs().values()
        for kind in getattr(verb.returns, "__args__", [verb.returns])
        if kind not in (ReleasingJob, ReleasingJobs, LookingJob)
    } | {Preview}
    assert {kind.__name__ for kind in kinds} == set(RENDER) and len(kinds) == len(RENDER)
    for kind in kinds:
        write = RENDER[kind.__name__]()
        assert next(iter(inspect.signature(write).parameters.values())).annotation == kind.__name__, kind
