"""Residue: where values that a release replaced are still to be found.

Looked for are the values of the original that no longer occur in the release: in the columns of every table (exact
comparison), in the catalog (ENUM labels, literals of views, macros, checks, defaults, indexes and triggers, comments),
in what this program recorded, and as bytes in the database file, its log and temporary files. Places and counts are
told, never a value.

What is short turns up by chance. As bytes, and in columns of another name, only these are looked for: texts of at
least 6 bytes, numbers of at least 8 characters, timestamps. Dates and shorter values are compared with columns of the
same name and with literals. As bytes a value is looked for as text, and as the 8 bytes of a DOUBLE, BIGINT or TIMESTAMP
if at least 6 of them are not zero. Compressed pages hide bytes: nothing found in a file is no proof, the purge is.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source, find_source
from sqlmicro.database.templates import Name
from sqlmicro.erasure import catalog_texts, enums
from sqlmicro.erasure.finder import LONGEST, SHORTEST, Finder
from sqlmicro.errors import InputError
from sqlmicro.options.common import NO_OPTIONS, MachineOptions, ReaderOptions
from sqlmicro.options.params import Param
from sqlmicro.system.progress import Progress

WHERE = "residue"
_LEAST = {"text": 6, "enum": 6, "integer": 8, "decimal": 8, "float": 8, "timestamp": 0, "timestamptz": 0}
_NEVER = 2**31
_NUMBERS = ("integer", "decimal", "float")


@dataclass(frozen=True, kw_only=True)
class ResidueOptions(MachineOptions, ReaderOptions):
    """What is looked for, and where."""

    db: Annotated[str, Param("Database file.", metavar="FILE", env="SQLMICRO_DB")]
    table: Annotated[str, Param("Anonymized table, or file of the release.", metavar="TABLE")]
    original: Annotated[
        str | None,
        Param(
            "Table, view or file the release was made from; its values that the release no longer has are looked for. "
            "Without it only the places are listed that may hold some.",
            metavar="TABLE",
        ),
    ] = None
    files: Annotated[
        tuple[str, ...], Param("Other file to search for the values, such as a log; repeatable.", metavar="FILE")
    ] = ()


@dataclass(frozen=True)
class Replaced:
    """The values of one column that the release no longer has: staged, and as text."""

    column: Column
    staged: Name
    values: frozenset[str]
    distinctive: frozenset[str]


def residue(options: ResidueOptions, progress: Progress) -> dict[str, Any]:
    """Look for replaced values, or without an original for places that may hold some.

    Returns
    -------
    dict
        `columns` (what was looked for, as counts), `places` (`place`, `where`, `values`, `times`), `notes`, and
        `passed`: whether nothing was found, None without an original.
    """
    for name in options.files:
        if not Path(name).is_file():
            raise InputError("--files", f"{name!r} must be a file", "none")
    with open_warehouse(options.db, read_only=True, machine=options, progress=progress) as warehouse:
        release = find_source(warehouse, options.table, options if options.original is None else NO_OPTIONS)
        catalog = warehouse.catalog
        report: dict[str, object] = {
            "db": options.db,
            "table": options.table,
            "original": options.original,
            "columns": [],
        }
        if options.original is None:
            places = list(_possible(warehouse, release, catalog))
            return {**report, "places": places, "notes": [_NOT_LOOKED], "passed": None}
        original = find_source(warehouse, options.original, options, name="original_source")
        replaced = [_replaced(warehouse, n, column, original, release) for n, column in enumerate(original.columns)]
        places, skipped = _in_tables(warehouse, release, replaced, catalog)
        places += _in_labels(warehouse, replaced, catalog)
        finder = Finder(pattern for one in replaced for pattern in _patterns(one))
        places += _in_texts(warehouse, replaced, finder, catalog)
    for path in _files(options.db, options.files):
        found = finder.find_in_file(path)
        if found.times:
            places.append(_place("bytes of a file", str(path), len(found.patterns), found.times))
    told = [{"column": r.column.name, "values": len(r.values), "distinctive": len(r.distinctive)} for r in replaced]
    notes = [_CHANCE]
    if skipped:
        notes.append(f"{skipped} columns of nested or other types were not compared, only searched as bytes")
    return {**report, "columns": told, "places": places, "notes": notes, "passed": not places}


_NOT_LOOKED = (
    "nothing was looked for: give --original, the table, view or file as it was, and the values that the release no "
    "longer has are looked for"
)
_CHANCE = (
    "short values, dates and small numbers are looked for in columns of the same name and in literals only: elsewhere "
    "they turn up by chance. Compressed pages hide bytes: nothing found in a file is no proof of erasure, a purge is"
)


def _place(place: str, where: str, values: int, times: int) -> dict[str, Any]:
    return {"place": place, "where": where, "values": values, "times": times}


def _kind(one: Column, other: Column) -> str | None:
    """Return the type to compare two columns in, or None where they cannot be equal."""
    if one.family in _NUMBERS or other.family in _NUMBERS:
        return "DOUBLE" if one.family in _NUMBERS and other.family in _NUMBERS else None
    if "other" in (one.family, other.family) and one.type != other.type:
        return None
    return "VARCHAR"


def _replaced(warehouse: DuckDBWarehouse, number: int, column: Column, original: Source, release: Source) -> Replaced:
    """Stage the values of an original column that the release no longer has."""
    least = _LEAST.get(column.family, _NEVER)
    same = [other for other in release.columns if other.name.lower() == column.name.lower()]
    kind = _kind(column, same[0]) if same else None
    into = f"replaced_{number}"
    given: dict[str, Any] = {"original": original.relation, "column": column.name, "least": least}
    if kind is None:
        staged = warehouse.run("erasure/dropped_values.sql", into, **given)
    else:
        given |= {"released": release.relation, "released_column": same[0].name, "kind": kind}
        staged = warehouse.run("erasure/replaced_values.sql", into, **given)
    rows = warehouse.query(WHERE, "SELECT value, distinctive FROM {{ staged | ident }}", staged=staged)
    return Replaced(
        column,
        staged,
        frozenset(str(value) for value, _ in rows),
        frozenset(str(value) for value, distinctive in rows if distinctive),
    )


def _in_tables(
    warehouse: DuckDBWarehouse, release: Source, replaced: Sequence[Replaced], catalog: str
) -> tuple[list[dict[str, Any]], int]:
    """Compare with every column of every table but the released columns themselves; also count what is not compared."""
    places, skipped = [], 0
    for table, columns in _columns(warehouse, catalog):
        released = release.is_table and table[1:] == release.relation[1:]
        for column in columns:
            skipped += column.family == "other"
            present = records = 0
            for one in replaced:
                same = one.column.name.lower() == column.name.lower()
                kind = _kind(one.column, column)
                if kind is None or (same and released) or not (same or one.distinctive):
                    continue
                ((some, times),) = warehouse.rows(
                    "erasure/occurrences.sql",
                    log=False,
                    replaced=one.staged,
                    relation=table,
                    column=column.name,
                    kind=kind,
                    same_name=same,
                )
                present, records = present + some, records + times
            if records:
                places.append(_place("column", f"{table.schema}.{table.table}.{column.name}", present, records))
    return places, skipped


def _columns(warehouse: DuckDBWarehouse, catalog: str) -> list[tuple[Name, list[Column]]]:
    rows = warehouse.query(
        WHERE,
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT internal ORDER BY ALL",
        [catalog],
    )
    tables = [Name(catalog, schema, table) for schema, table in rows if schema != catalog_texts.RECORDS]
    return [(table, make_columns(warehouse.describe(table))) for table in tables]


def _in_labels(warehouse: DuckDBWarehouse, replaced: Sequence[Replaced], catalog: str) -> list[dict[str, Any]]:
    """Compare with the labels of every ENUM type, named ones and those of columns."""
    texts = {value for one in replaced for value in one.values}
    counted = [
        (kind, where, sum(label in texts for label in labels))
        for kind, where, labels in catalog_texts.labels(warehouse, catalog)
    ]
    return [_place(kind, where, present, present) for kind, where, present in counted if present]


def _in_texts(
    warehouse: DuckDBWarehouse, replaced: Sequence[Replaced], finder: Finder, catalog: str
) -> list[dict[str, Any]]:
    """Compare with the literals of every definition, and look into definitions, comments and what was recorded."""
    values = {value for one in replaced for value in one.values}
    texts = {value for one in replaced if one.column.family not in _NUMBERS for value in one.values}
    quoting = [
        (
            kind,
            where,
            text,
            [found for found in catalog_texts.literals(text, catalog_texts.SHORTEST_NUMBER) if found in values],
        )
        for kind, where, text in catalog_texts.texts(warehouse, catalog)
    ]
    quoting += [
        ("record of a release", where, text, [found for found in catalog_texts.words(text) if found in texts])
        for where, text in catalog_texts.records(warehouse, catalog)
    ]
    places = []
    for kind, where, text, quoted in quoting:
        found = finder.find(text.encode())
        present = found.patterns | {value.encode()[:LONGEST] for value in quoted}
        if present:
            places.append(_place(kind, where, len(present), max(len(quoted), found.times)))
    return places


def _patterns(one: Replaced) -> Iterator[bytes]:
    """Yield the bytes a distinctive value is stored as."""
    for value in one.distinctive:
        yield value.encode()
        stored = _stored(one.column, value)
        if stored is not None and len(stored) - stored.count(0) >= SHORTEST:
            yield stored


def _stored(column: Column, value: str) -> bytes | None:
    """Return the 8 bytes of a number or timestamp as DuckDB stores it uncompressed, or None."""
    if column.family == "float":
        return struct.pack("<d", float(value))
    if column.family == "integer" and abs(int(value)) < 2**63:
        return struct.pack("<q", int(value))
    if column.family == "timestamp" and re.fullmatch(r"\d{4}-[\d: .-]+", value):
        import numpy as np

        return struct.pack("<q", int(np.datetime64(value, "us").astype("int64")))
    return None


def _files(db: str, further: Sequence[str]) -> list[Path]:
    """Return the files to search: the database, what lies beside it under its name, and those that were named."""
    file = Path(db).resolve()
    beside = [path for name in {db, str(file)} for path in (Path(f"{name}.wal"), *Path(f"{name}.tmp").glob("*"))]
    found = [file, *sorted(set(beside)), *map(Path, further)]
    return [path for path in dict.fromkeys(found) if path.is_file()]


def _possible(warehouse: DuckDBWarehouse, release: Source, catalog: str) -> Iterator[dict[str, Any]]:
    """Yield the places that may hold replaced values: what they hold is counted, not compared."""
    for enum in enums.unused(warehouse, catalog):
        yield _place("ENUM labels that no record holds", enums.places(enum), len(enum.unused), len(enum.unused))
    for kind, where, text in catalog_texts.texts(warehouse, catalog):
        literals = catalog_texts.literals(text, catalog_texts.SHORTEST_NUMBER)
        if kind == "comment":
            yield _place(kind, where, 1, 1)
        elif literals:
            yield _place(f"{kind}: literals", where, len(set(literals)), len(literals))
    for where, count in Counter(where for where, _ in catalog_texts.records(warehouse, catalog)).items():
        yield _place("records of releases", where, count, count)
    names = {column.name.lower() for column in release.columns}
    for table, columns in _columns(warehouse, catalog):
        shared = [column.name for column in columns if column.name.lower() in names]
        if shared and not (release.is_table and table[1:] == release.relation[1:]):
            where = f"{table.schema}.{table.table}: {', '.join(shared)}"
            yield _place("columns of the same name", where, len(shared), warehouse.count(table))
