"""Where a release goes: what every place for it can do. What cannot be is refused before any work is done."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from sqlmicro.database.templates import Name, Params, Sql
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.system.moves import FOLDER, OTHER
from sqlmicro.system.printable import quoted
from sqlmicro.system.stores import is_url

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.source import Source
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.report import ReleaseReport

SCHEMA = "sqlmicro"
Statement = tuple[str, Params]
"""The constant text of a statement, and the names and literals in it."""


class Target(Protocol):
    """A place for a release: a new file, or a table of a database."""

    @property
    def kind(self) -> Literal["file", "table", "in place"]:
        """What reports call it."""

    @property
    def label(self) -> str:
        """The place as its owner calls it."""

    @property
    def name(self) -> Name | None:
        """The table, where it is one."""

    @property
    def path(self) -> Path | None:
        """The file, where it is one; of an object the file that it is made as."""

    @property
    def place(self) -> str | None:
        """The file as the ledger knows it, where it is one: an absolute path, or a URL."""

    @property
    def keeps(self) -> bool:
        """Whether the candidates of SAFE are published beside it."""

    @property
    def has_enums(self) -> bool:
        """Whether columns of ENUM types are published in such types, with the labels that occur."""

    @property
    def purge(self) -> bool:
        """Whether what the release replaces is to be purged."""

    @property
    def widen(self) -> bool:
        """Whether columns of whole numbers may become DOUBLE."""

    def of_candidate(self, number: int) -> Target:
        """Return where a candidate goes that is kept."""

    def check(self, run: Run, worked_on: Collection[Column], *, dry: bool) -> None:
        """Refuse what cannot take the release of a run that will work on some columns, before any work is done.

        Raises
        ------
        InputError
            With the reason and the way out. In a dry run an existing target is only noted.
        """

    def check_together(self, targets: Sequence[Target]) -> None:
        """Refuse targets of one transaction that could not be taken back together.

        Raises
        ------
        InputError
            With the reason.
        """

    def check_types(self, run: Run) -> None:
        """Refuse a release whose columns the place cannot have, after the work is done.

        Raises
        ------
        InputError
            With the columns.
        """

    def statements(self, run: Run, select: Sql) -> list[Statement]:
        """Return the statements that make the release visible."""

    def record_table(self, warehouse: Database, table: str) -> Name:
        """Return the table of records beside the release: one transaction writes to one database."""

    def record_definition(self, text: str) -> str:
        """Return the definition of a table of records in the types and constraints its database has."""

    def after_publishing(self, report: ReleaseReport) -> None:
        """Do, and report, what is left when the release is published and its database still open."""


class TableTarget(Target, Protocol):
    """A place in a database: releases of one transaction are made, audited and recorded in it, or taken back."""

    @property
    def warehouse(self) -> Database:
        """What the database is reached through."""

    @property
    def name(self) -> Name:
        """The table."""

    @property
    def published(self) -> Name:
        """Where the release is read back: the table, or a view of the rows of it that are anonymized."""

    def taken_back(self, targets: Sequence[Target]) -> AbstractContextManager[None]:
        """Take back what is published in the block if the block fails, where the database does not do so by itself."""

    def locking(self) -> Callable[[], None]:
        """Return what locks the table as the first thing in the transaction; the look-ups for it are made now."""

    def hold(self, run: Run) -> None:
        """Make sure, once all tables are locked, that the table is as the run has read it.

        Raises
        ------
        InputError
            When it has changed since, or has got a trigger. Nothing was written.
        """

    def write(self, run: Run, select: Sql) -> None:
        """Run the statements that make a release visible."""

    def look_again(self, run: Run) -> None:
        """Make sure, as the last thing in the transaction, that nobody else has changed the table meanwhile.

        Raises
        ------
        InputError
            When somebody has. Everything is rolled back.
        """


def refuse_existing(run: Run, target: Target, option: str, exists: str, *, overwrite: bool, dry: bool) -> None:
    """Refuse a target whose place is taken; in a dry run that is only noted.

    Raises
    ------
    InputError
        With the way out.
    """
    stays = exists in ("a view", FOLDER, OTHER)
    if not exists or (overwrite and not stays):
        return
    way = "Choose another name" + ("" if stays else ", or add --overwrite")
    if not dry:
        raise InputError(option, f"{target.label!r} must not exist yet", exists, way)
    run.log.notes.append(f"{target.label!r} exists already: publishing will need another name or --overwrite")


def refuse_source(option: str, label: str, place: str | Path, source: Source, *, replaces: bool = True) -> None:
    """Refuse a file or object in place of which a source, or a part of it, would be lost.

    Raises
    ------
    InputError
        Also where a view reads what its text does not tell, and something is to be replaced.
    """
    must, do = "a release does not replace its own source this way", "Choose another name"
    if source.loses(place):
        raise InputError(option, must, quoted(label), do)
    if source.reads_more and replaces and not (isinstance(place, str) and is_url(place)) and os.path.lexists(place):
        got = f"a view, {source.label!r}, whose text does not tell which files it reads"
        raise InputError(option, must, got, f"{do}, or make a table of the view")


def own_records(warehouse: Database, table: str) -> Name:
    """Return a table of records of the own database."""
    return Name(warehouse.catalog, SCHEMA, table)
