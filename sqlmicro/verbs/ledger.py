"""The command `ledger`: which releases somebody may still have, and withdrawing one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from sqlmicro.database import attach, risk_tables
from sqlmicro.database.catalog import find_relation
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.mirror import mirror_of
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.history import ledger
from sqlmicro.history.ledger import Ledger
from sqlmicro.options.common import AttachOption, DbOption
from sqlmicro.options.params import Param
from sqlmicro.options.past import LedgerOption
from sqlmicro.publish import ledger_file
from sqlmicro.publish.recording import look_in, records_in, refuse_other
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


def _withdraw(warehouse: DuckDBWarehouse, releases: Name, release: int, reason: str) -> None:
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
