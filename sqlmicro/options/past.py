"""What a release must keep together with earlier ones of the same people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class PastOptions:
    """What becomes of a release that tells more together with others than alone, and where the ledger of it is."""

    ledger: Annotated[
        str | None,
        Param(
            "Database file of the ledger, where it is not in the database of the release: for files, and for several "
            "databases. Default for files without --db: a file of the user, beside the secret.",
            metavar="FILE",
            env="SQLMICRO_LEDGER",
        ),
    ] = None
    alone_because: Annotated[
        str | None,
        Param(
            "Publish although the release does not keep its k together with others of the same people; the reason is "
            "recorded.",
            metavar="TEXT",
        ),
    ] = None
    min_union_k: Annotated[
        int | None,
        Param("So many persons must share their classes in this release and in the one that it replaces.", min=2),
    ] = None


ONLY_ITS_OWN = PastOptions()
"""What is out must share k with a release; what it replaces need not."""


@dataclass(frozen=True, kw_only=True)
class LedgerOption:
    """Where releases are recorded that no database records."""

    ledger: Annotated[
        str | None,
        Param("Where files without --db are recorded. Default: the ledger of the user.", metavar="FILE",
              env="SQLMICRO_LEDGER"),
    ] = None  # fmt: skip
