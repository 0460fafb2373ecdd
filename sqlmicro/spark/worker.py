"""What runs inside Spark's Python workers: the groups of one block of records, and the search across its borders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlmicro.group.divided import divided
from sqlmicro.group.guaranteed import Effort, keep
from sqlmicro.group.local_search import Search
from sqlmicro.group.united_units import united_units
from sqlmicro.guarantees.rules import Rules
from sqlmicro.registry import find, silent

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_PER_RECORD = 40
"""Random moves per record in the search across borders."""


def cut_batches(
    batches: Iterable[pa.RecordBatch], *, tree: Mapping[tuple[str, int], tuple[int, float]], names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Add the number of its block to every record: 1 is the whole stratum, b is cut into 2b and 2b + 1.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Records with `stratum` and the columns `names`.
    tree : mapping
        (stratum, block) to the place of a column in `names`, or behind them that of the distance from 0, and the value
        up to which records go into 2b.
    names : sequence of str
        The columns that blocks are cut in; in the first one, of whole numbers, where all others are constant.

    Yields
    ------
    pyarrow.RecordBatch
        The batches with `block`.
    """
    import numpy as np
    import pyarrow as pa

    for batch in batches:
        columns = [batch[name].to_numpy(zero_copy_only=False) for name in names]
        columns.append(np.sqrt(sum((column**2 for column in columns[1:]), np.zeros(len(batch)))))
        strata, stratum_of = np.unique(batch["stratum"].to_numpy(zero_copy_only=False), return_inverse=True)
        blocks = np.ones(len(batch), dtype=np.int64)
        todo = [(str(stratum), 1, np.flatnonzero(stratum_of == i)) for i, stratum in enumerate(strata)]
        while todo:
            stratum, block, rows = todo.pop()
            cut = tree.get((stratum, block))
            if cut is None or not len(rows):
                blocks[rows] = block
                continue
            above = columns[cut[0]][rows] > cut[1]
            todo += [(stratum, 2 * block, rows[~above]), (stratum, 2 * block + 1, rows[above])]
        yield pa.record_batch([*batch.columns, pa.array(blocks)], names=[*batch.schema.names, "block"])


def group_block(
    table: pa.Table, *, method: str, settings: Mapping[str, Any], k: int, size: int, features: int, key: str,
    effort: Effort,
) -> pa.Table:  # fmt: skip
    """Group the records of a block by a method.

    Parameters
    ----------
    table : pyarrow.Table
        row_id, stratum, and the standardised columns f_1, f_2, ...; `person` where persons are counted.
    method, settings
        A grouping method by its name, and its settings.
    k : int
        Smallest number of records, or persons, in a group.
    size : int
        Records to group together, k or more; all where there are no more.
    features : int
        How many columns there are.
    key : str
        Key of the draws; random numbers depend on it and on the lowest row_id of the block.
    effort : {"fast", "balanced", "best"}
        How long to search for groups of k persons.

    Returns
    -------
    pyarrow.Table
        The same records, by row_id, with `label`, the lowest row_id of the group, and its means m_1, m_2, ...
    """
    import numpy as np

    table, row_id, X = _records(table, features)
    labels, rng, rules = np.zeros(len(X), dtype=np.int64), _rng(key, row_id), _rules(table, k)
    if len(X) >= 2 * size:
        labels = find(method).group(X, rng, silent, **{**settings, "k": size}).labels
    if not rules.only_k:
        labels = keep(X, labels, rules, rng, silent, effort=effort) if size == k else united_units(X, labels, rules)
    return _grouped(table, row_id, X, labels)


def divide_block(table: pa.Table, *, k: int, size: int, features: int, key: str, effort: Effort) -> pa.Table:
    """Divide the classes of a level above, the strata of the records, into groups of k persons.

    Parameters and what is returned are those of `group_block`; all records of a class are here.
    """
    import numpy as np

    table, row_id, X = _records(table, features)
    classes = np.unique(table["stratum"].to_numpy(), return_inverse=True)[1]
    labels = divided(X, classes, _rules(table, k), _rng(key, row_id), silent, effort=effort)
    return _grouped(table, row_id, X, labels)


def search_block(table: pa.Table, *, k: int, size: int, features: int, key: str, effort: Effort) -> pa.Table:
    """Go on with the groups that are in a block, some of them from beyond the borders of the earlier blocks.

    Parameters
    ----------
    table : pyarrow.Table
        What `group_block` returns; groups are here whole.
    k, size, features, key, effort
        As in `group_block`.

    Returns
    -------
    pyarrow.Table
        The same, with the new labels and means.
    """
    import numpy as np

    table, row_id, X = _records(table, features)
    _, labels = np.unique(table["label"].to_numpy(), return_inverse=True)
    groups, rules = int(labels.max()) + 1, _rules(table, k)
    if not rules.only_k and size == k:
        labels = divided(X, labels, rules, _rng(key, row_id), silent, effort=effort, across=True)
    elif groups > 1 and np.bincount(labels).max() < 2 * size:
        reach = min(48, max(16, 3 * size))
        search = Search(X, size, _rng(key, row_id), reach=reach)
        search.start(labels)
        search.descend()
        search.anneal(_PER_RECORD * len(X), _PER_RECORD / 200)
        labels = search.best if rules.only_k else united_units(X, search.best, rules)
    return _grouped(table, row_id, X, labels)


def _rules(table: pa.Table, k: int) -> Rules:
    """Return what the groups of a block must keep: k records, or k persons where they are counted."""
    import numpy as np

    if "person" not in table.column_names:
        return Rules(k)
    persons = np.unique(table["person"].to_numpy(), return_inverse=True)[1]
    return Rules(k, persons.astype(np.int64))


def _grouped(table: pa.Table, row_id: np.ndarray, X: np.ndarray, labels: np.ndarray) -> pa.Table:
    """Return the records of a block with the name of their group, and its means."""
    import numpy as np
    import pyarrow as pa

    sizes = np.bincount(labels)
    columns = {name: table[name] for name in ("row_id", "stratum", "person") if name in table.column_names}
    columns["label"] = pa.array(_named(labels, row_id))
    columns |= {f"f_{j}": pa.array(values) for j, values in enumerate(X.T, 1)}
    columns |= {f"m_{j}": pa.array((np.bincount(labels, values) / sizes)[labels]) for j, values in enumerate(X.T, 1)}
    return pa.table(columns)


def _records(table: pa.Table, features: int) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Return the block in the order of row_id, its row_id (n,), and the columns (n, p)."""
    import numpy as np

    table = table.sort_by("row_id")
    X = np.column_stack([table[f"f_{j + 1}"].to_numpy() for j in range(features)])
    return table, table["row_id"].to_numpy(), np.ascontiguousarray(X, dtype=np.float64)


def _named(labels: np.ndarray, row_id: np.ndarray) -> np.ndarray:
    """Call every group by its lowest row_id, so that groups of all blocks have different names."""
    import numpy as np

    lowest = np.full(int(labels.max()) + 1, np.iinfo(np.int64).max)
    np.minimum.at(lowest, labels, row_id)
    named: np.ndarray = lowest[labels]
    return named


def _rng(key: str, row_id: np.ndarray) -> np.random.Generator:
    import numpy as np

    seed = sha256(" ".join((key, "block", str(row_id[0]))).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(seed)))
