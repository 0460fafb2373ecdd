"""The loops of the direct search that look for near combinations and short ways, compiled by numba."""

# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from sqlmicro.system.compiled import njit


@njit(cache=True, inline="always")
def distance(codes, ranks, i, j):
    """Return how far combination i is from j: 1 per nominal value that differs, less for near numeric values."""
    total = np.float32(0.0)
    for v in range(codes.shape[1]):
        total += codes[i, v] != codes[j, v]
    for v in range(ranks.shape[1]):
        gap = abs(ranks[i, v] - ranks[j, v])
        if gap > 0:
            total += np.float32(0.25) + min(np.float32(4.0) * gap, np.float32(1.25))
    return total


@njit(cache=True, nogil=True, _nrt=False)
def nearest(codes, ranks, orders, reach, near, place, far):
    """Fill `near` (C, W) with the nearest of the combinations that are up to `reach` away in any of the orders."""
    C, W = near.shape
    for o in range(orders.shape[0]):
        for position in range(C):
            place[o, orders[o, position]] = position
    for i in range(C):
        found = 0
        for o in range(orders.shape[0]):
            for step in range(-reach, reach + 1):
                j = orders[o, (place[o, i] + step) % C]
                if j == i:
                    continue
                d = distance(codes, ranks, i, j)
                if found == W and d >= far[W - 1]:
                    continue
                known = False
                for z in range(found):
                    known = known or near[i, z] == j
                if known:
                    continue
                z = min(found, W - 1)
                while z > 0 and far[z - 1] > d:
                    far[z], near[i, z] = far[z - 1], near[i, z - 1]
                    z -= 1
                far[z], near[i, z] = d, j
                found = min(found + 1, W)
        for z in range(found, W):
            near[i, z] = near[i, z - found] if found else i


@njit(cache=True, nogil=True, _nrt=False)
def uncross(codes, ranks, cell, target, reach):
    """Swap the targets of two moved records, at most `reach` apart, where that shortens their ways; count swaps."""
    swaps = 0
    for a in range(len(cell)):
        for b in range(a + 1, min(a + 1 + reach, len(cell))):
            if cell[a] == cell[b] or target[a] == target[b]:
                continue
            longer = np.float32(0.0)
            for z in range(4):
                way = distance(codes, ranks, cell[a] if z < 2 else cell[b], target[b] if 0 < z < 3 else target[a])
                longer += way if z % 2 else -way
            if longer < np.float32(-1e-4):
                target[a], target[b] = target[b], target[a]
                swaps += 1
    return swaps
