"""What PostgreSQL says of a table that is to be changed in place: what forbids it, and how it can be done.

What forbids the change, or would lose or leak something, is refused before any work. Looked at are the table and all
partitions and heirs below it, since a statement on the table reaches them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, NoReturn

from sqlmicro.database.mirror import Mirror
from sqlmicro.database.postgres import array, quoted
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError

Way = Literal["update", "rejoin", "refill"]
"""How records are replaced: updated by their key; deleted and written anew, with what is kept as it is from the server
by their key; or deleted and written anew as a whole."""
# Whoever may create a function or an operator in a schema of the search path could have it called for one of the
# server's own that takes other types: everything is named with its schema.
_TABLES = """SELECT c.relkind::pg_catalog.text, pg_catalog.row_security_active(c.oid) AS secured,
  EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite r
    WHERE r.ev_class OPERATOR(pg_catalog.=) c.oid AND r.rulename OPERATOR(pg_catalog.<>) '_RETURN') AS rules
FROM pg_catalog.pg_class c WHERE c.oid OPERATOR(pg_catalog.=) ANY ({{ members }})"""
_COLUMNS = """SELECT a.attrelid::pg_catalog.int8, a.attname::pg_catalog.text, a.attnotnull,
  a.attgenerated::pg_catalog.text OPERATOR(pg_catalog.<>) '' AS generated
FROM pg_catalog.pg_attribute a
WHERE a.attrelid OPERATOR(pg_catalog.=) ANY ({{ members }})
  AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped ORDER BY a.attnum"""
_UNIQUE = """SELECT x.indrelid::pg_catalog.int8, x.indexrelid::pg_catalog.regclass::pg_catalog.text,
  x.indisprimary, x.indisunique AND x.indimmediate AND x.indisvalid AS is_key,
  x.indexprs IS NOT NULL OR x.indpred IS NOT NULL AS partial,
  ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid OPERATOR(pg_catalog.=) x.indrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (x.indkey)
    ORDER BY a.attnum) AS names
FROM pg_catalog.pg_index x
WHERE x.indrelid OPERATOR(pg_catalog.=) ANY ({{ members }}) AND (x.indisunique OR x.indisexclusion)"""
_CHILDREN = """SELECT f.conrelid::pg_catalog.regclass::pg_catalog.text,
  ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.pg_attribute a
    WHERE a.attrelid OPERATOR(pg_catalog.=) f.confrelid AND a.attnum OPERATOR(pg_catalog.=) ANY (f.confkey)) AS names
FROM pg_catalog.pg_constraint f
WHERE f.contype OPERATOR(pg_catalog.=) 'f' AND f.confrelid OPERATOR(pg_catalog.=) ANY ({{ members }})"""
_COPIES = """WITH RECURSIVE reads AS (
  SELECT r.relation::pg_catalog.oid FROM pg_catalog.unnest({{ members }}) AS r(relation)
  UNION
  SELECT r.ev_class FROM reads JOIN pg_catalog.pg_depend d ON d.refobjid OPERATOR(pg_catalog.=) reads.relation
    AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
  JOIN pg_catalog.pg_rewrite r ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
    AND r.oid OPERATOR(pg_catalog.=) d.objid)
SELECT c.oid::pg_catalog.regclass::pg_catalog.text
FROM reads JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) reads.relation
WHERE c.relkind OPERATOR(pg_catalog.=) 'm' ORDER BY 1"""
_ABOVE = """WITH RECURSIVE above AS (
  SELECT {{ table | lit }}::pg_catalog.regclass::pg_catalog.oid AS member
  UNION
  SELECT i.inhparent FROM above JOIN pg_catalog.pg_inherits i ON i.inhrelid OPERATOR(pg_catalog.=) above.member)
SELECT n.nspname::pg_catalog.text, c.relname::pg_catalog.text, c.oid::pg_catalog.int8
FROM above JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) above.member
JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
WHERE c.oid OPERATOR(pg_catalog.<>) {{ table | lit }}::pg_catalog.regclass ORDER BY 3"""


class Parts(NamedTuple):
    """The columns of a table by what becomes of them: they get other values, stay as they are, or are emptied."""

    used: Collection[str]
    kept: Collection[str]
    emptied: Collection[str]


@dataclass(frozen=True)
class Plan:
    """How the records of a table are replaced, and what must be known of it."""

    way: Way
    written: tuple[str, ...]
    """The columns that get values."""
    stay: tuple[str, ...]
    """The columns whose values never leave the server."""
    key: tuple[str, ...]
    """The columns that tell records apart, where they are needed."""
    notes: tuple[str, ...]


def plan(mirror: Mirror, relation: Name, parts: Parts) -> Plan:
    """Return how a table is changed in place; refuse one that cannot be.

    Raises
    ------
    InputError
        With the reason.
    """
    server, members = mirror.server, mirror.server.members(relation)
    oids = array(one.oid for one in members)
    own = next(one.oid for one in members if quoted(one.name) == quoted(relation))
    _check_tables(server.ask(_TABLES, members=oids))
    defined = server.ask(_COLUMNS, members=oids)
    generated = _check_columns(defined, own, parts)
    keys = _check_unique(server.ask(_UNIQUE, members=oids), own, parts)
    children = server.ask(_CHILDREN, members=oids)
    referred = {name for _, names in children for name in names}
    if moved := referred & {*parts.used, *parts.emptied}:
        _refuse("a column that other tables refer to must be kept", ", ".join(sorted(moved)))
    columns = [c.name for c in mirror.relations[relation].columns if c.name not in generated]
    lossy = {c.name for c in mirror.relations[relation].columns if c.is_lossy}
    kept = [name for name in columns if name in parts.kept]
    not_null = {name for oid, name, needed, _ in defined if oid == own and needed}
    fit = [key for key in keys if not set(key) & lossy and set(key) <= not_null and set(key) <= set(kept)]
    heirs = len(members) > 1 and all(one.kind == "r" for one in members)
    way: Way = "update" if children or heirs else "rejoin" if lossy & set(kept) else "refill"
    if way != "refill" and not fit:
        _refuse(
            "a table that others refer to, that has heirs, or that keeps a numeric without a precision must have a "
            "primary key, by which its records are found again",
            "none, or only one that is no key of such types",
        )
    key = fit[0] if way != "refill" else ()
    stay = [name for name in kept if name not in key and (way == "update" or name in lossy)]
    notes = [_order(children)] if way == "update" else []
    if copies := server.ask(_COPIES, members=array([*(one.oid for one in members), *above(mirror, relation).values()])):
        notes.append(f"materialized views hold the originals until they are refreshed: {_listed(copies)}")
    if generated:
        notes.append(f"the server computes anew, from what is released: {', '.join(sorted(generated))}")
    return Plan(way, tuple(name for name in columns if name not in stay), tuple(stay), tuple(key), tuple(notes))


def above(mirror: Mirror, relation: Name) -> dict[Name, int]:
    """Return the tables that a table is a partition or heir of, directly or not, with their numbers."""
    rows = mirror.server.ask(_ABOVE, table=quoted(relation))
    return {Name("", schema, table): int(oid) for schema, table, oid in rows}


def _check_tables(rows: Sequence[tuple[Any, ...]]) -> None:
    for kind, secured, rules in rows:
        if kind not in ("r", "p"):
            _refuse("the table and its partitions must be on this server", "a foreign table")
        if secured:
            _refuse("every record must be seen and changed", "a table with row security that holds for this user")
        if rules:
            _refuse("the table must have no rules", "at least one")


def _check_columns(rows: Sequence[tuple[Any, ...]], own: int, parts: Parts) -> set[str]:
    """Refuse columns that cannot become what they are to; return those that the server computes."""
    known = {name for oid, name, _, _ in rows if oid == own}
    unknown = {name for _, name, _, _ in rows} - known
    if unknown:
        _refuse("tables that inherit from it must have no columns of their own", ", ".join(sorted(unknown)))
    generated = {name for _, name, _, computed in rows if computed}
    if changed := generated - set(parts.kept):
        _refuse("a generated column is kept, and computed anew by the server", ", ".join(sorted(changed)))
    if forbidden := {name for _, name, not_null, _ in rows if not_null and name in parts.emptied}:
        _refuse("a dropped column is emptied, which NOT NULL forbids", ", ".join(sorted(forbidden)))
    return generated


def _check_unique(rows: Sequence[tuple[Any, ...]], own: int, parts: Parts) -> list[list[str]]:
    """Refuse what must stay distinct and would not; return the keys of the table, the primary one first."""
    for _, index, _, _, partial, names in rows:
        if partial:
            _refuse("the table must have no unique index on an expression or on some of its records", index)
        if changed := set(names) & set(parts.used):
            _refuse("no column of a PRIMARY KEY, UNIQUE or EXCLUDE can be anonymized", ", ".join(sorted(changed)))
    keys = [(not primary, list(names)) for oid, _, primary, is_key, _, names in rows if oid == own and is_key]
    return [names for _, names in sorted(keys)]


def _order(children: Sequence[tuple[Any, ...]]) -> str:
    why = f"other tables refer to it ({_listed(children)})" if children else "others inherit from it"
    return f"the records were updated, since {why}: their order in the table is that of the originals"


def _listed(rows: Iterable[tuple[Any, ...]]) -> str:
    return ", ".join(sorted({str(row[0]) for row in rows}))


def _refuse(must: str, got: str) -> NoReturn:
    raise InputError("--in-place", must, got, "Use --into NAME, or --keep or --drop the column")
