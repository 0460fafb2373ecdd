"""A release as a night of a series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated

from sqlmicro.errors import Need, ParameterError
from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class NightOption:
    """Which day a run is of."""

    night: Annotated[
        str | None,
        Param("Day of the run, for a night of a series. Default: today (UTC).", metavar="DATE", env="SQLMICRO_NIGHT"),
    ] = None

    @property
    def day(self) -> int:
        """The day of this night, counted from 1970-01-01.

        Raises
        ------
        ParameterError
            When it is no date.
        """
        try:
            found = date.fromisoformat(self.night) if self.night is not None else datetime.now(UTC).date()
        except ValueError:
            raise ParameterError("--night", "must be a date such as 2026-01-31", "something else") from None
        return (found - date(1970, 1, 1)).days


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """Which series a release continues, and how its classes go on."""

    series: Annotated[
        str | None,
        Param(
            "Continue the series of this name: all its nights together keep k. Needs --row-key, but for safe. See "
            "sqlmicro help series.",
            metavar="NAME",
        ),
    ] = None
    patience: Annotated[
        int | None,
        Param("With --series: days after which a newcomer no longer waits for near ones. Default: 7.", min=0),
    ] = None
    moves: Annotated[
        bool,
        Param(
            "With --series: who has changed may change class. Loses less, but all classes of a person together no "
            "longer have k rows in common."
        ),
    ] = False
    epoch: Annotated[
        bool,
        Param("With --series: group all records anew. Nothing is promised across two epochs."),
    ] = False
    max_loss_of_rows: Annotated[
        float | None,
        Param(
            "With --series: share of its rows that the source may have lost since the last night, as 0.2 or 20%. Where "
            "it lost more, nothing is published. Default: 20%.",
            min=0, max=1, share=True,
        ),
    ] = None  # fmt: skip

    watermark: Annotated[
        str | None,
        Param(
            "With --series: a column, such as updated_at, that grows whenever a row changes. Besides new rows, only "
            "those at least as late as the latest of the last night are read. Deleted rows are found by their keys.",
            metavar="COLUMN",
        ),
    ] = None
    changes_from: Annotated[
        str | None,
        Param(
            "With --series: a table or view that has the row key of all rows that have come, changed or gone since the "
            "last night, such as a change feed. Only these are read, and those of persons who wait.",
            metavar="TABLE",
        ),
    ] = None

    def needs_of_night(self, *, is_night: bool) -> Iterator[Need]:
        """Yield what is needed for the options of a series: one that remembers the release, by a name."""
        named = self.series is None or self.series.strip()
        yield Need(named, "--series", "is the name of a series", "an empty one")
        given = {
            "--patience": self.patience is not None,
            "--moves": self.moves,
            "--epoch": self.epoch,
            "--max-loss-of-rows": self.max_loss_of_rows is not None,
            "--watermark": self.watermark is not None,
            "--changes-from": self.changes_from is not None,
        }
        alone = ", ".join(option for option, there in given.items() if there)
        yield Need(is_night or not alone, alone, "goes with a series", "no --series", "Add --series NAME")
        both = self.watermark is not None and self.changes_from is not None
        yield Need(not both, "--watermark", "does not go with --changes-from", "both", "Leave one of them out")


NO_SERIES = SeriesOptions()
"""A release that stands by itself."""
