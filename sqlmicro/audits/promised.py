"""The verdict on a release that is there already: what was promised of it, measured on what it is by now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.verdict import Verdict
from sqlmicro.audits.verdict_report import Promised
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.registry import Promise


@dataclass(frozen=True)
class Promises:
    """What was promised of a release: each k over its columns, and what an attacker cannot know and why."""

    over: Sequence[tuple[int, Sequence[str]]] = ()
    apart: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False
    """Whether something is promised of single columns."""
    person: Sequence[str] = ()
    """The columns that said whose record it was, where k was promised for persons."""


def alone(made: Iterable[Promise]) -> bool:
    """Tell whether steps that promise this promise something of single columns."""
    return any(promise in ("column", "block", "moments") for promise in made)


def measured(
    columns: Sequence[Column],
    promises: Promises,
    count: Callable[[Sequence[Column]], int],
    *,
    apart: Mapping[str, str] | None = None,
    demanded: Sequence[tuple[int, Sequence[str]]] = (),
    unit: str = "",
) -> Verdict:
    """Return the verdict on a release as it is now.

    Parameters
    ----------
    columns : sequence of Column
        The columns of the release.
    promises : Promises
        What was promised of it.
    count : callable
        Returns the size of the smallest class over columns.
    apart : mapping, optional
        Columns that an attacker cannot know and why, beside those that are recorded as such.
    demanded : sequence of (k, names)
        What is demanded now, beside what was promised.
    unit : str
        The columns that say whose record it is.

    Notes
    -----
    A promise over a column that is no longer there cannot be measured, and is broken.
    """
    own = {column.name: column for column in columns}
    left_out = {**promises.apart, **(apart or {})}
    known = [column for column in columns if column.name not in left_out]
    largest: dict[frozenset[str], tuple[int, Sequence[str]]] = {}
    for k, names in sorted((*promises.over, *demanded), key=lambda one: one[0]):
        largest[frozenset(names)] = (k, names)
    return Verdict(
        tuple(
            Promised(k, tuple(names), count([own[name] for name in names]) if set(names) <= set(own) else None)
            for k, names in largest.values()
        ),
        tuple(column.name for column in known),
        count(known) if known else None,
        {name: why for name, why in left_out.items() if name in own},
        unit=unit,
        uncounted="" if unit else ", ".join(promises.person),
        alone=promises.alone,
    )


def counter(warehouse: Warehouse, relation: Name, person: Sequence[Column] = ()) -> Callable[[Sequence[Column]], int]:
    """Return what counts the records, or the persons, of the smallest class over columns of a relation.

    NULL is a value.
    """
    return lambda columns: k_anonymity.class_sizes(warehouse, relation, columns, person).k
