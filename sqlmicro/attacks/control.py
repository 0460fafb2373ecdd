"""The control group: people who were not in the table, on whom the same attack shows what is general knowledge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from sqlmicro.attacks.attacked import AttackedRelease, Features
from sqlmicro.attacks.registry import Detail, NothingToAttack, Unit, Z, wilson
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import numpy as np

How = Literal["given", "rehearsed"]
"""Where a control group comes from: a table that was named, or people held out of a release made again in memory."""

SOURCE = "Giomi, Boenisch, Wehmeyer & Tasnádi (2023), PoPETs; Article 29 Working Party, opinion 05/2014 (WP 216)"
WITH_CONTROL = (
    "attack/in_both.sql",
    "attack/with_control.sql",
    "audit/values.sql",
    "attack/features.sql",
    "attack/columns.sql",
    "attack/persons.sql",
)
"""The templates of what holds people of the table against people who were not in it."""
MOST_TARGETS = 2000
"""So many people of either group are attacked at most, unless --sample says otherwise."""
_MOST_RECORDS = 20
"""So many records of a person count."""
_FEWEST = 20
"""Fewer people in a group would leave nothing but intervals from 0 to 1."""


@dataclass(frozen=True)
class Residual:
    """What an attack gains by somebody's being in the table, with an interval at 95 %."""

    risk: float
    low: float
    high: float


def residual(attack: float, n: int, control: float, n_control: int, scale: float = 1.0) -> Residual:
    """Return by how much an attack is right more often than on the control group, of what it could be at most.

    Parameters
    ----------
    attack, control : float
        The share of the n, and of the n_control, tries that were right.
    scale : float
        Of the control's share and its error, where it is not a share of tries by itself.

    Notes
    -----
    (r - c) / (1 - c), between 0 and 1; the error of either rate is half its Wilson interval, and both are propagated
    as in Giomi et al. (2023), section 4.

    >>> found = residual(0.6, 1000, 0.2, 1000)
    >>> round(found.risk, 6), round(found.low, 3), round(found.high, 3)
    (0.5, 0.459, 0.541)
    >>> residual(0.2, 1000, 0.2, 1000).risk, residual(0.1, 100, 1.0, 100).risk
    (0.0, 0.0)
    """
    c = min(control * scale, 1.0)
    if c >= 1:
        return Residual(0.0, 0.0, 1.0)
    risk = (attack - c) / (1 - c)
    error = math.hypot(_error(attack, n) / (1 - c), scale * _error(control, n_control) * (1 - attack) / (1 - c) ** 2)
    risk, low, high = (min(max(value, 0.0), 1.0) for value in (risk, risk - error, risk + error))
    return Residual(risk, low, high)


def _error(rate: float, n: int) -> float:
    """Return half the Wilson interval of a rate."""
    return Z / (n + Z**2) * math.sqrt(n * rate * (1 - rate) + Z**2 / 4)


@dataclass(frozen=True)
class AgainstControl(Detail):
    """How far an attack got with people of the table, beside people who were not in it."""

    risk: float
    """What is gained by being in the table, of what could be gained at most; 0 to 1."""
    risk_ci: list[float]
    """The interval of the risk at 95 %."""
    control: float
    """How often the same attack was right about the control group."""
    control_ci: list[float]
    n_control: int
    how: How
    chosen: str
    """The strongest of what was tried; both, where one half of the people would choose another than the other half."""
    column: str | None = None
    """The column that was guessed."""
    commonest: float | None = None
    """How often its commonest value is right."""


@dataclass(frozen=True)
class Seen:
    """A column in both tables: values of the people, and what was released; a range has two ends, else they are one.

    A nominal value is its number, -1 where the release lacks it; a missing number is NaN.
    """

    column: Column
    numeric: bool
    people: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def released(self) -> np.ndarray:
        """The released values, the middle of a range."""
        import numpy as np

        ends = (np.where(np.isfinite(a), a, b) for a, b in ((self.low, self.high), (self.high, self.low)))
        low, high = ends
        middle: np.ndarray = (low + high) / 2
        return middle


@dataclass(frozen=True, eq=False, kw_only=True)
class Controlled:
    """A release, people of its table, and people who were not in it: the control group.

    Parameters
    ----------
    attacked : AttackedRelease
        The release beside a table of both: first the records it was made from, then those of the control group.
    members : int
        How many are the former.
    sensitive : tuple of Column
        What the attacker wants to know.
    how : {"given", "rehearsed"}
        Where the control group comes from.
    """

    attacked: AttackedRelease
    members: int
    sensitive: tuple[Column, ...]
    how: How
    sample: int | None = None
    _made: dict[tuple[str, ...], Features] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        """What the attacker knows."""
        return self.attacked.columns

    @property
    def unit(self) -> Unit:
        """Of what the groups are."""
        return self.attacked.unit

    def features(self, columns: Sequence[Column] = ()) -> Features:
        """Return the people and the release as numbers, by some of the known columns or all."""
        chosen = tuple(columns) or self.columns
        key = tuple(column.staged for column in chosen)
        if key not in self._made:
            own = self.attacked if chosen == self.columns else replace(self.attacked, columns=chosen, _made={})
            self._made[key] = replace(own, person=()).features
        return self._made[key]

    @cached_property
    def whole(self) -> AttackedRelease:
        """The release with all columns, sensitive ones too."""
        return replace(self.attacked, columns=(*self.columns, *self.sensitive), _made={})

    @cached_property
    def seen(self) -> dict[str, Seen]:
        """Every column, sensitive ones too, by its name."""
        import numpy as np

        whole, (n, _) = self.whole, self.whole.sizes
        arrays = whole.warehouse.arrays(
            "attack/features.sql", original=whole.originals, released=whole.released, numeric=whole.numeric_columns,
            nominal=whole.nominal_columns,
        )  # fmt: skip
        numbers = whole.warehouse.arrays(
            "attack/columns.sql", relation=whole.originals, numeric=list(whole.ranges), texts=[]
        )
        found = {}
        for column in whole.columns:
            if column in whole.ranges:
                missing = (np.nan, np.nan)
                low, high = np.array([missing if ends is None else ends for ends in whole.ranges[column]]).T
                found[column.name] = Seen(column, True, numbers[column.staged].astype(float), low, high)
                continue
            values = arrays[column.staged].astype(float)
            numeric = column in whole.numeric_columns
            if not numeric:
                values[:n][~np.isin(values[:n], values[n:])] = -1
            found[column.name] = Seen(column, numeric, values[:n], values[n:], values[n:])
        return found

    @cached_property
    def who(self) -> np.ndarray:
        """The number of the person of every record; of the record where nothing tells whose it is."""
        import numpy as np

        if not self.attacked.person:
            return np.arange(self.attacked.sizes[0])
        found: np.ndarray = self.attacked.warehouse.arrays(
            "attack/persons.sql", relation=self.attacked.originals, person=self.attacked.whose
        )["person"].astype(np.int64)
        return found

    @cached_property
    def records(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of the records of the people who are attacked, of the table and of the control group.

        They are drawn from a fixed seed, so that the same are tried each time.

        Raises
        ------
        NothingToAttack
            When either group is too small to say anything.
        """
        import numpy as np

        rng, most = np.random.default_rng(20230055), self.sample or MOST_TARGETS
        groups = []
        for rows in np.split(np.arange(self.attacked.sizes[0]), [self.members]):
            rows = rng.permutation(rows)
            _, first = np.unique(self.who[rows], return_index=True)
            if len(first) < _FEWEST:
                got = f"{len(first)}"
                raise NothingToAttack("attack, --control", f"needs {_FEWEST} {self.unit} in and out of the table", got)
            chosen = self.who[rows[np.sort(first)[:most]]]
            groups.append(_at_most(rows[np.isin(self.who[rows], chosen)], self.who))
        return groups[0], groups[1]

    @cached_property
    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        """The place of one record of each of these people, in random order."""
        import numpy as np

        first, second = (
            rows[np.sort(np.unique(self.who[rows], return_index=True)[1])] for rows in self.records
        )  # fmt: skip
        return first, second

    def strongest(self, hits: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, str]:
        """Return how often the strongest attack is right about every target of either group, and which that is.

        Either half of the people is attacked by what is strongest on the other half: nobody decides about the attack
        that is measured on them.
        """
        import numpy as np

        n = len(self.targets[0])
        half = np.arange(n + len(self.targets[1])) % 2
        found, chosen = np.empty(len(half)), []
        for own in (0, 1):
            best = max(hits, key=lambda name: float(hits[name][:n][half[:n] != own].mean()))
            found[half == own] = hits[best][half == own]
            chosen.append(best)
        return found[:n], found[n:], "; ".join(dict.fromkeys(chosen))

    def against(
        self, hits: np.ndarray, control: np.ndarray, chosen: str, column: str | None = None,
        commonest: float | None = None,
    ) -> AgainstControl:  # fmt: skip
        """Return what came of an attack, from how often it was right about every target of either group.

        Where nobody of the control group could be attacked, it is right about none of them, as of one try.
        """
        rate, other = float(hits.mean()), float(control.mean()) if len(control) else 0.0
        tries = max(len(control), 1)
        found = residual(rate, len(hits), other, tries)
        return AgainstControl(
            found.risk, [found.low, found.high], other, list(wilson(other, tries)), len(control), self.how, chosen,
            column, commonest,
        )  # fmt: skip


def _at_most(rows: np.ndarray, who: np.ndarray) -> np.ndarray:
    """Return so many records of a person at most, the first of them."""
    import numpy as np

    order = np.argsort(who[rows], kind="stable")
    ordered = who[rows][order]
    begin = np.flatnonzero(np.diff(ordered, prepend=-1))
    place = np.arange(len(rows)) - np.repeat(begin, np.diff(np.append(begin, len(rows))))
    kept: np.ndarray = rows[np.sort(order[place < _MOST_RECORDS])]
    return kept


def controlled(
    attacked: AttackedRelease, control: Source, sensitive: Sequence[Column], how: How, sample: int | None = None
) -> Controlled:
    """Return a release beside its original and a control group.

    Parameters
    ----------
    attacked : AttackedRelease
        The release beside its original.
    control : Source
        Records of people who were not in the table, with its columns.
    sensitive : sequence of Column
        What the attacker wants to know; columns of the original too.
    how : {"given", "rehearsed"}
        Where the control group comes from.
    sample : int, optional
        Most people of either group.

    Raises
    ------
    ParameterError
        For a column that the control group does not have.
    InputError
        When the control group is empty.
    """
    where = "attack, --control"
    wanted = [column for column in sensitive if column.name in attacked.theirs]
    known = [column for column in attacked.columns if column not in wanted]
    names = [column.name for column in (*known, *wanted, *attacked.person)]
    pick(control.columns, names, where)
    own = [attacked.theirs[name] for name in dict.fromkeys(names)]
    both = attacked.stage(
        "attack/with_control.sql", f"with_control_{how}", view=False, original=attacked.original.relation,
        control=control.relation, columns=own,
    )  # fmt: skip
    warehouse = attacked.warehouse
    members = warehouse.count(attacked.original.relation)
    if not members or not warehouse.count(control.relation):
        raise InputError(where, "there must be records in the table and in the control group", "none")
    union = Source(both, attacked.original.label, _as_found(attacked, both, own), is_table=False)
    beside = replace(attacked, original=union, columns=tuple(known), match=(), sample=None, _made={})
    return Controlled(attacked=beside, members=members, sensitive=tuple(wanted), how=how, sample=sample)


def _as_found(attacked: AttackedRelease, relation: object, own: Sequence[Column]) -> tuple[Column, ...]:
    """Return columns with the types that those of both groups came to have."""
    types = dict(attacked.warehouse.describe(relation))  # type: ignore[arg-type]
    return tuple(replace(column, type=types[column.name]) for column in own)


def refuse_members(attacked: AttackedRelease, control: Source) -> None:
    """Refuse a control group that has people of the table: against themselves nobody runs a risk.

    A record that is like exactly one of the table, in all columns of both, is as frequent in a control group as records
    of the table that are like exactly one other. Where it is as frequent as those that are like no other, it is of the
    table; half of the way is too near.

    Raises
    ------
    InputError
        When it has records of the table.
    """
    theirs = {column.name for column in control.columns}
    both = [column for column in attacked.original.columns if column.name in theirs]
    if not both:
        return
    found = attacked.warehouse.record(
        "attack/in_both.sql", original=attacked.original.relation, control=control.relation, columns=both
    )
    counts = {name: int(number or 0) for name, number in found.items()}
    if not counts["records"] or not counts["control"]:
        return
    alone, pairs = counts["alone"] / counts["records"], counts["in_pairs"] / counts["records"]
    share = counts["found"] / counts["control"]
    if alone > pairs and share > (alone + pairs) / 2:
        raise InputError(
            "attack, --control", "must hold people who are not in the table",
            f"{share:.0%} of its records are like exactly one of the table, where {pairs:.0%} would be by chance",
            "Name people whose records the release was not made from",
        )  # fmt: skip
