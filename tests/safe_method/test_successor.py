"""SAFE in a series: whatever happens from night to night, the counts of a combination differ by none or by k.

The audit is plain Python over all pairs of nights and every combination; it uses nothing of the code under test.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("numba")

from sqlmicro.errors import InputError
from sqlmicro.registry import silent
from sqlmicro.safe_method.admissible import Combinations, Published, nearest_total
from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.deniable import Asked, pooled
from sqlmicro.safe_method.search import search
from sqlmicro.safe_method.successor import Night, carried_on
from sqlmicro.system.secrets import Secret

Row = tuple[int, ...]
QUICK, TABLES = 12, int(os.environ.get("TABLES", "140"))
File = Counter[Row]
SECRET = Secret(b"one secret of a test", "file")


def _published(nights: list[File], width: int, occurred: Collection[Row]) -> Published:
    rows = sorted({row for night in nights for row in night})
    counts = [sorted({night[row] for night in nights}) for row in rows]
    return Published(
        np.array(rows).reshape(-1, width),
        np.zeros((len(rows), 0)),
        np.array([nights[-1][row] for row in rows], dtype=np.int64),
        np.cumsum([0, *map(len, counts)]),
        np.array([c for own in counts for c in own], dtype=np.int64),
        np.array([sum(night.values()) for night in nights]),
        _drawn(rows, width),
        _drawn(sorted(occurred), width),
    )


def _drawn(rows: list[Row], width: int) -> np.ndarray:
    return Asked(0.5, 0.8, SECRET, {}).draw(np.array(rows, dtype=np.uint64).reshape(-1, width))


def _night(
    records: np.ndarray,
    nights: list[File],
    k: int,
    invented: float,
    seed: int,
    occurred: Collection[Row] = (),
) -> tuple[File, Night | None]:
    """Return the file of a night: the first is searched, the others are carried on."""
    rows, n = np.unique(records, axis=0, return_counts=True)
    combined = Combined.of(rows, np.zeros((len(rows), 0)), n)
    pool = None
    if invented:
        shares = np.array([np.bincount(column, n).max() / n.sum() for column in combined.values.T])
        asked = Asked(invented, 0.8, SECRET, {})
        pool = pooled(combined.values, rows.shape[1], rows.astype(np.uint64), n, k, asked, shares)
    file, rng = combined.file(k, pool.new if pool else None), np.random.default_rng(seed)
    if not nights:
        codes, new_n, night = file[0], search(*file, rng, silent, effort="fast", pool=pool).new_n, None
    else:
        tonight = Combinations.of(file, (), pool, _published(nights, rows.shape[1], occurred))
        codes, night = tonight.codes, carried_on(tonight, k, rng, silent, effort="fast")
        new_n = night.new_n
    return Counter({tuple(row): int(c) for row, c in zip(codes.tolist(), new_n, strict=True) if c}), night


def _changed(records: np.ndarray, values: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return the records after some left, some came and some changed a value."""
    kept = records[rng.random(len(records)) >= share]
    at = np.flatnonzero(rng.random(len(kept)) < share)
    kept[at, rng.integers(records.shape[1], size=len(at))] = rng.integers(values, size=len(at))
    new = rng.integers(0, values, (rng.poisson(1.3 * share * len(records)), records.shape[1]))
    return np.vstack([kept, new])


def _faults(nights: list[File], k: int) -> list[str]:
    """Return what breaks the promise of a series: of a combination, and of the number of records."""
    faults = []
    for row in {row for night in nights for row in night}:
        shown = [night[row] for night in nights]
        faults += [f"{row}: {c}" for c in shown if 0 < c < k]
        faults += [f"{row}: {a} {b}" for a, b in combinations(shown, 2) if 0 < abs(a - b) < k]
    totals = [sum(night.values()) for night in nights]
    return faults + [f"records: {a} {b}" for a, b in combinations(totals, 2) if 0 < abs(a - b) < k]


def _histories(number: int, first: int = 0) -> tuple[int, int]:
    """Audit random histories; return how many nights had a file that follows, and how many had none."""
    published = refused = 0
    for seed in range(first, first + number):
        rng = np.random.default_rng(seed)
        k, values, columns = int(rng.integers(2, 7)), int(rng.integers(2, 5)), int(rng.integers(1, 6))
        size, share = int(rng.integers(k, 150)), float(rng.choice([0.01, 0.05, 0.3]))
        records = np.minimum(rng.geometric(0.4, (size, columns)) - 1, values - 1)
        nights: list[File] = []
        for day in range(7):
            if len(records) >= k:
                try:
                    file, night = _night(records, nights, k, float(rng.choice([0.0, 0.5])), seed + day)
                except InputError:
                    refused += 1
                else:
                    assert night is None or night.withheld == len(records) - sum(file.values()) >= 0
                    nights.append(file)
                    published += 1
            records = _changed(records, values, share, rng)
        assert not _faults(nights, k), (seed, _faults(nights, k))
    return published, refused


def test_random_histories_show_only_classes_of_k() -> None:
    published, refused = _histories(QUICK)
    assert published > 10 * refused


@pytest.mark.long
@pytest.mark.slow
def test_many_random_histories_show_only_classes_of_k() -> None:
    published, refused = _histories(TABLES - QUICK, 1_000)  # as many with those above
    assert published > 10 * refused


def test_the_audit_sees_a_night_that_is_not_carried_on() -> None:
    rng = np.random.default_rng(5)
    records = np.minimum(rng.geometric(0.4, (200, 4)) - 1, 3)
    one, _ = _night(records, [], 3, 0.0, 1)
    other, _ = _night(records[1:], [], 3, 0.0, 2)
    assert _faults([one, other], 3)


def test_one_newcomer_waits_where_there_is_one_combination() -> None:
    records = np.zeros((7, 2), dtype=np.int64)
    nights = [_night(records, [], 5, 0.0, 0)[0]]
    for more, expected in ((1, 7), (4, 7), (5, 12), (4, 7), (5, 12)):
        file, night = _night(np.zeros((7 + more, 2), dtype=np.int64), nights, 5, 0.0, more)
        assert list(file.values()) == [expected]
        assert night is not None
        assert night.withheld == 7 + more - expected
        nights.append(file)


def test_where_no_file_can_follow_nothing_is_made() -> None:
    nights = [_night(np.zeros((7, 2), dtype=np.int64), [], 5, 0.0, 0)[0]]
    with pytest.raises(InputError, match="classes of 5"):
        _night(np.zeros((6, 2), dtype=np.int64), nights, 5, 0.0, 1)


@pytest.mark.slow
def test_a_night_is_near_to_its_original_and_has_invented_what_it_should() -> None:
    """Single columns stay within 2k of the original after ten nights, and half of the rare ones never occurred."""
    rng, k = np.random.default_rng(3), 3
    records = np.minimum(rng.geometric(0.45, (2_000, 5)) - 1, 3)
    nights: list[File] = []
    occurred: set[Row] = set()
    for day in range(8):
        file, _ = _night(records, nights, k, 0.5, day, occurred)
        original = Counter(map(tuple, records.tolist()))
        occurred |= set(original)
        for j in range(5):
            for value in range(4):
                deviation = sum(c for row, c in file.items() if row[j] == value) - int((records[:, j] == value).sum())
                assert abs(deviation) <= 2 * k, (day, j, value, deviation)
        rare = [row for row in file if original[row] < k]
        assert 2 * sum(row not in occurred for row in rare) >= len(rare)
        nights.append(file)
        left = records[rng.random(len(records)) >= 0.003]
        records = np.vstack([left, np.minimum(rng.geometric(0.45, (20, 5)) - 1, 3)])
    assert not _faults(nights, k)


def test_what_was_shown_stays_where_nothing_has_changed() -> None:
    """Far more combinations stay than in a fresh file of the same records (of one table .62 to .84)."""
    found = np.zeros(3, dtype=int)
    for seed in range(9, 11):
        records = np.minimum(np.random.default_rng(seed).geometric(0.45, (2_000, 5)) - 1, 3)
        one, _ = _night(records, [], 3, 0.5, 1)
        next_one, _ = _night(records, [one], 3, 0.5, 2)
        fresh, _ = _night(records, [], 3, 0.5, 2)
        found += [*(sum(file[row] == c for row, c in one.items()) for file in (next_one, fresh)), len(one)]
    stay, stay_by_chance, shown = found
    assert stay > max(1.5 * stay_by_chance, 0.7 * shown), found


def test_the_same_night_comes_out_the_same() -> None:
    records = np.minimum(np.random.default_rng(2).geometric(0.45, (500, 4)) - 1, 3)
    first = [_night(records[:480], [], 3, 0.5, 1)[0]]
    assert _night(records, first, 3, 0.5, 7)[0] == _night(records, first, 3, 0.5, 7)[0]


@pytest.mark.parametrize(
    ("records", "totals", "expected"), [(104, [100], 100), (99, [100], 95), (9, [7, 12], 7), (6, [7], 0), (12, [], 12)]
)
def test_number_of_records_follows_on_those_before(records: int, totals: list[int], expected: int) -> None:
    assert nearest_total(records, np.array(totals, dtype=np.int64), 5) == expected
