"""What is told of a night of a series."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlmicro.system.reporting import OMITTED
from sqlmicro.system.sentences import say


@dataclass(frozen=True)
class SeriesReport:
    """A night of a series."""

    name: str
    epoch: int
    night: int
    """Nights of this epoch, this one included."""
    day: str
    withheld: int | None = field(metadata=OMITTED)
    """Records that wait, and are not in the release; not told but to the program that has the source."""
    longest_wait: int | None = field(metadata=OMITTED)
    """The most days that one of them has waited; told as these."""
    empty: int | None = field(metadata=OMITTED)
    """Rows of the release that nobody sits in; told as these."""
    opened: int
    """Classes opened tonight."""
    closed: int
    """Classes closed tonight."""
    moves: bool
    came: int | None = field(default=None, metadata=OMITTED)
    """Rows that came tonight, where each is by itself, or the k holds for columns."""
    went: int | None = field(default=None, metadata=OMITTED)
    """Rows that went tonight, each by itself."""
    changed: int | None = field(default=None, metadata=OMITTED)
    """Persons whose values are others than in the last night, or than those that were published."""
    raw: int | None = field(default=None, metadata=OMITTED)
    """Rows of a table changed in place that have not come of age, and are as they were."""
    emptied: int | None = field(default=None, metadata=OMITTED)
    """Rows of such a table that have no values, since nobody gave them any or they were emptied."""
    joined: int | None = field(default=None, metadata=OMITTED)
    """Rows of such a table that took the values of a class of an earlier night, where that is asked for."""
    advice: str | None = field(default=None, metadata=OMITTED)
    """Why a new epoch is due, if it is."""

    @property
    def headline(self) -> str:
        """What the headline of the verdict says of it."""
        night = say(", as night {night:,} of series {name}", night=self.night, name=self.name)
        if self.raw is not None:
            rows = say("{raw:,} rows have not come of age, and {wait:,} wait", raw=self.raw, wait=self.withheld or 0)
            night = say("{night} ({rows}: these are as they were)", night=night, rows=rows)
        anew = say("{night}, which keeps nothing together with its earlier epochs", night=night)
        return anew if self.epoch > 1 else night

    @property
    def notes(self) -> list[str]:
        """What a reader of the release should know."""
        waits = f"records that wait: {self.withheld or 0:,}, the longest for {self.longest_wait or 0:,} days"
        said = [f"classes opened: {self.opened:,}, closed: {self.closed:,}"]
        empty = f"rows that are empty seats: {self.empty or 0:,}"
        if self.came is not None:
            rows = f"rows that came: {self.came:,}"
            singly = "; who knows of a person that she did finds her among these" if self.night > 1 else ""
            said = [
                rows if self.went is None else f"{rows}, went: {self.went:,}, changed: {self.changed or 0:,}{singly}"
            ]
            empty = f"rows of persons who have left: {self.empty or 0:,}"
        if self.came is not None and self.went is None and self.changed:
            said.append(f"of persons whose values have changed since: {self.changed:,}")
        said += [waits] if self.withheld else []
        if self.joined:
            told = "a copy of the table of the night before tells them from the others of their classes"
            said.append(f"rows that joined a class of an earlier night: {self.joined:,}; {told}")
        said += [f"rows without values: {self.emptied:,}"] if self.emptied else []
        said += [] if self.raw is None else [f"rows that have not come of age, and are as they were: {self.raw:,}"]
        said += [one for one in (empty if self.empty else None, self.advice) if one]
        return [f"night {self.night:,} of series {self.name} ({self.day}): {'; '.join(said)}"]
