"""A series of a method that changes every record by itself: no k is promised, and nothing is averaged away.

What a night publishes of a person is the same as in the night before, as long as her values are the same: whatever is
computed of all nights of an epoch tells no more of her than one of them. This is audited every night: `series-kept`.

- Noise is a keyed hash of the row key, the values, and the size of the noise. The key is the lasting secret. The size
  is measured in the first night of an epoch and kept. Noise outlasts epochs while its size is the same.
- A pseudonym is keyed with the number of the epoch: within one it stays, two share none. Tables whose series are in the
  same epoch, under one key, share pseudonyms.

- Where persons or households have several rows, the columns that have one value in each of them in the first night get
  noise by a keyed hash of the person and these values, whichever row it is.

Not promised: k of anything. Every row is by itself, so that two nights tell which rows came, went and changed; the
report says how many. Who changes gets new noise. With x, x' her values and e, e' the noise, the nights tell
x' - x + e' - e, which has the noise of two nights. Noise that keeps correlations is drawn anew for all columns of a
record. Of a column that stayed the same the nights then tell x + e and x + e', whose mean has noise smaller by sqrt(2),
after m changes by sqrt(m + 1); and e' - e, from which that of other columns can be told as far as they correlate.
`--kind uncorrelated`, laplace and geometric draw anew only for the column that changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlmicro.database.templates import Name
from sqlmicro.history import changes, remembered, seat_memory
from sqlmicro.history.changes import Read
from sqlmicro.history.contents import contents, places, remembered_contents
from sqlmicro.history.measured_once import MeasuredOnce
from sqlmicro.history.series import Tonight
from sqlmicro.pipeline import Run


@dataclass
class SeriesOfMasks(MeasuredOnce):
    """A series as a run continues it whose rows are changed one by one."""

    def watch(self, run: Run) -> None:
        """Compare the rows of the release, and what was read of their persons, with those of the last night."""
        import numpy as np

        found = contents(run, self.key)
        who, before = found["who"], self.before
        memory = replace(
            seat_memory.nothing(0), who=who, seat=np.zeros(len(who), np.int32), here=np.ones(len(who), bool),
            since=np.full(len(who), self.day, np.int32), founded=np.zeros(len(who), bool),
            person=np.zeros(len(who), np.int64), day=self.day,
        )  # fmt: skip
        report = replace(self.report(0, 0, 0), came=len(who), went=0, changed=0)
        differs = np.ones(len(who), bool)
        if before is not None:
            last = before.memory.who[before.memory.here]
            known, at = places(last, who)
            memory.since = np.where(known, before.memory.since[before.memory.here][at], self.day).astype(np.int32)
            then = remembered_contents(run, before)
            kept, place = places(then["who"], who)
            changed = kept & (then["content"][place] != found["content"])
            differs = ~kept | changed | (then["published"][place] != found["published"])
            went = int((~np.isin(last, who)).sum())
            report = replace(report, came=int((~known).sum()), went=went, changed=int((known & changed).sum()))
        told = {name: values[differs] for name, values in found.items()}
        seats = changes.changed_seats(before, memory, Read(who, np.full(len(who), -1)))
        self.tonight = Tonight(memory, (), report, {
            remembered.SEATS: _loaded(run, seats, "changed_seats"),
            remembered.CONTENTS: _loaded(run, told, "changed_contents"),
        })  # fmt: skip


def _loaded(run: Run, columns: Mapping[str, Any], into: str) -> Name:
    return run.warehouse.load(changes.arrow(columns), into, "filled with what the series remembers")
