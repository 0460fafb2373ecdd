"""By which columns of a table its records are known again, where nobody has said it."""

from __future__ import annotations

from sqlmicro.database.column_names import says
from sqlmicro.database.column_roles import Roles
from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Database, Warehouse
from sqlmicro.registry import find
from sqlmicro.system.secrets import Recipe

_CALLED = ("person id", "record id")
_DECLARED = """SELECT c.constraint_type, c.constraint_column_names,
  count(n.column_name) FILTER (WHERE NOT n.is_nullable)
FROM duckdb_constraints() AS c
JOIN duckdb_columns() AS n
  ON (n.database_name, n.schema_name, n.table_name) = (c.database_name, c.schema_name, c.table_name)
  AND list_contains(c.constraint_column_names, n.column_name)
WHERE c.constraint_type IN ('PRIMARY KEY', 'UNIQUE')
  AND c.database_name = {{ r.catalog | lit }} AND c.schema_name = {{ r.schema | lit }}
  AND c.table_name = {{ r.table | lit }}
GROUP BY ALL"""


def known_by(warehouse: Warehouse, source: Source, roles: Roles, recipe: Recipe) -> tuple[Column, ...]:
    """Return the key that the ledger knows the records by, where nobody has named one and k of them is promised.

    Where a step treats records by their risk, it is what these are known by too.
    """
    promised = any(find(task.method).nests or find(task.method).promise == "record" for task in recipe.tasks)
    by_risk = any(find(task.method).told("risks", task.settings) for task in recipe.tasks)
    needed = by_risk or (promised and not roles.person)
    if roles.row_key or not needed or warehouse.database is None:
        return ()
    return own_key(warehouse.database, source)


def own_key(warehouse: Database, source: Source) -> tuple[Column, ...]:
    """Return the columns that the records of a table are known by: a declared key, else the one column called so.

    A column is called so when its name says that it numbers persons or records, and no two records have the same value.
    """
    by_name = {column.name: column for column in source.columns}
    declared = _declared(warehouse, source) if source.is_table else ()
    if declared:
        return tuple(by_name[name] for name in declared) if set(declared) <= set(by_name) else ()
    called = [column for column in source.columns if says(column.name) in _CALLED and _may_be_key(column)]
    unique = [column for column in called if _identifies(warehouse, source, column)]
    return tuple(unique) if len(unique) == 1 else ()


def _may_be_key(column: Column) -> bool:
    return column.family in ("integer", "text") or column.type == "UUID"


def _declared(warehouse: Database, source: Source) -> tuple[str, ...]:
    """Return the primary key, else the unique key that no record lacks; the first by name where there are several."""
    described = warehouse.query("catalog", "DESCRIBE {{ r | ident }}", r=source.relation)
    if not any(key for _, _, _, key, *_ in described):  # the constraints of all tables take ten times as long to list
        return ()
    found = warehouse.query("catalog", _DECLARED, r=source.relation)
    keys = sorted((kind, len(names), tuple(names)) for kind, names, filled in found
                  if kind == "PRIMARY KEY" or filled == len(names))  # fmt: skip
    return keys[0][2] if keys else ()


def _identifies(warehouse: Database, source: Source, column: Column) -> bool:
    ((missing, repeated),) = warehouse.rows("load/row_key_faults.sql", relation=source.relation, columns=[column])
    return not missing and not repeated
