"""What a release promised, counted anew from its rows in plain Python: no code of the package, no SQL."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

Row = Mapping[str, object]


@dataclass(frozen=True)
class Promise:
    """What must hold of a release whose rows are told apart by `row`, a column that is released as it is.

    Without one, the released rows alone are looked at: k counts rows.

    k counts units, that is distinct values of `unit` in the original, in the classes of each of `classes`: sets of
    released columns.
    """

    row: str | None
    k: int | None = None
    unit: str | None = None
    classes: tuple[tuple[str, ...], ...] = ()
    units_of: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    """What k counts in the classes of these columns, as well: households in those of what is constant in one."""
    within: tuple[str, ...] = ()
    """Columns whose value is the same in every class: the strata."""
    kept: tuple[str, ...] = ()
    sensitive: str | None = None
    l: int | None = None  # noqa: E741
    t: float | None = None
    constant: tuple[tuple[str, str], ...] = ()
    """(column, unit): what is constant within the unit before is so afterwards."""
    gone: tuple[str, ...] = ()
    all_rows: bool = True


def broken(promise: Promise, before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """Return what does not hold, a line each."""
    original, released = _by_key(promise, before, after)
    found = []
    if len(released) != len(after):
        found.append("a row was released twice")
    if not set(released) <= set(original):
        found.append("a row was released that is not there")
    if promise.all_rows and set(released) != set(original):
        found.append(f"rows {len(released)} of {len(original)}")
    found += [f"{column} was released" for column in promise.gone if after and column in after[0]]
    for column in promise.kept:
        if any(released[key][column] != original[key][column] for key in released):
            found.append(f"{column} was to be kept")
    for columns in promise.classes:
        found += _of_classes(promise, columns, original, released)
    for columns, unit in promise.units_of.items():
        found += _of_classes(replace(promise, unit=unit, within=(), sensitive=None), columns, original, released)
    for column, unit in promise.constant:
        ways = [_values(rows, column, {key: original[key][unit] for key in rows}) for rows in (original, released)]
        if all(len(values) == 1 for values in ways[0].values()) and any(len(values) > 1 for values in ways[1].values()):
            found.append(f"{column} is no longer constant within {unit}")
    return found


def _by_key(
    promise: Promise, before: Sequence[Row], after: Sequence[Row]
) -> tuple[Mapping[object, Row], Mapping[object, Row]]:
    """Return the rows of both by what tells them apart; without that, the released ones stand for both."""
    if promise.row is None:
        released: dict[object, Row] = dict(enumerate(after))
        return released, released
    return {row[promise.row]: row for row in before}, {row[promise.row]: row for row in after}


def _values(rows: Mapping[object, Row], column: str, unit: Mapping[object, object]) -> dict[object, set[object]]:
    found: dict[object, set[object]] = defaultdict(set)
    for key, row in rows.items():
        found[unit[key]].add(row[column])
    return found


def _of_classes(
    promise: Promise, columns: tuple[str, ...], original: Mapping[object, Row], released: Mapping[object, Row]
) -> list[str]:
    named = ",".join(columns)
    classes: dict[tuple[object, ...], list[object]] = defaultdict(list)
    for key, row in released.items():
        classes[tuple(row[column] for column in columns)].append(key)
    found = []
    sizes = [units(promise, members, original) for members in classes.values()]
    if promise.k and min(sizes, default=promise.k) < promise.k:
        found.append(f"k of ({named}) is {min(sizes)} and not {promise.k}")
    for column in promise.within:
        if any(len({original[key][column] for key in members}) > 1 for members in classes.values()):
            found.append(f"a class of ({named}) has several {column}")
    if promise.sensitive:
        found += _of_sensitive(promise, named, classes, original)
    return found


def units(promise: Promise, members: Iterable[object], original: Mapping[object, Row]) -> int:
    """Return how many distinct units have one of these rows; a row without a unit counts for none of its own."""
    if promise.unit is None:
        return len(list(members))
    return len({original[key][promise.unit] for key in members if original[key][promise.unit] is not None})


def _of_sensitive(
    promise: Promise, named: str, classes: Mapping[tuple[object, ...], list[object]], original: Mapping[object, Row]
) -> list[str]:
    column = promise.sensitive
    assert column is not None
    value: Callable[[object], Hashable] = lambda key: original[key][column]  # type: ignore[return-value] # noqa: E731
    whole = Counter(value(key) for members in classes.values() for key in members)
    found = []
    if promise.l:
        least = min((len({value(key) for key in members}) for members in classes.values()), default=promise.l)
        if least < promise.l:
            found.append(f"l of ({named}) is {least} and not {promise.l}")
    if promise.t is not None:
        total = sum(whole.values())
        farthest = 0.0
        for members in classes.values():
            here = Counter(value(key) for key in members)
            farthest = max(farthest, sum(abs(here[v] / len(members) - n / total) for v, n in whole.items()) / 2)
        if farthest > promise.t + 1e-9:
            found.append(f"t of ({named}) is {farthest:.3f} and not {promise.t}")
    return found


def broken_together(
    promise: Promise, before: Sequence[Row], nights: Sequence[Sequence[Row]], columns: tuple[str, ...]
) -> list[str]:
    """Return whether somebody who has all nights can tell somebody from fewer than k units.

    Of each row the outsider knows its class of every night in which it was released; those who share all of them are
    who it may be.
    """
    if not promise.k or promise.row is None:
        return []
    original = {row[promise.row]: row for row in before}
    classes: dict[object, list[object]] = defaultdict(list)
    for number, night in enumerate(nights):
        for row in night:
            classes[row[promise.row]].append((number, tuple(row[column] for column in columns)))
    alike: dict[tuple[object, ...], list[object]] = defaultdict(list)
    for key, seen in classes.items():
        alike[tuple(seen)].append(key)
    smallest = min((units(promise, members, original) for members in alike.values()), default=promise.k)
    return [f"k of {len(nights)} nights together is {smallest} and not {promise.k}"] if smallest < promise.k else []
