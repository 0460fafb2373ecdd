"""The verdict of a release: one rule, which publishing, audits, attacks and reports all ask.

A release is promised a k over named columns. What counts is what it is worth over **all** released columns, but those
an attacker cannot know: sensitive ones that were named as such, weights, and pseudonyms that the same job made. The
verdict is the worst of what was promised, of the k over those columns, of every check that was demanded, and of the
strongest attack that was made:

- *held*: the promise was kept, and no released column lowers it;
- *lowered*: it was kept over its columns, but other released columns, or an attack, go below it; or a check that was
  demanded could not be made;
- *broken*: fewer records are alike than was promised, or a check that was demanded failed;
- *none*: no k was promised over named columns, so that nothing passed and nothing failed.

What a verdict is made of, and how reports have it.

The verdict on a release that is there already: what was promised of it, measured on what it is by now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from sqlmicro.audits import k_anonymity
from sqlmicro.audits.registry import AuditRow, Check, Linked
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.options.guarantees import KEY_LIMITS
from sqlmicro.options.limits import of_audit
from sqlmicro.registry import Promise
from sqlmicro.system.sentences import Said, figure, join, names, say, term

Status = Literal["held", "lowered", "broken", "none"]


@dataclass(frozen=True)
class Promised:
    """A k that was promised over columns together, and the smallest class found over them (None: not measured)."""

    k: int
    columns: tuple[str, ...]
    found: int | None

    @property
    def kept(self) -> bool:
        """Whether it was found; what could not be measured was not."""
        return self.found is not None and self.found >= self.k


@dataclass(frozen=True)
class Attacked:
    """What the strongest attack came to: its rate, the lower end of the interval, and what chance would give."""

    name: str
    rate: float
    low: float
    chance: float
    n: int
    assumed: bool
    """Nothing tells which record became which: the rate is an upper bound."""

    def beats(self, k: int) -> bool:
        """Whether it is right more often than one time in k, and than chance.

        >>> Attacked("a", 0.5, 0.45, 0.01, 400, False).beats(5), Attacked("a", 0.2, 0.16, 0.01, 400, False).beats(5)
        (True, False)
        """
        return self.low > max(1 / k, self.chance)


@dataclass(frozen=True)
class PromiseReport:
    """A k that was promised over columns together, and the smallest class found over them."""

    k: int
    columns: list[str]
    found: int | None


@dataclass(frozen=True)
class VerdictReport:
    """What a release is worth, in figures and in words."""

    status: Status
    colour: str
    passed: bool | None
    """None where no k was promised."""
    headline: str
    sentence: str
    k: int | None
    """The smallest class over the columns of the promise."""
    k_released: int | None
    """The smallest class over all released columns that an attacker may know."""
    unit: str
    """`record`, or the columns that say whose record it is."""
    columns: list[str]
    """The released columns that an attacker may know."""
    promised: list[PromiseReport]
    apart: dict[str, str]
    """The other released columns, and why they do not count."""
    attack: Attacked | None
    """The strongest attack that was made."""


PERSONS = "persons"
"""The check of how many persons the smallest class has."""
JOINED = "join-k"
"""The check of the persons who are alike over joins."""
UNIQUE_AT_MOST = 0.05
"""A column released as it is that alone makes more of the records unique must be accepted by its name."""
_COLOURS: dict[Status, str] = {"held": "green", "lowered": "amber", "broken": "red", "none": "grey"}
_PASSED: dict[Status, bool | None] = {"held": True, "lowered": True, "broken": False, "none": None}
UNION_K, DIFFERENCES, UNION_L = "union-k", "differences", "union-l"
"""The checks of several releases of the same people: how many persons share their classes in all, how few a difference
of totals is about, and how many values of a sensitive column a person may have."""
_OF_KEYS = {one.audit: one.meaning for one in KEY_LIMITS}


@dataclass(frozen=True)
class Verdict:
    """What a release is worth.

    Attributes
    ----------
    promised : tuple of Promised
        Every k that was promised, or demanded by a gate, over named columns.
    columns : tuple of str
        The released columns that an attacker may know.
    k_released : int or None
        The smallest class over all of them; None where there are none.
    apart : dict
        The other released columns, and why they do not count: sensitive, weight, pseudonym.
    unit : str
        The columns that say whose record it is; empty where a class counts records.
    uncounted : str
        The columns that said whose record it was, where k was promised for persons and nothing tells them apart by now.
    alone : bool
        Whether something is promised of single columns.
    attack : Attacked, optional
        The strongest attack; None where none was made.
    kept : tuple of str
        What the classes keep besides k, each as a clause.
    with_others : int or None
        The fewest persons who share their classes in all releases of the same people; 0 where that could not be
        measured, None where there are no others.
    series : str
        The series that it is a night of, as a part of the headline; empty where it is none.
    joined : int or None
        How many persons are alike at least over joins with other releases; None where nothing is joined.
    failed : tuple of str
        The checks that were demanded besides k and failed, each as a clause.
    not_run : tuple of str
        Those that could not be made.
    waived : tuple of str
        Checks of several releases that failed, of one that was published all the same.

    >>> found = Verdict((Promised(5, ("age", "zip"), 6),), ("age", "zip", "income"), 1, {})
    >>> found.status, found.colour, found.passed
    ('lowered', 'amber', True)
    """

    promised: tuple[Promised, ...]
    columns: tuple[str, ...]
    k_released: int | None
    apart: Mapping[str, str]
    unit: str = ""
    uncounted: str = ""
    alone: bool = False
    attack: Attacked | None = None
    kept: tuple[str, ...] = ()
    with_others: int | None = None
    joined: int | None = None
    series: str = ""
    failed: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    waived: tuple[str, ...] = ()

    @property
    def main(self) -> Promised | None:
        """The promise the headline is about: one that is broken, else one over all that counts, else the widest."""
        broken = [one for one in self.promised if not one.kept]
        return max(broken or self.promised, key=lambda one: (self._whole(one), len(one.columns), one.k), default=None)

    @property
    def k(self) -> int | None:
        """The smallest class over the columns of the promise; None where no k was promised over named columns."""
        return None if self.main is None else self.main.found

    @property
    def quasi(self) -> tuple[str, ...]:
        """The columns that figures of a release are over: those of the promise, else all that count."""
        return self.columns if self.main is None else self.main.columns

    @property
    def status(self) -> Status:
        """Held, lowered, broken, or none."""
        if self.failed or not all(one.kept for one in self.promised):
            return "broken"
        if self.not_run or self.waived:
            return "lowered"
        if not self.promised:
            return "none"
        lowered = (
            self.lowered_by_columns, self.lowered_by_joins, self.lowered_by_others, self.lowered_by_attack,
        )  # fmt: skip
        return "lowered" if any(lowered) else "held"

    @property
    def colour(self) -> str:
        """Green, amber, red or grey."""
        return _COLOURS[self.status]

    @property
    def passed(self) -> bool | None:
        """True for a promise that was kept, False for a broken one; None where there is none."""
        return _PASSED[self.status] if self.promised or self.failed else None

    def after(self, attacks: Sequence[Attacked]) -> Verdict:
        """Return the verdict once attacks were made: the strongest of them counts."""
        return replace(self, attack=max(attacks, key=lambda one: (one.beats(self.bound), one.rate), default=None))

    def _whole(self, one: Promised) -> bool:
        return set(one.columns) >= set(self.columns)

    @property
    def bound(self) -> int:
        """The k that all released columns are held to: the one promised for them, else the largest of any columns."""
        whole = [one.k for one in self.promised if self._whole(one)]
        return max(whole or [one.k for one in self.promised], default=1)

    @property
    def lowered_by_columns(self) -> bool:
        """Whether other released columns go below it."""
        return self.k_released is not None and self.k_released < self.bound

    @property
    def lowered_by_joins(self) -> bool:
        """Whether it does not hold over joins."""
        return self.joined is not None and self.joined < self.bound

    @property
    def lowered_by_attack(self) -> bool:
        """Whether an attack gets further than it allows."""
        return self.attack is not None and self.attack.beats(self.bound)

    @property
    def lowered_by_others(self) -> bool:
        """Whether it does not hold together with other releases of the same people."""
        return self.with_others is not None and self.with_others < self.bound


def together(passed: Iterable[bool | None]) -> bool | None:
    """Return what several verdicts come to: False if one failed, None where nothing was demanded.

    >>> together([True, None]), together([None]), together([None, False, True])
    (True, None, False)
    """
    found = set(passed) - {None}
    return all(found) if found else None


def judge(checks: Sequence[Check], apart: Mapping[str, str], unit: str = "", series: str = "") -> Verdict:
    """Return the verdict on the checks of a release, the first of which is the k over all columns that count.

    Parameters
    ----------
    checks : sequence of Check
        Those of gates among them. A k-anonymity with a threshold is a promise; one of a gate that reads NULL in another
        way is none, because it counts other classes.
    apart : mapping
        The released columns that do not count, and why.
    unit : str
        The columns that say whose record it is; then only what counts persons is a promise.
    series : str
        The series that the release is a night of, as a part of the headline.
    """
    first, counted = checks[0], PERSONS if unit else "k-anonymity"
    promised = {
        frozenset(row.columns): row
        for row in sorted(checks, key=lambda row: row.threshold or 0)
        if row.check == counted and row.threshold and _counts(row)
    }
    found = Verdict(
        tuple(Promised(int(row.threshold or 0), tuple(row.columns), _whole(row.value)) for row in promised.values()),
        tuple(first.columns),
        _whole(first.value),
        dict(apart),
        unit=unit,
        series=series,
        alone=any(row.check == "value frequency" for row in checks),
    )
    others = [_whole(row.value) or 0 for row in checks if row.check == UNION_K]
    found = replace(found, with_others=min(others, default=None))
    found = replace(found, kept=tuple(_clause(row) for row in checks if _is_kept(row, found.quasi)))
    found = replace(found, waived=tuple(told_of_check(row) for row in checks if _is_waived(row)))
    joined = [int(row.value) for row in checks if row.check == JOINED and row.value is not None]
    found = replace(found, joined=min(joined, default=None))
    linked = [(row.value, row.detail) for row in checks if isinstance(row, AuditRow) and row.value is not None]
    return found.after([
        Attacked(of.attack, rate, of.ci[0], of.chance, of.n, of.truth == "assumed")
        for rate, of in linked if isinstance(of, Linked)
    ])  # fmt: skip


def _is_waived(row: Check) -> bool:
    """Tell whether a check was demanded, failed, and was passed over; of the union k the verdict has sentences."""
    if row.check == UNION_K or row.threshold is None or row.passed is not None:
        return False
    return row.value is None or (row.value < row.threshold if row.at_least else row.value > row.threshold)


def told_of_check(row: Check) -> str:
    """Return what a check found, and what was demanded, as a clause.

    >>> told_of_check(Check("t-closeness", ["a"], 0.5, 0.2, False, False))
    't-closeness (a) is 0.5, at most 0.2 was demanded'
    """
    columns = say(" ({columns})", columns=names(row.columns, 4)) if row.columns else ""
    check = join([term(row.check), columns], "")
    value = say("unknown") if row.value is None else figure(row.value, ",.4g")
    if row.threshold is None:
        return say("{check} is {value}", check=check, value=value)
    if row.at_least:
        return say("{check} is {value}, at least {limit} was demanded", check=check, value=value,
                   limit=figure(row.threshold, ",.4g"))  # fmt: skip
    return say("{check} is {value}, at most {limit} was demanded", check=check, value=value,
               limit=figure(row.threshold, ",.4g"))  # fmt: skip


def _is_kept(row: Check, quasi: Sequence[str]) -> bool:
    """Tell whether a check was demanded of the classes of the promise, and passed."""
    classes = row.columns if row.check in _OF_KEYS else row.columns[:-1]
    of_classes = row.check in _OF_KEYS or of_audit(row.check)
    return bool(of_classes) and row.threshold is not None and row.passed is True and set(classes) == set(quasi)


def _clause(row: Check) -> str:
    """Return what a check of the classes found as a clause."""
    if row.check in _OF_KEYS:
        return Said(_OF_KEYS[row.check], {"value": row.value})
    limit = of_audit(row.check)
    assert limit is not None
    meaning = Said(limit.meaning, {"value": row.value, **{setting.name: setting.name for setting in limit.parameters}})
    return say("{meaning} ({column})", column=row.columns[-1], meaning=meaning)


def _counts(row: Check) -> bool:
    """Tell whether a check counts the classes that a release has."""
    return not isinstance(row, AuditRow) or row.nulls == "own_value"


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


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


def judge_promises(
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
    for k, known_names in sorted((*promises.over, *demanded), key=lambda one: one[0]):
        largest[frozenset(known_names)] = (k, known_names)
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


def class_counter(
    warehouse: Warehouse, relation: Name, person: Sequence[Column] = ()
) -> Callable[[Sequence[Column]], int]:
    """Return what counts the records, or the persons, of the smallest class over columns of a relation.

    NULL is a value.
    """
    return lambda columns: k_anonymity.class_sizes(warehouse, relation, columns, person).k
