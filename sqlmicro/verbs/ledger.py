"""The command `ledger`: which releases somebody may still have, and withdrawing one.

The command `series`: which series there are, and forgetting what one remembers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Literal

from sqlmicro.database import attach, risk_tables
from sqlmicro.database.catalog import find_relation
from sqlmicro.database.mirror import mirror_of
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.history import ledger, remembered, written
from sqlmicro.history.ledger import Ledger
from sqlmicro.history.remembered import Tables
from sqlmicro.history.series_list import SeriesList, series_in
from sqlmicro.history.union import KEY
from sqlmicro.options.common import AttachOption, DbOption, LedgerOption
from sqlmicro.options.params import Param
from sqlmicro.publish import ledger_file
from sqlmicro.publish.recording import look_in, records_in, refuse_other
from sqlmicro.system import secrets
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class LedgerOptions(DbOption, LedgerOption, AttachOption):
    """What `sqlmicro ledger` takes."""

    action: Annotated[
        Literal["list", "withdraw"], Param("List the releases, or say that nobody has one any more.", positional=True)
    ] = "list"
    release: Annotated[int | None, Param("The number of the release to withdraw.", positional=True, min=1)] = None
    reason: Annotated[str | None, Param("With withdraw: why nobody can have it. It is kept.", metavar="TEXT")] = None


def ledger_values(options: LedgerOptions, progress: Progress) -> Ledger:
    """List the releases that a database has recorded and which of them somebody may still have; withdraw one.

    A table is out as long as it is there, a file for ever. What is out, every later release of the same people is
    measured with. Who withdraws a release says that nobody has a copy of it: nothing can check that.
    Take `ledger` for what is out; take `series` for what is remembered of the people of a nightly series.
    """
    where = ledger_file.recorded(options.database, options.ledger, "ledger", options.attach)
    withdraws = options.action == "withdraw"
    if withdraws and (options.release is None or not (options.reason or "").strip()):
        must = "takes the number of a release and the reason why nobody has it"
        raise ParameterError("ledger withdraw", must, "less", 'sqlmicro ledger withdraw 3 --reason "…"')
    if not withdraws and (options.release is not None or options.reason):
        raise ParameterError("ledger", "lists all releases", "a release or a reason", "Did you mean: ledger withdraw")
    with open_warehouse(where, read_only=not withdraws, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach, writable=[*map(attach.called, options.attach)] if withdraws else [])
        look_in(warehouse)
        warehouse.seal()
        releases = records_in(warehouse, "releases")
        refuse_other(warehouse, releases)
        if withdraws:
            _withdraw(warehouse, releases, int(options.release or 0), str(options.reason))
        private = [f"{one.name.schema}.{one.name.table}" for one in risk_tables.known(warehouse)]
        return Ledger(warehouse.db or releases.catalog, ledger.entries(warehouse, releases), private)


def _withdraw(warehouse: Database, releases: Name, release: int, reason: str) -> None:
    known = {one.release: one for one in ledger.entries(warehouse, releases)}
    if release not in known:
        got = f"{release}; there are {', '.join(map(str, known)) or 'none'}"
        raise InputError("ledger withdraw", "names a release of this ledger", got, "List them: sqlmicro ledger")
    if known[release].state == "withdrawn":
        raise InputError("ledger withdraw", "withdraws a release once", f"{release}, which is withdrawn")
    with warehouse.transaction():
        if releases.catalog.lower() in warehouse.mirrors:
            mirror_of(warehouse, releases).begin(warehouse)
            find_relation(warehouse, releases)
        ledger.withdraw(warehouse, releases, release, reason)


@dataclass(frozen=True, kw_only=True)
class SeriesVerbOptions(DbOption, LedgerOption, AttachOption):
    """What `sqlmicro series` takes."""

    action: Annotated[
        Literal["list", "forget"], Param("List the series, or erase what one remembers.", positional=True)
    ] = "list"
    name: Annotated[str | None, Param("The series to forget.", positional=True)] = None
    row_key_value: Annotated[
        tuple[str, ...],
        Param(
            "With forget: erase only what is remembered of the person with this row key, who has left; one value for "
            "each of its columns, in their order.",
            metavar="VALUE",
            whole=True,
            private=True,
        ),
    ] = ()


def series_values(options: SeriesVerbOptions, progress: Progress) -> SeriesList:
    """List the series that a database remembers; erase what one of them remembers.

    What a series remembers says who is in which class, by keyed hashes of the row key. It is erased for good by
    `forget`: the next night then needs --epoch. With --row-key-value it is erased of one person who has left, and the
    series goes on. The releases and their entries in the ledger stay. Take `series` to forget a nightly series, or
    somebody in it; take `ledger` to see or withdraw releases.
    """
    where = ledger_file.recorded(options.database, options.ledger, "series", options.attach)
    forgets = options.action == "forget"
    if forgets != (options.name is not None):
        must, got = ("takes the name of a series", "none") if forgets else ("lists all series", "a name")
        raise ParameterError(f"series {options.action}", must, got, "Did you mean: sqlmicro series forget NAME")
    if options.row_key_value and not forgets:
        raise ParameterError("series, row_key_value", "goes with forget", "no forget")
    with open_warehouse(where, read_only=not forgets, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach, writable=[*map(attach.called, options.attach)] if forgets else [])
        look_in(warehouse)
        warehouse.seal()

        def table(name: str) -> Name:
            return records_in(warehouse, name)

        if options.name is not None:
            there = remembered.names(warehouse, table)
            if options.name not in there:
                got = f"another; there are {', '.join(there) or 'none'}"
                raise InputError("series forget", "names a series that is remembered", got)
            who = _person(warehouse, table, options) if options.row_key_value else None
            with warehouse.transaction():
                if who is None:
                    written.forget(warehouse, table, options.name)
                else:
                    written.erase(warehouse, table, options.name, who)
        return SeriesList(warehouse.db or table("releases").catalog, series_in(warehouse, table))


_RECORD = """SELECT hash({% for number in numbers %}CAST(${{ number }} AS VARCHAR)
  {% if not loop.last %}, {% endif %}{% endfor %})"""
"""The hash of a row key, as sql/load/typed.sql makes it."""


def _person(warehouse: Database, table: Tables, options: SeriesVerbOptions) -> int:
    """Return the hash of the person with a row key."""
    import numpy as np
    import pyarrow as pa

    before = remembered.load(warehouse, table, str(options.name))
    settings = json.loads(before.night.settings) if before else {}
    columns, person = settings.get("row_key", []), settings.get("person", [])
    values = options.row_key_value
    if len(values) != len(columns):
        must = f"is one value for each column of the row key: {', '.join(columns) or 'this series has none'}"
        raise ParameterError("series forget, row_key_value", must, str(len(values)))
    key = secrets.ledger_key(ledger.by_person(person) if person else ledger.by_row_key(columns))
    if key is None:
        must = "needs the secret that persons were hashed with"
        raise InputError("series forget", must, "none that lasts", f"Set {secrets.LASTING_VARIABLE}")
    warehouse.set_key(KEY, key)
    ((record,),) = warehouse.query("series", _RECORD, values, numbers=list(range(1, len(values) + 1)))
    asked = pa.table({"row_id": [0], "record": np.array([record], np.uint64)})
    relation = warehouse.load(asked, "asked", "filled with the row key that was asked for")
    found = warehouse.arrays(
        "history/persons.sql", relation=relation, stream=KEY, columns=["copy"], by=[], sensitive=[]
    )
    return int(found["who"][0])
