"""Re-identification risk: prosecutor, journalist and marketer, and the individual and global risk of a sample.

Household risk: whoever finds one member of a household has found the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.k_anonymity import sizes_of
from sqlmicro.audits.registry import Detail, Found, audit, summary, worst
from sqlmicro.database.templates import Name, Params
from sqlmicro.system.reporting import INLINE, OMITTED, named

_ESTIMATED = (
    "audit/cells.sql",
    "audit/person_records.sql",
    "audit/individual_risk.sql",
    "audit/class_summary.sql",
    "audit/person_summary.sql",
)
"""The templates of risks that are estimated from weights."""


@dataclass(frozen=True)
class Prosecutor(Detail):
    """The risks of the records."""

    average: float
    share_above: float | None = field(metadata=OMITTED)
    """The share of the records with a risk above the gate."""


@dataclass(frozen=True)
class Marketer(Detail):
    """Where the members of a class were counted."""

    records: int
    counted: Literal["population", "release"] = field(metadata=named("in"))


@dataclass(frozen=True)
class Expected(Detail):
    """How many records are expected to be re-identified."""

    expected: float
    records: int


@dataclass(frozen=True)
class Presence(Detail):
    """The smallest probability beside the largest."""

    classes: Detail | None = field(metadata=INLINE)
    least: float | None


def _in_population(audited: AuditedRelease) -> Name:
    """Return the classes with `total`: how many of the population have the combination, counted or by weights."""
    if audited.population is None:
        return audited.weighted_cells

    def stage() -> Name:
        return audited.stage(
            "audit/population_sizes.sql",
            "population_sizes",
            cells=audited.cells,
            population=audited.population_cells,
            columns=audited.quasi,
        )

    return audited.once("population_sizes", stage)


@audit(
    "prosecutor-risk",
    needs=("quasi",),
    gate="max_prosecutor",
    source="El Emam & Dankar (2008)",
    templates=("audit/cell_sizes.sql", "audit/person_sizes.sql"),
)
def prosecutor(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest risk that somebody known to be in the release is found: 1/f of the smallest class.

    Returns
    -------
    Found
        The value is 1/f; `average` over the records, and `share_above`, the share of records above the gate. With
        --person f is a number of persons, and a person is at risk as much as the record of hers that is most so.
    """
    sizes = sizes_of(audited)
    if not sizes.records:
        return Found(None, reason="there are no records")
    above = None
    if limit is not None:
        above = sum(records for size, (_, records) in sizes.sizes.items() if 1 / size > limit) / sizes.records
    return Found(1 / sizes.k, detail=Prosecutor(sizes.average_risk, above))


@audit(
    "journalist-risk",
    needs=("quasi", "frame"),
    gate="max_journalist",
    source="El Emam & Dankar (2008)",
    templates=("audit/population_sizes.sql", "audit/journalist_risk.sql"),
)
def journalist(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest risk that a record is found by somebody who does not know who is in the release: 1/F.

    Returns
    -------
    Found
        The value is the largest 1/F, where F is the number of members of the population with the combination of a
        class, counted in --population or the sum of the weights, and never taken to be below the size of the class.
        With --person a population that has these columns is counted in persons too.
    """
    return worst(audited, "audit/journalist_risk.sql", limit, sizes=_in_population(audited))


@audit(
    "marketer-risk",
    needs=("quasi",),
    gate="max_marketer",
    source="El Emam & Dankar (2008); Dankar & El Emam (2010)",
    templates=("audit/cell_sizes.sql", "audit/population_sizes.sql", "audit/journalist_risk.sql"),
)
def marketer(audited: AuditedRelease, limit: float | None) -> Found:
    """The share of records that is expected to be found by somebody who takes a guess at each.

    Returns
    -------
    Found
        The value is the mean of 1/F over the records; without --population and --weight of 1/f, the number of classes
        over that of records. With --person it is the share of persons, each by the record of hers that is most at risk.
    """
    if audited.frame:
        found = summary(audited, "audit/journalist_risk.sql", limit, sizes=_in_population(audited))
        return Found(found.mean, detail=Marketer(found.records, "population"))
    sizes = sizes_of(audited)
    if not sizes.records:
        return Found(None, reason="there are no records")
    return Found(sizes.average_risk, detail=Marketer(sizes.records, "release"))


@audit(
    "individual-risk",
    needs=("quasi", "weight"),
    gate="max_risk",
    source="Benedetti & Franconi (1998); Hundepool et al. (2012)",
    templates=_ESTIMATED,
)
def individual(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest estimated risk that a record of a sample is re-identified in its population.

    Returns
    -------
    Found
        The value is the largest risk of a record, from 0 to 1; with --person, of a person, whose weight
        counts once, by the record of hers that is most at risk.

    Notes
    -----
    A class has f records in the release and F in the population, which is not known; given f, F - f is taken as
    negative binomial with p = f / (sum of the weights), and the risk is the mean of 1/F given f::

        f = 1   p/(1 - p) log(1/p)
        f = 2   p/(1 - p) - (p/(1 - p))^2 log(1/p)
        f > 2   p / (f - (1 - p))

    The last is an approximation, never below the exact p^f/f 2F1(f, f; f + 1; 1 - p) and at most 5 % above it; at
    p = 0 and p = 1 it is exact, and the larger f, the nearer.
    """
    return worst(audited, "audit/individual_risk.sql", limit, weighted_cells=audited.weighted_cells)


@audit(
    "global-risk",
    needs=("quasi", "weight"),
    gate="max_global_risk",
    source="Benedetti & Franconi (1998); Hundepool et al. (2012)",
    templates=_ESTIMATED,
)
def overall(audited: AuditedRelease, limit: float | None) -> Found:
    """The share of the records of a sample that is expected to be re-identified in its population.

    Returns
    -------
    Found
        The value is the mean of the individual risks, `expected` their sum: a number of records.
    """
    found = summary(audited, "audit/individual_risk.sql", limit, weighted_cells=audited.weighted_cells)
    if not found.records or found.mean is None:
        return Found(None, reason="there are no records")
    return Found(found.mean, detail=Expected(found.mean * found.records, found.records))


@audit(
    "k-map",
    needs=("quasi", "population"),
    gate="min_k_map",
    at_least=True,
    whole=True,
    source="Sweeney (2002)",
    templates=("audit/cells.sql", "audit/population_sizes.sql", "audit/class_summary.sql"),
)
def k_map(audited: AuditedRelease, limit: float | None) -> Found:
    """How many members of the population at least have the combination of a record of the release.

    Returns
    -------
    Found
        The value is the smallest number; 0 where the population lacks a combination, which then is not coded as in the
        release or is no part of it.
    """
    sizes = _in_population(audited)
    return worst(audited, "audit/population_members.sql", limit, at_least=True, sizes=sizes)


@audit(
    "delta-presence",
    needs=("quasi", "population"),
    gate="max_delta",
    source="Nergiz, Atzori & Clifton (2007)",
    templates=("audit/cells.sql", "audit/presence.sql", "audit/class_summary.sql"),
)
def delta_presence(audited: AuditedRelease, limit: float | None) -> Found:
    """The largest probability that a member of the population is seen to be in the release.

    Returns
    -------
    Found
        The value is the largest share of the members with one combination that is in the release, `least` the
        smallest: the release is (least, value)-present. Above 1 the population does not contain the release.
    """
    if audited.nulls == "wildcard":
        reason = "a member of the population must be in one class, but a NULL that matches every value is in several"
        return Found(None, reason=reason)
    params: Params = {"cells": audited.cells, "population": audited.population_cells}
    found = worst(audited, "audit/presence.sql", limit, of_release=False, **params)
    least = summary(audited, "audit/presence.sql", limit, of_release=False, **params).lowest
    return replace(found, detail=Presence(found.detail, least))


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
