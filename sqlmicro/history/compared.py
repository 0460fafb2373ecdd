"""What a night of a series has to read: the rows that are not as they were read before, and those of persons who wait.

Every row has a token, a keyed hash of its row key and its values. A row whose token is remembered is as it was. Only
the tokens are compared, by joins of the database; the values of a person who sits in a class, and whose row has not
changed, decide nothing: what a night publishes of her is what her class publishes. Where a watermark or a list of
changes says what has changed, a token is that of the key alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from sqlmicro.database.columns import Column
from sqlmicro.database.content import by_kind
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params, Select, select
from sqlmicro.database.warehouse import Database
from sqlmicro.history import remembered
from sqlmicro.history.contents import places
from sqlmicro.history.remembered import Remembered
from sqlmicro.system.secrets import words

if TYPE_CHECKING:
    import numpy as np

How = Mapping[str, str | None]
"""How rows were compared, as it is remembered: way, column and mark."""
_DAYS = ("date", "timestamp", "timestamptz")
_MOST = 0.5
"""The share of rows that have changed above which all are read."""


@dataclass(frozen=True)
class Compared:
    """The rows of a source that are read, beside what a series remembers of their persons and of those who are gone."""

    rows: int
    """All rows of the source."""
    content: bytes
    """What stands for all of them, whatever their order."""
    record: np.ndarray
    """What `load/typed.sql` calls record (n,), ascending."""
    token: np.ndarray
    """Of these rows (n,)."""
    before: Remembered | None
    """What is remembered, with the persons who are not as they were."""
    how: How
    """How rows were compared, as it is remembered."""
    read: Name | None = None
    """The rows that are read; None: all."""
    untouched: Select | None = None
    """Who sits in a class (who, seat, changed), and is as she was; None where all rows are read."""
    stay: int = 0
    """How many these are."""

    def tokens(self, record: np.ndarray) -> np.ndarray:
        """Return the tokens of some of the rows; -1 where a row was not there when they were compared."""
        import numpy as np

        known, at = places(self.record, record)
        found: np.ndarray = np.where(known, self.token[at], -1) if len(self.token) else np.full(len(record), -1)
        return found


@dataclass(frozen=True)
class Rows:
    """The rows of a source as they are compared, and what is remembered of how."""

    record: np.ndarray
    """What `load/typed.sql` calls record (n,)."""
    token: np.ndarray
    """What is remembered of them (n,)."""
    told: np.ndarray
    """Tokens without those of the rows that somebody says have changed (n,)."""
    content: bytes


@dataclass(frozen=True)
class Differing:
    """What is not as it was: persons of the series, and rows of the source; and who is."""

    found: Name
    untouched: Select
    stay: int
    """How many are as they were."""


@dataclass(frozen=True)
class Feed:
    """What tells which rows have changed: a watermark, or a list of their keys; else all values are compared."""

    watermark: Column | None = None
    changes: Name | None = None
    snapshot: str | None = None
    """Of a lake whose own feed tells: what is read tonight; `changes` is None where it cannot tell since the last."""

    @property
    def knows_keys(self) -> bool:
        """Whether a token stands for the row key alone."""
        return self.watermark is not None or self.changes is not None or self.snapshot is not None

    def tonight(self, warehouse: Database, relation: Name) -> dict[str, str | None]:
        """Return how rows are compared tonight, as it is remembered: with the largest watermark there is."""
        if self.watermark is None:
            return {"way": KEYS if self.knows_keys else "content", "column": None, SNAPSHOT: self.snapshot}
        text = "SELECT CAST(max({{ w | ident }}) AS VARCHAR) FROM {{ r | ident }}"
        ((mark,),) = warehouse.query("series", text, w=self.watermark.name, r=relation)
        return {"way": KEYS, "column": self.watermark.name, "mark": mark}

    def goes_on(self, warehouse: Database, last: How | None, how: How) -> bool:
        """Tell whether tonight can be compared with the last night: tokens of one kind, and a watermark that grows."""
        if not isinstance(last, dict) or last.get("way") != how["way"]:  # it may have been edited
            return False
        if self.watermark is None:
            return self.snapshot is None or self.changes is not None
        if last.get("column") != how["column"] or last.get("mark") is None or how["mark"] is None:
            return False
        grows = "SELECT CAST({{ old | lit }} AS {{ t | sqltype }}) <= CAST({{ new | lit }} AS {{ t | sqltype }})"
        if self.watermark.family in _DAYS:  # after one in the future, whatever changes until then would be too early
            grows += " AND CAST({{ old | lit }} AS {{ t | sqltype }}) <= CAST({{ until | lit }} AS {{ t | sqltype }})"
        until = str(date.today() + timedelta(days=2))
        given: Params = {"old": last["mark"], "new": how["mark"], "until": until, "t": self.watermark}
        return bool(warehouse.query("series", grows, **given)[0][0])

    def rows(
        self,
        warehouse: Database,
        source: Source,
        row_key: Sequence[Column],
        columns: Sequence[Column],
        key: str,
        last: How | None,
    ) -> Rows:
        """Return the rows of a source; `last` is None where what has changed since does not matter."""
        import numpy as np

        own = by_kind([Column(one.name, one.type, one.name) for one in ([] if self.knows_keys else columns)])
        given: Params = {"relation": source.relation, "row_key": row_key}
        if last is None or not self.knows_keys:
            found = warehouse.arrays("history/rows_of_source.sql", **given, **own)
        elif self.watermark is not None:
            found = warehouse.arrays("history/rows_since.sql", **given, watermark=self.watermark, mark=last["mark"])
        else:
            found = warehouse.arrays("history/rows_changed.sql", **given, changes=self.changes)
        token = words(key, KEYS, found["record"]) if self.knows_keys else words(key, "row", found["content"])
        told = np.where(found["news"], -2, token) if "news" in found else token
        return Rows(found["record"], token, told, f"{len(token)} {int(token.astype(np.uint64).sum())}".encode())


def compared(
    warehouse: Database,
    source: Source,
    row_key: Sequence[Column],
    columns: Sequence[Column],
    key: str,
    before: Remembered | None,
    feed: Feed,
    *,
    every: bool,
) -> Compared:
    """Compare the rows of a source with those that a series has read `before`; with `every` all are read anyhow."""
    import numpy as np
    import pyarrow as pa

    last = before.measured.get(NAME) if before else None
    how = feed.tonight(warehouse, source.relation)
    every = every or before is None or not feed.goes_on(warehouse, last, how)
    if before is not None and not every and feed.changes is not None:
        found = _by_changes(warehouse, source, row_key, columns, key, before, feed.changes, how)
        if found is not None:
            return found
    rows = feed.rows(warehouse, source, row_key, columns, key, None if every else last)
    narrow = None if every or before is None else _narrowed(warehouse, rows, before)
    if before is None or narrow is None:
        order = np.argsort(rows.record)
        everyone = before and remembered.with_persons(before, remembered.everyone(warehouse, before))
        return Compared(len(order), rows.content, rows.record[order], rows.token[order], everyone, how)
    asked, differing = narrow
    told = warehouse.load(pa.table({"record": rows.record[asked]}), "asked_rows", "filled with the rows to be read")
    read = warehouse.run(
        "history/asked_rows.sql", "read_rows", relation=source.relation, row_key=row_key, asked=told,
        columns=_columns(row_key, columns),
    )  # fmt: skip
    return _with_read(warehouse, before, (asked, rows), read, differing, how)


def _with_read(
    warehouse: Database, before: Remembered, asked: tuple[np.ndarray, Rows], read: Name, differing: Differing,
    how: How,
) -> Compared:  # fmt: skip
    """Return the rows to read, with the persons who are not as they were."""
    import numpy as np

    places_of, rows = asked
    places_of = places_of[np.argsort(rows.record[places_of])]
    taken = before.taken
    if len(taken):  # else every seat is a row of its own
        seat = warehouse.arrays("history/seats_of.sql", persons=differing.untouched)["seat"]
        taken = np.bincount(seat, minlength=len(taken))
    touched = warehouse.arrays("history/touched.sql", differing=differing.found, columns=_PERSON)
    record = rows.record[places_of]
    return Compared(
        len(rows.record), rows.content, record, rows.token[places_of],
        remembered.with_persons(before, touched, taken), how, read, differing.untouched, differing.stay,
    )  # fmt: skip


def _narrowed(warehouse: Database, rows: Rows, before: Remembered) -> tuple[np.ndarray, Differing] | None:
    """Return which rows are to be read, and what differs; None where all are to be read."""
    import numpy as np
    import pyarrow as pa

    if not len(rows.token):
        return None  # where all are read, it is said that there are none
    numbered = pa.table({"number": np.arange(len(rows.token)), "token": rows.told})
    tokens = warehouse.load(numbered, "rows_of_source", "filled with keyed hashes of the rows")
    people = _people(warehouse, before)
    found = warehouse.run("history/differing.sql", "differing", people=people, tokens=tokens, columns=_PERSON)
    asked = warehouse.arrays("history/unknown_rows.sql", differing=found)["number"]
    untouched = select("history/untouched.sql", people=people, differing=found)
    ((stay,),) = warehouse.query("series", "SELECT count(*) FROM {{ u | ident }}", u=untouched)
    differing = Differing(found, untouched, int(stay))
    if differing.stay + len(asked) != len(rows.token) or len(asked) > _MOST * len(rows.token):
        return None  # a row that is there twice is refused where all are read
    if not len(asked):  # nothing works on no rows at all
        asked = np.zeros(1, np.int64)
        warehouse.execute("series", _TAKE_IN, d=found, p=people, columns=_PERSON, token=int(rows.token[0]))
        differing = replace(differing, stay=differing.stay - 1)
    return asked, differing


_TAKE_IN = """INSERT INTO {{ d | ident }}
SELECT {{ columns | idents }}, 0 FROM {{ p | ident }} WHERE token = {{ token | lit }}"""
_PERSON = list(remembered.KEPT[remembered.SEATS].columns)


def _by_changes(
    warehouse: Database, source: Source, row_key: Sequence[Column], columns: Sequence[Column], key: str,
    before: Remembered, changes: Name, how: How,
) -> Compared | None:  # fmt: skip
    """Return what is to be read by a list of changes alone; None where somebody waits, whose row nothing else finds."""
    import numpy as np
    import pyarrow as pa

    people = _people(warehouse, before)
    counts = "SELECT count(*) FILTER (WHERE here AND seat < 0), count(*) FROM {{ p | ident }}"
    ((waiting, known),) = warehouse.query("series", counts, p=people)
    if waiting:
        return None
    listed = warehouse.run("history/listed_keys.sql", "listed_keys", relation=changes, row_key=row_key)
    record = warehouse.arrays("history/changed_keys.sql", relation=listed, row_key=row_key)["record"]
    if not len(record):
        return None
    token = words(key, KEYS, record)
    tokens = warehouse.load(pa.table({"token": token}), "changed_tokens", "filled with keyed hashes of what changed")
    found = warehouse.run("history/differing_by_key.sql", "differing", people=people, tokens=tokens, columns=_PERSON)
    stay = int(known) - warehouse.count(found)
    differing = Differing(found, select("history/untouched.sql", people=people, differing=found), stay)
    read = warehouse.run(
        "history/rows_of_keys.sql", "read_rows", relation=source.relation, row_key=row_key, changes=listed,
        columns=_columns(row_key, columns),
    )  # fmt: skip
    here = warehouse.count(read)
    many = warehouse.count(source.relation)
    if not here or here + stay != many:  # the list lacks rows that came or went
        return None
    rows = Rows(record, token, token, b"")
    return replace(_with_read(warehouse, before, (np.argsort(record), rows), read, differing, how), rows=many)


def _people(warehouse: Database, before: Remembered) -> Name | Select:
    if isinstance(before.people, Select):
        return before.people
    return warehouse.load(before.people, "people", "filled with the persons of the series")


def _columns(row_key: Sequence[Column], columns: Sequence[Column]) -> list[Column]:
    """Return the columns of the rows that are read."""
    return list(dict.fromkeys((*row_key, *columns)))


KEYS = "row key"
"""What a token stands for that knows only the row key."""
IN_PLACE = "in place"
"""What rows were compared with that hold what a night has written."""
SNAPSHOT = "snapshot"
"""Under which name it is remembered which snapshot of a lake was read."""
NAME = "compared"
"""Under which name it is remembered how rows were compared."""
