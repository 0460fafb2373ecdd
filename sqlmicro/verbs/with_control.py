"""Audits that need a control group: where none is given, the release is rehearsed without some people."""

from __future__ import annotations

from dataclasses import replace

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.criteria import attacked_of
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.errors import SqlmicroError
from sqlmicro.reports import recorded
from sqlmicro.verbs import rehearsal


def rehearsed(audited: AuditedRelease, number: int | None) -> tuple[AuditedRelease, list[str]]:
    """Return a release with a control group, held out of a rehearsal; else why there is none.

    `number` is that of the release in sqlmicro.releases.
    """
    warehouse = audited.warehouse
    assert isinstance(warehouse, DuckDBWarehouse)
    known = None if number is None else recorded.read(warehouse, number)
    try:
        made = rehearsal.rehearsed(attacked_of(audited), audited.sensitive, known.parameters if known else None)
    except SqlmicroError as error:
        return audited, [f"no rehearsal: {str(error).rstrip('.')}"]
    return replace(audited, control=made, _made={}), []
