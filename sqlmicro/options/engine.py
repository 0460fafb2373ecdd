"""Which engine runs a job or an audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class EngineChoice:
    """What does the work, and where."""

    engine: Annotated[
        Literal["duckdb", "spark"], Param("What does the work; spark needs sqlmicro[spark] and Java 17.")
    ] = "duckdb"
    master: Annotated[
        str | None, Param("With --engine spark: where, such as local[4]. Default: as Spark is set up.", metavar="URL")
    ] = None
