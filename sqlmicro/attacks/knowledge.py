"""What an attacker has: releases beside the original, sensitive columns, what was published of the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlmicro.attacks.attacked import AttackedRelease
from sqlmicro.attacks.control import Controlled
from sqlmicro.attacks.registry import Attack, NothingToAttack
from sqlmicro.database.columns import Column
from sqlmicro.system.secrets import Recipe

UNKNOWN = Recipe("", (), (), ())
_LACKING = {
    "columns": "columns to attack with that are not sensitive",
    "numeric": "a column of numbers in both tables",
    "match": "--match",
    "sensitive": "--sensitive",
    "second": "a second --release",
    "told": "--person, and a release that has its columns: they tell which records belong together",
    "control": "--control TABLE, or to be named with --attack: the release is then rehearsed",
    "known_columns": "--known-columns",
    "published": "a release recorded in sqlmicro.releases, or --manifest",
}


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What the attacks of a run work with.

    Parameters
    ----------
    releases : sequence of AttackedRelease
        Every release beside the original; most attacks look at the first.
    sensitive : sequence of Column
        Columns of the first release that nobody may learn.
    published : sequence of str
        Every value of the published record of the release, as text.
    recipe : Recipe
        What a published record of the release says of how it was made.
    control : Controlled, optional
        A release beside people who were not in its table.
    settings : mapping
        Settings of the attacks that say what an attacker knows, by name.
    """

    releases: Sequence[AttackedRelease]
    sensitive: Sequence[Column] = ()
    published: Sequence[str] = ()
    recipe: Recipe = UNKNOWN
    control: Controlled | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def first(self) -> AttackedRelease:
        """The first release, beside the original."""
        return self.releases[0]

    @property
    def second(self) -> AttackedRelease | None:
        """The second release, beside the original."""
        return self.releases[1] if len(self.releases) > 1 else None

    @property
    def controlled(self) -> Controlled:
        """The release beside people who were not in its table.

        Raises
        ------
        NothingToAttack
            When there is no control group.
        """
        if self.control is None:
            raise NothingToAttack("attack, --control", f"needs {_LACKING['control']}", "none")
        return self.control

    def lacks(self, attack: Attack) -> list[str]:
        """Return what an attack needs and is not there, in the words of the command line."""
        there = {
            "columns": bool(self.first.columns),
            "numeric": bool(self.first.numeric_columns),
            "match": bool(self.first.match),
            "sensitive": bool(self.sensitive),
            "second": self.second is not None,
            "published": bool(self.published),
            "control": self.control is not None,
            "told": bool(self.first.told_by),
        }
        there |= {name: value is not None for name, value in self.settings.items()}
        return [_LACKING[need] for need in attack.needs if not there.get(need)]
