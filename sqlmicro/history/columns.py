"""A series of a method that groups each column on its own: k holds for every value, in its column.

A night takes in a *cohort*: persons who have waited together. The method groups each column of a cohort by itself. Rows
stay as they were published: nobody changes, and who leaves leaves her row.

Theorem
-------
Over all nights of one epoch, for every column, within a stratum:

(a) *Rows.* Every published value, a missing one too, has at all times at least k - 1 others like it that came in the
same night, and never goes.
(b) *Totals.* Every non-zero linear combination of the published means or totals of the column involves the values of at
least k persons.
(c) All classes of the column that a person was ever in have k rows in common: they are one class.

Proof. A class of a column is what the method makes of a cohort: k persons of it or more, or those of it whose value is
missing, of whom a cohort has none or k. It is published as a whole in the night of its cohort, and stays: (a), (c). A
person is in one cohort, so that her value is in one mean of a column. Whatever mean has a coefficient that is not zero
brings in all its k persons: (b).

A column that is kept, or sensitive, is as it was when the row was published, as the row is. With sensitive columns a
cohort has `distinct` values of each wherever it has k, and the method unites its groups until each has: since no class
ever changes, none ever has fewer.

Not promised: anything of a *row*. Its values in several columns together are hers alone, as the method itself promises
no k of records: who knows what is published of her in some columns finds the row, and sees in which night it came. How
many came that night is the size of the cohort, at least k. A row says nothing of whether its person is still there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from sqlmicro.database.columns import Column
from sqlmicro.database.content import content
from sqlmicro.database.templates import Name, Select, select
from sqlmicro.history import changes, remembered, seat_memory
from sqlmicro.history.contents import places
from sqlmicro.history.series import Series, Tonight, relation_of
from sqlmicro.history.union import KEY
from sqlmicro.pipeline import Run
from sqlmicro.work import Rows, Work

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.history.seats import Memory

LARGE = 20
"""So many groups make a cohort that need not wait for more persons: each spans a twentieth of a column."""
MANY = 0.2
"""The share of rows that are no longer as in the table, above which the report advises an epoch."""


@dataclass
class SeriesOfColumns(Series):
    """A series as a run continues it whose columns have classes of their own."""

    persons: Mapping[str, np.ndarray] | None = None
    """Those whose rows were read tonight, in the order of row_id."""
    rows: Name | None = None
    """Their rows (row, row_id)."""
    keeps_rows: bool = True
    """Whether all rows that were published before are published tonight, as they were."""

    def admitted(self, work: Work, group: Callable[[], object]) -> None:
        """Let the method of a step group the persons who come in tonight, and make the rows of the release."""
        import numpy as np

        work.warehouse.set_key(KEY, self.key)
        persons = work.warehouse.arrays(
            "history/persons.sql", relation=work.relation, stream=KEY, columns=["copy"], by=work.by, sensitive=[]
        )
        gaps = work.warehouse.arrays("history/gaps.sql", relation=work.relation, columns=work.columns)
        lacks = np.column_stack([gaps[column.staged] for column in work.columns])
        memory, comes = self._memory(persons["who"], persons["stratum"], lacks, self._sensitive(work))
        columns = _published(work)
        old = self.before.rows if self.before else 0
        new, texts = self._classes(work, group, columns, persons["row_id"][comes], old)
        total = old + int(comes.sum())
        self.rows = self._tonight(work, memory, persons)
        rows = self._rows(work, columns, (new, texts))
        work.outcome.rows = Rows(rows, complete=True)
        kinds = {column: new.kind for column, new in work.outcome.values.items()}
        work.replace_all(work.columns, rows, kinds)
        self.persons = persons
        waits = memory.here & (memory.seat < 0)
        wait = int((self.day - memory.since[waits]).max()) if waits.any() else 0
        others = self.compared.stay if self.compared else 0
        left = total - int((memory.here & (memory.seat >= 0)).sum()) - others
        report = self.report(int(waits.sum()), wait, left, work.outcome.account.groups)
        changed = {remembered.RECORDS: new, remembered.COLUMNS: texts}
        self.tonight = Tonight(memory, (), replace(report, came=int(comes.sum())), changed)

    def watch(self, run: Run) -> None:
        """Compare the rows of persons with those that were published of them, and with what was read tonight."""
        import numpy as np

        assert self.tonight is not None and self.persons is not None and self.rows is not None
        warehouse, persons, memory = run.warehouse, self.persons, self.tonight.memory
        warehouse.set_key(KEY, self.key)
        read = self.read(persons)
        shown = warehouse.arrays(
            "history/hashes_of_records.sql", stream=KEY, columns=list(run.roles.released),
            relation=select(
                "history/rows_read.sql", relation=run.table.current, records=warehouse.count(run.table.original)
            ),
        )  # fmt: skip
        has, at = places(shown["row_id"], persons["row_id"])
        content = self._values_read(run, persons["row_id"])
        told = {"who": read.who[has], "content": content[has], "published": shown["hashed"][at[has]]}
        own = warehouse.load(changes.arrow(told), "read_contents", _KEPT)
        kept: Any = (self.before and self.before.contents) or changes.nothing(remembered.CONTENTS)
        kept = kept if isinstance(kept, Select) else warehouse.load(kept, "kept_contents", _KEPT)
        found = warehouse.arrays("history/contents_of.sql", read=own, kept=kept)
        known = found["known"].astype(bool)
        differs = ~known | (found["published"] != found["published_before"])
        changed = np.zeros(len(persons["who"]), bool)
        stale = found["who"][known & (found["content"] != found["content_before"])]
        changed[np.isin(persons["who"], stale)] = True
        report, rows = self.tonight.report, warehouse.count(run.table.current)
        stale_rows = self._others_changed(run) + len(stale)
        report = replace(report, changed=stale_rows, advice=_advice(stale_rows + (report.empty or 0), rows))
        seats = changes.changed_seats(self.before, memory, replace(read, changed=changed))
        new = {name: found[name][differs] for name in ("who", "content", "published")}
        self.measured[_ROWS] = self._published_rows(run)
        self.tonight = replace(self.tonight, report=report, changed={
            **self.tonight.changed,
            remembered.SEATS: warehouse.load(changes.arrow(seats), "changed_seats", _KEPT),
            remembered.CONTENTS: warehouse.load(changes.arrow(new), "changed_contents", _KEPT),
        })  # fmt: skip

    def _values_read(self, run: Run, row_id: np.ndarray) -> np.ndarray:
        """Return hashes of what was read of some records: a token may know the row key only."""
        there = {name for name, _ in run.warehouse.describe(run.table.original)}
        was = run.warehouse.arrays(
            "history/hashes_of_records.sql", stream=KEY, relation=run.table.original,
            columns=[column for column in run.roles.released if column.staged in there],
        )  # fmt: skip
        hashed: np.ndarray = was["hashed"][places(was["row_id"], row_id)[1]]
        return hashed

    def _others_changed(self, run: Run) -> int:
        """Return how many persons whose rows were not read have other values than were published of them."""
        if self.compared is None or self.compared.untouched is None:
            return 0
        text = "SELECT count(*) FROM {{ r | ident }} WHERE changed"
        return int(run.warehouse.query("series", text, r=self.compared.untouched)[0][0])

    def _published_rows(self, run: Run) -> tuple[int, int]:
        """Return how many rows are published, and the sum of their hashes; note whether the earlier ones are there."""
        assert self.rows is not None
        names = [column.staged for column in run.roles.released]
        told = content(run.warehouse, run.table.current, names)
        old = self.before.rows if self.before else 0
        new = content(
            run.warehouse,
            run.warehouse.run("history/rows_added.sql", "rows_added", view=True, relation=run.table.current,
                              tonight=self.rows, first=old),
            names,
        )  # fmt: skip
        then = self.before.measured.get(_ROWS, [0, 0]) if self.before else [0, 0]
        self.keeps_rows = [told.records - new.records, told.hashes - new.hashes] == then
        return told.records, told.hashes

    def _sensitive(self, work: Work) -> list[np.ndarray]:
        """Return hashes of the values of every sensitive column, in the order of row_id."""
        found = []
        for column in work.demand.sensitive:
            told = work.warehouse.arrays(
                "history/persons.sql", relation=work.relation, stream=KEY, columns=["copy"], by=[], sensitive=[column]
            )
            found.append(told["sensitive"])
        return found

    def _memory(
        self, who: np.ndarray, strata: np.ndarray, lacks: np.ndarray, sensitive: Sequence[np.ndarray]
    ) -> tuple[Memory, np.ndarray]:
        """Return what is remembered of persons from tonight on, and which records (n,) come into the release."""
        import numpy as np

        old = self.before.memory if self.before else seat_memory.nothing(0)
        known, at = places(old.who, who)
        row = np.where(known, old.seat[at] if len(old.who) else -1, -1)
        was_here = known & (old.here[at] if len(old.who) else False)
        since = np.where(was_here, old.since[at] if len(old.who) else 0, self.day)
        waits = np.flatnonzero(row < 0)
        patience = self.rules.patience if self.before else 0
        due = (self.day - since[waits]) >= patience
        comes = np.zeros(len(who), bool)
        values = [one[waits] for one in sensitive]
        comes[waits] = cohort(strata[waits], lacks[waits], due, self.rules.k, values, self.rules.distinct)
        row[comes] = (self.before.rows if self.before else 0) + np.arange(comes.sum())
        people = seat_memory.carried(old, who, row, since, np.zeros(len(who), bool))
        memory: Memory = replace(seat_memory.nothing(0), day=self.day, **cast("Any", people))
        return memory, comes

    def _classes(
        self, work: Work, group: Callable[[], object], columns: list[Column], row_id: np.ndarray, first: int
    ) -> tuple[Name, Name]:
        """Return the classes of the rows that come (row, classes), and the values of these classes as texts."""
        import pyarrow as pa

        if not len(row_id):
            if self.before is None:
                group()  # it refuses so few
            empty = [changes.nothing(name) for name in (remembered.RECORDS, remembered.COLUMNS)]
            new, texts = (work.load(one, f"no_{place}", _KEPT) for place, one in enumerate(empty))
            return new, texts
        numbers = pa.table({"row_id": row_id, "row": pa.array(range(first, first + len(row_id)), pa.int32())})
        cohort = work.load(numbers, "cohort", "filled with the records that come into the release tonight")
        everyone, work.relation = (
            work.relation,
            work.run("history/cohort.sql", "comes", relation=work.relation, cohort=cohort),
        )
        group()
        made = dict.fromkeys(new.relation for new in work.outcome.values.values())
        aliases = {values: f"v{number}" for number, values in enumerate(made, 1)}
        where = {column.staged: (aliases[new.relation], new.column) for column, new in work.outcome.values.items()}
        rows = work.run(
            "history/rows_of_cohort.sql", "rows_of_cohort", relation=work.relation, cohort=cohort, by=work.by,
            columns=[(column, *where.get(column.staged, ("r", column.staged))) for column in columns],
            joined=[(alias, values) for values, alias in aliases.items()],
        )  # fmt: skip
        work.relation = everyone
        return (
            work.run("history/classes_of_columns.sql", "records", cohort=rows, columns=columns),
            work.run("history/values_of_columns.sql", "texts", cohort=rows, columns=columns),
        )

    def _tonight(self, work: Work, memory: Memory, persons: Mapping[str, np.ndarray]) -> Name:
        """Return the rows of the persons that were read tonight (row, row_id)."""
        import numpy as np
        import pyarrow as pa

        known, at = places(memory.who, persons["who"])
        own = memory.seat[at]
        sits = known & (own >= 0)
        numbers = pa.table({"row": own[sits].astype(np.int32), "row_id": persons["row_id"][sits]})
        return work.load(numbers, "tonight", _KEPT)

    def _rows(self, work: Work, columns: list[Column], opened: tuple[Name, Name]) -> Name:
        """Return the rows of the release: those of the persons who were read, and all that were published before."""
        new, texts = opened
        before = self.before
        return work.run(
            "history/rows_of_columns.sql", "rows", tonight=self.rows, opened=new, texts=texts, relation=work.relation,
            kept=relation_of(work, remembered.RECORDS, before and before.records),
            kept_texts=relation_of(work, remembered.COLUMNS, before and before.columns),
            read=work.warehouse.count(work.demand.original),
            columns=[(f"v{place}", place, c) for place, c in enumerate(columns, 1)],
        )  # fmt: skip


_ROWS = "rows"
"""Under which name it is remembered how many rows were published, and the sum of their hashes."""
_KEPT = "filled with what the series remembers"


def cohort(
    strata: np.ndarray, lacks: np.ndarray, due: np.ndarray, k: int, sensitive: Sequence[np.ndarray] = (),
    distinct: int = 1,
) -> np.ndarray:  # fmt: skip
    """Return which waiting persons (n,) come in together: the most of them that keep k in every column.

    Of a stratum none or k come who have a value in a column, and none or k who lack it; those k have `distinct` values
    in each sensitive column, so that one class of them all would do. They come when they make `LARGE` groups, or when
    one of them is `due`.

    >>> import numpy as np
    >>> lacks = np.array([[False], [False], [False], [True]])
    >>> cohort(np.zeros(4), lacks, np.ones(4, bool), 3).tolist()
    [True, True, True, False]
    """
    import numpy as np

    comes = np.ones(len(strata), bool)
    kinds = [np.unique(np.column_stack([strata, lacks[:, j]]), axis=0, return_inverse=True)[1].ravel()
             for j in range(lacks.shape[1])]  # fmt: skip
    while comes.any():
        few = np.zeros(len(strata), bool)
        for kind in kinds:
            many = int(kind.max()) + 1
            few |= np.bincount(kind[comes], minlength=many)[kind] < k
            for values in sensitive:
                different = np.unique(np.column_stack([kind[comes], values[comes]]), axis=0)[:, 0].astype(np.int64)
                few |= np.bincount(different, minlength=many)[kind] < distinct
        if not (few & comes).any():
            break
        comes &= ~few
    if not comes.any():
        return comes
    stratum = np.unique(strata, return_inverse=True)[1]
    enough = np.bincount(stratum[comes], minlength=int(stratum.max()) + 1) >= LARGE * k
    ready = enough | (np.bincount(stratum[comes & due], minlength=len(enough)) > 0)
    found: np.ndarray = comes & ready[stratum]
    return found


def _published(work: Work) -> list[Column]:
    """Return the columns that a row has a class in, in the types of staging."""
    types = dict(work.warehouse.describe(work.relation))
    strata = [column for column in work.by if isinstance(column, Column)]
    as_it_is = [*strata, *work.demand.of_seats]
    own = [replace(column, type=types[column.staged]) for column in as_it_is]
    return [*(replace(column, type="DOUBLE") for column in work.columns), *own]


def _advice(old: int, rows: int) -> str | None:
    if old <= MANY * rows:
        return None
    return f"{old:,} of {rows:,} rows are no longer as in the table: a new epoch (--epoch) would bring all up to date"
