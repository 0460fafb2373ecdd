"""The plan of a job: what is done to which columns, what it promises, what is made on the way and where it goes.

A job becomes a plan before a record is read. `explain` tells it, the engines follow it. What only the values can tell
is settled by looking at a sample of them, which gives another plan: `looked_at`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlmicro.database.column_names import Whose, is_word_for_a_person, says, whose
from sqlmicro.database.column_roles import Roles, settle_roles
from sqlmicro.database.columns import Column, ColumnProfile, names_of, pick
from sqlmicro.database.loading import LOADED, Relation
from sqlmicro.database.source import Source
from sqlmicro.database.templates import ident
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, JobError, Need, ParameterError, demand
from sqlmicro.identifiers import rare, scan
from sqlmicro.identifiers.rare import FewerThan
from sqlmicro.jobs.roles import (
    named,
    picked,
    pseudonyms,
    refuse_direct,
    refuse_misread,
    refuse_rare,
    refuse_rows,
    roles_of,
    weights_in_words,
    weights_of_rest,
)  # fmt: skip
from sqlmicro.jobs.steps import Gate, Job
from sqlmicro.options.common import JobOptions, PublishSettings, names
from sqlmicro.options.guarantees import GuaranteeOptions
from sqlmicro.options.params import parameters, settle
from sqlmicro.pipeline import PlannedStep
from sqlmicro.registry import Method
from sqlmicro.system.secrets import Recipe, repeated
from sqlmicro.work import Claim

_LEVELS = tuple(
    Relation(name, template, certain=False)
    for name, template in (
        ("*_members", "load/members.sql"), ("person_households", "load/members.sql"), ("units_*", "load/units.sql"),
        ("*_of_records", "replace/by_unit.sql"), ("released_*", "replace/released.sql"),
    )
)  # fmt: skip
"""What is made where persons or households have several records."""


@dataclass(frozen=True)
class Plan:
    """What will be done to one table.

    `columns` are those of the table, or, where nothing is `known` of it, those that the job names. `left` are named
    nowhere.
    """

    job: Job
    columns: tuple[Column, ...]
    known: bool
    roles: Roles
    left: tuple[Column, ...]
    steps: tuple[PlannedStep, ...]

    @property
    def options(self) -> JobOptions:
        """What holds for all steps: the table and how it is read, the machine, the seed, the engine."""
        return self.job.options

    @property
    def gates(self) -> tuple[Gate, ...]:
        """What the release must pass before it is published."""
        return self.job.gates

    @property
    def publish(self) -> PublishSettings:
        """Where the release goes."""
        return self.job.publish

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the steps promise."""
        return tuple(claim for step in self.steps for claim in step.claims)

    @property
    def worked_on(self) -> tuple[Column, ...]:
        """Every column that a step works on, strata included."""
        return tuple(dict.fromkeys(column for step in self.steps for column in (*step.columns, *step.by)))

    @property
    def accepted(self) -> set[str]:
        """The columns, in small letters, that may single out records: those named for it, and weights."""
        gates = [gate.options.weight for gate in self.gates if gate.options.weight]
        weights = [name for step in self.steps for name in step.weights]
        return {name.lower() for name in (*self.options.accept_unique, *gates, *weights)}

    @property
    def calibrated(self) -> set[str]:
        """The columns of weights, in small letters, that are released with other values."""
        return {name.lower() for step in self.steps if step.method.stage == "safe" for name in step.weights}

    @property
    def takes_rest(self) -> bool:
        """Whether a step works on every column that is named nowhere and is no direct identifier."""
        return any(step.takes_rest for step in self.job.steps)

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What is made in staging, in order, up to the records of the release."""
        by_level = _LEVELS if self.roles.person or self.roles.household else ()
        return (*LOADED, *by_level, *(relation for step in self.steps for relation in step.relations))

    @property
    def fewer(self) -> FewerThan:
        """What fewer than k means here: the largest k of the steps, and of whom: records, persons, households."""
        k = max((step.k for step in self.steps), default=0) or rare.K
        return FewerThan(k, self.roles.person, self.roles.household)

    @property
    def nominal(self) -> set[str]:
        """The columns, in small letters, that steps are told to take no means of."""
        return {name.lower() for step in self.steps for name in step.settings.get("nominal") or ()}

    @property
    def modes(self) -> tuple[Column, ...]:
        """The columns of text of which a step that groups records would release the commonest value of each group."""
        grouping = [step for step in self.steps if step.method.stage != "mask"]
        first = {column: step for step in reversed(self.steps) for column in step.columns}
        return tuple(column for column, step in first.items() if step in grouping and rare.is_text(column))

    @property
    def keeps_candidates(self) -> bool:
        """Whether the releases that the last step could have chosen are published too."""
        return any(step.keeps_candidates for step in self.job.steps)

    def apart_from(self, step: PlannedStep) -> list[PlannedStep]:
        """Return the steps whose columns a step that takes the rest leaves alone: those before it, and pseudonyms."""
        return [other for other in self.steps if other.number < step.number or other.method.surrogate]

    def with_steps(self, steps: Sequence[PlannedStep]) -> Plan:
        """Return the plan with other settings of its steps."""
        return replace(self, steps=_told_apart(steps))

    def recipe(self, source: Source) -> Recipe:
        """Return what decides the release besides its input and the key."""
        tasks = tuple(step.task for step in self.steps)
        roles = self.roles
        dropped, row_key = names_of(roles.dropped), names_of(roles.row_key)
        units = (names_of(found) for found in (roles.person, roles.of_person, roles.household))
        return Recipe(source.identity, dropped, row_key, tasks, *units)


def drafted(job: Job, columns: Sequence[Column] | None = None) -> Plan:
    """Return the plan of a job over a table with these columns, or over one of which nothing is known.

    Columns without a role are no error yet.

    Raises
    ------
    ParameterError, JobError
        When a column is not there, is named twice or has two roles, or a setting cannot be.
    """
    own = named(job) if columns is None else tuple(columns)
    roles, left = roles_of(job, own)
    demand(_needs_of_candidates(job))
    treated = set(pseudonyms(own, job))
    steps: list[PlannedStep] = []
    for number, step in enumerate(job.steps, 1):
        on, by = picked(own, step)
        if step.takes_rest:
            on = [column for column in own if column in roles.used and column not in (*by, *treated)]
        if job.publish.is_night and step.method.stage == "safe":  # its classes are combinations: none mixes a stratum
            on, by = [*on, *(column for column in by if column not in on)], []
        both = [column for column in on if column in by]
        if both:
            got = f"{', '.join(names_of(both))} in both --columns and --by"
            raise ParameterError(step.where, "a stratum is not anonymized", got)
        demand(step.guarantees.needs(step.where))
        given = {
            name: value for name, value in step.settings.items() if name not in names(parameters(GuaranteeOptions))
        }
        settings = settle(step.method.own_settings, given, step.where)
        if roles.person:
            demand(step.guarantees.needs_of_persons(step.where, settings.get("k")))
        nulls = step.nulls or _nulls(job, step.method, roles)
        steps.append(
            PlannedStep(
                number, step.method, settings, tuple(on), tuple(by), nulls, step.where, step.weights,
                guarantees=step.guarantees, sensitive=tuple(pick(own, step.guarantees.sensitive, step.where)),
                decimals=job.options.decimals or job.publish.widen,
            )
        )  # fmt: skip
        treated |= set(on)
    return Plan(job, own, columns is not None, roles, left, _told_apart(steps))


def _nulls(job: Job, method: Method, roles: Roles) -> str:
    """Return what becomes of missing values where nothing is said.

    Patterns of missing values are strata: inside the classes of persons they would need k persons each, which few have,
    and of one night they would change in the next.
    """
    alone = not (roles.person or roles.household or job.publish.is_night)
    return method.nulls if alone or method.nulls != "pattern" else "keep"


def compiled(job: Job, source: Source) -> Plan:
    """Return the plan of a job over a table that was found; every column has a role.

    Raises
    ------
    InputError
        When a column has none: nothing is released by oversight.
    """
    plan = drafted(job, source.columns)
    roles = plan.roles
    settle_roles(plan.columns, roles.used, roles.kept, roles.dropped, None)
    return plan


def looked_at(plan: Plan, warehouse: Warehouse, source: Source) -> Plan:
    """Return the plan once a sample of the values was looked at: a step that takes the rest leaves out identifiers.

    Raises
    ------
    InputError
        When a direct identifier would be released as it is, or take part as if it were none.
    """
    roles, region = plan.roles, plan.options.region
    if plan.takes_rest:
        codes = [column for column in plan.left if column.name.lower() in plan.nominal]
        looked = scan.profiles(warehouse, source, region, plan.fewer, codes)
        profiles = {profile.column: profile for profile in looked}
        found = tuple(
            column for column in plan.left
            if profiles[column].role[0] == "identifier" and column not in roles.allowed
        )  # fmt: skip
        left = [column for column in plan.left if column not in (*found, *roles.allowed)]
        refuse_misread(left, profiles)
        plan, weights = _with_weights(plan, left, profiles)
        used = tuple(column for column in roles.used if column not in (*found, *weights))
        kept, dropped = (*roles.kept, *weights), (*roles.dropped, *found)
        roles = replace(roles, used=used, kept=kept, dropped=dropped, identifiers=found)
        seen = {column: profile.seen for column, profile in profiles.items()}
    else:
        seen = scan.seen(warehouse, source, roles.released, region)
    roles = replace(roles, seen=tuple((column, seen[column]) for column in roles.released))
    refuse_direct(plan.columns, roles, plan.job)
    refuse_rare(warehouse, source, roles, plan.modes, plan.fewer)
    refuse_rows(warehouse, source, plan.job, seen)
    steps = [
        replace(step, columns=tuple(column for column in step.columns if column not in roles.identifiers))
        for step in plan.steps
    ]
    return replace(plan, roles=roles, steps=_told_apart(steps))


def _with_weights(
    plan: Plan, rest: Sequence[Column], profiles: Mapping[Column, ColumnProfile]
) -> tuple[Plan, list[Column]]:
    """Return the plan with the column of weights that a step finds among those it takes, and that column."""
    steps, weights = [], []
    for step, asked in zip(plan.steps, plan.job.steps, strict=True):
        name = weights_of_rest(plan.job, asked, rest, profiles) if asked.takes_rest else None
        if name is None:
            steps.append(step)
            continue
        weights += pick(plan.columns, [name], step.where)
        setting = step.method.setting("weights")
        assert setting is not None
        columns = tuple(column for column in step.columns if column not in weights)
        settings = {**step.settings, setting.name: name}
        steps.append(replace(step, settings=settings, weights=(name,), columns=columns))
    return plan.with_steps(steps), weights


def refuse_whole_weights(plan: Plan) -> None:
    """Refuse to write calibrated weights into a column that rounds them: the totals would not be what is said.

    Raises
    ------
    InputError
        With the columns.
    """
    found = [c for c in plan.roles.kept if c.name.lower() in plan.calibrated and c.family in ("integer", "decimal")]
    if found:
        raise InputError(
            f"{plan.job.label}, weights", "in place, a column of calibrated weights must be DOUBLE, which rounds none",
            ", ".join(f"{column.name} ({column.type})" for column in found),
            f"Use --into NAME, or first: ALTER TABLE ... ALTER COLUMN {ident(found[0].name)} TYPE DOUBLE",
        )  # fmt: skip


def counted_in_words(plan: Plan) -> list[str]:
    """Return the notes on what k counts, where somebody has said it, and on weights that do not count."""
    if plan.options.rows_are_persons:
        counted = "k counts rows: you said that every row is about another person"
        return [counted, *weights_in_words(plan.steps)]
    rows = [
        step.method.name for step in plan.steps if plan.roles.person and step.k and not step.method.keeps_guarantees
    ]
    return [
        *_others_counted(plan),
        *weights_in_words(plan.steps),
        *(f"{name}: its k counts records, not persons, and it promises none" for name in rows),
    ]


def _others_counted(plan: Plan) -> list[str]:
    """Return a note where k counts those who served somebody, by their name, and somebody else has a number too."""
    counted = names_of(plan.roles.person)
    if not counted or any(whose(name) is not Whose.OTHERS for name in counted):
        return []
    return [
        f"k counts those of {', '.join(counted)}, who are not those of {name}: give --person {name} if these are meant"
        for name in names_of(plan.columns)
        if whose(name) is Whose.SUBJECT and (says(name) == "person id" or is_word_for_a_person(name))
    ]


def _told_apart(steps: Sequence[PlannedStep]) -> tuple[PlannedStep, ...]:
    """Return the steps, each with the number of equal ones before it: it draws other random numbers."""
    tasks = repeated(replace(step, repeated=0).task for step in steps)
    return tuple(replace(step, repeated=task.repeated) for step, task in zip(steps, tasks, strict=True))


def _needs_of_candidates(job: Job) -> Iterator[Need]:
    """Yield what is needed where candidates are kept: those of a step that others follow are no whole releases."""
    for step in job.steps[:-1]:
        where, must = f"{step.where}, key 'keep_candidates'", "goes with the last step that changes records"
        yield Need(not step.keeps_candidates, where, must, "other steps after it", kind=JobError)
