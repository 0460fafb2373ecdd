"""Key replay: the order of the release, made again from what was published of the run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Detail, Measured, attack
from sqlmicro.attacks.row_order import found_at
from sqlmicro.database.columns import Column
from sqlmicro.database.content import content_of, content_of_input
from sqlmicro.database.templates import Name
from sqlmicro.database.typed_columns import type_columns
from sqlmicro.registry import sorted_by
from sqlmicro.system.secrets import Key, Recipe, from_text, repeated

if TYPE_CHECKING:
    import numpy as np

_MOST_MATCHED = 10_000


@dataclass(frozen=True)
class _Run:
    """What decided the order of a run, but for its key: recipe, content of input and release, and the typed records."""

    recipe: Recipe
    content: bytes
    released: bytes
    typed: Name
    first: Sequence[Column]


@dataclass(frozen=True)
class Guessed(Detail):
    """The keys and seeds that were tried."""

    guesses: int


@attack(
    "key-replay",
    needs=("published",),
    source="sqlmicro: whoever has the key of a run can undo its shuffles",
    templates=(
        "load/typed.sql",
        "publish/content.sql",
        "attack/records.sql",
        "attack/staged.sql",
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
    attacked = knowledge.first
    rows = _ordered(attacked)
    run = _run(attacked, knowledge.recipe)
    numbered = attacked.warehouse.arrays("attack/records.sql", relation=run.typed, first=run.first)["place"]
    guesses = list(keys(knowledge.published))
    best, n, share = 0.0, 1, 0.0
    for key in guesses:
        right, share = _replay(attacked, rows, numbered, key, run)
        best, n = max(best, float(right.mean())), len(right)
    return Measured(best, best_of(len(guesses), n, share), n, Guessed(len(guesses)))


def keys(published: Sequence[str]) -> Iterator[Key]:
    """Yield every key to try: each text by itself, and as a seed."""
    for text in dict.fromkeys(published):
        yield Key(text, "", None)
        yield from_text(text)


def _run(attacked: AttackedRelease, published: Recipe) -> _Run:
    """Return what decided the order of a run, but for its key."""
    warehouse, own = attacked.warehouse, attacked.original.columns
    recipe = replace(published, source=attacked.original.identity, tasks=repeated(published.tasks))
    read, key = {*(column.name for column in own)} - {*published.dropped} | {*published.person}, published.row_key
    columns = [column for column in own if column.name in read]
    used = {column for column in own if any(column.name in (*task.columns, *task.by) for task in recipe.tasks)}
    row_key = sorted((column for column in own if column.name in key), key=lambda column: list(key).index(column.name))
    typed = type_columns(warehouse, attacked.original, columns, used, "replayed_input", row_key=row_key)
    released = [(column.staged, "") for column in attacked.release.columns]
    named = warehouse.run("attack/staged.sql", "replayed_release", relation=attacked.release.relation,
                          columns=attacked.release.columns)  # fmt: skip
    content = content_of_input(warehouse, typed, columns, row_key)
    first = [column for column in columns if column.name == sorted_by(recipe) and column.numeric]
    return _Run(recipe, content, content_of(warehouse, named, released), typed, first)


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


def _ordered(attacked: AttackedRelease) -> np.ndarray:
    """Return the places of the records to put in order: some that are matched, else all, as others lie between them."""
    import numpy as np

    if attacked.truth is None:
        return np.arange(attacked.sizes[0])
    step = -(-len(attacked.tried) // _MOST_MATCHED)
    rows: np.ndarray = attacked.tried[::step]
    return rows


def _replay(
    attacked: AttackedRelease, rows: np.ndarray, numbered: np.ndarray, key: Key, run: _Run
) -> tuple[np.ndarray, float]:
    """Return which records the order of a key puts where they are, and the share of them a random order would."""
    import numpy as np

    words = b"".join(Key.words(key.order(run.recipe, run.content, run.released), len(numbered)))
    order = numbered[np.argsort(np.frombuffer(words, np.uint64), kind="stable")]
    order = order[np.isin(order, rows)]
    if attacked.truth is not None:
        right: np.ndarray = order == rows[np.argsort(attacked.truth[rows])]
        return right, 1 / len(rows)
    places = np.flatnonzero(np.isin(order, attacked.tried))
    places = places[places < attacked.sizes[1]]
    right, chances = found_at(attacked, order[places], places)
    return right, float(chances.mean())


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
