"""The options all commands share, declared once; the command line, job files and Python calls read them from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from sqlmicro.options.budget import BudgetOption
from sqlmicro.options.engine import EngineChoice
from sqlmicro.options.joins import JoinOptions
from sqlmicro.options.location import LocationOptions
from sqlmicro.options.only_where import OnlyWhereOptions
from sqlmicro.options.params import Param, Parameter
from sqlmicro.options.past import PastOptions
from sqlmicro.options.persons import PersonOptions
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.options.series import NightOption, SeriesOptions
from sqlmicro.system.secrets import SEED_VARIABLE

if TYPE_CHECKING:
    import duckdb


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
