"""SAFE with guarantees: records change seats until every class of the file keeps what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlmicro.database.levels import advised
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import bound, refuse_impossible
from sqlmicro.guarantees.state import columns_of, missing, state_of
from sqlmicro.missing.counted import number
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import late
from sqlmicro.safe_method import seats_by_cell
from sqlmicro.safe_method.cells import Cells
from sqlmicro.safe_method.persons import dealt, least_records, least_size
from sqlmicro.safe_method.seats_by_cell import Seats

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.guarantees._state_kernels import State
    from sqlmicro.guarantees.rules import Rules
    from sqlmicro.work import Work

_ROUNDS = 60
_PRICES = (1.0, 100.0)  # of a record that is missed, in squared standard deviations, in the first round and the last
# A round that frees fewer of the groups than that share makes haste: the price rises by so much of its way at once.
_FREED, _HASTE = 0.8, 0.15
_AFTERWARDS = 2  # rounds after records were dealt
_REACH = 50
_SLICE = 20_000


def least_records_of(work: Work, cells: Cells, k: int, weights: str | None) -> np.ndarray:
    """Return for every stratum how often a record must occur at least so that a class can keep what was asked for.

    Raises
    ------
    InputError
        When no class can.
    ParameterError
        With weights: records that change seats would change the weighted tables.
    """
    import numpy as np

    strata = int(cells.strata.max()) + 1
    if not work.more_than_k:
        return np.full(strata, k)
    if weights:
        raise ParameterError(f"{work.where}, weights", "goes neither with persons nor with guarantees", "both")
    if cells.persons:
        return _least_of(work, cells.persons.records(cells.strata), k)
    rules = read.rules(work, k)
    read.refuse_members(work, rules)
    if rules.only_k:
        return np.full(strata, k)
    refuse_impossible(work, rules)
    records = _records(rules)
    size = bound(rules, records).size
    if rules.persons is None:
        return np.full(strata, size)
    stratum = work.stratum_numbers(records)
    least = np.array([max(size, least_records(rules.persons[stratum == s], k)) for s in range(strata)])
    return _said(work, least, size, k)


def _least_of(work: Work, strata: Sequence[np.ndarray], k: int) -> np.ndarray:
    """Return the same from how many records the persons of every stratum have."""
    import numpy as np

    if level := work.part.level:
        read.say_alike(work, level, read.alike(work, level))
    else:
        read.say_without_person(work, work.guaranteed)
    few = [len(records) for records in strata if len(records) < k]
    if few:
        raise InputError(
            work.where,
            "the groups of every stratum must keep what was asked for",
            f"{len(few)} of {len(strata)} strata cannot; of the first: {few[0]} persons, k = {k}",
            advised(work.by, work.part, "Ask for less"),
        )
    return _said(work, np.array([least_size(records, k) for records in strata]), k, k)


def _said(work: Work, least: np.ndarray, size: int, k: int) -> np.ndarray:
    """Return the least sizes of classes, with a note where persons have so many records that they are larger."""
    if least.max() > size:
        more = f", in {int((least > size).sum())} of {len(least)} strata more than {size}"
        work.note(
            f"some persons have so many records that a class needs {int(least.max())} records to have {k} persons"
            + ("" if len(least) == 1 else more)
        )
    return least


def exchanged(work: Work, cells: Cells, groups: Name, k: int) -> Name:
    """Return the groups (row_id, label) with records moved between them so that every group keeps its guarantees.

    The groups keep their sizes and their values: what changes is whose sensitive values, or which person, is where.

    Raises
    ------
    InputError
        When some groups still miss something at the end.

    Notes
    -----
    Records of groups that miss something change seats with those of other groups of their stratum, at a price for what
    is missed that grows, and for the distance to the group's first member. O(n log n) for every round at most.
    """
    if not work.more_than_k:
        return groups
    if cells.persons:
        taken = seats_by_cell.short(work, cells, groups, k)
        if taken is None:
            return groups
        seats = _exchanged(work, taken, groups)
        return work.run("safe/with_seats.sql", f"seated_of_{groups.table}", groups=groups, seats=seats)
    taken = _taken(work, cells, groups, k)
    return groups if taken.rules.only_k else _exchanged(work, taken, groups)


def _taken(work: Work, cells: Cells, groups: Name, k: int) -> Seats:
    """Return the seats of all records, with what these are like."""
    import numpy as np

    found = work.warehouse.arrays("safe/seats.sql", groups=groups)
    everybody = work.matrix([])[0]
    rows = np.searchsorted(everybody, found["row_id"])
    rules = read.rules(work, k).of(rows)
    strata = work.stratum_numbers(len(everybody))[rows]
    nominal = cells.without_arithmetic
    read_as = work.warehouse.arrays(
        "load/features.sql", relation=work.relation, numeric=cells.numeric, ordinal=[], nominal=nominal, strata=[]
    )
    numbers = [read_as[column.staged].astype(float) for column in cells.numeric]
    X = standardise(np.array(numbers).reshape(len(numbers), len(everybody)).T)[rows]
    codes = np.array([read_as[column.staged] for column in nominal], dtype=np.int64)
    codes = np.ascontiguousarray(codes.reshape(len(nominal), len(everybody)).T[rows])
    return Seats(found["row_id"], found["label"], X, codes, strata, rules)


def _exchanged(work: Work, taken: Seats, groups: Name) -> Name:
    """Return the groups of some records after they have changed seats.

    Raises
    ------
    InputError
        When some groups still miss something.
    """
    import numpy as np

    names, labels = np.unique(taken.label, return_inverse=True)
    seats = seated(work, taken.X, taken.codes, taken.strata, labels, taken.rules)
    missed = missing(seats, taken.rules) > 0
    if missed.any():
        raise InputError(
            work.where,
            "every class must keep what was asked for",
            f"{int(missed.sum()):,} of {len(missed):,} classes that do not, whoever sits where",
            "Use a larger --k, fewer columns, or ask for less",
        )
    moved = int((seats != labels).sum())
    unit = work.part.level.unit if work.part.level else "record"
    work.note(f"{number(moved, unit)} changed seats so that every class keeps what was asked for")
    return work.load_labels(taken.row_id, names[seats], __name__, f"seats_of_{groups.table}")


def _records(rules: Rules) -> int:
    return len(rules.persons) if rules.persons is not None else len(rules.sensitive[0].codes)


def seated(
    work: Work, X: np.ndarray, codes: np.ndarray, strata: np.ndarray, labels: np.ndarray, rules: Rules
) -> np.ndarray:
    """Return labels of the same sizes in which the groups miss as little as was found.

    Where only persons are asked for, and exchanges do not end, the records of a stratum are dealt: then nothing is
    missed that need not be. Exchanges bring those near each other again.
    """
    import numpy as np

    persons = rules.persons if not rules.sensitive else None
    run = _Exchanges(X, codes, strata, labels, rules, work.rng())
    with work.warehouse.progress.kernel("let records change seats", _ROUNDS) as progress:
        price, before = _PRICES[0], np.inf
        for number in range(_ROUNDS):
            wanting = np.flatnonzero(run.state.missed > 0)
            if not len(wanting):
                break
            if persons is not None and price >= _PRICES[1] and len(wanting) >= before:
                break
            price *= (_PRICES[1] / _PRICES[0]) ** (1 / (_ROUNDS - 1) if len(wanting) < _FREED * before else _HASTE)
            price, before = min(price, _PRICES[1]), len(wanting)
            run.round(wanting, price, partial(progress.tick, number, _ROUNDS))
        if persons is not None and run.state.missed.any():
            wanting = run.deal(persons)
            for _ in range(_AFTERWARDS):
                run.round(wanting, _PRICES[1], partial(progress.tick, _ROUNDS, _ROUNDS))
    found: np.ndarray = run.state.label.copy()
    return found


class _Exchanges:
    """The seats of some records, and what their exchanges need."""

    def __init__(
        self,
        X: np.ndarray,
        codes: np.ndarray,
        strata: np.ndarray,
        labels: np.ndarray,
        rules: Rules,
        rng: np.random.Generator,
    ) -> None:
        import numpy as np

        self._exchange = late("sqlmicro.safe_method._exchange_kernels", "exchange")
        self._X, self._codes, self._strata = np.ascontiguousarray(X), codes, strata
        self._columns, self._rng, self._rules = columns_of(rules, len(labels)), rng, rules
        self.state = self._state(labels)
        self._anchor = np.full(len(self.state.size), -1)
        self._anchor[labels[::-1]] = np.arange(len(labels))[::-1]
        self._order = np.lexsort([*X.T, *codes.T, strata])
        self._place = np.argsort(self._order)

    def _state(self, labels: np.ndarray) -> State:
        return state_of(self._X, labels, self._columns, self._rules, int(labels.max()) + 1)

    def round(self, wanting: np.ndarray, price: float, tick: Callable[[], None]) -> None:
        """Let the records of some groups propose 30 exchanges each."""
        proposals = 30 * int(self.state.size[wanting].sum())
        for _ in range(0, proposals, _SLICE):
            self._exchange(
                self.state, self._columns, self._rules.k, self._codes, self._anchor, self._strata, self._order,
                self._place, wanting, self._rng, _REACH, price, min(_SLICE, proposals),
            )  # fmt: skip
            tick()

    def deal(self, persons: np.ndarray) -> np.ndarray:
        """Deal the records of every stratum in which a group misses persons; return the groups of these strata."""
        import numpy as np

        labels = self.state.label.copy()
        missed = np.isin(self._strata, np.unique(self._strata[self.state.missed[labels] > 0]))
        for stratum in np.unique(self._strata[missed]):
            rows = np.flatnonzero(self._strata == stratum)
            labels[rows] = dealt(labels[rows], persons[rows], self._rules.k)
        self.state = self._state(labels)
        return np.unique(labels[missed])
