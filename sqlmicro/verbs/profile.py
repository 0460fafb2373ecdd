"""The command `profile`: what the columns of a table are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlmicro.database import attach
from sqlmicro.database.columns import Column, ColumnProfile, pick
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.read_once import read_once
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.identifiers import scan
from sqlmicro.identifiers.repeated import RepeatedPersons, repeated_persons
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.options.common import MachineOptions, RegionOption, SourceOptions
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class ProfileOptions(SourceOptions, RegionOption, MachineOptions, ReaderOptions):
    """What `sqlmicro profile` takes."""


def profile_values(options: ProfileOptions, progress: Progress) -> ProfileReport:
    """Describe a table's columns and propose a scale and a role for each."""

    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        source = find_source(warehouse, options.table, options)
        warehouse.seal()
        found = scan.profiles(warehouse, source, options.region)
        persons = repeated_persons(warehouse, source, {profile.column: profile.seen for profile in found})
        return scan.report(options.table, found, persons, _of_person(warehouse, source, found, persons))


def _of_person(
    warehouse: Warehouse, source: Source, found: Sequence[ColumnProfile], persons: RepeatedPersons | None
) -> list[Column]:
    """Return the columns without missing values that have one value in all rows of each person."""
    if persons is None:
        return []
    keys = pick(source.columns, persons.columns, "--person")
    columns = [profile.column for profile in found if profile.column not in keys and not profile.nulls]
    with read_once(warehouse, source) as staged:
        ((_, _, _, *differing),) = warehouse.rows(
            "load/dependent_columns.sql", relation=staged.relation, keys=keys, columns=columns, every=1
        )
    return [column for column, units in zip(columns, differing, strict=True) if not units]
