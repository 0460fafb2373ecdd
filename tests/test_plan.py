"""The plan of a job: typed and complete before a record is read, the same for whoever follows or tells it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from world import execute

import sqlmicro
from sqlmicro.database.columns import Column, make_columns
from sqlmicro.errors import JobError, ParameterError, SqlmicroError, demand
from sqlmicro.jobs import file, plan, run
from sqlmicro.jobs.plan import Plan, drafted
from sqlmicro.jobs.steps import Job, one_step
from sqlmicro.options.common import MethodOptions
from sqlmicro.registry import find, methods
from sqlmicro.spark import engine
from sqlmicro.system.progress import Progress

COLUMNS = make_columns([
    ("name", "VARCHAR"), ("age", "INTEGER"), ("sex", "VARCHAR"), ("region", "VARCHAR"), ("income", "DOUBLE"),
    ("weight", "DOUBLE"),
])  # fmt: skip
QUIET = Progress(enabled=False)
TWO_STEPS = """
db = "w.duckdb"
table = "persons"
drop = ["NAME"]
[[step]]
do = "individual-ranking"
columns = ["income"]
k = 5
[[step]]
do = "safe"
by = ["region"]
weights = "weight"
[[gate]]
quasi = ["age", "sex"]
sensitive = ["income"]
min_k = 3
[[step]]
do = "publish"
into = "out"
"""


HEAD = 'db = "w.duckdb"\ntable = "persons"\nrest = "drop"\n'
INTO = '[[step]]\ndo = "publish"\ninto = "out"\n'


def job(folder: Path, text: str = TWO_STEPS) -> Job:
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    (found,) = file.read(str(path), {}, QUIET)
    return found


def names(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns]


@pytest.mark.parametrize(
    ("step", "claimed"),
    [
        ('do = "mdav"\ncolumns = ["age", "income"]\nk = 4', [("age income", "record", 4, {})]),
        ('do = "mdav"\ncolumns = ["age", "income"]\nk = 4\nblock_attributes = "income;age"',
         [("income", "record", 4, {}), ("age", "record", 4, {})]),
        ('do = "suppress"\ncolumns = ["age", "sex", "region"]\nk = 4\nsubsets = 2',
         [("age sex", "record", 4, {}), ("age region", "record", 4, {}), ("sex region", "record", 4, {})]),
        ('do = "suppress"\ncolumns = ["age", "sex"]\nk = 4\nnulls_match = "wildcard"', [("age sex", "masked", 4, {})]),
        ('do = "suppress"\ncolumns = ["age"]\nk = 4\nweight = "weight"\nmax_risk = 0.1',
         [("age", "record", 4, {"max_risk": 0.1})]),
        ('do = "suppress"\ncolumns = ["age"]\nk = 4\nsensitive = ["sex"]\nmin_l = 2',
         [("age", "record", 4, {"min_l": 2})]),
        ('do = "generalize"\ncolumns = ["age"]\nwidth = ["age=5"]', [("age", "masked", 0, {})]),
        ('do = "generalize"\ncolumns = ["age"]\nuntil_k = 4\npopulation = "all"\nmin_k_map = 6',
         [("age", "record", 4, {"min_k_map": 6})]),
        ('do = "mondrian"\ncolumns = ["age"]\nk = 4\npopulation = "all"\nmax_delta = 0.5',
         [("age", "record", 4, {"min_k_map": 1, "max_delta": 0.5})]),
        ('do = "swap"\nkind = "data"\nrate = 0.1\ncolumns = ["age"]\npopulation = "all"\nmin_k_map = 6',
         [("age", "masked", 0, {"min_k_map": 6})]),
        ('do = "pseudonymise"\ncolumns = ["name"]', [("", "masked", 0, {})]),
    ],
)  # fmt: skip
def test_a_plan_knows_what_is_claimed(
    tmp_path: Path, step: str, claimed: list[tuple[str, str, int, dict[str, float]]]
) -> None:
    found = drafted(job(tmp_path, f"{HEAD}[[step]]\n{step}\n{INTO}"), COLUMNS)
    assert [
        (" ".join(names(one.columns)), one.promise, one.terms.k, one.terms.limits) for one in found.claims
    ] == claimed


def test_a_plan_says_everything_before_a_record_is_read(tmp_path: Path) -> None:
    found = drafted(job(tmp_path), COLUMNS)
    ranking, safe = found.steps
    assert (ranking.method.name, ranking.k, ranking.nulls, names(ranking.columns)) == (
        "individual-ranking", 5, "error", ["income"]
    )  # fmt: skip
    # What no step names is taken by the step that takes the rest; weights are apart.
    assert (names(safe.columns), names(safe.by), safe.k, safe.nulls) == (["age", "sex"], ["region"], 3, "pattern")
    assert set(safe.settings) == {parameter.name for parameter in find("safe").own_settings}
    assert [(names(claim.columns), claim.promise, claim.terms.k) for claim in found.claims] == [
        (["income"], "column", 5), (["age", "sex", "region"], "record", 3)
    ]  # fmt: skip
    assert names(found.roles.dropped) == ["name"] and names(found.roles.kept) == ["weight"] and found.known
    assert names(found.worked_on) == ["income", "age", "sex", "region"]
    assert found.accepted == {"weight"}
    assert [gate.options.sensitive for gate in found.gates] == [("income",)]
    assert (found.publish.into, found.publish.in_place, found.options.table) == ("out", False, "persons")


def test_a_plan_can_be_made_of_a_table_nothing_is_known_of(tmp_path: Path) -> None:
    found = drafted(job(tmp_path))
    assert not found.known
    assert [names(step.columns) for step in found.steps] == [["income"], []]
    assert names(found.roles.dropped) == ["NAME"]  # spelled as the job does


def test_a_plan_is_frozen(tmp_path: Path) -> None:
    found = drafted(job(tmp_path), COLUMNS)
    for part in (found, *found.steps, found.job, found.publish, found.options, *found.gates, *found.job.steps):
        field = dataclasses.fields(part)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(part, field, None)


@pytest.mark.parametrize(
    ("old", "new", "error", "words"),
    [
        ('["income"]', '["incom"]', ParameterError, "step 1 .individual-ranking., columns: .*'incom'.*'income'"),
        ('["NAME"]', '["NAME", "age", "age"]', ParameterError, "--drop: .*'age' is named twice"),
        ('["NAME"]', '["NAME", "region"]', ParameterError, "one role only.*region"),
        ('["NAME"]', '["NAME"]\naccept_unique = ["age"]', ParameterError, "--accept-unique: .*age"),
        ('by = ["region"]', 'columns = ["age", "region"]\nby = ["region"]', ParameterError, "a stratum is not"),
        ('do = "safe"', 'do = "pseudonymise"\ncolumns = ["income"]\n#', ParameterError, "a pseudonym is not"),
        ("k = 5", 'k = 5\n[[step]]\ndo = "safe"\ncolumns = ["age"]\nkeep_candidates = true', JobError, "last step"),
    ],
)
def test_what_cannot_be_is_said_by_the_plan(
    tmp_path: Path, old: str, new: str, error: type[SqlmicroError], words: str
) -> None:
    text = TWO_STEPS.replace(old, new, 1)
    if "pseudonymise" in text:
        text = text.replace('by = ["region"]\nweights = "weight"\n', "")
    with pytest.raises(error, match=words):
        drafted(job(tmp_path, text), COLUMNS)


def test_equal_steps_are_told_apart() -> None:
    one = one_step(find("noise"), MethodOptions(table="t", columns=("income",), rest="drop"), QUIET)
    found = drafted(dataclasses.replace(one, steps=3 * one.steps), COLUMNS)
    assert [step.task.repeated for step in found.steps] == [0, 1, 2]


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "w.duckdb")
    execute(
        path,
        """CREATE TABLE persons AS SELECT 'customer ' || i AS name, i % 40 AS age,
            ['f', 'm'][1 + i % 2] AS sex, 'r' || i % 3 AS region, (i * 7919 % 10007)::DOUBLE AS income,
            1.0 AS weight, CASE WHEN i % 9 > 0 THEN i % 4 END AS gaps, i + 100000 AS number FROM range(240) r(i)""",
    )
    return path


def test_a_sample_of_the_values_settles_what_a_step_takes_of_the_rest(tmp_path: Path, db: str) -> None:
    """Nothing is run: direct identifiers leave the step that takes the rest, and nothing else changes."""
    from sqlmicro.database.finding import find_source
    from sqlmicro.database.opening import open_warehouse

    asked = job(tmp_path, TWO_STEPS.replace('drop = ["NAME"]\n', ""))
    with open_warehouse(db, read_only=True) as warehouse:
        source = find_source(warehouse, "persons")
        before = plan.compiled(asked, source)
        after = plan.looked_at(before, warehouse, source)
    assert names(before.left) == ["name", "age", "sex", "gaps", "number"]
    assert "name" in names(before.steps[1].columns)
    assert names(after.roles.identifiers) == names(after.roles.dropped) == ["name", "number"]
    assert names(after.steps[1].columns) == ["age", "sex", "gaps"]
    assert after.steps[0] == before.steps[0]


def test_several_tables_are_planned_before_the_first_is_worked_on(
    tmp_path: Path, db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = '[[table]]\nname = "persons"\nrest = "drop"\n[[table.step]]\ndo = "mdav"\ncolumns = ["COLUMN"]\n'
    ends = [f'[[table.step]]\ndo = "publish"\ninto = "{name}"\n' for name in "ab"]
    path = tmp_path / "job.toml"
    parts = [part.replace("COLUMN", column) + end for column, end in zip(["age", "agee"], ends, strict=True)]
    path.write_text(f'db = "{db}"\n' + "".join(parts), encoding="utf-8")
    monkeypatch.setattr(run.pipeline, "load", lambda *_, **__: pytest.fail("records were read"))
    with pytest.raises(ParameterError, match=r"table 2 \(\w+\), step 1 .*'agee'"):
        sqlmicro.run(str(path))


SETTINGS: dict[str, dict[str, Any]] = {
    "individual-ranking": {"columns": ["income"]},
    "mdav": {"columns": ["age", "gaps"], "nulls": "suppress"},
    "microaggregate": {"columns": ["age", "gaps"], "nulls": "pattern"},
    "safe": {"columns": ["age", "sex", "gaps"], "method": "cluster", "algorithm": ["mdav"]},
    "noise": {"columns": ["income", "gaps"], "amount": 0.5},
    "shuffle": {"columns": ["age"]},
    "mondrian": {"columns": ["age", "sex"]},
    "suppress": {"columns": ["age", "sex", "gaps"]},
    "sample": {"keep": ["sex"], "fraction": 0.5},
}
_MADE = re.compile(r"^CREATE OR REPLACE (?:TEMPORARY )?(?:TABLE|VIEW) (\S+)", re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("method", SETTINGS)
def test_what_is_made_is_what_was_planned(db: str, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Every relation that `--show-sql` prints up to the release is in the plan, and what is certain there is made."""
    plans: list[Plan] = []

    def looked_at(*args: Any) -> Plan:
        plans.append(plan.looked_at(*args))
        return plans[-1]

    monkeypatch.setattr(run, "looked_at", looked_at)
    report = getattr(sqlmicro, method.replace("-", "_"))(
        "persons", db=db, rest="drop", show_sql=True, seed="s", **SETTINGS[method]
    )
    (found,) = plans
    made = [name.rpartition(".")[2].strip('"') for name in _MADE.findall(report["sql"])]
    made = [
        name for name in made if name != "published" and not name.endswith(("_in_own_types", "_words", "_words_left"))
    ]
    made = made[made.index("typed") :]
    certain = [relation.name for relation in found.relations if relation.certain]
    assert [name for name in made if name in certain] == certain
    patterns = [re.escape(relation.name).replace(r"\*", ".*") for relation in found.relations]
    unplanned = [name for name in made if not any(re.fullmatch(pattern, name) for pattern in patterns)]
    assert not unplanned
    templates = {path.relative_to(sqlmicro_sql()).as_posix() for path in sqlmicro_sql().rglob("*.sql")}
    assert {relation.template for relation in found.relations} <= templates


def sqlmicro_sql() -> Path:
    return Path(__file__).resolve().parents[1] / "sql"


def test_what_spark_cannot_do_is_said_from_the_plan_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def planned(method: str, **given: Any) -> Plan:
        options = MethodOptions(table="a.parquet", columns=("age",), to="release", **given)
        return drafted(one_step(find(method), options, QUIET))

    def refused(method: str, **given: Any) -> str:
        with pytest.raises((JobError, ParameterError)) as caught:
            demand(engine.needs([planned(method, **given)]))
        return str(caught.value)

    not_there = {"secure-k-ward", "apply-recoding", "shift-dates", "fake", "encrypt"}
    assert {name for name, method in methods().items() if not engine.runs(method)} == not_there
    assert "runs methods that it has. Got secure-k-ward" in refused("secure-k-ward")
    assert "Got --db, --into, --threads, --delimiter" in refused("mdav", db="w", into="t", threads=2, delimiter=";")
    assert "groups numeric columns in blocks. Got --ordinal" in refused("mdav", settings={"ordinal": ("age",)})
    demand(engine.needs([planned("mdav")]))
    # What the environment says of all runs asks for nothing by itself; what is said of this one is refused.
    monkeypatch.setenv("SQLMICRO_LEDGER", "ledger.duckdb")
    demand(engine.needs([planned("mdav", ledger="ledger.duckdb")]))
    assert "Got --ledger" in refused("mdav", ledger="other.duckdb")


def test_explain_says_what_stops_a_job_and_what_its_relations_are_called(tmp_path: Path, db: str) -> None:
    path = tmp_path / "job.toml"
    text = TWO_STEPS.replace('["NAME"]', '["NAME", "gaps", "number"]')
    path.write_text(text, encoding="utf-8")
    told = sqlmicro.explain(str(path))["paragraphs"][0]
    assert (
        "In the statements that --show-sql prints, the records are called numbered as they were read, released_1 "
        "after step 1 and released_2 after step 2."
    ) in told
    assert "It will stop" not in told
    path.write_text(text.replace('columns = ["income"]', 'columns = ["incom"]'), encoding="utf-8")
    told = sqlmicro.explain(str(path))["paragraphs"][0]
    assert "It will stop: " in told and "has no column 'incom'" in told and "Step 2 is safe" in told
