"""What the audits of a class share: a measure of every class, its extremes, and the classes beyond a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.row import Detail, Found
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.options.limits import DeclaredLimit
from sqlmicro.system.reporting import OMITTED


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
