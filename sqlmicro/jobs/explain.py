"""What a job file will do, in plain words: nothing is run.

Of the database the catalog is read, and of a table only what tells whether persons have several rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.audits.registry import audits
from sqlmicro.audits.verdict import UNIQUE_AT_MOST
from sqlmicro.database.catalog import find_table
from sqlmicro.database.columns import Column, make_columns, names_of
from sqlmicro.database.files import file_format
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, SqlmicroError
from sqlmicro.jobs import file
from sqlmicro.jobs.plan import Plan, drafted
from sqlmicro.jobs.roles import refuse_rows
from sqlmicro.jobs.steps import TABLE_STEPS, Command, Job, Step
from sqlmicro.options.common import JobOptions, RegisterSettings
from sqlmicro.options.params import Param, take
from sqlmicro.pipeline import PlannedStep
from sqlmicro.registry import PROMISES
from sqlmicro.reports.results import Explanation
from sqlmicro.system.progress import Progress
from sqlmicro.system.secrets import SEED_VARIABLE


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """What `sqlmicro explain` takes."""

    job: Annotated[str, Param("Job file, TOML.", metavar="FILE.toml", positional=True)]


_NULLS = {
    "error": "a missing value stops the job",
    "keep": "a missing value is a value like others, and the majority of a group decides whether it lacks one",
    "suppress": "records with a missing value are left out",
    "pattern": (
        "a missing value stays missing: only records that lack the same are grouped, and where fewer than k do, "
        "further values are taken out"
    ),
}


@dataclass(frozen=True)
class Known:
    """What the catalog says of a table: its columns and, nearly, its records; or why it says nothing."""

    columns: tuple[Column, ...] | None = None
    records: int | None = None
    unknown: str = ""
    refusal: str = ""
    """Why rows cannot be counted: they seem to be of fewer persons."""


def explain_values(options: ExplainOptions, progress: Progress) -> Explanation:
    """Say in a paragraph what a job file will do; nothing is run.

    Take `explain` to read what becomes of every table and column; take `plan` to see what differs from the last time,
    and to have a policy signed off.
    """
    jobs = file.read(options.job, {}, progress)
    known = [look_up(job) for job in jobs]
    paragraphs = [explained(job, found) for job, found in zip(jobs, known, strict=True)]
    if len(jobs) > 1:
        paragraphs.append(" ".join([_together(jobs), *_keys(jobs)]))
    unknown = [(job.options.table, found.unknown) for job, found in zip(jobs, known, strict=True) if found.unknown]
    return Explanation(options.job, paragraphs, [f"{table}: {why}" for table, why in unknown])


def look_up(job: Job) -> Known:
    """Return what the catalog says of the table of a job; files are not opened."""

    db, table = job.options.db, job.options.table
    if not db or not Path(db).is_file():
        return Known(unknown=_elsewhere(job) or "there is no database file yet")
    try:
        with open_warehouse(db, read_only=True) as warehouse:
            found = find_table(warehouse, table)
            if found is None:
                return Known(unknown=_elsewhere(job) or "there is no such table")
            relation, is_table = found
            # Not DESCRIBE: for a view over files it would open them.
            here = "WHERE database_name = $1 AND schema_name = $2 AND table_name = $3"
            names = list(relation)
            columns = "SELECT column_name, data_type FROM duckdb_columns() " + here + " ORDER BY column_index"
            size = "SELECT max(estimated_size) FROM duckdb_tables() " + here
            if not is_table:
                return Known(tuple(make_columns(warehouse.query("catalog", columns, names))))
            records, source = warehouse.query("catalog", size, names)[0][0], find_source(warehouse, table)
            return Known(source.columns, records, refusal=_refusal(warehouse, source, job))
    except SqlmicroError as error:
        return Known(unknown=f"the database could not be opened ({error.must})")


def _refusal(warehouse: Warehouse, source: Source, job: Job) -> str:
    """Return why a job may not count the rows of its table, nothing where it may."""
    try:
        refuse_rows(warehouse, source, job, {})
    except InputError as error:
        return str(error) if job.anonymizes and not _made_by(job) else ""
    return ""


def _elsewhere(job: Job) -> str:
    """Say where a table is, if not in the database itself."""
    if _is_file(job.options.table):
        return "it is a file, which is not opened"
    return "it may be in an attached database, which is not opened" if job.options.attach else ""


def _is_file(table: str) -> bool:

    return file_format(table) is not None


def explained(job: Job, known: Known) -> str:
    """Return the paragraph of one job."""
    if not job.anonymizes:
        does = _join([command.do for command in job.commands])
        return f"This job releases nothing. It reads {_table(job, known)}. Its steps, in order: {does}."
    plan, stops = _planned(job, known)
    sentences = [
        *(_before(command) for command in job.commands if command.do in TABLE_STEPS),
        f"This job reads {_table(job, known)}.",
        *stops,
        *_roles(plan),
        *(_step(plan, asked, step) for asked, step in zip(job.steps, plan.steps, strict=True)),
        *_holds(plan),
        *_gates(plan),
        _published(plan),
        _staged(plan),
        _seed(plan),
        *_unknown(known),
    ]
    return " ".join(sentences)


def _planned(job: Job, known: Known) -> tuple[Plan, list[str]]:
    """Return the plan of a job; and where it cannot be over the table as it is, that of any table, and why."""
    try:
        return drafted(job, known.columns), [f"It will stop: {known.refusal}"] if known.refusal else []
    except SqlmicroError as error:
        plan = drafted(job)
        return plan, [] if _made_by(job) else [f"It will stop: {error}"]


def _made_by(job: Job) -> bool:
    """Tell whether the job itself makes its table anew, whatever the catalog has under that name."""
    return any(_registered(command).table == job.options.table for command in job.commands if command.do == "register")


def _table(job: Job, known: Known) -> str:
    table, db = job.options.table, job.options.db
    text = f"the table {table} of {db}" if db else f"the table {table}"
    if not known.columns:
        return f"the file {table}" if _is_file(table) else text
    size = "" if known.records is None else f"about {known.records:,} records, "
    return f"{text} ({size}{len(known.columns)} columns)"


def _registered(command: Command) -> RegisterSettings:
    return take(RegisterSettings, command.given, command.where)


def _before(command: Command) -> str:
    if command.do == "profile":
        return "First the columns of the table are described."
    made = _registered(command)
    return f"First {_join(made.files)} is registered as {made.table}."


def _roles(plan: Plan) -> list[str]:
    """Say which columns are left out and which are released as they are."""
    weights = [column.name for column in plan.roles.kept if column.name.lower() in plan.calibrated]
    keep = tuple(name for name in names_of(plan.roles.kept) if name not in weights)
    stays = plan.roles.row_key if plan.publish.only_where is not None else ()
    drop = names_of([column for column in plan.roles.dropped if column not in stays])
    given, rest = plan.options, ""
    left, others = (names_of(plan.left), ()) if plan.known else ((), ("every column that is named nowhere",))
    if plan.takes_rest:
        rest = f"Of the other columns{_of(left)}, direct identifiers are left out, and all else is anonymized."
    elif given.rest == "keep":
        keep += others
    elif given.rest == "drop":
        drop += others
    elif left:
        rest = f"It will stop, since {_join(left)} has no role: nothing is released by oversight."
    elif not plan.known:
        rest = "It stops if the table has a column that is named nowhere: nothing is released by oversight."
    ok = names_of(plan.roles.allowed)
    return [
        *([f"It leaves out {_join(drop)}."] if drop else ()),
        f"Released as it is, unprotected: {_join(keep)}." if keep else "No column is released as it is.",
        *([_accepted(given.accept_unique)] if keep else ()),
        *(
            [f"Of {_join(weights)} the mean of each group is released, calibrated so that totals stay."]
            if weights
            else ()
        ),
        *([rest] if rest else ()),
        *([f"It does not treat {_join(ok)} as direct identifiers, whatever they look like."] if ok else ()),
        "It stops if a column that it releases or groups otherwise looks like direct identifiers.",
    ]


def _accepted(names: Sequence[str]) -> str:
    stops = f"It stops if such a column alone makes more than {100 * UNIQUE_AT_MOST:g} % of the records unique"
    return f"{stops}, except {_join(names)}." if names else f"{stops}."


def _of(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _columns(plan: Plan, asked: Step, step: PlannedStep) -> str:
    """Name the columns a step works on, strata left out: those it names, else what is left to it."""
    if not asked.takes_rest:
        return _join(names_of(step.columns))
    if plan.known and step.columns:
        return f"{_join(names_of(step.columns))}, as far as these are no direct identifiers"
    apart = [name for other in plan.apart_from(step) for name in names_of(other.columns)]
    return "every other column that is no direct identifier" + (f", but not on {_join(apart)}" if apart else "")


def _step(plan: Plan, asked: Step, step: PlannedStep) -> str:
    """Say what a step does, and what it promises."""
    method = step.method
    named = _columns(plan, asked, step)
    columns = f" on {named}" if named else ""
    by = names_of(step.by)
    strata = f", apart for every value of {_join(by)}, which is released as it is" if by else ""
    k = method.setting("k")
    always = {*asked.settings, *([k.name] if k else [])}
    shown = {name: value for name, value in step.settings.items() if name in always}
    given = "".join(f", {name.replace('_', ' ')} = {_value(value)}" for name, value in shown.items())
    nulls = f" Here {_NULLS[step.nulls]}." if method.takes_nulls else ""
    return (
        f"Step {step.number} is {method.name}{columns}{given}{strata}: {_lower(method.summary)} It promises: "
        f"{PROMISES[step.assured.promise]}.{_guarantees(plan, step)}{nulls}"
    )


def _guarantees(plan: Plan, step: PlannedStep) -> str:
    """Say what the classes keep besides k."""
    asked, person = step.guarantees, names_of(plan.roles.person)
    counts = person and step.method.keeps_guarantees and step.k
    persons = f" Every class has at least k = {step.k} persons ({_join(person)})." if counts else ""
    persons += "".join(_levels(plan)) if step.columns else ""
    if plan.job.publish.is_night and (unit := plan.roles.of_night):
        counted = "households" if plan.roles.household else "persons"
        persons = f" Every class opens with rows of k = {step.k} {counted} ({_join(names_of(unit))})." if step.k else ""
    if not asked.sensitive:
        return persons
    named = names_of(step.sensitive)
    each = "released as it is" if len(named) == 1 else "each released as it is"
    of = f"Of {_join(named)}, {each}, every class has {_join(asked.meanings)}."
    in_trees = asked.settings["hierarchical"]
    trees = f" How far apart values are, a hierarchy says: {_join(in_trees)}." if in_trees else ""
    return f"{persons} {of}{trees}"


def _levels(plan: Plan) -> list[str]:
    """Say what becomes of the columns that have one value in every household, and for every person."""
    roles, said = plan.roles, []
    if roles.household:
        units = f"household ({_join(names_of(roles.household))})"
        said.append(f" A column with one value in every {units} keeps one, in classes of k households.")
    if roles.person:
        named = _join(names_of(roles.of_person))
        which = f"Of each person {named} keep" if named else "A column with one value for every person keeps"
        said.append(f" {which} one, grouped person by person; the others are grouped inside these classes.")
    return said


def _holds(plan: Plan) -> list[str]:
    """Say over which columns a k holds for the records, which is what is recorded as k."""
    over = [
        _join([*(names_of(step.columns) if asked.columns else [_columns(plan, asked, step)]), *names_of(step.by)])
        for asked, step in zip(plan.job.steps, plan.steps, strict=True)
        if step.assured.promise == "record"
    ]
    if not over:
        return [
            "No k is promised for the records, so none is recorded. The smallest class over all released columns is "
            "measured and shown."
        ]
    return [
        f"The promised k holds for every released record, over {'; and over '.join(over)}. It does not hold for "
        "records that are left out, nor against somebody who knows other released columns of a person. How far these "
        "lower it is measured, and the verdict says so."
    ]


def _gates(plan: Plan) -> list[str]:
    found = {audit.gate: audit for audit in audits().values() if audit.gate}
    held = []
    for gate in plan.gates:
        of = f" over {_join(gate.options.quasi)}" if gate.options.quasi else ""
        for name, threshold in gate.given.items():
            if name in found:
                bound = "at least" if found[name].at_least else "at most"
                held.append(f"{found[name].name}{of} must be {bound} {threshold:g}")
        held += [f"{name}{of} is measured" for name in gate.options.measure]
    if not held:
        return ["No gate holds the release to more than its steps promise."]
    return [f"Before it is published, {'; '.join(held)}: else nothing is published, and the exit code is 1."]


def _published(plan: Plan) -> str:
    """Say where the release goes."""
    given, db = plan.publish, plan.options.db
    replaces = ", in place of what is there" if given.overwrite else ", which must not exist yet"
    manifest = f" What is recorded of it goes to {given.manifest} too." if given.manifest else ""
    manifest += f" It is a night of the series {given.series}." if given.series else ""
    if given.in_place:
        purge = "is not rewritten, so that the old values stay readable in it" if given.no_purge else "is rewritten"
        return f"{_of_age(plan) or _ALL_OF_IT}, and the database file {purge}.{manifest}"
    if given.to:
        return f"The release goes to the file {given.to}{replaces}.{manifest}"
    if not db:
        return (
            "The release would go to a table in memory, which is not kept: the job has no db and no file to publish to."
        )
    into = given.into or "that has the name of the source and _anonymized after it,"
    return f"The release goes to the table {into} of {db}{replaces}.{manifest}"


_ALL_OF_IT = "The release replaces the records of the table itself"


def _of_age(plan: Plan) -> str:
    """Say which rows of the table are replaced, where that are not all."""
    given = plan.publish
    if given.only_where is None:
        return ""
    days = 7 if given.patience is None else given.patience
    waits = {
        "keep": "A row for which no class opens waits as it is",
        "empty": f"A row for which no class opens within {days:,} days loses the values of these columns",
        "join": f"A row for which no class opens within {days:,} days takes the values of the nearest class",
    }[given.waiting]
    key = ", ".join(column.name for column in plan.roles.row_key)
    return (
        f"Of the table itself it changes the rows for which this holds: {given.only_where}; where the current date is "
        f"the day of the night. All others stay as they are, and {key} stays in every row. {waits}"
    )


def _staged(plan: Plan) -> str:
    """Say what the records are called on the way, so that the statements can be read."""
    names = ["numbered as they were read", *(f"{step.released.name} after step {step.number}" for step in plan.steps)]
    return f"In the statements that --show-sql prints, the records are called {_join(names)}."


def _seed(plan: Plan) -> str:
    given = plan.options
    if given.seed is not None:
        return "The seed stands in the file in plain text, which is for tests: whoever reads it can undo shuffles."
    if given.seed_file:
        return "The secret seed is read from a file."
    return f"The secret seed is that of the variable {SEED_VARIABLE}, if it is set, else the lasting one of the user."


def _unknown(known: Known) -> list[str]:
    return [f"The columns of the table could not be looked up: {known.unknown}."] if known.unknown else []


def _together(jobs: Sequence[Job]) -> str:
    """Say what holds for the releases of several tables."""
    files = any(job.publish.to for job in jobs)
    how = "all are written and audited before the first is put in its place" if files else "in one transaction"
    named = any(step.method.surrogate for job in jobs for step in job.steps)
    key = " Their pseudonyms are made with one key, so that the tables can be joined as before." if named else ""
    return f"The {len(jobs)} releases are published together, {how}: if one fails, none is published.{key}"


def _keys(jobs: Sequence[Job]) -> Iterable[str]:
    """Say what joins the tables, and what keys leave out."""
    for job in jobs:
        for key in job.keys:
            to, allowed = jobs[key.parent].options.table, f", but for {key.max_lost:,} rows" if key.max_lost else ""
            yield (
                f"{_join(key.columns)} of {job.options.table} refers to {_join(key.to)} of {to}: what is released of "
                f"both must join as before{allowed}, or nothing is published."
            )
        yield from (f"{said}." for said in job.said)
    if any(job.keys for job in jobs):
        yield _joined(jobs[0].options)


def _joined(given: JobOptions) -> str:
    """Say what k is counted over joins."""
    if given.join_depth == 0:
        return "k is not counted over joins: join_depth = 0 says that the tables are handed to different people."
    least = f"{given.min_join_k:,}" if given.min_join_k is not None else "the smallest k that a table promises"
    attack = ""
    if given.max_cross_table is not None:
        share = f"{100 * given.max_cross_table:g} %"
        attack = f" Whoever knows rows of a person must find at most {share} of the persons by their pattern."
    return f"Over what joins tell, at least {least} persons must be alike, or nothing is published.{attack}"


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:] if sentence[1:2].islower() else sentence


def _value(value: Any) -> str:
    return _join([str(item) for item in value]) if isinstance(value, list | tuple) else str(value)


def _join(names: Iterable[str]) -> str:
    """Return names as they are listed in a sentence.

    >>> _join(["a", "b", "c"]), _join(["a"])
    ('a, b and c', 'a')
    """
    *first, last = list(names) or [""]
    return f"{', '.join(first)} and {last}" if first else last
