"""Options of `audit`: the other releases that a table is measured with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.common import SourceOptions
from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class WithOptions:
    """Which other releases of the same people somebody may have."""

    with_: Annotated[
        tuple[str, ...],
        Param(
            "Measure the table together with this release of the same people: its number in the ledger, its table or "
            "file; repeatable. Persons are known by the ledger, or with --match by columns that all have.",
            metavar="RELEASE",
        ),
    ] = ()
    min_union_k: Annotated[
        int | None, Param("Gate: so many persons must share their classes in the table and all of --with.", min=2)
    ] = None
    ledger: Annotated[
        str | None,
        Param("Database file of the ledger, where it is not in the database of the table.", metavar="FILE",
              env="SQLMICRO_LEDGER"),
    ] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AuditedWith(SourceOptions, WithOptions):
    """What is audited, and with which releases."""
