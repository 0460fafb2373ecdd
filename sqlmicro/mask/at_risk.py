"""The records at risk, by a table of risks that `audit --per-record` wrote: what a mask treats first, or only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.database import risk_tables
from sqlmicro.database.columns import names_of
from sqlmicro.database.loading import KNOWN_BY
from sqlmicro.database.risk_tables import RiskTable
from sqlmicro.errors import InputError
from sqlmicro.options.risks import COLUMNS, Risk, bound

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work

TEMPLATES = ("mask/record_measures.sql", "mask/each_alone.sql", "mask/at_risk.sql")
ONLY = (*TEMPLATES, "mask/treated.sql", "mask/untreated.sql")
_AGAIN = "Measure them again: sqlmicro audit --per-record"


@dataclass(frozen=True)
class AtRisk:
    """The records at risk that were asked for."""

    where_risk: str
    risk: Risk
    table: str

    def records(self, work: Work) -> Name:
        """Stage the records at risk, or the units that have one: row_id, measure.

        Raises
        ------
        InputError
            When the risks are not there, not those of the table as it is, or not of all its records.
        """
        asked = bound(self.where_risk, work.where)
        params: dict[str, Any] = {"measures": self._measures(work), "members": work.members(), **asked.by_operator}
        found = work.run("mask/at_risk.sql", "at_risk", **params)
        self._note(work, work.warehouse.count(found))
        return found

    def units(self, work: Work, row_id: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the largest risk of every record or unit, and whether it is at risk, in the order of row_id.

        Raises
        ------
        InputError
            As in `records`.
        """
        import numpy as np

        asked = bound(self.where_risk, work.where)
        params: dict[str, Any] = {"measures": self._measures(work), "members": work.members()}
        found = work.warehouse.arrays("mask/at_risk.sql", **params, **asked.by_operator)
        everybody = work.warehouse.arrays("mask/at_risk.sql", **params, **{word: [] for word in asked.by_operator})
        self._note(work, len(found["row_id"]))
        largest = everybody["measure"][np.argsort(everybody["row_id"])].astype(float)
        return largest, np.isin(row_id, found["row_id"])

    def _note(self, work: Work, number: int) -> None:
        units = f"{work.unit}s"
        total = work.warehouse.count(work.relation)
        work.note(f"{number:,} of {total:,} {units} are at risk: {self.risk} {self.where_risk.strip()}")

    def _measures(self, work: Work) -> Name:
        table, measure = self._table(work), COLUMNS[self.risk]
        columns = dict(work.warehouse.describe(work.demand.original))
        identity = KNOWN_BY if KNOWN_BY in columns else "record"
        measures = work.run(
            "mask/record_measures.sql", "measures", original=work.demand.original, risks=table.name,
            key=table.key, identity=identity, measure=measure,
        )  # fmt: skip
        text = "SELECT count(*) FILTER (WHERE NOT known), count(*) FROM {{ m | ident }}"
        unknown, records = work.warehouse.query("risks", text, m=measures)[0]
        if unknown == records and records:
            do = f"Measure it: sqlmicro audit --per-record {table.name.table}"
            raise InputError(f"{work.where}, risk", f"{measure} must have been measured", "none of it", do)
        if unknown:
            must = f"{table.name.table} must have the risk of every record"
            raise InputError(f"{work.where}, where_risk", must, f"none of {unknown:,} of {records:,}", _AGAIN)
        return measures

    def _table(self, work: Work) -> RiskTable:
        """Return the table of risks, which has to be of the source as it is now."""
        where, warehouse, source = f"{work.where}, risk_table", work.warehouse.database, work.source
        if warehouse is None or source.is_file or source.is_frame:
            must = "the records must be those of a table in a DuckDB database, which the risks are beside"
            raise InputError(where, must, repr(source.label), "Register the file, and run audit --per-record")
        name = risk_tables.place(warehouse, self.table, where)._replace(catalog=source.relation.catalog)
        listed = {one.name: one for one in risk_tables.known(warehouse, source.relation.catalog)}
        found = listed.get(name)
        if found is None or found.source != source.people:
            do = f"Write it: sqlmicro audit --table {source.label} --quasi … --per-record {self.table}"
            raise InputError(where, f"must be a table of the risks of {source.label!r}", repr(self.table), do)
        if not found.key:
            must = "needs a table with a key, so that a record is found again"
            do = "Give it a primary key, or a column that numbers its records, and measure the risks again"
            raise InputError(f"{work.where}, where_risk", must, "records that are only numbered", do)
        known = names_of(work.demand.known)
        if [name.lower() for name in known] != [name.lower() for name in found.key]:
            do = f"Give --row-key {','.join(found.key)}"
            raise InputError(where, f"knows records by {', '.join(found.key)}", ", ".join(known) or "no key", do)
        if found.content != risk_tables.digest(warehouse, source):
            must = f"{source.label!r} must be as it was when its risks were measured"
            raise InputError(where, must, "other columns or records", _AGAIN)
        return found


def asked_for(where_risk: str | None, risk: Risk, risk_table: str) -> AtRisk | None:
    """Return the records at risk that were asked for, None where all are treated."""
    return None if where_risk is None else AtRisk(where_risk, risk, risk_table)


def only(work: Work, asked: AtRisk | None, treat: Callable[[], object], *, apart: bool) -> None:
    """Let a method treat the records at risk only; all others keep their values.

    Parameters
    ----------
    work : Work
        What the method works with.
    asked : AtRisk or None
        The records at risk; None for all records.
    treat : callable
        Puts new values into the outcome.
    apart : bool
        Whether it sees nothing but the records at risk, as it must where values move from one record to another.
    """
    if asked is None:
        treat()
        return
    chosen, whole = asked.records(work), work.records
    if not work.warehouse.count(chosen):
        return
    if apart:
        work.relation = work.run("mask/treated.sql", "treated", relation=whole.relation, chosen=chosen)
    treat()
    work.records = whole
    for number, (column, new) in enumerate([*work.outcome.values.items()], 1):
        values = work.run(
            "mask/untreated.sql", f"with_untreated_{number}", relation=whole.relation, chosen=chosen,
            values=new.relation, column=column, name=new.column,
        )  # fmt: skip
        work.replace(column, values, new.kind)
