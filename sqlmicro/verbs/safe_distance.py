"""The command `safe-distance`: by how much the cross tables of two tables differ."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.database import attach
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.options.common import AttachOption, DbOption, MachineOptions
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.safe_method.compare import Compared, TwoTables
from sqlmicro.safe_method.compare import compare as compare_tables
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class SafeDistanceOptions(TwoTables, DbOption, AttachOption, MachineOptions, ReaderOptions):
    """What `sqlmicro safe-distance` takes."""


def safe_distance_values(options: SafeDistanceOptions, progress: Progress) -> Compared:
    """Measure by how much the cross tables of two tables differ: the SAFE distance and its parts."""

    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        first = find_source(warehouse, options.first, options)
        second = find_source(warehouse, options.second, options, name="second_source")
        warehouse.seal()
        return compare_tables(warehouse, first, second, options)
