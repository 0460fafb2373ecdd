"""The gates of a job: audits of the records as they would be released, before anything is published.

What a release still tells of the sensitive columns that were generalised together with the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlmicro.audits import inputs, regression, runner
from sqlmicro.audits.audited import AuditedRelease, is_ambiguous
from sqlmicro.audits.deniable import Guesses, Inventions
from sqlmicro.audits.inputs import AuditStep
from sqlmicro.audits.registry import AuditRow, Status, audits
from sqlmicro.audits.verdict import PERSONS, class_counter
from sqlmicro.database import column_names, levels
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.deniable import Deniable
from sqlmicro.database.levels import Level
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.errors import JobError
from sqlmicro.missing.counted import number as number_of
from sqlmicro.options.guarantees import KEY_LIMITS
from sqlmicro.pipeline import Run
from sqlmicro.safe_method import means
from sqlmicro.safe_method.deniable import MAX_INFERENCE
from sqlmicro.system import sentences
from sqlmicro.work import Claim

_WHERE = "guarantees"
_OF_EVERYBODY = {one.option for one in KEY_LIMITS if one.everybody}
"""The gates that compare a release with a table of everybody."""
_PERSON = Column("person", "BIGINT", "person")
"""The number of the person that a record is about, in staging."""


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
    terms, quasi = claim.terms, names_of(claim.columns)
    asked, known = terms.kept, terms.in_population
    limits = {name: limit for name, limit in terms.limits.items() if name not in _OF_EVERYBODY}
    options = AuditStep(
        quasi=quasi, sensitive=asked.sensitive, weight=known.weight, gates={**limits}, measure=_audits_of(limits),
        settings=asked.settings,
    )  # fmt: skip
    rows = measured(run, relation, options, _WHERE) if limits else []
    limits = {name: limit for name, limit in terms.limits.items() if name in _OF_EVERYBODY}
    if limits:
        options = AuditStep(
            quasi=quasi, gates={**limits}, measure=_audits_of(limits), nulls=known.nulls,
            population=None if terms.everybody else known.population,
        )  # fmt: skip
        rows += measured(run, relation, options, _WHERE, everybody=terms.everybody)
    if not claim.columns or claim.promise not in ("record", "column"):
        return rows
    if terms.level:
        return [_units(run, relation, terms.level, claim.columns, terms.k), *rows]
    return [*([persons(run, relation, claim.columns, terms.k)] if run.counted else []), *rows]


def persons(run: Run, relation: Name, columns: Sequence[Column], k: int | None = None) -> AuditRow:
    """Audit how many persons the smallest class of a staging relation has, over some released columns."""
    options = AuditStep(quasi=names_of(columns), measure=("k-anonymity",), gates={"min_k": k} if k else {})
    (found,) = measured(run, relation, options, _WHERE)
    return replace(found, check=PERSONS)


def counter(run: Run) -> Callable[[Sequence[Column]], int]:
    """Return what counts the records, or persons, of the smallest class over staged columns of a run as it stands."""
    if not run.counted:
        return class_counter(run.warehouse, run.table.current)
    return class_counter(run.warehouse, _with_persons(run, run.table.current), [_PERSON])


def _with_persons(run: Run, relation: Name) -> Name:
    return run.warehouse.run("publish/with_persons.sql", f"{relation.table}_of_persons", view=True,
                             released=relation, original=run.table.original, person=run.roles.person,
                             columns=run.roles.released)  # fmt: skip


def _units(run: Run, relation: Name, level: Level, columns: Sequence[Column], k: int) -> AuditRow:
    """Audit how many units of a level the smallest class of a staging relation has, over some released columns."""
    options = AuditStep(quasi=names_of(columns), measure=("k-anonymity",), gates={"min_k": k})
    of_units = run.warehouse.run("publish/with_units.sql", f"{relation.table}_of_{level.unit}s", view=True,
                                 released=relation, members=level.members, columns=run.roles.released)  # fmt: skip
    (found,) = measured(run, relation, options, _WHERE, units=of_units)
    return replace(found, check=f"{level.unit}s")


def constant(run: Run, relation: Name, level: Level) -> AuditRow:
    """Audit in how many units of a level a column of a staging relation has more than one value: in none."""
    differing = levels.differing(run.warehouse, relation, level, level.columns)
    most = max(differing.values())
    status: Status = "passed" if most == 0 else "failed"
    names = list(names_of(level.columns))
    return AuditRow(f"differing {level.unit}s", names, most, 0, False, most == 0, status, "own_value")


def _audits_of(limits: Mapping[str, float]) -> tuple[str, ...]:
    return tuple(audit.name for audit in audits().values() if audit.gate in limits)


def denied(run: Run, relation: Name, claim: Deniable, candidate: int | None = None) -> list[AuditRow]:
    """Audit whether a staging relation can be denied, against what it was made from, and note what cannot."""
    several = len(claim.columns) > 1  # a column alone has no others that it could be guessed from
    options = AuditStep(
        quasi=names_of(claim.columns), measure=("invented", *(["inference"] if several else [])),
        gates={name: limit for name, limit in claim.limits.items() if several or name != "max_inference"},
        settings={"rare": claim.k},
    )  # fmt: skip
    original = _with_persons(run, claim.before) if run.counted else claim.before
    found = measured(run, relation, options, _WHERE, original=original)
    rows = [row for row in found if row.value is not None or row.threshold is not None]
    of = "" if candidate is None else f"candidate {candidate}, "
    open_ones = []
    for row in rows:
        detail = row.detail
        if isinstance(detail, Inventions):
            run.log.notes += [f"{of}deniable: {said}" for said in detail.told]
        elif isinstance(detail, Guesses) and (row.value or 0) > max(MAX_INFERENCE, detail.commonest):
            guessed = f"{row.value:.1%} of {detail.guesses:,} guesses from {number_of(detail.known, 'known column')}"
            open_ones += [(row.value or 0, f"{name} ({guessed} are right)") for name in row.columns]
    if open_ones:
        worst = sentences.names((said for _, said in sorted(open_ones, key=lambda one: -one[0])), 5)
        run.log.notes.append(f"warning: {of}not deniable for somebody who knows other columns of a person: {worst}")
    return rows


def under_audit(
    run: Run, relation: Name, options: AuditStep, where: str, *, original: Name | None = None,
    everybody: Name | None = None, units: Name | None = None,
) -> AuditedRelease:  # fmt: skip
    """Return a staging relation of a run as audits read it, its columns by their names in staging.

    Where the table says whose record it is, classes count persons, or `units`: the same relation with a column
    `person`. It is compared with what the run has loaded, or with another relation of it. The population is the one of
    the options, or `everybody` as a step has recoded it.
    """
    if units or run.counted:
        relation = units or _with_persons(run, relation)
    original = original or run.table.original
    chosen = inputs.choose(run.roles.released, options, f"{where}, ")
    types = dict(run.warehouse.describe(relation))
    own = {column.name: Column(column.staged, types[column.staged], column.staged) for column in run.roles.released}
    columns = tuple(own.values())
    still_numeric = {column.name for column in run.table.numeric}
    before = dict(run.warehouse.describe(original))
    theirs = tuple(replace(c, type=before[c.name]) for c in columns if c.name in before)
    told_by = tuple(Column(c.staged, before[c.staged], c.staged) for c in run.counted if c.staged in before)
    population = None
    if options.population:
        population = run.warehouse.source(options.population, name="population_source")
    if everybody:
        recoded = (Column(name, kind, name) for name, kind in run.warehouse.describe(everybody))
        population = Source(everybody, "the population", tuple(recoded), is_table=False)
    number = (Column("row_id", "BIGINT", "row_id"),)
    person = (_PERSON,) if run.counted or units else ()
    numbered = tuple(one for one in person if one.name in before)
    return AuditedRelease(
        warehouse=run.warehouse,
        release=Source(relation, "the release", (*columns, *number, *person), is_table=False),
        quasi=tuple(own[column.name] for column in chosen.quasi),
        sensitive=tuple(own[column.name] for column in chosen.sensitive),
        weight=chosen.weight and own[chosen.weight.name],
        person=person,
        household=tuple(own[column.name] for column in chosen.household),
        original=Source(
            original, "the original", tuple(dict.fromkeys((*theirs, *told_by, *number, *numbered))), is_table=False
        ),
        match=number,
        population=population,
        names={} if everybody else {column.name: name for name, column in own.items()},
        person_names=names_of(run.counted),
        original_person=names_of(numbered or told_by),
        nulls=options.nulls,
        numeric=tuple(own[name].name for name in {*chosen.numeric, *still_numeric} if name in own),
        nominal=tuple(own[name].name for name in chosen.nominal),
    )


def measured(
    run: Run, relation: Name, options: AuditStep, where: str, *, original: Name | None = None,
    everybody: Name | None = None, units: Name | None = None,
) -> list[AuditRow]:  # fmt: skip
    """Return all that the audits find of a staging relation of a run, asked for or not; of `under_audit`."""
    audited = under_audit(run, relation, options, where, original=original, everybody=everybody, units=units)
    staged_names = {column.name.lower(): column.staged for column in run.roles.released}
    settings = means.staged(regression.staged(options.settings, staged_names), staged_names)
    found = runner.run(audited, options.measure, options.thresholds, settings)
    shown = {column.staged: column.name for column in run.roles.released}
    return [
        replace(
            row, columns=[shown.get(name, name) for name in row.columns], detail=row.detail and row.detail.under(shown)
        )
        for row in found
    ]


_SENSITIVE = "sensitive columns"


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


def measured_sensitive(run: Run, worked_on: Sequence[Column]) -> list[Sensitive]:
    """Measure the sensitive ones, by their names, of the columns that were worked on, and add a note about them."""
    sensitive = [column for column in worked_on if column_names.is_sensitive(column.name)]
    if not sensitive:
        return []
    others = [
        column for column in run.roles.released
        if column not in sensitive and not is_ambiguous(column) and not column_names.is_weight(column.name)
    ]  # fmt: skip
    found = [_of(run, column, others) for column in sensitive]
    run.log.notes.append(
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
    rows = measured(run, run.table.current, asked, _SENSITIVE)
    values = {row.check: row.value for row in rows}
    l, t = values["l-diversity"], values["t-closeness"]  # noqa: E741
    return Sensitive(column.name, None if l is None else int(l), t)
