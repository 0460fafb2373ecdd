"""The command `subset`: a sample of persons with all that hangs on them, in a new database. It is not anonymised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.database.catalog import free_name
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import AuditFailed, InputError, ParameterError
from sqlmicro.jobs import keys
from sqlmicro.jobs.steps import ForeignKey
from sqlmicro.options.common import SeedOptions
from sqlmicro.options.params import Param
from sqlmicro.reports.results import SubsetKey, SubsetReport, SubsetTable
from sqlmicro.system import moves, scratch, secrets
from sqlmicro.system.progress import Progress

WHERE = "subset"
_COMMENT = "Not anonymised: a subset of real records, made by sqlmicro subset"
_ON = "ON true{% for one, other in on %} AND c.{{ one | ident }} = p.{{ other | ident }}{% endfor %}"
_REFERS = "WHERE true{% for one, _ in on %} AND c.{{ one | ident }} IS NOT NULL{% endfor %}"
_CHILDREN = (
    "INSERT INTO {{ taken | ident }} SELECT c.rowid FROM {{ child | ident }} AS c SEMI JOIN (SELECT o.* FROM "
    "{{ parent | ident }} AS o SEMI JOIN {{ known | ident }} AS k ON o.rowid = k.place) AS p "
    + _ON + " ANTI JOIN {{ taken | ident }} AS t ON c.rowid = t.place"
)  # fmt: skip
_PARENTS = (
    "INSERT INTO {{ taken | ident }} SELECT p.rowid FROM {{ parent | ident }} AS p SEMI JOIN (SELECT o.* FROM "
    "{{ child | ident }} AS o SEMI JOIN {{ known | ident }} AS k ON o.rowid = k.place) AS c "
    + _ON + " ANTI JOIN {{ taken | ident }} AS t ON p.rowid = t.place"
)  # fmt: skip
_LOST = "SELECT count(*) FROM {{ child | ident }} AS c ANTI JOIN {{ parent | ident }} AS p " + _ON + " " + _REFERS
_LOST_BEFORE = (
    "SELECT count(*) FROM (SELECT o.* FROM {{ child | ident }} AS o SEMI JOIN {{ known | ident }} AS k "
    "ON o.rowid = k.place) AS c ANTI JOIN {{ parent | ident }} AS p " + _ON + " " + _REFERS
)


@dataclass(frozen=True, kw_only=True)
class SubsetOptions(SeedOptions):
    """What `sqlmicro subset` takes."""

    db: Annotated[str, Param("Database file of DuckDB.", metavar="FILE", env="SQLMICRO_DB")]
    table: Annotated[str, Param("The table of the persons, a row for each.", metavar="TABLE")]
    to: Annotated[str, Param("Database file to write; there must be none.", metavar="FILE")]
    fraction: Annotated[float | None, Param("Share of the persons to draw.", min=0, max=1)] = None
    size: Annotated[int | None, Param("Number of persons to draw.", min=1)] = None
    key: Annotated[
        tuple[str, ...],
        Param(
            "A key that no FOREIGN KEY declares, as orders.customer_id=customers.id; repeatable.",
            metavar="TABLE.COLUMN=TABLE.COLUMN",
        ),
    ] = ()
    whole: Annotated[tuple[str, ...], Param("Tables to copy whole, such as countries.", metavar="A,B")] = ()


@dataclass(frozen=True)
class _Tables:
    """The tables of a schema by their names, the keys between them, and the places of the rows that are taken."""

    warehouse: Database
    names: list[str]
    schema: Name
    keys: list[ForeignKey]

    def of(self, number: int) -> Name:
        """Return a table."""
        return self.schema._replace(table=self.names[number])

    def taken(self, number: int) -> Name:
        """Return where the places of its rows are."""
        return self.warehouse.staged(f"taken_{number}")

    def number(self, where: str, name: str) -> int:
        """Return the number of a table.

        Raises
        ------
        ParameterError
            When there is none of that name.
        """
        found = [at for at, one in enumerate(self.names) if one.lower() == name.lower()]
        if not found:
            raise ParameterError(
                where, "must be a table of the schema main", repr(name), "There are: " + ", ".join(self.names)
            )
        return found[0]

    def names_of(self, key: ForeignKey) -> dict[str, Any]:
        """Return what statements call the sides of a key."""
        on = list(zip(key.columns, key.to, strict=True))
        return {"child": self.of(key.child), "parent": self.of(key.parent), "on": on}

    def take_all(self, number: int) -> None:
        """Take every row of a table."""
        text = (
            "INSERT INTO {{ taken | ident }} SELECT rowid FROM {{ rows | ident }} AS r "
            "ANTI JOIN {{ taken | ident }} AS t ON r.rowid = t.place"
        )
        self.warehouse.execute(WHERE, text, taken=self.taken(number), rows=self.of(number))

    def count(self, number: int) -> int:
        """Return how many of its rows are taken."""
        return self.warehouse.count(self.taken(number))

    def spread(self, along: Iterable[ForeignKey], *, to_parents: bool) -> None:
        """Take the rows that refer to rows that are taken, or those they refer to, until there are no more."""
        along, before = list(along), -1
        while before != (before := sum(self.count(number) for number in range(len(self.names)))):
            for key in along:
                known, taken = (key.child, key.parent) if to_parents else (key.parent, key.child)
                self.warehouse.execute(
                    WHERE, _PARENTS if to_parents else _CHILDREN, **self.names_of(key), known=self.taken(known),
                    taken=self.taken(taken),
                )  # fmt: skip


def subset_values(options: SubsetOptions, progress: Progress) -> SubsetReport:
    """Copy a sample of persons with all that hangs on them into a new database: for tests, and not anonymised.

    Drawn are persons of a table. With them comes every row of another table that refers to them, directly or by others,
    along the foreign keys that are declared or named by --key; then every row that any of these refers to. A key of the
    persons themselves, such as who referred them, leads only to the rows that they need: so persons who were not drawn
    may be there too, without what hangs on them. One seed draws the same persons of the same file. Tables that no key
    leads to are left out, unless --whole names them.

    Types and names stay; constraints, defaults, views and macros are not copied. In the end the new file is read: a row
    that refers to nothing there, though it referred to a row before, makes the command fail, and no file is left.

    The result holds real records of persons. To release it, let a policy anonymise it: sqlmicro scan drafts one.
    """
    if (options.fraction is None) == (options.size is None):
        got = "none of them" if options.size is None else "both"
        raise ParameterError(f"{WHERE}, size", "needs one of --fraction and --size", got)
    target = Path(options.to)
    if target.exists() or target.is_symlink():
        raise InputError("--to", f"{options.to!r} must not exist yet", moves.found(target), "Choose another name")
    if not target.resolve().parent.is_dir():
        raise InputError("--to", f"the folder of {options.to!r} must exist", "none", "Make it first")
    with open_warehouse(options.db, read_only=True, progress=progress) as warehouse:
        tables = _read(warehouse, options.key)
        persons = tables.number("--table", options.table)
        whole = [tables.number("--whole", name) for name in options.whole]
        drawn = _draw(tables, persons, options)
        tables.spread((key for key in tables.keys if key.child != persons), to_parents=False)
        for at in whole:  # after what hangs on the persons: all would hang on a table like countries
            tables.take_all(at)
        tables.spread(tables.keys, to_parents=True)
        reached = [at for at in range(len(tables.names)) if at in (persons, *whole) or _is_reached(tables, at)]
        with scratch.folder(target.resolve().parent) as folder:
            checked = _write(tables, reached, folder / "subset.duckdb")
            (folder / "subset.duckdb").chmod(0o600)
            moves.put_new(folder / "subset.duckdb", target)
        told = [SubsetTable(tables.names[at], tables.count(at), warehouse.count(tables.of(at))) for at in reached]
        return SubsetReport(
            False, options.to, drawn, tables.count(persons) - drawn, told, checked,
            [name for at, name in enumerate(tables.names) if at not in reached],
        )  # fmt: skip


def _read(warehouse: Database, named: Sequence[str]) -> _Tables:
    """Return the tables of the schema main, and the keys between them.

    Raises
    ------
    InputError, ParameterError
        For a column called rowid, and keys that name no columns.
    """
    schema, columns = Name(warehouse.catalog, "main", ""), dict[str, set[str]]()
    for table, column in warehouse.query(
        WHERE, "SELECT table_name, c.column_name FROM duckdb_tables() AS t JOIN duckdb_columns() AS c USING "
        "(database_name, schema_name, table_name) WHERE database_name = $1 AND schema_name = 'main' ORDER BY ALL",
        [schema.catalog],
    ):  # fmt: skip
        columns.setdefault(table, set()).add(column.lower())
    if odd := [table for table, own in columns.items() if "rowid" in own]:
        raise InputError(WHERE, "no table has a column called rowid", ", ".join(odd), "Give it another name")
    names = list(columns)
    declared = warehouse.query(
        WHERE, "SELECT table_name, constraint_column_names, referenced_table, referenced_column_names FROM "
        "duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY' AND database_name = $1 AND schema_name = 'main' "
        "ORDER BY ALL", [schema.catalog],
    )  # fmt: skip
    place = {name.lower(): number for number, name in enumerate(names)}
    found = [
        ForeignKey("declared", place[child.lower()], tuple(own), place[parent.lower()], tuple(to))
        for child, own, parent, to in declared
    ]
    sides = [text.partition("=") for text in named]
    found += keys.read(WHERE, [{"from": child, "to": parent} for child, _, parent in sides], names)
    for key in found:
        for side, own in ((key.child, key.columns), (key.parent, key.to)):
            if missing := [column for column in own if column.lower() not in columns[names[side]]]:
                raise ParameterError(f"{WHERE}, key", f"names columns of {names[side]!r}", ", ".join(missing))
    return _Tables(warehouse, names, schema, found)


def _draw(tables: _Tables, persons: int, options: SubsetOptions) -> int:
    """Take persons at random; return how many."""
    import numpy as np
    import pyarrow as pa

    warehouse, rows = tables.warehouse, tables.warehouse.count(tables.of(persons))
    wanted = options.size if options.size is not None else int((options.fraction or 0) * rows + 0.5)
    if not 1 <= wanted <= rows:
        raise InputError(WHERE, f"the sample must have 1 to {rows:,} persons", f"{wanted:,}")
    rng = np.random.Generator(np.random.PCG64(int(secrets.run_key(options.seed, options.seed_file).value, 16)))
    drawn = warehouse.load(pa.table({"number": np.sort(rng.permutation(rows)[:wanted])}), "drawn", "filled by subset")
    for at in range(len(tables.names)):
        warehouse.execute(
            WHERE, "CREATE TABLE {{ taken | ident }} AS SELECT rowid AS place FROM {{ rows | ident }} WHERE false",
            taken=tables.taken(at), rows=tables.of(at),
        )  # fmt: skip
    warehouse.execute(
        WHERE, "INSERT INTO {{ taken | ident }} SELECT p.rowid FROM (SELECT rowid, row_number() OVER (ORDER BY "
        "rowid) - 1 AS number FROM {{ persons | ident }}) AS p SEMI JOIN {{ drawn | ident }} USING (number)",
        taken=tables.taken(persons), persons=tables.of(persons), drawn=drawn,
    )  # fmt: skip
    return wanted


def _is_reached(tables: _Tables, at: int) -> bool:
    return tables.count(at) > 0 or any(at in (key.child, key.parent) for key in tables.keys)


def _write(tables: _Tables, reached: Sequence[int], file: Path) -> list[SubsetKey]:
    """Write the rows that are taken into a new file, and check in it that what they refer to is there.

    Raises
    ------
    AuditFailed
        When it is not, though it was before.
    """
    warehouse = tables.warehouse
    fresh = Name(free_name(warehouse, "fresh"), "main", "")
    warehouse.query(
        WHERE, "ATTACH {{ path | lit }} AS {{ fresh | ident }} (READ_WRITE)", path=str(file), fresh=fresh.catalog
    )
    for at in reached:
        made = fresh._replace(table=tables.names[at])
        text = (
            "CREATE TABLE {{ made | ident }} AS SELECT r.* FROM {{ rows | ident }} AS r "
            "SEMI JOIN {{ taken | ident }} AS t ON r.rowid = t.place ORDER BY r.rowid"
        )
        warehouse.execute(WHERE, text, made=made, rows=tables.of(at), taken=tables.taken(at))
        warehouse.execute(WHERE, "COMMENT ON TABLE {{ made | ident }} IS {{ told | lit }}", made=made, told=_COMMENT)
    checked = []
    for key in tables.keys:
        sides = tables.names_of(key)
        ((before,),) = warehouse.query(WHERE, _LOST_BEFORE, **sides, known=tables.taken(key.child))
        in_file = {side: sides[side]._replace(catalog=fresh.catalog) for side in ("child", "parent")}
        ((after,),) = warehouse.query(WHERE, _LOST, **{**sides, **in_file})
        child, parent = (
            f"{tables.names[at]} ({', '.join(own)})" for at, own in ((key.child, key.columns), (key.parent, key.to))
        )
        if after != before:
            got = f"{after - before:,} rows whose row is missing"
            raise AuditFailed(
                WHERE, f"rows of {child} refer to rows of {parent} that are there", got, "Nothing was written"
            )
        checked.append(SubsetKey(child, parent, key.where == "declared", after))
    warehouse.query(WHERE, "DETACH {{ fresh | ident }}", fresh=fresh.catalog)
    return checked
