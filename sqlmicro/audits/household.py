"""Household risk: whoever finds one member of a household has found the others."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found
from sqlmicro.database.templates import Name, Params


@dataclass(frozen=True)
class Households(Detail):
    """The households, and their members: records, or persons where these are counted."""

    households: int
    members: int
    mean: float
    """The mean of the risks over the members."""
    expected: float
    """How many members are expected to be re-identified, by themselves or through another of their household."""


def risks_of_classes(audited: AuditedRelease) -> Name:
    """Stage the risk of a record of every class: the individual risk where there is a weight, else 1/f."""

    def stage() -> Name:
        into, columns = "risk_of_records", audited.quasi
        if audited.weight is None:
            return audited.stage("audit/size_risk.sql", into, columns=columns, cells=audited.cells)
        return audited.stage("audit/individual_risk.sql", into, columns=columns, weighted_cells=audited.weighted_cells)

    return audited.once("risk_of_records", stage)


def risks_of_households(audited: AuditedRelease) -> Name:
    """Stage the risk of every household."""
    shared: Params = {
        "relation": audited.records,
        "classes": risks_of_classes(audited),
        "columns": audited.quasi,
        "household": audited.household,
    }
    if audited.person:
        members = audited.stage("audit/person_risks.sql", "risk_of_members", person=audited.person, **shared)
    else:
        members = audited.stage("audit/member_risks.sql", "risk_of_members", **shared)
    return audited.stage("audit/household_risk.sql", "household_risk", members=members, household=audited.household)


@audit(
    "household-risk",
    needs=("quasi", "household"),
    gate="max_household_risk",
    source="Templ, Kowarik & Meindl (2015), sdcMicro",
    templates=(
        "audit/individual_risk.sql",
        "audit/size_risk.sql",
        "audit/member_risks.sql",
        "audit/person_risks.sql",
        "audit/household_risk.sql",
        "audit/class_summary.sql",
    ),
)
def household(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest risk that anybody of a household is re-identified: 1 - the product of 1 - r over its members.

    Returns
    -------
    Found
        The value is the largest risk of a household; with the number of households and members, and the `mean` of the
        risks over the members, each of whom has that of the household, and their sum, `expected`.

    Notes
    -----
    r is the individual risk where there is a --weight, else 1/f of the class. With --person the members are persons,
    each with the record that is most at risk. Who is in no household is one alone.
    """
    risks = risks_of_households(audited)
    row = audited.warehouse.record("audit/class_summary.sql", classes=risks, threshold=limit)
    if not row["records"]:
        return Found(None, reason="there are no records")
    names = tuple(column.name for column in (*audited.quasi, *audited.household))
    expected = row["mean"] * row["records"]
    return Found(row["highest"], names, Households(row["classes"], row["records"], row["mean"], expected))
