"""The gates of a job: audits of the records as they would be released, before anything is published."""

from __future__ import annotations

from dataclasses import replace

from sqlmicro.audits import inputs, regression, runner
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.deniable import Guesses, Inventions
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.registry import audits
from sqlmicro.audits.row import AuditRow
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.deniable import Deniable
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.errors import JobError
from sqlmicro.pipeline import Run
from sqlmicro.safe_method.deniable import INVENTED, MAX_INFERENCE
from sqlmicro.work import Claim

_WHERE = "guarantees"


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


def kept(run: Run, relation: Name, claim: Claim) -> list[AuditRow]:
    """Audit what the classes of a staging relation keep besides k, as a step claims of its columns, or of each."""
    if claim.promise == "column" and len(claim.columns) > 1:
        alone = (replace(claim, columns=(column,)) for column in claim.columns)
        return [row for one in alone for row in kept(run, relation, one)]
    asked, quasi, limits = claim.kept, names_of(claim.columns), claim.limits
    options = AuditStep(
        quasi=quasi, sensitive=asked.sensitive, gates={**limits},
        settings={"c": asked.c, "hierarchical": asked.hierarchical},
        weight=claim.in_population.weight, population=claim.in_population.population,
        measure=tuple(audit.name for audit in audits().values() if audit.gate in limits),
    )  # fmt: skip
    rows = measured(run, relation, options, _WHERE) if limits else []
    if asked.person:
        options = AuditStep(quasi=quasi, measure=("k-anonymity",), gates={"min_k": claim.k})
        persons = run.warehouse.run("publish/with_persons.sql", f"{relation.table}_of_persons", view=True,
                                    released=relation, original=run.original, person=run.roles.person,
                                    columns=run.roles.released)  # fmt: skip
        found = measured(run, persons, options, _WHERE, person=True)
        rows = [*(replace(row, check="persons") for row in found), *rows]
    return rows


def denied(run: Run, relation: Name, claim: Deniable) -> list[AuditRow]:
    """Audit whether a staging relation can be denied, against what it was made from, and note what cannot."""
    several = len(claim.columns) > 1  # a column alone has no others that it could be guessed from
    options = AuditStep(
        quasi=names_of(claim.columns), measure=("invented", *(["inference"] if several else [])),
        gates={name: limit for name, limit in claim.limits.items() if several or name != "max_inference"},
        settings={"rare": claim.k},
    )  # fmt: skip
    found = measured(run, relation, options, _WHERE, original=claim.before)
    rows = [row for row in found if row.value is not None or row.threshold is not None]
    wanted = {"invented": INVENTED, "inference": MAX_INFERENCE}
    open_ones = []
    for row in rows:
        detail = row.detail
        if isinstance(detail, Inventions) and detail.rare and row.threshold is None:
            below = "" if (row.value or 0) >= wanted["invented"] else f": fewer than {wanted['invented']:.0%}"
            run.notes.append(
                f"deniable: {detail.invented:,} of the {detail.rare:,} rare combinations shown never occurred "
                f"({row.value:.1%}){below}; {detail.uniques_shown:,} of {detail.uniques:,} unique originals are shown"
            )
        elif isinstance(detail, Guesses) and (row.value or 0) > max(wanted["inference"], detail.commonest):
            open_ones += [f"{name} ({row.value:.1%} of the guesses are right)" for name in row.columns]
    if open_ones:
        run.notes.append(f"not deniable for somebody who knows all other columns of a person: {', '.join(open_ones)}")
    return rows


def measured(
    run: Run, relation: Name, options: AuditStep, where: str, *, person: bool = False, original: Name | None = None
) -> list[AuditRow]:
    """Return all that the audits find of a staging relation of a run, asked for or not.

    Where it has a column `person`, classes count persons. It is compared with what the run has loaded, or with another
    relation of it.
    """
    original = original or run.original
    chosen = inputs.choose(run.roles.released, options, f"{where}, ")
    types = dict(run.warehouse.describe(relation))
    own = {column.name: Column(column.staged, types[column.staged], column.staged) for column in run.roles.released}
    columns = tuple(own.values())
    still_numeric = {column.name for column in run.numeric - run.text}
    before = dict(run.warehouse.describe(original))
    theirs = tuple(replace(c, type=before[c.name]) for c in columns if c.name in before)
    population = None
    if options.population:
        population = run.warehouse.source(options.population, name="population_source")
    number = (Column("row_id", "BIGINT", "row_id"),)
    persons = Column("person", "BIGINT", "person") if person else None
    audited = AuditedRelease(
        warehouse=run.warehouse,
        release=Source(relation, "the release", (*columns, *number, *filter(None, [persons])), is_table=False),
        quasi=tuple(own[column.name] for column in chosen.quasi),
        sensitive=tuple(own[column.name] for column in chosen.sensitive),
        weight=chosen.weight and own[chosen.weight.name],
        entity=persons or (chosen.entity and own[chosen.entity.name]),
        original=Source(original, "the original", (*theirs, *number), is_table=False),
        match=number,
        population=population,
        names={column.name: name for name, column in own.items()},
        nulls=options.nulls,
        numeric=tuple(own[name].name for name in {*chosen.numeric, *still_numeric} if name in own),
        nominal=tuple(own[name].name for name in chosen.nominal),
    )
    staged_names = {name.lower(): column.name for name, column in own.items()}
    settings = regression.staged(options.settings, staged_names)
    found = runner.run(audited, options.measure, options.thresholds, settings)
    shown = {column.name: name for name, column in own.items()}
    return [replace(row, columns=[shown.get(name, name) for name in row.columns]) for row in found]
