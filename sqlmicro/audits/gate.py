"""The gates of a job: audits of the records as they would be released, before anything is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlmicro.audits import inputs, runner
from sqlmicro.audits.regression import renamed
from sqlmicro.audits.subject import Subject, Table
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.errors import JobError

if TYPE_CHECKING:
    from sqlmicro.pipeline import Run


def rows(run: Run, relation: Name, values: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """Audit a staging relation of a run, as a gate of a job says; the original is what the run has loaded.

    Raises
    ------
    JobError
        When the gate names nothing to audit.
    """
    asked = [row for row in measured(run, relation, values, where) if row["asked"]]
    if not asked:
        raise JobError(where, "must name a gate, such as min_k, or a measure", "none")
    return asked


def measured(run: Run, relation: Name, values: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """Return all that the audits find of a staging relation of a run, asked for or not."""
    roles = inputs.roles(run.roles.released, values, f"{where}, ")
    types = dict(run.warehouse.describe(relation))

    def staged(column: Column) -> Column:
        return Column(column.staged, types[column.staged], column.staged)

    own = {column.name: staged(column) for column in run.roles.released}
    columns = tuple(own.values())
    roles |= {name: tuple(own[c.name] for c in roles[name]) for name in ("quasi", "sensitive")}
    roles |= {name: roles[name] and own[roles[name].name] for name in ("weight", "entity")}
    still_numeric = {column.name for column in run.numeric - run.text}
    roles["numeric"] = tuple(own[name].name for name in {*roles["numeric"], *still_numeric} if name in own)
    roles["nominal"] = tuple(own[name].name for name in roles["nominal"])
    before = dict(run.warehouse.describe(run.original))
    original = Table(run.original, tuple(replace(c, type=before[c.name]) for c in columns if c.name in before))
    population = None
    if values["population"]:
        population = inputs.table(run.warehouse.source(values["population"], name="population_source"))
    number = (Column("row_id", "BIGINT", "row_id"),)
    subject = Subject(
        run.warehouse,
        Table(relation, (*columns, *number)),
        original=replace(original, columns=(*original.columns, *number)),
        match=number,
        population=population,
        **{name: found for name, found in roles.items() if name != "match"},
    )
    if values["regress"]:
        staged_names = {name.lower(): column.name for name, column in own.items()}
        values = {**values, "regress": renamed(values["regress"], staged_names)}
    found = runner.run(subject, values["measure"], inputs.thresholds(values), values)
    shown = {column.name: name for name, column in own.items()}
    return [row | {"columns": [shown.get(name, name) for name in row["columns"]]} for row in found]
