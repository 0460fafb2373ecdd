"""A series in a table that is changed in place: night after night the rows that have come of age, others as they are.

What a row holds says what it is. One whose key is remembered with a seat, and that holds what was written, is
*anonymized*, whatever has become of the columns that were left as they are. Any other row is *raw*: if the condition
holds for it, it has come of age, and takes part tonight; if not, it stays. Who has come of age and finds no class
waits, raw, or is emptied. Of what was written a keyed hash is kept, of what was read nothing. The theorem is in
`seats_in_place`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from sqlmicro.database.columns import Column
from sqlmicro.database.conditions import rows_where
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Select, Sql, statement
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.history import changes, remembered, seats
from sqlmicro.history.anonymized import seated, tokens, who_of
from sqlmicro.history.compared import IN_PLACE, Compared
from sqlmicro.history.contents import places
from sqlmicro.history.remembered import Remembered
from sqlmicro.history.seat_memory import WAITS, Memory, nothing
from sqlmicro.history.seats_in_place import TonightInPlace
from sqlmicro.history.series import Series
from sqlmicro.history.series_report import SeriesReport

if TYPE_CHECKING:
    import numpy as np

_EMPTY = Sql("false")


@dataclass(frozen=True)
class Rows:
    """The rows of a table by what they hold, all (n,)."""

    record: np.ndarray
    """What `load/typed.sql` calls record."""
    who: np.ndarray
    seated: np.ndarray
    """Whether a row holds what was written of it."""
    due: np.ndarray
    """Whether it is raw and has come of age."""
    copied: np.ndarray
    """Whether it is due, and holds the values of an anonymized row."""
    bare: np.ndarray
    """Whether it has no values, so that there is nothing to anonymize."""
    of_age: np.ndarray
    """Whether the condition holds for it."""
    token: np.ndarray

    early: int = 0
    """Rows that have come of age in strata where no class can open yet: in the first night they do not take part."""

    @property
    def raw(self) -> int:
        """How many are raw and have not come of age."""
        return int((~self.seated & ~self.due & ~self.bare).sum()) - self.early


@dataclass
class Retention(Series):
    """A series as a run continues it whose rows stay in their table."""

    binds_kept: ClassVar[bool] = False
    of_age: Sql = _EMPTY
    """The condition, as it is run tonight."""
    rows: Rows | None = None
    row_key: Sequence[Column] = ()
    written: Sequence[Column] = ()
    """What the classes give a row, strata included."""
    by: Sequence[Column] = ()
    counted: Sequence[Column] = ()
    """Whose every record is, where k counts persons or households."""
    sensitive: Sequence[Column] = ()
    waiting: str = "keep"
    """What becomes of rows for which no class opened within patience: keep, join, empty."""
    empties: np.ndarray | None = None
    """Which of the rows that take part are emptied tonight (n,)."""
    joined: int = 0
    """Rows that take the values of a class of an earlier night."""
    persons: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The rows that take part tonight, in the order of row_id."""

    def look(self, warehouse: Database, source: Source, into: str = "of_age") -> Name:
        """Find what every row of the table is; return those that take part tonight.

        Raises
        ------
        InputError
            When two rows have one key.
        """
        import numpy as np
        import pyarrow as pa

        self.rows = self._rows(warehouse, source.relation, rows_where(warehouse, source.relation, self.of_age, into))
        rows, before = self.rows, self.before
        if before is not None:
            self.before = _with_lost(before, rows)
        part = rows.seated | rows.due
        order = np.argsort(rows.record[part])
        self.compared = Compared(
            len(part), b"", rows.record[part][order], rows.token[part][order], None, {"way": IN_PLACE}
        )
        told = warehouse.load(
            pa.table({"record": rows.record[part]}), "asked_rows", "filled with the rows that take part tonight"
        )
        return warehouse.run(
            "history/asked_rows.sql", "read_rows", view=True, relation=source.relation, row_key=self.row_key,
            asked=told, columns=source.columns,
        )  # fmt: skip

    def _rows(self, warehouse: Database, relation: Name, of_age: Name) -> Rows:
        import numpy as np

        record, token = self._tokens(warehouse, relation)
        if len(np.unique(record)) < len(record):
            raise InputError("--row-key", "names a row", "the same key several times")
        of = np.isin(record, self._tokens(warehouse, of_age)[0])
        filled = self._holding(warehouse, relation, self.written)
        who = who_of(warehouse, record, self.key)
        held = seated(self.before, who, token)
        bare = ~np.isin(record, filled) & ~held
        due, early = of & ~held & ~bare, 0
        if self.before is None and self.by:
            large = due & np.isin(record, self._of_large_strata(warehouse, of_age))
            due, early = large, int(due.sum() - large.sum())
        copied = due & np.isin(record, self._alike(warehouse, relation, record[held]))
        return Rows(record, who, held, due, copied, bare, of, token, early)

    def _of_large_strata(self, warehouse: Database, of_age: Name) -> np.ndarray:
        """Return the rows that have come of age with enough others of their stratum for a class, as `record`."""
        text = (
            'hash({{ by | listed("CAST({name} AS VARCHAR)") }}) IN ('
            'SELECT hash({{ by | listed("CAST({name} AS VARCHAR)") }}) FROM {{ r | ident }} GROUP BY ALL '
            "HAVING count(*) >= {{ k | lit }}"
            '{% for some, least in asked %} AND count(DISTINCT hash({{ some | listed("CAST({name} AS VARCHAR)") }})) '
            ">= {{ least | lit }}{% endfor %})"
        )
        asked = [(some, least) for some, least in ((self.counted, self.rules.k), (self.sensitive, self.rules.distinct))
                 if some]  # fmt: skip
        held = statement(text, by=self.by, r=of_age, k=self.rules.k, asked=asked)
        return self._tokens(warehouse, rows_where(warehouse, of_age, held, "of_large_strata"))[0]

    def _alike(self, warehouse: Database, relation: Name, seated: np.ndarray) -> np.ndarray:
        """Return the rows of a table that hold the values of anonymized rows, as `record`."""
        import pyarrow as pa

        if not len(seated):
            return seated
        told = warehouse.load(pa.table({"record": seated}), "seated_before", "filled with the rows that are anonymized")
        own = warehouse.run(
            "history/asked_rows.sql", "held_values", view=True, relation=relation, row_key=self.row_key, asked=told,
            columns=self.written,
        )  # fmt: skip
        text = (
            'hash({{ c | listed("CAST({name} AS VARCHAR)") }}) IN '
            '(SELECT hash({{ c | listed("CAST({name} AS VARCHAR)") }}) FROM {{ own | ident }})'
        )
        held = statement(text, c=self.written, own=own)
        return self._tokens(warehouse, rows_where(warehouse, relation, held, "alike"))[0]

    def _tokens(self, warehouse: Database, relation: Name) -> tuple[np.ndarray, np.ndarray]:
        """Return the key of every row of a table, and a keyed hash of it and of what the classes give."""
        return tokens(warehouse, relation, self.row_key, self.written, self.key)

    def seat(
        self,
        persons: Mapping[str, np.ndarray],
        X: np.ndarray,
        labels: np.ndarray | None,
        strata: np.ndarray | None,
        hashes: np.ndarray | None,
    ) -> tuple[Memory, seats.Night]:
        """Return who sits where tonight: only who takes part is there."""
        import numpy as np

        assert self.rows is not None
        self.persons = persons
        who, whose = persons["who"], self._whose(persons)
        bars = np.isin(who, self.rows.who[self.rows.copied])
        before, joins = self.before.memory if self.before else nothing(X.shape[1]), self.waiting == "join"
        tonight = TonightInPlace(before, who, X, self.day, self.rules, strata, hashes, whose, bars, joins=joins)
        memory, night = seats.continued(tonight, before.day) if labels is None else seats.opened(tonight, labels)
        at = np.searchsorted(memory.who, who)
        waits, was = memory.seat[at] < 0, self._held(who)
        early = len(self.before.size) if self.before else 0
        if not (memory.seat[at] >= 0).any():
            raise InputError(
                "--only-where", f"at least k = {self.rules.k} rows are anonymized after a night",
                "fewer: too few have come of age that could open a class",
                "Nothing was changed. Run it again another night",
            )  # fmt: skip
        self.joined = int(((memory.seat[at] >= 0) & (self._own(who) < 0) & (memory.seat[at] < early)).sum())
        self.empties = waits & (was >= 0)  # she has the values of a class that is given up, and there is no other
        if self.waiting == "empty":
            self.empties |= waits & (self.day - memory.since[at] >= self.rules.patience)
        memory.here[at[self.empties]] = False
        return memory, night

    def _whose(self, persons: Mapping[str, np.ndarray]) -> np.ndarray | None:
        """Return who rows are about (n,); of who has had a seat as it is remembered: the table no longer tells."""
        import numpy as np

        if "person" not in persons or self.before is None or not len(self.before.memory.who):
            return persons.get("person")
        memory = self.before.memory
        known, at = places(memory.who, persons["who"])
        found: np.ndarray = np.where(known & (memory.seat != WAITS)[at], memory.person[at], persons["person"])
        return found

    def _own(self, who: np.ndarray) -> np.ndarray:
        """Return the class that rows are or were in (n,), -1 of those that never had one."""
        import numpy as np

        if self.before is None or not len(self.before.memory.who):
            return np.full(len(who), -1)
        known, at = places(self.before.memory.who, who)
        seat = self.before.memory.seat
        found: np.ndarray = np.where(known, np.where(seat < WAITS, -2 - seat, seat)[at], -1)
        return found

    def _held(self, who: np.ndarray) -> np.ndarray:
        """Return the class whose values rows hold (n,), -1 of those that are raw."""
        import numpy as np

        if self.before is None:
            return np.full(len(who), -1)
        known, at = places(self.before.memory.who, who)
        here = self.before.memory.here & (self.before.memory.seat >= 0)
        found: np.ndarray = np.where(known & here[at], self.before.memory.seat[at], -1) if len(here) else known - 1
        return found

    def label(self) -> np.ndarray:
        """Return the class of every row that takes part (n,), in the order of row_id; below 0 for who waits."""
        assert self.tonight is not None
        memory = self.tonight.memory
        import numpy as np

        found: np.ndarray = memory.seat[np.searchsorted(memory.who, self.persons["who"])]
        return found

    def comes(self) -> np.ndarray:
        """Return which of the rows that take part have another class than the one whose values they hold (n,)."""
        label = self.label()
        found: np.ndarray = (label >= 0) & (label != self._held(self.persons["who"]))
        return found

    def came(self) -> tuple[int | None, int]:
        """Return the fewest rows that came to one new class, and how many left a class that others stay in."""
        import numpy as np

        label, comes, held = self.label(), self.comes(), self._held(self.persons["who"])
        classes = len(self.before.size) if self.before else 0
        rows = np.bincount(label[comes & (held < 0) & (label >= classes)])
        stay = np.isin(held, label[~comes & (label >= 0)]) & (held >= 0) & comes
        return min(rows[rows > 0].tolist(), default=None), int(stay.sum())

    def holds(self, warehouse: Database, relation: Name, columns: Sequence[Column]) -> np.ndarray:
        """Return which of the rows that take part have values in some columns of the table (n,)."""
        import numpy as np

        found: np.ndarray = np.isin(self.persons["record"], self._holding(warehouse, relation, columns))
        return found

    def bare_with(self, warehouse: Database, relation: Name, columns: Sequence[Column]) -> np.ndarray:
        """Return the rows that have come of age, and have no values but in these columns, as `record`."""
        import numpy as np

        assert self.rows is not None
        mine = self.rows.record[self.rows.bare & self.rows.of_age]
        found: np.ndarray = mine[np.isin(mine, self._holding(warehouse, relation, columns))]
        return found

    def _holding(self, warehouse: Database, relation: Name, columns: Sequence[Column]) -> np.ndarray:
        """Return the rows of a table that have a value in some columns, as `record`."""
        held = statement("false{% for c in columns %} OR {{ c.name | ident }} IS NOT NULL{% endfor %}", columns=columns)
        return self._tokens(warehouse, rows_where(warehouse, relation, held, "with_values"))[0]

    def report(self, withheld: int, wait: int, empty: int, opened: int = 0, closed: int = 0) -> SeriesReport:
        """Return what is told of tonight, also how many rows are as they were."""
        assert self.rows is not None and self.empties is not None
        made = super().report(withheld + self.rows.early, wait, empty, opened, closed)
        return replace(
            made, raw=self.rows.raw, joined=self.joined or None, emptied=int(self.rows.bare.sum() + self.empties.sum())
        )

    def as_written(self, warehouse: Database, relation: Name) -> Mapping[str, Name | Select]:
        """Return what tonight changes of what is remembered, with what the table holds now of who came."""
        import numpy as np

        assert self.tonight is not None
        record, token = self._tokens(warehouse, relation)
        order = np.argsort(record)
        _, at = places(record[order], self.persons["record"])
        held, sits = token[order][at], self.label() >= 0
        mine = np.argsort(self.persons["who"][sits])
        told = warehouse.table(self.tonight.changed[remembered.SEATS])
        now = {name: told.column(name).to_numpy() for name in told.column_names}
        there, place = places(self.persons["who"][sits][mine], now["who"])
        now["token"] = np.where(there, held[sits][mine][place], -1) if len(mine) else np.full(len(there), -1)
        return {**self.tonight.changed, remembered.SEATS: warehouse.lent(changes.arrow(now))}


def _with_lost(before: Remembered, rows: Rows) -> Remembered:
    """Return what is remembered, with who holds other values than were written as one who has lost the seat."""
    import numpy as np

    memory = before.memory
    lost = np.isin(memory.who, rows.who[rows.due]) & (memory.seat >= 0)
    seat = np.where(lost, -2 - memory.seat, memory.seat).astype(np.int32)
    return replace(before, memory=replace(memory, seat=seat, here=memory.here & ~lost))
