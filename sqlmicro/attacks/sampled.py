"""Targets that were drawn from a table too large to try all of it, beside the combinations of values of its release."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError

if TYPE_CHECKING:
    import numpy as np

TEMPLATES = ("attack/drawn.sql", "attack/combinations.sql", "attack/became.sql", "attack/own_combinations.sql")


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledRelease(AttackedRelease):
    """A release under attack of which the targets are here alone, and the combinations that were released.

    The attacks that look at no more than that give what they give on the whole tables: each combination counts as often
    as it was released, and what else an attacker has is told by `whole`.

    Parameters
    ----------
    targets : Name
        The values of the records that are tried, as `AttackedRelease.originals` has them.
    combinations : Name
        The combinations of released values, as `AttackedRelease.released` has them, each once.
    became : Name, optional
        The released values of the targets by row_id, where records are matched.
    counts : ndarray of shape (m,)
        How many released records have each combination.
    records : tuple of int
        The numbers of records of original and release.
    """

    targets: Name
    combinations: Name
    became: Name | None = None
    counts: np.ndarray
    records: tuple[int, int]

    @property
    def originals(self) -> Name:
        """The values of the targets."""
        return self.targets

    @property
    def released(self) -> Name:
        """The combinations that were released."""
        return self.combinations

    @property
    def whole(self) -> tuple[int, int]:
        """The numbers of records of original and release."""
        return self.records

    @cached_property
    def times(self) -> np.ndarray:
        """How many released records have each combination (m,)."""
        return self.counts.astype(float)

    @cached_property
    def truth(self) -> np.ndarray | None:
        """The combination that every target became (n,), -1 for one that was not released; None if unknown."""
        import numpy as np

        if self.became is None or not self.match:
            return None
        found = self.warehouse.arrays(
            "attack/own_combinations.sql", original=self.targets, became=self.became, released=self.combinations,
            columns=self.columns,
        )  # fmt: skip
        if not len(found["position"]):
            raise InputError("attack, --match", "must find the records that are tried in the release", "none found")
        truth = np.full(self.sizes[0], -1, dtype=np.int64)
        truth[found["position"]] = found["other"]
        return truth
