"""SAFE with guarantees: records change seats until every class of the file keeps what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees import read
from sqlmicro.guarantees.bounds import bound
from sqlmicro.guarantees.state import columns_of, missing, state_of
from sqlmicro.registry import late
from sqlmicro.safe_method.cells import Cells
from sqlmicro.standardise import standardise

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.guarantees.rules import Rules
    from sqlmicro.work import Work

_ROUNDS = 60
_PRICES = (1.0, 100.0)  # of a record that is missed, in squared standard deviations, in the first round and the last
_REACH = 50
_SLICE = 20_000


def least_k(work: Work, k: int, weights: str | None) -> int:
    """Return how often a record must occur at least so that a class can keep what was asked for.

    Raises
    ------
    InputError
        When no class can.
    ParameterError
        With weights: records that change seats would change the weighted tables.
    """
    if not work.guarantees.asked:
        return k
    if weights:
        raise ParameterError(f"{work.where}, weights", "does not go with guarantees of sensitive columns", "both")
    rules = read.rules(work, k)
    found = bound(rules, _records(rules))
    if found.infeasible:
        raise InputError(work.where, "some classes must keep what was asked for", found.infeasible, "Ask for less")
    if found.size > k:
        work.note(f"{found.why}, so that every record occurs {found.size} times")
    return found.size


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
    import numpy as np

    if not work.guarantees.asked:
        return groups
    found = work.warehouse.arrays("safe/seats.sql", groups=groups)
    everybody = work.matrix([])[0]
    rows = np.searchsorted(everybody, found["row_id"])
    rules = read.rules(work, k).of(rows)
    strata = work.stratum_numbers(len(everybody))[rows]
    labels = np.unique(found["label"], return_inverse=True)[1]
    read_as = work.warehouse.arrays(
        "load/features.sql", relation=work.relation, numeric=cells.numeric, ordinal=[], nominal=cells.nominal
    )
    numbers = [read_as[column.staged].astype(float) for column in cells.numeric]
    X = standardise(np.array(numbers).reshape(len(numbers), len(everybody)).T)[rows]
    codes = np.array([read_as[column.staged] for column in cells.nominal], dtype=np.int64)
    codes = np.ascontiguousarray(codes.reshape(len(cells.nominal), len(everybody)).T[rows])
    seats = seated(work, X, codes, strata, labels, rules)
    missed = missing(seats, rules) > 0
    if missed.any():
        raise InputError(
            work.where,
            "every class must keep what was asked for",
            f"{int(missed.sum()):,} of {len(missed):,} classes that do not, whoever sits where",
            "Use a larger --k, fewer columns, or ask for less",
        )
    moved = int((seats != labels).sum())
    work.note(f"{moved:,} records changed seats so that every class keeps what was asked for")
    return work.load_labels(found["row_id"], np.unique(found["label"])[seats], __name__, f"seats_of_{groups.table}")


def _records(rules: Rules) -> int:
    return len(rules.persons) if rules.persons is not None else len(rules.sensitive[0].codes)


def seated(
    work: Work, X: np.ndarray, codes: np.ndarray, strata: np.ndarray, labels: np.ndarray, rules: Rules
) -> np.ndarray:
    """Return labels of the same sizes in which the groups miss as little as was found."""
    import numpy as np

    exchange = late("sqlmicro.safe_method._exchange_kernels", "exchange")
    n = len(labels)
    columns = columns_of(rules, n)
    state = state_of(np.ascontiguousarray(X), labels, columns, rules.k, int(labels.max()) + 1)
    anchor = np.full(len(state.size), -1)
    anchor[labels[::-1]] = np.arange(n)[::-1]
    order = np.lexsort([*X.T, *codes.T, strata])
    place = np.argsort(order)
    rng = work.rng()
    with work.warehouse.progress.kernel("let records change seats", _ROUNDS) as progress:
        for number in range(_ROUNDS):
            wanting = np.flatnonzero(state.missed > 0)
            if not len(wanting):
                break
            price = _PRICES[0] * (_PRICES[1] / _PRICES[0]) ** (number / (_ROUNDS - 1))
            proposals = 30 * int(state.size[wanting].sum())
            for _ in range(0, proposals, _SLICE):
                exchange(state, columns, rules.k, codes, anchor, strata, order, place, wanting, rng, _REACH, price,
                         min(_SLICE, proposals))  # fmt: skip
                progress.tick(number, _ROUNDS)
    found: np.ndarray = state.label.copy()
    return found
