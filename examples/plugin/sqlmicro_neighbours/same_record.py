"""The record at the same place: the simplest attack there can be."""

from __future__ import annotations

from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Measured, attack
from sqlmicro.attacks.row_order import found_at


@attack("first-record", source="an example")
def first_record(knowledge: Knowledge) -> Measured:
    """Take the first record of the release for everybody."""
    import numpy as np

    attacked = knowledge.first
    right, chances = found_at(attacked, attacked.tried, np.zeros(len(attacked.tried), dtype=np.int64))
    return Measured(float(right.mean()), float(chances.mean()), len(right))
