"""Audits that need a control group: where none is given, the release is rehearsed without some people."""

from __future__ import annotations

from dataclasses import replace

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.criteria import attacked_of
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.registry import audits
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.errors import SqlmicroError
from sqlmicro.reports import recorded
from sqlmicro.verbs import rehearsal


def rehearsed(audited: AuditedRelease, number: int | None, options: AuditStep) -> tuple[AuditedRelease, list[str]]:
    """Return a release with a control group, if an audit that was asked for needs one; else why there is none.

    `number` is that of the release in sqlmicro.releases.
    """
    asked = [
        one for one in audits().values()
        if "control" in one.needs and (one.name in options.measure or one.gate in options.thresholds)
    ]  # fmt: skip
    if not asked or audited.control is not None or audited.original is None:
        return audited, []
    warehouse = audited.warehouse
    assert isinstance(warehouse, DuckDBWarehouse)
    known = None if number is None else recorded.read(warehouse, number)
    try:
        made = rehearsal.rehearsed(attacked_of(audited), audited.sensitive, known.parameters if known else None)
    except SqlmicroError as error:
        return audited, [f"no rehearsal: {str(error).rstrip('.')}"]
    return replace(audited, control=made, _made={}), []
