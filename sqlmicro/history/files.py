"""A series of files of combinations: it remembers what it has published, and nothing that leads to a person.

Of what records had, it keeps keyed numbers only, so that a combination that occurred once never counts as invented.

Its promise is the theorem in `safe_method/successor.py`: the rows of a combination, and those of the whole file, differ
by none or by at least k between any two nights of an epoch.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from sqlmicro.database.carried import Files, Load
from sqlmicro.history import remembered
from sqlmicro.history.measured_once import MeasuredOnce
from sqlmicro.history.seats import Memory
from sqlmicro.history.series import Tonight

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name


@dataclass
class SeriesOfFiles(MeasuredOnce):
    """A series as a run continues it whose nights are files of combinations."""

    known: Name | None = None
    """The combinations that were shown before tonight, in staging."""

    @property
    def files(self) -> Files | None:
        """What was shown; None in the first night of an epoch."""
        return self.before.files if self.before else None

    def digest(self, content: bytes) -> str:
        """Return what tells some records from others, and nothing else to who does not have the secret."""
        return hmac.digest(self.key.encode(), content, sha256).hex()

    def filed(self, load: Load, digest: str, drawn: np.ndarray, told: tuple[int, int, int]) -> None:
        """Take in that tonight has a file: see `FileSeries.filed`."""
        import numpy as np
        import pyarrow as pa

        files = self.files
        shown = files.combination if files else np.empty(0, np.int64)
        self.known = load(pa.table({"class": shown}), "known", "filled with the combinations that were shown")
        inputs = pa.table({"day": pa.array([self.day], pa.int32()), "digest": [digest]})
        new = np.setdiff1d(drawn, files.occurred if files else drawn[:0])
        occurred = load(pa.table({"drawn": new}), "occurred", "filled with keyed numbers of what records have")
        report = self.report(told[0], 0, 0, *told[1:])
        changed = {
            remembered.INPUTS: load(inputs, "inputs", "filled with what tells these records from others"),
            remembered.OCCURRED: occurred,
        }
        self.tonight = Tonight(_nobody(self.day), (), report, changed)


def _nobody(day: int) -> Memory:
    """Return the memory of a series that remembers nobody."""
    import numpy as np

    none, narrow = np.empty(0, np.int64), np.empty(0, np.int32)
    return Memory(
        who=none, seat=narrow, here=np.empty(0, bool), since=narrow, founded=np.empty(0, bool), person=none,
        centre=np.empty((0, 0)), rows=narrow, radius=np.empty(0), stratum=none, opened=narrow, closed=narrow,
        values=np.empty((0, 3), np.int64), reach=0.0, day=day,
    )  # fmt: skip
