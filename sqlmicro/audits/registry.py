"""The audits there are: one decorated function each; gates and settings of `sqlmicro audit` derive from them.

What is told of an audit: a row for every check, and the report of `sqlmicro audit`.

What the audits of a class share: a measure of every class, its extremes, and the classes beyond a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.guarantees.rules import Limit
from sqlmicro.options.catalogue import Catalogue
from sqlmicro.options.limits import DeclaredLimit, limits
from sqlmicro.options.manifest import Entry
from sqlmicro.options.params import Param, Parameter
from sqlmicro.system.reporting import INLINE, OMITTED

Need = Literal["quasi", "sensitive", "weight", "household", "original", "match", "population", "frame", "control"]


class NothingToMeasure(InputError):  # noqa: N818
    """An audit has no object here: no numeric column, no pair of them, no records."""


@dataclass(frozen=True, kw_only=True)
class Audit(Entry):
    """An audit: what it needs, which gate holds it to a threshold, and where it comes from."""

    gate: str
    source: str
    needs: tuple[Need, ...] = ()
    at_least: bool = False
    whole: bool = False
    on_request: bool = False
    templates: tuple[str, ...] = ()

    @property
    def option(self) -> Parameter:
        """The gate as an option of `sqlmicro audit` and a key of an audit step."""
        bound = "at least" if self.at_least else "at most"
        kind: Any = int | None if self.whole else float | None
        return Parameter(self.gate, kind, None, Param(f"Gate: {self.name} must be {bound} this.", min=0))

    def holds(self, value: float, threshold: float) -> bool:
        """Tell whether a value keeps to a threshold; what floating-point arithmetic cannot tell apart does.

        >>> audits()["t-closeness"].holds(0.1 + 0.2, 0.3), audits()["k-anonymity"].holds(2, 3)
        (True, False)
        """
        if self.at_least:
            return value >= threshold - abs(threshold) * _ROUNDING
        return value <= threshold + abs(threshold) * _ROUNDING


_ROUNDING = 1e-9
AUDITS = Catalogue("audit", Audit, ("sqlmicro.audits",))


def audit(
    name: str,
    *,
    gate: str,
    at_least: bool = False,
    needs: tuple[Need, ...] = (),
    whole: bool = False,
    on_request: bool = False,
    source: str,
    templates: tuple[str, ...] = (),
) -> Callable[[Callable[..., Found | list[Found]]], Callable[..., Found | list[Found]]]:
    """Register the decorated function as an audit.

    It is called `f(audited, limit, **settings)` with an `audited.AuditedRelease` and the threshold of its gate, or
    None, which only serves to count what lies beyond, and returns a `Found`, or one for every sensitive column or
    column of the release. `gate` is the name of the option that holds its value to a threshold, from below if
    `at_least`, as a whole number if `whole`; it is empty for what only explains. What costs much runs only
    `on_request`: by --measure, or by its gate.
    """

    def register(function: Callable[..., Found | list[Found]]) -> Callable[..., Found | list[Found]]:
        AUDITS.add(
            Audit(
                **vars(Entry.of(name, function)),
                gate=gate,
                source=source,
                needs=needs,
                at_least=at_least,
                whole=whole,
                on_request=on_request,
                templates=templates,
            )
        )
        return function

    return register


def audit_of(kind: type[Limit], *templates: str) -> Callable[[Callable[..., list[Found]]], Callable[..., list[Found]]]:
    """Register the decorated function as the audit of a limit, which says all but what else it has to tell."""

    def register(function: Callable[..., list[Found]]) -> Callable[..., list[Found]]:
        AUDITS.add(_of_limit(kind.declared, Entry.of(kind.declared.audit, function), templates))
        return function

    return register


def _of_limit(limit: DeclaredLimit, entry: Entry, templates: tuple[str, ...] = ()) -> Audit:
    return Audit(
        **{**vars(entry), "parameters": limit.parameters},
        gate=limit.name,
        source=limit.source,
        needs=("quasi", "sensitive"),
        at_least=limit.at_least,
        whole=limit.whole,
        templates=templates or limit.templates,
    )


def audits() -> dict[str, Audit]:
    """Return every audit by name: ours in the order in which `sqlmicro/audits/__init__.py` names their modules.

    A limit that another package brings has an audit by its SELECT.
    """
    known = AUDITS.all()
    others = {one.audit: one for one in limits().values() if one.audit not in known}
    return {**known, **{name: _by_select(one) for name, one in others.items()}}


def _by_select(limit: DeclaredLimit) -> Audit:
    entry = Entry(
        name=limit.audit, module=limit.module, attribute=limit.attribute, description=limit.description,
        parameters=limit.parameters, load=lambda: partial(measured, limit),
    )  # fmt: skip
    return _of_limit(limit, entry)


def find(name: str) -> Audit:
    """Return the audit called `name`, or raise ParameterError with the nearest name."""
    return audits().get(name) or AUDITS.find(name, "audit, --measure")


def gates() -> tuple[Parameter, ...]:
    """Return the gates of all audits, as options."""
    return tuple(found.option for found in audits().values() if found.gate)


def settings() -> tuple[Parameter, ...]:
    """Return the settings of all audits, each once."""
    return tuple({parameter.name: parameter for found in audits().values() for parameter in found.parameters}.values())


Status = Literal["measured", "passed", "failed", "unknown"]


@dataclass(frozen=True)
class Detail:
    """What an audit tells besides its value; every audit that has more to say has a class of its own."""

    def released(self) -> Detail:
        """Return what of it may leave with a release."""
        return self

    def under(self, names: Mapping[str, str]) -> Detail:
        """Return it with columns under other names."""
        return self


@dataclass(frozen=True)
class Found:
    """What an audit found: its value, the columns it is about, and what else it has to say.

    `value` is None where there is nothing to measure, such as a correlation of one column; `reason` says why.
    """

    value: float | None
    columns: tuple[str, ...] = ()
    detail: Detail | None = None
    reason: str | None = None
    free: float = 0.0
    """What nobody needs the release for: a gate from above does not ask for less."""


@dataclass(frozen=True)
class ByColumn(Detail):
    """The value of every column, or pair of columns, alone."""

    by_column: dict[str, float | None]
    """None where a column has nothing to compare."""
    more: Detail | None = field(default=None, metadata=INLINE)


@dataclass(frozen=True)
class Linked(Detail):
    """How sure a rate of record linkage is."""

    attack: ClassVar[str] = "linkage"

    ci: list[float]
    """The interval at 95 %."""
    chance: float
    """What taking any released record would give."""
    n: int
    """Records tried."""
    truth: Literal["match", "assumed"]
    """`assumed`: the true record is taken to be among the nearest, which is the worst case."""


@dataclass(frozen=True)
class Check:
    """A check of a release: a value, and the threshold that it is held to."""

    check: str
    columns: list[str]
    value: float | None
    """None where there is nothing to measure."""
    threshold: float | None
    """None where nothing is demanded."""
    at_least: bool
    """Whether the value must be at least the threshold, or at most."""
    passed: bool | None
    """None where nothing is demanded."""

    @property
    def label(self) -> str:
        """How the check is called in sqlmicro.audits.

        >>> Check("k-anonymity", ["age", "sex"], 3, None, True, None).label
        'k-anonymity (age, sex)'
        """
        return f"{self.check} ({', '.join(self.columns)})" if self.columns else self.check

    @property
    def told(self) -> str:
        """The check as a clause of a sentence.

        >>> Check("t-closeness", ["a"], 0.5, 0.2, False, False).told
        't-closeness (a) is 0.5, needed at most 0.2'
        """
        value = self._unknown() if self.value is None else f"{self.value:.6g}"
        if self.threshold is None:
            return f"{self.label} is {value}"
        return f"{self.label} is {value}, needed {'at least' if self.at_least else 'at most'} {self.threshold:g}"

    def _unknown(self) -> str:
        return "unknown"


@dataclass(frozen=True)
class AuditRow(Check):
    """What an audit found, of the quasi-identifiers or of some columns."""

    status: Status
    nulls: str
    """How NULL was read: own_value, wildcard or exclude."""
    reason: str | None = field(default=None, metadata=OMITTED)
    """Why the value is unknown."""
    detail: Detail | None = field(default=None, metadata=INLINE)
    asked: bool = True
    """Whether the audit was named, or held to a threshold."""

    def _unknown(self) -> str:
        return f"unknown: {self.reason}"


@dataclass(frozen=True)
class RecordRiskTable:
    """The table with the risk of every record, which is as private as the originals."""

    table: str
    records: int
    key: list[str]
    """What tells which record a row is of."""
    lasts: bool
    """Whether it is a key; else the number of the record in the table as it was read, which another order changes."""


@dataclass(frozen=True)
class AuditReport:
    """What `sqlmicro audit` found."""

    table: str
    nulls: str
    quasi: list[str]
    sensitive: list[str]
    weight: str | None
    person: list[str]
    """The columns that say whose record it is: then figures of classes count distinct persons."""
    household: list[str]
    """The columns that say which household a record belongs to."""
    audits: list[AuditRow]
    passed: bool | None
    """Whether every gate held; None where none was given."""
    classes_shown: list[list[object]] | None = field(default=None, metadata=OMITTED)
    """With `--show-values`: the values of the smallest classes, and how many records or persons each has."""
    notes: list[str] = field(default_factory=list)
    release: int | None = None
    """The number of the release that the table was recorded as."""
    recorded: bool = False
    """Whether the rows were added to sqlmicro.audits."""
    record_risks: RecordRiskTable | None = field(default=None, metadata=OMITTED)
    """With `--per-record`: where the risk of every record is."""


def demanded(rows: Sequence[AuditRow]) -> Iterable[bool | None]:
    """Return whether the checks passed that were asked for."""
    return (row.passed for row in rows if row.asked)


@dataclass(frozen=True)
class Classes(Detail):
    """The classes that were measured, and those beyond the gate if there is one."""

    records: int
    """Where persons are counted, here and below, distinct persons."""
    classes: int
    violating_classes: int | None = field(metadata=OMITTED)
    violating_records: int | None = field(metadata=OMITTED)


@dataclass(frozen=True)
class Measures:
    """A measure of the classes: extremes, mean, and the classes and records beyond the limit on either side."""

    records: int
    classes: int
    lowest: float | None
    highest: float | None
    mean: float | None
    below: tuple[int | None, int | None]
    above: tuple[int | None, int | None]


def worst(
    audited: AuditedRelease,
    template: str,
    limit: float | None,
    *,
    at_least: bool = False,
    columns: Sequence[Column] = (),
    diversity: bool = False,
    of_release: bool = True,
    **params: Any,
) -> Found:
    """Return the worst value that a template finds for a class, with the classes and records beyond the limit.

    Parameters
    ----------
    audited : AuditedRelease
        What is audited.
    template : str
        A SELECT of the quasi-identifiers, `records` and `measure` of every class.
    limit : float or None
        The threshold of the gate.
    at_least : bool
        Whether small values are bad.
    columns : sequence of Column
        What the audit is about besides the quasi-identifiers.
    diversity, of_release, **params
        As in `summary`.
    """
    found = summary(audited, template, limit, diversity=diversity, of_release=of_release, **params)
    beyond = found.below if at_least else found.above
    names = tuple(column.name for column in (*audited.quasi, *columns))
    value = found.lowest if at_least else found.highest
    reason = "there are no records" if value is None else None
    return Found(value, names, Classes(found.records, found.classes, *beyond), reason)


def summary(
    audited: AuditedRelease,
    template: str,
    limit: float | None,
    *,
    diversity: bool = False,
    of_release: bool = True,
    **params: Any,
) -> Measures:
    """Return number, records, extremes and mean of a measure of the classes, and what lies beyond the limit.

    Where persons are counted, a person is beyond the limit with any of her records, and the mean is that of the largest
    measure of each.

    Parameters
    ----------
    audited, template, limit
        As in `worst`.
    diversity : bool
        Whether the measure is a number of values: no class has more of them than persons.
    of_release : bool
        Whether the classes are those of the records of the release, and not of a population.
    **params
        What the template takes besides its columns.
    """
    into = "_".join(("measured", template.removeprefix("audit/").removesuffix(".sql")))
    classes = audited.stage(template, into, columns=audited.quasi, **params)
    if audited.person and diversity:
        classes = audited.stage("audit/at_most_persons.sql", f"{into}_of_persons", classes=classes,
                                cells=audited.cells, columns=audited.quasi)  # fmt: skip
    if audited.person and of_release:
        row = audited.warehouse.record(
            "audit/person_summary.sql", classes=classes, persons=audited.person_records, columns=audited.quasi,
            person=audited.person, threshold=limit,
        )  # fmt: skip
    else:
        row = audited.warehouse.record("audit/class_summary.sql", classes=classes, threshold=limit)
    beyond = [(row[f"classes_{side}"], row[f"records_{side}"]) if limit is not None else (None, None)
              for side in ("below", "above")]  # fmt: skip
    return Measures(row["records"], row["classes"], row["lowest"], row["highest"], row["mean"], *beyond)


def measured(limit: DeclaredLimit, audited: AuditedRelease, threshold: float | None, **settings: Any) -> list[Found]:
    """Return the worst value of a class that the SELECT of a limit finds, for every sensitive column."""
    least, found = limit.at_least, []
    for column in audited.sensitive:
        read: dict[str, Any] = {"members": audited.members(column)} if least else {"shares": shares(audited, column)}
        found.append(
            worst(audited, limit.template, threshold, at_least=least, diversity=least, columns=[column], **read,
                  **settings)
        )  # fmt: skip
    return found


def shares(audited: AuditedRelease, sensitive: Column) -> Name:
    """Return the share every value of a sensitive column has in its class and in the table it is compared with."""
    into = f"shares_{audited.sensitive.index(sensitive) + 1}"

    def stage() -> Name:
        members, other = audited.members(sensitive), reference(audited, sensitive)
        return audited.stage(
            "audit/shares.sql", into, members=members, reference=other, columns=audited.quasi, value=sensitive
        )

    return audited.once(into, stage)


def reference(audited: AuditedRelease, sensitive: Column) -> Name:
    """Return the share every value of a sensitive column has in the input where there is one, else in the release."""
    into = f"reference_{audited.sensitive.index(sensitive) + 1}"

    def stage() -> Name:
        members = audited.members(sensitive)
        cells = audited.original_values(sensitive) or members
        return audited.stage("audit/reference_shares.sql", into, cells=cells, members=members, value=sensitive)

    return audited.once(into, stage)
