"""Where a series is remembered, and how it goes on: a night is stored with the entry of its release, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, TypedDict

from sqlmicro.audits.registry import Check
from sqlmicro.database.catalog import kind_of
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.content import by_kind
from sqlmicro.database.templates import Name, Params, Select, select
from sqlmicro.database.warehouse import Database, database_of
from sqlmicro.errors import AuditFailed, InputError
from sqlmicro.history import ledger, remembered, written
from sqlmicro.history.columns import SeriesOfColumns
from sqlmicro.history.files import SeriesOfFiles
from sqlmicro.history.ledger import Entry
from sqlmicro.history.masks import SeriesOfMasks
from sqlmicro.history.remembered import Night, Remembered
from sqlmicro.history.retention import Retention
from sqlmicro.history.series import Series
from sqlmicro.history.union import Staged
from sqlmicro.publish.in_place import RowsInPlace, left_in
from sqlmicro.publish.report import OfJob
from sqlmicro.publish.targets import SCHEMA, Target

if TYPE_CHECKING:
    from sqlmicro.publish.release import Release


@dataclass
class Continued:
    """A night of a series where its ledger is: what it changes there, and the rows of every published combination."""

    changed: Mapping[str, Name | Select]
    rows: Name | Select | None
    """None where their number promises nothing."""
    steps: Name | Select | None = None
    """Of those combinations that have other rows than in the night before, once these were compared."""


@dataclass(frozen=True)
class Book:
    """Where the ledger of a release is, and its classes there; by default beside the release."""

    warehouse: Database
    target: Target
    told: Staged | None
    """None where no k of records was promised."""
    place: str
    """Where the release goes."""
    night: Continued | None = None
    """What a series changes."""

    def table(self, name: str) -> Name:
        """Return one of its tables."""
        return self.target.record_table(self.warehouse, name)


ROWS = "series-rows"
"""The check of the fewest rows by which a published combination differs between two nights."""
_MOVED = "series-moved"


class _Own(TypedDict):
    """What rows of an epoch are found by."""

    series: str
    first: int


@dataclass(frozen=True)
class Found:
    """A series where it is remembered: its newest entry in the ledger there, its last night, and all it remembers."""

    entry: Entry | None = None
    night: Night | None = None
    remembered: Remembered | None = None
    """Loaded only where the series goes on."""
    entries: Sequence[Entry] = ()
    """All its entries there."""

    @property
    def epoch(self) -> int:
        """The last epoch, 0 before the first one."""
        return max(self.entry.epoch or 0 if self.entry else 0, self.night.epoch if self.night else 0)


def found(warehouse: Database, target: Target, name: str, *, anew: bool, beside: bool = True) -> Found:
    """Return a series as it is remembered beside a target; one that begins `anew` needs little of it.

    Where it is not in the database of the run, and so not `beside` it, all it remembers is read. Another database than
    DuckDB's has the entries of its nights alone.
    """

    def table(kept: str) -> Name:
        return target.record_table(warehouse, kept)

    entries = [one for one in ledger.entries(warehouse, table("releases")) if one.series == name]
    last = max(entries, key=lambda one: one.release, default=None)
    if not remembers(warehouse, target):
        return Found(last, entries=entries)
    _refuse_other_columns(warehouse, table)
    night = remembered.last(warehouse, table, name)
    loaded = None if anew else remembered.load(warehouse, table, name, beside=beside)
    return Found(last, night, loaded, entries)


def remembers(warehouse: Database, target: Target) -> bool:
    """Tell whether the database of a target can keep what a series remembers: one of DuckDB can."""
    return kind_of(warehouse, warehouse.full(target.record_table(warehouse, remembered.NIGHTS)).catalog) == "duckdb"


def _refuse_other_columns(warehouse: Database, table: Callable[[str], Name]) -> None:
    """Refuse tables that somebody has added columns to, or taken some from.

    Raises
    ------
    InputError
        With the table.
    """
    own = {table(name).table: {"series", "release", *kept.columns} for name, kept in remembered.KEPT.items()}
    place = warehouse.full(table(remembered.NIGHTS))
    own[place.table] = {"series", *(one.name for one in fields(Night))}
    rows = warehouse.query("series", _COLUMNS, catalog=place.catalog, schema=place.schema, tables=list(own))
    for name, columns in rows:
        if set(columns) != own[name]:
            must = f"the tables of a series have the columns they were made with: {', '.join(sorted(own[name]))}"
            do = "Remove what was added, or restore a backup of the whole database"
            raise InputError("--series", must, f"others in {name}", do)


_COLUMNS = """SELECT table_name, list(column_name) FROM duckdb_columns()
WHERE database_name = {{ catalog | lit }} AND schema_name = {{ schema | lit }}
  AND list_contains({{ tables | lit }}, table_name)
GROUP BY table_name"""


def beside(release: Release) -> Continued | None:
    """Return the night of a release that is remembered beside it."""
    if release.series is None or release.series.tonight is None:
        return None
    if isinstance(release.series, Retention):
        target = release.outputs[-1].target
        assert isinstance(target, RowsInPlace)
        return Continued(release.series.as_written(target.warehouse, target.name), None)
    columns = _columns(release)
    changed: dict[str, Name | Select] = {**release.series.tonight.changed}
    params: Params = {"published": release.audits[None].relation, "columns": columns, "kinds": by_kind(columns)}
    if isinstance(release.series, SeriesOfFiles):
        changed[remembered.COMBINATIONS] = select(
            "history/combinations_shown.sql", known=release.series.known, **params
        )
    if isinstance(release.series, SeriesOfMasks):
        return Continued(changed, None)
    by_column = isinstance(release.series, SeriesOfColumns)
    rows = _of_values(release, columns) if by_column else select("history/rows_of_classes.sql", **params)
    warehouse = database_of(release.run.warehouse)
    return Continued(changed, _once(warehouse, rows))


def _once(warehouse: Database, rows: Select) -> Name:
    """Return rows of combinations, counted once for the audits and for what is remembered of them."""
    import pyarrow as pa

    return warehouse.lent(pa.table(warehouse.arrays(rows.template, **rows.params)))


def _of_values(release: Release, columns: Sequence[Column]) -> Select:
    """Return how many rows every value of a column has that was published, within its stratum."""
    strata = {name for step in release.run.log.steps for name in step.by}
    by = [column for column in columns if column.name in strata]
    parts = [
        {"number": number, "columns": [*by, column], "kinds": by_kind([*by, column])}
        for number, column in enumerate((column for column in columns if column not in by), 1)
    ]
    return select("history/rows_of_values.sql", published=release.audits[None].relation, parts=parts)


def _columns(release: Release) -> list[Column]:
    """Return the columns that a night promises something of and an attacker may know, as they were published.

    What is kept as it is belongs to no promise; the types are those of the release.
    """
    run, written = release.run, release.audits[None]
    held = {name for step in run.log.steps for name in (*step.columns, *step.by)}
    classes = type(release.series) in (Series, SeriesOfColumns)  # of no other kind anything is kept as it is
    staged = {column.name: column.staged for column in run.known if column.name in held or not classes}
    records = release.outputs[-1].records
    assert records is not None
    types = dict(run.warehouse.describe(records))
    return [
        replace(one, type=types[staged[one.name]], staged=staged[one.name])
        for one in written.columns if one.name in staged
    ]  # fmt: skip


def audit(book: Book, release: Release) -> None:
    """Hold a night to what its series promises, measured on what was written and on what is to be remembered.

    Raises
    ------
    AuditFailed
        When the series would not keep it. Nothing is published.
    """
    series, continued = release.series, book.night
    if series is None or series.tonight is None or continued is None:
        return
    if series.before is None:
        _make_tables(book)
    _refuse_changed(book, series)
    first = series.before.night.first if series.before else _NEVER
    k, own = series.rules.k, _Own(series=series.name, first=first)
    checks = []
    if isinstance(series, SeriesOfColumns | SeriesOfMasks):
        checks = _of_rows(book, series, own, len(_columns(release)))
    elif remembered.SEATS in continued.changed:
        checks = _of_seats(book, series, own)
    if isinstance(series, Retention):
        checks = [
            *(one for one in checks if one.check != _MOVED),
            *_of_rows_in_place(series, release.outputs[-1].target),
        ]
    continued.steps = continued.rows
    if series.before and continued.rows is not None:
        kept = book.table(remembered.ROWS)
        continued.steps = _once(
            book.warehouse, select("history/changed_rows.sql", tonight=continued.rows, kept=kept, **own)
        )
        ((smallest, _),) = book.warehouse.rows("history/row_steps.sql", changed=continued.steps, kept=kept, k=k, **own)
        checks.append(Check(ROWS, [], smallest, k, True, smallest is None or smallest >= k))
        if isinstance(series, SeriesOfFiles):
            ((least,),) = book.warehouse.rows("history/total_steps.sql", tonight=continued.rows, kept=kept, **own)
            checks.append(Check("series-records", [], least, k, True, least is None or least >= k))
    release.audits[None].checks.extend(checks)
    if (unit := (roles := release.run.roles).of_night) and not isinstance(series, SeriesOfMasks):
        counted = "households" if roles.household else "persons"
        told = f"k counts rows; every class opened with rows of {k} {counted} ({', '.join(names_of(unit))})"
        release.run.log.notes.append(OfJob(told))
    failed = [check.told for check in checks if check.passed is False]
    if failed:
        raise AuditFailed(
            f"series {series.name}", "a night must keep what its series promises", "; ".join(failed),
            "Nothing was published, and the series remembers its last night. Begin a new epoch with --epoch",
        )  # fmt: skip


def _of_rows_in_place(series: Retention, target: Target) -> list[Check]:
    """Return what the rows that came of age promise: k at once, nobody moved, and nothing left where none is to be."""
    assert isinstance(target, RowsInPlace)
    (fewest, moved), k, left = series.came(), series.rules.k, left_in(target)
    return [
        Check(ROWS, [], fewest, k, True, fewest is None or fewest >= k),
        Check(_MOVED, [], moved, 0, False, moved == 0),
        Check("series-emptied", [], left, 0, False, left == 0),
    ]


def _of_rows(book: Book, series: SeriesOfColumns | SeriesOfMasks, own: _Own, columns: int) -> list[Check]:
    """Return what the rows of tonight promise: that they stay, and that the classes of every column have k founders."""
    assert book.night is not None
    told = book.night.changed
    ((others, alike),) = book.warehouse.rows(
        "history/kept_rows.sql", changed=told[remembered.CONTENTS], kept=book.table(remembered.CONTENTS), **own
    )
    if isinstance(series, SeriesOfMasks):
        return [Check("series-kept", [], alike, 0, False, alike == 0)]
    ((fewest,),) = book.warehouse.rows("history/column_founders.sql", records=told[remembered.RECORDS], columns=columns)
    k = series.rules.k
    others += not series.keeps_rows
    return [
        Check("series-kept", [], others, 0, False, others == 0),
        Check("series-founders", [], fewest, k, True, fewest is None or fewest >= k),
    ]


def _make_tables(book: Book) -> None:
    nights = book.table(remembered.NIGHTS)
    if nights.schema == SCHEMA:
        name = Name("", nights.catalog, SCHEMA)
        book.warehouse.query("series", "CREATE SCHEMA IF NOT EXISTS {{ schema | ident }}", schema=name)
    written.make(book.warehouse, book.table, book.target.record_definition)


def _of_seats(book: Book, series: Series, own: _Own) -> list[Check]:
    """Return what the classes opened tonight promise, measured on what is to be remembered."""
    assert book.night is not None
    ((fewest, most, moved),) = book.warehouse.rows(
        "history/seat_changes.sql",
        changed=book.night.changed[remembered.SEATS],
        kept=book.table(remembered.SEATS),
        **own,
    )
    k, moves, again = series.rules.k, series.rules.moves, series.rules.repeated
    return [
        Check("series-founders", [], fewest, k, True, fewest is None or fewest >= k),
        Check("series-founded-before", [], most, again, False, most is None or most <= again),
        Check(_MOVED, [], moved, None if moves else 0, False, moves or moved == 0),
    ]


_NEVER = 2**62
"""A release that nothing remembered is of: the first night of an epoch has none before it."""


def _refuse_changed(book: Book, series: Series) -> None:
    """Refuse a series that another run has continued since this one has read it."""
    last = remembered.last(book.warehouse, book.table, series.name)
    expected = series.before.night if series.before else None
    if series.before is None and last is not None and last.epoch < series.epoch:
        expected = last
    # A person may have been erased from what is remembered of the same night: then its digest is another one.
    if (last and (last.release, last.digest)) != (expected and (expected.release, expected.digest)):
        raise InputError(
            f"series {series.name}", "one run at a time continues a series", "another one that was faster",
            "Nothing was published. Run it again",
        )  # fmt: skip


def store(book: Book, release: Release) -> None:
    """Remember a night, in the open transaction that enters its release."""
    series, continued = release.series, book.night
    if series is None or continued is None:
        return
    assert release.report.release is not None
    night = series.night(release.report.release, release.target.label)
    written.store(book.warehouse, book.table, series.name, night, continued.changed, continued.steps)
