"""Sessions: a database that stays open, and every verb as a method of it."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlmicro import api
from sqlmicro.audits.registry import AuditReport
from sqlmicro.database import unfinished
from sqlmicro.database.attach import attach as attach_to
from sqlmicro.database.attach import parse
from sqlmicro.database.connection import Held, borrow, close
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import connect, open_warehouse
from sqlmicro.database.templates import ident, statement
from sqlmicro.database.warehouse import Database
from sqlmicro.erasure.purge import PurgeOptions, Purging
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.jobs.run import purge_file
from sqlmicro.jobs.steps import one_step
from sqlmicro.options.common import AttachOption, DbOption, MachineOptions
from sqlmicro.options.params import Parameter, carried, check_path, take
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.registry import find
from sqlmicro.session.frames import as_arrow
from sqlmicro.session.methods import Verbs, takes_records
from sqlmicro.session.release import Release
from sqlmicro.session.result import Audit, Result
from sqlmicro.system import scratch
from sqlmicro.system.printable import kind, quoted
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    import duckdb


def open(
    db: str | Path | duckdb.DuckDBPyConnection | None = None,
    *,
    attach: str | Sequence[str] = (),
    create: bool = False,
    read_only: bool = False,
    memory_limit: str | None = None,
    threads: int | None = None,
) -> Session:
    """Open a database for several steps; every method and every audit is a method of the returned session.

    Parameters
    ----------
    db : path, DuckDB connection or None
        A database file, which stays locked until the session is closed; None: a database in memory; or a connection
        that is open already. Only cursors of a connection are used, so that its settings, its transaction and its
        pending results stay as they are. A cursor does not see temporary tables, registered frames, uncommitted changes
        and `USE` of its connection: give those as a relation, such as `connection.table("t")`.
    attach : str or sequence of str
        Other databases, each as NAME=URL (see `database.attach`), whose tables are then NAME.schema.table until the
        session is closed. They are opened to read and write, so that releases can be published into them.
    create : bool
        Make the database file if there is none.
    read_only : bool
        Open the file, and what is attached, only to read: nothing can be published into it.
    memory_limit : str, optional
        Memory the database may use, such as "4GB"; a connection keeps its own setting.
    threads : int, optional
        Threads the database and the kernels may use; a connection keeps its own setting.

    Returns
    -------
    Session

    Raises
    ------
    InputError
        When there is no such file, it is not a database or is locked, or the connection is closed.
    ParameterError
        When `attach` has another form, a password in it, or a name that is taken.

    Notes
    -----
    The command line locks the configuration and forbids the database to reach other files (`enable_external_access`,
    `lock_configuration`) for the length of a run. A session does neither, because its database lives on. If they
    are set on a connection, they hold: without external access, files can neither be read nor published to. A
    connection spills to its own `temp_directory`; a session of ours to a private folder.

    While a release is open, its records and the originals they were made from are in a database in memory that is
    attached beside yours (`staging`): whoever has a cursor of the same connection can read it. `Release.close` and
    `Session.close` detach it.

    Examples
    --------
    >>> import sqlmicro as sm
    >>> with sm.open() as w:
    ...     r = w.mdav("examples/persons.csv", columns=["age", "net \\"income\\""], k=5, rest="drop", seed="doc")
    ...     r.report["k"] >= 5, r.audit(k=5).passed, r.arrow().num_rows
    (True, True, 1000)
    """
    return Session(db, attach=attach, create=create, read_only=read_only, memory_limit=memory_limit, threads=threads)


@dataclass(frozen=True, kw_only=True)
class _OpenOptions(MachineOptions, AttachOption):
    """What `open` checks of what it is given."""


class Session(Verbs):
    """An open database with every verb as a method; made by `sqlmicro.open`.

    A method anonymizes a table, a file, a relation or a frame, and returns a `Release` that is not published yet; the
    other verbs (`audit`, `profile`, `attack`, …) return a `Result`.
    """

    def __init__(
        self,
        db: str | Path | duckdb.DuckDBPyConnection | None = None,
        *,
        attach: str | Sequence[str] = (),
        create: bool = False,
        read_only: bool = False,
        memory_limit: str | None = None,
        threads: int | None = None,
    ) -> None:
        others = tuple(attach) if isinstance(attach, list | tuple) else (attach,)
        options = take(_OpenOptions, {"memory_limit": memory_limit, "threads": threads, "attach": others}, "open")
        self._releases: weakref.WeakSet[Release] = weakref.WeakSet()
        self._stack = ExitStack()
        self._close = weakref.finalize(self, self._stack.close)
        self._machine, self._read_only, self._others = options, read_only, options.attach
        if db is None or isinstance(db, str | Path):
            path = None if db is None else str(db)
            check_path(path or "", "open")
            if path is not None and not create and not Path(path).is_file():
                raise InputError(
                    "open", f"there must be a database file {quoted(path)}", "none", "Give create=True to make one"
                )
            self.held = self._hold(path)
            return
        found = borrow(db)
        if found is None:
            raise ParameterError("open", "takes a path, a DuckDB connection or nothing", kind(db))
        self.held = self._attached(found)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection: our own, or the one that was given."""
        return self.held.connection

    def close(self) -> None:
        """Close every release that is left, and the database if we opened it."""
        for release in list(self._releases):
            release.close()
        self._close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sqlmicro session: {self.held}{'' if self._close.alive else ', closed'}>"

    def check_purge(self, release: Release, *, no_purge: bool) -> bool:
        """Return `no_purge` for a release in place; a file that cannot be rewritten is refused.

        Raises
        ------
        InputError
            When the connection is not ours or in a transaction, or other releases wait in it.
        """
        if no_purge or not self.held.path:
            return True  # a database in memory leaves nothing behind
        if not self.held.ours:
            raise InputError(
                "publish, in_place",
                "the file must be rewritten, so that the replaced values are gone, which needs it for itself",
                "a connection that stays open",
                "Give no_purge=True, close the connection, and call sqlmicro.purge(db=...)",
            )
        if self.held.in_transaction():
            raise InputError(
                "publish, in_place", "the connection must have no open transaction, since it is closed for the purge",
                "one that is not ended", "Commit it or roll it back, then make the release again",
            )  # fmt: skip
        others = [other for other in self._releases if other is not release and not other.closed]
        if others:
            raise InputError(
                "publish, in_place", "no other release may be open", f"{len(others)} open", "Close them first"
            )
        return False

    def purge(self, release: Release, report: ReleaseReport, *, wanted: bool) -> None:
        """Rewrite the file after a release in place; our connection is closed for as long, and the release for good."""

        if not self.held.path:
            report.purged(Purging(False, "a database in memory", False), ())
            return
        if wanted:
            release.close()
            self._stack.close()
        try:
            options = carried(PurgeOptions, self._machine, db=self.held.path)
            purge_file(report, options, Progress(enabled=False), wanted=wanted)
        finally:
            if wanted:
                self.held = self._hold(self.held.path)

    def _alive(self) -> None:
        if not self._close.alive:
            raise InputError("session", "must be open", "one that was closed", "Open it again")

    def _hold(self, path: str | None) -> Held:
        temp = self._stack.enter_context(scratch.spill())
        connection = connect(path, self._read_only and path is not None, temp, self._machine)
        self._stack.callback(close, connection)
        held = Held(connection, str(Path(path).absolute()) if path else "", ours=True, read_only=self._read_only)
        with open_warehouse(held) as warehouse:
            for sentence in unfinished.not_purged_yet(warehouse) if warehouse.has_file else ():
                warnings.warn(sentence, stacklevel=2)
        return self._attached(held)

    def _attached(self, held: Held) -> Held:
        """Attach the other databases to a connection until the session is closed; none is left where one fails."""
        if not self._others:
            return held
        writable = () if self._read_only else [parse(text).name for text in self._others]
        try:
            with open_warehouse(held) as warehouse:
                attach_to(warehouse, self._others, writable=writable)
                names, mirrors = tuple(warehouse.attached), dict(warehouse.mirrors)
                warehouse.attached.clear()  # or they would be detached here
                warehouse.mirrors.clear()  # or closed
        except BaseException:
            self._stack.close()
            raise
        self._stack.callback(_detach, held, names)
        for mirror in mirrors.values():
            self._stack.callback(mirror.close)
        return replace(held, attached=names, mirrors=mirrors)

    def _anonymized(self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, object]) -> Release:
        """Run a method, and return its release."""
        self._alive()
        stack = ExitStack()
        try:
            warehouse = stack.enter_context(open_warehouse(self.held))
            options = self._taken(name, declared, given, warehouse)
            job = one_step(find(name), options, Progress(enabled=False))
            source = find_source(warehouse, options.table, options)
            frame = given["table"]
            if not isinstance(frame, str):
                label = kind(frame)
                source = replace(source, label=label, is_table=False, is_frame=True)
                job = replace(job, options=replace(job.options, table=label))
            release = Release(self, job, warehouse, source, stack)
        except BaseException:
            stack.close()
            raise
        self._releases.add(release)
        return release

    def _found(self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, object]) -> Result:
        """Run a verb that is no method, and return what it found."""
        self._alive()
        with open_warehouse(self.held) as warehouse:
            options = self._taken(name, declared, given, warehouse)
            report = api.verbs()[name].action(options, Progress(enabled=False))
        own = vars(report)
        told = {parameter: kind(value) for parameter, value in given.items()
                if isinstance(own.get(parameter), str) and not isinstance(value, str)}  # fmt: skip
        report = replace(report, **told)
        return Audit(name, report) if isinstance(report, AuditReport) else Result(name, report)

    def _taken(
        self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, object], warehouse: Database
    ) -> Any:
        """Return the options of a verb over this database; frames are loaded into the staging one of a warehouse."""
        values: dict[str, object] = {}
        for parameter in declared:
            if parameter.name not in given:
                continue
            value, where = given[parameter.name], f"{name}, {parameter.name}"
            if takes_records(parameter):
                listed = value if parameter.many and isinstance(value, list | tuple) else [value]
                texts = [
                    item
                    if item is None or isinstance(item, str)
                    else _load(warehouse, item, f"{where}_{number}", where)
                    for number, item in enumerate(listed)
                ]
                value = tuple(texts) if parameter.many else texts[0]
            elif parameter.many and isinstance(value, str):
                value = (value,)
            values[parameter.name] = tuple(value) if isinstance(value, list) else value
        options = api.verbs()[name].take(values)
        return replace(options, opened=self.held) if isinstance(options, DbOption) else options


def _detach(held: Held, names: tuple[str, ...]) -> None:
    for name in names:
        with contextlib.suppress(Exception), held.cursor() as cursor:  # its owner may have closed it, or be using them
            cursor.execute(statement("DETACH DATABASE IF EXISTS {{ name | ident }}", name=name))


def _load(warehouse: Database, records: object, into: str, where: str) -> str:
    """Load a frame into staging, and return the name it has there, quoted."""
    name = into.replace(", ", "_").replace("-", "_")
    loaded = warehouse.load(as_arrow(records, where), name, f"{kind(records)}, loaded")
    return str(ident(loaded._replace(schema="main")))
