"""Where the records come from: a table or view of the database, or files that DuckDB reads."""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlmicro.columns import Column, ColumnProfile, make_columns
from sqlmicro.errors import InputError, ParameterError, did_you_mean
from sqlmicro.templates import Name
from sqlmicro.warehouse import Warehouse

_SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}  # fmt: skip
_COMPRESSED = (".gz", ".zst")


@dataclass(frozen=True)
class Source:
    """A relation records are read from, and what is known of it."""

    relation: Name
    label: str
    columns: tuple[Column, ...]
    is_table: bool
    is_file: bool = False

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
        """SELECT database_name, schema_name, name, is_table, database_name = current_database() AS here
        FROM (
          SELECT database_name, schema_name, table_name AS name, true AS is_table FROM duckdb_tables()
          UNION ALL
          SELECT database_name, schema_name, view_name, false FROM duckdb_views() WHERE NOT internal)
        WHERE lower(name) = lower($1)
          AND CASE WHEN $2 = '' THEN schema_name = current_schema() ELSE lower(schema_name) = lower($2) END
          AND CASE WHEN $3 = '' THEN database_name = current_database() ELSE lower(database_name) = lower($3) END""",
        [name.table, name.schema, name.catalog],
    )
    if not found:
        return None
    database, schema, table, is_table, here = found[0]
    return Name("" if here else database, schema, table), bool(is_table)


def schema_exists(warehouse: Warehouse, name: Name) -> bool:
    """Tell whether the schema of a qualified name exists."""
    found = warehouse.query(
        "catalog",
        """SELECT count(*) FROM duckdb_schemas() WHERE lower(schema_name) = lower($1)
          AND CASE WHEN $2 = '' THEN database_name = current_database() ELSE lower(database_name) = lower($2) END""",
        [name.schema, name.catalog],
    )
    return bool(found[0][0])


def find_source(warehouse: Warehouse, table: str, reader: Mapping[str, object], name: str = "source") -> Source:
    """Return the source that `--table` names: a relation of the catalog first, else files.

    Raises
    ------
    InputError
        When there is neither, or the files cannot be read.
    """
    found = find_table(warehouse, table)
    if found is not None:
        if reader:
            raise ParameterError("--table", "the options of the CSV reader apply to CSV files only", "a table")
        relation, is_table = found
        return Source(relation, table, describe(warehouse, relation), is_table)
    if file_format(table) is not None:
        relation = open_files(warehouse, [table], reader, label=table, name=name)
        return Source(relation, table, describe(warehouse, relation), is_table=False, is_file=True)
    names = [
        str(row[0])
        for row in warehouse.query(
            "catalog",
            "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() "
            "AND schema_name = current_schema() "
            "UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal AND database_name = current_database()",
        )
    ]
    where = "the in-memory database" if warehouse.in_memory else repr(warehouse.db)
    raise InputError(
        "--table",
        f"must be a table or view of {where}, or a path that ends in .csv, .parquet or .json",
        repr(table),
        did_you_mean(table, names) or "Register files with: sqlmicro register FILE --db DB",
    )


def open_files(
    warehouse: Warehouse, paths: Sequence[str], reader: Mapping[str, object], *, label: str, name: str
) -> Name:
    """Make a staging view over files and return its name; nothing is copied. Errors in reading them name `label`."""
    template, params = reading(paths, reader)
    warehouse.reading = label
    return warehouse.run(template, name, view=True, **params)


def reading(paths: Sequence[str], reader: Mapping[str, object]) -> tuple[str, dict[str, Any]]:
    """Return the template that reads `paths`, all of one format, and its parameters."""
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
        if not Path(path).is_file() and not glob.glob(path, recursive=True):  # noqa: PTH207  (the user's pattern may be absolute)
            raise InputError(
                "files", f"there must be a file {path!r}", "none", "Check the path; it is taken from the current folder"
            )
    kind = formats[paths[0]]
    # A file of that very name is meant by it, whatever brackets it has; else it is a pattern.
    absolute = [
        glob.escape(str(Path(path).absolute())) if Path(path).is_file() else str(Path(path).absolute())
        for path in paths
    ]
    if kind != "csv":
        if reader:
            raise ParameterError("files", "the options of the CSV reader apply to CSV files only", f"{kind} files")
        return f"load/{kind}.sql", {"paths": absolute}
    return "load/csv.sql", {"paths": absolute, "options": list(reader.items())}


def describe(warehouse: Warehouse, relation: Name) -> tuple[Column, ...]:
    """Return the columns of a relation, told apart by type and collation."""
    described = warehouse.describe(relation)
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
    warehouse: Warehouse, source: Source, columns: Sequence[Column], used: Collection[Column], into: str = "typed"
) -> Name:
    """Number the records and bring every column into the form the methods work on; `used` ones are computed with."""
    kinds: dict[str, Any] = {
        "plain": [], "floats": [], "collated": [], "as_text": [], "dates": [], "timestamps": [],
    }  # fmt: skip
    for column in columns:
        kinds[_staged_as(column, column in used)].append(column)
    return warehouse.run("load/typed.sql", into, relation=source.relation, **kinds)


def _staged_as(column: Column, used: bool) -> str:
    if column.collated:
        return "collated"
    if column.family == "enum" or (used and column.family == "other"):
        return "as_text"
    if used and column.family == "float":
        return "floats"
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
          AND database_name = CASE WHEN $1 = '' THEN current_database() ELSE $1 END
          AND schema_name = $2 AND table_name = $3""",
        list(source.relation),
    )
    return {str(row[0]) for row in found}
