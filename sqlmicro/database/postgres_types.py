"""What a type of PostgreSQL is in DuckDB, and the other way round.

A type that DuckDB has is read as that; any other is read as the text that the server writes for it, which the server
reads again without loss: arrays, intervals, network addresses, ranges, composite types. A domain is read as the type
under it. Only `numeric` without a precision is read with loss, as DOUBLE, so that it can be calculated with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmicro.database.templates import Sql, ident, lit, sqltype

_HERE = {
    "bool": "BOOLEAN", "int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "float4": "FLOAT", "float8": "DOUBLE",
    "date": "DATE", "time": "TIME", "timestamp": "TIMESTAMP", "timestamptz": "TIMESTAMP WITH TIME ZONE",
    "uuid": "UUID", "bytea": "BLOB", "json": "JSON", "jsonb": "JSON",
}  # fmt: skip
_THERE = {
    "BOOLEAN": "bool", "TINYINT": "int2", "SMALLINT": "int2", "INTEGER": "int4", "BIGINT": "int8", "UTINYINT": "int2",
    "USMALLINT": "int4", "UINTEGER": "int8", "UBIGINT": "numeric(20)", "HUGEINT": "numeric(39)",
    "UHUGEINT": "numeric(39)", "FLOAT": "float4", "DOUBLE": "float8", "VARCHAR": "text", "DATE": "date", "TIME": "time",
    "TIMESTAMP": "timestamp", "TIMESTAMP_S": "timestamp", "TIMESTAMP_MS": "timestamp", "TIMESTAMP_NS": "timestamp",
    "TIMESTAMP WITH TIME ZONE": "timestamptz", "UUID": "uuid", "BLOB": "bytea", "JSON": "json", "INTERVAL": "interval",
}  # fmt: skip
_WITH_ERAS = ("DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_DIGITS = 38


@dataclass(frozen=True)
class ServerType:
    """A type of the server, as pg_type has it; a domain has one under it, an ENUM its labels."""

    name: str
    is_own: bool
    """Whether it is one of the server's own, in pg_catalog."""
    kind: str
    under: int = 0
    modifier: int = -1
    labels: tuple[str, ...] = ()


def here(number: int, modifier: int, types: Mapping[int, ServerType]) -> str:
    """Return the type in DuckDB of a column of a type, by its number, and a modifier."""
    found = types.get(number)
    while found and found.kind == "d":
        modifier = found.modifier if modifier < 0 else modifier
        found = types.get(found.under)
    if found is None:
        return "VARCHAR"
    if found.kind == "e" and found.labels:
        return f"ENUM({', '.join(lit(label) for label in found.labels)})"
    if not found.is_own:
        return "VARCHAR"
    if found.name == "numeric":
        return _decimal(modifier) or "DOUBLE"
    return _HERE.get(found.name, "VARCHAR")


def is_lossy(number: int, modifier: int, types: Mapping[int, ServerType]) -> bool:
    """Tell whether a column is read with loss: a number of any precision."""
    found = types.get(number)
    while found and found.kind == "d":
        modifier = found.modifier if modifier < 0 else modifier
        found = types.get(found.under)
    return bool(found and found.is_own and found.name == "numeric" and not _decimal(modifier))


def _decimal(modifier: int) -> str:
    """Return the DECIMAL of a numeric(p, s), "" where DuckDB has none.

    >>> _decimal(((12 << 16) | 2) + 4), _decimal(-1), _decimal(((40 << 16) | 2) + 4)
    ('DECIMAL(12,2)', '', '')
    """
    precision, scale = (modifier - 4) >> 16 & 0xFFFF, ((modifier - 4) & 0x7FF ^ 0x400) - 0x400
    if modifier < 4 or not 0 <= scale <= precision <= _DIGITS:
        return ""
    return f"DECIMAL({precision},{scale})"


def there(kind: str) -> str:
    """Return the type of the server for one of DuckDB; what is nested becomes JSON.

    >>> there("DECIMAL(12,2)"), there("ENUM('a')"), there("INTEGER[]"), there("HUGEINT")
    ('numeric(12,2)', 'text', 'json', 'numeric(39)')
    """
    decimal = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", kind)
    if decimal:
        return f"numeric({decimal[1]},{decimal[2]})"
    if kind.startswith("ENUM(") and not kind.endswith("]"):
        return "text"
    return _THERE.get(kind, "json" if kind.endswith(("]", ")")) else "text")


def read(column: str, kind: str) -> Sql:
    """Return what makes a value of a type out of the text that the server writes for it.

    >>> print(read("c0", "DATE"))
    CAST(replace("c0", ' BC', ' (BC)') AS DATE)
    """
    text = ident(column)
    if kind == "VARCHAR":
        return text
    if kind == "BLOB":
        return Sql(f"unhex(substr({text}, 3))")
    if kind in _WITH_ERAS:
        text = Sql(f"replace({text}, {lit(' BC')}, {lit(' (BC)')})")
    return Sql(f"CAST({text} AS {sqltype(kind)})")


def written(column: str, kind: str, of: str) -> Sql:
    """Return the text that the server reads for a value: one of type `of` that is to be of type `kind`.

    >>> print(written("a", "DATE", "DATE"))
    replace(CAST("a" AS VARCHAR), ' (BC)', ' BC')
    """
    text = ident(column)
    if of != kind and not (kind.startswith("ENUM(") and of == "VARCHAR"):
        text = Sql(f"CAST({text} AS {sqltype(kind)})")
    if kind == "VARCHAR":
        return text
    if kind == "BLOB":
        return Sql(f"'\\x' || hex({text})")
    if there(kind) == "json" and kind != "JSON":
        return Sql(f"CAST(to_json({text}) AS VARCHAR)")
    text = Sql(f"CAST({text} AS VARCHAR)")
    return Sql(f"replace({text}, {lit(' (BC)')}, {lit(' BC')})") if kind in _WITH_ERAS else text


def listed(columns: Sequence[Sql]) -> Sql:
    """Return expressions as a list of a SELECT, called c0, c1, …"""
    return Sql(",\n  ".join(f"{text} AS c{number}" for number, text in enumerate(columns)))
