"""The tables of risks: how much at risk every record of a table is. They are as private as the originals.

They stand in the schema of this program, in the database of the originals, where no release goes and no plan looks for
tables. Another table lists them, with what they are of: who releases the originals in place, has them removed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlmicro.database.catalog import find_relation, split_name
from sqlmicro.database.content import content
from sqlmicro.database.source import Source, identity_of
from sqlmicro.database.templates import Name
from sqlmicro.database.unfinished import SCHEMA
from sqlmicro.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sqlmicro.database.warehouse import Database

DEFAULT = "record_risk"
_LIST = "risk_tables"
_TITLE = "risk tables"
_COLUMNS = ("name", "source", "key", "content")
_DEFINITION = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  name VARCHAR, source VARCHAR, key VARCHAR, content VARCHAR)"""
SAID = "Private: the risk of every record of a table. Never to be released or copied to where the originals are not."


@dataclass(frozen=True)
class RiskTable:
    """A table of risks: what it is called, of which table, what its records are known by, and what the table held."""

    name: Name
    source: str
    key: tuple[str, ...]
    """The names of the columns; none where records are numbered."""
    content: str


def place(warehouse: Database, text: str, where: str) -> Name:
    """Return the table of risks that is called so.

    Raises
    ------
    ParameterError
        For a name of another form: tables of risks stand in one place, and are called alike.
    """
    *schema, name = split_name(text)
    if schema not in ([], [SCHEMA]) or not name.isidentifier() or not name.lower().startswith(DEFAULT):
        must = f"is {DEFAULT}, or a name that begins so: the table is private, and stays in the schema {SCHEMA} of the "
        raise ParameterError(where, must + "database of the originals", repr(text))
    return warehouse.full(Name("", SCHEMA, name.lower()))


def known(warehouse: Database, catalog: str = "") -> list[RiskTable]:
    """Return the tables of risks that a database has.

    Raises
    ------
    InputError
        When somebody else's table is where they are listed.
    """
    listing = warehouse.full(Name(catalog, SCHEMA, _LIST))
    if find_relation(warehouse, listing) is None:
        return []
    if [name for name, _ in warehouse.describe(listing)] != list(_COLUMNS):
        raise InputError(str(listing), "lists the tables of risks", "another table", "Rename it, to keep what it holds")
    rows = warehouse.query(_TITLE, "SELECT name, source, key, content FROM {{ t | ident }} ORDER BY name", t=listing)
    found = [(warehouse.full(Name(catalog, SCHEMA, name)), *told) for name, *told in rows]
    return [RiskTable(name, source, tuple(json.loads(key)), held) for name, source, key, held in found
            if find_relation(warehouse, name)]  # fmt: skip


def refuse_other(warehouse: Database, name: Name, where: str) -> None:
    """Refuse a place that is taken by what is no table of risks.

    Raises
    ------
    InputError
        With the way out.
    """
    if find_relation(warehouse, name) and name not in [one.name for one in known(warehouse)]:
        raise InputError(where, f"{name.schema}.{name.table} must not be another table", "one", "Choose another name")


def write(warehouse: Database, table: RiskTable, risks: Name, columns: Sequence[str]) -> None:
    """Make a table of risks from some columns of a staged one, in place of an older one, in one transaction."""
    name, listing = table.name, warehouse.full(Name("", SCHEMA, _LIST))
    with warehouse.transaction():
        schema = Name("", name.catalog, SCHEMA)
        warehouse.query(_TITLE, "CREATE SCHEMA IF NOT EXISTS {{ schema | ident }}", schema=schema)
        warehouse.query(_TITLE, _DEFINITION, name=listing)
        made = "CREATE OR REPLACE TABLE {{ name | ident }} AS SELECT {{ columns | idents }} FROM {{ risks | ident }}"
        warehouse.query(_TITLE, made, name=name, risks=risks, columns=columns)
        warehouse.query(_TITLE, "COMMENT ON TABLE {{ name | ident }} IS {{ said | lit }}", name=name, said=SAID)
        warehouse.insert(_TITLE, "DELETE FROM {{ t | ident }} WHERE name = $1", [name.table], t=listing)
        row = [name.table, table.source, json.dumps(list(table.key)), table.content]
        warehouse.insert(_TITLE, "INSERT INTO {{ t | ident }} VALUES ($1, $2, $3, $4)", row, t=listing)


def remove_of(warehouse: Database, relation: Name) -> list[str]:
    """Remove, in the open transaction, the tables of risks of a table whose records are replaced, and return which."""
    gone = [one for one in known(warehouse, relation.catalog) if one.source == identity_of(relation)]
    for one in gone:
        listing = one.name._replace(table=_LIST)
        warehouse.query(_TITLE, "DROP TABLE {{ name | ident }}", name=one.name)
        warehouse.insert(_TITLE, "DELETE FROM {{ t | ident }} WHERE name = $1", [one.name.table], t=listing)
    return [one.name.table for one in gone]


def digest(warehouse: Database, source: Source) -> str:
    """Return what tells whether a table is as it was when its risks were measured."""
    found = content(warehouse, source.relation)
    return sha256(json.dumps([found.columns, found.records, found.hashes]).encode()).hexdigest()
