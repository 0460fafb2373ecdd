"""The members of a population in the boxes of Mondrian: the ranges and sets of values that a group is released with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from sqlmicro.guarantees.members import Members
from sqlmicro.guarantees.rules import SLACK, Rules
from sqlmicro.guarantees.tally import Tally
from sqlmicro.mask import population
from sqlmicro.options.guarantees import InPopulation
from sqlmicro.registry import late

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.mask._guaranteed_cut_kernels import Held
    from sqlmicro.work import Work

TEMPLATES = (*population.TEMPLATES, "mask/with_population.sql", "mask/members_in_groups.sql")


@dataclass(eq=False)
class Boxes:
    """The records and a population by the same numbers, and the group of every member once it is known.

    Parameters
    ----------
    everybody : Name
        The population, with the columns of the records.
    asked : InPopulation
        What every group must keep there.
    values : ndarray of shape (n, p)
        The records: numbers, or the number of a nominal value; NaN where a number is missing.
    people : ndarray of shape (m, p)
        The members, likewise.
    nominal : ndarray of shape (p,)
        Which columns are nominal: a group is released with the values it has, not with a range.
    stratum, of_people : ndarray of shape (n,) and (m,)
        The stratum of everybody, patterns of missing values left out.
    """

    everybody: Name
    asked: InPopulation
    values: np.ndarray
    people: np.ndarray
    nominal: np.ndarray
    stratum: np.ndarray
    of_people: np.ndarray
    row_id: np.ndarray = field(repr=False)
    """Of the members."""
    found: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    """Members of some strata, and the first record of the group of each, -1 for none."""

    def held(self, rows: np.ndarray, persons: np.ndarray | None) -> tuple[Held, np.ndarray]:
        """Return what a cut of these records of one stratum has to keep, and which members are in their stratum.

        `persons` are those of the records, where they are counted.
        """
        import numpy as np

        held = late("sqlmicro.mask._guaranteed_cut_kernels", "Held")
        share = self._share * (1 + SLACK)
        some = self._in_strata[self.stratum[rows[0]]]
        least = self.asked.min_k_map or 1
        whose = np.empty(0, dtype=np.int64) if persons is None else persons.astype(np.int64)
        return held(self.values[rows], self.people[some], self.nominal, self._spans, least, share, whose), some

    @property
    def _share(self) -> float:
        """The largest share of the members in a box that may be in the records."""
        return float("inf") if self.asked.max_delta is None else float(self.asked.max_delta)

    @cached_property
    def _in_strata(self) -> list[np.ndarray]:
        """The members of every stratum."""
        import numpy as np

        strata = 1 + max(int(self.stratum.max(initial=0)), int(self.of_people.max(initial=0)))
        sizes = np.bincount(self.of_people, minlength=strata)
        return np.split(np.argsort(self.of_people, kind="stable"), np.cumsum(sizes)[:-1])

    @cached_property
    def _spans(self) -> np.ndarray:
        """How many numbers there may be in a nominal column."""
        import numpy as np

        highest = np.nanmax(np.r_[self.values, self.people, np.zeros((1, len(self.nominal)))], axis=0)
        return np.where(self.nominal, 1 + highest, 0).astype(np.int64)

    def members(self, strata: np.ndarray) -> Members:
        """Return the members in the box of every stratum, whole."""
        import numpy as np

        inside = late("sqlmicro.mask._guaranteed_cut_kernels", "inside")
        count = []
        for rows in np.split(np.argsort(strata, kind="stable"), np.cumsum(np.bincount(strata))[:-1]):
            held, some = self.held(rows, None)
            count.append(inside(held, np.arange(len(rows)), np.arange(len(some))).sum())
        return Members(np.array(count, dtype=np.int64), self.asked.min_k_map or 1, self._share)

    def note(self, rows: np.ndarray, some: np.ndarray, labels: np.ndarray, of_people: np.ndarray) -> None:
        """Keep the groups of some members, as those of records of the same stratum were made."""
        import numpy as np

        first = np.full(int(labels.max()) + 1, -1)
        first[labels[::-1]] = rows[::-1]
        self.found.append((some[of_people >= 0], first[of_people[of_people >= 0]]))

    def refuse_impossible(self, work: Work, strata: np.ndarray, persons: np.ndarray | None) -> None:
        """Refuse what not even all records of a stratum in one group keep.

        Raises
        ------
        InputError
            With the members there are.
        """
        import numpy as np

        tally = replace(Tally.of(Rules(1, persons), strata, len(np.bincount(strata))), members=self.members(strata))
        population.refuse_impossible(work, self.asked, tally, 0)

    def recoded(self, work: Work, labels: np.ndarray, grouped: Name, representatives: Name) -> Name:
        """Return the members with what their groups are released as; who is in no box is left out."""
        import numpy as np
        import pyarrow as pa

        some, first = (np.concatenate(parts) for parts in zip(*self.found, strict=True))
        table = pa.table({"row_id": self.row_id[some], "label": labels[first]})
        named = work.load(table, "members", "filled with the groups that members of the population are in")
        checked = work.run(
            "mask/members_in_groups.sql", "members_in_groups", members=named, population=self.everybody,
            grouped=grouped, ranges=[c for c in work.columns if c.numeric],
            sets=[c for c in work.columns if not c.numeric],
        )  # fmt: skip
        values = work.run("replace/by_label.sql", "everybody", groups=checked, representatives=representatives,
                          columns=work.columns)  # fmt: skip
        return population.recoded(work, self.everybody, values, work.columns)


def read(work: Work, asked: InPopulation) -> Boxes:
    """Read the population that the groups of a step are held by.

    Raises
    ------
    InputError
        When it cannot be compared with the records.
    """
    import numpy as np

    everybody = population.read(work, asked)
    strata = population.strata(work)
    columns = [*work.columns, *strata]
    both = work.run("mask/with_population.sql", "everybody_and_records", relation=work.relation, population=everybody,
                    columns=columns)  # fmt: skip
    found = work.warehouse.arrays(
        "load/features.sql", relation=both, numeric=[c for c in work.columns if c.numeric], ordinal=[],
        nominal=[*(c for c in work.columns if not c.numeric), *strata], strata=[],
    )  # fmt: skip
    row_id = found["row_id"]
    numbers = np.column_stack([found[column.staged].astype(float) for column in work.columns])
    own = np.zeros((len(row_id), 1)) if not strata else np.array([found[c.staged] for c in strata]).T
    stratum = np.unique(own, axis=0, return_inverse=True)[1].ravel()
    records = row_id >= 0
    return Boxes(
        everybody, asked, numbers[records], numbers[~records], np.array([not c.numeric for c in work.columns]),
        stratum[records], stratum[~records], -1 - row_id[~records],
    )  # fmt: skip
