"""What a dealing anew begins with: the numbers in whole units, the tables that are kept, and who is near to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import TYPE_CHECKING

from sqlmicro.registry import late
from sqlmicro.safe_method.coordinates import in_order, numbered
from sqlmicro.safe_method.means import LEAST_RECORDS

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.safe_method._deal_kernels import Deal, Seats

_NEAR, DIMENSIONS = 12, 6
_BANDS, _STEPS, _PRODUCTS = 10, 200, 20
_TABLES, _NUMBERS = 120, 8_000_000
_TOTAL_WEIGHT = 3.0
_LARGEST = 2.0**50
_FINE = 30
_ALIKE = 1e-9


@dataclass(frozen=True)
class Numbers:
    """The averaged columns of the records, as whole units from about their mean.

    Attributes
    ----------
    x : ndarray of int64, shape (n, P)
        The units.
    rounded : ndarray of bool, shape (P,)
        Whether whole units are released.
    ends : tuple of P ndarrays
        Where the bands of each end, by which records are counted.
    unit : tuple of float
        What a unit of each column is; of those that tell what is missing, none.
    """

    x: np.ndarray
    rounded: np.ndarray
    ends: tuple[np.ndarray, ...]
    unit: tuple[float, ...] = ()

    @classmethod
    def of(cls, raw: np.ndarray, units: Sequence[float | None], steps: Sequence[float | None]) -> Numbers:
        """Return columns with the unit that each is released in, None where it is released as it is.

        For a column with missing values (NaN), which are at the mean then, another follows that tells which are. Bands
        are deciles, or as far as `steps` says of a column from its multiples, up to 200 of them.

        >>> import numpy as np
        >>> found = Numbers.of(np.array([[1.25, 4.0], [1.75, np.nan]]), [0.25, 1.0], [0.5, None])
        >>> found.x.tolist(), found.rounded.tolist(), found.ends[0].tolist()
        ([[-1, 0, 0], [1, 0, 1]], [True, True, False], [-1.0, 1.0])
        """
        import numpy as np

        columns, rounded, ends, wholes = [], [], [], []
        missing = np.isnan(raw)
        for column, without, unit, apart in zip(raw.T, missing.T, units, steps, strict=True):
            there = column[~without]
            mean = float(there.mean()) if len(there) else 0.0
            filled = np.where(without, mean, column)
            reach = float(np.abs(filled - mean).max(initial=0.0))
            whole = unit
            if whole is None or reach / whole > _LARGEST:
                whole = 2.0 ** (np.ceil(np.log2(reach)) - _FINE) if reach > 0 else 1.0
            # From an even number of units: halves are rounded to the same side as without it.
            zero = 2.0 * np.rint(mean / whole / 2.0)
            columns.append((np.rint(filled / whole) - zero).astype(np.int64))
            rounded.append(whole == unit)
            wholes.append(float(whole))
            ends.append(_multiples(filled, apart) / whole - zero if apart else _deciles(columns[-1]))
        flags = [without.astype(np.int64) for without in missing.T if without.any()]
        x = np.array([*columns, *flags], dtype=np.int64).reshape(-1, len(raw)).T
        rounded += [False for _ in flags]
        by_band = (*ends, *map(_deciles, flags))
        return cls(np.ascontiguousarray(x), np.array(rounded, dtype=np.bool_), by_band, tuple(wholes))


def _deciles(column: np.ndarray) -> np.ndarray:
    import numpy as np

    found: np.ndarray = np.unique(np.quantile(column, np.arange(1, _BANDS) / _BANDS, method="higher")) - 0.25
    return found


def _multiples(column: np.ndarray, step: float) -> np.ndarray:
    """Return what is halfway between the multiples of a step; of too many, between every so many.

    >>> import numpy as np
    >>> _multiples(np.array([90.0, 290.0]), 100.0).tolist(), len(_multiples(np.array([0.0, 1e6]), 1.0)) <= 200
    ([150.0, 250.0], True)
    """
    import numpy as np

    low, high = np.rint(column.min() / step), np.rint(column.max() / step)
    found: np.ndarray = (np.arange(low, high, max(1.0, np.ceil((high - low) / _STEPS))) + 0.5) * step
    return found


@dataclass(frozen=True)
class Groups:
    """The label of each record (n,), and of each group the nominal values that it shows (G, q), and its block (G,).

    No record leaves its block.
    """

    label: np.ndarray
    combination: np.ndarray
    block: np.ndarray


@dataclass(frozen=True)
class Original:
    """What the groups are compared with: numbers (m, P) in the same units, nominal values (m, q), records."""

    x: np.ndarray
    codes: np.ndarray
    n: np.ndarray


def make_deal(
    numbers: Numbers,
    codes: np.ndarray,
    groups: Groups,
    original: Original | None,
    more: Sequence[tuple[int, ...]],
    prices: Sequence[float],
    rng: np.random.Generator,
) -> tuple[Deal, Seats, int]:
    """Return the problem, its state at the beginning, and how many sums and counts a proposal looks at."""
    import numpy as np

    x, label, combination = numbers.x, groups.label, groups.combination
    original = original or Original(x, codes, np.ones(len(x)))
    (n, P), G = x.shape, len(combination)
    shift, scale = standard(x)
    z = (x - shift) * scale
    size = np.bincount(label, minlength=G)
    pairs = list(combinations_with_replacement(range(P), 2))
    pairs = pairs if len(pairs) <= _PRODUCTS else [(j, j) for j in range(P)]
    R = P + len(pairs)
    bands = 1 + max(map(len, numbers.ends), default=0)
    tables = _tables(original.codes, combination, more, P * bands + R + 2 * P)
    # C order, as of one number: for another order the kernels would be compiled once more.
    sums = np.column_stack([np.bincount(label, column, G) for column in x.T]).astype(np.int64, order="C")
    shown = np.where(numbers.rounded, np.rint(sums / size[:, None]), sums / size[:, None])
    cuts = np.full((P, bands - 1), np.inf)
    for cut, ends in zip(cuts, numbers.ends, strict=True):
        cut[: len(ends)] = ends
    order = in_order(label)
    member = np.zeros((G, int(size.max())), dtype=np.int32)
    member[label[order], np.arange(n) - np.repeat(np.cumsum(size) - size, size)] = order
    kind = numbered([size, groups.block])
    deal_of, seats_of = (late("sqlmicro.safe_method._deal_kernels", name) for name in ("Deal", "Seats"))
    left, right = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    seats: Seats = seats_of(
        label.astype(np.int64).copy(), member, sums, shown, np.zeros((tables.cells, R)),
        np.zeros((tables.cells, P, bands), dtype=np.int32), np.zeros((tables.cells, P)),
    )  # fmt: skip
    per_error = _compared(tables, seats, (original.x - shift) * scale, (shown - shift) * scale, (original.n, size),
                          (left, right), (original.x, shown, cuts))  # fmt: skip
    amounts = np.where(np.array(tables.order) < 2, R, np.where(np.array(tables.order) < 3, P, 0))
    weight = np.where(np.array(tables.order) == 0, _TOTAL_WEIGHT, 1.0)
    weight = np.where(np.array(tables.order) > 2, 0.0, weight)
    deal: Deal = deal_of(
        x, np.ascontiguousarray(codes, dtype=np.int32), near_records(z, groups.block[label], rng),
        size.astype(np.int64), np.ascontiguousarray(combination, dtype=np.int32), tables.of_group, kind, in_order(kind),
        np.concatenate([[0], np.cumsum(np.bincount(kind))]), shift, scale, numbers.rounded,
        left, right, amounts.astype(np.int64), weight, weight, cuts, per_error, np.array(prices, dtype=float),
    )  # fmt: skip
    return deal, seats, int(amounts.sum()) + len(amounts) * P


@dataclass(frozen=True)
class _Tables:
    """The tables: how many cells all have, those of records (n, T) and groups (G, T), how many columns each has."""

    cells: int
    of_record: np.ndarray
    of_group: np.ndarray
    order: list[int]


def _tables(codes: np.ndarray, combination: np.ndarray, more: Sequence[tuple[int, ...]], width: int) -> _Tables:
    """Number the cells of the total, of every column and pair of columns, and of what is asked for besides.

    Of too many pairs those with the fewest cells take part.
    """
    import numpy as np

    both = np.concatenate([codes, combination]).astype(np.int64)
    varied = [j for j in range(both.shape[1]) if len(both) and np.ptp(both[:, j]) > 0]
    widths = {j: int(both[:, j].max()) + 1 for j in varied}
    pairs = sorted(combinations(varied, 2), key=lambda pair: widths[pair[0]] * widths[pair[1]])
    asked = [tuple(j for j in some if j in widths) for some in more]
    sets = [(), *((j,) for j in varied), *(some for some in asked if len(some) > 2), *pairs]
    found, orders, cells = [], [], 0
    for some in list(dict.fromkeys(sets))[:_TABLES]:
        of = numbered([both[:, j] for j in some]) if some else np.zeros(len(both), dtype=np.int64)
        more_cells = int(of.max()) + 1
        if len(some) > 1 and (cells + more_cells) * width > _NUMBERS:
            continue
        found.append((of + cells).astype(np.int32))
        orders.append(len(some))
        cells += more_cells
    columns = np.array(found).T
    return _Tables(cells, columns[: len(codes)], np.ascontiguousarray(columns[len(codes) :]), orders)


def _compared(
    tables: _Tables,
    seats: Seats,
    z: np.ndarray,
    shown: np.ndarray,
    records_of: tuple[np.ndarray, np.ndarray],
    pairs: tuple[np.ndarray, np.ndarray],
    in_units: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Count by how much the tables are off, into the state; return what a unit of a sum is in standard errors."""
    import numpy as np

    P, cells = z.shape[1], tables.cells
    (n, size), (left, right) = records_of, pairs
    per_error = np.zeros((cells, P))
    own = np.hstack([z, z[:, left] * z[:, right] - (left == right)]) * n[:, None]
    released = np.hstack([shown, shown[:, left] * shown[:, right] - (left == right)]) * size[:, None]
    x, in_groups, cuts = in_units
    count = 1 + cuts.shape[1]
    band_of = [[np.searchsorted(cut, values[:, j], "right") for j, cut in enumerate(cuts)] for values in (x, in_groups)]
    for of_record, of_group in zip(tables.of_record.T, tables.of_group.T, strict=True):
        records, there = np.bincount(of_record, n, cells), np.bincount(of_group, size, cells)
        for r, (before, after) in enumerate(zip(own.T, released.T, strict=True)):
            seats.off[:, r] += np.bincount(of_group, after, cells) - np.bincount(of_record, before, cells)
        for j in range(P):
            bands = [
                np.bincount(of * count + band[j], weight, cells * count)
                for of, band, weight in ((of_group, band_of[1], size), (of_record, band_of[0], n))
            ]
            seats.off_bands[:, j] += (bands[0] - bands[1]).astype(np.int32).reshape(cells, count)
            mean = np.bincount(of_record, own[:, j], cells) / np.maximum(records, 1)
            squares = np.bincount(of_record, n * (z[:, j] - mean[of_record]) ** 2, cells)
            seats.off_means[:, j] += np.bincount(of_group, released[:, j], cells) - there * mean
            large = (records >= LEAST_RECORDS) & (there > 0) & (squares > _ALIKE * records)
            error = np.sqrt(squares / np.maximum(records - 1, 1) / np.maximum(records, 1))
            per_error[large, j] = 1.0 / (error[large] * there[large])
    return per_error


def near_records(z: np.ndarray, block: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return for every record up to 12 of its block that are near to it in the numbers; itself where there are fewer.

    Above six columns they are near by the principal ones.
    """
    import numpy as np
    from scipy.spatial import cKDTree

    z = few(z)
    many = min(_NEAR, len(z) - 1)
    # Equal records would have the same few as neighbours.
    apart = z + rng.normal(0.0, 1e-6, z.shape)
    if np.ptp(block):
        away = 10.0 * (1.0 + np.linalg.norm(np.ptp(apart, axis=0)))
        apart = np.column_stack([apart, away * np.unique(block, return_inverse=True)[1].reshape(-1)])
    found = cKDTree(apart).query(apart, many + 1)[1].reshape(len(z), -1)[:, 1:]
    found = np.where(block[found] == block[:, None], found, np.arange(len(z))[:, None])
    return np.ascontiguousarray(found, dtype=np.int32)


def standard(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what columns are standardised by: the mean, and one by the deviation; 0 where it is none."""
    deviation = x.std(axis=0)
    constant = deviation <= _ALIKE
    return x.mean(axis=0), ~constant / (deviation + constant)


def few(z: np.ndarray) -> np.ndarray:
    """Return up to six columns: those of z, or of more the principal ones."""
    import numpy as np

    if z.shape[1] <= DIMENSIONS:
        return z
    centred = z - z.mean(axis=0)
    found: np.ndarray = centred @ np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :DIMENSIONS]
    return found
