"""The main flow, read this first: load → type → group → replace → audit → publish.

Every step reads earlier relations and creates new ones keyed by `row_id`, which is given once, at load. The functions
here are the verbs of that flow in the order in which an engine calls them, as its plan says: `jobs/plan.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn

from sqlmicro import records
from sqlmicro.audits.inputs import PassedGate
from sqlmicro.database.columns import Column, Roles, names_of, pick
from sqlmicro.database.content import Content, content, content_of_input
from sqlmicro.database.deniable import Deniable
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import type_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError
from sqlmicro.group import keeping
from sqlmicro.missing import counted, policy
from sqlmicro.options.guarantees import NO_GUARANTEE, GuaranteeOptions
from sqlmicro.registry import Method, Promise, find
from sqlmicro.safe_method.candidates import CandidateRow, Chosen, Released
from sqlmicro.system.secrets import Key, Recipe, Task
from sqlmicro.work import Claim, Guaranteed, Outcome, Work


class Relation(NamedTuple):
    """A relation in staging, and the template it is made by; one that is not `certain` depends on the records."""

    name: str
    template: str
    certain: bool = True


LOADED = (
    Relation("typed", "load/typed.sql"),
    Relation("shuffled", "load/shuffled.sql"),
    Relation("numbered", "load/numbered.sql"),
    Relation("copies", "load/copies.sql", certain=False),
)
"""What `load` makes of every source."""


@dataclass(frozen=True)
class PlannedStep:
    """A step as it is planned: a method with all its settings, the columns it works on, and its strata."""

    number: int
    method: Method
    settings: Mapping[str, Any]
    columns: tuple[Column, ...]
    by: tuple[Column, ...]
    nulls: str
    where: str
    weights: tuple[str, ...] = ()
    repeated: int = 0
    guarantees: GuaranteeOptions = NO_GUARANTEE
    sensitive: tuple[Column, ...] = ()
    """The columns the guarantees are about."""

    @property
    def told(self) -> dict[str, Any]:
        """What decides what it makes, as it is recorded: its settings, and the guarantees that were asked for."""
        return {**self.settings, **self.guarantees.given()}

    @property
    def k(self) -> int:
        """The smallest size of a group, 0 for a method that has none."""
        return int(self.method.told("k", self.settings) or 0)

    @property
    def claim(self) -> Claim:
        """What the step promises, unless its method promises other columns once it knows the records."""
        return Claim((*self.columns, *self.by), self.method.promise, self.k)

    @property
    def task(self) -> Task:
        """What its random numbers depend on."""
        own = names_of(self.columns), names_of(self.by)
        return Task(self.method.name, *own, self.nulls, self.told, self.repeated)

    @property
    def prefix(self) -> str:
        """How the relations of its method are called."""
        return f"{self.method.name}_{self.number}".replace("-", "_")

    @property
    def released(self) -> Relation:
        """The records with the values that the step gives them."""
        return Relation(f"released_{self.number}", "replace/released.sql")

    @property
    def relations(self) -> tuple[Relation, ...]:
        """What the step makes, in order: the relations of the method are called by its prefix and what they hold."""
        number, templates = self.number, self.method.templates
        missing = {
            "suppress": (Relation(f"complete_{number}", "load/complete_rows.sql", certain=False),),
            "pattern": tuple(
                Relation(f"missing_{number}_*", f"load/{name}.sql", certain=False)
                for name in ("null_patterns", "coarsened_patterns")
            ),
        }
        grouped = Relation(f"grouped_{number}", "replace/grouped_only.sql", certain=False)
        return (
            *missing.get(self.nulls, ()),
            *(Relation(f"{self.prefix}_*", name, certain=False) for name in templates),
            self.released,
            *([grouped] if grouped.template in templates else ()),
        )


@dataclass(frozen=True)
class StepReport:
    """What a step did."""

    method: str
    parameters: dict[str, Any]
    columns: list[str]
    by: list[str]
    """The strata."""
    nulls: str
    promise: Promise
    groups: int
    smallest_group: int | None
    largest_group: int | None
    safe_distance: Released | None
    candidates: list[CandidateRow]
    """The files that SAFE could have released."""
    chosen: int | None
    """The number of the candidate that is released."""
    key_fingerprint: str | None
    """Of a key of its own, as of pseudonyms."""


@dataclass
class Run:
    """The state of a run: the current relation, what was done so far, and what it promised.

    `seen` is what the source held when it was read, where it may be changed in place.
    """

    warehouse: Warehouse
    source: Source
    roles: Roles
    key: Key
    recipe: Recipe
    content: bytes
    original: Name
    current: Name
    rows_in: int
    steps: list[StepReport] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    denied: list[Deniable] = field(default_factory=list)
    gates: list[PassedGate] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    widened: set[str] = field(default_factory=set)
    numeric: set[Column] = field(default_factory=set)
    text: set[Column] = field(default_factory=set)
    kept: dict[int, Name] = field(default_factory=dict)
    seen: Content | None = None
    apart: dict[str, str] = field(default_factory=dict)
    """Released columns that nobody knows from elsewhere, and why: pseudonyms, weights, sensitive ones."""
    staging: str = field(init=False)

    def __post_init__(self) -> None:
        self.staging = self.warehouse.staging

    def resume(self) -> None:
        """Go on with this run where another one of the same warehouse was before, in its staging database."""
        self.warehouse.staging = self.staging

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the block to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start

    @property
    def known(self) -> tuple[Column, ...]:
        """The released columns an attacker may know: what the k of the release is measured over, in their order."""
        released = {column for column in self.roles.released if column.name not in self.apart}
        ordered = dict.fromkeys((*self.source.columns, *self.roles.released))
        return tuple(column for column in ordered if column in released)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """Every column some step worked on, strata included."""
        return tuple(dict.fromkeys(column for claim in self.claims for column in claim.columns))

    def as_it_is(self, column: Column) -> Column:
        """Return a column with the type its values have by now."""
        return replace(column, type="VARCHAR") if column in self.text else column


def load(warehouse: Warehouse, source: Source, roles: Roles, key: Key, recipe: Recipe, *, watched: bool = False) -> Run:
    """Bring every released column into the form the methods work on, and number the records.

    Of a source that is `watched`, since it may be changed in place, it is kept what it held when it was read.

    Raises
    ------
    InputError
        When the table has no rows, --row-key does not identify them, or nothing is left to be released.
    """
    start = time.perf_counter()
    if not roles.released:
        _refuse_nothing(roles, source.label)
    columns = [column for column in source.columns if column in set(roles.read)]
    with warehouse.aside() if watched else nullcontext():
        seen = content(warehouse, source.relation) if watched else None
        typed = type_columns(warehouse, source, columns, set(roles.used), row_key=roles.row_key)
    was_read = content_of_input(warehouse, typed, columns, roles.row_key)
    shuffled = warehouse.run("load/shuffled.sql", "shuffled", view=True, relation=typed)
    numbered = warehouse.run("load/numbered.sql", "numbered", shuffled=shuffled, columns=columns)
    warehouse.forget(typed)
    rows = warehouse.count(numbered)
    if rows == 0:
        raise InputError(source.label, "there must be records to anonymize", "an empty table")
    if not roles.row_key and any(find(task.method).draws for task in recipe.tasks) and _repeats(warehouse, numbered):
        copies = warehouse.run("load/copies.sql", "copies", numbered=numbered, columns=columns)
        warehouse.forget(numbered)
        numbered = copies
    run = Run(warehouse, source, roles, key, recipe, was_read, numbered, numbered, rows, seen=seen)
    run.seconds["load"] = time.perf_counter() - start
    return run


def _refuse_nothing(roles: Roles, where: str) -> NoReturn:
    dropped = ", ".join(column.name for column in roles.identifiers)
    got = f"only direct identifiers, which are dropped: {dropped}" if dropped else "none"
    raise InputError(where, "needs columns to work on", got, "Name them with --columns a,b")


def _repeats(warehouse: Warehouse, numbered: Name) -> bool:
    """Tell whether two records have the same content."""
    text = "SELECT count(*) > count(DISTINCT record) FROM {{ numbered | ident }}"
    return bool(warehouse.query("copies", text, numbered=numbered)[0][0])


def step(run: Run, planned: PlannedStep) -> None:
    """Group the records by one method and replace the values of its columns.

    Raises
    ------
    InputError
        When columns cannot be used by the method: wrong type, missing or infinite values, too few records.
    """
    method, columns, where = planned.method, planned.columns, planned.where
    if not columns and method.takes_columns:
        _refuse_nothing(run.roles, where)
    unions = [column.name for column in columns if column.type.startswith("UNION")]
    if unions:
        raise InputError(where, "cannot work on a UNION", ", ".join(unions), "Use --keep or --drop for these")
    with run.timed(f"{method.stage}: {method.name}"):
        relation, patterns = policy.settle(run, planned)
        work = Work(
            run.warehouse,
            run.source,
            relation,
            [run.as_it_is(column) for column in columns],
            [*(run.as_it_is(column) for column in planned.by), *patterns],
            where=where,
            prefix=planned.prefix,
            key=run.key,
            task=planned.task,
            rows=run.rows_in,
            before=run.current,
            guaranteed=Guaranteed(planned.guarantees, planned.sensitive, run.roles.person, run.original),
        )
        if method.engine == "numpy":
            records.group(work, method, planned.settings, keeping.keeper_of(work, method, planned.settings, planned.k))
        else:
            if method.stage == "group":
                _refuse_nominal(work.columns, where)
            method.function(work, **planned.settings)
    outcome = work.outcome
    _as_declared(run, outcome)
    run.apart |= _unknown_elsewhere(run, planned, outcome)
    before = run.current
    with run.timed("replace"):
        _apply(run, outcome, planned.number)
    if planned.nulls == "keep" and method.takes_nulls:
        changed = counted.said(counted.measure(run.warehouse, before, run.current, columns))
        run.notes += [f"--nulls keep: {changed}"] if changed else []
    run.claims += _claims(run, planned, outcome)
    run.denied += [outcome.denied] if outcome.denied else []
    run.notes += outcome.notes
    run.steps.append(_summary(planned, outcome))


def _claims(run: Run, planned: PlannedStep, outcome: Outcome) -> list[Claim]:
    """Return what a step promises, with the guarantees of its classes."""
    claims = outcome.claims or [planned.claim]
    if not planned.guarantees.asked:
        return claims
    return [
        replace(claim, kept=planned.guarantees) if claim.promise in ("record", "column") else claim for claim in claims
    ]


def _unknown_elsewhere(run: Run, planned: PlannedStep, outcome: Outcome) -> dict[str, str]:
    """Return the columns that a step leaves unknown to everybody outside, and why."""
    weights = [*outcome.added, *pick(run.source.columns, planned.weights, "weights")]
    found = dict.fromkeys(names_of(weights), "weight") | dict.fromkeys(names_of(planned.sensitive), "sensitive")
    return found | dict.fromkeys(names_of(planned.columns) if planned.method.makes_pseudonyms else (), "pseudonym")


def _refuse_nominal(columns: Sequence[Column], where: str) -> None:
    wrong = [f"{column.name} ({column.type})" for column in columns if not column.numeric]
    if wrong:
        raise InputError(
            where,
            "works on numbers, dates and timestamps",
            ", ".join(wrong),
            "Leave these out of --columns, or use: sqlmicro safe, which takes any type",
        )


def _as_declared(run: Run, outcome: Outcome) -> None:
    """Name the columns of an outcome as the source declares them, whatever they have become by now."""
    own = {column.staged: column for column in run.roles.released}
    outcome.values = {own[column.staged]: found for column, found in outcome.values.items()}
    outcome.nominal = [own[column.staged] for column in outcome.nominal]
    outcome.text = [own[column.staged] for column in outcome.text]
    if outcome.denied:
        declared = tuple(own[column.staged] for column in outcome.denied.columns)
        outcome.denied = replace(outcome.denied, columns=declared)
    outcome.claims = [
        replace(claim, columns=tuple(own[column.staged] for column in claim.columns)) for claim in outcome.claims
    ]


def _apply(run: Run, outcome: Outcome, number: int) -> None:
    """Put the new values into a relation with all released columns; those of other candidates into one each."""
    relation = run.current
    run.roles = replace(run.roles, kept=(*run.roles.kept, *outcome.added))
    outcome.values |= {column: (added, column.staged) for column, added in outcome.added.items()}
    run.current = _replaced(run, relation, outcome, str(number))
    run.kept = {
        candidate: _replaced(run, relation, other, f"{number}_candidate_{candidate}")
        for candidate, other in outcome.others.items()
    }
    run.text |= set(outcome.text)
    run.numeric |= set(outcome.values) - {*outcome.nominal, *outcome.text, *outcome.added}
    run.widened |= {column.staged for column in run.numeric}


def _replaced(run: Run, relation: Name, outcome: Outcome, suffix: str) -> Name:
    """Return the records of a relation with the values of an outcome."""
    replaced = dict.fromkeys(values for values, _ in outcome.values.values())
    aliases = {values: f"v{index}" for index, values in enumerate(replaced, 1)}
    columns = []
    for column in run.roles.released:
        values, name = outcome.values.get(column, (None, column.staged))
        columns.append((column, "r" if values is None else aliases[values], name))
    released = run.warehouse.run(
        "replace/released.sql",
        f"released_{suffix}",
        rows=run.rows_in,
        relation=relation,
        columns=columns,
        joined=[(alias, values) for values, alias in aliases.items()],
    )
    if outcome.only_grouped is None:
        return released
    return run.warehouse.run(
        "replace/grouped_only.sql", f"grouped_{suffix}", relation=released, groups=outcome.only_grouped
    )


def _summary(planned: PlannedStep, outcome: Outcome) -> StepReport:
    chosen = outcome.told if isinstance(outcome.told, Chosen) else None
    return StepReport(
        planned.method.name,
        planned.told,
        [column.name for column in planned.columns],
        [column.name for column in planned.by],
        planned.nulls,
        outcome.promise or planned.method.promise,
        outcome.groups,
        outcome.smallest,
        outcome.largest,
        chosen.released if chosen else None,
        chosen.candidates if chosen else [],
        chosen.number if chosen else None,
        outcome.key_fingerprint,
    )
