"""The methods on Spark give what they give on one machine: by record where a value is keyed by it, else as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import sqlmicro
from sqlmicro.errors import AuditFailed, InputError, JobError, ParameterError

INCOME = 'net "income"'
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Write 900 records with text, dates, a name to quote, ties, and values that are missing."""
    path = tmp_path_factory.mktemp("data") / "people.parquet"
    duckdb.execute(
        f'''COPY (SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex,
          CAST(18 + (i * i) % 61 AS INTEGER) AS age,
          1000 + 7.25 * ((i * 37) % 900) AS "net ""income""", CASE WHEN i % 90 = 0 THEN NULL
          WHEN i % 7 = 0 THEN 'rare ' || (i % 14) ELSE 'common' END AS job, '1' || (1000 + i % 40) AS zip,
          DATE '1970-01-01' + CAST((i * 11) % 800 AS INTEGER) AS born FROM range(900) AS t(i))
        TO '{path}' (FORMAT parquet)'''
    )
    return str(path)


def rows(path, columns="*", order="id"):
    return duckdb.execute(f"SELECT {columns} FROM '{path}' ORDER BY {order}").fetchall()


def both(method, people, tmp_path, **given):
    """Run a method on both engines; return what was written, and the reports."""
    paths = tmp_path / "alone.parquet", tmp_path / "spark"
    given = {"rest": "drop", "keep": ["id"], "accept_unique": ["id"], "seed": "s", **given}
    reports = [
        getattr(sqlmicro, method)(people, to=str(path), engine=engine, **given)
        for path, engine in zip(paths, ("duckdb", "spark"), strict=True)
    ]
    return f"{paths[0]}", f"{paths[1]}/*.parquet", *reports


BY_RECORD = {
    "top_code": {"columns": ["age", INCOME], "quantile": 0.9},
    "bottom_code": {"columns": ["age"], "count": 20, "replacement": "mean"},
    "generalize": {
        "columns": ["age", "zip", "born"], "width": ["age=10"], "prefix": ["zip=2"], "truncate": ["born=quarter"],
    },
    "partial": {"columns": ["zip"], "keep_first": 2},
    "constant": {"columns": ["sex", "age"]},
    "single_axis": {"columns": ["age", INCOME], "k": 5},
}  # fmt: skip


@pytest.mark.parametrize("method", BY_RECORD)
def test_every_record_has_the_value_that_it_has_on_one_machine(spark, people, tmp_path, method):
    alone, there, ours, theirs = both(method, people, tmp_path, **BY_RECORD[method])
    assert rows(there) == rows(alone)
    assert ours["k"] == theirs["k"]
    assert ours["losses"] == theirs["losses"]


def test_pseudonyms_are_the_same_everywhere(spark, people, tmp_path, monkeypatch):
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "0123456789abcdef0123456789abcdef")
    given = {"columns": ["id"], "keep": ["age"], "accept_unique": []}
    alone, there, *_ = both("pseudonymise", people, tmp_path, **given)
    found = rows(there)
    assert found == rows(alone)
    assert len({name for name, _ in found}) == 900


def test_suppression_leaves_the_same_combinations(spark, people, tmp_path):
    given = {"columns": ["sex", "age", "job"], "k": 4, "nulls": "keep", "keep": [], "accept_unique": []}
    alone, there, ours, theirs = both("suppress", people, tmp_path, **given)
    assert rows(there, order="ALL") == rows(alone, order="ALL")
    (rarest,) = duckdb.execute(f"SELECT min(n) FROM (SELECT count(*) AS n FROM '{there}' GROUP BY ALL)").fetchone()
    assert rarest == theirs["k"] == ours["k"] >= 4


RANDOM = {
    "shuffle": {"columns": ["age", "job"], "nulls": "keep"},
    "swap": {"columns": ["age", INCOME], "percent": 5},
    "noise": {"columns": [INCOME, "age"], "amount": 0.1},
    "pram": {"columns": ["sex", "job"], "keep_probability": 0.7, "nulls": "keep"},
    "sample": {"columns": [], "fraction": 0.5, "keep": ["id", "age"]},
    "split_group": {"columns": [INCOME], "k": 4},
}  # fmt: skip


@pytest.mark.parametrize("method", RANDOM)
def test_what_is_drawn_is_keyed_by_content_and_seed(spark, people, tmp_path, method):
    """The seed and the records decide, in whatever order and in how many files they are."""
    given = {"rest": "drop", "keep": ["id"], "accept_unique": ["id"], "engine": "spark", **RANDOM[method]}
    shuffled = tmp_path / Path(people).name
    duckdb.execute(f"COPY (FROM '{people}' ORDER BY hash(id)) TO '{shuffled}' (FORMAT parquet)")
    made = []
    for number, (source, seed) in enumerate(((people, "s"), (str(shuffled), "s"), (people, "t"))):
        getattr(sqlmicro, method)(source, to=str(tmp_path / f"{number}"), seed=seed, **given)
        made.append(rows(f"{tmp_path}/{number}/*.parquet"))
    assert made[0] == made[1]
    assert method == "split_group" or made[0] != made[2]


JOB = """
{engine}seed = "s"
[[table]]
name = "{table}"
rows_are_persons = true
drop = ["born"]
[[table.step]]
do = "pseudonymise"
columns = ["id"]
[[table.step]]
do = "generalize"
columns = ["zip"]
prefix = ["zip=2"]
[[table.step]]
do = "top-code"
columns = ['net "income"']
quantile = 0.95
[[table.step]]
do = "safe"
columns = ["sex", "age", "job"]
nulls = "keep"
effort = "fast"
k = 3
[[table.gate]]
quasi = ["sex", "age", "job"]
min_k = {least}
[[table.step]]
do = "publish"
to = "{to}"
manifest = "{manifest}"
"""


@pytest.mark.parametrize("least", [3, 400])
def test_one_job_file_of_several_steps_with_gates_and_a_manifest(spark, people, tmp_path, monkeypatch, least):
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "0123456789abcdef0123456789abcdef")
    manifests = {}
    for engine, to in (("duckdb", "alone.parquet"), ("spark", "spark")):
        job, manifest = tmp_path / f"{engine}.toml", tmp_path / f"{engine}.json"
        line = f'engine = "{engine}"\n'
        job.write_text(JOB.format(engine=line, table=people, to=tmp_path / to, manifest=manifest, least=least))
        if least > 3:
            with pytest.raises(AuditFailed, match="k-anonymity"):
                sqlmicro.run(str(job))
            assert not (tmp_path / to).exists() and not manifest.exists()
        else:
            sqlmicro.run(str(job))
            manifests[engine] = json.loads(manifest.read_text())
    if least == 3:
        columns = 'id, sex, age, "net ""income""", job, zip'
        there, alone = (rows(tmp_path / name, columns) for name in ("spark/*.parquet", "alone.parquet"))
        kept = [[(row[0], row[3], row[5]) for row in side] for side in (there, alone)]
        assert kept[0] == kept[1]  # by record
        assert sorted(map(str, (row[1:3] + row[4:5] for row in there))) == sorted(
            map(str, (row[1:3] + row[4:5] for row in alone))
        )
        ours, theirs = manifests["duckdb"], manifests["spark"]
        assert theirs["engine"] == "spark"
        for told in ("method", "parameters", "promise", "k", "k_released", "verdict"):
            assert theirs[told] == ours[told], told


def test_what_needs_all_records_in_one_place_is_refused(spark, people, tmp_path):
    given = {"rest": "drop", "engine": "spark", "to": str(tmp_path / "release"), "nulls": "keep"}
    with pytest.raises(JobError, match="On Spark run individual-ranking"):
        sqlmicro.mondrian(people, columns=["age"], **given)
    with pytest.raises(ParameterError, match="--recoding-to"):
        sqlmicro.top_code(people, columns=["age"], quantile=0.9, recoding_to=str(tmp_path / "a.json"), **given)
    with pytest.raises(InputError, match="never records"):
        sqlmicro.swap(people, columns=["zip"], kind="targeted", risk_columns=["age"], similar=["sex"], **given)
    assert list(tmp_path.iterdir()) == []
