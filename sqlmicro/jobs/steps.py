"""Steps: what a job is made of, as it was asked for on the command line, in a job file or in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sqlmicro.audits.inputs import AuditStep, GateOptions
from sqlmicro.audits.join_k import Known
from sqlmicro.options import common
from sqlmicro.options.common import JobOptions, MethodOptions, PublishSettings
from sqlmicro.options.guarantees import NO_GUARANTEE, GuaranteeOptions
from sqlmicro.options.params import Param, Parameter, carried, filled, parameters, take
from sqlmicro.registry import Method, find
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    from sqlmicro.reports.planned import ApprovedTable

FILE_OPTIONS = parameters(common.FileOptions)
"""What holds for all tables of a job file."""
TABLE_OPTIONS = parameters(common.JobTableOptions)
"""What a job says of its table."""
JOB_OPTIONS = parameters(JobOptions)


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """What `[rules]` of a job file says, of every `[[table]]` that has no step of its own."""

    rows: Annotated[str, Param("Method of a table whose rows are persons.", metavar="METHOD")] = "safe"
    persons: Annotated[str, Param("Method of a table with several rows of a person.", metavar="METHOD")] = "mdav"
    k: Annotated[int, Param("k of these methods, and of the gate of every table.", min=2)] = 3
    rest: Annotated[Literal["keep", "drop"] | None, Param("What becomes of columns that no option names.")] = "drop"
    overwrite: Annotated[bool, Param("Replace the release of the last run.")] = False


@dataclass(frozen=True, kw_only=True)
class RuledColumns:
    """What a `[[table]]` says of its columns, where `[rules]` say the rest."""

    columns: Annotated[tuple[str, ...], Param("With [rules]: the columns to anonymize.", metavar="A,B")]
    nominal: Annotated[
        tuple[str, ...], Param("With [rules]: columns of codes, of which no means are taken.", metavar="A,B")
    ] = ()


RULES = parameters(RuleOptions)
RULED_COLUMNS = parameters(RuledColumns)
STEP_OPTIONS = (*parameters(common.StepColumns), *parameters(common.NullsOption))
TABLE_STEPS = ("register", "profile")
COMMANDS = (*TABLE_STEPS, "audit")
OTHER_STEPS = (*COMMANDS, "publish")
"""What a step of a job file may do that makes no release."""


@dataclass(frozen=True)
class Step:
    """A step that makes a release: a method, the columns and strata it names, and the settings that were given."""

    method: Method
    where: str
    settings: Mapping[str, Any]
    columns: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    nulls: str | None = None

    @property
    def takes_rest(self) -> bool:
        """Whether it works on every column that is named nowhere and is no direct identifier."""
        return self.method.takes_every_column and not self.columns

    @property
    def weights(self) -> tuple[str, ...]:
        """The column of weights it reads, if it has one."""
        return tuple(filter(None, [self.method.told("weights", self.settings)]))

    @property
    def target(self) -> tuple[str, ...]:
        """The column that models are to tell, if it has one."""
        return tuple(filter(None, [self.method.told("target", self.settings)]))

    @property
    def apart(self) -> tuple[str, ...]:
        """The columns that it releases as they are and that nobody is taken to know: sensitive ones, the target."""
        return tuple(dict.fromkeys((*self.guarantees.sensitive, *self.target)))

    @cached_property
    def guarantees(self) -> GuaranteeOptions:
        """What its classes must keep besides k; limits hold of the target too."""
        names = common.names(parameters(GuaranteeOptions)) if self.method.keeps_guarantees else ()
        given = {name: value for name, value in self.settings.items() if name in names}
        found = take(GuaranteeOptions, given, self.where) if given else NO_GUARANTEE
        more = tuple(name for name in self.target if found.limits and name not in found.sensitive)
        return replace(found, sensitive=(*found.sensitive, *more))

    @property
    def population(self) -> str | None:
        """The table of everybody that it reads, if it does."""
        found: str | None = self.method.told("population", self.settings)
        return found

    @property
    def keeps_candidates(self) -> bool:
        """Whether the releases it could have chosen are published too."""
        return bool(self.method.told("candidates", self.settings))

    @property
    def key_file(self) -> str | None:
        """Where the key of its pseudonyms is."""
        found: str | None = self.method.told("key", self.settings)
        return found


@dataclass(frozen=True)
class Command:
    """A step of a job file that is a command of its own: register, profile or audit."""

    do: str
    where: str
    given: Mapping[str, Any]


@dataclass(frozen=True)
class Gate:
    """What a release must pass before it is published: the settings of an audit, as they were given."""

    where: str
    given: Mapping[str, Any]

    @cached_property
    def options(self) -> AuditStep:
        """Every setting of the audit."""
        return take(AuditStep, self.given, self.where)


Node = tuple[int, str]
"""A column of a job file: the number of its table, from 0, and its name in small letters."""


@dataclass(frozen=True)
class ForeignKey:
    """Columns of a table that refer to columns of another one, or of the same; tables by their number in the file."""

    where: str
    child: int
    columns: tuple[str, ...]
    parent: int
    to: tuple[str, ...]
    max_lost: int = 0

    @property
    def pairs(self) -> list[tuple[Node, Node]]:
        """The columns that refer, each with the one it refers to."""
        return [
            ((self.child, column.lower()), (self.parent, to.lower()))
            for column, to in zip(self.columns, self.to, strict=True)
        ]


@dataclass(frozen=True)
class Job:
    """What is to be done to one table: commands first, then steps; what is made is held to the gates and published."""

    options: JobOptions
    steps: tuple[Step, ...] = ()
    label: str = "sqlmicro"
    progress: Progress = field(default_factory=lambda: Progress(enabled=False))
    commands: tuple[Command, ...] = ()
    gates: tuple[Gate, ...] = ()
    publish: PublishSettings = field(default_factory=PublishSettings)
    keys: tuple[ForeignKey, ...] = ()
    """What its columns refer to, in tables of the same file."""
    said: tuple[str, ...] = ()
    """What its keys left out."""
    known: Known | None = None
    """What is known of the rows of a person; None in a file of one table, which is joined with nothing."""
    approved: ApprovedTable | None = None
    """The table as it was approved: another one is refused."""
    draft: bool = False
    """Whether the release goes nowhere yet, and is measured with no other."""
    drafted: str | None = None
    """The fingerprint of the draft that it must be."""

    @property
    def anonymizes(self) -> bool:
        """Whether there is a step that makes a release."""
        return bool(self.steps)

    @property
    def in_file(self) -> bool:
        """Whether it was read from a job file, whose keys messages name then instead of options."""
        return self.label.partition(", table ")[0].endswith(".toml")

    @property
    def dry(self) -> bool:
        """Whether nothing is to be written."""
        return self.options.dry_run or self.options.show_sql


def step_of(method: Method, values: Mapping[str, Any], where: str) -> Step:
    """Return a step from what was given for it: its columns, strata and nulls, and the settings of its method."""
    asked = filled(common.ColumnOptions, values)
    settings = {name: value for name, value in values.items() if name in common.names(method.settings)}
    return Step(method, where, settings, asked.columns, asked.by, asked.nulls)


def one_step(method: Method, options: MethodOptions, progress: Progress, drafted: str | None = None) -> Job:
    """Return the job of a command: one method, then publishing; `drafted` is the draft that it must make again."""
    step = Step(method, method.name, options.settings, options.columns, options.by, options.nulls)
    publish = carried(PublishSettings, options)
    job = Job(carried(JobOptions, options), (step,), method.name, progress, publish=publish)
    return replace(job, draft=options.draft, drafted=drafted)


def step_parameters(do: str) -> tuple[Parameter, ...]:
    """Return the parameters of a step of a job file."""
    others = {
        "publish": PublishSettings, "audit": AuditStep, "register": common.RegisterSettings,
        "profile": common.NoOptions,
    }  # fmt: skip
    if do in others:
        return parameters(others[do])
    method = find(do)
    return (*(option for option in STEP_OPTIONS if method.takes(option.name)), *method.settings)


def gate_parameters() -> tuple[Parameter, ...]:
    """Return the parameters of a gate: those of an audit; the original is what the job has loaded."""
    return parameters(GateOptions)
