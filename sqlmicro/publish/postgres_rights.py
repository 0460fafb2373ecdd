"""The rights that publishing needs on a PostgreSQL server: those that are missing are named before the work.

What is granted is asked of the server, which decides in the end: roles, owners and superusers are its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.database.postgres import Server
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.publish.targets import SCHEMA

_RECORDS = ("releases", "audits", "memory", "contents")
"""The tables that every release is recorded in."""
_OF_SCHEMA = """SELECT pg_catalog.has_schema_privilege(n.oid, 'USAGE'), pg_catalog.has_schema_privilege(n.oid, 'CREATE')
FROM pg_catalog.pg_namespace n WHERE n.nspname OPERATOR(pg_catalog.=) {{ schema | lit }}"""
_OF_TABLES = """SELECT c.relname::pg_catalog.text, pg_catalog.has_table_privilege(c.oid, 'SELECT'),
  pg_catalog.has_table_privilege(c.oid, 'INSERT'), pg_catalog.has_table_privilege(c.oid, 'UPDATE'),
  pg_catalog.has_table_privilege(c.oid, 'DELETE'), pg_catalog.pg_has_role(c.relowner, 'USAGE')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE n.nspname OPERATOR(pg_catalog.=) {{ schema | lit }}
  AND c.relkind OPERATOR(pg_catalog.=) ANY (ARRAY['r', 'p']::pg_catalog."char"[]) ORDER BY 1"""
_OF_DATABASE = """SELECT pg_catalog.has_database_privilege(d.oid, 'CREATE'),
  pg_catalog.has_database_privilege(d.oid, 'TEMPORARY'), d.datname::pg_catalog.text
FROM pg_catalog.pg_database d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()"""
_RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "ownership")


def of_new_table(server: Server, name: Name) -> list[str]:
    """Return the rights that are missing to make a table, or to make it anew."""
    missing = _of_schema(server, name.schema)
    there = {table: rights for table, *rights in server.ask(_OF_TABLES, schema=name.schema)}
    if name.table in there and not there[name.table][_RIGHTS.index("ownership")]:
        missing.append(f"ownership of {name.schema}.{name.table}")
    return missing + _of_records(server)


def of_table(server: Server, name: Name, needed: Sequence[str], *, temporary: bool) -> list[str]:
    """Return the rights that are missing to change the records of a table, by way of temporary tables or not."""
    there = {table: rights for table, *rights in server.ask(_OF_TABLES, schema=name.schema)}
    missing = [
        f"{right} ON {name.schema}.{name.table}"
        for right, given in zip(_RIGHTS, there.get(name.table, ()), strict=False)
        if right in needed and not given
    ]
    _, may, database = server.ask(_OF_DATABASE)[0]
    missing += [f"TEMPORARY ON DATABASE {database}"] if temporary and not may else []
    return missing + _of_records(server)


def refuse(missing: Sequence[str], where: str, notes: list[str], *, dry: bool) -> None:
    """Refuse to begin without rights; in a dry run they are only noted.

    Raises
    ------
    InputError
        With those that are missing.
    """
    if missing and dry:
        notes.append(f"publishing will need rights on the server: {', '.join(missing)}")
    elif missing:
        must = "publishing and recording a release must be allowed on the server"
        raise InputError(where, must, f"missing rights: {', '.join(missing)}", "Have them granted")


def _of_schema(server: Server, schema: str, *, makes: bool = True) -> list[str]:
    found = server.ask(_OF_SCHEMA, schema=schema)
    if not found:
        return []
    usage, create = found[0]
    needed = (("USAGE", usage), ("CREATE", create or not makes))
    return [f"{right} ON SCHEMA {schema}" for right, given in needed if not given]


def _of_records(server: Server) -> list[str]:
    """Return the rights that are missing to record a release, where others may have recorded some before."""
    if not server.ask(_OF_SCHEMA, schema=SCHEMA):
        create, _, database = server.ask(_OF_DATABASE)[0]
        return [] if create else [f"for schema {SCHEMA}, CREATE ON DATABASE {database}"]
    tables = server.ask(_OF_TABLES, schema=SCHEMA)
    makes = not {*_RECORDS} <= {name for name, *_ in tables}
    missing = _of_schema(server, SCHEMA, makes=makes)
    for name, select, insert, *_ in tables:
        needed = (("SELECT", select), ("INSERT", insert))
        missing += [f"{right} ON {SCHEMA}.{name}" for right, given in needed if not given]
    return missing
