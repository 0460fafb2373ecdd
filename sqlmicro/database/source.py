"""Where the records come from: a table or view of the database, or files that DuckDB reads."""

from __future__ import annotations

import glob
import gzip
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmicro.database import attach, postgres
from sqlmicro.database.columns import Column, ColumnProfile, make_columns
from sqlmicro.database.templates import Name, ident
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import InputError, ParameterError, did_you_mean
from sqlmicro.options.common import AS_FOUND, ReaderOptions
from sqlmicro.options.params import check_path

_SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}  # fmt: skip
_COMPRESSED = (".gz", ".zst")
_HEAD = 65536
_LAKES = {"delta": "delta_scan", "iceberg": "iceberg_scan"}
"""Table formats that are read from their folder: what stands before its path, and the function that reads it."""


@dataclass(frozen=True)
class Source:
    """A relation records are read from, and what is known of it."""

    relation: Name
    label: str
    columns: tuple[Column, ...]
    is_table: bool
    is_file: bool = False
    is_frame: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is read from CSV or JSON, which is done once only."""
        return self.is_file and file_format(self.label) in ("csv", "json")

    @property
    def identity(self) -> str:
        """What the source is called in the keys of draws: schema and name; a file's name without folder and digits.

        So the exports of two days are one source, `persons-2026-11-01.csv` and `persons-2026-11-02.csv`. The database's
        own name is no part of it: it is that of the file, or was given when it was attached. Frames have no name.
        """
        if self.is_frame:
            return ""
        if self.is_file:
            return re.sub(r"\d+", "", Path(self.label).name)
        return ".".join(ident(part) for part in (self.relation.schema, self.relation.table) if part).lower()

    def files(self) -> set[Path]:
        """Return the files the label stands for."""
        found = {Path(path).absolute() for path in glob.glob(self.label, recursive=True)}  # noqa: PTH207
        return found | {Path(self.label).absolute()}


def split_name(text: str) -> list[str]:
    """Split `catalog.schema.name` at the dots outside double quotes.

    >>> split_name('main."a.b"'), split_name("persons")
    (['main', 'a.b'], ['persons'])
    """
    parts = re.findall(r'"(?:[^"]|"")*"|[^."]+', text)
    if ".".join(parts) != text or not 1 <= len(parts) <= 3:
        return [text]
    return [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts]


def target_name(text: str, where: str) -> Name:
    """Return the qualified name of a relation to be made.

    >>> str(target_name("archive.persons", "--into"))
    'archive.persons'
    """
    parts = split_name(text)
    if not all(parts) or "\0" in text:
        raise ParameterError(where, "must be a name, schema.name or catalog.schema.name", repr(text))
    return Name(*([""] * (3 - len(parts))), *parts)


def file_format(text: str) -> str | None:
    """Return csv, parquet or json if `text` reads like a path or glob of such files, else None.

    >>> file_format("data/*.csv.gz"), file_format("persons")
    ('csv', None)
    """
    path = text.lower()
    for suffix in _COMPRESSED:
        path = path.removesuffix(suffix)
    return _SUFFIXES.get(Path(path).suffix)


def find_table(warehouse: Warehouse, text: str) -> tuple[Name, bool] | None:
    """Look `text` up in the catalog: its qualified name and whether it is a table (not a view), or None.

    A name without a schema means the one in the current schema; the catalog decides, never a file or a variable.
    """
    parts = split_name(text)
    found = find_relation(warehouse, Name("", "", text))
    return found or (find_relation(warehouse, Name(*[""] * (3 - len(parts)), *parts)) if len(parts) > 1 else None)


def find_relation(warehouse: Warehouse, name: Name) -> tuple[Name, bool] | None:
    """Look a qualified name up in the catalog: as it is spelled there and whether it is a table, or None."""
    found = warehouse.query(
        "catalog",
        """SELECT database_name, schema_name, name, is_table
        FROM (
          SELECT database_name, schema_name, table_name AS name, true AS is_table FROM duckdb_tables()
          UNION ALL
          SELECT database_name, schema_name, view_name, false FROM duckdb_views() WHERE NOT internal)
        WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2) AND lower(name) = lower($3)""",
        list(warehouse.full(name)),
    )
    if not found:
        return None
    *names, is_table = found[0]
    relation = Name(*names)
    if is_table and warehouse.kind_of(relation.catalog) == postgres.KIND:
        if not warehouse.has_attached(relation.catalog):  # somebody else did, and nobody has looked
            postgres.refuse_shadowing(warehouse, relation.catalog, "--table")
        is_table = postgres.is_table(warehouse, relation)
    return relation, bool(is_table)


def schema_exists(warehouse: Warehouse, name: Name) -> bool:
    """Tell whether the schema of a qualified name exists."""
    found = warehouse.query(
        "catalog",
        "SELECT count(*) FROM duckdb_schemas() "
        "WHERE lower(database_name) = lower($1) AND lower(schema_name) = lower($2)",
        list(warehouse.full(name)[:2]),
    )
    return bool(found[0][0])


def find_source(warehouse: Warehouse, table: str, options: ReaderOptions = AS_FOUND, name: str = "source") -> Source:
    """Return the source that `--table` names: a relation of the catalog first, else files, read as the options say.

    Raises
    ------
    InputError
        When there is neither, or the files cannot be read.
    """
    reader = options.given()
    found = find_table(warehouse, table)
    if found is not None:
        if reader:
            raise ParameterError("--table", "the options of the CSV reader apply to CSV files only", "a table")
        relation, is_table = found
        _refuse_shadowed(warehouse, relation, is_table)
        # The views of a server or of SQLite read nothing but their own tables.
        if not is_table and warehouse.kind_of(relation.catalog) in ("duckdb", "ducklake"):
            warehouse.readable = None
        return Source(relation, table, describe(warehouse, relation), is_table)
    kind, colon, folder = table.partition(":")
    if colon and kind in _LAKES:
        if reader:
            raise ParameterError("--table", "the options of the CSV reader apply to CSV files only", f"a {kind} table")
        relation = open_lake(warehouse, kind, folder, name=name)
        label = folder.partition("/metadata/")[0]
        return Source(relation, label, describe(warehouse, relation), is_table=False, is_file=True)
    if file_format(table) is not None:
        relation = open_files(warehouse, [table], reader, label=table, name=name)
        return Source(relation, table, describe(warehouse, relation), is_table=False, is_file=True)
    names = [
        str(row[0])
        for row in warehouse.query(
            "catalog",
            "SELECT table_name FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 "
            "UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = $1 "
            "UNION ALL SELECT concat_ws('.', database_name, schema_name, table_name) FROM duckdb_tables() "
            "WHERE list_contains($3, database_name) AND schema_name NOT IN ('information_schema', 'pg_catalog')",
            [*warehouse.full(Name("", "", table))[:2], warehouse.attached],
        )
    ]
    where = "the in-memory database" if warehouse.in_memory else repr(warehouse.db)
    raise InputError(
        "--table",
        f"must be a table or view of {where}, or a path that ends in .csv, .parquet or .json",
        repr(table),
        did_you_mean(table, names) or "Register files with: sqlmicro register FILE --db DB",
    )


def _refuse_shadowed(warehouse: Warehouse, relation: Name, is_table: bool) -> None:
    """Refuse records that the owner's macros compute, where our statements would take DuckDB's functions for them.

    Generated columns are computed with the functions of the session, and so were views before DuckDB 2.0.
    """
    if relation.catalog != warehouse.catalog:
        return
    by_session = not is_table and warehouse.version.startswith("v1.")
    generated = warehouse.query(
        "catalog",
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = $1 AND contains(upper(sql), 'GENERATED ALWAYS AS') "
        "AND ($4 OR (schema_name = $2 AND table_name = $3))",
        [*relation, not is_table],
    )
    if by_session or generated[0][0]:
        what = "a view" if by_session else "a generated column"
        must = f"{what} must get the same values here as in the session of its owner"
        warehouse.refuse_shadowing("--table", must, "Give the macros names that no function of DuckDB has")


def open_files(
    warehouse: Warehouse, paths: Sequence[str], reader: Mapping[str, object], *, label: str, name: str
) -> Name:
    """Make a staging view over files and return its name; nothing is copied. Errors in reading them name `label`."""
    template, params = reading(paths, reader)
    warehouse.reading = label
    may_read(warehouse, params["paths"])
    return warehouse.run(template, name, view=True, **params)


def open_lake(warehouse: Warehouse, kind: str, folder: str, *, name: str) -> Name:
    """Make a staging view over a Delta or Iceberg table in a folder and return its name; nothing is copied.

    Of an Iceberg table also its metadata file can be named, as catalogs write them without a hint of the newest.

    Raises
    ------
    InputError
        When there is no such folder or metadata file, it does not tell its newest version, or the extension that reads
        it is not installed.
    """
    where, path = f"{kind}:{folder}", Path(folder).absolute()
    is_metadata = kind == "iceberg" and path.name.endswith(".metadata.json") and path.is_file()
    if not is_metadata and not path.is_dir():
        raise InputError(where, f"there must be a folder {folder!r}", "none", "Check the path")
    if kind == "iceberg" and not is_metadata and not (path / "metadata" / "version-hint.text").is_file():
        raise InputError(
            where,
            "must say which version is the newest",
            "no metadata/version-hint.text",
            f"Name the newest metadata file: {where.rstrip('/')}/metadata/….metadata.json",
        )
    attach.load(warehouse, kind, where)
    warehouse.reading = where
    warehouse.folders.add(str(path.parents[1] if is_metadata else path))
    return warehouse.run("load/lake.sql", name, view=True, function=_LAKES[kind], path=str(path))


def is_elsewhere(text: str, attached: Collection[str]) -> bool:
    """Tell whether `--table` names files or a table of an attached database, rather than one of the own database.

    >>> is_elsewhere("p.csv", ()), is_elsewhere("crm.public.p", ["crm"]), is_elsewhere("main.p", ["crm"])
    (True, True, False)
    """
    scheme, colon, _ = text.partition(":")
    catalog, *rest = split_name(text)
    known = {name.lower() for name in attached}
    is_lake = bool(colon) and scheme in _LAKES
    return is_lake or file_format(text) is not None or (len(rest) == 2 and catalog.lower() in known)


def beside(folder: Path, text: str) -> str:
    """Return what `--table` names with a path in it taken from `folder`; the name of a table stays as it is.

    >>> beside(Path("/jobs"), "delta:p"), beside(Path("/jobs"), "p.csv"), beside(Path("/jobs"), "p")
    ('delta:/jobs/p', '/jobs/p.csv', 'p')
    """
    kind, colon, path = text.partition(":")
    if colon and kind in _LAKES:
        return f"{kind}:{folder / path}"
    return text if file_format(text) is None else str(folder / text)


def may_read(warehouse: Warehouse, paths: Sequence[str]) -> None:
    """Let the database read files, given as absolute patterns, when it is sealed."""
    if warehouse.readable is not None:
        warehouse.readable.update(paths)
        for path in paths:
            warehouse.readable.update(glob.glob(path, recursive=True))  # noqa: PTH207  (escaped patterns)


def reading(paths: Sequence[str], reader: Mapping[str, object], **own: object) -> tuple[str, dict[str, Any]]:
    """Return the template that reads `paths`, all of one format, and its parameters.

    `reader` are the user's options, which apply to CSV; `own` are ours.
    """
    formats = {path: file_format(path) for path in paths}
    unknown = [path for path, kind in formats.items() if kind is None]
    if unknown:
        raise InputError(
            "files",
            "must end in .csv, .tsv, .parquet, .json or .ndjson (.gz and .zst may follow)",
            ", ".join(map(repr, unknown)),
        )
    if len(set(formats.values())) > 1:
        raise InputError("files", "must be of one format", ", ".join(sorted({str(kind) for kind in formats.values()})))
    for path in paths:
        check_path(path, "files")
        if not Path(path).is_file() and not glob.glob(path, recursive=True):  # noqa: PTH207  (the user's pattern may be absolute)
            raise InputError(
                "files", f"there must be a file {path!r}", "none", "Check the path; it is taken from the current folder"
            )
    kind = formats[paths[0]]
    if kind != "parquet" and all(_is_empty(file) for path in paths for file in _matched(path)):
        raise InputError("files", "there must be something in a file", f"nothing in {', '.join(map(repr, paths))}")
    # A file of that very name is meant by it, whatever brackets it has; else it is a pattern.
    absolute = [
        glob.escape(str(Path(path).absolute())) if Path(path).is_file() else str(Path(path).absolute())
        for path in paths
    ]
    if kind != "csv" and reader:
        raise ParameterError("files", "the options of the CSV reader apply to CSV files only", f"{kind} files")
    return f"load/{kind}.sql", {"paths": absolute, "options": [*reader.items(), *own.items()]}


def _matched(path: str) -> list[str]:
    return [path] if Path(path).is_file() else glob.glob(path, recursive=True)  # noqa: PTH207  (may be absolute)


def _is_empty(path: str) -> bool:
    """Tell whether a text file holds blanks and a mark of its byte order at most; zstd is not opened."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            head = file.read(_HEAD)
    except (OSError, EOFError):  # the database says what is wrong with it
        return False
    return len(head) < _HEAD and not head.removeprefix(b"\xef\xbb\xbf").strip()


def describe(warehouse: Warehouse, relation: Name) -> tuple[Column, ...]:
    """Return the columns of a relation, told apart by type and collation."""
    described = warehouse.describe(relation)
    if any("\0" in name for name, _ in described):
        raise InputError("--table", "a column has a name without NUL characters", "one with them")
    aliases = [(name, f"c{index}") for index, (name, _) in enumerate(described)]
    probe = warehouse.staged("no_rows")
    warehouse.run("load/no_rows.sql", "no_rows", relation=relation, columns=aliases)
    definition = str(
        warehouse.query(
            "catalog",
            "SELECT sql FROM duckdb_tables() WHERE database_name = $1 AND table_name = 'no_rows'",
            [probe.catalog],
        )[0][0]
    )
    del warehouse.log[-1]
    warehouse.query("catalog", "DROP TABLE {{ probe | ident }}", probe=probe)
    collated = {described[int(number)][0] for number in re.findall(r"\bc(\d+) VARCHAR COLLATE", definition)}
    return tuple(make_columns(described, frozenset(collated)))


def type_columns(
    warehouse: Warehouse,
    source: Source,
    columns: Sequence[Column],
    used: Collection[Column],
    into: str = "typed",
    *,
    row_key: Sequence[Column] = (),
) -> Name:
    """Bring every column into the form the methods work on; `used` ones are computed with.

    Every record gets `record`, a hash of what identifies it: of `row_key`, or else of the columns.

    Raises
    ------
    InputError
        When the columns of `row_key` do not identify every record.
    """
    kinds: dict[str, Any] = {
        "plain": [], "kept_floats": [], "floats": [], "collated": [], "as_text": [], "dates": [], "timestamps": [],
    }  # fmt: skip
    for column in columns:
        kinds[_staged_as(column, column in used)].append(column)
    if row_key:
        _refuse_faulty_keys(warehouse, source, row_key)
    identity = [f"key_{number}" for number in range(1, len(row_key) + 1)] or columns
    return warehouse.run(
        "load/typed.sql",
        into,
        relation=source.relation,
        row_key=row_key,
        identity=identity,
        columns=columns,
        **kinds,
    )


def _refuse_faulty_keys(warehouse: Warehouse, source: Source, row_key: Sequence[Column]) -> None:
    (missing, repeated), *_ = warehouse.rows("load/row_key_faults.sql", relation=source.relation, columns=row_key)
    if missing or repeated:
        raise InputError(
            "--row-key",
            "must have a value in every record, and no two records the same one",
            f"{missing:,} records with a missing value, {repeated:,} that share theirs with another",
            "Name more columns, or leave it out: a record is then known by its content",
        )


def _staged_as(column: Column, used: bool) -> str:
    if column.collated:
        return "collated"
    if column.family == "enum" or (used and column.family == "other"):
        return "as_text"
    if column.family == "float":
        return "floats" if used else "kept_floats"
    if used and column.family == "date":
        return "dates"
    if used and column.family in ("timestamp", "timestamptz"):
        return "timestamps"
    return "plain"


def profile_columns(warehouse: Warehouse, source: Source) -> list[ColumnProfile]:
    """Count rows, NULLs and distinct values of every column."""
    rows = warehouse.rows(
        "load/column_profile.sql",
        relation=source.relation,
        integers=[column for column in source.columns if column.family == "integer"],
        collated=[column for column in source.columns if column.collated],
        others=[column for column in source.columns if column.family != "integer" and not column.collated],
    )
    keys = _single_column_keys(warehouse, source)
    by_name = {column.name: column for column in source.columns}
    profiles = {}
    for name, count, nulls, distinct, spread in rows:
        sequential = spread is not None and spread + 1 == distinct == count
        profiles[name] = ColumnProfile(by_name[name], count, nulls, distinct, sequential, name in keys)
    return [profiles[column.name] for column in source.columns]


def _single_column_keys(warehouse: Warehouse, source: Source) -> set[str]:
    if not source.is_table:
        return set()
    found = warehouse.query(
        "catalog",
        """SELECT constraint_column_names[1] FROM duckdb_constraints()
        WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE') AND len(constraint_column_names) = 1
          AND database_name = $1 AND schema_name = $2 AND table_name = $3""",
        list(source.relation),
    )
    return {str(row[0]) for row in found}
