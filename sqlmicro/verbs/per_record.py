"""The risk of every record, written as a table beside the originals: what `audit --per-record` adds to an audit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlmicro.audits import record_risks
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.registry import RecordRiskTable
from sqlmicro.database import risk_tables
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.opening import lock_to_write
from sqlmicro.database.own_key import own_key
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Database, database_of
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import SourceOptions
from sqlmicro.publish import recording

WHERE = "audit, --per-record"


def refuse_unwritable(options: SourceOptions) -> None:
    """Refuse a database that cannot keep the table, before anything is measured.

    Raises
    ------
    InputError
        When it can only be read, or is gone when the command ends.
    """
    if options.opened is not None:
        if options.opened.read_only:
            raise InputError(WHERE, "needs a database that can be written to", "one that is open to be read")
    elif not options.db:
        raise InputError(WHERE, "writes into the database of the originals", "none", "Give --db FILE")
    elif Path(options.db).exists() and not os.access(options.db, os.W_OK):
        raise InputError("--db", f"{options.db!r} must be a file that you may write to", "one that you may only read")


def write(audited: AuditedRelease, into: str, options: AuditStep) -> RecordRiskTable:
    """Write the risk of every record of a table, and return what was written.

    Raises
    ------
    InputError
        When the originals are elsewhere, or a table of another kind has the name.
    ParameterError
        When the name is none for such a table, or the audit has no risk of every record.
    """
    warehouse = database_of(audited.warehouse)
    name = risk_tables.place(warehouse, into, WHERE)
    originals = _originals(warehouse, audited, options)
    risk_tables.refuse_other(warehouse, name, WHERE)
    settings: Mapping[str, Any] = options.settings
    told = (settings.get("suda_size"), settings.get("sampling_fraction"))
    held = risk_tables.digest(warehouse, originals)
    made = record_risks.measure(audited, _key(warehouse, audited), *told)
    rows = warehouse.count(made.relation)
    key = names_of(made.key) or (record_risks.NUMBER,)
    columns = (*key, *record_risks.MEASURED)
    if lock_to_write(warehouse, [warehouse.catalog]):
        risk_tables.refuse_other(warehouse, name, WHERE)
    listed = risk_tables.RiskTable(name, originals.people, names_of(made.key), held)
    risk_tables.write(warehouse, listed, made.relation, columns)
    return RecordRiskTable(f"{name.schema}.{name.table}", rows, list(key), bool(made.key))


def _originals(warehouse: Database, audited: AuditedRelease, options: AuditStep) -> Source:
    """Return the table of the originals, which has to be one of the own database, and no release."""
    found, option = audited.original or audited.release, "--original" if audited.original else "--table"
    if found.is_file or found.is_frame or found.relation.catalog != warehouse.catalog:
        must = f"{option} must be a table of the database that --db names: the risks of its records stay with it"
        raise InputError(WHERE, must, repr(found.label), "Register the file there, or give the database as --db")
    if recording.release_of(warehouse, found.label, found.relation) is not None:
        raise InputError(
            WHERE, "writes beside the originals", f"{option} {found.label!r}, which was released",
            "Give the table it was made from as --original, and --match",
        )  # fmt: skip
    if audited.original is not None and not audited.match:
        must = "needs --match where there is an --original: columns that tell which record became which"
        raise ParameterError(WHERE, must, "none")
    return found


def _key(warehouse: Database, audited: AuditedRelease) -> Sequence[Column]:
    """Return what records are known by: what matches them with the original, else the key of the table, if any."""
    if not audited.match:
        return own_key(warehouse, audited.release)
    relation = audited.release.relation
    ((missing, repeated),) = warehouse.rows("load/row_key_faults.sql", relation=relation, columns=audited.match)
    if missing or repeated:
        raise InputError(
            f"{WHERE}, --match", "must have a value in every record, and no two records the same one",
            f"{missing:,} records with a missing value, {repeated:,} that share theirs with another",
            "Name further columns",
        )  # fmt: skip
    return audited.match
