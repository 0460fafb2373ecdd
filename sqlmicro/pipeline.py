"""The main flow, read this first: load → type → group → replace → audit → publish.

Every step reads earlier relations and creates new ones keyed by `row_id`, which is given once, at load. The functions
here are the verbs of that flow in the order in which `job.py` calls them.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sqlmicro import records
from sqlmicro.audits import information_loss, k_anonymity
from sqlmicro.columns import Column, Roles, pick
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.keys import Key
from sqlmicro.params import settle
from sqlmicro.registry import Method
from sqlmicro.source import Source, type_columns
from sqlmicro.templates import Name
from sqlmicro.verdict import UNIQUE_AT_MOST
from sqlmicro.warehouse import Warehouse
from sqlmicro.work import Claim, Outcome, Work

NULLS = ("error", "keep", "suppress", "pattern")


@dataclass
class Run:
    """The state of a run: the current relation, what was done so far, and what it promised."""

    warehouse: Warehouse
    source: Source
    roles: Roles
    key: Key
    original: Name
    current: Name
    rows_in: int
    steps: list[dict[str, Any]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    gates: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    widened: set[str] = field(default_factory=set)
    numeric: set[Column] = field(default_factory=set)
    text: set[Column] = field(default_factory=set)
    kept: dict[int, Name] = field(default_factory=dict)
    apart: dict[str, str] = field(default_factory=dict)
    """Released columns that nobody knows from elsewhere, and why: pseudonyms, weights, sensitive ones."""
    staging: str = field(init=False)

    def __post_init__(self) -> None:
        self.staging = self.warehouse.staging

    def resume(self) -> None:
        """Go on with this run where another one of the same warehouse was before: its staging database and its key."""
        if self.warehouse.staging != self.staging:
            self.warehouse.staging = self.staging
            self.warehouse.set_key(self.key.value)

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


def load(warehouse: Warehouse, source: Source, roles: Roles, key: Key) -> Run:
    """Number the records and bring every released column into the form the methods work on.

    Raises
    ------
    InputError
        When the table has no rows, or --row-key does not identify them.
    """
    warehouse.set_key(key.value)
    start = time.perf_counter()
    typed = type_columns(warehouse, source, roles.released, set(roles.used), row_key=roles.row_key)
    rows = warehouse.count(typed)
    if rows == 0:
        raise InputError(source.label, "there must be records to anonymize", "an empty table")
    run = Run(warehouse, source, roles, key, typed, typed, rows)
    run.seconds["load"] = time.perf_counter() - start
    return run


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
        dropped = ", ".join(column.name for column in run.roles.identifiers)
        got = f"none but direct identifiers, which are dropped: {dropped}" if dropped else "none"
        raise InputError(where, "needs columns to work on", got, "Name them with --columns a,b")
    unions = [column.name for column in columns if column.type.startswith("UNION")]
    if unions:
        raise InputError(where, "cannot work on a UNION", ", ".join(unions), "Use --keep or --drop for these")
    with run.timed(f"{method.stage}: {method.name}"):
        relation = _settle_nulls(run, columns, by, nulls, where)
        strata: list[Column | str] = [run.as_it_is(column) for column in by]
        if nulls == "pattern" and method.promise == "record":
            strata.append("pattern")
            relation = run.warehouse.run(
                "load/null_patterns.sql",
                f"patterns_{len(run.steps) + 1}",
                view=True,
                relation=relation,
                columns=columns,
            )
        work = Work(
            run.warehouse,
            run.source,
            relation,
            [run.as_it_is(column) for column in columns],
            strata,
            where=where,
            prefix=f"{method.name}_{len(run.steps) + 1}".replace("-", "_"),
            key=run.key.value,
            rows=run.rows_in,
        )
        if method.engine == "numpy":
            records.group(work, method, values)
        else:
            if method.stage == "group":
                _refuse_nominal(work.columns, where)
            method.function(work, **values)
    _as_declared(run, work.outcome)
    run.apart |= _unknown_elsewhere(run, method, values, columns, work.outcome)
    with run.timed("replace"):
        _apply(run, work.outcome, len(run.steps) + 1)
    k = int(values.get("k") or 0)
    run.claims += work.outcome.claims or [Claim((*columns, *by), method.promise, k)]
    run.notes += work.outcome.notes
    run.steps.append(_summary(method, values, columns, by, nulls, work.outcome))


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


def _settle_nulls(run: Run, columns: Sequence[Column], by: Sequence[Column], nulls: str, where: str) -> Name:
    """Check the columns for missing and infinite values; return the relation to work on."""
    if nulls not in NULLS:
        raise ParameterError(f"{where}, nulls", f"must be one of {', '.join(NULLS)}", repr(nulls))
    floats = [
        column
        for column in columns
        if column.family in ("float", "date", "timestamp", "timestamptz") or column.staged in run.widened
    ]
    others = [column for column in columns if column not in floats]
    found = run.warehouse.rows("load/gaps.sql", typed=run.current, floats=floats, others=others)
    order = [column.name for column in columns]
    gaps = sorted(found, key=lambda row: order.index(row[0]))
    infinite = [f"{name} ({count:,})" for name, _, count in gaps if count]
    if infinite:
        raise InputError(
            where,
            "numbers must be finite and below 1e150",
            "NaN, infinite or larger values in " + ", ".join(infinite),
            "Replace them by NULL, or leave these columns out of --columns",
        )
    missing = [f"{name} ({count:,})" for name, count, _ in gaps if count]
    if not missing:
        return run.current
    if nulls == "error":
        raise InputError(
            where,
            "the columns must have no missing values",
            "NULL in " + ", ".join(missing),
            "Choose --nulls pattern (group only records with the same columns missing), keep (NULL is a value of its "
            "own), or suppress (leave these records out of the release)",
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
    return run.current


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
    """Return IL over the numeric columns that were worked on, and the share of values changed in the nominal ones.

    `loss_by_column` has both in percent; a column that is released as it is loses nothing.
    """
    with run.timed("loss"):
        columns = [column for column in run.quasi if column not in run.text]
        found = information_loss.measure(run.warehouse, run.original, run.current, columns, run.numeric - run.text)
    changed = {name: 100 * share for name, share in found["changed_by_column"].items()}
    return {**found, "loss_by_column": {**found["IL_by_column"], **changed}}
