"""What an attacker has: releases beside the original, sensitive columns, what was published of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmicro.attacks.pair import Pair
from sqlmicro.attacks.registry import Attack
from sqlmicro.database.columns import Column

_LACKING = {
    "columns": "columns to attack with that are not sensitive",
    "numeric": "a column of numbers in both tables",
    "match": "--match",
    "sensitive": "--sensitive",
    "second": "a second --release",
    "swap_percent": "--swap-percent",
    "published": "a release recorded in sqlmicro.releases, or --manifest",
}


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What the attacks of a run work with.

    Parameters
    ----------
    pairs : sequence of Pair
        The original beside every release; most attacks look at the first.
    sensitive : sequence of Column
        Columns of the first release that nobody may learn.
    published : sequence of str
        Every value of the published record of the release, as text.
    parameters : mapping
        What a published record of the release says of the plan: steps, dropped columns, row key, versions.
    settings : mapping
        Settings of the attacks that say what an attacker knows, by name.
    """

    pairs: Sequence[Pair]
    sensitive: Sequence[Column] = ()
    published: Sequence[str] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def pair(self) -> Pair:
        """The original beside the first release."""
        return self.pairs[0]

    @property
    def second(self) -> Pair | None:
        """The original beside the second release."""
        return self.pairs[1] if len(self.pairs) > 1 else None

    def lacks(self, attack: Attack) -> list[str]:
        """Return what an attack needs and is not there, in the words of the command line."""
        there = {
            "columns": bool(self.pair.columns),
            "numeric": bool(self.pair.numeric_columns),
            "match": bool(self.pair.match),
            "sensitive": bool(self.sensitive),
            "second": self.second is not None,
            "published": bool(self.published),
        }
        there |= {name: value is not None for name, value in self.settings.items()}
        return [_LACKING[need] for need in attack.needs if not there.get(need)]
