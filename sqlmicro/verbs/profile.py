"""The command `profile`: what the columns of a table are."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.database import attach
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.identifiers import scan
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.options.common import MachineOptions, ReaderOptions, RegionOption, SourceOptions
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
        return scan.report(options.table, scan.profiles(warehouse, source, options.region))
