"""Fuzzing of what comes from outside: names and values in templates, text as a job file, bytes as a CSV file.

Each must work or be refused by an error of sqlmicro. FUZZ=50 makes fifty times as many examples.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlmicro
from sqlmicro.database import templates
from sqlmicro.errors import SqlmicroError
from sqlmicro.jobs import file as job_file
from sqlmicro.system.progress import Progress

from .hostile import FRAGMENTS, quoted

pytestmark = pytest.mark.slow
TIMES = int(os.environ.get("FUZZ", "1"))


def fuzz(examples: int) -> Any:
    calm = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture)
    return settings(
        max_examples=examples * TIMES, deadline=None, database=None, derandomize=TIMES == 1, suppress_health_check=calm
    )


hostile = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), min_size=1, max_size=4).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | hostile | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        opened.execute("SET enable_external_access = false")
        yield opened


@fuzz(600)
@given(name=hostile, value=values)
def test_names_and_values_stay_what_they_are(connection: Any, name: str, value: object) -> None:
    """A name is read back as that name, a text as that text; a statement with them in it is still one."""
    try:
        select = templates.statement("SELECT {{ value | lit }} AS {{ name | ident }}", value=value, name=name)
    except SqlmicroError:
        return
    try:
        select.encode()
    except UnicodeEncodeError:  # half of a pair of surrogates: DuckDB cannot be given it
        return
    assert len(connection.extract_statements(select)) == 1
    try:
        found = connection.execute(select)
    except duckdb.Error as error:  # too large a number, a list of several types
        assert not isinstance(error, duckdb.ParserException), select
        return
    assert found.description[0][0] == name
    ((read,),) = found.fetchall()
    if isinstance(value, str):
        assert read == value


@fuzz(400)
@given(table=hostile.filter(bool), column=hostile)
def test_a_template_reads_the_relation_it_is_given(connection: Any, table: str, column: str) -> None:
    """Whatever table and column are called, the template counts the two classes that are there."""
    try:
        select = templates.render(
            "audit/distinct_values.sql", columns=[column], members=templates.Name("", "main", table)
        )
        select.encode()
    except (SqlmicroError, UnicodeEncodeError):
        return
    if column.lower() == "records":
        return
    connection.execute(f"CREATE OR REPLACE TABLE main.{quoted(table)} ({quoted(column)} INTEGER, records BIGINT)")
    connection.execute(f"INSERT INTO main.{quoted(table)} VALUES (1, 2), (1, 3), (2, 4)")
    assert sorted(connection.execute(select).fetchall()) == [(1, 5, 2), (2, 4, 1)]
    connection.execute(f"DROP TABLE main.{quoted(table)}")


keys = st.sampled_from(
    ["db", "table", "drop", "keep", "seed", "threads", "do", "k", "columns", "quasi", "min_k", "into", "out", "c", "l",
     "measure", "dry_run", "overwrite", "in_place", "nulls", "strata", "weights", "step", "gate", "job", "where"]
)  # fmt: skip
steps = st.sampled_from(
    ["mdav", "safe", "suppress", "generalize", "publish", "audit", "register", "profile", "swap", "x"]
)
scalars = st.one_of(
    st.integers(-3, 9).map(str), st.floats().map(repr), st.sampled_from(["true", "1979-05-27", "07:32:00", "[]", "{}"]),
    st.sampled_from(["persons", "age", "income", "out.csv", "persons_release", "k-anonymity"]).map('"{}"'.format),
    st.text("ab='\\\"\n{}[]é\0", max_size=8).map('"{}"'.format), st.text(max_size=8),
)  # fmt: skip
entries = st.tuples(keys, scalars | st.lists(scalars, max_size=3).map(lambda found: f"[{', '.join(found)}]"))
sections = st.tuples(
    st.sampled_from(
        [
            "[[step]]",
            "[[gate]]",
            "[[table]]",
            "[[table.step]]",
            "[[table.gate]]",
            "[[key]]",
            "[step]",
            "[db]",
            "step = 1",
        ]
    ),
    st.none() | steps,
    st.lists(entries, max_size=3),
)


@st.composite
def job_files(draw: st.DrawFn) -> str:
    """Return text that is nearly a job file."""
    lines = [f"{key} = {value}" for key, value in draw(st.lists(entries, max_size=3))]
    for heading, do, found in draw(st.lists(sections, max_size=4)):
        lines += [heading, *([f'do = "{do}"'] if do else []), *(f"{key} = {value}" for key, value in found)]
    return "\n".join(lines)


@fuzz(600)
@given(text=job_files() | st.text(max_size=40), raw=st.none() | st.binary(max_size=20))
def test_text_as_a_job_file(tmp_path: Path, text: str, raw: bytes | None) -> None:
    """A job file is read, or refused with its own name; what is no TOML is always refused."""
    file = tmp_path / "job.toml"
    content = text.encode(errors="surrogatepass") + (raw or b"")
    file.write_bytes(content)
    try:
        jobs = job_file.read(str(file), {}, Progress(enabled=False))
    except SqlmicroError as error:
        assert error.exit_code == 2
        assert str(file) in str(error)
        return
    assert tomllib.loads(content.decode())
    assert jobs and all(job.steps for job in jobs)


cells = st.sampled_from(
    ["1", "-2.5", "1e400", "nan", "", "NULL", '"', '""', '"a', 'a"', '"a,b"', "é", "\0", "2020-02-30", "0x1", "'", " "]
)  # fmt: skip
rows = st.lists(cells, max_size=4).map(",".join)
almost = st.tuples(st.lists(rows, max_size=6), st.sampled_from(["\n", "\r\n", "\r", "\n\n"])).map(
    lambda found: (found[1].join(found[0])).encode()
)
marks = st.sampled_from([b"", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b", b"PAR1", b"a,b\n", b"a,A\n", b"\xff"])


@fuzz(40)
@given(mark=marks, body=almost | st.binary(max_size=60))
def test_bytes_as_a_csv_file(tmp_path: Path, mark: bytes, body: bytes) -> None:
    """A file is registered, or refused; what is registered can be read again."""
    file, db = tmp_path / "x.csv", tmp_path / "x.duckdb"
    file.write_bytes(mark + body)
    db.unlink(missing_ok=True)
    try:
        sqlmicro.register(str(file), table="x", db=str(db))
    except SqlmicroError:
        return
    with duckdb.connect(str(db), read_only=True) as opened:
        assert opened.execute("SELECT count(*) FROM x").fetchall()


@fuzz(40)
@given(mark=marks, body=almost | st.binary(max_size=60))
def test_bytes_as_a_table_to_be_profiled(tmp_path: Path, mark: bytes, body: bytes) -> None:
    """The same of a file that is read as it stands."""
    file = tmp_path / "x.csv"
    file.write_bytes(mark + body)
    try:
        report = sqlmicro.profile(str(file), threads=1)
    except SqlmicroError as error:
        assert error.exit_code == 2
        return
    assert report
