"""The three criteria of the European guidelines: singling out, linkability, inference; each beside a control group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sqlmicro.attacks.control import AgainstControl, How
from sqlmicro.attacks.inference import guessed, leave_one_out
from sqlmicro.attacks.inference import inference as infer
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.linkability import linkability as link
from sqlmicro.attacks.membership import Told
from sqlmicro.attacks.membership import membership as tell_members
from sqlmicro.attacks.registry import Measured
from sqlmicro.attacks.row import Unit
from sqlmicro.attacks.singling_out import singling_out as single_out
from sqlmicro.errors import InputError
from sqlmicro.system.sentences import Said, join, say, term

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
        _worst("singling out", lambda: [single_out(knowledge)]),
        _worst("linkability", lambda: [link(knowledge)]),
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
