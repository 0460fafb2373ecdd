"""SAFE with guarantees: records change seats until every class of the file keeps what was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import bound, records_of, refuse_impossible
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.state import columns_of, missing, state_of
from sqlmicro.missing.counted import number
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import late
from sqlmicro.safe_method.cells import Cells
from sqlmicro.safe_method.persons import dealt, least_records, least_size
from sqlmicro.safe_method.persons_of_cells import read_by_cell

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.guarantees._state_kernels import State
    from sqlmicro.work import Work

T = TypeVar("T")
_ROUNDS = 60
_PRICES = (1.0, 100.0)  # of a record that is missed, in squared standard deviations, in the first round and the last
# A round that frees fewer of the groups than that share makes haste: the price rises by so much of its way at once.
_FREED, _HASTE = 0.8, 0.15
_AFTERWARDS = 2  # rounds after records were dealt
_ANEW = 20  # times that the file is made with larger classes, where a class above has no seats that keep all
_AGAIN = 4  # times that the records of a class above in which one misses something are seated anew, by chance
_FEW = 12  # rounds of each time that they are dealt
_SURE = 3  # times that the records of such a class are dealt, until a size is taken for one at which all can be kept
_REACH = 50
_SLICE = 20_000


@dataclass(frozen=True)
class Seats:
    """Records with their group, what they are like, standardised, and what their groups must keep."""

    row_id: np.ndarray
    label: np.ndarray
    X: np.ndarray
    codes: np.ndarray
    strata: np.ndarray
    rules: Rules


class MissedError(InputError):
    """Some classes do not keep what was asked for, whoever sits where; `larger`: a size of those of a class above."""

    larger: dict[int, int]

    @classmethod
    def of(cls, work: Work, missed: np.ndarray, seats: np.ndarray, strata: np.ndarray) -> MissedError:
        """Return the error, from which classes miss something."""
        import numpy as np

        found = cls(
            work.where,
            "every class must keep what was asked for",
            f"{int(missed.sum()):,} of {len(missed):,} classes that do not, whoever sits where",
            "Use a larger --k, fewer columns, or ask for less",
        )
        short = np.unique(strata[missed[seats]]).tolist() if work.in_levels else []
        groups = {stratum: len(np.unique(seats[strata == stratum])) for stratum in short}
        found.larger = {one: int((strata == one).sum()) // (many - 1) for one, many in groups.items() if many > 1}
        return found


def enlarged(work: Work, least: np.ndarray, made: Callable[[np.ndarray], T]) -> T:
    """Return what is made with least sizes of classes; where those of some strata cannot keep all, with larger ones."""
    notes = len(work.outcome.account.notes)
    for _ in range(_ANEW):
        try:
            return made(least)
        except MissedError as missed:
            if not missed.larger:
                raise
            for stratum, size in missed.larger.items():
                least[stratum] = max(size, least[stratum] + 1)
            del work.outcome.account.notes[notes:]
    return made(least)


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
    if not work.demand.more_than_k:
        return np.full(strata, k)
    if weights:
        raise ParameterError(f"{work.where}, weights", "goes neither with persons nor with guarantees", "both")
    if cells.persons:
        return _least_of(work, cells.persons.records(cells.strata), k)
    rules = read.rules(work, k)
    if rules.only_k:
        return np.full(strata, k)
    refuse_impossible(work, rules.asked)
    records = records_of(rules)
    size, asked = max(bound(rules, records).size, _units_for(rules, records)), rules.asked
    of_levels = bool(asked.members or (asked.sensitive and work.records.classes))
    if asked.persons is None and not of_levels:
        return np.full(strata, size)
    stratum, least = work.stratum_numbers(records), np.full(strata, size)
    if asked.persons is not None:
        least = np.array([max(size, least_records(asked.persons[stratum == s], k)) for s in range(strata)])
    said = _said(work, least, size, k)
    return _settled(work, asked, stratum, said) if of_levels else said


def _settled(work: Work, rules: Rules, stratum: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Return sizes, at least those given, at which records of every stratum that are dealt can keep all that is asked.

    Strata that are classes of a level above are small, and each has its own shares: groups of one may have to be larger
    than those of another. Records are dealt to groups as small as can be but for one, and exchanged, some times from
    seats that are drawn; where a group misses something in the end, there is one less, down to one, which keeps all.
    """
    import numpy as np

    n = np.bincount(stratum)
    place = np.arange(len(stratum)) - np.repeat(np.cumsum(n) - n, n)
    groups = n // np.minimum(least, n)
    kept, turn = np.where(groups > 1, 0, _SURE), 0
    while (open_ := np.flatnonzero(kept < _SURE)).size:
        rows = np.flatnonzero(np.isin(stratum, open_))
        rows = rows[np.lexsort((work.streams()(turn).random(len(rows)), stratum[rows]))]
        of = stratum[rows]
        at = place[np.repeat(np.isin(np.arange(len(n)), open_), n)]
        labels = np.unique(of * n.max() + np.minimum(at // (n // groups)[of], groups[of] - 1), return_inverse=True)[1]
        own, nowhere = rules.of(rows), np.zeros((len(rows), 0))
        found = seated(work, nowhere, nowhere.astype(np.int64), of, labels, own, _FEW)
        short = np.unique(of[(missing(found, own) > 0)[found]])
        kept[open_] += 1
        kept[short] = 0
        groups[short] -= np.maximum(1, groups[short] // 8)
        kept[groups == 1], turn = _SURE, turn + 1
    sizes: np.ndarray = np.maximum(least, n // groups)
    return sizes


def _units_for(rules: Rules, units: int) -> int:
    """Return how many units of the mean size have the records that a class needs for what is asked of these."""
    if rules.members is None:
        return rules.k
    records = len(rules.members.unit)
    return ceil(bound(Rules(1, None, rules.members.sensitive), records).size * units / records)


def _least_of(work: Work, strata: Sequence[np.ndarray], k: int) -> np.ndarray:
    """Return the same from how many records the persons of every stratum have."""
    import numpy as np

    read.say_who_counts_as_one(work)
    few = [len(records) for records in strata if len(records) < k]
    if few:
        raise InputError(
            work.where,
            "the groups of every stratum must keep what was asked for",
            f"{len(few)} of {len(strata)} strata cannot; of the first: {few[0]} persons, k = {k}",
            work.advised("Ask for less"),
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
    if not work.demand.more_than_k:
        return groups
    if cells.persons:
        taken = _short(work, cells, groups, k)
        if taken is None:
            return groups
        seats = _exchanged(work, taken, groups)
        return work.run("safe/with_seats.sql", f"seated_of_{groups.table}", groups=groups, seats=seats)
    taken = _taken(work, cells, groups, k)
    return groups if taken.rules.only_k else _exchanged(work, taken, groups)


def _short(work: Work, cells: Cells, groups: Name, k: int) -> Seats | None:
    """Return the seats of the strata in which a group has fewer than k persons; None where all have them.

    Where the records are not in one place, only those of these strata are read.
    """
    import numpy as np
    import pyarrow as pa

    by = work.warehouse.hand_over(cells.relation), cells.key
    found = read_by_cell(work, *by, "safe/cells_of_short_groups.sql", groups=groups, k=k)["cell"]
    if not len(found):
        return None
    wanted = np.flatnonzero(np.isin(cells.strata, np.unique(cells.strata[found])))
    told = "filled with the cells of strata in which a class misses a person"
    shown = work.load(pa.table({"cell": wanted}), f"wanted_of_{groups.table}", told)
    seats = read_by_cell(work, *by, "safe/seats_of_cells.sql", groups=groups, wanted=shown)
    cell, persons = seats["cell"], np.unique(seats["person"], return_inverse=True)[1].astype(np.int64)
    X, codes = np.ascontiguousarray(cells.numbers[cell]), np.ascontiguousarray(cells.codes[cell])
    return Seats(seats["row_id"], seats["label"], X, codes, cells.strata[cell], Rules(k, persons))


def _taken(work: Work, cells: Cells, groups: Name, k: int) -> Seats:
    """Return the seats of all records, with what these are like."""
    import numpy as np

    found = work.warehouse.arrays("safe/seats.sql", groups=groups)
    everybody = work.matrix([])[0]
    rows = np.searchsorted(everybody, found["row_id"])
    rules = read.rules(work, k).asked.of(rows)
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
    for turn in range(_AGAIN if work.in_levels else 0):
        missed = missing(seats, taken.rules) > 0
        if not missed.any():
            break
        rows = np.flatnonzero(np.isin(taken.strata, taken.strata[missed[seats]]))
        seats[rows] = _mixed(work, seats[rows], taken.strata[rows], taken.rules.of(rows), turn)
    missed = missing(seats, taken.rules) > 0
    if missed.any():
        raise MissedError.of(work, missed, seats, taken.strata)
    moved = int((seats != labels).sum())
    unit = work.unit
    work.note(f"{number(moved, unit)} changed seats so that every class keeps what was asked for")
    return work.load_labels(taken.row_id, names[seats], __name__, f"seats_of_{groups.table}")


def _mixed(work: Work, labels: np.ndarray, strata: np.ndarray, rules: Rules, turn: int) -> np.ndarray:
    """Return labels of the same sizes in every stratum that miss as little as was found from seats that are drawn."""
    import numpy as np

    names, labels = np.unique(labels, return_inverse=True)
    by_stratum = np.argsort(strata, kind="stable")
    drawn = np.lexsort((work.streams()(turn + 1).random(len(labels)), strata))
    mixed = np.empty_like(labels)
    mixed[drawn] = labels[by_stratum]
    nowhere = np.zeros((len(labels), 0))
    found: np.ndarray = names[seated(work, nowhere, nowhere.astype(np.int64), strata, mixed, rules)]
    return found


def seated(
    work: Work, X: np.ndarray, codes: np.ndarray, strata: np.ndarray, labels: np.ndarray, rules: Rules,
    rounds: int = _ROUNDS,
) -> np.ndarray:  # fmt: skip
    """Return labels of the same sizes in which the groups miss as little as was found.

    Where only persons are asked for, and exchanges do not end, the records of a stratum are dealt: then nothing is
    missed that need not be. Exchanges bring those near each other again.
    """
    import numpy as np

    persons = rules.persons if not rules.sensitive and rules.members is None else None
    run = _Exchanges(X, codes, strata, labels, rules, work.rng())
    with work.warehouse.progress.kernel("let records change seats", rounds) as progress:
        price, before = _PRICES[0], np.inf
        for number in range(rounds):
            wanting = np.flatnonzero(run.state.missed > 0)
            if not len(wanting):
                break
            if persons is not None and price >= _PRICES[1] and len(wanting) >= before:
                break
            price *= (_PRICES[1] / _PRICES[0]) ** (1 / (rounds - 1) if len(wanting) < _FREED * before else _HASTE)
            price, before = min(price, _PRICES[1]), len(wanting)
            run.round(wanting, price, partial(progress.tick, number, rounds))
        if persons is not None and run.state.missed.any():
            wanting = run.deal(persons)
            for _ in range(_AFTERWARDS):
                run.round(wanting, _PRICES[1], partial(progress.tick, rounds, rounds))
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
