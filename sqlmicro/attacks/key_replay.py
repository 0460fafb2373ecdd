"""Key replay: the order of the release, made again from what was published of the run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.pair import Pair
from sqlmicro.attacks.registry import Measured, attack
from sqlmicro.attacks.row_order import found_at
from sqlmicro.keys import Key, Plan, Task, from_text
from sqlmicro.source import content_of_input, type_columns
from sqlmicro.templates import Name
from sqlmicro.warehouse import ORDER

if TYPE_CHECKING:
    import numpy as np

_MOST_MATCHED = 10_000


@attack(
    "key-replay",
    needs=("published",),
    source="sqlmicro: whoever has the key of a run can undo its shuffles",
    templates=(
        "load/typed.sql",
        "publish/content.sql",
        "attack/records.sql",
        "attack/replayed_order.sql",
        "attack/features.sql",
        "attack/columns.sql",
        "attack/matches.sql",
        "attack/sampled.sql",
    ),
)
def key_replay(knowledge: Knowledge) -> Measured:
    """Take every value that was published of the run for its key or its seed, and make the order of the release again.

    Returns
    -------
    Measured
        The rate is the share of records that the best guess puts where they are; chance is what the best of as many
        random orders would: the expected maximum of `guesses` binomial variables. Where records are matched, at most
        10 000 of them are put in order.
    """
    import pyarrow as pa

    pair = knowledge.pair
    rows = _ordered(pair)
    plan, content, records = _original(pair, knowledge.parameters)
    table = pa.table({"position": rows, "record": records[rows]})
    relation = pair.warehouse.load(table, "replayed", "filled with the records to put in order")
    guesses = list(keys(knowledge.published))
    best, n, share = 0.0, 1, 0.0
    for key in guesses:
        right, share = _replay(pair, rows, relation, key.order(plan, content))
        best, n = max(best, float(right.mean())), len(right)
    return Measured(best, best_of(len(guesses), n, share), n, {"guesses": len(guesses)})


def keys(published: Sequence[str]) -> Iterator[Key]:
    """Yield every key to try: each text by itself, and as a seed."""
    for text in dict.fromkeys(published):
        yield Key(text, "", None)
        yield from_text(text)


def _original(pair: Pair, parameters: Mapping[str, Any]) -> tuple[Plan, bytes, np.ndarray]:
    """Return the plan of the run, the content of its input, and what the run knew every record by (n,)."""
    own = pair.original.columns
    tasks: list[Task] = []
    for step in parameters.get("steps", ()):
        task = Task(step["method"], tuple(step["columns"]), tuple(step["by"]), step["nulls"], step["settings"])
        tasks.append(replace(task, repeated=tasks.count(task)))
    dropped, key = parameters.get("dropped", ()), parameters.get("row_key", ())
    plan = Plan(pair.original.identity, tuple(dropped), tuple(key), tuple(tasks), parameters.get("versions") or {})
    columns = [column for column in own if column.name not in dropped]
    used = {column for column in own if any(column.name in (*task.columns, *task.by) for task in tasks)}
    row_key = [column for column in own if column.name in key]
    row_key.sort(key=lambda column: list(key).index(column.name))
    typed = type_columns(pair.warehouse, pair.original, columns, used, "replayed_input", row_key=row_key)
    content = content_of_input(pair.warehouse, typed, columns, row_key)
    return plan, content, pair.warehouse.arrays("attack/records.sql", relation=typed)["record"]


def leaves(value: Any) -> Iterator[str]:
    """Yield every number and text of a nested value, keys of dictionaries left out.

    >>> list(leaves({"id": 3, "versions": ["1.0", None]}))
    ['3', '1.0']
    """
    if isinstance(value, dict):
        for part in value.values():
            yield from leaves(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from leaves(part)
    elif value is not None:
        yield str(value)


def _ordered(pair: Pair) -> np.ndarray:
    """Return the places of the records to put in order: some that are matched, else all, as others lie between them."""
    import numpy as np

    if pair.truth is None:
        return np.arange(pair.sizes[0])
    step = -(-len(pair.tried) // _MOST_MATCHED)
    rows: np.ndarray = pair.tried[::step]
    return rows


def _replay(pair: Pair, rows: np.ndarray, relation: Name, order_key: str) -> tuple[np.ndarray, float]:
    """Return which records the order of a key puts where they are, and the share of them a random order would."""
    import numpy as np

    pair.warehouse.set_key(ORDER, order_key)
    order = pair.warehouse.arrays("attack/replayed_order.sql", relation=relation)["position"]
    if pair.truth is not None:
        right: np.ndarray = order == rows[np.argsort(pair.truth[rows])]
        return right, 1 / len(rows)
    places = np.flatnonzero(np.isin(order, pair.tried))
    places = places[places < pair.sizes[1]]
    return found_at(pair, order[places], places)


def best_of(guesses: int, n: int, share: float) -> float:
    """Return the greatest share of n that is expected of some guesses, each right with one probability n times.

    >>> round(best_of(1, 10, 0.3), 6), round(best_of(2, 1, 0.5), 6)
    (0.3, 0.75)
    """
    if not 0 < share < 1:
        return share
    expected, below = 0.0, 0.0
    for hits in range(n):
        ways = math.lgamma(n + 1) - math.lgamma(hits + 1) - math.lgamma(n - hits + 1)
        below += math.exp(ways + hits * math.log(share) + (n - hits) * math.log1p(-share))
        if below >= 1 - 1e-12:
            break
        expected += 1 - below**guesses
    return expected / n
