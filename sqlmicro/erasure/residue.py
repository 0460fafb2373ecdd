"""Residue: where values that a release replaced are still to be found.

It looks for the values of the original that no longer occur in the release: in the columns of every table (exact
comparison), in the catalog (ENUM labels, literals of views, macros, checks, defaults, indexes and triggers, comments,
names), in what this program recorded, and as bytes in the database file, its log and temporary files. It reports places
and counts, never a value.

Short values turn up by chance. As bytes, and in columns of another name, only these are looked for: texts of at
least 6 bytes, numbers of at least 8 characters, timestamps. Dates and shorter values are compared with columns of the
same name and with literals. As bytes a value is looked for as text, and as the 8 bytes of a DOUBLE, BIGINT or TIMESTAMP
if at least 6 of them are not zero. Compressed pages hide bytes: only the purge is a proof.

Looking for many byte strings at once.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sqlmicro.database.columns import Column, make_columns
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.warehouse import Database
from sqlmicro.erasure import catalog_texts, enums
from sqlmicro.errors import InputError
from sqlmicro.options.common import MachineOptions
from sqlmicro.options.params import Param
from sqlmicro.options.reader import AS_FOUND, ReaderOptions
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    import numpy as np

SHORTEST = 6
LONGEST = 64
_CHUNK = 2**24
_BITS = 24
_SPREAD = 0x9E3779B97F4A7C15
_KEY = (1 << 8 * SHORTEST) - 1


@dataclass
class Found:
    """What was found: the patterns, and at how many places."""

    patterns: set[bytes] = field(default_factory=set)
    times: int = 0

    def add(self, other: Found) -> None:
        """Add what was found elsewhere."""
        self.patterns |= other.patterns
        self.times += other.times


class Finder:
    """Finds any of many byte strings of at least 6 bytes; of longer ones the first 64 bytes are compared.

    The first six bytes at every position are looked up in a table of 2^24 hashes; what passes is compared exactly.
    Time is linear in the bytes searched (4 s for 100 MB and 600 000 patterns), memory 16 MB and the patterns.

    >>> finder = Finder([b"canary", b"canary bird"])
    >>> found = finder.find(b"canary seed for a canary bird")
    >>> sorted(found.patterns), found.times
    ([b'canary', b'canary bird'], 2)
    """

    def __init__(self, patterns: Iterable[bytes]) -> None:
        import numpy as np

        self.patterns = {pattern[:LONGEST] for pattern in patterns if len(pattern) >= SHORTEST}
        self._lengths: dict[bytes, set[int]] = {}
        for pattern in self.patterns:
            self._lengths.setdefault(pattern[:SHORTEST], set()).add(len(pattern))
        keys = np.array([int.from_bytes(start, "little") for start in self._lengths], np.uint64)
        self._table = np.zeros(1 << _BITS, bool)
        self._table[self._hashes(keys)] = True

    def find(self, data: bytes, before: int | None = None) -> Found:
        """Return what is in `data`; of patterns that start at `before` or later nothing."""
        import numpy as np

        found = Found()
        if not self.patterns:
            return found
        padded = data + bytes(16)
        end = len(data) if before is None else before
        for offset in range(8):
            windows = np.frombuffer(padded, "<u8", (len(data) + 7) // 8, offset)
            for index in np.flatnonzero(self._table[self._hashes(windows)]).tolist():
                self._match(data, 8 * index + offset, end, found)
        return found

    def find_in_file(self, path: Path) -> Found:
        """Return what is in a file."""
        found = Found()
        with path.open("rb") as file:
            kept = b""
            while chunk := file.read(_CHUNK):
                data = kept + chunk
                start = max(0, len(data) - LONGEST + 1)
                found.add(self.find(data, start))
                kept = data[start:]
            found.add(self.find(kept))
        return found

    def _match(self, data: bytes, position: int, end: int, found: Found) -> None:
        if position >= end:
            return
        hit = False
        for length in self._lengths.get(data[position : position + SHORTEST], ()):
            text = data[position : position + length]
            if text in self.patterns:
                found.patterns.add(text)
                hit = True
        found.times += hit

    @staticmethod
    def _hashes(keys: np.ndarray) -> np.ndarray:
        import numpy as np

        return ((keys & np.uint64(_KEY)) * np.uint64(_SPREAD)) >> np.uint64(64 - _BITS)


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
            "Table, view or file the release was made from. Its values that are no longer in the release are looked "
            "for. Without it, only the places that may hold such values are listed.",
            metavar="TABLE",
        ),
    ] = None
    files: Annotated[
        tuple[str, ...], Param("Other file to search for the values, such as a log; repeatable.", metavar="FILE")
    ] = ()


@dataclass(frozen=True)
class LookedFor:
    """How many values of a column were looked for, and how many of them as bytes too."""

    column: str
    values: int
    distinctive: int


@dataclass(frozen=True)
class Place:
    """Where replaced values are, or may be: how many different ones, and how often."""

    place: str
    where: str
    values: int
    times: int


@dataclass(frozen=True)
class ResidueReport:
    """Where replaced values were found, or without an original, where some may be."""

    db: str
    table: str
    original: str | None
    columns: list[LookedFor]
    places: list[Place]
    notes: list[str]
    passed: bool | None
    """Whether nothing was found; None without an original."""


@dataclass(frozen=True)
class Replaced:
    """The values of one column that the release no longer has: staged, and as text."""

    column: Column
    staged: Name
    values: frozenset[str]
    distinctive: frozenset[str]


def residue(options: ResidueOptions, progress: Progress) -> ResidueReport:
    """Look for replaced values, or without an original for places that may hold some.

    Returns
    -------
    ResidueReport
    """
    for name in options.files:
        if not Path(name).is_file():
            raise InputError("--files", f"{name!r} must be a file", "none")
    with open_warehouse(options.db, read_only=True, machine=options, progress=progress) as warehouse:
        release = find_source(warehouse, options.table, options if options.original is None else AS_FOUND)
        catalog = warehouse.catalog
        named = (options.db, options.table, options.original)
        if options.original is None:
            return ResidueReport(*named, [], list(_possible(warehouse, release, catalog)), [_NOT_LOOKED], None)
        original = find_source(warehouse, options.original, options, name="original_source")
        replaced = [_replaced(warehouse, n, column, original, release) for n, column in enumerate(original.columns)]
        places, skipped = _in_tables(warehouse, release, replaced, catalog)
        places += _in_labels(warehouse, replaced, catalog)
        finder = Finder(pattern for one in replaced for pattern in _patterns(one))
        places += [*_in_texts(warehouse, replaced, finder, catalog), *_in_names(warehouse, replaced, finder, catalog)]
    for path in _files(options.db, options.files):
        found = finder.find_in_file(path)
        if found.times:
            places.append(Place("bytes of a file", str(path), len(found.patterns), found.times))
    told = [LookedFor(one.column.name, len(one.values), len(one.distinctive)) for one in replaced]
    notes = [_CHANCE]
    if skipped:
        notes.append(f"{skipped} columns of nested or other types were not compared, only searched as bytes")
    return ResidueReport(*named, told, places, notes, not places)


_NOT_LOOKED = (
    "nothing was looked for: give --original, the table, view or file as it was. The values that the release no longer "
    "has are then looked for"
)
_CHANCE = (
    "short values, dates and small numbers are looked for in columns of the same name and in literals only: elsewhere "
    "they turn up by chance. Compressed pages hide bytes, so finding nothing in a file proves no erasure; a purge does"
)


def _kind(one: Column, other: Column) -> str | None:
    """Return the type to compare two columns in, or None where they cannot be equal."""
    if one.family in _NUMBERS or other.family in _NUMBERS:
        return "DOUBLE" if one.family in _NUMBERS and other.family in _NUMBERS else None
    if "other" in (one.family, other.family) and one.type != other.type:
        return None
    return "VARCHAR"


def _replaced(warehouse: Database, number: int, column: Column, original: Source, release: Source) -> Replaced:
    """Stage the values of an original column that the release no longer has."""
    least = _LEAST.get(column.family, _NEVER)
    same = [other for other in release.columns if other.name.lower() == column.name.lower()]
    kind = _kind(column, same[0]) if same else None
    into = f"replaced_{number}"
    given: Params = {"original": original.relation, "column": column.name, "least": least}
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
    warehouse: Database, release: Source, replaced: Sequence[Replaced], catalog: str
) -> tuple[list[Place], int]:
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
                places.append(Place("column", f"{table.schema}.{table.table}.{column.name}", present, records))
    return places, skipped


def _columns(warehouse: Database, catalog: str) -> list[tuple[Name, list[Column]]]:
    rows = warehouse.query(
        WHERE,
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = $1 AND NOT internal ORDER BY ALL",
        [catalog],
    )
    tables = [Name(catalog, schema, table) for schema, table in rows if schema != catalog_texts.RECORDS]
    return [(table, make_columns(warehouse.describe(table))) for table in tables]


def _in_labels(warehouse: Database, replaced: Sequence[Replaced], catalog: str) -> list[Place]:
    """Compare with the labels of every ENUM type, named ones and those of columns."""
    texts = {value for one in replaced for value in one.values}
    counted = [
        (kind, where, sum(label in texts for label in labels))
        for kind, where, labels in catalog_texts.labels(warehouse, catalog)
    ]
    return [Place(kind, where, present, present) for kind, where, present in counted if present]


def _in_texts(warehouse: Database, replaced: Sequence[Replaced], finder: Finder, catalog: str) -> list[Place]:
    """Compare with the literals of every definition, and look into definitions, comments and what was recorded."""
    values = {value for one in replaced for value in one.values}
    numbers = {float(value) for one in replaced if one.column.family in _NUMBERS for value in one.values}
    texts = _replaced_texts(replaced)
    quoting = []
    for kind, where, text in catalog_texts.texts(warehouse, catalog):
        said = catalog_texts.literals(text, catalog_texts.SHORTEST_NUMBER)
        said += catalog_texts.said(text) if kind == "comment" else []
        quoting.append((kind, where, text, [one for one in said if one in values or _number(one) in numbers]))
    quoting += [
        ("record of a release", where, text, [found for found in catalog_texts.words(text) if found in texts])
        for where, text in catalog_texts.records(warehouse, catalog)
    ]
    places = []
    for kind, where, text, quoted in quoting:
        found = finder.find(text.encode())
        present = found.patterns | {value.encode()[:LONGEST] for value in quoted}
        if present:
            places.append(Place(kind, where, len(present), max(len(quoted), found.times)))
    return places


def _in_names(warehouse: Database, replaced: Sequence[Replaced], finder: Finder, catalog: str) -> list[Place]:
    """Compare with the names of tables, columns and whatever else has one, such as the columns that a PIVOT made."""
    texts, places = _replaced_texts(replaced), []
    for kind, where, names in catalog_texts.names(warehouse, catalog):
        found = {name for name in names if name in texts or finder.find(name.encode()).patterns}
        if found:
            places.append(Place(f"names ({kind})", where, len(found), len(found)))
    return places


def _replaced_texts(replaced: Sequence[Replaced]) -> set[str]:
    return {value for one in replaced if one.column.family not in _NUMBERS for value in one.values}


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


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


def _possible(warehouse: Database, release: Source, catalog: str) -> Iterator[Place]:
    """Yield the places that may hold replaced values: what they hold is counted, not compared."""
    for enum in enums.unused(warehouse, catalog):
        yield Place("ENUM labels that no record holds", enums.places(enum), len(enum.unused), len(enum.unused))
    for kind, where, text in catalog_texts.texts(warehouse, catalog):
        literals = catalog_texts.literals(text, catalog_texts.SHORTEST_NUMBER)
        if kind == "comment":
            yield Place(kind, where, 1, 1)
        elif literals:
            yield Place(f"{kind}: literals", where, len(set(literals)), len(literals))
    for where, count in Counter(where for where, _ in catalog_texts.records(warehouse, catalog)).items():
        yield Place("records of releases", where, count, count)
    names = {column.name.lower() for column in release.columns}
    for table, columns in _columns(warehouse, catalog):
        shared = [column.name for column in columns if column.name.lower() in names]
        if shared and not (release.is_table and table[1:] == release.relation[1:]):
            where = f"{table.schema}.{table.table}: {', '.join(shared)}"
            yield Place("columns of the same name", where, len(shared), warehouse.count(table))
