"""The dbt package of examples/dbt in a project of its own: tests that hold, and the same ones where they do not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import sqlmicro

PACKAGE = Path(__file__).resolve().parents[1] / "examples" / "dbt"
HOW = "pip install 'sqlmicro[dbt]', or set SQLMICRO_DBT to a dbt that has dbt-duckdb"
PROFILE = """demo:
  target: dev
  outputs: {dev: {type: duckdb, path: warehouse.duckdb, schema: marts, threads: 1}}
"""
PROJECT = """name: demo
profile: demo
model-paths: [models]
"""
MODELS = {
    "release": "SELECT i % 3 AS age, 'o''clock ' || (i % 2) AS \"place of birth\", i % 4 AS diagnosis "
    "FROM range(24) t(i)",
    "original": "SELECT i % 3 AS age FROM range(24) t(i)",
    "nobody": "SELECT 1 AS age WHERE false",
}
QUASI = 'quasi: [age, "place of birth"]'
# Six classes of four records. Each has two of the four diagnoses, twice: age and place fix i % 6, and so i % 2.
CHECKS = {
    "k_holds": ("release", f"sqlmicro_k_anonymity: {{{QUASI}, k: 4}}"),
    "k_fails": ("release", f"sqlmicro_k_anonymity: {{{QUASI}, k: 5}}"),
    "k_of_nobody_fails": ("nobody", "sqlmicro_k_anonymity: {quasi: [age], k: 1}"),
    "l_holds": ("release", f"sqlmicro_l_diversity: {{{QUASI}, sensitive: diagnosis, l: 2}}"),
    "l_fails": ("release", f"sqlmicro_l_diversity: {{{QUASI}, sensitive: diagnosis, l: 3}}"),
    "entropy_holds": ("release", f"sqlmicro_entropy_l_diversity: {{{QUASI}, sensitive: diagnosis, l: 2}}"),
    "entropy_fails": ("release", f"sqlmicro_entropy_l_diversity: {{{QUASI}, sensitive: diagnosis, l: 2.1}}"),
    # Half of a class has each of two values, a quarter of the whole: 2 * (1/2 - 1/4).
    "t_holds": ("release", f"sqlmicro_t_closeness: {{{QUASI}, sensitive: diagnosis, t: 0.5}}"),
    "t_fails": ("release", f"sqlmicro_t_closeness: {{{QUASI}, sensitive: diagnosis, t: 0.4}}"),
    "risk_holds": ("release", f"sqlmicro_prosecutor_risk: {{{QUASI}, highest: 0.25}}"),
    "risk_fails": ("release", f"sqlmicro_prosecutor_risk: {{{QUASI}, highest: 0.2}}"),
    "distance_holds": ("release", "sqlmicro_safe_distance: {original: ref('original'), columns: [age], distance: 0}"),
}


@pytest.fixture(scope="module")
def dbt() -> str:
    """Return the dbt to run, or skip: its adapter may want another DuckDB than ours."""
    beside = shutil.which("dbt", path=str(Path(sys.executable).parent))
    found = os.environ.get("SQLMICRO_DBT") or beside
    if not found or not Path(found).is_file():
        pytest.skip(HOW)
    return found


def _schema() -> str:
    lines = ["models:"]
    for model in MODELS:
        lines += [f"  - name: {model}", "    data_tests:"]
        for name, (of, check) in CHECKS.items():
            test, _, arguments = check.partition(": ")
            if of == model:
                arguments = arguments[1:-1].replace("ref('original')", "\"{{ ref('original') }}\"")
                lines += [
                    f"      - sqlmicro.{test}:",
                    f"          name: {name}",
                    f"          arguments: {{{arguments}}}",
                ]
        if lines[-1].endswith("data_tests:"):
            lines.pop()
    return "\n".join(lines) + "\n"


def _run(dbt: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DO_NOT_TRACK": "1"}
    return subprocess.run(
        [dbt, "--no-use-colors", *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


def _project(folder: Path, files: dict[str, str]) -> None:
    (folder / "models").mkdir()
    files = {"dbt_project.yml": PROJECT, "profiles.yml": PROFILE, "packages.yml": f"packages:\n  - local: {PACKAGE}\n",
             **files}  # fmt: skip
    for path, text in files.items():
        (folder / path).write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_generic_tests_hold_and_fail_as_worked_by_hand(dbt: str, tmp_path: Path) -> None:
    models = {f"models/{name}.sql": '{{ config(materialized="table") }}\n' + select for name, select in MODELS.items()}
    _project(tmp_path, {**models, "models/schema.yml": _schema()})
    duckdb.connect(str(tmp_path / "warehouse.duckdb")).close()
    sqlmicro.macros(db=str(tmp_path / "warehouse.duckdb"))
    assert _run(dbt, tmp_path, "deps").returncode == 0
    built = _run(dbt, tmp_path, "build")
    assert built.returncode == 1, built.stdout + built.stderr
    results = json.loads((tmp_path / "target" / "run_results.json").read_text(encoding="utf-8"))["results"]
    status = {row["unique_id"].split(".")[2]: row["status"] for row in results if row["unique_id"].startswith("test.")}
    assert status == {name: "pass" if name.endswith("holds") else "fail" for name in CHECKS}, built.stdout


RELEASED = """{{{{ config(materialized="sqlmicro", meta={{"sqlmicro": {{
  "method": "{method}", "columns": ["age"], "k": 4, "rest": "drop", "keep": ["it's \\"ß\\""], {more}}}}}) }}}}
SELECT i % 30 AS age, 'x' AS "it's ""ß\"\"", 'name ' || i AS name FROM range(240) t(i)
"""


@pytest.mark.slow
def test_a_model_is_anonymized_and_audited_before_it_replaces_the_table(dbt: str, tmp_path: Path) -> None:
    """In the second run a column has NULLs that are kept, so that too few share the value: the table stays."""
    holds = RELEASED.format(method="mdav", more="")
    _project(tmp_path, {"models/release.sql": holds})
    assert _run(dbt, tmp_path, "deps").returncode == 0
    built = _run(dbt, tmp_path, "build")
    assert built.returncode == 0, built.stdout + built.stderr
    content = "SELECT age, count(*) AS n FROM marts.release GROUP BY age ORDER BY age"
    there = "SELECT table_name FROM duckdb_tables() UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as con:
        first = con.sql(content).fetchall()
        assert [name for name, *_ in con.sql("DESCRIBE marts.release").fetchall()] == ["age", 'it\'s "ß"']
        assert con.sql("SELECT target, k FROM sqlmicro.releases").fetchall() == [
            ('"warehouse"."marts"."release"', min(n for _, n in first))
        ]
    assert min(n for _, n in first) >= 4
    fails = RELEASED.format(method="individual-ranking", more='"nulls": "keep"')
    fails = fails.replace("i % 30 AS age", "CASE WHEN i > 1 THEN i END AS age")
    (tmp_path / "models" / "release.sql").write_text(fails, encoding="utf-8")
    failed = _run(dbt, tmp_path, "build")
    assert failed.returncode == 1
    assert "AuditFailed" in failed.stdout
    with duckdb.connect(str(tmp_path / "warehouse.duckdb"), read_only=True) as con:
        assert con.sql(content).fetchall() == first
        assert "release__original" not in {name for (name,) in con.sql(there).fetchall()}
    assert b"name 117" not in (tmp_path / "warehouse.duckdb").read_bytes()
