"""The role of every column: from what a job says of it, and from what a sample of its values shows."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.verdict import UNIQUE_AT_MOST
from sqlmicro.database import column_names
from sqlmicro.database.column_roles import Roles, settle_roles
from sqlmicro.database.columns import Column, ColumnProfile, Misread, Seen, names_of, pick
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, ParameterError, demand
from sqlmicro.identifiers.rare import FewerThan, rare_columns, too_few
from sqlmicro.identifiers.repeated import repeated_persons
from sqlmicro.jobs.steps import Job, Step
from sqlmicro.pipeline import PlannedStep, Run

FOR_IDENTIFIERS = ("pseudonymise", "encrypt", "fake", "partial", "constant")
"""The methods that are made for direct identifiers."""


def named(job: Job) -> tuple[Column, ...]:
    """Return the columns that a job names, for a table of which nothing is known: they have no type."""
    found: dict[str, str] = {}
    given = job.options
    for name in (
        *(name for step in job.steps for name in (*step.columns, *step.by, *step.weights)),
        *(name for step in job.steps for name in step.apart),
        *given.keep, *given.drop, *given.row_key, *given.person, *given.of_person, *given.household,
        *given.identifier_ok, *given.accept_unique,
    ):  # fmt: skip
        found.setdefault(name.lower(), name)
    return tuple(Column(name, "", name) for name in found.values())


def picked(columns: Sequence[Column], step: Step) -> tuple[list[Column], list[Column]]:
    """Return the columns that a step names to work on, and its strata."""
    return pick(columns, step.columns, f"{step.where}, columns"), pick(columns, step.by, f"{step.where}, by")


def pseudonyms(columns: Sequence[Column], job: Job) -> list[Column]:
    """Return the columns that become pseudonyms."""
    return [column for step in job.steps if step.method.surrogate for column in picked(columns, step)[0]]


def tells_nothing(step: Step) -> bool:
    """Tell whether a step leaves nothing of what a column says of whose record it is: one value for all."""
    return step.method.name == "constant"


def roles_of(job: Job, columns: Sequence[Column]) -> tuple[Roles, tuple[Column, ...]]:
    """Give every column a role as far as the job says so; return the roles, and the columns that are named nowhere.

    A step that takes every column has those too, until their values are looked at. Without one they get the role that
    `rest` says, if it does.

    Raises
    ------
    ParameterError
        When a column is not there, or has two roles.
    """
    given = job.options
    used = list(dict.fromkeys(column for step in job.steps for found in picked(columns, step) for column in found))
    keep = pick(columns, given.keep, "--keep")
    sensitive = _sensitive(columns, job)
    keep += [column for column in (*_weights(columns, job), *sensitive) if column not in keep]
    _refuse_pseudonyms(columns, job)
    drop = pick(columns, given.drop, "--drop")
    demand(given.needs_of_persons(job.label))
    row_key, person, of_person, household = (
        tuple(pick(columns, names, option))
        for names, option in (
            (given.row_key, "--row-key"), (given.person, "--person"), (given.of_person, "--of-person"),
            (given.household, "--household"),
        )
    )  # fmt: skip
    constant = {column for step in job.steps if tells_nothing(step) for column in picked(columns, step)[0]}
    told = [c for step in job.steps if not tells_nothing(step) for found in picked(columns, step) for c in found]
    grouped = [column for column in dict.fromkeys(told) if column not in pseudonyms(columns, job)]
    if not {*person} <= constant:  # one value for all of a part of the key would leave the others
        grouped += [column for column in person if column in constant]
    _refuse_released(grouped, keep, person, "--person", "what says whose record it is")
    _refuse_released(grouped, keep, household, "--household", "what says of which household it is")
    keys = dict.fromkeys((*row_key, *person, *household))
    drop += [column for column in keys if column not in (*used, *keep, *drop)]
    left = tuple(column for column in columns if column not in (*used, *keep, *drop))
    if any(step.takes_rest for step in job.steps):
        roles = settle_roles(columns, [*used, *left], keep, drop, None)
    else:
        known = columns if given.rest else [column for column in columns if column not in left]
        roles = settle_roles(known, used, keep, drop, given.rest)
    allowed = tuple(pick(columns, given.identifier_ok, "--identifier-ok"))
    accepted = pick(columns, given.accept_unique, "--accept-unique")
    others = [column for column in accepted if column in (*roles.used, *roles.dropped)]
    if others:
        names = ", ".join(names_of(others))
        raise ParameterError("--accept-unique", "names columns that are released as they are", names)
    roles = replace(roles, row_key=row_key, allowed=allowed, sensitive=sensitive)
    return replace(roles, person=person, of_person=of_person, household=household), left


def _sensitive(columns: Sequence[Column], job: Job) -> tuple[Column, ...]:
    """Return the columns of which no class may tell too much: they are released as they are."""
    found = (pick(columns, step.apart, f"{step.where}, sensitive") for step in job.steps)
    return tuple(dict.fromkeys(column for named in found for column in named))


def _refuse_released(
    used: Sequence[Column], keep: Sequence[Column], key: Sequence[Column], option: str, what: str
) -> None:
    """Refuse to release what says whose record it is, or of which household, unless it becomes a pseudonym.

    Raises
    ------
    ParameterError
        With the columns.
    """
    released = [column for column in key if column in (*used, *keep)]
    if released:
        raise ParameterError(
            option, f"{what}, is left out of the release", ", ".join(names_of(released)),
            "Leave it out of --columns, --by and --keep. A column that must stay, a step of a job can make constant",
        )  # fmt: skip


def _weights(columns: Sequence[Column], job: Job) -> list[Column]:
    """Return the columns of weights: they are released as they are."""
    named = ((name, step.where) for step in job.steps for name in step.weights)
    return list(dict.fromkeys(pick(columns, [name], f"{where}, weights")[0] for name, where in named))


def _refuse_pseudonyms(columns: Sequence[Column], job: Job) -> None:
    """Refuse to anonymize what is a pseudonym: the same value would no longer have the same one in every table.

    Raises
    ------
    ParameterError
        When a step names a column that another one pseudonymises.
    """
    made = pseudonyms(columns, job)
    for step in job.steps:
        if step.method.surrogate:
            continue
        for key, found in zip(("columns", "by"), picked(columns, step), strict=True):
            both = [column for column in found if column in made]
            if both:
                raise ParameterError(
                    f"{step.where}, {key}", "a pseudonym is not anonymized again, nor grouped by",
                    ", ".join(names_of(both)), "Leave it out of this step, or do not pseudonymise it",
                )  # fmt: skip


def refuse_direct(columns: Sequence[Column], roles: Roles, job: Job) -> None:
    """Refuse direct identifiers that would be released as they are, or take part as if they were none.

    Raises
    ------
    InputError
        With the columns, and what in them was found.
    """
    treated = _treated(columns, job)
    found = [
        (column, of.finding)
        for column, of in roles.seen
        if of.finding and of.finding.direct and column not in (*roles.allowed, *treated)
    ]
    if found:
        raise InputError(
            "columns",
            "a direct identifier is neither released as it is nor grouped",
            ", ".join(f"{column.name} ({finding.reason})" for column, finding in found),
            "Use --drop, or pseudonymise it; if it names nobody, say so with --identifier-ok COLUMN",
        )


def refuse_rare(
    warehouse: Warehouse, source: Source, roles: Roles, columns: Sequence[Column], fewer: FewerThan
) -> None:
    """Refuse to release the commonest text of each group, where most of the texts are those of fewer than k.

    Raises
    ------
    InputError
        With the columns; where the whole table has fewer than k, with that.
    """
    columns = [column for column in columns if column in roles.used and column not in roles.allowed]
    found = rare_columns(warehouse, source, columns, fewer)
    if found and (unit := too_few(warehouse, source, fewer)):  # then every value is rare, and no advice on them helps
        raise InputError("--k", f"there must be at least k = {fewer.k} {unit}", "fewer", "Use a smaller --k")
    if found:
        looks = {column: f"; {seen.misread.told}" for column, seen in roles.seen if seen.misread}
        raise InputError(
            "columns",
            f"a text that a group releases must be that of {fewer.k} or more",
            ", ".join(
                f"{column.name} ({fewer.reason}{looks.get(column, '')})" for column in columns if column in found
            ),
            "Use --drop, or make it coarser; if it names nobody, say so with --identifier-ok COLUMN",
        )


def refuse_misread(left: Sequence[Column], profiles: Mapping[Column, ColumnProfile]) -> None:
    """Refuse text that reads as numbers or dates and has no common value: as text there is nothing to release of it.

    Raises
    ------
    InputError
        With the columns, and how each is read.
    """
    ways: dict[str, list[str]] = {}
    for column in left:
        found = profiles[column]
        if found.seen.misread and found.uncommon:
            ways.setdefault(found.seen.misread.told, []).append(column.name)
    if ways:
        raise InputError(
            "columns",
            "text that looks like numbers or dates, and has hardly a common value, is to be read as these or left out",
            "; ".join(f"{', '.join(columns)}: {told}" for told, columns in ways.items()),
            "Read it so, or use --drop; if it is text that names nobody, say so with --identifier-ok COLUMN",
        )


def refuse_rows(warehouse: Warehouse, source: Source, job: Job, seen: Mapping[Column, Seen]) -> None:
    """Refuse to count rows where these seem to be of fewer persons, and nobody has said what k counts.

    Raises
    ------
    InputError
        With the columns that seem to say whose record it is, and why.
    """
    if job.options.person or job.options.rows_are_persons:
        return
    found = repeated_persons(warehouse, source, seen)
    if found is not None:
        raise InputError(
            f"{job.label}, persons",
            "k counts persons, and these have several rows here",
            f"rows: {found.told}",
            f"Write {found.keys}; or rows_are_persons = true, if every row is about another person"
            if job.in_file
            else f"Give {found.choice}; or --rows-are-persons, if every row is about another person",
        )


def populations_in_words(warehouse: Warehouse, job: Job) -> list[str]:
    """Return a note for every population in which persons seem to have several rows: each counts as a member."""
    named = dict.fromkeys(step.population for step in job.steps if step.population)
    looked = [repeated_persons(warehouse, warehouse.source(one, name="population_source"), {}) for one in named]
    return [f"the rows of the population seem to be {one.told}: each counts as a member" for one in looked if one]


def weights_of_rest(
    job: Job, step: Step, rest: Sequence[Column], profiles: Mapping[Column, ColumnProfile]
) -> str | None:
    """Return the column of weights among those that a step takes because nobody names them; None where there is none.

    A weight that was averaged with the others would weight nothing. What a column called weight is, only its owner
    knows: of a body it is a number like others.

    Raises
    ------
    InputError
        With the columns of which it must be said.
    """
    told = {name.lower() for option in ("numeric", "nominal") for name in step.settings.get(option) or ()}
    found = [c for c in rest if profiles[c].role[0] == "weight" and c.name.lower() not in told]
    if not found:
        return None
    given = job.options
    alone = not (step.weights or given.person or given.household or job.publish.is_night or step.guarantees.asked)
    if len(found) == 1 and alone and step.method.setting("weights") and column_names.is_sampling_weight(found[0].name):
        return found[0].name
    option = "weights" if job.in_file else "--weights"
    one = found[0].name
    do = f"{option} {one}: sampling weights, whose totals stay" if alone else "Leave sampling weights out with --drop"
    raise InputError(
        f"{step.where}, columns",
        "it must be said what a column called a weight is: averaged with the others it would weight nothing",
        ", ".join(names_of(found)),
        f"{do}. --numeric {one}: measured, as of a body, and anonymized with the others"
        + (f". --drop {one}: left out" if alone else ""),
    )


def weights_in_words(steps: Sequence[PlannedStep]) -> list[str]:
    """Return a note for every step that changes a weight as it does any number, unless it was told to take it as one.

    Not of what only leaves records or values out.
    """
    notes = []
    for step in steps:
        told = {name.lower() for name in step.settings.get("numeric") or ()}
        found = [
            c.name for c in step.columns
            if c.numeric and column_names.is_weight(c.name) and c.name.lower() not in told
        ]  # fmt: skip
        if found and (step.method.stage != "mask" or step.method.draws):
            notes.append(
                f"warning: {', '.join(found)}: weights by the name, which {step.method.name} changes as any numbers; "
                "what they weight changes with them. Sampling weights: leave them out here, and --keep them; or "
                "safe --weights, which keeps their totals"
            )
    return notes


def refuse_unique(run: Run, accepted: Collection[str], where: str) -> None:
    """Refuse to release a column as it is that alone singles out many records, unless it is accepted by its name.

    Raises
    ------
    InputError
        When a column that is kept makes more of the records unique than `UNIQUE_AT_MOST`.
    """
    found = []
    for column in run.roles.kept:
        if column.name.lower() not in accepted:
            staged = replace(column, name=column.staged, collated=False)
            share = k_anonymity.class_sizes(run.warehouse, run.table.original, [staged]).unique
            found += [(column.name, share)] if share > UNIQUE_AT_MOST else []
    if found:
        raise InputError(
            where,
            f"a released column must not alone make more than {100 * UNIQUE_AT_MOST:g} % of the records unique",
            ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in found),
            "Anonymize or drop it, or accept it with --accept-unique "
            + shlex.quote(",".join(name for name, _ in found)),
        )


def _treated(columns: Sequence[Column], job: Job) -> list[Column]:
    """Return the columns that a method for identifiers takes before any other step does."""
    first: dict[Column, str] = {}
    for step in job.steps:
        for found in picked(columns, step):
            for column in found:
                first.setdefault(column, step.method.name)
    return [column for column, method in first.items() if method in FOR_IDENTIFIERS]


def roles_in_words(roles: Roles, weights: Collection[str] = ()) -> list[str]:
    """Return the notes on what becomes of the columns, and on those whose values look like something else.

    >>> age, name = Column("age", "INTEGER", "age"), Column("name", "VARCHAR", "name")
    >>> roles_in_words(Roles((), (age,), (name,)))
    ['dropped: name', 'released as they are: age']
    """
    misread: dict[Misread, list[Column]] = {}
    for column, seen in roles.seen:
        if seen.misread:
            misread.setdefault(seen.misread, []).append(column)
    notes: list[tuple[str, Sequence[Column], str]] = [
        ("dropped as direct identifiers: ", roles.identifiers, " (see the reasons with: sqlmicro profile)"),
        ("dropped: ", [column for column in roles.dropped if column not in roles.identifiers], ""),
        ("not treated as direct identifiers, as you asked: ", roles.allowed, ""),
        *((f"{one.told}; as text it has no arithmetic: ", found, "") for one, found in misread.items()),
        ("released as they are: ", [column for column in roles.kept if column.name.lower() not in weights], ""),
    ]
    return [before + ", ".join(names_of(columns)) + behind for before, columns, behind in notes if columns]
