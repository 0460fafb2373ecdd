"""What was published, read back without DuckDB or byte by byte, has the classes that the report says."""

from __future__ import annotations

import csv
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import sqlmicro
from sqlmicro.audits import runner

ODD = """CREATE TABLE odd AS SELECT
  i, (i * 7919 % 101)::DOUBLE AS x,
  [NULL, '-0.0'::FLOAT, 0::FLOAT, 'nan'::FLOAT, '-nan'::FLOAT, CAST('01111111110000000000000000000111'::BIT AS FLOAT)]
    [i // 20 % 6 + 1] AS z,
  CASE WHEN i % 2 = 0 THEN 'nan'::DOUBLE ELSE CAST(('0111111111111' || repeat('0', 44) || '0000111')::BIT AS DOUBLE) END
    AS kept,
  ['Bob', 'BOB', 'Caf\u00e9', 'Cafe\u0301'][i // 120 % 4 + 1] AS name
FROM range(480) t(i)"""
COLLATED = "ALTER TABLE odd ALTER name TYPE VARCHAR COLLATE NOCASE"
OPTIONS: dict[str, Any] = {
    "columns": ["x"],
    "by": ["z", "name"],
    "keep": ["kept"],
    "row_key": ["i"],
    "k": 4,
    "seed": "s",
}
CANONICAL = {4: struct.pack("<I", 0x7FC00000), 8: struct.pack("<Q", 0x7FF8000000000000)}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a database: strata with negative zeros, NaN of three kinds, and names that only bytes tell apart."""
    path = str(tmp_path_factory.mktemp("odd") / "odd.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(ODD)
        connection.execute(COLLATED)
    return path


def _bytes(column: pa.ChunkedArray) -> list[bytes | str | None]:
    """Return the values of an Arrow column: numbers as their bytes."""
    array = column.combine_chunks()
    if not pa.types.is_floating(array.type):
        return [value.as_py() for value in array]
    width = array.type.bit_width // 8
    raw = array.buffers()[1].to_pybytes()[array.offset * width :]
    return [raw[i * width : (i + 1) * width] if value.is_valid else None for i, value in enumerate(array)]


def _histogram(columns: list[list[Any]]) -> dict[int, int]:
    return dict(Counter(Counter(zip(*columns, strict=True)).values()))


def test_parquet_is_read_back_byte_by_byte(odd: str, tmp_path: Path) -> None:
    path = str(tmp_path / "release.parquet")
    report = sqlmicro.mdav("odd", db=odd, to=path, **OPTIONS)
    table = pyarrow.parquet.read_table(path)
    found = {name: _bytes(table.column(name)) for name in ("x", "z", "name", "kept")}
    assert table.schema.field("z").type == pa.float32()
    assert report["histogram"] == _histogram([found[name] for name in ("x", "z", "name")])
    # NULL, 0 and NaN are left of z, four names are: no sign of a zero, no payload of NaN.
    assert len(set(found["z"])) == 3
    assert set(found["z"]) == {None, bytes(4), CANONICAL[4]}
    assert set(found["kept"]) == {CANONICAL[8]}
    assert len(set(found["name"])) == 4


def test_a_csv_file_is_read_back_as_text(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    report = sqlmicro.mdav("odd", db=odd, to=str(path), **OPTIONS)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert report["histogram"] == _histogram([[row[name] for row in rows] for name in ("x", "z", "name")])


def test_a_table_is_read_back(odd: str) -> None:
    report = sqlmicro.mdav("odd", db=odd, into="release", overwrite=True, **OPTIONS)
    with duckdb.connect(odd, read_only=True) as connection:
        table = connection.sql("SELECT * FROM release").to_arrow_table()
    found = {name: _bytes(table.column(name)) for name in ("x", "z", "name")}
    assert report["histogram"] == _histogram(list(found.values()))
    audit = sqlmicro.audit("release", db=odd, quasi=["x", "z", "name"], measure="k-anonymity")["audits"][0]
    assert audit["histogram"] == report["histogram"]


@pytest.mark.parametrize("width", [4, 8])
def test_an_audit_sees_every_bit_of_a_number(tmp_path: Path, width: int) -> None:
    """Patterns around zero and NaN, as another program may have written them."""
    whole, payload = (np.uint32, 0x7FC00000) if width == 4 else (np.uint64, 0x7FF8 << 48)
    sign = 1 << (8 * width - 1)
    patterns = np.array([0, sign, 1, payload, payload + 1, payload | sign, payload - 1, (payload + 1) | sign], whole)
    drawn = np.random.default_rng(width).choice(patterns, 60)
    values = drawn.view(np.float32 if width == 4 else np.float64)
    path = str(tmp_path / "other.parquet")
    pyarrow.parquet.write_table(pa.table({"x": pa.array(values), "all": ["a"] * 60}), path)
    expected = dict(Counter(Counter(drawn.tolist()).values()))
    assert sum(expected.values()) == len(patterns)
    for nulls in ("own_value", "wildcard", "exclude"):
        report = sqlmicro.audit(path, quasi=["x", "all"], nulls=nulls, measure="k-anonymity")
        assert report["audits"][0]["histogram"] == expected


def test_single_precision_merges_and_the_audit_sees_it(tmp_path: Path) -> None:
    """0.1 and the next double are one value in single precision: two records, k = 2 there and 1 before."""
    path = str(tmp_path / "single.parquet")
    numbers = [0.1, float(np.nextafter(0.1, 1))]
    for kind, k in ((pa.float64(), 1), (pa.float32(), 2)):
        pyarrow.parquet.write_table(pa.table({"x": pa.array(np.array(numbers, kind.to_pandas_dtype()))}), path)
        assert sqlmicro.audit(path, quasi=["x"], measure="k-anonymity")["audits"][0]["value"] == k


def test_macros_do_not_follow_the_default_collation() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE release AS SELECT unnest(['Bob', 'BOB', 'bob']) AS name")
        connection.execute("SET default_collation = 'NOCASE'")
        assert connection.execute("SELECT count(*) FROM (SELECT name FROM release GROUP BY name)").fetchall() == [(1,)]
        connection.execute(runner.script())
        assert connection.execute("FROM sm_k_anonymity('release', ['name'])").fetchall() == [(1, 3, 3, 3)]


@pytest.mark.slow
def test_the_same_command_twice_is_refused_or_gives_the_same(odd: str, tmp_path: Path) -> None:
    path = tmp_path / "twice.parquet"
    sqlmicro.mdav("odd", db=odd, to=str(path), **OPTIONS)
    first = path.read_bytes()
    with pytest.raises(sqlmicro.InputError, match="must not exist yet"):
        sqlmicro.mdav("odd", db=odd, to=str(path), **OPTIONS)
    assert path.read_bytes() == first
    sqlmicro.mdav("odd", db=odd, to=str(path), overwrite=True, **OPTIONS)
    assert path.read_bytes() == first
