"""What the smaller verbs return: tables registered, methods listed, macros, drafts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlmicro.identifiers.repeated import RepeatedPersons
from sqlmicro.system.reporting import INLINE, WHOLE


@dataclass(frozen=True)
class ReadAs:
    """What a part of a CSV file was read as, and the option that says otherwise."""

    what: str
    value: str
    option: str
    guessed: bool
    """Whether it was not given."""


@dataclass(frozen=True)
class RegisterReport:
    """A table or view that was made of files."""

    table: str
    kind: Literal["table", "view"]
    db: str
    rows: int
    columns: list[str]
    types: list[str] = field(default_factory=list)
    """Of the columns, in their order."""
    read_as: list[ReadAs] = field(default_factory=list)
    """How CSV files were read, as they were given or taken for."""
    open: list[str] = field(default_factory=list)
    """What was left as it is or may be meant otherwise, and the option that decides it."""
    persons: RepeatedPersons | None = None
    """Whose records the rows of a table seem to be, where these are of fewer persons."""


@dataclass(frozen=True)
class MethodSummary:
    """A method in a line."""

    name: str
    summary: str
    promise: str
    source: str


@dataclass(frozen=True)
class Methods:
    """The methods there are."""

    methods: list[MethodSummary]


@dataclass(frozen=True)
class ParameterReport:
    """A parameter of a method."""

    name: str
    option: str
    default: Any
    choices: list[str]
    help: str


@dataclass(frozen=True)
class MethodReport:
    """A method: what it does and promises, where it is from, its parameters."""

    name: str
    summary: str
    promise: str
    source: str
    module: str
    engine: str
    templates: list[str]
    parameters: list[ParameterReport]
    description: str = field(metadata=WHOLE)


@dataclass(frozen=True)
class MacroReport:
    """A macro, and what it returns."""

    call: str
    title: str


@dataclass(frozen=True)
class SubsetTable:
    """A table of a subset: how many rows it has there, and had."""

    name: str
    rows: int
    of: int


@dataclass(frozen=True)
class SubsetKey:
    """A key of a subset that was checked: `dangling` rows referred to nothing before, either."""

    child: str
    parent: str
    declared: bool
    dangling: int


@dataclass(frozen=True)
class SubsetReport:
    """A subset of a database; it is never anonymised."""

    anonymised: bool
    to: str
    persons: int
    """How many were drawn."""
    persons_needed: int
    """Those who are there because a row of the others refers to them."""
    tables: list[SubsetTable]
    keys: list[SubsetKey]
    left_out: list[str]


@dataclass(frozen=True)
class MacrosReport:
    """The audits as macros: installed in a database, or as a script."""

    db: str | None
    macros: list[MacroReport]
    script: str | None = field(metadata=WHOLE)


@dataclass(frozen=True)
class Compiled:
    """What was compiled: functions, the folders they are kept in, and seconds; `left_out` needs what is not installed.

    No folder means that nothing can be kept.
    """

    functions: int
    folders: tuple[str, ...]
    left_out: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Draft:
    """The draft of a job file."""

    table: str
    toml: str = field(metadata=WHOLE)


@dataclass(frozen=True)
class Policy:
    """A proposed job file for all tables of a warehouse."""

    db: str
    tables: int
    columns: int
    released: int
    """How many tables are about persons."""
    toml: str = field(metadata=WHOLE)


@dataclass(frozen=True)
class DraftedHierarchy:
    """The hierarchy file that was drafted, and how many values and records of the column are not in it."""

    table: str
    column: str
    kind: str
    file: str
    values: int
    levels: int
    values_left_out: int
    records_left_out: int


@dataclass(frozen=True)
class Explanation:
    """What a job file will do."""

    job: str
    paragraphs: list[str]
    not_looked_up: list[str]
    """Tables of which nothing could be known beforehand, and why."""


@dataclass(frozen=True)
class SchemaReport:
    """A JSON Schema."""

    schema: Mapping[str, Any] = field(metadata={**INLINE, **WHOLE})
