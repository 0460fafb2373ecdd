"""Where the tables are that a job file names: the same job runs wherever the data is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sqlmicro.options.params import Param


@dataclass(frozen=True, kw_only=True)
class LocationOptions:
    """Where the tables of a job are, and where its releases go."""

    location: Annotated[
        str | None,
        Param(
            "Where the tables are that a job names: a schema or an attached database, such as crm.public; a folder of "
            "Parquet files with a slash in it, such as data/ or s3://lake/in; delta:FOLDER or iceberg:FOLDER.",
            metavar="LOCATION",
        ),
    ] = None
    release_location: Annotated[
        str | None,
        Param(
            "Where the releases go that a job publishes with into, written like --location. Default: as --location.",
            metavar="LOCATION",
        ),
    ] = None
