"""Through a Spark Connect server, which is a process of its own: what a session without the JVM's objects can do."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import duckdb
import pytest

pytestmark = pytest.mark.slow

JOB = """
engine = "{engine}"
seed = "s"
[[table]]
name = "{table}"
rows_are_persons = true
[[table.step]]
do = "safe"
columns = ["sex", "age", "land"]
effort = "fast"
k = 3
[[table.step]]
do = "mdav"
columns = ["income"]
k = 5
[[table.step]]
do = "publish"
to = "{to}"
"""


def test_a_job_runs_through_a_connect_server(tmp_path):
    pytest.importorskip("grpc_status", reason="needs Spark Connect: pip install 'sqlmicro[spark]', and Java 17")
    table = tmp_path / "people.parquet"
    duckdb.execute(
        f"""COPY (SELECT CASE WHEN i % 3 = 0 THEN 'f' ELSE 'm' END AS sex, 20 + i % 9 AS age, 'l' || i % 4 AS land,
          1000.5 + (i * 7919) % 800 AS income FROM range(400) AS t(i)) TO '{table}' (FORMAT parquet)"""
    )
    reports = {}
    for engine, to in (("duckdb", "alone.parquet"), ("spark", "release")):
        job = tmp_path / f"{engine}.toml"
        job.write_text(JOB.format(engine=engine, table=table, to=tmp_path / to), encoding="utf-8")
        environment = {**os.environ, "SPARK_REMOTE": "local[1]", "PYSPARK_PYTHON": sys.executable}
        command = [sys.executable, "-m", "sqlmicro", "run", str(job), "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        reports[engine] = json.loads(done.stdout.splitlines()[-1] if engine == "spark" else done.stdout)
    cells = "SELECT sex, age, land, count(*) FROM '{}' GROUP BY ALL ORDER BY ALL"
    there, alone = (
        duckdb.execute(cells.format(tmp_path / path)).fetchall() for path in ("release/*.parquet", "alone.parquet")
    )
    assert there == alone
    (rarest,) = duckdb.execute(
        f"SELECT min(n) FROM (SELECT count(*) AS n FROM '{tmp_path}/release/*.parquet' GROUP BY income)"
    ).fetchone()
    assert rarest >= 5
