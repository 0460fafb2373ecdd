"""The main flow, read this first: load → type → group → replace → audit → publish.

Every step reads earlier relations and creates new ones keyed by `row_id`, which is given once, at load. The functions
here are the verbs of that flow in the order in which `job.py` calls them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NoReturn

from sqlmicro import records
from sqlmicro.audits import information_loss, k_anonymity
from sqlmicro.audits.verdict import UNIQUE_AT_MOST
from sqlmicro.database.columns import Column, Roles, names_of, pick
from sqlmicro.database.content import Content, content, content_of_input
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import type_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.missing import coarsen, counted
from sqlmicro.options.params import settle
from sqlmicro.registry import Method, find
from sqlmicro.system.secrets import Key, Plan, Task
from sqlmicro.work import Claim, Outcome, Work

NULLS = ("error", "keep", "suppress", "pattern")


@dataclass
class Run:
    """The state of a run: the current relation, what was done so far, and what it promised.

    `seen` is what the source held when it was read, where it may be changed in place.
    """

    warehouse: Warehouse
    source: Source
    roles: Roles
    key: Key
    plan: Plan
    content: bytes
    original: Name
    current: Name
    rows_in: int
    steps: list[dict[str, Any]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    gates: list[dict[str, Any]] = field(default_factory=list)
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


def load(warehouse: Warehouse, source: Source, roles: Roles, key: Key, plan: Plan, *, watched: bool = False) -> Run:
    """Bring every released column into the form the methods work on, and number the records.

    Of a source that is `watched`, since it may be changed in place, it is kept what it held when it was read.

    Raises
    ------
    InputError
        When the table has no rows, --row-key does not identify them, or nothing is left to be released.
    """
    start = time.perf_counter()
    columns = [column for column in source.columns if column in set(roles.released)]
    if not columns:
        _refuse_nothing(roles, source.label)
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
    if not roles.row_key and any(find(task.method).draws for task in plan.tasks) and _repeats(warehouse, numbered):
        copies = warehouse.run("load/copies.sql", "copies", numbered=numbered, columns=columns)
        warehouse.forget(numbered)
        numbered = copies
    run = Run(warehouse, source, roles, key, plan, was_read, numbered, numbered, rows, seen=seen)
    run.seconds["load"] = time.perf_counter() - start
    return run


def _refuse_nothing(roles: Roles, where: str) -> NoReturn:
    dropped = ", ".join(column.name for column in roles.identifiers)
    got = f"none but direct identifiers, which are dropped: {dropped}" if dropped else "none"
    raise InputError(where, "needs columns to work on", got, "Name them with --columns a,b")


def _repeats(warehouse: Warehouse, numbered: Name) -> bool:
    """Tell whether two records have the same content."""
    text = "SELECT count(*) > count(DISTINCT record) FROM {{ numbered | ident }}"
    return bool(warehouse.query("copies", text, numbered=numbered)[0][0])


def refuse_unique(run: Run, accepted: Collection[str], where: str) -> None:
    """Refuse to release a column as it is that alone singles out many records, unless it is accepted by its name.

    Raises
    ------
    InputError
        When a column that is kept makes more of the records unique than `verdict.UNIQUE_AT_MOST`.
    """
    found = []
    for column in run.roles.kept:
        if column.name.lower() not in accepted:
            staged = replace(column, name=column.staged, collated=False)
            share = k_anonymity.class_sizes(run.warehouse, run.original, [staged]).unique
            found += [(column.name, share)] if share > UNIQUE_AT_MOST else []
    if found:
        raise InputError(
            where,
            f"a released column must not alone make more than {100 * UNIQUE_AT_MOST:g} % of the records unique",
            ", ".join(f"{name} ({100 * share:.0f} %)" for name, share in found),
            "Anonymize or drop it, or accept it with --accept-unique " + ",".join(name for name, _ in found),
        )


def step(
    run: Run,
    method: Method,
    settings: Mapping[str, Any],
    columns: Sequence[Column],
    by: Sequence[Column],
    nulls: str,
    where: str,
) -> None:
    """Group the records by one method and replace the values of its columns.

    Raises
    ------
    InputError
        When columns cannot be used by the method: wrong type, missing or infinite values, too few records.
    """
    values = settle(method.settings, settings, where)
    if not columns and method.takes_columns:
        _refuse_nothing(run.roles, where)
    unions = [column.name for column in columns if column.type.startswith("UNION")]
    if unions:
        raise InputError(where, "cannot work on a UNION", ", ".join(unions), "Use --keep or --drop for these")
    with run.timed(f"{method.stage}: {method.name}"):
        relation, patterns = _settle_nulls(run, method, columns, by, nulls, int(values.get("k") or 0), where)
        strata: list[Column | str] = [*(run.as_it_is(column) for column in by), *patterns]
        work = Work(
            run.warehouse,
            run.source,
            relation,
            [run.as_it_is(column) for column in columns],
            strata,
            where=where,
            prefix=f"{method.name}_{len(run.steps) + 1}".replace("-", "_"),
            key=run.key,
            task=_task(run, method, values, columns, by, nulls),
            rows=run.rows_in,
            before=run.current,
        )
        if method.engine == "numpy":
            records.group(work, method, values)
        else:
            if method.stage == "group":
                _refuse_nominal(work.columns, where)
            method.function(work, **values)
    run.tasks.append(Task(method.name, names_of(columns), names_of(by), nulls, values))
    _as_declared(run, work.outcome)
    run.apart |= _unknown_elsewhere(run, method, values, columns, work.outcome)
    before = run.current
    with run.timed("replace"):
        _apply(run, work.outcome, len(run.steps) + 1)
    if nulls == "keep" and method.takes_nulls:
        changed = counted.said(counted.measure(run.warehouse, before, run.current, columns))
        run.notes += [f"--nulls keep: {changed}"] if changed else []
    k = int(values.get("k") or 0)
    run.claims += work.outcome.claims or [Claim((*columns, *by), method.promise, k)]
    run.notes += work.outcome.notes
    run.steps.append(_summary(method, values, columns, by, nulls, work.outcome))


def _task(
    run: Run, method: Method, values: Mapping[str, Any], columns: Sequence[Column], by: Sequence[Column], nulls: str
) -> Task:
    """Return what the draws of a step depend on; one that was taken before in the same way draws anew."""
    task = Task(method.name, names_of(columns), names_of(by), nulls, values)
    return replace(task, repeated=run.tasks.count(task))


def _unknown_elsewhere(
    run: Run, method: Method, values: Mapping[str, Any], columns: Sequence[Column], outcome: Outcome
) -> dict[str, str]:
    """Return the columns that a step leaves unknown to everybody outside, and why."""
    weights = [*outcome.added, *pick(run.source.columns, filter(None, [values.get("weights")]), "weights")]
    found = dict.fromkeys((column.name for column in weights), "weight")
    return found | dict.fromkeys((column.name for column in columns if method.makes_pseudonyms), "pseudonym")


def _refuse_nominal(columns: Sequence[Column], where: str) -> None:
    wrong = [f"{column.name} ({column.type})" for column in columns if not column.numeric]
    if wrong:
        raise InputError(
            where,
            "works on numbers, dates and timestamps",
            ", ".join(wrong),
            "Leave these out of --columns, or use: sqlmicro safe, which takes any type",
        )


def _settle_nulls(
    run: Run, method: Method, columns: Sequence[Column], by: Sequence[Column], nulls: str, k: int, where: str
) -> tuple[Name, list[str]]:
    """Check the columns for missing and infinite values; return the relation to work on, and its further strata."""
    if nulls not in NULLS:
        raise ParameterError(f"{where}, nulls", f"must be one of {', '.join(NULLS)}", repr(nulls))
    missing = _missing(run, columns, where)
    if not missing:
        return run.current, []
    if nulls == "error":
        raise InputError(
            where,
            "the columns must have no missing values",
            "NULL in " + ", ".join(f"{column.name} ({count:,})" for column, count in missing.items()),
            "Choose --nulls pattern (group only records with the same columns missing: none is filled in), keep (NULL "
            "is a value of its own), or suppress (leave these records out of the release)",
        )
    if nulls == "suppress":
        before = run.warehouse.count(run.current)
        run.current = run.warehouse.run(
            "load/complete_rows.sql", f"complete_{len(run.steps) + 1}", typed=run.current, columns=columns
        )
        after = run.warehouse.count(run.current)
        run.notes.append(f"{before - after:,} records with missing values were left out (--nulls suppress)")
        if after == 0:
            raise InputError(where, "some records must have no missing values", "none", "Use --nulls pattern or keep")
    if nulls == "pattern" and method.promise == "record":
        return _by_pattern(run, [columns], by, k), ["pattern"]
    if nulls == "pattern" and method.promise == "column":
        return _by_pattern(run, [[column] for column in missing], by, k), []
    return run.current, []


def _missing(run: Run, columns: Sequence[Column], where: str) -> dict[Column, int]:
    """Return how many values are missing of the columns that lack some; refuse numbers without arithmetic."""
    floats = [
        column
        for column in columns
        if column.family in ("float", "date", "timestamp", "timestamptz") or column.staged in run.widened
    ]
    others = [column for column in columns if column not in floats]
    rows = run.warehouse.rows("load/gaps.sql", typed=run.current, floats=floats, others=others)
    found = {name: (nulls, unusable) for name, nulls, unusable in rows}
    infinite = [f"{column.name} ({found[column.name][1]:,})" for column in columns if found[column.name][1]]
    if infinite:
        raise InputError(
            where,
            "numbers must be finite and below 1e150",
            "NaN, infinite or larger values in " + ", ".join(infinite),
            "Replace them by NULL, or leave these columns out of --columns",
        )
    return {column: found[column.name][0] for column in columns if found[column.name][0]}


def _by_pattern(run: Run, blocks: Sequence[Sequence[Column]], by: Sequence[Column], k: int) -> Name:
    """Return the records with patterns of missing values that k share, in each block of columns; say what it cost."""
    relation, records, values = run.current, 0, 0
    for number, block in enumerate(blocks, 1):
        others = [column for column in run.roles.released if column not in block]
        prefix = f"missing_{len(run.steps) + 1}_{number}"
        task = Task("missing values", names_of(block), names_of(by), "pattern", {"k": k})
        stream = f"sqlmicro_{prefix}"
        run.warehouse.set_key(stream, run.key.draws(run.source.identity, task, names_of(block)))
        found = coarsen.by_pattern(run.warehouse, relation, block, others, by, k, prefix, stream)
        relation, records, values = found.relation, records + found.records, values + found.values
    cost = f"{counted.number(values, 'value')} of {counted.number(records, 'record')}" if values else "no other value"
    run.notes.append(
        f"--nulls pattern: no missing value was filled in and {cost} taken out, so that at least k = {k} records lack "
        "the same"
    )
    return relation


def _as_declared(run: Run, outcome: Outcome) -> None:
    """Name the columns of an outcome as the source declares them, whatever they have become by now."""
    own = {column.staged: column for column in run.roles.released}
    outcome.values = {own[column.staged]: found for column, found in outcome.values.items()}
    outcome.nominal = [own[column.staged] for column in outcome.nominal]
    outcome.text = [own[column.staged] for column in outcome.text]
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


def _summary(
    method: Method,
    values: Mapping[str, Any],
    columns: Sequence[Column],
    by: Sequence[Column],
    nulls: str,
    outcome: Outcome,
) -> dict[str, Any]:
    return {
        "method": method.name,
        "parameters": dict(values),
        "columns": [column.name for column in columns],
        "by": [column.name for column in by],
        "nulls": nulls,
        "promise": outcome.promise or method.promise,
        "groups": outcome.groups,
        "smallest_group": outcome.smallest,
        "largest_group": outcome.largest,
        "safe_distance": outcome.safe_distance,
        "candidates": outcome.candidates,
        "chosen": outcome.chosen,
        "key_fingerprint": outcome.key_fingerprint,
    }


def losses(run: Run) -> dict[str, Any]:
    """Return IL of the numeric columns that were worked on, the share changed of the others, and what is missing.

    `loss_by_column` has the first two in percent; a column that is released as it is loses nothing.
    """
    with run.timed("loss"):
        columns = [column for column in run.quasi if column not in run.text]
        lost = information_loss.measure(run.warehouse, run.original, run.current, columns, run.numeric - run.text)
        changed = {name: 100 * share for name, share in lost["changed_by_column"].items()}
        loaded = [column for column in run.source.columns if column in set(run.roles.released)]
        missing = counted.measure(run.warehouse, run.original, run.current, loaded)
    return {
        **lost,
        "loss_by_column": {**lost["IL_by_column"], **changed},
        "missing": [asdict(one) for one in missing],
    }
