"""SAFE, the direct search: the occurring combinations as numbered columns, and which of them are near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

_NEAR = 12
_PRODUCTS = 20
BANDS = 20
"""A numeric column with more values takes part by so many bands of them."""


@dataclass(frozen=True)
class Coordinates:
    """The combinations as coordinates: every column numbered 0, 1, …; numeric ones by value and by band."""

    nominal: list[np.ndarray]
    values: list[np.ndarray]
    coordinates: list[tuple[int, bool, np.ndarray]]  # (column it belongs to, nominal?, number per combination)
    standardised: np.ndarray  # (cells, p), and
    products: np.ndarray  # (cells, r): squares and products of the columns, standardised
    codes: np.ndarray  # (cells, q) and
    ranks: np.ndarray  # (cells, p): what near combinations and short ways are measured by
    widths: list[int]
    """The numbers that a coordinate can have, in the whole file where these are some of its combinations."""

    @classmethod
    def of(cls, codes: np.ndarray, numbers: np.ndarray, n: np.ndarray, k: int) -> Coordinates:
        """Number the values of all columns; n has the records per combination."""
        import numpy as np

        nominal = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes.T]
        values = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in numbers.T]
        coordinates = [(j, True, column) for j, column in enumerate(nominal)]
        ranks = np.zeros(numbers.shape, dtype=np.float32)
        for j, value in enumerate(values):
            records = np.bincount(value, n)
            rank = (np.cumsum(records) - records / 2) / records.sum()
            ranks[:, j] = rank[value]
            if len(records) * k <= n.sum():
                coordinates.append((len(nominal) + j, False, value))
            if len(records) > BANDS:
                bands = np.unique((rank * BANDS).astype(np.int64), return_inverse=True)[1].reshape(-1)
                coordinates.append((len(nominal) + j, False, bands[value]))
        as_codes = np.stack(nominal, axis=1) if nominal else np.zeros((len(n), 0))
        x = standardise(numbers, n)
        widths = [int(number.max(initial=-1)) + 1 for _, _, number in coordinates]
        return cls(nominal, values, coordinates, x, _products(x, n), as_codes.astype(np.int32), ranks, widths)

    def take(self, rows: np.ndarray) -> Coordinates:
        """Return some of the combinations, with the numbers that they have among all."""
        return Coordinates(
            [column[rows] for column in self.nominal],
            [column[rows] for column in self.values],
            [(column, nominal, numbers[rows]) for column, nominal, numbers in self.coordinates],
            self.standardised[rows],
            self.products[rows],
            self.codes[rows],
            self.ranks[rows],
            self.widths,
        )

    @property
    def all(self) -> list[np.ndarray]:
        """The columns that tell combinations apart."""
        return [*self.nominal, *self.values]


def _products(x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the squares and products of the columns, standardised; squares only where products would be too many."""
    import numpy as np

    p = x.shape[1]
    pairs = [(a, b) for a in range(p) for b in range(a, p)]
    if len(pairs) > _PRODUCTS:
        pairs = [(a, a) for a in range(p)]
    return standardise(np.array([x[:, a] * x[:, b] for a, b in pairs]).reshape(-1, len(x)).T, n)


def numbered(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return 0..G-1 for the distinct rows of some numbered columns, in their lexicographic order."""
    import numpy as np

    key = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size > 2**62 // width:
            key = _ranks(key)
            size = int(key.max()) + 1
        key, size = key * width + column, size * width
    if size > 4 * len(key) + 100_000:
        return _ranks(key)
    occurs = np.zeros(size, dtype=np.int64)
    occurs[key] = 1
    numbered: np.ndarray = (np.cumsum(occurs) - 1)[key]
    return numbered


def counted_pairs(
    first: np.ndarray, second: np.ndarray, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct pairs of two arrays of whole numbers from 0, in their order, and how often each occurs.

    With the weight of every pair, a whole number, the sum of these.

    >>> import numpy as np
    >>> [found.tolist() for found in counted_pairs(np.array([2, 0, 2, 2]), np.array([0, 5, 1, 0]))]
    [[0, 2, 2], [5, 0, 1], [1, 2, 1]]
    >>> counted_pairs(np.array([2, 2]), np.array([0, 0]), np.array([3, 4]))[2].tolist()
    [7]
    """
    import numpy as np

    width = int(second.max(initial=0)) + 1
    both = first.astype(np.int64) * width + second
    if weight is None:
        pairs, count = np.unique(both, return_counts=True)
    else:
        pairs, place = np.unique(both, return_inverse=True)
        count = np.bincount(place, weight, len(pairs)).astype(np.int64)
    return pairs // width, pairs % width, count


def in_order(keys: np.ndarray) -> np.ndarray:
    """Return the positions of whole numbers from 0 in their order, equal ones as they stand: by 16 bits at a time.

    A radix sort, which NumPy has for 16 bits, takes a quarter of the time of a sort of 64.

    >>> import numpy as np
    >>> in_order(np.array([70_000, 5, 4, 70_000, 5])).tolist()
    [2, 1, 4, 0, 3]
    """
    import numpy as np

    order = np.argsort(keys.astype(np.uint16), kind="stable")
    most, passed = int(keys.max(initial=0)), 16
    while most >> passed:
        order = order[np.argsort((keys >> passed).astype(np.uint16)[order], kind="stable")]
        passed += 16
    return order


def _ranks(keys: np.ndarray) -> np.ndarray:
    """Return 0..G-1 for whole numbers from 0, in their order."""
    import numpy as np

    order = in_order(keys)
    values = keys[order]
    ranks = np.zeros(len(keys), dtype=np.int64)
    ranks[order[1:]] = np.cumsum(values[1:] != values[:-1])
    return ranks


def near_ones(columns: Coordinates) -> np.ndarray:
    """Return the combinations near to each: the nearest of its neighbours in orders that start with each column."""
    import numpy as np

    nearest = late("sqlmicro.safe_method._nearest_kernels", "nearest")

    every = columns.all
    turned = [every[j:] + every[:j] for j in range(min(len(every), _NEAR))]
    orders = np.array([in_order(numbered(order)) for order in turned], dtype=np.int32)
    near = np.zeros((len(columns.codes), min(_NEAR, len(columns.codes) - 1)), dtype=np.int32)
    if near.size:
        far = np.empty(near.shape[1], dtype=np.float32)
        nearest(columns.codes, columns.ranks, orders, 3, near, np.empty_like(orders), far)
    return near
