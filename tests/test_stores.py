"""Object storage: read, released to, audited and attacked on a real S3 server on this machine."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import command
import duckdb
import pytest
from looping import each

import sqlmicro
from sqlmicro.database.finding import beside
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import AuditFailed, InputError, ParameterError, SqlmicroError
from sqlmicro.jobs import file
from sqlmicro.system import stores
from sqlmicro.system.object_moves import FolderMove, NotTakenBack, ObjectMove
from sqlmicro.system.progress import Progress
from sqlmicro.system.stores import INCOMPLETE, Store

KEY, SECRET = "AKIACANARY", "sesame-canary"
RECORDS = """SELECT i AS id, (i * 37) % 41 AS age, (i * i) % 997 + 0.25 AS income,
  CASE i % 3 WHEN 0 THEN 'Bonn' WHEN 1 THEN 'Köln/Süd' ELSE NULL END AS "net ""city", 2020 + i % 2 AS year
FROM range(60) t(i)"""
OPTIONS: dict[str, Any] = {"columns": ["age", "income"], "keep": ['net "city', "year"], "rest": "drop", "k": 3}
SMALLER: dict[str, Any] = {"columns": ["age", "income"], "rest": "drop", "k": 3}


SERVER = """
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server
application = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
print(server.port, flush=True)
server.serve_forever()
"""
"""A server that has its port before it says which it is."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Start a server of S3 on this machine, which is a process of its own, and return its address."""
    pytest.importorskip("moto", reason="needs: pip install 'moto[server]'")
    pytest.importorskip("s3fs", reason="needs: pip install 'sqlmicro[store]'")
    words = [sys.executable, "-c", SERVER]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout
        port = running.stdout.readline().strip()
        assert port.isdigit(), "the server has ended"
        yield f"http://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()


def check_keys(server: str, requests: bytes) -> None:
    """Have the server look at keys after so many requests."""
    headers = {"Content-Type": "text/plain"}
    urllib.request.urlopen(urllib.request.Request(f"{server}/moto-api/reset-auth", requests, headers)).close()


@pytest.fixture
def lake(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the file system of an empty server with the bucket `lake`, which has the records as Parquet and CSV."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    import s3fs

    files = s3fs.S3FileSystem(skip_instance_cache=True, use_listings_cache=False)
    for bucket in files.ls(""):
        files.rm(bucket, recursive=True)
    files.mkdir("lake")
    files.pipe_file("lake/in/persons.parquet", parquet(RECORDS))
    files.pipe_file("lake/in/persons.csv", parquet(RECORDS, "csv"))
    return files


def parquet(select: str, kind: str = "parquet") -> bytes:
    path = Path(os.environ["XDG_CONFIG_HOME"]).with_suffix(f".{kind}")
    duckdb.connect().execute(f"COPY ({select}) TO '{path}'")
    return path.read_bytes()


def content(lake: Any, name: str, tmp_path: Path) -> list[tuple[Any, ...]]:
    """Return the records of a Parquet object, as DuckDB alone reads its copy."""
    lake.get_file(name, str(tmp_path / "copy.parquet"))
    return duckdb.connect().execute(f"FROM '{tmp_path / 'copy.parquet'}'").fetchall()


def smallest(rows: list[tuple[Any, ...]]) -> int:
    """Return the size of the smallest class of the first two columns."""
    return min(Counter(row[:2] for row in rows).values())


def entries() -> list[tuple[str, str]]:
    """Return target and state of the releases in the ledger of the user."""
    path = Path(os.environ["XDG_CONFIG_HOME"]) / "sqlmicro" / "ledger.duckdb"
    if not path.exists():
        return []
    return [(one["target"], one["state"]) for one in sqlmicro.ledger(db=str(path))["releases"]]


# URLs


SIGNED = [
    "s3://key:sesame@lake/p.parquet", "s3://sesame@lake/p.parquet", "https://host/p.csv?sig=sesame",
    "s3://lake/p.parquet?X-Amz-Credential=AKIA/2026/us&X-Amz-Signature=sesame", "https://host/p.csv?sesame",
    "https://host/p.csv#sesame", "gs://lake/p.csv?access_token=sesame", "az://lake/p.csv?sv=1&sig=sesame",
    "s3://lake/p.csv?s3_secret_access_key=sesame", "delta:s3://lake/t?s3_secret_access_key=sesame",
    "HTTPS://host/p.csv?sesame",
]  # fmt: skip


def test_a_url_with_a_secret_is_refused() -> None:
    for url in SIGNED:
        with pytest.raises(ParameterError, match="no user, password or query") as caught:
            stores.refuse_secret(url, "here")
        assert "sesame" not in str(caught.value)


@pytest.mark.slow_but("s3://lake/p.parquet?X-Amz-Credential=AKIA/2026/us&X-Amz-Signature=sesame")
@pytest.mark.parametrize("url", SIGNED)
def test_a_url_with_a_secret_is_refused_wherever_it_is_given(url: str) -> None:
    for words in (
        ["profile", "--table", url],
        ["audit", "--table", url, "--quasi", "age", "--min-k", "3"],
        ["mdav", "--table", "p.csv", "--columns", "a", "--to", url],
        ["attack", "--original", url, "--release", "p.csv"],
        ["attack", "--original", "p.csv", "--release", url],
        ["register", url, "--db", "w.duckdb", "--table", "p"],
        ["report", "--release", url, "--to", "r.html"],
        ["certify", url, "--to", "c.json", "--unsigned"],
    ):
        done = command.run(*words)
        assert done.returncode == 2, (words, done)
        assert "sesame" not in done.stdout + done.stderr, words
        assert "no user, password or query" in done.stderr.replace("\n", " "), (words, done.stderr)


def test_a_name_has_no_password_and_a_pattern_is_no_query() -> None:
    for url in ("s3://lake/part-?.parquet", "s3://lake/year=2020/a@b:c.parquet", "https://host:8080/p.csv",
                "s3://lake/q?/year=*/p.parquet"):  # fmt: skip
        assert stores.check(url, "here") == url.partition(":")[0]


@each("url", ["s3://lake/../p.csv", "s3://lake/./p.csv", "s3://lake//p.csv", "s3://lake", "ftp://lake/p.csv",
              "S3://lake/p"])  # fmt: skip
def test_a_url_that_programs_read_differently_names_nothing(url: str) -> None:
    with pytest.raises(ParameterError):
        stores.check(url, "here")


def test_nothing_is_written_over_https() -> None:
    done = command.run("mdav", "--table", Path(__file__).parents[1] / "examples" / "persons.csv", "--columns", "age",
                       "--rest", "drop", "--k", "3", "--to", "https://host/p.csv")  # fmt: skip
    assert done.returncode == 2 and "s3://, gs://, az://" in done.stderr.replace("\n", " ")


def test_a_job_file_leaves_urls_as_they_are(tmp_path: Path) -> None:
    assert beside(Path("/jobs"), "s3://lake/in/*.parquet") == "s3://lake/in/*.parquet"
    assert beside(Path("/jobs"), "delta:s3://lake/t") == "delta:s3://lake/t"
    (tmp_path / "job.toml").write_text(
        'table = "s3://lake/in/p.parquet"\n[[step]]\ndo = "mdav"\ncolumns = ["age"]\n'
        '[[step]]\ndo = "publish"\nto = "s3://lake/out/r.parquet"\n'
    )
    (job,) = file.read(str(tmp_path / "job.toml"), {}, Progress(enabled=False))
    assert (job.options.table, job.publish.to) == ("s3://lake/in/p.parquet", "s3://lake/out/r.parquet")


# The whole way


@pytest.mark.slow
def test_a_release_on_s3_is_what_a_release_in_a_file_is(lake: Any, tmp_path: Path) -> None:
    local = str(tmp_path / "persons.parquet")
    lake.get_file("lake/in/persons.parquet", local)
    sqlmicro.mdav(local, to=str(tmp_path / "release.parquet"), **OPTIONS)
    report = sqlmicro.mdav("s3://lake/in/persons.parquet", to="s3://lake/out/release.parquet", **OPTIONS)
    assert lake.cat_file("lake/out/release.parquet") == (tmp_path / "release.parquet").read_bytes()
    rows = content(lake, "lake/out/release.parquet", tmp_path)
    assert len(rows) == 60 and smallest(rows) == report["k"] == 3
    audited = sqlmicro.audit("s3://lake/out/release.parquet", quasi=["age", "income"], min_k=3)
    assert audited["audits"][0]["value"] == 3
    failed = command.run("audit", "--table", "s3://lake/in/persons.csv", "--quasi", "age,income", "--min-k", "3")
    assert failed.returncode == 1
    assert lake.find("lake") == ["lake/in/persons.csv", "lake/in/persons.parquet", "lake/out/release.parquet"]


@pytest.mark.slow
def test_an_object_is_replaced_only_when_that_is_asked_for(lake: Any, tmp_path: Path) -> None:
    sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://lake/out/r.parquet", **SMALLER)
    first = lake.cat_file("lake/out/r.parquet")
    with pytest.raises(InputError, match="must not exist yet"):
        sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://lake/out/r.parquet", **SMALLER | {"k": 5})
    assert lake.cat_file("lake/out/r.parquet") == first
    given = SMALLER | {"k": 5, "overwrite": True}
    report = sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://lake/out/r.parquet", **given)
    assert any("earlier version" in note for note in report["notes"])
    assert smallest(content(lake, "lake/out/r.parquet", tmp_path)) == 5
    assert lake.ls("lake/out") == ["lake/out/r.parquet"]
    with pytest.raises(InputError, match="own source"):
        sqlmicro.mdav("s3://lake/in/*.parquet", to="s3://lake/in/persons.parquet", overwrite=True, **SMALLER)


@pytest.mark.slow
def test_a_release_on_s3_is_out_until_it_is_withdrawn(lake: Any) -> None:
    given = SMALLER | {"row_key": ["id"]}
    sqlmicro.mdav("s3://lake/in/persons.parquet", to="s3://lake/out/all.parquet", **given)
    fewer = parquet(f"SELECT * FROM ({RECORDS}) WHERE id <> 7")
    lake.pipe_file("lake/in/persons-2.parquet", fewer)
    lake.rm_file("lake/out/all.parquet")  # whoever has read it has it
    with pytest.raises(AuditFailed, match="persons"):
        sqlmicro.mdav("s3://lake/in/persons-2.parquet", to="s3://lake/out/fewer.parquet", **given)
    assert not lake.exists("lake/out/fewer.parquet")
    assert entries() == [("s3://lake/out/all.parquet", "out")]
    ledger = Path(os.environ["XDG_CONFIG_HOME"]) / "sqlmicro" / "ledger.duckdb"
    sqlmicro.ledger(db=str(ledger), action="withdraw", release=1, reason="nobody has read it")
    sqlmicro.mdav("s3://lake/in/persons-2.parquet", to="s3://lake/out/fewer.parquet", **given)
    assert entries() == [("s3://lake/out/all.parquet", "withdrawn"), ("s3://lake/out/fewer.parquet", "out")]


@pytest.mark.slow
def test_a_delta_table_in_a_store_is_written_and_read(lake: Any, tmp_path: Path) -> None:
    pytest.importorskip("deltalake", reason="needs: pip install 'sqlmicro[lakes]'")
    for k in (3, 5):
        sqlmicro.mdav("s3://lake/in/persons.csv", to="delta:s3://lake/table", overwrite=k == 5, **SMALLER | {"k": k})
        (name,) = lake.glob("lake/table/*.parquet")
        assert smallest(content(lake, name, tmp_path)) == k
        audited = sqlmicro.audit("delta:s3://lake/table", quasi=["age", "income"], min_k=3)
        assert audited["audits"][0]["value"] == k
    assert entries() == [("delta:s3://lake/table", "out")] * 2


@pytest.mark.slow
def test_patterns_and_partitions(lake: Any, tmp_path: Path) -> None:
    to, given = "s3://lake/parts/", OPTIONS | {"keep": ['net "city']}
    report = sqlmicro.mdav("s3://lake/in/persons.parquet", to=to, partition_by=["year", "age"], by=["year"], **given)
    names = lake.find("lake/parts")
    assert len(names) > 6 and all("/year=202" in name and "/age=" in name for name in names)
    back = sqlmicro.audit("s3://lake/parts/*/*/*.parquet", quasi=["age", "income", "year"], min_k=3)
    assert back["audits"][0]["value"] >= 3 and report["rows"] == 60
    lake.get("lake/parts", str(tmp_path / "parts"), recursive=True)
    select = f"SELECT count(*), count(DISTINCT year) FROM '{tmp_path}/parts/**/*.parquet'"
    assert duckdb.connect().execute(select).fetchall() == [(60, 2)]
    with pytest.raises(InputError, match="must not exist yet"):
        sqlmicro.mdav("s3://lake/in/persons.parquet", to=to, partition_by=["year"], overwrite=True, **OPTIONS)


@pytest.mark.slow
def test_what_else_reads_a_release(lake: Any, tmp_path: Path) -> None:
    source, release = "s3://lake/in/persons.parquet", "s3://lake/out/r.csv"
    db = str(tmp_path / "w.duckdb")
    sqlmicro.register([source], db=db, table="persons")
    sqlmicro.mdav("persons", db=db, to=release, **OPTIONS)
    assert sqlmicro.attack(original=source, release=[release])
    sqlmicro.report(release=release, db=db, to=str(tmp_path / "r.html"))
    told = sqlmicro.certify(release, db=db, to=str(tmp_path / "c.json"), unsigned=True)["certificate"]
    assert told["release"]["name"] == "r.csv" and told["release"]["rows"] == 60
    lake.get_file("lake/out/r.csv", str(tmp_path / "r.csv"))
    checked = subprocess.run(
        [sys.executable, "-m", "sqlmicro.verify", tmp_path / "r.csv", tmp_path / "c.json", "--any-signer"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert checked.returncode == 0 and "k-anonymity is 3" in checked.stdout
    lake.pipe_file("lake/out/r.csv", lake.cat_file("lake/out/r.csv") + b"1,2,3,4\n")
    with pytest.raises(InputError, match="as it was published"):
        sqlmicro.certify(release, db=db, to=str(tmp_path / "d.json"), unsigned=True)


@pytest.mark.slow
def test_python_publishes_to_a_store_and_leaves_a_connection_as_it_was(lake: Any, tmp_path: Path) -> None:
    with sqlmicro.open(str(tmp_path / "w.duckdb"), create=True) as session:
        made = session.mdav("s3://lake/in/persons.csv", **SMALLER)
        made.publish(to="s3://lake/out/r.parquet")
    assert smallest(content(lake, "lake/out/r.parquet", tmp_path)) == 3
    connection = duckdb.connect()
    with sqlmicro.open(connection) as session:
        session.mdav("s3://lake/in/persons.csv", **SMALLER).publish(to="s3://lake/out/other.parquet")
    assert "s3" not in connection.list_filesystems()


# Only what is named


@pytest.mark.slow
def test_nothing_but_the_named_objects_is_within_reach(lake: Any) -> None:
    lake.pipe_file("lake/in/other.parquet", parquet("SELECT 'canary' AS c"))
    with open_warehouse(None) as warehouse:
        source = warehouse.source("s3://lake/in/persons.parquet")
        reached = warehouse.objects["s3"]
        warehouse.seal()
        assert warehouse.count(source.relation) == 60
        for url in ("s3://lake/in/other.parquet", "s3://lake/in/*.parquet", "s3://lake/in/persons.csv"):
            with pytest.raises(SqlmicroError):
                warehouse.query("reach", "SELECT * FROM read_parquet({{ url | lit }})", url=url)
            assert reached.glob(url) == [] and not reached.exists(url)
            with pytest.raises(FileNotFoundError):
                reached.open(url)
        with pytest.raises(PermissionError):
            reached.open("s3://lake/in/persons.parquet", "wb")


@pytest.mark.slow
@each("name", ["a'b\"c.parquet", "a b%20+&.parquet", "[x].parquet", "ü*.parquet", "x;DROP TABLE y--.parquet"])
def test_a_hostile_name_is_a_name(lake: Any, tmp_path: Path, name: str) -> None:
    lake.pipe_file(f"lake/odd/{name}", parquet(RECORDS))
    sqlmicro.mdav(f"s3://lake/odd/{name}", to=f"s3://lake/made/{name}", **SMALLER)
    assert smallest(content(lake, f"lake/made/{name}", tmp_path)) == 3
    lake.rm("lake/odd", recursive=True)


@pytest.mark.slow
def test_an_object_whose_name_programs_read_differently_is_refused(lake: Any) -> None:
    lake.pipe_file("lake/odd/../in/persons.parquet", parquet("SELECT 'canary' AS age, 1 AS income"))
    with pytest.raises(ParameterError, match="programs read differently"):
        sqlmicro.audit("s3://lake/odd/**/*.parquet", quasi=["age"], min_k=3)


@pytest.mark.slow
def test_a_listing_is_made_once(lake: Any) -> None:
    lake.pipe_file("lake/many/1.parquet", parquet(RECORDS))
    with open_warehouse(None) as warehouse:
        source = warehouse.source("s3://lake/many/*.parquet")
        warehouse.seal()
        lake.pipe_file("lake/many/2.parquet", parquet(RECORDS))
        assert warehouse.count(source.relation) == 60


@pytest.mark.slow
def test_an_object_that_changes_while_it_is_read_stops_the_run(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Store.found

    def changed(store: Store, pattern: str) -> Any:
        told = found(store, pattern)
        lake.pipe_file("lake/in/persons.parquet", parquet(f"{RECORDS} LIMIT 59"))
        return told

    monkeypatch.setattr(Store, "found", changed)
    with pytest.raises(InputError, match="must stay as it is while it is read"):
        sqlmicro.mdav("s3://lake/in/persons.parquet", to="s3://lake/out/r.parquet", **SMALLER)
    assert not lake.exists("lake/out/r.parquet") and entries() == []


# Secrets


@pytest.mark.slow
def test_a_wrong_key_is_told_without_any_key(lake: Any, server: str, tmp_path: Path) -> None:
    sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://lake/out/r.parquet",
                  manifest=str(tmp_path / "m.json"), db=str(tmp_path / "w.duckdb"), **SMALLER)  # fmt: skip
    check_keys(server, b"0")
    try:
        for words in (
            ["audit", "--table", "s3://lake/in/persons.csv", "--quasi", "age", "--min-k", "3"],
            ["audit", "--table", "s3://lake/in/*.csv", "--quasi", "age", "--min-k", "3"],
            ["mdav", "--table", tmp_path / "w.csv", "--columns", "age", "--to", "s3://lake/out/x.parquet"],
        ):
            (tmp_path / "w.csv").write_text("age\n1\n1\n1\n")
            done = command.run(*words)
            assert done.returncode == 2 and "these credentials" in done.stderr.replace("\n", " "), done.stderr
            assert KEY not in done.stderr + done.stdout and SECRET not in done.stderr + done.stdout
    finally:
        check_keys(server, b"inf")
    kept = [path for path in (*tmp_path.rglob("*"), *Path(os.environ["XDG_CONFIG_HOME"]).rglob("*")) if path.is_file()]
    assert len(kept) >= 3
    for path in kept:
        assert KEY.encode() not in path.read_bytes() and SECRET.encode() not in path.read_bytes(), path


@pytest.mark.slow
def test_a_store_that_does_not_answer_is_said(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(InputError, match="Got no answer") as caught:
        sqlmicro.audit("s3://lake/in/persons.csv", quasi=["age"], min_k=3)
    assert caught.value.__context__ is None and caught.value.__cause__ is None


# Crashes, and others


def upload(monkeypatch: pytest.MonkeyPatch, before: Any) -> None:
    """Have something happen just before an object is put in its place."""
    put = Store.put

    def called(store: Store, file: Path, url: str, *, new: bool) -> None:
        before(url)
        put(store, file, url, new=new)

    monkeypatch.setattr(Store, "put", called)


@pytest.mark.slow
def test_of_two_runs_at_once_one_publishes(lake: Any, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sqlmicro", "mdav", "--table", "s3://lake/in/persons.csv", "--columns", "age,income",
             "--rest", "drop", "--to", "s3://lake/out/r.parquet"]  # fmt: skip
    runs = [subprocess.Popen([*words, "--k", str(k)], stderr=subprocess.PIPE, text=True) for k in (3, 4, 5)]
    told = [run.communicate()[1] for run in runs]
    won = [k for k, run in zip((3, 4, 5), runs, strict=True) if run.returncode == 0]
    assert len(won) == 1, told
    assert smallest(content(lake, "lake/out/r.parquet", tmp_path)) == won[0]
    assert entries() == [("s3://lake/out/r.parquet", "out")]
    assert lake.ls("lake/out") == ["lake/out/r.parquet"]


@pytest.mark.slow
def test_what_somebody_else_has_put_there_stays(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    upload(monkeypatch, lambda url: lake.pipe_file("lake/out/r.parquet", b"of somebody else"))
    with pytest.raises(InputError, match="somebody has put there meanwhile"):
        sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://lake/out/r.parquet", **SMALLER)
    assert lake.cat_file("lake/out/r.parquet") == b"of somebody else"
    assert entries() == []


@pytest.mark.slow
def test_a_bucket_that_vanishes_has_no_release(lake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no such bucket"):
        sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://nowhere/r.parquet", **SMALLER)
    lake.mkdir("gone")
    upload(monkeypatch, lambda url: lake.rmdir("gone"))
    db = str(tmp_path / "w.duckdb")
    sqlmicro.register(["s3://lake/in/persons.csv"], db=db, table="persons")
    for given in ({}, {"db": db}):
        with pytest.raises(InputError, match="no such bucket"):
            sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://gone/r.parquet", **given, **SMALLER)
        lake.mkdir("gone")
    assert entries() == [] and sqlmicro.ledger(db=db)["releases"] == []


@pytest.mark.slow
def test_several_objects_are_all_there_or_none(lake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.pipe_file("lake/out/a.parquet", b"the old one")

    def job(*words: str) -> Any:
        path = tmp_path / "job.toml"
        tables = "".join(
            f'[[table]]\nname = "s3://lake/in/persons.{kind}"\nrest = "drop"\n[[table.step]]\ndo = "mdav"\n'
            f'columns = ["age", "income"]\nk = 3\n[[table.step]]\ndo = "publish"\nto = "s3://lake/out/{name}.parquet"\n'
            "overwrite = true\n"
            for kind, name in (("csv", "a"), ("parquet", "b"))
        )
        path.write_text(tables)
        return command.run("run", path, *words)

    def fail(url: str) -> None:
        if url.endswith("b.parquet"):
            raise InputError("--to", "the network is there", "none")

    with monkeypatch.context() as patched:
        upload(patched, fail)
        done = job()
    assert done.returncode == 2 and "the network is there" in done.stderr, done.stderr
    assert lake.find("lake/out") == ["lake/out/a.parquet"] and lake.cat_file("lake/out/a.parquet") == b"the old one"
    assert entries() == []
    assert job().returncode == 0
    assert lake.find("lake/out") == ["lake/out/a.parquet", "lake/out/b.parquet"]


@pytest.mark.slow
def test_what_may_be_there_counts_as_out(lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store takes the object, and then answers no more: nobody knows whether it is there."""
    digest = Store.digest

    def silent(store: Store, url: str) -> str | None:
        raise InputError("--to", f"{url!r} must be within reach", "no answer")

    monkeypatch.setattr(Store, "digest", silent)
    with pytest.raises(NotTakenBack, match="may stay"):
        sqlmicro.mdav("s3://lake/in/persons.csv", to="s3://lake/out/r.parquet", **SMALLER)
    assert digest(Store("s3://lake/out/r.parquet", ""), "s3://lake/out/r.parquet")
    assert entries() == [("s3://lake/out/r.parquet", "out")]


def killed(words: str) -> subprocess.CompletedProcess[str]:
    """Run a program that kills itself, and return how it ended."""
    return subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, timeout=120)


_IN_AN_UPLOAD = """
import os, signal, s3fs, s3fs.core, sqlmicro
call = s3fs.S3FileSystem._call_s3
s3fs.core.calculate_chunksize = lambda *given, **named: 5 << 20
async def killing(self, method, *given, **named):
    if method == "complete_multipart_upload":
        os.kill(os.getpid(), 9)
    return await call(self, method, *given, **named)
s3fs.S3FileSystem._call_s3 = killing
sqlmicro.noise("s3://lake/in/wide.parquet", to="s3://lake/out/r.parquet", columns=["a", "b", "c"], rest="drop",
               amount=0.1)
"""


@pytest.mark.slow
def test_a_kill_in_the_middle_of_an_upload_shows_nothing(lake: Any) -> None:
    wide = "SELECT i AS id, " + ", ".join(f"hash(i, '{c}') / 1e9 AS {c}" for c in "abc")
    lake.pipe_file("lake/in/wide.parquet", parquet(f"{wide} FROM range(600000) t(i)"))
    done = killed(_IN_AN_UPLOAD)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert lake.find("lake/out") == []
    lake.invalidate_cache()
    assert len(lake.call_s3("list_multipart_uploads", Bucket="lake").get("Uploads", [])) == 1  # read by nobody


_IN_A_FOLDER = """
import os, sqlmicro
from sqlmicro.system.stores import Store
put = Store.put
def killing(self, file, url, *, new):
    put(self, file, url, new=new)
    os.kill(os.getpid(), 9)
Store.put = killing
sqlmicro.mdav("s3://lake/in/persons.parquet", to="s3://lake/out", partition_by=["year"], columns=["age", "income"],
              keep=["year"], rest="drop", k=3)
"""


@pytest.mark.slow
def test_a_folder_that_is_not_whole_is_marked_and_not_read(lake: Any) -> None:
    done = killed(_IN_A_FOLDER)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert lake.find("lake/out") == [f"lake/out/{INCOMPLETE}", "lake/out/year=2020/data_0.parquet"]
    assert len(json.loads(lake.cat_file(f"lake/out/{INCOMPLETE}"))["objects"]) == 2
    with pytest.raises(InputError, match="complete"):
        sqlmicro.audit("s3://lake/out/*/*.parquet", quasi=["age", "income"], min_k=3)
    with pytest.raises(InputError, match="must not exist yet"):
        sqlmicro.mdav("s3://lake/in/persons.parquet", to="s3://lake/out", partition_by=["year"], **OPTIONS)
    assert entries() == [("s3://lake/out", "out")]


@pytest.mark.slow
def test_a_folder_is_taken_back_as_a_whole(lake: Any, tmp_path: Path) -> None:
    for part in ("a", "b"):
        (tmp_path / part).mkdir()
        (tmp_path / part / "1.parquet").write_bytes(part.encode())
    lake.pipe_file("lake/out/b/1.parquet", b"of somebody else")
    move = FolderMove(Store("s3://lake/out", "--to", written=True), tmp_path, "s3://lake/out")
    with pytest.raises(InputError):
        move.put()
    assert lake.exists(f"lake/out/{INCOMPLETE}")
    with pytest.raises(InputError, match="somebody has put there"):  # two runs at once
        FolderMove(move.store, tmp_path, "s3://lake/out").put()
    move.take_back()
    assert lake.find("lake/out") == ["lake/out/b/1.parquet"]


@pytest.mark.slow
def test_only_what_a_run_has_put_is_taken_back(lake: Any, tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"new")
    lake.pipe_file("lake/a", b"new")  # the same bytes, of another run
    move = ObjectMove(Store("s3://lake/a", "--to", written=True), tmp_path / "new", "s3://lake/a")
    move.put()
    with pytest.raises(NotTakenBack):
        move.take_back()
    assert lake.cat_file("lake/a") == b"new"


@pytest.mark.slow
def test_an_object_is_read_in_parts(lake: Any) -> None:
    data = os.urandom(3 << 20)
    lake.pipe_file("lake/large", data)
    store = Store("s3://lake/large", "here")
    found = store.stored("s3://lake/large")
    assert found is not None and found.size == len(data)
    with store.open(found) as file:
        file.seek(1 << 20)
        assert file.read(10) == io.BytesIO(data[1 << 20 :]).read(10)
