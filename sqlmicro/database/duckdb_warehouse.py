"""The warehouse on DuckDB: a connection with a private staging database beside the user's own.

Staging lives in memory, spills into a private folder that is swept at the start and at the end, and is gone when the
connection closes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, TypeVar

from sqlmicro.database import built_ins, mirror
from sqlmicro.database.catalog import free_name
from sqlmicro.database.columns import Column
from sqlmicro.database.connection import Deferred, close
from sqlmicro.database.files import copying, read_back
from sqlmicro.database.finding import find_source
from sqlmicro.database.redact import wrapped
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Select, Sql, ident, render, statement
from sqlmicro.database.warehouse import InOnePlace, Logged, Row
from sqlmicro.errors import InputError
from sqlmicro.options.reader import AS_FOUND, ReaderOptions
from sqlmicro.system.arrow import as_arrays
from sqlmicro.system.interrupts import committing, interruptible, uninterrupted
from sqlmicro.system.progress import Progress
from sqlmicro.system.secrets import Key, Secret

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pyarrow as pa

    from sqlmicro.database.pinned import PinnedObjects
    from sqlmicro.database.warehouse import Mirrors

T = TypeVar("T")
_READING = ("SELECT", "DESCRIBE")
"""How a look-up begins that changes nothing."""
_SHOWN = (
    "-- {{ comment | comment }}\nCREATE OR REPLACE TABLE {{ target | ident }} ("
    "{% for name, kind in types %}{{ name | ident }} {{ kind | sqltype }}"
    "{% if not loop.last %}, {% endif %}{% endfor %});"
)
"""A relation that a kernel has filled."""
_DRAWN = """-- The run used the words of a secret key in place of these.
CREATE OR REPLACE TABLE {{ target | ident }} AS
SELECT md5_number_upper(CAST(uuid() AS VARCHAR)) AS word FROM range({{ n | lit }})"""
"""What stands for words in a script: others, which nobody can foretell either."""


class DuckDBWarehouse(InOnePlace):
    """An open database, the staging database beside it, and the list of the statements that were run."""

    reads_json = keeps_order = True

    def __init__(self, connection: duckdb.DuckDBPyConnection, db: str, progress: Progress) -> None:
        self._connection = connection
        self.reading = ""
        self.readable: set[str] | None = set()
        self.folders: set[str] = set()
        self.objects: dict[str, PinnedObjects] = {}
        self.temp: Path | None = None
        self.attached: list[str] = []
        self.deferred: dict[str, Deferred] = {}
        self.committed, self.sealable = False, True
        self.kinds: dict[str, str] = {}
        self.mirrors: dict[str, Mirrors] = {}
        self.releases: Name | None = None
        self.db = db
        self.progress = progress
        self.log: list[Logged] = []
        self.loaded: list[Name] = []
        self.secrets: dict[str | None, Secret] = {}
        self.stagings: list[str] = []
        self.staging = ""
        self._answers: dict[Hashable, Any] = {}
        self._of_run: set[Name] = set()
        self.come_first()
        self.log.append(Logged("search path", self.place.path + ";"))
        self.add_staging()

    @property
    def database(self) -> DuckDBWarehouse:
        """The database: itself."""
        return self

    @property
    def catalog(self) -> str:
        """What the own database is called in SQL."""
        return self.place.catalog

    @property
    def in_memory(self) -> bool:
        """Whether the database is gone when the run ends."""
        return self.db == ""

    @property
    def has_file(self) -> bool:
        """Whether the database is a file, in which what is deleted stays readable."""
        return self.db not in ("", ":memory:")

    def come_first(self) -> None:
        """Put the built-in functions before those of the current database, as it is now."""
        self.place = self._call("open", lambda: built_ins.come_first(self._connection))

    def add_staging(self) -> None:
        """Attach a staging database and make it the one in which relations are staged from here on."""
        self.staging = free_name(self, "staging")
        self.stagings.append(self.staging)
        self.execute("staging", "ATTACH ':memory:' AS {{ name | ident }} (READ_WRITE)", name=self.staging)

    def source(self, table: str, options: ReaderOptions = AS_FOUND, name: str = "source") -> Source:
        """Return the records that `--table` names: a relation of the catalog first, else files."""
        return find_source(self, table, options, name)

    def staged(self, table: str) -> Name:
        """Return the name of a staging relation."""
        return Name(self.staging, "", table)

    def run(self, template: str, into: str, *, view: bool = False, rows: int = 0, **params: Any) -> Name:
        """Create the staging relation `into` from a template, and return its name.

        `rows` is what the progress line counts towards. A view is not computed until something reads it.
        """
        target = self.staged(into)
        made = "CREATE OR REPLACE VIEW {{ t | ident }}" if view else "CREATE OR REPLACE TABLE {{ t | ident }}"
        text = statement(made + " AS\n{{ select }};", t=target, select=render(template, **params))
        self._will_stage(target, is_of_run=not view or self._reads_only_run(params.values()))
        with self.progress.stage(into.replace("_", " "), rows, share=self._share):
            self.log.append(Logged(template, text))
            self._call(template, lambda: self._connection.execute(text))
        return target

    def rows(self, template: str, *, log: bool = True, rows: int = 0, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a template."""
        text = render(template, **params)
        if log:
            self.log.append(Logged(template, text + ";"))
        with self.progress.stage(Path(template).stem.replace("_", " "), rows, share=self._share):
            return self._call(template, lambda: self._connection.execute(text).fetchall())

    def record(self, template: str, **params: Any) -> Row:
        """Return the only row of a template as a dictionary."""
        text = render(template, **params)
        self.log.append(Logged(template, text + ";"))

        def fetch() -> Row:
            cursor = self._connection.execute(text)
            names = [column[0] for column in cursor.description or ()]
            return dict(zip(names, cursor.fetchall()[0], strict=True))

        return self._call(template, fetch)

    def arrays(self, template: str, **params: Any) -> dict[str, np.ndarray]:
        """Return the columns of a template as NumPy arrays, read as Arrow batches."""
        text = render(template, **params)
        self.log.append(Logged(template, text + ";"))

        return self._call(template, lambda: as_arrays(self._connection.sql(text).to_arrow_table()))

    def table(self, relation: Name | Select) -> pa.Table:
        """Return the records of a relation as an Arrow table."""
        text = statement("SELECT * FROM {{ r | ident }}", r=relation)
        return self._call("table", lambda: self._connection.sql(text).to_arrow_table())

    def batches(self, relation: Name | Sql) -> Iterator[pa.RecordBatch]:
        """Yield the records of a relation or SELECT as Arrow batches; the connection is busy until the last."""
        text = relation if isinstance(relation, Sql) else statement("SELECT * FROM {{ r | ident }}", r=relation)
        reader = self._call("batches", lambda: self._connection.sql(text).to_arrow_reader(1 << 16))
        yield from iter(lambda: self._call("batches", lambda: next(reader, None)), None)

    def load(self, table: pa.Table, into: str, comment: str) -> Name:
        """Create the staging relation `into` from an Arrow table, such as the labels of a kernel."""
        target = self.fill(table, into)
        shown = statement(_SHOWN, target=target, types=self.describe(target), comment=comment)
        self.log.append(Logged(into, shown))
        self.loaded.append(target)
        return target

    def words(self, into: str, key: str, n: int) -> Name:
        """Create the staging relation `into` of n words that a release is put in order by: see `Key.words`."""
        target = self.fill(_words(key, n), into)
        self.log_only(into, _DRAWN, target=target, n=n)
        return target

    def fill(self, records: pa.Table | pa.RecordBatchReader, into: str) -> Name:
        """Create the staging relation `into` from records of Arrow's, which is not logged."""
        target = self.staged(into)
        self._will_stage(target, is_of_run=True)
        self._pour(records, "CREATE OR REPLACE TABLE {{ t | ident }} AS SELECT * FROM {{ view | ident }}", t=target)
        return target

    def pour(self, records: pa.Table | pa.RecordBatchReader, text: str, /, **params: Any) -> None:
        """Run one statement that reads the relation `view` of Arrow's; it is not part of the log."""
        self._answers.clear()
        self._pour(records, text, **params)

    def _pour(self, records: pa.Table | pa.RecordBatchReader, text: str, /, **params: Any) -> None:
        view = self.lent(records)
        bound = statement(text, view=view, **params)
        try:
            self._call("pour", lambda: self._connection.execute(bound).fetchall())
        finally:
            self._call("pour", lambda: self._connection.unregister(view.table))

    def lent(self, records: pa.Table | pa.RecordBatchReader) -> Name:
        """Return a relation of records in memory: a transaction that writes elsewhere cannot write to staging."""
        view = f"sqlmicro_{token_hex(8)}"  # no name that anybody has taken, or could
        self._call("lent", lambda: self._connection.register(view, records))
        return Name("", "", view)

    # Statements that are no SELECT

    def execute(self, title: str, text: str, /, **params: Any) -> None:
        """Run one statement that is no SELECT: `text` is a constant, `params` are its names and literals."""
        self._run_logged(title, statement(text, **params) + ";")

    def create(self, kind: str, target: Name, template: str, **params: Any) -> None:
        """Create a TABLE or VIEW of the user's from a template."""
        made = "CREATE VIEW {{ target | ident }}" if kind == "VIEW" else "CREATE TABLE {{ target | ident }}"
        with self.progress.stage(f"register {target}", share=self._share):
            self.execute("register", made + " AS\n{{ select }}", target=target, select=render(template, **params))

    def write(self, select: Sql, path: Path, partition_by: tuple[str, ...] = (), *, rows: int = 0) -> Name:
        """Write the records of a SELECT to a new file that nobody else can read yet, and return what reads it back."""
        text, names = copying(select, path, partition_by)
        with self.progress.stage("publish", rows):
            self.execute("publish", text, **names)
        path.chmod(0o700 if path.is_dir() else 0o600)
        template, params = read_back(path)
        return self.run(template, "read_back", view=True, **params)

    def log_only(self, title: str, text: str, /, **params: Any) -> None:
        """Put a statement into the log that is not run: what a dry run would have done."""
        if text:
            self.log.append(Logged(title, statement(text, **params) + ";"))

    def rehearse(self, into: str, select: Sql) -> Name:
        """Create a staging relation that stands for one a dry run does not publish."""
        target = self.staged(into)
        self._will_stage(target, is_of_run=True)
        text = "CREATE OR REPLACE TABLE {{ target | ident }} AS\n{{ select }}"
        self.execute(into, text, target=target, select=select)
        return target

    def insert(self, title: str, text: str, values: Sequence[object], /, **params: Any) -> None:
        """Run one statement with bound values; the values stay out of the log."""
        bound = statement(text, **params)
        if bound.startswith("SET VARIABLE"):  # which a view may read
            self._answers = {key: found for key, found in self._answers.items() if _is_of_catalog(key)}
        elif not bound.startswith("SET"):
            self._answers.clear()
        self._call(title, lambda: self._connection.execute(bound, list(values)))

    def attach(self, text: str, /, **params: Any) -> None:
        """Run one ATTACH outside the log. Its errors are the database's own, which quote the URL: tell only their kind.

        Raises
        ------
        Exception
            What the database raises.
        """
        self._answers.clear()
        interruptible(partial(self._connection.execute, statement(text, **params)), self._connection.interrupt)

    def reach(self, objects: PinnedObjects) -> None:
        """Let the database read objects of a store: those that are added."""
        self._connection.register_filesystem(objects)
        self.objects[objects.protocol[0]] = objects

    def query(self, title: str, text: str, values: Sequence[object] = (), /, **params: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a look-up in the catalog or in our own tables; it is not part of the log."""
        bound = statement(text, **params)

        def ask() -> list[tuple[Any, ...]]:
            return self._call(title, lambda: self._connection.execute(bound, list(values)).fetchall())

        if not bound.startswith(_READING):
            self._answers.clear()
        elif not values and self.sealable and self._reads_only_run(params.values()):
            known = self._answers.get(bound)
            found: list[tuple[Any, ...]] = ask() if known is None else known
            if bound.startswith("DESCRIBE") or len(found) == 1:  # records are not kept
                self._answers[bound] = found
            return [*found]
        return ask()

    def once(self, key: Hashable, ask: Callable[[], T]) -> T:
        """Return what `ask` returns; where the connection is ours, as it did unless a statement was run meanwhile.

        One that makes a new relation in staging changes no answer about others.
        """
        if key in self._answers:
            known: T = self._answers[key]
            return known
        found = ask()
        if self.sealable:
            self._answers[key] = found
        return found

    def _will_stage(self, target: Name, *, is_of_run: bool) -> None:
        """Forget answers about a relation that is replaced, and about views of it."""
        if target in self._of_run:
            self._answers.clear()
            self._of_run.discard(target)
        if is_of_run:
            self._of_run.add(target)

    def _reads_only_run(self, values: Iterable[object]) -> bool:
        """Tell whether parameters name relations, and only such whose records nobody but this run can change."""
        found = [*_relations(values)]
        return bool(found) and all(one in self._of_run for one in found)

    def set_key(self, name: str, key: str) -> None:
        """Bind a secret key of keyed hashes to a variable of the session; the key is never part of a statement."""
        self.insert("key", "SET VARIABLE {{ name | ident }} = $1", [key], name=name)
        drawn = "SET VARIABLE {{ name | ident }} = CAST(uuid() AS VARCHAR)"
        self.log_only("key", "-- The run used a secret key in place of this one.\n" + drawn, name=name)

    def forget(self, relation: Name) -> None:
        """Drop a staging table that no later step reads."""
        self.execute("load", "DROP TABLE {{ relation | ident }}", relation=relation)

    def set_pads(self, inner: bytes, outer: bytes) -> None:
        """Bind the pads of a keyed hash (HMAC); they are as secret as its key and never part of a statement."""
        for name, pad in (("sqlmicro_inner_pad", inner), ("sqlmicro_outer_pad", outer)):
            self.insert("pads", "SET VARIABLE {{ name | ident }} = $1", [pad], name=name)
            drawn = "SET VARIABLE {{ name | ident }} = encode(concat(uuid(), uuid()))"
            self.log_only("pads", "-- The run used a secret pad in place of this one.\n" + drawn, name=name)

    def seal(self, *folders: Path) -> None:
        """Let the database reach no file from here on but those it was told to read, and those in `folders`.

        Settings are locked, and no extension can be loaded. A view may read files of its own that we do not know: where
        one is read, only the settings are locked. A database that was only borrowed keeps its settings. What has been
        attached stays within reach: its file, the data files of a DuckLake, and everything a server lets its user do.
        """
        if not self.sealable:
            return
        if self.readable is not None:
            allowed = sorted(self.folders | {str(folder) for folder in folders})
            for setting, places in (("allowed_paths", sorted(self.readable)), ("allowed_directories", allowed)):
                if places:  # none is what they are
                    text = "SET {{ setting | ident }} = {{ places | lit }}"
                    self.insert("seal", text, [], setting=setting, places=places)
            self.insert("seal", "SET enable_external_access = false", [])
        self.insert("seal", "SET lock_configuration = true", [])

    @contextmanager
    def transaction(self, *, releasing: bool = False) -> Iterator[None]:
        """Commit at the end of the block, or roll everything back.

        With `releasing` it is the commit that makes a release visible: signals that come later stop nothing.
        """
        self.execute("publish", "BEGIN TRANSACTION")
        done = False
        try:
            yield
            with committing() if releasing else uninterrupted():  # or nobody would know whether it was done
                mirror.commit(self)
                self.execute("publish", "COMMIT")
                done = self.committed = True
        except BaseException:
            if not done:
                self._answers.clear()
                mirror.roll_back(self)
                with contextlib.suppress(Exception):
                    self._connection.rollback()
            raise

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run the block as one transaction that publishes nothing, such as book-keeping; it is not part of the log."""
        self.query("aside", "BEGIN TRANSACTION")
        try:
            yield
            self.query("aside", "COMMIT")
        except BaseException:
            self._answers.clear()
            with contextlib.suppress(Exception):
                self._connection.rollback()
            raise

    @contextmanager
    def as_others_see(self) -> Iterator[None]:
        """Read, in the block, what is committed by now, whatever transaction is open."""
        own = self._connection
        self._connection = own.cursor()
        self._answers.clear()
        try:
            # A cursor has the path of the database, in which the owner's macros come first.
            self._connection.execute(self.place.path)
            yield
        finally:
            close(self._connection)
            self._connection = own
            self._answers.clear()

    # The catalog

    def full(self, name: Name) -> Name:
        """Return the name of a relation with its database and schema, whose defaults are those of the connection."""
        catalog = name.catalog or self.catalog
        return Name(catalog, name.schema or (self.place.schema if catalog == self.catalog else "main"), name.table)

    def label(self, name: Name) -> str:
        """Return a relation as its owner calls it: without what goes without saying."""
        if name.catalog not in ("", self.catalog):
            return str(name)
        return name.table if name.schema in ("", "main") else f"{name.schema}.{name.table}"

    def refuse_shadowing(self, where: str, must: str, do: str) -> None:
        """Refuse a database with macros that are called like built-in functions.

        Raises
        ------
        InputError
            With their names.
        """
        names = self._call("catalog", lambda: built_ins.shadowing(self._connection, self.catalog))
        if names:
            raise InputError(where, must, f"macros called {', '.join(names)}", do)

    @contextmanager
    def using(self, schema: Name) -> Iterator[None]:
        """Have names without a schema mean this one for a statement that the database's owner wrote."""
        self.query("use", "USE {{ schema | ident }}", schema=schema)
        try:
            yield
        finally:
            self.query("use", "{{ sql }}", sql=self.place.path)

    def describe(self, relation: Name) -> list[tuple[str, str]]:
        """Return name and type of every column of a relation."""
        found = self.query("describe", "DESCRIBE SELECT * FROM {{ r | ident }}", r=relation)
        return [(str(name), str(kind)) for name, kind, *_ in found]

    def count(self, relation: Name) -> int:
        """Return the number of rows of a relation."""
        return int(self.query("count", "SELECT count(*) FROM {{ r | ident }}", r=relation)[0][0])

    def script(self) -> str:
        """Return every statement that was run, as one script for a DuckDB shell with a database file of that name."""
        back = statement("USE {{ schema | ident }};", schema=Name("", self.catalog, self.place.schema))
        return "\n\n".join((*(entry.sql for entry in self.log), back)) + "\n"

    def steps(self) -> str:
        """Return the statements that were run, whatever the database file is called and whichever schemas it has."""
        run = "\n\n".join(entry.sql for entry in self.log if entry.sql != self.place.path + ";")
        return run.replace(ident(self.catalog) + ".", "")

    @cached_property
    def version(self) -> str:
        """The version of DuckDB, such as v1.5.5."""
        return str(self.query("version", "SELECT version()")[0][0])

    @cached_property
    def memory(self) -> int:
        """How many bytes the database may have in memory."""
        number, unit = str(self.query("memory", "SELECT current_setting('memory_limit')")[0][0]).split()
        powers = ("bytes", "KiB", "MiB", "GiB", "TiB")
        return int(float(number) * 1024 ** powers.index(unit))

    def _share(self) -> float:
        return float(self._connection.query_progress()) / 100

    def _run_logged(self, title: str, text: Sql | str) -> None:
        self.log.append(Logged(title, text))
        self._answers.clear()
        self._call(title, lambda: self._connection.execute(text))

    def _call(self, title: str, function: Callable[[], T]) -> T:
        """Run `function`, which Ctrl-C can interrupt, and tell its errors in words that quote no record."""
        try:
            return interruptible(function, self._connection.interrupt)
        except Exception as error:
            failure = wrapped(title, error, self.reading, self.objects.values())
        raise failure  # out of the block: the database's own error, which may quote records, is not its context


def _is_of_catalog(key: Hashable) -> bool:
    return not isinstance(key, str) or key.startswith("DESCRIBE")


def _relations(values: Iterable[object]) -> Iterator[Name | None]:
    """Yield the relations among the parameters of a template; None for what may be one."""
    for value in values:
        if isinstance(value, Name):
            yield value
        elif isinstance(value, Mapping):
            yield from _relations(value.values())
        elif isinstance(value, list | tuple | set | frozenset):
            yield from _relations(value)
        elif not isinstance(value, str | int | float | Column | None):
            yield None


def _words(key: str, n: int) -> pa.RecordBatchReader:
    """Return n words of the key of an order as a relation of Arrow's, made as they are read: see `Key.words`."""
    import pyarrow as pa

    schema = pa.schema([("word", pa.uint64())])

    def batch(block: bytes) -> pa.RecordBatch:
        # of a buffer: pa.array of an ndarray loads pandas where it is installed
        column = pa.Array.from_buffers(pa.uint64(), len(block) // 8, [None, pa.py_buffer(block)])
        return pa.RecordBatch.from_arrays([column], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, map(batch, Key.words(key, n)))
