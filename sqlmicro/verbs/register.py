"""The command `register`: files as a table or view of a database.

The command `profile`: what the columns of a table are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sqlmicro.database import attach
from sqlmicro.database.catalog import find_relation, schema_exists, target_name
from sqlmicro.database.columns import Column, ColumnProfile, pick
from sqlmicro.database.encodings import guessed, in_utf8
from sqlmicro.database.files import file_format, reading
from sqlmicro.database.finding import describe, find_source, invented_names, may_read, open_files
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.read_once import read_once
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database, Warehouse
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.identifiers import scan
from sqlmicro.identifiers.reading import CodeForMissing, Understood, codes_for_missing, understood
from sqlmicro.identifiers.repeated import RepeatedPersons, repeated_persons
from sqlmicro.identifiers.scan import ProfileReport
from sqlmicro.options.common import DbOption, MachineOptions, RegionOption, RegisterSettings, SourceOptions
from sqlmicro.options.reader import ReaderOptions, date_format
from sqlmicro.reports.results import ReadAs, RegisterReport
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class RegisterOptions(RegisterSettings, DbOption, MachineOptions, ReaderOptions):
    """What `sqlmicro register` takes."""


def register_values(options: RegisterOptions, progress: Progress) -> RegisterReport:
    """Register files as a table or view of a database."""

    if not options.database:
        raise ParameterError(
            "register, --db",
            "a database file is needed; a table in memory would be gone at once",
            "none",
            "Give --db FILE or set SQLMICRO_DB",
        )
    if not options.files:
        raise ParameterError("register", "at least one file is needed", "none")
    reader = options.given()
    with open_warehouse(options.database, may_create=True, machine=options, progress=progress) as warehouse:
        folder = None if options.view else warehouse.temp or Path(tempfile.gettempdir())
        found = _encoding(options)
        files, their = in_utf8(options.files, {**reader, **found}, folder)
        told = _understood(warehouse, files, their, options.files[0])
        _, params = reading(files, their)
        warehouse.reading = ", ".join(options.files)
        may_read(warehouse, params["paths"])
        warehouse.seal()
        target = _target(warehouse, options)
        told = _made(warehouse, options, target, (files, their), told)
        described = warehouse.describe(target.name)
        columns = [name for name, _ in described]
        for text in invented_names(options.files[0], columns, reader):
            progress.say(text)
        return RegisterReport(
            options.table, "view" if options.view else "table", str(options.database), warehouse.count(target.name),
            columns, [kind for _, kind in described], _read_as(reader, {**found, **told.options}), [*told.open],
            _persons(warehouse, options, target.name),
        )  # fmt: skip


@dataclass(frozen=True)
class _Target:
    """The relation to be made, and whether it replaces a table (None: nothing)."""

    name: Name
    replaces_table: bool | None


def _target(warehouse: Database, options: RegisterOptions) -> _Target:
    """Return what is to be made, or refuse it where it is there and may not be overwritten."""
    target = warehouse.full(target_name(options.table, "--table"))
    if not schema_exists(warehouse, target):
        schema = warehouse.label(target).rpartition(".")[0]
        raise InputError("--table", f"schema {schema!r} must exist", "none", "Make it with CREATE SCHEMA")
    if options.view:
        must = "a view reads its files with DuckDB's own functions, each time"
        warehouse.refuse_shadowing("--view", must, "Give the macros other names, or leave out --view")
    found = find_relation(warehouse, target)
    if found is None:
        return _Target(target, None)
    if not options.overwrite:
        raise InputError(
            "--table",
            f"{options.table!r} must not exist yet",
            "a table" if found[1] else "a view",
            "Choose another name, or add --overwrite",
        )
    return _Target(found[0], found[1])


def _made(
    warehouse: Database,
    options: RegisterOptions,
    target: _Target,
    files: tuple[Sequence[str], Mapping[str, object]],
    told: Understood,
) -> Understood:
    """Make the table or view, and return how its files were read: what only the first rows are is left as text."""
    template, params = reading(*files)

    def make(more: Mapping[str, object]) -> None:
        with warehouse.transaction():
            if target.replaces_table is not None:
                kind = "DROP TABLE {{ name | ident }}" if target.replaces_table else "DROP VIEW {{ name | ident }}"
                warehouse.execute("register", kind, name=target.name)
            how = [*params["options"], *more.items()]
            warehouse.create("VIEW" if options.view else "TABLE", target.name, template, **{**params, "options": how})

    try:
        make(told.options)
    except InputError as error:
        if not told.options:
            raise
        told = Understood({}, (f"the first rows can be read by {_named(told)}, but not all: {error.got}",))
        make({})
    return told


def _encoding(options: RegisterOptions) -> dict[str, object]:
    """Return the encoding that files are taken for, where nobody named it and they are not in UTF-8."""
    guesses = set() if options.encoding else {guessed(path) for path in options.files}
    return {"encoding": guesses.pop()} if len(guesses) == 1 and None not in guesses else {}


def _understood(warehouse: Database, files: Sequence[str], reader: Mapping[str, object], label: str) -> Understood:
    """Return how CSV files are to be read, besides what was given; nothing of other files.

    A day that may be the month, and numbers that may stand for a missing value, are questions on a terminal; elsewhere
    they are left as they are, and said.
    """
    if file_format(label) != "csv":
        return Understood({}, ())

    def opened(options: Mapping[str, object]) -> tuple[Column, ...]:
        return describe(warehouse, open_files(warehouse, files, options, label=label, name="as_found"))

    warehouse.reading = label
    columns = opened(reader)
    source = Source(warehouse.staged("as_found"), label, columns, is_table=False, is_file=True)
    told = _with_days(warehouse.progress, understood(warehouse, source, reader, opened))
    now = {**reader, **told.options}
    try:
        codes = codes_for_missing(warehouse, source.relation, opened(now))
    except InputError:  # what the first rows are not all rows are: told when the table is made
        return told
    return _with_codes(warehouse.progress, told, now, codes)


def _with_days(progress: Progress, told: Understood) -> Understood:
    """Return how dates are to be read whose day may be the month."""
    if not told.either_way:
        return told
    columns = ", ".join(told.either_way)
    which = progress.choose(f"{columns}: the day may be the month. Dates are written", _DAYS)
    if which is not None:
        return replace(told, options={**told.options, "dateformat": date_format(_DAYS[which])})
    left = (f"{name}: dates whose day may be the month: --date-format {' or '.join(_DAYS)}" for name in told.either_way)
    return replace(told, open=(*told.open, *left))


def _with_codes(
    progress: Progress, told: Understood, reader: Mapping[str, object], codes: Sequence[CodeForMissing]
) -> Understood:
    """Return what stands for a missing value, besides what does already: numbers only if somebody says so."""
    words = reader.get("nullstr")
    known = [*words] if isinstance(words, list) else [""]
    missing, left = list(known), []
    for one in codes:
        others = "all others are 0 or more" if one.code < 0 else "all others are below its half"
        found = f"{one.column}: {one.code} in {one.rows:,} rows, and {others}"
        which = progress.choose(f"{found}. It stands for", ("a missing value", "itself"))
        if which == 0 and str(one.code) not in missing:
            missing.append(str(one.code))
        if which is None:
            named = ",".join([*filter(None, missing), str(one.code)])
            left.append(f"{found}: if it stands for a missing value, --null-string {named}")
    changed = {} if missing == known else {"nullstr": missing}
    return replace(told, options={**told.options, **changed}, open=(*told.open, *left))


_DAYS = ("DD/MM/YYYY", "MM/DD/YYYY")
_OPTIONS = {
    "delim": ("fields are divided by", "--delimiter"), "quote": ("fields are in", "--quote"),
    "decimal_separator": ("decimal separator", "--decimal"), "thousands": ("separator of thousands", "--thousands"),
    "dateformat": ("dates are written", "--date-format"), "nullstr": ("missing values", "--null-string"),
    "encoding": ("encoding", "--encoding"),
}  # fmt: skip


def _named(told: Understood) -> str:
    """Return the options that were taken for a file, as they are called here."""
    return ", ".join(one.option for one in _read_as({}, told.options))


def _read_as(given: Mapping[str, object], guessed: Mapping[str, object]) -> list[ReadAs]:
    """Return how files were read, in words, with the option that says otherwise."""
    found = []
    for name, value in {**given, **guessed}.items():
        if name in _OPTIONS:
            what, option = _OPTIONS[name]
            text = ", ".join(filter(None, value)) if isinstance(value, list) else str(value)
            found.append(ReadAs(what, text, option, name in guessed))
    return found


def _persons(warehouse: Database, options: RegisterOptions, table: Name) -> RepeatedPersons | None:
    """Return whose records the rows seem to be, where these are of fewer persons; of a view nothing is read."""
    if options.view:
        return None
    source = Source(table, options.table, describe(warehouse, table), is_table=True, is_file=False)
    return repeated_persons(warehouse, source, {})


@dataclass(frozen=True, kw_only=True)
class ProfileOptions(SourceOptions, RegionOption, MachineOptions, ReaderOptions):
    """What `sqlmicro profile` takes."""


def profile_values(options: ProfileOptions, progress: Progress) -> ProfileReport:
    """Describe a table's columns and propose a scale and a role for each.

    Take `profile` for one table, with the reasons; take `scan` for a policy of all tables of a warehouse.
    """
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        source = find_source(warehouse, options.table, options)
        warehouse.seal()
        found = scan.profiles(warehouse, source, options.region)
        persons = repeated_persons(warehouse, source, {profile.column: profile.seen for profile in found})
        return scan.report(options.table, found, persons, _of_person(warehouse, source, found, persons))


def _of_person(
    warehouse: Warehouse, source: Source, found: Sequence[ColumnProfile], persons: RepeatedPersons | None
) -> list[Column]:
    """Return the columns without missing values that have one value in all rows of each person."""
    if persons is None:
        return []
    keys = pick(source.columns, persons.columns, "--person")
    columns = [profile.column for profile in found if profile.column not in keys and not profile.nulls]
    with read_once(warehouse, source) as staged:
        ((_, _, _, *differing),) = warehouse.rows(
            "load/dependent_columns.sql", relation=staged.relation, keys=keys, columns=columns, every=1
        )
    return [column for column, units in zip(columns, differing, strict=True) if not units]
