"""A session: records of every kind go in and come back, nothing is published that was not asked for, nothing stays."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from databases import opened
from world import execute

import sqlmicro as sm
from sqlmicro.session.frames import as_arrow

HOW = "install it with: pip install sqlmicro[test]"
N = 60
TABLE = pa.table({"age": [i * 7 % 50 for i in range(N)], "income": [float(i * i % 97) for i in range(N)]})
SMALL: dict[str, Any] = {"columns": ["age", "income"], "k": 5, "seed": "a test"}


def databases(connection: duckdb.DuckDBPyConnection) -> list[str]:
    found = connection.execute(
        "SELECT database_name FROM duckdb_databases() WHERE NOT internal ORDER BY ALL"
    ).fetchall()
    return [name for (name,) in found]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE persons AS SELECT * FROM given")
        yield connection


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = str(tmp_path / "w.duckdb")
    with opened(path) as connection:
        connection.register("given", TABLE)
        connection.execute("CREATE TABLE persons AS SELECT * FROM given")
    return path


def test_open_mdav_audit_publish_as_in_the_readme(file: str) -> None:
    with sm.open(file) as w:
        r = w.mdav("persons", columns=["age", "income"], k=5)
        assert "k-anonymity" in r.audit(k=5).table()
        assert r.audit(k=5).passed
        assert r.report["target"] is None
        assert r.publish(into="persons_anon")["release"] == 1
        assert w.audit("persons_anon", quasi=["age", "income"], min_k=5)["release"] == 1
    with duckdb.connect(file, read_only=True) as connection:
        rarest = "SELECT min(n) FROM (SELECT count(*) n FROM persons_anon GROUP BY ALL)"
        assert connection.execute(rarest.replace("count(*) n", "age, income, count(*) n")).fetchone() == (5,)
        assert connection.execute("SELECT target, k FROM sqlmicro.releases").fetchall() == [("persons_anon", 5)]
        assert databases(connection) == ["w"]


def frames(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    pandas = pytest.importorskip("pandas", reason=f"pandas is missing: {HOW}")
    polars = pytest.importorskip("polars", reason=f"polars is missing: {HOW}")
    frame = TABLE.to_pandas()
    frame.index = pandas.Index([f"person {i}" for i in range(N)])
    return {
        "relation": connection.table("persons"), "query": connection.sql("SELECT * FROM persons"), "arrow": TABLE,
        "batch reader": TABLE.to_reader(), "pandas": frame, "polars": polars.from_arrow(TABLE),
        "lazy": polars.from_arrow(TABLE).lazy(),
    }  # fmt: skip


@pytest.mark.slow
def test_every_kind_of_records_gives_the_same_release(connection: duckdb.DuckDBPyConnection) -> None:
    """But for its order: a frame has no name, so it is another source than the table."""
    by = [("income", "ascending"), ("age", "ascending")]
    with sm.open(connection) as w:
        expected = w.mdav("persons", **SMALL).arrow().sort_by(by).to_pydict()
        assert len(set(zip(expected["age"], expected["income"], strict=True))) == N / 5
        for name, records in frames(connection).items():
            with w.mdav(records, **SMALL) as r:
                assert r.arrow().sort_by(by).to_pydict() == expected, name
        assert r.closed


@pytest.mark.slow
def test_the_records_come_back_as_what_is_wanted(connection: duckdb.DuckDBPyConnection) -> None:
    pandas = pytest.importorskip("pandas", reason=f"pandas is missing: {HOW}")
    polars = pytest.importorskip("polars", reason=f"polars is missing: {HOW}")
    r = sm.open(connection).mdav("persons", **SMALL)
    arrow = r.arrow()
    assert arrow.column_names == ["age", "income"]
    assert isinstance(r.df(), pandas.DataFrame)
    assert r.df().to_dict("list") == r.pl().to_dict(as_series=False) == arrow.to_pydict()
    assert isinstance(r.pl(), polars.DataFrame)
    relation = r.relation()
    r.close()
    assert relation.to_arrow_table() == arrow
    with pytest.raises(sm.InputError, match="must be open"):
        r.df()


def test_a_foreign_connection_stays_as_it_was(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TEMP TABLE hidden AS SELECT * FROM persons")
    settings = "SELECT name, value FROM duckdb_settings() ORDER BY name"
    before = connection.execute(settings).fetchall()
    connection.execute("BEGIN")
    connection.execute("DELETE FROM persons WHERE age > 25")
    pending = connection.execute("SELECT * FROM range(5000)")
    with sm.open(connection) as w:
        r = w.mdav("persons", **SMALL)
        assert r.report["rows"] == N  # what is not committed is not seen
        assert w.mdav(connection.cursor().table("persons"), **SMALL).report["rows"] == N
        with pytest.raises(sm.InputError, match="'hidden'"):
            w.mdav("hidden", **SMALL)
        r.publish(into="out")
        assert len(pending.fetchall()) == 5000
    connection.execute("ROLLBACK")
    assert connection.execute(settings).fetchall() == before
    assert databases(connection) == ["memory"]
    assert connection.execute("SELECT count(*) FROM out").fetchone() == (N,)
    assert connection.execute("SELECT getvariable('sqlmicro_order')").fetchone() == (None,)


def test_a_locked_connection_without_files_works(connection: duckdb.DuckDBPyConnection, tmp_path: Path) -> None:
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    with sm.open(connection) as w:
        r = w.mdav("persons", **SMALL)
        r.publish(into="out")
        with pytest.raises(sm.QueryError):
            r.publish(to=str(tmp_path / "out.parquet"))
    assert list(tmp_path.iterdir()) == []


def test_a_python_variable_is_no_table() -> None:
    persons = TABLE  # noqa: F841
    with sm.open() as w, pytest.raises(sm.InputError, match="'persons'"):
        w.mdav("persons", **SMALL)


def test_what_breaks_its_promise_is_never_handed_out(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("INSERT INTO persons SELECT NULL, 5 FROM range(2)")
    with sm.open(connection) as w:
        with pytest.raises(sm.AuditFailed, match="value frequency"):
            w.individual_ranking("persons", columns="age", rest="drop", nulls="keep", k=5)
        assert databases(connection) == ["memory"]


def test_a_release_that_nobody_holds_is_forgotten(connection: duckdb.DuckDBPyConnection) -> None:
    with sm.open(connection) as w:
        r = w.mdav("persons", **SMALL)
        assert databases(connection) == ["memory", "staging"]
        del r
        assert databases(connection) == ["memory"]
        left = w.mdav("persons", **SMALL)
    assert left.closed
    assert databases(connection) == ["memory"]


@pytest.mark.slow
def test_targets_are_those_of_the_command_line(file: str, tmp_path: Path) -> None:
    with sm.open(file) as w:
        r = w.mdav(TABLE, **SMALL)
        for options in ({}, {"in_place": True}):
            with pytest.raises(sm.ParameterError, match="a frame has no name"):
                r.publish(**options)
        parquet = tmp_path / "out.parquet"
        assert r.publish(to=str(parquet), manifest=str(tmp_path / "m.json"))["file_hash"]
        with pytest.raises(sm.InputError, match="must not exist yet"):
            r.publish(to=str(parquet))
        assert r.publish(to=str(parquet), overwrite=True)["release"] == 2
        assert w.mdav("persons", **SMALL).publish()["target"] == "persons_anonymized"


def test_of_a_database_to_be_read_the_records_can_be_taken(file: str, tmp_path: Path) -> None:
    with duckdb.connect(file, read_only=True) as connection, sm.open(connection) as w:
        r = w.mdav("persons", **SMALL)
        assert r.arrow().num_rows == N
        with pytest.raises(sm.InputError, match="must be writable"):
            r.publish(to=str(tmp_path / "out.parquet"))


@pytest.mark.slow
def test_candidates_are_published_with_the_release(file: str) -> None:
    with sm.open(file) as w:
        w.safe("persons", k=3, method="cluster", keep_candidates=True, seed="a test").publish(into="out")
        assert w.profile("out_candidate_1")["rows"] == N
        assert w.report("out")["passed"]


@pytest.mark.slow
def test_in_place_the_file_is_rewritten(file: str) -> None:
    execute(file, "CREATE TABLE words AS SELECT 'zebra' || i AS word, i % 3 AS n FROM range(30) r(i)")
    w = sm.open(file)
    r = w.constant("words", columns="word", value="x", keep="n")
    other = w.mdav("persons", **SMALL)
    with pytest.raises(sm.InputError, match="no other release may be open"):
        r.publish(in_place=True)
    other.close()
    report = r.publish(in_place=True)
    assert report["purged"]
    assert r.closed
    assert w.connection.execute("SELECT DISTINCT word FROM words").fetchall() == [("x",)]
    w.close()
    assert b"zebra29" not in Path(file).read_bytes()


def test_in_place_of_a_foreign_connection_says_how(file: str) -> None:
    with duckdb.connect(file) as connection, sm.open(connection) as w:
        r = w.mdav("persons", **SMALL)
        with pytest.raises(sm.InputError, match=r"sqlmicro\.purge"):
            r.publish(in_place=True)
        assert "stay readable" in r.publish(in_place=True, no_purge=True, widen=True)["warning"]
        assert connection.execute("SELECT min(n) FROM (SELECT count(*) n FROM persons GROUP BY age, income)"
                                  ).fetchone() == (5,)  # fmt: skip


@pytest.mark.slow
def test_other_verbs_take_frames_too(connection: duckdb.DuckDBPyConnection) -> None:
    with sm.open(connection) as w:
        r = w.mdav("persons", **SMALL)
        released = r.arrow()
        audit = w.audit(released, quasi=["age", "income"], min_k=5)
        assert audit.passed and audit["table"] == "pyarrow Table"
        assert not w.audit(TABLE, quasi="age", min_k=5).passed
        linked = w.attack(original=TABLE, release=[released], attack="linkage")
        assert "linkage" in linked.table()
        assert w.profile(TABLE)["rows"] == N
        assert w.safe_distance(TABLE, "persons")["distance"] == 0
        assert databases(connection) == ["memory", "staging"]


def test_errors_name_kinds_and_quote_nothing(connection: duckdb.DuckDBPyConnection) -> None:
    pandas = pytest.importorskip("pandas", reason=f"pandas is missing: {HOW}")
    with sm.open() as w:
        for wrong in (5, ["persons"], {"a": [1]}):
            with pytest.raises(sm.ParameterError, match="must be the name of a table"):
                w.mdav(wrong, **SMALL)  # type: ignore[arg-type]
        mixed = pandas.DataFrame({"age": [1, "secret"]})
        with pytest.raises(sm.InputError) as caught:
            w.mdav(mixed, **SMALL)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None
        broken = connection.sql("SELECT CAST('secret' || age AS INTEGER) AS age FROM persons")
        with pytest.raises(sm.InputError) as caught:
            w.mdav(broken, **SMALL)
        assert "secret" not in str(caught.value)
        with pytest.raises(sm.ParameterError, match="same gate"):
            w.mdav(TABLE, **SMALL).audit(k=3, min_k=4)
        with pytest.raises(TypeError, match="db"):
            w.mdav(TABLE, db="x", **SMALL)  # type: ignore[call-arg]
    with pytest.raises(sm.InputError, match="must be open"):
        w.mdav(TABLE, **SMALL)
    closed = duckdb.connect()
    closed.close()
    with pytest.raises(sm.InputError, match="open connection"):
        sm.open(closed)
    with pytest.raises(sm.ParameterError, match="takes a path"):
        sm.open(5)  # type: ignore[arg-type]


def test_a_missing_file_is_made_on_request_only(tmp_path: Path) -> None:
    path = tmp_path / "new.duckdb"
    with pytest.raises(sm.InputError, match="create=True"):
        sm.open(path)
    assert not path.exists()
    with sm.open(path, create=True) as w:
        w.register("examples/persons.csv", table="persons")
        assert w.profile("persons")["rows"] == 1000
    assert path.exists()


def test_a_notebook_sees_figures_and_no_names_as_markup() -> None:
    table = TABLE.rename_columns(["<b>age</b>", "income"])
    with sm.open() as w:
        r = w.mdav(table, columns=["<b>age</b>", "income"], k=5)
        shown = r._repr_mimebundle_()
        assert "Records by class size" in shown["text/html"]
        assert "<b>age</b>" in shown["text/plain"]
        for html in (shown["text/html"], r.audit(k=5)._repr_html_(), w.profile(table)._repr_html_()):
            assert "&lt;b&gt;age" in html
            assert "<b>age" not in html
            assert "<script" not in html


def test_of_a_pandas_frame_the_index_is_no_column() -> None:
    pandas = pytest.importorskip("pandas", reason=f"pandas is missing: {HOW}")
    frame = pandas.DataFrame({"age": [1]}, index=pandas.Index(["Ada"], name="name"))
    assert as_arrow(frame, "here").column_names == ["age"]


def test_the_plain_functions_are_what_they_were(file: str) -> None:
    assert sm.mdav("persons", db=file, **SMALL)["target"] == "persons_anonymized"
    assert "open" not in sm.__all__


def test_attached_databases_are_read_and_published_into(connection: duckdb.DuckDBPyConnection, file: str) -> None:
    with sm.open(connection, attach=f"crm={file}") as w:
        assert databases(connection) == ["crm", "memory"]
        release = w.mdav("crm.main.persons", **SMALL)
        assert release.publish("crm.main.released")["k"] >= 5
        assert w.audit("crm.main.released", quasi=["age", "income"], min_k=5).passed
        with pytest.raises(sm.InputError, match=r"Did you mean 'crm\.main\.persons'"):
            w.mdav("crm.main.person", **SMALL)
        assert databases(connection) == ["crm", "memory", "staging"]
    assert databases(connection) == ["memory"]
    with opened(file) as other:
        assert other.execute("SELECT count(*) FROM released").fetchall() == [(N,)]


@pytest.mark.slow
def test_attached_databases_outlive_the_rewriting_of_the_own_one(file: str, tmp_path: Path) -> None:
    crm = str(tmp_path / "crm.duckdb")
    duckdb.connect(crm).execute("CREATE TABLE t AS SELECT 1 AS x").close()
    with sm.open(file, attach=[f"crm={crm}"]) as w:
        assert w.mdav("persons", **SMALL).publish(in_place=True)["purged"]
        assert w.profile("crm.main.t").report["rows"] == 1
    with sm.open(file, attach=[f"crm={crm}"], read_only=True) as w:
        assert w.connection.execute("SELECT database_name FROM duckdb_databases() WHERE readonly").fetchall() == [
            ("crm",), ("w",)
        ]  # fmt: skip


def test_what_cannot_be_attached_leaves_the_connection_as_it_was(
    connection: duckdb.DuckDBPyConnection, file: str
) -> None:
    for texts, told in (
        ([f"crm={file}", "old=nowhere.duckdb"], "there must be a file"),
        ([f"crm={file}", f"CRM={file}"], "must be free"),
        (["crm=postgres:host=db password=sesame"], "PGPASSWORD"),
        (["crm"], "NAME=URL"),
    ):
        with pytest.raises(sm.SqlmicroError, match=told) as caught:
            sm.open(connection, attach=texts)
        assert caught.value.exit_code == 2 and "sesame" not in str(caught.value)
        assert databases(connection) == ["memory"]
    with pytest.raises(sm.ParameterError, match="attach"):
        sm.open(connection, attach=5)  # type: ignore[arg-type]
    with pytest.raises(sm.InputError, match="there must be a file") as caught:
        sm.open(file, attach="old=nowhere.duckdb")
    duckdb.connect(file, read_only=True).close()  # not in use any more, though the error still refers to the session


def test_a_population_may_be_a_frame_where_it_is_a_table(connection: duckdb.DuckDBPyConnection) -> None:
    """That of a search is a number. What is read is called as the table is."""
    everybody = pa.concat_tables([TABLE, TABLE])
    given = {"columns": ["age", "income"], "rest": "drop", "seed": "a test"}
    with sm.open(connection) as w:
        release = w.swap("persons", kind="data", rate=0.2, min_k_map=2, population=everybody, **given)
        assert {row["check"]: row["value"] for row in release.report["audits"]}["k-map"] == 2
        assert release.report["source"] == "persons"
        few = {"population": 4, "survivors": 2, "generations": 1}
        assert w.kanonymeans_star("persons", k=5, **few, **given).arrow().num_rows == N
