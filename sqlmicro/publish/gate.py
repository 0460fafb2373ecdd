"""The gates of a job: audits of the records as they would be released, before anything is published."""

from __future__ import annotations

from dataclasses import replace

from sqlmicro.audits import inputs, regression, runner
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.row import AuditRow
from sqlmicro.database.columns import Column
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.errors import JobError
from sqlmicro.pipeline import Run


def rows(run: Run, relation: Name, options: AuditStep, where: str) -> list[AuditRow]:
    """Audit a staging relation of a run, as a gate of a job says; the original is what the run has loaded.

    Raises
    ------
    JobError
        When the gate names nothing to audit.
    """
    asked = [row for row in measured(run, relation, options, where) if row.asked]
    if not asked:
        raise JobError(where, "must name a gate, such as min_k, or a measure", "none")
    return asked


def measured(run: Run, relation: Name, options: AuditStep, where: str) -> list[AuditRow]:
    """Return all that the audits find of a staging relation of a run, asked for or not."""
    chosen = inputs.choose(run.roles.released, options, f"{where}, ")
    types = dict(run.warehouse.describe(relation))
    own = {column.name: Column(column.staged, types[column.staged], column.staged) for column in run.roles.released}
    columns = tuple(own.values())
    still_numeric = {column.name for column in run.numeric - run.text}
    before = dict(run.warehouse.describe(run.original))
    theirs = tuple(replace(c, type=before[c.name]) for c in columns if c.name in before)
    population = None
    if options.population:
        population = run.warehouse.source(options.population, name="population_source")
    number = (Column("row_id", "BIGINT", "row_id"),)
    audited = AuditedRelease(
        warehouse=run.warehouse,
        release=Source(relation, "the release", (*columns, *number), is_table=False),
        quasi=tuple(own[column.name] for column in chosen.quasi),
        sensitive=tuple(own[column.name] for column in chosen.sensitive),
        weight=chosen.weight and own[chosen.weight.name],
        entity=chosen.entity and own[chosen.entity.name],
        original=Source(run.original, "the original", (*theirs, *number), is_table=False),
        match=number,
        population=population,
        nulls=options.nulls,
        numeric=tuple(own[name].name for name in {*chosen.numeric, *still_numeric} if name in own),
        nominal=tuple(own[name].name for name in chosen.nominal),
    )
    staged_names = {name.lower(): column.name for name, column in own.items()}
    settings = regression.staged(options.settings, staged_names)
    found = runner.run(audited, options.measure, options.thresholds, settings)
    shown = {column.name: name for name, column in own.items()}
    return [replace(row, columns=[shown.get(name, name) for name in row.columns]) for row in found]
