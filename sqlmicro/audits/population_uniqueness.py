"""Population uniqueness: how many records of a sample are unique in its population, where that is not given."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.k_anonymity import sizes_of
from sqlmicro.audits.registry import audit
from sqlmicro.audits.row import Detail, Found
from sqlmicro.audits.sampling import UNTOLD, SamplingFraction, fraction_of
from sqlmicro.audits.uniqueness import Model, estimates
from sqlmicro.system.reporting import OMITTED


@dataclass(frozen=True)
class Uniqueness(Detail):
    """The estimates of the models, and which one was taken."""

    sampling_fraction: float
    model: Model
    """The one that was taken; `counted` where the release has the whole population."""
    expected: float
    """How many of the released records are expected to be unique in the population."""
    zayatz: float | None = field(default=None, metadata=OMITTED)
    pitman: float | None = field(default=None, metadata=OMITTED)
    snb: float | None = field(default=None, metadata=OMITTED)


@audit(
    "population-uniqueness",
    needs=("quasi",),
    gate="max_population_uniqueness",
    source="Zayatz (1991); Hoshino (2001); Chen & Keller-McNulty (1998); Dankar, El Emam, Neisa & Roffey (2012)",
    templates=("audit/cell_sizes.sql", "audit/person_sizes.sql", "audit/sampling_fraction.sql"),
)
def population_uniqueness(
    audited: AuditedRelease, limit: float | None, *, sampling_fraction: SamplingFraction = None
) -> Found:
    """The estimated share of the records that are unique in the population they were drawn from.

    Returns
    -------
    Found
        The value is the share by the `model` that the rule of Dankar et al. takes. Where every record was drawn with
        the same probability, it is the share of unique members of the population, and of the release. `expected` is the
        number of records. `zayatz`, `pitman` and `snb` are the estimates of the models that converged.

    Notes
    -----
    The models read the class sizes of a simple random sample; with weights the sampling fraction is that of all
    records together. Zayatz takes the class sizes of the population to be those of the sample, and is too high where
    little was drawn. Pitman's model is fitted by maximum likelihood, the slide negative binomial model (SNB) to the
    ones and twos. Up to a fraction of 0.1 the rule takes Pitman's; above, the smaller of Zayatz and SNB; Zayatz where
    the other does not converge. A release of the whole population is counted.

    Zayatz and Pitman agree with ARX. Its SNB has a product where the model has a quotient, and seldom converges. With
    --person a class is as large as it has different persons.
    """
    fraction = fraction_of(audited, sampling_fraction)
    if fraction is None:
        return Found(None, reason=UNTOLD)
    if audited.nulls == "wildcard":
        reason = "a record with a NULL that matches every value is in several classes; use own_value or exclude"
        return Found(None, reason=reason)
    histogram = sizes_of(audited).histogram
    n = sum(size * classes for size, classes in histogram.items())
    if not n:
        return Found(None, reason="there are no records")
    if fraction >= 1:
        share = histogram.get(1, 0) / n
        return Found(share, detail=Uniqueness(1.0, "counted", share * n))
    found = estimates(histogram, fraction)
    model, share = found.taken(fraction)
    return Found(share, detail=Uniqueness(fraction, model, share * n, found.zayatz, found.pitman, found.snb))
