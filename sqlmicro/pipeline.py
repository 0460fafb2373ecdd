"""The main flow, read this first: load → type → group → replace → audit → publish.

Every step reads earlier relations and creates new ones keyed by `row_id`, which is given once, at load. The functions
here are the verbs of that flow in the order in which an engine calls them, as its plan says: `jobs/plan.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NoReturn

from sqlmicro.audits.inputs import PassedGate
from sqlmicro.database import levels
from sqlmicro.database.carried import FileSeries, Nights
from sqlmicro.database.column_roles import Roles
from sqlmicro.database.columns import Column, names_of, pick, split_names
from sqlmicro.database.deniable import Deniable, Kept
from sqlmicro.database.levels import Level, Part
from sqlmicro.database.loading import Loaded, Relation, loaded
from sqlmicro.database.own_key import known_by
from sqlmicro.database.places import with_values
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.database.whole import holding
from sqlmicro.errors import InputError
from sqlmicro.group import records
from sqlmicro.missing import counted, policy
from sqlmicro.options.guarantees import NO_GUARANTEE, GuaranteeOptions
from sqlmicro.registry import Assurance, Loss, Method, Promise, find, sorted_by
from sqlmicro.safe_method.candidates import CandidateRow, Chosen, LevelReport, Released, of_levels
from sqlmicro.scopes import (
    Keep,
    OneForEachUnit,
    SameDrawsForEachUnit,
    Seats,
    WithinPatterns,
    as_declared,
    solve,
    together,
)  # fmt: skip
from sqlmicro.system.reporting import OMITTED
from sqlmicro.system.secrets import Key, Recipe, Task
from sqlmicro.work import Claim, Demand, Draws, Kind, Outcome, Records, StepOf, Terms, Work


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
    decimals: bool = False
    """Whether means of whole numbers are released with decimals."""

    @property
    def told(self) -> dict[str, Any]:
        """What decides what it makes, as it is recorded: its settings, and the guarantees that were asked for."""
        later = {setting.name: setting.default for setting in self.method.settings if setting.param.later}
        own = {name: value for name, value in self.settings.items() if name not in later or value != later[name]}
        return {**own, **self.guarantees.given()}

    @property
    def k(self) -> int:
        """The smallest size of a group, 0 for a method that has none."""
        return int(self.method.told("k", self.settings) or 0)

    @cached_property
    def assured(self) -> Assurance:
        """What its method promises with these settings."""
        return self.method.assured(self.settings, self.where)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the step promises of every class of its columns, or of each set of them that it promises it of."""
        return self.claims_of(self.columns)

    def claims_of(self, columns: Sequence[Column]) -> tuple[Claim, ...]:
        """Return what it promises of some of its columns, with its strata."""
        told, sets = self.assured, [tuple(columns)]
        if told.blocks is not None:
            sets = [tuple(pick(columns, split_names([block]), self.where)) for block in told.blocks]
        elif told.subsets is not None:
            sets = [*combinations(columns, min(told.subsets, len(columns)))]
        promise = "record" if told.promise == "block" else told.promise  # of each block by itself
        kept = self.guarantees if promise in ("record", "column") else NO_GUARANTEE
        terms = Terms(self.k, kept, told.in_population)
        return tuple(Claim((*of, *self.by), promise, terms) for of in sets)

    def left_as_it_is(self, released: Sequence[Column]) -> tuple[Column, ...]:
        """Return which of the columns that are released the step does nothing to."""
        return tuple(column for column in released if column not in (*self.columns, *self.by, *self.sensitive))

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
    """What a step did, and by how many percent the SSE of its groups is above the optimum at most."""

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
    levels: list[LevelReport] | None = field(default=None, metadata=OMITTED)
    above_optimum: float | None = field(default=None, metadata=OMITTED)


@dataclass
class Promises:
    """What a release is held to before it is published: each is measured on what is written."""

    claims: list[Claim] = field(default_factory=list)
    """What its steps say that every class of their columns keeps."""
    denied: list[Deniable] = field(default_factory=list)
    """Of which steps nobody can tell whether a combination that is shown occurred."""
    gates: list[PassedGate] = field(default_factory=list)
    """What was asked for by name, and held of the records already."""
    apart: dict[str, str] = field(default_factory=dict)
    """Released columns that nobody knows from elsewhere, and why: pseudonyms, weights, sensitive ones."""


@dataclass
class Log:
    """What was done, how long it took, and what is told of it."""

    steps: list[StepReport] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    recodings: dict[str, tuple[object, int]] = field(default_factory=dict)
    """What steps decided and how many records they left, by the file that it is written to."""

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the block to a stage."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - start


@dataclass
class Repeat:
    """What makes the same release again of the same records."""

    key: Key
    recipe: Recipe


@dataclass
class Around:
    """What stands around every method of a run, see `scopes`."""

    levels: tuple[Level, ...] = ()
    """Units of several records, and which columns have one value in each."""
    seater: records.Seater | None = None
    """What continues a series, where the release is a night of one."""


@dataclass
class Table:
    """The records as they were read, and as they are by now."""

    loaded: Loaded
    current: Name
    kinds: dict[Column, Kind] = field(default_factory=dict)
    """Of what kind the new values of columns are."""
    candidates: dict[int, Kept] = field(default_factory=dict)
    """The records as other candidates have them, by their number: they are written beside the release."""

    @property
    def original(self) -> Name:
        """The records as they were read."""
        return self.loaded.records

    @property
    def numeric(self) -> set[Column]:
        """The columns whose new values are numbers: means, or with noise."""
        return {column for column, kind in self.kinds.items() if kind == "number"}

    @property
    def text(self) -> set[Column]:
        """The columns whose values are text by now, whatever the table has."""
        return {column for column, kind in self.kinds.items() if kind == "text"}

    def as_it_is(self, column: Column) -> Column:
        """Return a column with the type its values have by now."""
        return replace(column, type="VARCHAR") if column in self.text else column


@dataclass
class Run:
    """A run: what is released, how it is repeated, the table by now, and what is promised and told of it."""

    warehouse: Warehouse
    source: Source
    roles: Roles
    repeat: Repeat
    table: Table
    around: Around = field(default_factory=Around)
    promises: Promises = field(default_factory=Promises)
    log: Log = field(default_factory=Log)

    def resume(self) -> None:
        """Go on with this run where another one of the same warehouse was before, in its staging database."""
        self.warehouse.staging = self.table.original.catalog

    @property
    def known(self) -> tuple[Column, ...]:
        """The released columns an attacker may know: what the k of the release is measured over, in their order."""
        released = {column for column in self.roles.released if column.name not in self.promises.apart}
        ordered = dict.fromkeys((*self.source.columns, *self.roles.released))
        return tuple(column for column in ordered if column in released)

    @property
    def counted(self) -> tuple[Column, ...]:
        """Whose records audits count as one: a person's, but not in a night, where empty seats are of nobody."""
        return () if self.around.seater else self.roles.person

    @property
    def unit(self) -> str:
        """What k counts, where that are not records: the columns that say whose record it is."""
        return "" if self.around.seater else self.roles.unit

    @property
    def tells_whose(self) -> bool:
        """Whether the release says which records are of one person: by a key that did not become one value for all."""
        constant = {name for step in self.log.steps if step.method == "constant" for name in step.columns}
        person = self.roles.person
        return bool(person) and set(person) <= set(self.roles.released) and not constant & {c.name for c in person}

    @property
    def quasi(self) -> tuple[Column, ...]:
        """Every column some step worked on, strata included."""
        return tuple(dict.fromkeys(column for claim in self.promises.claims for column in claim.columns))


def load(
    warehouse: Warehouse, source: Source, roles: Roles, key: Key, recipe: Recipe, *, watched: bool = False,
    read: Name | None = None, by_hash: bool = False,
) -> Run:  # fmt: skip
    """Bring every released column into the form the methods work on, and number the records.

    Of a `watched` source, which may be changed in place, what it held is kept; `read` are some of its rows. What a step
    sorts them by decides their numbers, or nothing but their hash (`by_hash`), as nights of a series compare them.

    Raises
    ------
    InputError
        When the table has no rows, --row-key does not identify them, or nothing is left to be released.
    """
    start = time.perf_counter()
    if not roles.released:
        _refuse_nothing(roles, source.label)
    draws = any(find(task.method).draws for task in recipe.tasks)
    roles = replace(roles, known_by=known_by(warehouse, source, roles, recipe))
    name = sorted_by(recipe) if warehouse.keeps_order and not by_hash else None
    first = tuple(column for column in source.columns if column.name == name and column.numeric)
    source_read = replace(source, relation=read or source.relation)
    found = loaded(warehouse, source_read, roles, watched=watched, draws=draws, first=first)
    run = Run(warehouse, source, roles, Repeat(key, recipe), Table(found, found.records))
    # In a night a record has its own class: what is constant within a person is not kept so.
    run.around.levels = () if by_hash else levels.settle(warehouse, found.records, roles, source.label)
    run.log.notes += [*source.said, *(level.told for level in run.around.levels)]
    run.log.seconds["load"] = time.perf_counter() - start
    return run


def _refuse_nothing(roles: Roles, where: str) -> NoReturn:
    dropped = ", ".join(column.name for column in roles.identifiers)
    got = f"only direct identifiers, which are dropped: {dropped}" if dropped else "none"
    raise InputError(where, "needs columns to work on", got, "Name them with --columns a,b")


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
    with run.log.timed(f"{method.stage}: {method.name}"):
        missing = policy.settle(run, planned)
    before, parts = run.table.current, _parts(run, planned)
    read = (
        run.table.original if run.around.seater is None else None
    )  # a night may read some rows only: the types decide
    whole = [] if planned.decimals else holding(run.warehouse, read, [*map(run.table.as_it_is, columns)])
    made: list[Outcome] = []
    for part in parts:
        with run.log.timed(f"{method.stage}: {method.name}"):
            outcome = _carried_out(run, planned, part, missing, before, whole)
        run.promises.apart |= _unknown_elsewhere(run, planned, outcome)
        with run.log.timed("replace"):
            _apply(run, outcome, f"{planned.number}{'' if part is parts[-1] else part.suffix}", whole)
        made.append(outcome)
        if to := method.told("recoding", planned.settings):
            run.log.recodings[to] = outcome.account.recoding, run.warehouse.count(run.table.current)
    if planned.nulls == "keep" and method.takes_nulls:
        changed = counted.said(counted.measure(run.warehouse, before, run.table.current, columns))
        run.log.notes += [f"--nulls keep: {changed}"] if changed else []
    outcome = together(made, nested=method.nests)
    run.promises.claims += _claims(planned, outcome, parts)
    run.promises.denied += [outcome.account.denied] if outcome.account.denied else []
    run.log.notes += dict.fromkeys(note for one in made for note in one.account.notes)
    run.log.steps.append(_summary(planned, outcome, of_levels(parts, [one.account for one in made])))


def _parts(run: Run, planned: PlannedStep) -> list[Part]:
    """Return the columns of a step level by level; a method that keeps constant what is constant takes all at once."""
    method, columns = planned.method, planned.columns
    if isinstance(run.around.seater, Nights) and run.roles.of_night and method.draws:
        return _parts_of_night(run, planned, run.around.seater)
    if method.keeps_constant(planned.settings) or not columns:
        return [levels.at_once(run.around.levels, columns)]
    found, lost = levels.parts_within(run.around.levels, columns, planned.by, planned.where, nested=method.nests)
    if lost:
        run.around.levels = levels.without(run.around.levels, lost)
        run.log.notes.append(f"the strata differ within persons, whose {', '.join(names_of(lost))} may differ too now")
    return found


def _parts_of_night(run: Run, planned: PlannedStep, nights: Nights) -> list[Part]:
    """Return the columns with one value in every person or household in the first night of an epoch, and the others.

    Of these all records of one draw the same numbers for the same values, so that no mean of them has less noise.
    """
    unit, columns = run.roles.of_night, planned.columns
    if not columns:  # whole records are drawn: all of a person, or none
        return [Part((), unit=unit)]
    known = nights.first(
        f"{planned.prefix} constant", lambda: levels.constant(run.warehouse, run.table.original, unit, columns)
    )
    alike = tuple(column for column in columns if column.name in known)
    others = tuple(column for column in columns if column.name not in known)
    return [*([Part(alike, unit=unit)] if alike else []), *([Part(others)] if others else [])]


def _carried_out(
    run: Run, planned: PlannedStep, part: Part, missing: Sequence[Column], begun: Name, whole: Sequence[Column]
) -> Outcome:
    """Let the method of a step work on the columns of one level, and return what it made of them for every record.

    This is the order of the scopes, and the order is the meaning: strata, and the classes of the level above, are in
    the problem; one record stands for each household or person; who lacks the same values is grouped apart; who has a
    seat keeps it; and what a class must keep is kept of those that the method groups.
    """
    method, number = planned.method, f"{planned.number}{part.suffix}"
    columns = [run.table.as_it_is(column) for column in run.roles.released] if part.level else []
    innermost = Keep(method, planned.settings, planned.k)
    scopes = (
        OneForEachUnit(part.level, run.around.levels, columns, run.roles.used, part.mapped(run.table.as_it_is).below,
                       f"units_{number}"),
        SameDrawsForEachUnit(part.unit, run.table.original, f"by_unit_{planned.number}"),
        WithinPatterns(run, planned, part, missing),
        innermost if run.around.seater is None else Seats(innermost, run.around.seater),
    )  # fmt: skip
    work = _problem(run, planned, part, begun, whole)
    solve(work, scopes, lambda narrowed: method.function(narrowed, **planned.settings))
    as_declared(work.outcome, run.roles.released)
    return work.outcome


def _problem(run: Run, planned: PlannedStep, part: Part, begun: Name, whole: Sequence[Column]) -> Work:
    """Return what a step works on in the columns of one level, before any scope has narrowed it."""
    table, seater, roles = run.table, run.around.seater, run.roles
    own, by = part.mapped(table.as_it_is), map(table.as_it_is, planned.by)
    order = next(iter(table.loaded.first), None) if table.current == table.original else None
    of_records = Records(table.current, own.columns, (*by, *own.above), own.above, own.guides, order, begun)
    nights = seater if isinstance(seater, Nights) else None
    demand = Demand(
        planned.guarantees, planned.sensitive, roles.of_night if seater else roles.person, run.table.original,
        roles.row_key or roles.known_by, planned.left_as_it_is(roles.released) if _bind(run) else (),
        households=part.households, files=seater if isinstance(seater, FileSeries) else None,
        each_alone=nights is not None,
    )  # fmt: skip
    step_of = StepOf(
        run.source, planned.where, planned.prefix + part.suffix, run.table.loaded.rows, own.step, frozenset(whole)
    )
    return Work(run.warehouse, of_records, step_of, Draws(run.repeat.key, planned.task, nights), demand)


def _bind(run: Run) -> bool:
    return run.around.seater is not None and run.around.seater.binds_kept


def _claims(planned: PlannedStep, outcome: Outcome, parts: Sequence[Part]) -> list[Claim]:
    """Return what a step promises, compared with the population as it was recoded, and k households in their columns.

    A method that takes the columns of each level by themselves promises nothing of them together in the population.
    """
    k, nested, everybody = planned.k, planned.method.nests, outcome.account.everybody
    apart = not nested and planned.assured.in_population.limits
    sets = [part.columns for part in parts] if apart else [planned.columns]
    claims = [
        replace(claim, terms=replace(claim.terms, everybody=everybody))
        for columns in sets for claim in planned.claims_of(columns)
    ]  # fmt: skip
    promise = "record" if nested else planned.method.promise
    of_households = levels.of_households(parts) if k else []
    return [*claims, *(Claim((*own, *planned.by), promise, Terms(k, level=level)) for level, own in of_households)]


def _unknown_elsewhere(run: Run, planned: PlannedStep, outcome: Outcome) -> dict[str, str]:
    """Return the columns that a step leaves unknown to everybody outside, and why."""
    target = pick(run.source.columns, filter(None, [planned.method.told("target", planned.settings)]), "target")
    found = dict.fromkeys(names_of([*_added(outcome), *pick(run.source.columns, planned.weights, "weights")]), "weight")
    found |= dict.fromkeys(names_of([*planned.sensitive, *target]), "sensitive")
    return found | (dict.fromkeys(names_of(planned.columns), own) if (own := planned.method.surrogate) else {})


def _added(outcome: Outcome) -> list[Column]:
    return [column for column, new in outcome.values.items() if new.is_added]


def _apply(run: Run, outcome: Outcome, suffix: str, whole: Sequence[Column]) -> None:
    """Put the new values into a relation with all released columns; those of other candidates into one each.

    The `whole` columns of the step hold whole numbers and stay whole.
    """
    run.roles = replace(run.roles, kept=(*run.roles.kept, *_added(outcome)))
    before = run.table.current
    run.table.current = _replaced(run, before, outcome, suffix, whole)
    run.table.candidates = {
        candidate: Kept.of(
            _replaced(run, before, other, f"{suffix}_candidate_{candidate}", whole),
            run.promises.denied,
            other.account.denied,
        )
        for candidate, other in outcome.account.others.items()
    }
    texts = run.table.text  # they stay so
    run.table.kinds |= {c: new.kind for c, new in outcome.values.items() if new.kind != "nominal" and c not in texts}


def _replaced(run: Run, before: Name, outcome: Outcome, suffix: str, whole: Sequence[Column]) -> Name:
    """Return the records of a relation with the values of an outcome, which are whole where those it read are."""
    values, rows = outcome.values, outcome.rows
    seats = rows is not None and rows.complete  # in no order
    columns = [
        (column, values[column].relation, values[column].column) if column in values else (column, None, column.staged)
        for column in run.roles.released
    ]
    released = with_values(
        run.warehouse, rows.relation if rows and seats else before, columns, f"released_{suffix}",
        rows=run.table.loaded.rows, by_place=not seats, whole=whole,
        read_once={new.relation for new in values.values() if new.read_once},
    )  # fmt: skip
    if rows is None or seats:
        return released
    return run.warehouse.run("replace/grouped_only.sql", f"grouped_{suffix}", relation=released, groups=rows.relation)


def _summary(planned: PlannedStep, outcome: Outcome, above: list[LevelReport] | None) -> StepReport:
    account = outcome.account
    chosen = account.told if isinstance(account.told, Chosen) else None
    return StepReport(
        planned.method.name, planned.told, [column.name for column in planned.columns],
        [column.name for column in planned.by], planned.nulls, planned.assured.promise,
        account.groups, account.smallest, account.largest, chosen.released if chosen else None,
        chosen.candidates if chosen else [], chosen.number if chosen else None, account.key_fingerprint, above,
        loss.above_optimum if (loss := Loss.of_all(account.losses)) else None,
    )  # fmt: skip
