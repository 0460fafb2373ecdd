"""The three criteria of the European guidelines: singling out, linkability, inference; each beside a control group.

Singling out: conditions, read off a release, that hold for exactly one person of the table.

Linkability: two sets of columns of one person that belong together, found out by way of the release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlmicro.attacks.control import SOURCE, WITH_CONTROL, AgainstControl, Controlled, How, residual
from sqlmicro.attacks.inference import guessed, leave_one_out
from sqlmicro.attacks.inference import inference as infer
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.membership import Told
from sqlmicro.attacks.membership import membership as tell_members
from sqlmicro.attacks.neighbours import groups
from sqlmicro.attacks.registry import Measured, NothingToAttack, Unit, attack, wilson
from sqlmicro.errors import InputError
from sqlmicro.registry import late
from sqlmicro.system.sentences import Said, join, say, term

if TYPE_CHECKING:
    import numpy as np

Name = Literal["singling out", "linkability", "inference"]
_MOST_COLUMNS = 8
"""So many columns are guessed in turn where none is named as sensitive."""
_HOW = {
    "given": "The control group is {n:,} {unit} of a table that was given.",
    "rehearsed": "The control group is {n:,} {unit} who were held out: for this measurement the release was made "
    "again in memory without them. The published release has everybody.",
}


@dataclass(frozen=True)
class Criterion:
    """A figure: how often an attack was right about people of the table, and about people who were not in it."""

    name: Name
    risk: float | None
    """What being in the table adds, of what it could add at most; None where it could not be measured."""
    risk_ci: list[float] | None
    """The interval of the risk at 95 %."""
    attack: float | None
    control: float | None
    n: int | None
    n_control: int | None
    column: str | None
    """The column that was guessed."""
    commonest: float | None
    """How often its commonest value is right."""
    chosen: str | None
    """The strongest of what was tried."""
    sentence: str


@dataclass(frozen=True)
class Membership:
    """How well people of the table are told from people who were not in it."""

    auc: float | None
    """The area under the ROC curve, 0.5 by chance; None where it could not be measured."""
    auc_ci: list[float] | None
    true_positives: float | None
    """The share of the table that is told at `false_positives`."""
    false_positives: float | None
    sentence: str


@dataclass(frozen=True)
class Criteria:
    """The figures of a release, and the control group that they are measured against."""

    singling_out: Criterion
    linkability: Criterion
    inference: Criterion
    membership: Membership
    how: How | None
    """Where the control group comes from; None where there is none."""
    sentence: str

    @property
    def all(self) -> tuple[Criterion, Criterion, Criterion]:
        """The three criteria, in their order."""
        return self.singling_out, self.linkability, self.inference


def unknown(why: str) -> Criteria:
    """Return the criteria of a release for which there is no control group."""
    return Criteria(
        _unknown("singling out", why), _unknown("linkability", why), _unknown("inference", why),
        Membership(None, None, None, None, _not_measured("membership", why)), None,
        say("There is no control group: {why}.", why=term(why)),
    )  # fmt: skip


def criteria(knowledge: Knowledge) -> Criteria:
    """Measure the three criteria, and membership, against the control group that the attacker's knowledge has.

    Of several columns that can be guessed, inference is about the one whose risk is largest at the lower end of its
    interval. Where no column is sensitive, every known one is guessed from all others.

    Raises
    ------
    NothingToAttack
        When there is no control group.
    """
    beside = knowledge.controlled
    return Criteria(
        _worst("singling out", lambda: [singling_out(knowledge)]),
        _worst("linkability", lambda: [linkability(knowledge)]),
        _worst("inference", lambda: list(_guesses(knowledge))),
        _membership(knowledge),
        beside.how,
        Said(_HOW[beside.how], {"n": _people(knowledge), "unit": term(beside.unit)}),
    )


def _people(knowledge: Knowledge) -> int:
    import numpy as np

    return len(np.unique(knowledge.controlled.who[knowledge.controlled.members :]))


def _guesses(knowledge: Knowledge) -> Iterator[Measured]:
    """Yield what came of guessing the sensitive columns, or every known one from the others."""
    beside = knowledge.controlled
    if beside.sensitive:
        yield from infer(knowledge)
        return
    if len(beside.columns) < 2:
        raise InputError("inference", "needs a column to guess and one to guess it from", "one", "Name --sensitive")
    for column in beside.columns[:_MOST_COLUMNS]:
        others = [other for other in beside.columns if other != column]
        rate, detail = guessed(beside, column, others)
        yield Measured(rate, detail.control, len(beside.targets[0]), detail, beside.unit)
    try:
        yield from leave_one_out(knowledge)
    except InputError:  # nobody is shown alone
        return


def _worst(name: Name, measure: Callable[[], list[Measured]]) -> Criterion:
    """Return what was measured, of several the surest to be a risk; or why nothing was."""
    try:
        found = measure()
    except InputError as error:
        return _unknown(name, str(error).rstrip("."))
    worst, told = max(
        ((one, one.detail) for one in found if isinstance(one.detail, AgainstControl)),
        key=lambda pair: (pair[1].risk_ci[0], pair[1].risk),
    )
    made = Criterion(
        name, told.risk, told.risk_ci, worst.rate, told.control, worst.n, told.n_control, told.column, told.commonest,
        told.chosen, "",
    )  # fmt: skip
    return replace(made, sentence=_SAID[name](made, worst.unit))


def _unknown(name: Name, why: str) -> Criterion:
    return Criterion(name, None, None, None, None, None, None, None, None, None, _not_measured(name, why))


def _not_measured(name: str, why: str) -> Said:
    return say("{criterion} could not be measured: {why}.", criterion=term(name.capitalize()), why=term(why))


def _membership(knowledge: Knowledge) -> Membership:
    try:
        found = tell_members(knowledge)
    except InputError as error:
        return Membership(None, None, None, None, _not_measured("membership", str(error).rstrip(".")))
    told = found.detail
    assert isinstance(told, Told)
    low, high = found.ci
    said = say(
        "Of two people, one of whom is in the table, the right one is named in {rate} of the cases ({low} to {high}; "
        "by chance 50 %). An attack that wrongly takes {falsely} of those who are not in the table for members "
        "recognises {rightly} of those who are.",
        rate=share(found.rate), low=share(low), high=share(high), falsely=share(told.false_positives),
        rightly=share(told.true_positives),
    )  # fmt: skip
    return Membership(found.rate, [low, high], told.true_positives, told.false_positives, said)


def share(value: float) -> Said:
    """Return a share in per cent.

    >>> share(0.4567), share(1.0), share(0.00012)
    ('45.7 %', '100 %', '0.012 %')
    """
    return say("{x:.3g} %", x=100 * value)


def _added(found: Criterion) -> Said:
    low, high = found.risk_ci or (0.0, 1.0)
    return say("So the risk that comes from being in the table is {risk} ({low} to {high}).",
               risk=share(found.risk or 0.0), low=share(low), high=share(high))  # fmt: skip


def _single(found: Criterion, unit: Unit) -> str:
    return join([say(
        "Of {n:,} conditions read off the release, {attack} hold for exactly one record, which is one of the table; of "
        "a control group of the same size it would be {control}.",
        n=found.n, attack=share(found.attack or 0.0), control=share(found.control or 0.0),
    ), _added(found)])  # fmt: skip


def _link(found: Criterion, unit: Unit) -> str:
    return join([say(
        "Two halves of what is known of somebody lead to the same released record in {attack} of {n:,} {unit} of the "
        "table, and in {control} of the control group.",
        n=found.n, unit=term(unit), attack=share(found.attack or 0.0), control=share(found.control or 0.0),
    ), _added(found)])  # fmt: skip


def _infer(found: Criterion, unit: Unit) -> str:
    given = {"column": found.column, "n": found.n, "unit": term(unit), "attack": share(found.attack or 0.0),
             "control": share(found.control or 0.0)}  # fmt: skip
    said = (
        say("{column} is guessed right for {attack} of {n:,} {unit} of the table, and for {control} of the control "
            "group.", **given)
        if found.commonest is None
        else say("{column} is guessed right for {attack} of {n:,} {unit} of the table, and for {control} of the "
                 "control group; its commonest value is right for {usual}.", usual=share(found.commonest), **given)
    )  # fmt: skip
    return join([said, _added(found)])


_SAID: dict[Name, Callable[[Criterion, Unit], str]] = {
    "singling out": _single, "linkability": _link, "inference": _infer,
}  # fmt: skip


_MISSING = 1e308
"""What stands for a missing number: no condition on values holds for it."""
_WHOLE = 1e307
_CONDITIONS = 1000
"""So many of a family are tried at most."""
_DRAWN = 3
"""So many times as many are drawn; those that fewest released records meet are tried."""
_FAMILIES = ("below or above", "about the released value", "about the whole released record")


@dataclass(frozen=True)
class Conditions:
    """Conditions on several columns together: in each column a value from `low` to `high`, both (g, p)."""

    low: np.ndarray
    high: np.ndarray


@attack("singling-out", needs=("columns", "control"), source=SOURCE, templates=WITH_CONTROL, outsider=False)
def singling_out(knowledge: Knowledge) -> Measured:
    """Find conditions on known columns that exactly one person of the table meets.

    Returns
    -------
    Measured
        The rate is the share of the conditions tried that exactly one record meets, one of the table. Chance is the
        same for the control group: how often it is one of theirs, for as many people as the table has.

    Notes
    -----
    A condition is made from a released record and some of its columns: nominal values are equal; numbers lie below or
    above the released one, whichever side of the median it is on, or nearer to it than to any other released one. Of
    the conditions drawn those are tried that fewest released records meet. Both groups are searched together, so that
    without any leak either holds the one record as often as its size makes likely: no curve has to be fitted to what
    a control group of another size would give, as in Giomi et al. (2023). The strongest family is chosen on one half of
    the conditions and measured on the other. Here a record is a person.
    """
    import numpy as np

    beside = knowledge.controlled
    people, released = _people_beside(beside), _released(beside)
    rng = np.random.default_rng(29)
    members = np.zeros(len(people), dtype=bool)
    members[: beside.members] = True
    scale = float(members.sum() / (~members).sum())
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for family in _FAMILIES:
        made = _fewest(beside, _drawn(beside, family, released, rng), released)
        counts, last = _met(beside, made, people, 2)
        alone = counts == 1
        order = rng.permutation(len(alone))
        found[family] = (alone & members[last])[order], (alone & ~members[last])[order]
    best = max(_FAMILIES, key=lambda name: _excess(found[name], scale, first=True))
    own, other = (part[len(part) // 2 :] for part in found[best])
    rate, control, n = float(own.mean()), float(other.mean()), len(own)
    gained = residual(rate, n, control, n, scale)
    detail = AgainstControl(
        gained.risk, [gained.low, gained.high], min(control * scale, 1.0),
        [min(end * scale, 1.0) for end in wilson(control, n)], n, beside.how, best,
    )  # fmt: skip
    return Measured(rate, detail.control, n, detail, "conditions")


def _excess(found: tuple[np.ndarray, np.ndarray], scale: float, *, first: bool) -> float:
    own, other = (part[: (len(part) + 1) // 2] if first else part for part in found)
    return float(own.mean()) - scale * float(other.mean())


def _people_beside(beside: Controlled) -> np.ndarray:
    """Return the records of both groups as numbers (n, p)."""
    return _numbers([beside.seen[column.name].people for column in beside.columns])


def _released(beside: Controlled) -> np.ndarray:
    """Return the released records as numbers (m, p), the middle of ranges."""
    return _numbers([beside.seen[column.name].released for column in beside.columns])


def _numbers(columns: list[np.ndarray]) -> np.ndarray:
    import numpy as np

    return np.column_stack([np.where(np.isnan(column), _MISSING, column) for column in columns])


def _drawn(beside: Controlled, family: str, released: np.ndarray, rng: np.random.Generator) -> Conditions:
    """Return conditions of a family, each made from some columns of a released record that is drawn."""
    import numpy as np

    m, p = released.shape
    # By their values: a relation has no order, and the same conditions are to be tried each time.
    rows = np.lexsort(released.T)[rng.integers(m, size=_CONDITIONS * _DRAWN)]
    used = rng.random((len(rows), p)).argsort(axis=1) < rng.integers(1, p + 1, size=len(rows))[:, None]
    if family == _FAMILIES[2]:
        used[:] = True
    low, high = np.full((len(rows), p), -np.inf), np.full((len(rows), p), np.inf)
    for j, column in enumerate(beside.columns):
        seen, chosen = beside.seen[column.name], used[:, j]
        value = released[rows, j]
        least, most = value.copy(), value.copy()
        if seen.numeric:
            ends = np.column_stack([np.nan_to_num(e[rows], nan=_MISSING) for e in (seen.low, seen.high)])
            ends = np.clip(ends, -_WHOLE, _MISSING)
            least, most = _about(value, ends, released[:, j], sides=family == _FAMILIES[0])
        low[chosen, j], high[chosen, j] = least[chosen], most[chosen]
    both = np.unique(np.hstack([low, high]), axis=0)
    return Conditions(np.ascontiguousarray(both[:, :p]), np.ascontiguousarray(both[:, p:]))


def _about(value: np.ndarray, ends: np.ndarray, released: np.ndarray, *, sides: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds of conditions on a column of numbers, from released values (g,) and their ends (g, 2)."""
    import numpy as np

    different = np.unique(released[released < _MISSING])
    missing = value >= _MISSING
    if not len(different):
        return value, value
    if sides:
        below = value <= np.median(released[released < _MISSING])
        least, most = np.where(below, -_WHOLE, ends[:, 0]), np.where(below, ends[:, 1], _WHOLE)
    else:
        at = np.searchsorted(different, np.where(missing, different[0], value))
        before, after = different[np.maximum(at - 1, 0)], different[np.minimum(at + 1, len(different) - 1)]
        least = np.minimum((before + different[at]) / 2, ends[:, 0])
        most = np.maximum((after + different[at]) / 2, ends[:, 1])
    return np.where(missing, _MISSING, least), np.where(missing, _MISSING, most)


def _fewest(beside: Controlled, drawn: Conditions, released: np.ndarray) -> Conditions:
    """Return those of the conditions that fewest released records meet."""
    import numpy as np

    counts, _ = _met(beside, drawn, released, 50)
    kept = np.sort(np.argsort(counts, kind="stable")[:_CONDITIONS])
    return replace(drawn, low=drawn.low[kept], high=drawn.high[kept])


def _met(beside: Controlled, made: Conditions, V: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows of V meet every condition, counted up to `most`, and the last of them."""
    import numpy as np

    kernels = late("sqlmicro.attacks._control_kernels")
    V = np.ascontiguousarray(V)
    g = len(made.low)
    counts, last = np.empty(g, dtype=np.int64), np.empty(g, dtype=np.int64)
    at_once = max(1, kernels.WORK_PER_CALL // len(V))
    with beside.attacked.warehouse.progress.kernel("conditions that hold for one", g) as ticking:
        for begin in range(0, g, at_once):
            part = slice(begin, begin + at_once)
            kernels.inside(made.low[part], made.high[part], V, most, counts[part], last[part])
            ticking.tick(min(begin + at_once, g), g)
    return counts, last


@attack("linkability", needs=("columns", "control"), source=SOURCE, templates=WITH_CONTROL, outsider=False)
def linkability(knowledge: Knowledge) -> Measured:
    """Link two halves of what is known of a person: each is nearest to the same released record.

    Returns
    -------
    Measured
        The rate is the mean probability that whoever takes one of the released records that are nearest by the one half
        of the columns, and one of those that are nearest by the other, takes the same record. Chance is the same for
        the control group.

    Notes
    -----
    In a release where every combination of the columns occurs k times, at least k records are nearest by either half:
    the rate is at most 1/k. The columns are divided down the middle, or in turn; either half of the
    people is attacked by what is stronger on the other. O(t m p) for t people.
    """
    beside = knowledge.controlled
    if len(beside.columns) < 2:
        raise NothingToAttack("attack, --columns", "linkability needs two columns", "one")
    found = {name: _linked(beside, parts) for name, parts in _divisions(beside).items()}
    own, control, best = beside.strongest(found)
    detail = beside.against(own, control, best)
    return Measured(float(own.mean()), detail.control, len(own), detail, beside.unit)


def _divisions(beside: Controlled) -> dict[str, list[int]]:
    """Return which half every known column is of, for both divisions, by what they are called."""
    p = len(beside.columns)
    made = [[int(2 * j >= p) for j in range(p)], [j % 2 for j in range(p)]]
    names = [column.name for column in beside.columns]
    return {
        " | ".join(
            ", ".join(name for name, part in zip(names, parts, strict=True) if part == half) for half in (0, 1)
        ): parts
        for parts in made
    }


def _linked(beside: Controlled, parts: list[int]) -> np.ndarray:
    """Return the probability that both halves of every target (t,) end with the same released record."""
    import numpy as np

    kernels = late("sqlmicro.attacks._control_kernels")
    sides = [
        beside.features([column for column, part in zip(beside.columns, parts, strict=True) if part == half])
        for half in (0, 1)
    ]
    people = np.concatenate(beside.targets)
    X = np.hstack([side.X[people] for side in sides])
    released = groups(np.hstack([side.Y for side in sides]), sides[0].times)
    weight, kind = (np.concatenate([getattr(side, name) for side in sides]) for name in ("weight", "kind"))
    of = np.repeat([0, 1], [side.X.shape[1] for side in sides])
    counts = np.empty((len(X), 3), dtype=np.int64)
    at_once = max(1, kernels.WORK_PER_CALL // len(released.points))
    with beside.attacked.warehouse.progress.kernel("records both halves share", len(X)) as ticking:
        for begin in range(0, len(X), at_once):
            block = slice(begin, begin + at_once)
            kernels.shared(X[block], released.points, weight, kind, of, released.times, counts[block])
            ticking.tick(min(begin + at_once, len(X)), len(X))
    found: np.ndarray = counts[:, 2] / (counts[:, 0] * counts[:, 1])
    return found
