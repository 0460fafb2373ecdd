"""The tables that a job names and what it publishes into, at the location that is given for them.

A job file names a table `visits` and a release `visits_release`. Where they are is said elsewhere: in a schema, in a
folder of Parquet files here or in a store, or in one of Delta or Iceberg tables.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlmicro.database.catalog import split_name
from sqlmicro.database.finding import beside
from sqlmicro.database.lakes import LAKES
from sqlmicro.errors import ParameterError
from sqlmicro.options.common import JobOptions, PublishSettings
from sqlmicro.system.stores import is_url, refuse_secret

_NOT_IN_NAMES = set("/\\*?[]:")


def located(options: JobOptions, publish: PublishSettings, where: str) -> tuple[JobOptions, PublishSettings]:
    """Return the options of a job, and where it publishes, with the places of the tables that it names.

    A release without a name of its own is called `<table>_anonymized`. What is published `to` a file or in place stays
    as it is.

    Raises
    ------
    ParameterError
        When a table is not named by a plain name, or a location cannot be.
    """
    source, release = options.location, options.release_location or options.location
    if release is not None and publish.to is None and not publish.in_place:
        named = publish.into
        if named is None:
            named = f"{_plain(options.table, f'{where}, table')}_anonymized"
        place = placed(release, named, f"{where}, into")
        is_table = _is_schema(release)
        publish = replace(publish, into=place if is_table else None, to=None if is_table else place)
    if source is not None:
        options = replace(options, table=placed(source, options.table, f"{where}, table"))
    return options, publish


def placed(location: str, table: str, where: str) -> str:
    """Return what `--table` or a target is called for the table of a name at a location.

    >>> [placed(at, "visits", "") for at in ("crm.public", "data/", "s3://lake/in", "delta:lake")]
    ['crm.public.visits', 'data/visits.parquet', 's3://lake/in/visits.parquet', 'delta:lake/visits']
    """
    refuse_secret(location, "--location")
    name = _plain(table, where)
    if _is_schema(location):
        if not 1 <= len(split_name(location)) <= 2 or not all(split_name(location)):
            must = "is a schema, or catalog.schema; a folder has a slash in it"
            raise ParameterError("--location", must, repr(location))
        return f"{location}.{table}"
    if not name.strip() or name.startswith(".") or _NOT_IN_NAMES & set(name):
        must = "the name of a table in a folder has no sign of a path or a pattern, and does not begin with a dot"
        raise ParameterError(where, must, repr(table), "Use another name")
    folder = location if location.endswith(("/", ":")) else f"{location}/"
    return f"{folder}{name}" if location.partition(":")[0] in LAKES else f"{folder}{name}.parquet"


def from_folder(folder: Path, location: str) -> str:
    """Return a location with a path in it taken from the folder of a job file.

    >>> [from_folder(Path("/jobs"), text) for text in ("data/", "delta:lake", "crm.public", "s3://lake/in")]
    ['/jobs/data/', 'delta:/jobs/lake', 'crm.public', 's3://lake/in']
    """
    if _is_schema(location) or is_url(location):
        return location
    return beside(folder, location) if location.partition(":")[0] in LAKES else f"{folder / location}/"


def _is_schema(location: str) -> bool:
    return not is_url(location) and "/" not in location and location.partition(":")[0] not in LAKES


def _plain(table: str, where: str) -> str:
    """Return the name of a table without its quotes."""
    parts = split_name(table)
    if len(parts) > 1 or "/" in table:
        must = "a table is named without its schema or folder where --location says where it is"
        raise ParameterError(where, must, repr(table), "Write the name alone, or leave --location out")
    return parts[0]
