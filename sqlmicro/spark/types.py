"""The types of Spark, as DuckDB calls them."""

from __future__ import annotations

import re

_TYPES = {
    "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INTEGER", "bigint": "BIGINT", "float": "FLOAT",
    "double": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN", "date": "DATE", "timestamp_ntz": "TIMESTAMP",
    "timestamp": "TIMESTAMP WITH TIME ZONE", "binary": "BLOB",
}  # fmt: skip


def duckdb_type(spark: str) -> str:
    """Return the name that DuckDB has for a type of Spark's.

    >>> duckdb_type("bigint"), duckdb_type("decimal(10,2)"), duckdb_type("array<int>")
    ('BIGINT', 'DECIMAL(10,2)', 'INTEGER[]')
    """
    found = re.fullmatch(r"array<(.*)>", spark)
    if found:
        return duckdb_type(found[1]) + "[]"
    return _TYPES.get(spark, spark.upper())
