"""One job file runs, byte by byte the same, wherever its table is, and the releases are held to the same audits.

On Spark it is in `spark/test_anywhere.py`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywhere
import command
import duckdb
import pytest
from test_postgres import NEEDS, Server
from test_postgres import server as postgres  # noqa: F401
from test_stores import lake, server  # noqa: F401

import sqlmicro
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.jobs import file
from sqlmicro.system.iceberg import Iceberg
from sqlmicro.system.lake_moves import LakeMove
from sqlmicro.system.progress import Progress

SELECT = f"SELECT {', '.join(anywhere.COLUMNS)} FROM "


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return anywhere.copied(tmp_path, monkeypatch)


@pytest.mark.slow
@NEEDS[0]
@NEEDS[1]
def test_one_job_file_on_duckdb_postgres_objects_delta_and_iceberg(
    job: Path, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    deltalake = pytest.importorskip("deltalake", reason="needs: pip install 'sqlmicro[lakes]'")
    pytest.importorskip("pyiceberg", reason="needs: pip install 'sqlmicro[lakes]'")
    crm: Server = request.getfixturevalue("postgres")
    objects = request.getfixturevalue("lake")
    parquet, content = f"{tmp_path}/tables/visits.parquet", job.read_bytes()
    before = duckdb.sql(f"SELECT visit_id, patient_id, {', '.join(anywhere.QUASI)} FROM '{parquet}'").fetchall()

    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        connection.execute(f"CREATE TABLE visits AS FROM '{parquet}'")
    crm.sql("DROP TABLE IF EXISTS visits CASCADE; CREATE TABLE visits (visit_id bigint, patient_id bigint, name text, "
            "sex text, decade int, region int, diagnosis text, cost int)")  # fmt: skip
    csv = crm.folder / "visits.csv"
    duckdb.execute(f"COPY (FROM '{parquet}') TO '{csv}' (HEADER false)")
    csv.chmod(0o644)
    crm.sql(f"COPY visits FROM '{csv}' WITH (FORMAT csv)")
    objects.put(parquet, "lake/tables/visits.parquet")
    deltalake.write_deltalake(str(tmp_path / "delta" / "visits"), duckdb.sql(f"FROM '{parquet}'").to_arrow_table())

    (tmp_path / "iceberg").mkdir()
    LakeMove(Iceberg(str(tmp_path / "iceberg" / "visits"), "here"), Path(parquet), None).put()

    places: dict[str, dict[str, Any]] = {
        "duckdb": {"db": str(tmp_path / "w.duckdb")},
        "postgres": {"attach": ["crm=postgres:dbname=postgres"], "location": "crm.public"},
        "objects": {"location": "s3://lake/tables"},
        "delta": {"location": f"delta:{tmp_path}/delta"},
        "iceberg": {"location": f"iceberg:{tmp_path}/iceberg"},
        "folder": {"location": f"{tmp_path}/tables/"},
    }
    reports = {}
    for name, place in places.items():  # each on a machine of its own: two releases of the same people tell more
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / f"settings of {name}"))
        reports[name] = sqlmicro.run(str(job), **place)
    assert job.read_bytes() == content == anywhere.JOB.read_bytes()

    objects.get("lake/tables/visits_release.parquet", f"{tmp_path}/object.parquet")
    files = deltalake.DeltaTable(str(tmp_path / "delta" / "visits_release")).file_uris()
    with duckdb.connect(str(tmp_path / "w.duckdb")) as connection:
        released: dict[str, list[Any]] = {"duckdb": connection.sql(SELECT + "visits_release").fetchall()}
    released["postgres"] = [
        (row[0], row[1], int(row[2]), int(row[3]), row[4])
        for row in (line.split("|") for line in crm.sql(SELECT + "visits_release"))
    ]
    for name, path in (
        ("objects", f"'{tmp_path}/object.parquet'"),
        ("delta", f"read_parquet({files})"),
        ("iceberg", f"'{tmp_path}/iceberg/visits_release/data/*.parquet'"),
        ("folder", f"'{tmp_path}/tables/visits_release.parquet'"),
    ):
        released[name] = duckdb.sql(SELECT + path).fetchall()
    first = reports["duckdb"]
    for name, report in reports.items():
        assert anywhere.told(report) == anywhere.told(first), name
        assert anywhere.promised(report) == anywhere.promised(first), name
        anywhere.hold(released[name], before, anywhere.KEY)

    audited = {
        "duckdb": ("visits_release", places["duckdb"]),
        "postgres": ("crm.public.visits_release", {"attach": places["postgres"]["attach"]}),
        "objects": ("s3://lake/tables/visits_release.parquet", {}),
        "delta": (f"delta:{tmp_path}/delta/visits_release", {}),
        "iceberg": (f"iceberg:{tmp_path}/iceberg/visits_release", {}),
    }
    for name, (table, given) in audited.items():
        found = sqlmicro.audit(table, quasi=anywhere.QUASI, min_k=3, max_prosecutor=0.34, **given)
        assert found["passed"], name


def jobs(path: Path, **given: Any) -> Any:
    return file.read(str(path), given, Progress(enabled=False))[0]


def test_where_the_tables_are_is_said_beside_the_job(job: Path) -> None:
    def places(**given: Any) -> tuple[str, str | None, str | None]:
        made = jobs(job, **given)
        return made.options.table, made.publish.into, made.publish.to

    assert places() == ("visits", "visits_release", None)
    assert places(location="raw") == ("raw.visits", "raw.visits_release", None)
    assert places(location="crm.public", release_location="out/") == (
        "crm.public.visits", None, "out/visits_release.parquet",
    )  # fmt: skip
    assert places(release_location="delta:s3://out") == ("visits", None, "delta:s3://out/visits_release")
    text = job.read_text(encoding="utf-8")
    job.write_text('location = "tables"\nrelease_location = "out/"\n' + text, encoding="utf-8")
    assert places()[0] == "tables.visits"  # a schema; a folder has a slash
    assert places()[2] == f"{job.parent}/out/visits_release.parquet"  # from the folder of the file
    assert places(location="in/")[0] == "in/visits.parquet"  # the command line's own is taken as it is
    job.write_text(text.replace('into = "visits_release"\n', ""), encoding="utf-8")
    assert places(location="in/")[2] == "in/visits_anonymized.parquet"
    job.write_text(text.replace('into = "visits_release"', 'to = "there.csv"'), encoding="utf-8")
    assert places(location="raw") == ("raw.visits", None, f"{job.parent}/there.csv")


@pytest.mark.parametrize("name", ["main.visits", "a/visits.parquet", "../visits", "s3://lake/visits", "*", ".hidden"])
def test_a_table_at_a_location_has_a_plain_name(job: Path, name: str) -> None:
    job.write_text(job.read_text(encoding="utf-8").replace('table = "visits"', f'table = "{name}"'), encoding="utf-8")
    with pytest.raises((ParameterError, JobError), match=r"is named without|no sign of a path"):
        jobs(job, location="tables/")


def test_a_location_has_no_secret_and_is_one(job: Path) -> None:
    for wrong, why in (("s3://user:sesame@lake/in", "secret|password|user"), ("a.b.c", "catalog.schema")):
        with pytest.raises((ParameterError, JobError, InputError), match=why) as refused:
            jobs(job, location=wrong)
        assert "sesame" not in str(refused.value)


@pytest.mark.slow
def test_on_the_command_line(job: Path, tmp_path: Path) -> None:
    """Quoted names, several tables, a folder that is not there, and a machine that has the variable set."""
    duckdb.execute(
        f'COPY (SELECT i AS "net""income", i % 5 AS a FROM range(60) t(i)) TO \'{tmp_path}/tables/a b.parquet\''
    )
    (tmp_path / "two.toml").write_text(
        """rows_are_persons = true
[[table]]
name = '"a b"'
drop = ['net"income']
[[table.step]]
do = "mdav"
columns = ["a"]
k = 3
[[table.step]]
do = "publish"
[[table]]
name = "visits"
person = ["patient_id"]
drop = ["name", "visit_id", "cost", "sex", "diagnosis", "region"]
rows_are_persons = false
[[table.step]]
do = "mdav"
columns = ["decade"]
k = 3
[[table.step]]
do = "publish"
into = "decades"
""".replace("rows_are_persons = true\n[[table]]", "[[table]]\nrows_are_persons = true", 1),
        encoding="utf-8",
    )
    done = command.run("run", "two.toml", "--location", "tables/", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "a b.parquet", "a b_anonymized.parquet", "decades.parquet", "visits.parquet",
    ]  # fmt: skip
    done = command.run("run", "two.toml", "--location", "nowhere/", cwd=tmp_path)
    assert done.returncode == 2 and "nowhere/a b.parquet" in done.stderr
