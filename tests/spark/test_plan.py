"""The methods on Spark give what they give on one machine: by record where a value is keyed by it, else as a whole."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

import sqlmicro
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.spark.warehouse import SparkWarehouse

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
          DATE '1970-01-01' + CAST((i * 11) % 800 AS INTEGER) AS born, CAST((i * 13) % 907 AS INTEGER) AS pay
          FROM range(900) AS t(i))
        TO '{path}' (FORMAT parquet)'''
    )
    return str(path)


def rows(path, columns="*", order="id"):
    return duckdb.execute(f"SELECT {columns} FROM '{path}' ORDER BY {order}").fetchall()


def test_suppression_leaves_the_same_combinations(spark, people, tmp_path):
    given = {"columns": ["sex", "age", "job"], "k": 4, "rest": "drop"}
    ours = sqlmicro.suppress(people, to=str(tmp_path / "alone.parquet"), **given)
    theirs = sqlmicro.suppress(people, to=str(tmp_path / "spark"), engine="spark", **given)
    there, alone = (rows(tmp_path / name, order="ALL") for name in ("spark/*.parquet", "alone.parquet"))
    assert there == alone
    assert min(there.count(row) for row in there) == theirs["k"] == ours["k"] >= 4


SAMPLED = """
engine = "spark"
seed = "{seed}"
[[table]]
name = "{table}"
rows_are_persons = true
keep = ["id"]
accept_unique = ["id"]
drop = ["pay", "job", "age", 'net "income"', "sex", "born", "zip"]
[[table.step]]
do = "sample"
size = 700
[[table.step]]
do = "publish"
to = "{to}"
"""


DRAWN = """
engine = "spark"
seed = "{seed}"
[[table]]
name = "{table}"
rows_are_persons = true
keep = ["id", "zip"]
accept_unique = ["id"]
drop = ["pay"]
[[table.step]]
do = "shuffle"
columns = ["job"]
[[table.step]]
do = "swap"
columns = ["age"]
percent = 5
[[table.step]]
do = "noise"
columns = ['net "income"']
amount = 0.1
[[table.step]]
do = "pram"
columns = ["sex"]
keep_probability = 0.7
[[table.step]]
do = "split-group"
columns = ["born"]
k = 4
shuffle = "column"
[[table.step]]
do = "sample"
size = 700
[[table.step]]
do = "publish"
to = "{to}"
"""


def test_what_is_drawn_is_keyed_by_content_and_seed(spark, people, tmp_path):
    """The seed and the records decide, in whatever order and in how many files they are."""
    other = tmp_path / Path(people).name
    duckdb.execute(f"COPY (FROM '{people}' ORDER BY hash(id)) TO '{other}' (FORMAT parquet)")
    made = []
    for number, (text, source, seed) in enumerate(
        ((DRAWN, people, "s"), (DRAWN, other, "s"), (SAMPLED, people, "s"), (SAMPLED, people, "t"))
    ):
        job = tmp_path / f"{number}.toml"
        job.write_text(text.format(seed=seed, table=source, to=tmp_path / f"{number}"), encoding="utf-8")
        sqlmicro.run(str(job))
        made.append(rows(f"{tmp_path}/{number}/*.parquet"))
    assert made[0] == made[1]
    assert len(made[0]) == len(made[2]) == len(made[3]) == 700
    assert {row[0] for row in made[2]} != {row[0] for row in made[3]}
    before = {row[0]: row for row in rows(people)}
    for j in range(1, 7):  # sex, age, net "income", job, zip, born
        changed = sum(row[j] != before[row[0]][j] for row in made[0])
        assert changed == 0 if j == 5 else changed > 70, j
    assert {row[1] for row in made[0]} == {"f", "m"}
    noise = [row[3] - float(before[row[0]][3]) for row in made[0]]
    spread = 7.25 * (900**2 / 12) ** 0.5
    assert 0.08 * spread < (sum(x * x for x in noise) / 700) ** 0.5 < 0.12 * spread * 10**0.5


@pytest.mark.connect
def test_equal_records_draw_apart(spark, tmp_path):
    """Nothing tells them apart but a number, so that each has noise of its own."""
    table = str(tmp_path / "alike.parquet")
    duckdb.execute(f"COPY (SELECT 1 AS x FROM range(6) UNION ALL SELECT 5) TO '{table}' (FORMAT parquet)")
    given = {"columns": ["x"], "amount": 0.5, "rows_are_persons": True, "seed": "s", "engine": "spark"}
    sqlmicro.noise(table, to=str(tmp_path / "noisy"), decimals=True, **given)
    assert len(set(rows(f"{tmp_path}/noisy/*.parquet", "x", "x"))) == 7


def test_a_copy_of_a_record_does_not_change_what_others_draw(spark, tmp_path):
    """Who adds a copy of a record could else have everybody's noise drawn a second time, and average."""
    table, given = str(tmp_path / "people.parquet"), {"kind": "laplace", "epsilon": 1, "lower": 0, "upper": 60}
    given |= {"columns": ["x"], "keep": ["name"], "accept_unique": ["name"], "rows_are_persons": True, "seed": "s"}
    found = []
    for number, copied in enumerate(("", "UNION ALL SELECT 7, 'n7'")):
        people = f"SELECT range::DOUBLE AS x, 'n' || range AS name FROM range(60) {copied}"
        duckdb.execute(f"COPY ({people}) TO '{table}' (FORMAT parquet)")
        sqlmicro.noise(table, to=str(tmp_path / f"{number}"), engine="spark", **given)
        found.append(rows(f"{tmp_path}/{number}/*.parquet", "name, x", "name"))
    assert [len(one) for one in found] == [60, 61] and set(found[0]) <= set(found[1])


JOB = """
{engine}seed = "s"
[[table]]
name = "{table}"
rows_are_persons = true
[[table.step]]
do = "pseudonymise"
columns = ["id"]
[[table.step]]
do = "generalize"
columns = ["zip", "born"]
prefix = ["zip=2"]
truncate = ["born=quarter"]
[[table.step]]
do = "top-code"
columns = ['net "income"']
quantile = 0.95
[[table.step]]
do = "bottom-code"
columns = ['net "income"']
count = 20
replacement = "mean"
[[table.step]]
do = "single-axis"
columns = ["pay"]
k = 5
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


def test_one_job_file_of_several_steps_with_gates_and_a_manifest(spark, people, tmp_path, monkeypatch):
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", "0123456789abcdef0123456789abcdef")
    manifests = {}
    for engine, to in (("duckdb", "alone.parquet"), ("spark", "spark")):
        job, manifest = tmp_path / f"{engine}.toml", tmp_path / f"{engine}.json"
        line = f'engine = "{engine}"\n'
        job.write_text(JOB.format(engine=line, table=people, to=tmp_path / to, manifest=manifest, least=3))
        sqlmicro.run(str(job))
        manifests[engine] = json.loads(manifest.read_text())
    files = tmp_path / "spark" / "*.parquet", tmp_path / "alone.parquet"
    for columns in ('id, "net ""income""", zip, born, pay', "sex, age, job"):  # by record; as a whole
        there, alone = (rows(path, columns, order="ALL") for path in files)
        assert there == alone
        assert len(set(there)) > 30
    for told in ("method", "parameters", "promise", "k", "k_released", "verdict"):
        assert manifests["spark"][told] == manifests["duckdb"][told], told


SMALL = """
engine = "{engine}"
[[table]]
name = "{table}"
rows_are_persons = true
keep = ["id"]
accept_unique = ["id"]
drop = ["pay", 'net "income"', "job"]
[[table.step]]
do = "partial"
columns = ["zip"]
keep_first = 2
[[table.step]]
do = "constant"
columns = ["sex"]
[[table.step]]
do = "generalize"
columns = ["age", "born"]
width = ["age=10", "age=30"]
truncate = ["born=quarter", "born=year"]
until_k = 4
[[table.gate]]
quasi = ["age", "born"]
min_k = 4
[[table.step]]
do = "publish"
to = "{to}"
"""


REFUSED = """
engine = "spark"
[[table]]
name = "{table}"
rows_are_persons = true
keep = ["age", "born"]
accept_unique = ["born"]
drop = ["id", "pay", 'net "income"', "job", "zip"]
[[table.step]]
do = "constant"
columns = ["sex"]
[[table.gate]]
quasi = ["age", "born"]
min_k = 400
[[table.step]]
do = "publish"
to = "{to}"
"""


def test_levels_until_k_and_a_gate_that_fails(spark, people, tmp_path, capfd):
    def run(text, to, **engine):
        job = tmp_path / "job.toml"
        job.write_text(text.format(table=people, to=tmp_path / to, **engine), encoding="utf-8")
        sqlmicro.run(str(job))

    run(SMALL, "alone.parquet", engine="duckdb")
    run(SMALL, "spark", engine="spark")
    assert rows(tmp_path / "spark" / "*.parquet") == rows(tmp_path / "alone.parquet")
    with pytest.raises(AuditFailed, match="k-anonymity"):
        run(REFUSED, "other")
    assert not (tmp_path / "other").exists()
    # Audits that Spark cannot run are unknown to the gate; PySpark would print the statement, and values it failed at.
    assert "SQLQueryContextLogger" not in "".join(capfd.readouterr())


def test_what_needs_all_records_in_one_place_is_refused(people, tmp_path):
    given = {"rest": "drop", "engine": "spark", "to": str(tmp_path / "release")}
    with pytest.raises(ParameterError, match="--recoding-to"):
        sqlmicro.top_code(people, columns=["age"], quantile=0.9, recoding_to=str(tmp_path / "a.json"), **given)
    with pytest.raises(ParameterError, match="--min-l"):
        sqlmicro.safe(people, columns=["age"], sensitive=["job"], min_l=2, **given)
    with pytest.raises(InputError, match="never records"):  # before the session is asked anything
        SparkWarehouse(None, None).arrays("load/features.sql")
    assert list(tmp_path.iterdir()) == []
