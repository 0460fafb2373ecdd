"""What an audit is told: its options, and the release under audit that they name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from sqlmicro.audits import registry
from sqlmicro.audits.audited import ARITHMETIC, AuditedRelease, is_ambiguous
from sqlmicro.audits.registry import AuditRow
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.files import file_format
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param, Registered
from sqlmicro.options.reader import AS_FOUND, ReaderOptions


@dataclass(frozen=True, kw_only=True)
class ReleaseRoles:
    """The roles of the columns of a release under audit."""

    quasi: Annotated[
        tuple[str, ...], Param("Quasi-identifiers: what an attacker may know; a comma list.", metavar="A,B")
    ] = ()
    sensitive: Annotated[
        tuple[str, ...], Param("Sensitive columns: what nobody may learn of a person.", metavar="A,B")
    ] = ()
    weight: Annotated[str | None, Param("Column of sampling weights.", metavar="A")] = None
    household: Annotated[
        tuple[str, ...],
        Param(
            "Columns that say which household a record belongs to, for the risk that one of it is found.", metavar="A,B"
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class PersonRole:
    """Whose records they are; a gate of a release has it from the table."""

    person: Annotated[
        tuple[str, ...],
        Param("Columns that say whose record it is: distinct persons are counted, not records.", metavar="A,B"),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class OriginalOptions:
    """What a release is compared with."""

    original: Annotated[str | None, Param("Table, view or file the release was made from.", metavar="TABLE")] = None
    match: Annotated[
        tuple[str, ...],
        Param(
            "Columns unchanged in the release that identify a record, to compare it with the original.", metavar="A,B"
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class ControlOption:
    """Who was not in the original."""

    control: Annotated[
        str | None,
        Param(
            "Table, view or file with people of the same kind who were not in the original: what an attack gets right "
            "about them too is general knowledge. Default: people who are held out of a rehearsal, where it is "
            "recorded how the release was made.",
            metavar="TABLE",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PopulationOptions:
    """Who may be taken for whom, and how values are read."""

    population: Annotated[
        str | None,
        Param("Table, view or file of everybody, its quasi-identifiers coded as in the release.", metavar="TABLE"),
    ] = None
    nulls: Annotated[
        Literal["own_value", "wildcard", "exclude"],
        Param("A missing quasi-identifier: a value of its own; matches every value; or its record is left out."),
    ] = "own_value"
    numeric: Annotated[tuple[str, ...], Param("Columns to take as numeric.", metavar="A,B")] = ()
    nominal: Annotated[tuple[str, ...], Param("Columns to take as nominal.", metavar="A,B")] = ()


@dataclass(frozen=True, kw_only=True)
class MeasureOption:
    """Which audits run."""

    measure: Annotated[
        tuple[str, ...], Param("Run this audit only; repeatable. Default: all that the inputs allow.", metavar="NAME")
    ] = ()


@dataclass(frozen=True, kw_only=True)
class AuditedOptions(ReleaseRoles, PersonRole, OriginalOptions, ControlOption, PopulationOptions):
    """What is audited."""


@dataclass(frozen=True, kw_only=True)
class AuditInputs(AuditedOptions, MeasureOption):
    """What is audited, and how."""


@dataclass(frozen=True, kw_only=True)
class AuditSettings:
    """The gates and settings of the audits there are."""

    gates: Annotated[Mapping[str, float | None], Registered(registry.gates)] = field(default_factory=dict)
    settings: Annotated[Mapping[str, object], Registered(registry.settings)] = field(default_factory=dict)

    @property
    def thresholds(self) -> dict[str, float]:
        """The gates that were given."""
        return {name: threshold for name, threshold in self.gates.items() if threshold is not None}


@dataclass(frozen=True, kw_only=True)
class AuditStep(AuditInputs, AuditSettings):
    """What an audit step takes, and what the command takes besides tables and files."""


@dataclass(frozen=True)
class PassedGate:
    """A gate that the records passed, and what it measured."""

    options: AuditStep
    where: str
    rows: list[AuditRow]


@dataclass(frozen=True, kw_only=True)
class GateOptions(ReleaseRoles, PopulationOptions, MeasureOption, AuditSettings):
    """What a gate takes: the release and its original are those of the job."""


@dataclass(frozen=True)
class Chosen:
    """The columns of a release in every role, and the names of those whose scale was given."""

    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    match: tuple[Column, ...]
    weight: Column | None
    person: tuple[Column, ...]
    household: tuple[Column, ...]
    numeric: tuple[str, ...]
    nominal: tuple[str, ...]


def audited(
    warehouse: Warehouse, name: str, options: AuditedOptions, reader: ReaderOptions = AS_FOUND
) -> AuditedRelease:
    """Return the table called `name` as the release under audit that the options make of it.

    Raises
    ------
    ParameterError
        For a column that the release does not have, or that has two roles.
    InputError
        For a table that cannot be found or read.
    """
    release = warehouse.source(name, reader)

    def other(name: str | None, into: str) -> Source | None:
        if not name:
            return None
        return warehouse.source(name, reader if file_format(name) == "csv" else AS_FOUND, into)

    original, population = other(options.original, "original_source"), other(options.population, "population_source")
    control = other(options.control, "control_source")
    chosen = choose(release.columns, options, "audit, --")
    return AuditedRelease(
        warehouse=warehouse, release=release, original=original, control=control, population=population,
        nulls=options.nulls, quasi=chosen.quasi, sensitive=chosen.sensitive, match=chosen.match, weight=chosen.weight,
        person=chosen.person, household=chosen.household, numeric=chosen.numeric, nominal=chosen.nominal,
    )  # fmt: skip


def choose(columns: Sequence[Column], options: AuditedOptions, where: str) -> Chosen:
    """Return the columns that the options name.

    Raises
    ------
    ParameterError
        For a column that is not there, that has two roles, or that cannot have the one it is given.
    """

    def named(names: Sequence[str], option: str) -> tuple[Column, ...]:
        return tuple(pick(columns, names, where + option))

    quasi, sensitive = named(options.quasi, "quasi"), named(options.sensitive, "sensitive")
    match = named(options.match, "match")
    person, household = named(options.person, "person"), named(options.household, "household")
    taken = [column.name for column in person if column in (*quasi, *sensitive, *match)]
    if taken:
        raise ParameterError(
            f"{where}person", "says whose record it is, and is neither what somebody knows nor what matches records",
            f"another role too for {', '.join(taken)}",
        )  # fmt: skip
    both = [column.name for column in quasi if column in sensitive]
    if both:
        raise ParameterError(
            f"{where}sensitive", "a column is either a quasi-identifier or sensitive", f"both for {', '.join(both)}"
        )
    unclear = [f"{column.name} ({column.type})" for column in quasi if is_ambiguous(column)]
    if unclear:
        raise ParameterError(
            f"{where}quasi", "values of different types that are written alike cannot be told apart", ", ".join(unclear)
        )
    weight = named([options.weight] if options.weight else [], "weight")
    numeric, nominal = (
        tuple(column.name for column in named(names, option))
        for names, option in ((options.numeric, "numeric"), (options.nominal, "nominal"))
    )
    wrong = [column.name for column in weight if column.family not in ARITHMETIC]
    if wrong:
        raise ParameterError(f"{where}weight", "must be a column of numbers", wrong[0])
    return Chosen(quasi, sensitive, match, next(iter(weight), None), person, household, numeric, nominal)
