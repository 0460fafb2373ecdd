"""Where the records come from: a table or view of the database, or files that DuckDB reads."""

from __future__ import annotations

import glob
import re
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from sqlmicro.database.catalog import find_table, kind_of, split_name
from sqlmicro.database.columns import Column, make_columns, names_of
from sqlmicro.database.encodings import in_utf8
from sqlmicro.database.files import file_format, reading
from sqlmicro.database.lakes import LAKES, open_lake
from sqlmicro.database.objects import found_objects, name_objects
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.views import files_read
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, ParameterError, did_you_mean
from sqlmicro.options.reader import AS_FOUND, ReaderOptions
from sqlmicro.system.printable import quoted
from sqlmicro.system.stores import check, is_url


def find_source(warehouse: Database, table: str, options: ReaderOptions = AS_FOUND, name: str = "source") -> Source:
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
        may_collate = _refuse_shadowed(warehouse, relation, is_table)
        if mirror := warehouse.mirrors.get(relation.catalog.lower()):
            mirror.read(warehouse, relation)
        # The views of a server or of SQLite read nothing but their own tables.
        if not is_table and kind_of(warehouse, relation.catalog) in ("duckdb", "ducklake"):
            warehouse.readable = None
            read = files_read(warehouse, warehouse.full(relation))
            columns = describe(warehouse, relation)
            return Source(
                relation, table, columns, is_table, reads=read.patterns, reads_more=not read.all,
                definition=read.definition,
            )  # fmt: skip
        return Source(relation, table, describe(warehouse, relation, may_collate=may_collate), is_table)
    kind, colon, folder = table.partition(":")
    if colon and kind in LAKES:
        if reader:
            raise ParameterError("--table", "the options of the CSV reader apply to CSV files only", f"a {kind} table")
        relation = open_lake(warehouse, kind, folder, name=name)
        label = folder.partition("/metadata/")[0]
        columns, reads = describe(warehouse, relation), frozenset({label.rstrip("/")})
        return Source(relation, label, columns, is_table=False, is_file=True, reads=reads)
    if is_url(table):
        check(table, "--table")
    if file_format(table) is not None:
        relation = open_files(warehouse, [table], reader, label=table, name=name)
        objects = found_objects(warehouse, table)
        columns, reads = describe(warehouse, relation), frozenset({table})
        said = invented_names(table, names_of(columns), reader)
        for text in said:
            warehouse.progress.say(text)
        return Source(relation, table, columns, is_table=False, is_file=True, objects=objects, reads=reads, said=said)
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
        quoted(table),
        did_you_mean(table, names) or "Register files with: sqlmicro register FILE --db DB",
    )


def open_files(
    warehouse: Database, paths: Sequence[str], reader: Mapping[str, object], *, label: str, name: str
) -> Name:
    """Make a staging view over files and return its name; nothing is copied. Errors in reading them name `label`."""
    paths, reader = in_utf8(paths, reader, warehouse.temp or Path(tempfile.gettempdir()))
    template, params = reading(paths, reader)
    warehouse.reading = label
    may_read(warehouse, params["paths"])
    return warehouse.run(template, name, view=True, **params)


def invented_names(label: str, names: Sequence[str], reader: Mapping[str, object]) -> tuple[str, ...]:
    """Return what is said where the database has invented the names of columns, as it does for a line of numbers.

    >>> invented_names("t.csv", ["column0", "column1"], {})[0].partition(",")[0]
    "'t.csv': the first line was taken for a record"
    >>> invented_names("t.csv", ["column0", "age"], {}), invented_names("t.csv", ["column0"], {"header": True})
    ((), ())
    """
    invented = [re.fullmatch("column([0-9]+)", name) for name in names]
    if file_format(label) != "csv" or "header" in reader:
        return ()
    if [int(found[1]) if found else -1 for found in invented] != [*range(len(names))]:
        return ()
    text = (
        f"{quoted(label)}: the first line was taken for a record, and the columns are called {names[0]}"
        f"{', …' if len(names) > 1 else ''}. If it has their names, give --header; if not, --no-header"
    )
    return (text,)


def may_read(warehouse: Database, paths: Sequence[str]) -> None:
    """Let the database read files, given as absolute patterns, and objects, given as URLs, when it is sealed."""
    local = [path for path in paths if not is_url(path)]
    for url in set(paths).difference(local):
        name_objects(warehouse, url)
    if warehouse.readable is not None:
        warehouse.readable.update(paths)
        for path in local:
            warehouse.readable.update(glob.glob(path, recursive=True))  # noqa: PTH207  (escaped patterns)


def _refuse_shadowed(warehouse: Database, relation: Name, is_table: bool) -> bool:
    """Refuse records that the owner's macros compute, where our statements would take DuckDB's functions for them.

    Generated columns are computed with the functions of the session, and so were views before DuckDB 2.0. Tell whether
    columns of the relation may carry a collation: those of a table whose definition has none do not.
    """
    if relation.catalog != warehouse.catalog:
        return True
    by_session = not is_table and warehouse.version.startswith("v1.")
    ((generated, defined, collated),) = warehouse.query(
        "catalog",
        "SELECT count(*) FILTER (WHERE contains(upper(sql), 'GENERATED ALWAYS AS') "
        "AND ($4 OR (schema_name = $2 AND table_name = $3))), "
        "count(*) FILTER (WHERE schema_name = $2 AND table_name = $3), "
        "count(*) FILTER (WHERE schema_name = $2 AND table_name = $3 AND contains(upper(sql), 'COLLATE')) "
        "FROM duckdb_tables() WHERE database_name = $1",
        [*relation, not is_table],
    )
    if by_session or generated:
        what = "a view" if by_session else "a generated column"
        must = f"{what} must get the same values here as in the session of its owner"
        warehouse.refuse_shadowing("--table", must, "Give the macros names that no function of DuckDB has")
    return not is_table or not defined or bool(collated)


def is_elsewhere(text: str, attached: Collection[str]) -> bool:
    """Tell whether `--table` names files or a table of an attached database, rather than one of the own database.

    >>> is_elsewhere("p.csv", ()), is_elsewhere("crm.public.p", ["crm"]), is_elsewhere("main.p", ["crm"])
    (True, True, False)
    """
    scheme, colon, _ = text.partition(":")
    catalog, *rest = split_name(text)
    known = {name.lower() for name in attached}
    is_lake = bool(colon) and scheme in LAKES
    return is_lake or file_format(text) is not None or (len(rest) == 2 and catalog.lower() in known)


def beside(folder: Path, text: str) -> str:
    """Return what `--table` names with a path in it taken from `folder`; the name of a table stays as it is.

    >>> beside(Path("/jobs"), "delta:p"), beside(Path("/jobs"), "p.csv"), beside(Path("/jobs"), "p")
    ('delta:/jobs/p', '/jobs/p.csv', 'p')
    """
    kind, colon, path = text.partition(":")
    if colon and kind in LAKES:
        return text if is_url(path) else f"{kind}:{folder / path}"
    return text if file_format(text) is None or is_url(text) else str(folder / text)


def describe(warehouse: Database, relation: Name, *, may_collate: bool = True) -> tuple[Column, ...]:
    """Return the columns of a relation, told apart by type and collation, which only text has."""
    described = warehouse.describe(relation)
    if any("\0" in name for name, _ in described):
        raise InputError("--table", "a column has a name without NUL characters", "one with them")
    if not may_collate or not any(kind == "VARCHAR" for _, kind in described):
        return tuple(make_columns(described, frozenset()))
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
