"""A series: releases of the same people, night after night, that keep together what each of them keeps.

`seats.py` says who is in which class, and has the theorem of what all nights together keep, with its proof. Here a
night of it becomes rows: the features of the records by scales that are frozen in the first night, the values of the
classes, which are remembered as texts, and a row for every empty seat. `remembered.py` keeps it from night to night.

One rule is added to those of the seats, since an outsider does not see classes but values:

    The rows of a combination of values never change by 1 to k - 1 between any two nights. Where several classes have
    it, a closed one stays and one that opens gets empty seats, until they can change by k or more: see `counts.py`.
    The theorem holds as before: no row tells of anybody but by the values of its class.

Source: sqlmicro.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Select
from sqlmicro.group.records import Seated
from sqlmicro.history import changes, counts, features, remembered, seats
from sqlmicro.history.changes import Read
from sqlmicro.history.compared import NAME, Compared
from sqlmicro.history.features import Scale
from sqlmicro.history.remembered import Lasting, Remembered
from sqlmicro.history.seat_memory import Memory, Rules
from sqlmicro.history.series_report import SeriesReport
from sqlmicro.history.union import KEY
from sqlmicro.missing import coarsen
from sqlmicro.missing.vectors import Scales
from sqlmicro.pipeline import Run
from sqlmicro.work import Work

if TYPE_CHECKING:
    import numpy as np

SOURCE_ROWS = "rows of the source"
"""Under which name it is remembered how many rows the source had."""
_DAYS = ("date", "timestamp", "timestamptz")
"""The families of columns that are published as whole days or microseconds."""


@dataclass(frozen=True)
class Tonight:
    """What a night changes of what its series remembers; the relations are in staging."""

    memory: Memory
    scales: tuple[Scale, ...]
    report: SeriesReport
    changed: Mapping[str, Name | Select]
    members: tuple[Name, Name, Name] | None = None
    """Who sits where (who, label), the class of every row (row_id, label), tonight's founders (row_id, who, label)."""


@dataclass
class Series:
    """A series as a run continues it: what it remembers, and what tonight becomes of it."""

    name: str
    rules: Rules
    day: int
    source: str
    schema_hash: str
    settings: str
    """What decides the classes, as JSON: it is the same in every night of an epoch."""
    epoch: int
    key: str = field(repr=False)
    """By which persons are hashed."""
    nulls: str = "error"
    before: Remembered | None = None
    """None in the first night of an epoch."""
    tonight: Tonight | None = None
    recoding: str | None = None
    """What a method of recoding decided in the first night, as JSON."""
    compared: Compared | None = None
    """What tonight has to read; None where nothing was compared, and all is read."""

    binds_kept: ClassVar[bool] = True
    """Whether what is released as it is belongs to a seat; else to the row of the table that sits there."""
    measured: dict[str, Any] = field(default_factory=dict)
    """What tonight has measured, and is remembered."""

    def note_measured(self, run: Run) -> None:
        """Take in what tonight has measured, and how its rows were compared."""
        import pyarrow as pa

        if self.tonight is None:
            return
        told = {
            **self.measured,
            **({NAME: self.compared.how} if self.compared else {}),
            SOURCE_ROWS: run.table.loaded.rows,
        }
        names, values = list(told), [json.dumps(one) for one in told.values()]
        table = pa.table({"name": pa.array(names, pa.string()), "value": pa.array(values, pa.string())})
        kept = run.warehouse.load(table, "measured", "filled with what the night has measured")
        self.tonight = replace(self.tonight, changed={**self.tonight.changed, remembered.MEASURED: kept})

    @property
    def members(self) -> tuple[Name, Name, Name] | None:
        """Who sits where (who, label), the class of every row (row_id, label), tonight's founders (row_id, who, …)."""
        return self.tonight.members if self.tonight else None

    def read(self, persons: Mapping[str, np.ndarray], **more: np.ndarray) -> Read:
        """Return what is remembered of the persons that were read tonight, besides their seats."""
        import numpy as np

        who, record = persons["who"], persons["record"]
        return Read(who, self.compared.tokens(record) if self.compared else np.full(len(who), -1), **more)

    def seated(
        self,
        work: Work,
        scales: Scales,
        importance: Mapping[Column, float],
        grouped: Callable[[], np.ndarray],
        representatives: Callable[[Name], Name],
    ) -> Seated:
        """Seat the records of a step: in the first night in the groups of its method, later where the series says."""
        if self.nulls == "pattern":
            work.relation = self._coarsened(work)
        frozen = self.before.night.scales if self.before else ()
        X, found = features.features(work, scales, importance, frozen, missing=self.nulls == "keep")
        kinds = dict.fromkeys(scales.numeric, "DOUBLE")
        return self.settled(work, X, grouped, representatives, kinds, tuple(found))

    def settled(
        self,
        work: Work,
        X: np.ndarray,
        grouped: Callable[[], np.ndarray],
        representatives: Callable[[Name], Name],
        kinds: Mapping[Column, str] | None = None,
        scales: tuple[Scale, ...] = (),
        alike: Sequence[Column] = (),
    ) -> Seated:
        """Seat records with the features X (n, p), in the order of row_id.

        Parameters
        ----------
        work : Work
            The step; its strata are what may not differ within a class.
        X : ndarray of shape (n, p)
            Without columns only the strata decide.
        grouped : callable
            Returns the groups of the records (n,); called in the first night.
        representatives : callable
            Gets the founders of new classes (row_id, label), returns the values of these (label, the columns).
        kinds : mapping
            The types of the columns in `representatives`, where these are not those of the relation.
        scales : tuple of Scale
            Kept with the series.
        alike : sequence of Column
            What else may not differ among those who open a class, or come to it.
        """
        persons, strata, hashes = self._persons(work, alike)
        labels = grouped() if self.before is None else None
        memory, night = self.seat(persons, X, labels, strata, hashes)
        made = _Made(self, work, persons, memory, night, kinds or {}, representatives)
        self.tonight = Tonight(memory, scales, made.report(), made.changed, made.members())
        return made.seated

    def seat(
        self,
        persons: Mapping[str, np.ndarray],
        X: np.ndarray,
        labels: np.ndarray | None,
        strata: np.ndarray | None,
        hashes: np.ndarray | None,
    ) -> tuple[Memory, seats.Night]:
        """Return who sits where tonight: in the first night, that of `labels`, in these groups."""
        who, whose = persons["who"], persons.get("person")
        if self.before is None:
            assert labels is not None
            return seats.begin(who, X, labels, self.day, self.rules, strata, hashes, whose)
        before, taken = self.before.memory, self.before.taken
        return seats.go_on(before, who, X, self.day, self.rules, strata, hashes, taken, whose)

    def left_over(self, work: Work, alike: Sequence[Column]) -> np.ndarray:
        """Return which records (n,) would wait tonight, all of them or, as long as they are few and new, none."""
        import numpy as np

        persons, strata, hashes = self._persons(work, alike)
        who = persons["who"]
        if self.before is None or self.rules.moves:
            return np.zeros(len(who), bool)
        X = np.empty((len(who), 0))
        before, taken = self.before.memory, self.before.taken
        before = replace(before, centre=np.empty((len(before.rows), 0)))  # nothing but what is alike decides
        whose = persons.get("person")
        memory, _ = seats.go_on(before, who, X, self.day, self.rules, strata, hashes, taken, whose)
        at = np.searchsorted(memory.who, who)
        waits: np.ndarray = memory.seat[at] == seats.WAITS
        due = waits & (self.day - memory.since[at] >= self.rules.patience)
        many = int(due.sum()) if whose is None else len(np.unique(whose[due]))
        ready = many >= self.rules.k or waits.sum() > self.rules.waiting * (len(who) + taken.sum())
        found: np.ndarray = waits & ready
        return found

    def _coarsened(self, work: Work) -> Name:
        """Return the records of a night with their patterns of missing values.

        Those who have waited for others that lack the same lose values, so that k of them do. Who has a class by then
        keeps it, whatever she lacks.
        """
        import pyarrow as pa

        left = self.left_over(work, [])
        if not left.any():
            return work.relation
        row_id = self._persons(work, [])[0]["row_id"][left]
        rows = work.load(pa.table({"row_id": row_id}), "left", "filled with who has waited for her pattern")
        alone = work.run("history/cohort.sql", "waited", relation=work.compared, cohort=rows)
        own = {"row_id", "record", *(column.staged for column in work.columns)}
        others = [Column(name, kind, name) for name, kind in work.warehouse.describe(work.compared) if name not in own]
        stream = f"sqlmicro_{work.prefix}_patterns"
        work.warehouse.set_key(stream, self.key)
        found = coarsen.by_pattern(
            work.warehouse, alone, work.columns, others, _of(work.by), self.rules.k, f"{work.prefix}_waited", stream
        )
        return work.run(
            "history/with_coarsened.sql", "as_coarsened", relation=work.relation, coarsened=found.relation,
            columns=[*work.columns, *others],
        )  # fmt: skip

    def _persons(
        self, work: Work, alike: Sequence[Column]
    ) -> tuple[Mapping[str, np.ndarray], np.ndarray | None, np.ndarray | None]:
        """Return who the records are about, what may not differ within a class, and what their seats keep."""
        work.warehouse.set_key(KEY, self.key)
        sensitive = list(work.demand.of_seats)
        persons = work.warehouse.arrays(
            "history/persons.sql", relation=work.relation, stream=KEY, columns=["copy"], by=[*work.by, *alike],
            sensitive=sensitive,
        )  # fmt: skip
        strata = persons["stratum"] if work.by or alike else None
        if person := list(work.demand.person):
            whose = work.warehouse.arrays("history/whose.sql", relation=work.relation, stream=KEY, person=person)
            persons = {**persons, "person": whose["person"]}
        return persons, strata, persons["sensitive"] if sensitive else None

    def report(self, withheld: int, wait: int, empty: int, opened: int = 0, closed: int = 0) -> SeriesReport:
        """Return what is told of tonight."""
        last, day = self.before.night if self.before else None, date(1970, 1, 1) + timedelta(self.day)
        number = last.night + (self.day > last.day) if last else 1
        moves = self.rules.moves
        return SeriesReport(self.name, self.epoch, number, str(day), withheld, wait, empty, opened, closed, moves=moves)

    def order(self) -> str:
        """Return the key of the order of rows, the same in all nights of an epoch."""
        return hmac.digest(self.key.encode(), f"order {self.name} {self.epoch}".encode(), sha256).hex()

    def night(self, release: int, target: str) -> remembered.Night:
        """Return tonight as it is remembered, once it has the number of its release."""
        assert self.tonight is not None
        first = self.before.night.first if self.before else release
        number = self.before.night.number + 1 if self.before else 1
        return remembered.Night(
            release, self.source, self.schema_hash, self.settings, self.epoch, first, number,
            self.tonight.report.night, self.day, self.tonight.memory.reach, self.tonight.scales, target, self.recoding,
        )  # fmt: skip


class _Made:
    """What a night becomes in staging: its rows, the values of its classes, and what is to be remembered."""

    def __init__(
        self,
        series: Series,
        work: Work,
        persons: Mapping[str, np.ndarray],
        memory: Memory,
        night: seats.Night,
        kinds: Mapping[Column, str],
        representatives: Callable[[Name], Name],
    ) -> None:
        self.series, self.work, self.memory, self.night, self.persons = series, work, memory, night, persons
        self.columns = _typed(work, kinds)
        self.strata = [column for column in self.columns if column.staged in {c.staged for c in _of(work.by)}]
        self.means = list(kinds) if series.nulls == "keep" else []
        new = self._values_of_new(representatives)
        number = series.before.night.number + 1 if series.before else 1
        self.classes = counts.settled(series.before, memory, self._combinations(new), number, series.rules.k)
        values = work.run(
            "history/class_representatives.sql", "classes", remembered=self._remembered(remembered.VALUES), opened=new,
            columns=self.columns,
        )  # fmt: skip
        self.empty = counts.empty(series.before, self.classes, memory, night)
        self.seated = self._seated(values)
        self.changed = {remembered.VALUES: new, **self._changed()}

    def _remembered(self, table: str) -> Name | Select:
        """Return values or texts that the series remembers, in staging."""
        before = self.series.before
        found = before and (before.values if table == remembered.VALUES else before.texts)
        return relation_of(self.work, table, found)

    def _values_of_new(self, representatives: Callable[[Name], Name]) -> Name:
        """Return the values of the classes opened tonight as texts: those of their founders."""
        import pyarrow as pa

        work, founds = self.work, self.night.founders
        founders = pa.table({"row_id": self.persons["row_id"][founds], "label": self.night.labels[founds]})
        of = work.load(founders, "founders", "filled with who founds a class tonight")
        made = representatives(of)
        if self.means:
            made = work.run(
                "history/shared_means.sql", "shared_means", representatives=made, founders=of, relation=work.relation,
                columns=[column for column in work.columns if column not in self.means], means=self.means,
                k=self.series.rules.k,
            )  # fmt: skip
        if self.strata:
            made = work.run(
                "history/with_strata.sql", "founded", representatives=made, founders=of, relation=work.relation,
                columns=[c for c in self.columns if c not in self.strata], strata=self.strata,
            )  # fmt: skip
        whole = [c for c in self.columns if c.type == "DOUBLE" and _family(work, c) in _DAYS]
        others = [c for c in self.columns if c not in whole]
        return work.run("history/class_texts.sql", "opened", representatives=made, columns=others, whole=whole)

    def _combinations(self, new: Name) -> np.ndarray:
        """Return what tells the values of every class (G,) from those of others."""
        import numpy as np

        found = self.work.warehouse.arrays("history/class_combinations.sql", opened=new)
        old = self.series.before.combination if self.series.before else np.empty(0, np.int64)
        both: np.ndarray = np.r_[old.astype(np.int64), found["combination"].astype(np.int64)]
        return both

    def _seated(self, values: Name) -> Seated:
        import numpy as np
        import pyarrow as pa

        work, labels = self.work, self.night.labels
        sits, row_id = labels >= 0, self.persons["row_id"]
        classes, hashes, many = np.concatenate([self.empty, self._unread()]).T
        first = work.warehouse.count(work.demand.original)
        added = np.repeat(classes, many)
        empty = pa.table({
            "row_id": first + np.arange(len(added)), "label": added.astype(np.int32), "value": np.repeat(hashes, many),
        })  # fmt: skip
        seated = pa.table({"row_id": row_id[sits], "label": labels[sits]})
        groups = pa.concat_tables([seated, empty.select(["row_id", "label"]).cast(seated.schema)])
        sensitive = list(work.demand.of_seats)
        own = {c.staged for c in (*self.strata, *sensitive)}
        types = dict(work.warehouse.describe(work.relation))
        others = [name for name in types if name not in (*own, "row_id", "record")]
        of = work.load(seated, "seats", "filled with the seats of tonight")
        self.texts = self._texts(sensitive, of)
        rows = work.run(
            "replace/seated.sql", "seated", relation=work.relation,
            seats=of, empty=work.load(empty, "empty", "filled with the empty seats"), representatives=values,
            texts=self.texts, strata=self.strata,
            sensitive=[replace(c, type=types[c.staged]) for c in sensitive], others=others,
        )  # fmt: skip
        return Seated(work.load(groups, "groups", "filled with the classes of the series"), values, rows)

    def _unread(self) -> np.ndarray:
        """Return the seats of persons whose rows were not read (m, 3): class, 0 as nothing is sensitive, how many."""
        import numpy as np

        many = self.series.before.taken if self.series.before else np.empty(0, np.int64)
        classes = np.flatnonzero(many)
        return np.column_stack([classes, np.zeros_like(classes), many[classes]])

    def members(self) -> tuple[Name, Name, Name]:
        """Return who sits where (who, label), the class of every row (row_id, label), and who founds (row_id, …)."""
        import pyarrow as pa

        memory, several = self.memory, "person" in self.persons
        sits = memory.here & (memory.seat >= 0)
        own = pa.table({"who": (memory.person if several else memory.who)[sits], "label": memory.seat[sits]})
        if several:
            own = own.group_by(["who", "label"], use_threads=False).aggregate([])
        told = self.work.load(own, "seated_tonight", "filled with who sits in which class")
        others = self.series.compared and self.series.compared.untouched
        both = others and self.work.run("history/seated_persons.sql", "sitting", untouched=others, tonight=told)
        founds = self.night.founders
        who = self.persons["person" if several else "who"][founds]
        new = pa.table({"row_id": self.persons["row_id"][founds], "who": who, "label": self.night.labels[founds]})
        founders = self.work.load(new, "founders_tonight", "filled with who founds a class tonight")
        return both or told, self.seated.groups, founders

    def _texts(self, sensitive: Sequence[Column], seats: Name) -> Name | Select:
        """Return what the hashes of sensitive values stand for: those that are remembered, and those of tonight."""
        known = self._remembered(remembered.TEXTS)
        if not sensitive or not self.series.binds_kept:  # the row of the table keeps it
            return known
        return self.work.run(
            "history/with_texts.sql", "texts", remembered=known, relation=self.work.relation, seats=seats,
            sensitive=sensitive,
        )  # fmt: skip

    def _changed(self) -> dict[str, Name | Select]:
        """Return the rows of every table that tonight changes."""
        import numpy as np

        before, memory, night = self.series.before, self.memory, self.night
        found: dict[str, Mapping[str, np.ndarray]] = {
            remembered.SEATS: changes.changed_seats(
                before, memory, self.series.read(self.persons, founded=np.where(night.founders, night.labels, -1))
            ),
            remembered.CLASSES: counts.changed(before, memory, self.classes),
        }
        if len(memory.values):
            new = np.isin(memory.values[:, 0], night.opened)
            own = memory.values[new]
            found[remembered.SENSITIVE] = {"class": own[:, 0], "value": own[:, 1], "seats": own[:, 2]}
        loaded: dict[str, Name | Select] = {
            name: self.work.load(changes.arrow(columns), f"changed_{name}", "filled with what the series remembers")
            for name, columns in found.items()
        }
        return loaded | ({remembered.TEXTS: self.texts} if len(memory.values) else {})

    def report(self) -> SeriesReport:
        """Return what is told of the night."""
        series, memory = self.series, self.memory
        waits = memory.here & (memory.seat < 0)
        wait = int((series.day - memory.since[waits]).max()) if waits.any() else 0
        gone = counts.gone(series.before, self.classes)
        return series.report(int(waits.sum()), wait, int(self.empty[:, 2].sum()), len(self.night.opened), gone)


def relation_of(work: Work, table: str, found: Lasting | None) -> Name | Select:
    """Return what a series remembers as a relation; without rows where that is nothing."""
    if isinstance(found, Select):
        return found
    kept = changes.nothing(table) if found is None else found
    return work.load(kept, f"remembered_{table}", "filled with what the series remembers")


def _of(by: Sequence[Column | str]) -> list[Column]:
    return [column for column in by if isinstance(column, Column)]


def _typed(work: Work, kinds: Mapping[Column, str]) -> list[Column]:
    """Return the columns that a class gives its rows, strata included, in the types of staging."""
    types = dict(work.warehouse.describe(work.relation))
    return [replace(c, type=kinds.get(c, types[c.staged])) for c in (*work.columns, *_of(work.by))]


def _family(work: Work, column: Column) -> str:
    return next(own.family for own in (*work.columns, *_of(work.by)) if own.staged == column.staged)


def settings_of(told: Mapping[str, object]) -> str:
    """Return what decides the classes of a series as text that can be compared."""
    return json.dumps(told, sort_keys=True, default=str)
