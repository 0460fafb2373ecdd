"""The options all commands share, declared once; the command line, job files and Python calls read them from here.

How long a run may take.

Which engine runs a job or an audit.

Where the tables are that a job file names: the same job runs wherever the data is.

Which rows of a table that is changed in place are anonymized.

The unit that is protected: whose records the rows of a table are.

What a release must keep together with earlier ones of the same people.

What somebody who holds all releases of a job file can join, and what of it is known from elsewhere.

Options of `audit`: the other releases that a table is measured with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from sqlmicro.errors import Need
from sqlmicro.options.params import Param, Parameter
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.options.series import NightOption, SeriesOptions
from sqlmicro.system.secrets import SEED_VARIABLE

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, kw_only=True)
class BudgetOption:
    """A time that settings are chosen by."""

    budget: Annotated[
        str | None,
        Param(
            "Choose --quality or --effort so that the run takes about this long, such as 90s, 5m or 1h30m. It says "
            "what it chose, and interrupts nothing. What cannot be done in time is refused before the work.",
            metavar="TIME",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EngineChoice:
    """What does the work, and where."""

    engine: Annotated[
        Literal["duckdb", "spark"], Param("What does the work; spark needs sqlmicro[spark] and Java 17.")
    ] = "duckdb"
    master: Annotated[
        str | None, Param("With --engine spark: where, such as local[4]. Default: as Spark is set up.", metavar="URL")
    ] = None


@dataclass(frozen=True, kw_only=True)
class LocationOptions:
    """Where the tables of a job are, and where its releases go."""

    location: Annotated[
        str | None,
        Param(
            "Where the tables are that a job names: a schema or an attached database, such as crm.public; a folder of "
            "Parquet files with a slash in it, such as data/ or s3://lake/in; delta:FOLDER or iceberg:FOLDER.",
            metavar="LOCATION",
        ),
    ] = None
    release_location: Annotated[
        str | None,
        Param(
            "Where the releases go that a job publishes with into, written like --location. Default: as --location.",
            metavar="LOCATION",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class OnlyWhereOptions:
    """Which rows come of age, and what becomes of those that find no class."""

    only_where: Annotated[
        str | None,
        Param(
            "With --in-place: anonymize the rows for which this condition holds, with --series also those that were "
            "anonymized before; leave the others as they are. See sqlmicro help retention.",
            metavar="SQL",
            whole=True,
        ),
    ] = None
    waiting: Annotated[
        Literal["keep", "join", "empty"],
        Param(
            "With --only-where: what becomes of rows that have come of age, and for which no class opened within "
            "--patience days. keep: they wait as they are. join: each takes the values of the nearest class of an "
            "earlier night; who has copies of the table of two nights sees which row that is. empty: their columns "
            "become NULL."
        ),
    ] = "keep"

    def needs_of_rows(self, *, in_place: bool) -> Iterator[Need]:
        """Yield what is needed where some rows come of age."""
        alone = self.only_where is None and self.waiting != "keep"
        yield Need(not alone, "--waiting", "goes with --only-where", "none", "Say which rows come of age")
        must = "anonymizes some rows of a table in place, and leaves the others there as they are"
        yield Need(self.only_where is None or in_place, "--only-where", must, "no --in-place", "Add --in-place")


@dataclass(frozen=True, kw_only=True)
class PersonOptions:
    """Whose records the rows of a table are."""

    person: Annotated[
        tuple[str, ...],
        Param(
            "Columns that say whose record it is: k counts persons. They are left out, unless a step makes pseudonyms "
            "of them.",
            metavar="A,B",
        ),
    ] = ()
    of_person: Annotated[
        tuple[str, ...],
        Param(
            "With --person: columns with one value for each person, grouped once per person. Default: those that have.",
            metavar="A,B",
        ),
    ] = ()
    household: Annotated[
        tuple[str, ...],
        Param(
            "Columns that say of which household a record is: what is constant within one stays so, in classes of k "
            "households. They are left out.",
            metavar="A,B",
        ),
    ] = ()
    rows_are_persons: Annotated[
        bool, Param("Count rows, although a column repeats like the key of persons who have several.")
    ] = False

    def needs_of_persons(self, where: str) -> Iterator[Need]:
        """Yield what is needed for everybody to know what k counts."""
        both, got = self.person and self.rows_are_persons, "--person and --rows-are-persons"
        yield Need(not both, f"{where}, person", "k counts persons or rows", got, "Leave one of them out")
        must = "names columns of the persons that --person tells apart"
        told = self.person or not self.of_person
        yield Need(told, f"{where}, of_person", must, "no --person", "Give --person")


@dataclass(frozen=True, kw_only=True)
class PastOptions:
    """What becomes of a release that tells more together with others than alone, and where the ledger of it is."""

    ledger: Annotated[
        str | None,
        Param(
            "Database file of the ledger, where it is not in the database of the release: for files, and for several "
            "databases. Default for files without --db: a file of the user, beside the secret.",
            metavar="FILE",
            env="SQLMICRO_LEDGER",
        ),
    ] = None
    alone_because: Annotated[
        str | None,
        Param(
            "Publish although the release does not keep its k together with others of the same people; the reason is "
            "recorded.",
            metavar="TEXT",
        ),
    ] = None
    min_union_k: Annotated[
        int | None,
        Param("So many persons must share their classes in this release and in the one that it replaces.", min=2),
    ] = None


ONLY_ITS_OWN = PastOptions()
"""What is out must share k with a release; what it replaces need not."""


@dataclass(frozen=True, kw_only=True)
class LedgerOption:
    """Where releases are recorded that no database records."""

    ledger: Annotated[
        str | None,
        Param("Where files without --db are recorded. Default: the ledger of the user.", metavar="FILE",
              env="SQLMICRO_LEDGER"),
    ] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class JoinOptions:
    """Over which joins k is counted, and what an attacker knows."""

    join_depth: Annotated[
        int | None,
        Param(
            "Over how many keys in a row the tables can be joined. Default: all. 0 says that they are handed to "
            "different people: then k is not counted over joins.",
            min=0,
        ),
    ] = None
    min_join_k: Annotated[
        int | None,
        Param("Persons who are alike in all that joins tell, at least. Default: the smallest k of the tables.", min=1),
    ] = None
    known: Annotated[
        tuple[str, ...],
        Param(
            "What is known of the rows that a person has in a table: count, sum(A), avg(A), min(A), max(A), or none; "
            "such as 'orders: count, sum(amount)'. Default: count, of every table.",
            metavar="TABLE:WHAT",
            whole=True,
        ),
    ] = ()
    max_cross_table: Annotated[
        float | None,
        Param(
            "Look for persons by the pattern of their rows in the releases: at most this share may be found. 1 only "
            "measures it.",
            min=0,
            max=1,
            share=True,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class NoOptions:
    """Nothing to choose."""


class OpenDatabase(Protocol):
    """A database that a session has open: runs borrow a cursor, and leave what is attached to it."""

    @property
    def attached(self) -> tuple[str, ...]:
        """The names of the databases beside it."""

    @property
    def mirrors(self) -> Mapping[str, Any]:
        """The servers among them."""

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written to it."""

    def cursor(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Lend a cursor for the length of the block."""


@dataclass(frozen=True, kw_only=True)
class DbOption:
    """Which database file; a session has one open, in place of it."""

    db: Annotated[
        str | None, Param("Database file. Default: a database in memory.", metavar="FILE", env="SQLMICRO_DB")
    ] = None
    opened: OpenDatabase | None = None

    @property
    def database(self) -> str | OpenDatabase | None:
        """What is to be opened, or is open."""
        return self.opened or self.db


@dataclass(frozen=True, kw_only=True)
class TableOption:
    """Which table, or files."""

    table: Annotated[
        str,
        Param(
            "Table: a name, schema.name, catalog.schema.name, a CSV, Parquet or JSON path or glob, or delta:FOLDER or "
            "iceberg:FOLDER.",
            metavar="TABLE",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class AttachOption:
    """Which other databases are attached."""

    attach: Annotated[
        tuple[str, ...],
        Param(
            "Another database. Its tables are then called NAME.schema.table. URL is a DuckDB file, or sqlite:, "
            "postgres:, mysql: or ducklake: and the connection string, without a password; repeatable.",
            metavar="NAME=URL",
            whole=True,
            private=True,
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class SourceOptions(DbOption, TableOption, AttachOption):
    """Where the records come from."""


@dataclass(frozen=True, kw_only=True)
class StepColumns:
    """The columns a step works on, and its strata."""

    columns: Annotated[tuple[str, ...], Param("Columns to anonymize; repeatable, or a comma list.", metavar="A,B")] = ()
    by: Annotated[
        tuple[str, ...],
        Param("Strata: no group crosses their values, which are released as they are.", metavar="A,B"),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class RowKeyOption:
    """Which columns identify a record."""

    row_key: Annotated[
        tuple[str, ...],
        Param(
            "Columns that identify a record. It draws the same random numbers again, "
            "whatever else changes. Default: its content. They are left out unless they are kept.",
            metavar="A,B",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class OtherColumns(RowKeyOption):
    """What becomes of the columns that no step works on."""

    keep: Annotated[tuple[str, ...], Param("Columns to release as they are.", metavar="A,B")] = ()
    accept_unique: Annotated[
        tuple[str, ...],
        Param(
            "Columns released as they are although each alone makes more than 5 % of the records unique.",
            metavar="A,B",
        ),
    ] = ()
    drop: Annotated[tuple[str, ...], Param("Columns to leave out.", metavar="A,B")] = ()
    rest: Annotated[Literal["keep", "drop"] | None, Param("What to do with columns that no other option names.")] = None
    decimals: Annotated[
        bool,
        Param(
            "Release means of whole numbers with decimals, as DOUBLE. Default: they are rounded, half to even, and the "
            "column keeps its type."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class NullsOption:
    """What becomes of missing values."""

    nulls: Annotated[
        Literal["error", "keep", "suppress", "pattern"] | None,
        Param(
            "Missing values. error: refuse. keep: NULL is a value of its own, and the majority of a group decides. "
            "suppress: leave the records out. pattern: group only records with the same columns missing, and take "
            "out further values where few lack them. Default: error; of safe pattern, or keep with persons, "
            "households or a series."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(StepColumns, OtherColumns, NullsOption):
    """The role of every column."""


@dataclass(frozen=True, kw_only=True)
class RegionOption:
    """Whose telephone numbers are looked for."""

    region: Annotated[
        str | None,
        Param("Country whose telephone numbers are recognised without the country code, such as DE.", metavar="CC"),
    ] = None


@dataclass(frozen=True, kw_only=True)
class IdentifierOptions(RegionOption):
    """What is taken for a direct identifier."""

    identifier_ok: Annotated[
        tuple[str, ...],
        Param(
            "Columns to use or release although they look like direct identifiers, such as e-mail addresses.",
            metavar="A,B",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class RecordOptions:
    """How records become vectors, for a kernel that groups them."""

    ordinal: Annotated[
        tuple[str, ...],
        Param(
            "Columns that take part by rank and get the median of their group. Default: ENUM columns.", metavar="A,B"
        ),
    ] = ()
    nominal: Annotated[
        tuple[str, ...],
        Param(
            "Columns that are compared as equal or not, and get the mode of their group. Default: text, and other "
            "types without arithmetic.",
            metavar="A,B",
        ),
    ] = ()
    importance: Annotated[
        tuple[str, ...],
        Param("How much a column counts in the distance: 1 is one standard deviation, or one mismatch.", metavar="A=W"),
    ] = ()
    block_attributes: Annotated[
        str | None,
        Param(
            "Blocks of columns that are grouped separately; the whole record is then not k-anonymous.",
            metavar='"A,B;C,D"',
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PublishSettings(PastOptions, SeriesOptions, OnlyWhereOptions):
    """Where a release goes."""

    into: Annotated[str | None, Param("Table to publish into. Default: <table>_anonymized.", metavar="NAME")] = None
    to: Annotated[
        str | None,
        Param(
            "File or object to write: .parquet, .csv, .json, .ndjson (.gz, .zst); or delta:FOLDER, iceberg:FOLDER.",
            metavar="FILE",
        ),
    ] = None
    partition_by: Annotated[
        tuple[str, ...],
        Param(
            "With --to FOLDER: released columns whose values name the folders of the Parquet files.",
            metavar="A,B",
        ),
    ] = ()
    escape_formulas: Annotated[
        bool,
        Param(
            "With --to FILE.csv: put ' before text that begins with =, +, -, @, a tab or a line break, which a "
            "spreadsheet would run as a formula."
        ),
    ] = False
    in_place: Annotated[bool, Param("Replace the records of the table itself; its definition stays.")] = False
    widen: Annotated[
        bool,
        Param(
            "With --in-place: make integer and decimal columns DOUBLE, instead of rounding means; says --decimals too."
        ),
    ] = False
    no_purge: Annotated[
        bool, Param("With --in-place: do not rewrite the file; the replaced values stay readable in it.")
    ] = False
    overwrite: Annotated[bool, Param("Replace the target if it exists.")] = False
    manifest: Annotated[
        str | None,
        Param("JSON file for the record of the release: hashes, versions, parameters.", metavar="FILE"),
    ] = None

    @property
    def is_night(self) -> bool:
        """Whether a series remembers the release: one that is named, or that of rows that have come of age."""
        return self.series is not None or self.only_where is not None


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """What a run may use of the machine."""

    memory_limit: Annotated[str | None, Param("Memory the database may use, such as 4GB.", metavar="SIZE")] = None
    threads: Annotated[int | None, Param("Threads the database and the kernels may use.", min=1)] = None


ANY_MACHINE = MachineOptions()
"""The database decides itself."""


@dataclass(frozen=True, kw_only=True)
class SeedOptions:
    """Where random numbers come from."""

    seed: Annotated[
        str | None,
        Param(
            "Make a test repeatable. It is not secret: ps shows it, and anybody who knows it can undo shuffles.",
            metavar="TEXT",
        ),
    ] = None
    seed_file: Annotated[
        str | None,
        Param(
            f"File with a secret seed, 16 bytes or more; - asks for it. Default: the variable {SEED_VARIABLE}, "
            "else the secret that sqlmicro keeps for its user.",
            metavar="FILE",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EngineOptions(EngineChoice):
    """What runs a job, and whether it publishes."""

    show_sql: Annotated[bool, Param("Print every statement instead of publishing.")] = False
    dry_run: Annotated[bool, Param("Do everything except publishing; nothing is written.")] = False
    diff: Annotated[
        bool,
        Param(
            "With --dry-run: show some records of the release and which values were changed. Original values are raw "
            "data and are not shown. Neither are values that fewer than k records of the release share. The marks tell "
            "which values are true: do not pass them on with the release."
        ),
    ] = False
    diff_rows: Annotated[int, Param("How many records --diff shows, at most.", min=1, max=1000)] = 10


@dataclass(frozen=True, kw_only=True)
class RunOptions(SeedOptions, EngineOptions, NightOption, BudgetOption):
    """How a job is run."""


@dataclass(frozen=True, kw_only=True)
class DisplayOptions:
    """What a command prints."""

    json: Annotated[bool, Param("Print one JSON object.", cli_only=True)] = False
    quiet: Annotated[bool, Param("Print errors only.", cli_only=True)] = False


@dataclass(frozen=True, kw_only=True)
class DetailOptions:
    """How much of a release is printed."""

    details: Annotated[bool, Param("Print all that is known of a release.", cli_only=True)] = False


@dataclass(frozen=True, kw_only=True)
class RegisterSettings:
    """Files that become a table or view."""

    files: Annotated[
        tuple[str, ...], Param("CSV, Parquet or JSON files or globs.", metavar="FILE...", positional=True, whole=True)
    ]
    table: Annotated[str, Param("Name of the table to make.", metavar="NAME")]
    view: Annotated[bool, Param("Make a view that reads the files each time, instead of a copy.")] = False
    overwrite: Annotated[bool, Param("Replace the table or view if it exists.")] = False


@dataclass(frozen=True, kw_only=True)
class DraftOption:
    """Whether a release is only tried."""

    draft: Annotated[
        bool,
        Param(
            "Only try it. A draft counts nowhere and is erased after a day; sqlmicro publish-draft makes it a release."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class MethodOptions(
    SourceOptions,
    ColumnOptions,
    PersonOptions,
    IdentifierOptions,
    PublishSettings,
    DraftOption,
    RunOptions,
    MachineOptions,
    ReaderOptions,
):
    """What the command of a method takes: what all methods share, and by name the settings of its own."""

    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FileOptions(DbOption, AttachOption, LocationOptions, MachineOptions, RunOptions, JoinOptions):
    """What holds for all tables of a job file."""

    key_file: Annotated[
        str | None,
        Param(
            "File with the secret key of the pseudonyms that a [[key]] makes. Default: the variable "
            "SQLMICRO_PSEUDONYM_KEY.",
            metavar="FILE",
        ),
    ] = None
    leave_out: Annotated[
        tuple[str, ...],
        Param("Tables that are not released, on purpose: a plan wants every table decided.", metavar="A,B"),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class JobTableOptions(TableOption, ReaderOptions, OtherColumns, PersonOptions, IdentifierOptions):
    """What a job says of its table."""


@dataclass(frozen=True, kw_only=True)
class JobOptions(FileOptions, JobTableOptions):
    """What holds for all steps of a job."""


def names(declared: Iterable[Parameter]) -> tuple[str, ...]:
    """Return the names of some parameters.

    >>> names([Parameter("k", int, 3, Param("Smallest group."))])
    ('k',)
    """
    return tuple(parameter.name for parameter in declared)


@dataclass(frozen=True, kw_only=True)
class WithOptions:
    """Which other releases of the same people somebody may have."""

    with_: Annotated[
        tuple[str, ...],
        Param(
            "Measure the table together with this release of the same people: its number in the ledger, its table or "
            "file; repeatable. Persons are known by the ledger, or with --match by columns that all have.",
            metavar="RELEASE",
        ),
    ] = ()
    min_union_k: Annotated[
        int | None, Param("Gate: so many persons must share their classes in the table and all of --with.", min=2)
    ] = None
    ledger: Annotated[
        str | None,
        Param("Database file of the ledger, where it is not in the database of the table.", metavar="FILE",
              env="SQLMICRO_LEDGER"),
    ] = None  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class AuditedWith(SourceOptions, WithOptions):
    """What is audited, and with which releases."""
