"""MDAV of a small set in one loop, compiled by numba: in some seconds less than the trees of `_mdav_kernels`.

Imported only inside functions, since numba takes long to load. With NUMBA_DISABLE_JIT=1 all of it runs as Python.
"""

# mypy: ignore-errors

from __future__ import annotations

from sqlmicro.group._sum_kernels import add
from sqlmicro.system.compiled import njit


@njit(cache=True, nogil=True, _nrt=False)
def form_small(columns, k, row, distance, point, total, near, labels):
    """Write the groups of MDAV of the records (p, n) in `columns`, which is changed; return how many there are.

    The rest are its working arrays: `row` (n,) is 0..n-1, `distance` (n,), `point` (p,), `total` (2, p) is zero, and
    `near` (k,) holds whole numbers. Everything is rounded as in `_mdav_kernels`, so that the groups are the same.
    """
    p, left = columns.shape
    groups = 0
    for j in range(p):
        for i in range(left):
            add(total, j, columns[j, i])
    while left >= 2 * k:
        for j in range(p):
            point[j] = total[0, j] / left
        for _ in range(2 if left >= 3 * k else 1):
            for step in range(2):  # the distances from the centroid or the first record, then from the farthest
                for i in range(left):
                    distance[i] = 0.0
                for j in range(p):
                    x = point[j]
                    for i in range(left):
                        difference = columns[j, i] - x
                        distance[i] += difference * difference
                if step == 1:
                    break
                far = 0
                for i in range(1, left):
                    if distance[i] > distance[far] or (distance[i] == distance[far] and row[i] < row[far]):
                        far = i
                for j in range(p):
                    point[j] = columns[j, far]
            found = 0
            for i in range(left):
                d = distance[i]
                last = near[k - 1] if found == k else i
                if d > distance[last] or (d == distance[last] and row[i] > row[last]):
                    continue
                at = min(found, k - 1)
                found = min(found + 1, k)
                while at > 0:
                    last = near[at - 1]
                    if d > distance[last] or (d == distance[last] and row[i] > row[last]):
                        break
                    near[at] = last
                    at -= 1
                near[at] = i
            for member in range(k):
                i = near[member]
                labels[row[i]] = groups
                for j in range(p):
                    add(total, j, -columns[j, i])
            # The last record takes the place of one that leaves, and may be one that leaves itself.
            for member in range(k):
                i = near[member]
                left -= 1
                row[i] = row[left]
                for j in range(p):
                    columns[j, i] = columns[j, left]
                for later in range(member + 1, k):
                    if near[later] == left:
                        near[later] = i
            groups += 1
    for i in range(left):
        labels[row[i]] = groups
    return groups + 1
