"""What a release still tells of the sensitive columns that were generalised together with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.audits.canonical import is_ambiguous
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.database import column_names
from sqlmicro.database.columns import Column
from sqlmicro.pipeline import Run
from sqlmicro.publish import gate

_WHERE = "sensitive columns"


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: the least distinct l and the largest t over the classes of the other released columns.

    None where there is no other column, or it could not be measured.
    """

    column: str
    l: int | None  # noqa: E741  (l-diversity is called so)
    t: float | None

    @property
    def told(self) -> str:
        """Return it as part of a sentence.

        >>> Sensitive("diagnosis", 2, 0.25).told, Sensitive("salary", None, None).told
        ('diagnosis l = 2, t = 0.25', 'salary not measured')
        """
        if self.l is None or self.t is None:
            return f"{self.column} not measured"
        return f"{self.column} l = {self.l}, t = {self.t:.2g}"


def measured(run: Run, worked_on: Sequence[Column]) -> list[Sensitive]:
    """Measure the sensitive ones, by their names, of the columns that were worked on, and add a note about them."""
    sensitive = [column for column in worked_on if column_names.is_sensitive(column.name)]
    if not sensitive:
        return []
    others = [
        column for column in run.roles.released
        if column not in sensitive and not is_ambiguous(column) and not column_names.is_weight(column.name)
    ]  # fmt: skip
    found = [_of(run, column, others) for column in sensitive]
    run.notes.append(
        "sensitive by name, and generalised together with the others: "
        + "; ".join(one.told for one in found)
        + " (distinct l and t-closeness over the classes of the other released columns). sqlmicro audit --sensitive "
        "shows more, a [[gate]] with min_l or max_t holds the release to it"
    )
    return found


def _of(run: Run, column: Column, others: Sequence[Column]) -> Sensitive:
    if not others:
        return Sensitive(column.name, None, None)
    asked = AuditStep(
        quasi=tuple(other.name for other in others), sensitive=(column.name,), measure=("l-diversity", "t-closeness")
    )
    rows = gate.measured(run, run.current, asked, _WHERE)
    values = {row.check: row.value for row in rows}
    l, t = values["l-diversity"], values["t-closeness"]  # noqa: E741
    return Sensitive(column.name, None if l is None else int(l), t)
