"""Population uniqueness: how many records of a sample are unique in its population, where that is not given.

How many members of a population are unique in it, estimated from the class sizes of a sample.

How much of its population a release has: as it was told, or by the weights.

Why a release is at risk: what every quasi-identifier adds to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.k_anonymity import sizes_of
from sqlmicro.audits.registry import Detail, Found, audit
from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param
from sqlmicro.system.reporting import OMITTED

if TYPE_CHECKING:
    import numpy as np

Model = Literal["counted", "zayatz", "pitman", "snb"]
_SMALL_FRACTION = 0.1
"""Up to here Dankar's rule takes Pitman's model."""
_UNBOUNDED = 1 - 1e-6
"""An alpha from here on has run to the end of its range: the likelihood has no maximum."""
_FARTHEST = 30.0
"""The largest logarithm of a parameter."""


@dataclass(frozen=True)
class Estimates:
    """The share of the population that is unique, by model; None where a model does not converge."""

    zayatz: float
    pitman: float | None
    snb: float | None

    def taken(self, fraction: float) -> tuple[Model, float]:
        """Return the model that the rule of Dankar et al. takes, and its estimate.

        >>> Estimates(0.3, 0.2, 0.25).taken(0.1), Estimates(0.3, 0.2, 0.25).taken(0.2)
        (('pitman', 0.2), ('snb', 0.25))
        >>> Estimates(0.3, None, 0.4).taken(0.1), Estimates(0.3, None, 0.4).taken(0.2)
        (('zayatz', 0.3), ('zayatz', 0.3))
        """
        if fraction <= _SMALL_FRACTION:
            return ("zayatz", self.zayatz) if self.pitman is None else ("pitman", self.pitman)
        return ("zayatz", self.zayatz) if self.snb is None or self.zayatz < self.snb else ("snb", self.snb)


def estimates(histogram: Mapping[int, int], fraction: float) -> Estimates:
    """Return the share of a population that is unique, by the models of Zayatz, Pitman and Chen & Keller-McNulty.

    Parameters
    ----------
    histogram : mapping
        How many classes of each size the sample has.
    fraction : float
        The share of the population that is in the sample, below 1.
    """
    import numpy as np

    sizes = np.array(sorted(histogram))
    counts = np.array([histogram[size] for size in sizes.tolist()], dtype=float)
    if not histogram.get(1):
        return Estimates(0.0, 0.0, 0.0)
    return Estimates(zayatz(sizes, counts, fraction), pitman(sizes, counts, fraction), snb(sizes, counts, fraction))


def zayatz(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float:
    """Return the share that is unique by the model of Zayatz (1991).

    It takes the class sizes of the population to be those of the sample. By Bayes' rule a sample unique is unique in
    the population with p_1 P(1|1) over the sum of p_j P(1|j), where P(1|j) is the hypergeometric probability of drawing
    one of j.
    """
    import numpy as np
    from scipy.special import betaln

    n = float((sizes * counts).sum())
    everybody = n / fraction
    # P(1|j) = n C(N - n, j - 1) / C(N, j), each binomial coefficient through the beta function
    others = np.maximum(everybody - n - sizes + 2, 1e-300)
    logarithm = (
        np.log(n) - betaln(sizes, others) - np.log(everybody - n + 1)
        + betaln(sizes + 1, everybody - sizes + 1) + np.log(everybody + 1)
    )  # fmt: skip
    drawn = np.where(sizes - 1 > everybody - n, 0.0, np.exp(logarithm))
    uniques = counts[0]
    return float(uniques / n * (uniques * fraction) / (counts * drawn).sum())


def pitman(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float | None:
    """Return the share that is unique by Pitman's model, fitted by maximum likelihood (Hoshino, 2001), if it converges.

    The population has G(t + 1)/G(t + a) N^a uniques, with 0 < a < 1 and t > -a.
    """
    import numpy as np
    from scipy.optimize import minimize
    from scipy.special import betaln, expit, gammaln

    n, u = float((sizes * counts).sum()), float(counts.sum())
    if u in (1, n):
        return None

    def surprise(x: np.ndarray) -> float:
        a = expit(x[0])
        t = np.exp(x[1]) - a
        if a >= 1 or t + a <= 0:
            return float("inf")
        classes = (u - 1) * np.log(a) + gammaln(u - 1) - betaln(t / a + 1, u - 1) if u > 1 else 0.0
        members = gammaln(n - 1) - betaln(t + 1, n - 1)
        return float(members - classes - (counts * (gammaln(sizes - a) - gammaln(1 - a))).sum())

    found = minimize(surprise, [0.0, np.log(u)], method="Nelder-Mead",
                     options={"xatol": 1e-9, "fatol": 1e-9, "maxiter": 5000, "maxfev": 5000})  # fmt: skip
    a = float(expit(found.x[0]))
    t = float(np.exp(found.x[1])) - a
    if not found.success or a > _UNBOUNDED or abs(found.x).max() > _FARTHEST:
        return None
    everybody = n / fraction
    share = float(np.exp(gammaln(t + 1) - gammaln(t + a) + (a - 1) * np.log(everybody)))
    return share if 0 <= share <= 1 else None


def snb(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float | None:
    """Return the share that is unique by the slide negative binomial model of Chen & Keller-McNulty (1998).

    A class of the population has 1 + X members, X negative binomial with a and b. The number K of classes is estimated
    by the modified Shlosser estimator (Haas & Stokes, 1998); a and b so that as many ones and twos are expected in the
    sample as there are. The population has K b^a uniques.
    """
    import numpy as np
    from scipy.optimize import least_squares
    from scipy.special import expit

    n = float((sizes * counts).sum())
    pairs = counts[sizes == 2]
    if not pairs.size or sizes[0] != 1:
        return None
    classes = _shlosser(sizes, counts, fraction)
    wanted = np.log([counts[0], pairs[0]])

    def gap(x: np.ndarray) -> np.ndarray:
        a, b = np.exp(x[0]), expit(x[1])
        missed = (1 - fraction) * (1 - b)
        left = np.log1p(-missed)
        ones = np.log(classes * fraction) + a * (np.log(b) - left) + np.log1p(a * missed / (1 - missed))
        twos = np.log(classes * fraction**2 / 2 * a * (1 - b) * (2 - (1 - a) * missed)) + a * np.log(b) - (a + 2) * left
        return np.array([ones, twos]) - wanted

    found = least_squares(gap, [0.0, 0.0], bounds=(-_FARTHEST, _FARTHEST), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    share = float(classes * np.exp(np.exp(found.x[0]) * np.log(expit(found.x[1]))) * fraction / n)
    return share if found.cost < 1e-16 and 0 <= share <= 1 else None


def _shlosser(sizes: np.ndarray, counts: np.ndarray, fraction: float) -> float:
    """Return how many classes the population has, by the modified Shlosser estimator."""
    missed = ((1 - fraction) ** sizes * counts).sum()
    once = (sizes * fraction * (1 - fraction) ** (sizes - 1) * counts).sum()
    again = (sizes * fraction**2 * (1 - fraction**2) ** (sizes - 1) * counts).sum()
    either = (((1 - fraction**2) ** sizes - (1 - fraction) ** sizes) * counts).sum()
    return float(counts.sum() + counts[0] * again / either * (missed / once) ** 2)


SamplingFraction = Annotated[
    float | None,
    Param(
        "Share of the population that is in the release, for DIS-SUDA and population uniqueness. Default: computed "
        "from --weight.",
        min=0,
        max=1,
    ),
]
UNTOLD = "needs --sampling-fraction or --weight"
"""Why an audit of a population has nothing to say."""


def fraction_of(audited: AuditedRelease, told: float | None) -> float | None:
    """Return the sampling fraction: the one that was told, else that of the weights; None where there is neither.

    Raises
    ------
    ParameterError
        When nothing of the population is said to be in the release.
    """
    if told == 0:
        raise ParameterError("audit, --sampling-fraction", "must be above 0", "0")
    if told is not None or audited.weight is None:
        return told
    found = audited.warehouse.record("audit/sampling_fraction.sql", weighted_cells=audited.weighted_cells)
    return float(found["fraction"])


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


@dataclass(frozen=True)
class Without:
    """What remains at risk without a column."""

    k: int
    uniques: int
    average_risk: float


@dataclass(frozen=True)
class Contribution(Detail):
    """The column that adds most, and what remains without each."""

    column: str
    without: dict[str, Without]


@audit(
    "contribution",
    needs=("quasi",),
    gate="",
    source="Hundepool et al. (2012)",
    templates=("audit/cells.sql", "audit/merged_cells.sql", "audit/cell_sizes.sql"),
)
def contribution(audited: AuditedRelease, limit: float | None) -> Found:
    """Which quasi-identifier, dropped or coarsened, helps most: what remains at risk without each.

    Returns
    -------
    Found
        The value is the largest share of the average prosecutor risk that one column accounts for, from 0 to 1, and
        `column` that column; `without` has for each the k, the sample uniques and the average risk without it.

    Notes
    -----
    The average risk is the mean of 1/f over the records. One GROUP BY of the records and one of the classes for each
    column; where persons are counted or NULL is not a value of its own, one of the records for each column.
    """
    sizes = sizes_of(audited)
    if not sizes.records:
        return Found(None, reason="there are no records")
    before = sizes.average_risk
    without = {}
    for column in audited.quasi:
        left = sizes_of(audited.over(c for c in audited.quasi if c != column))
        without[column.name] = Without(left.k, left.below(2)[1], left.average_risk)
    most = min(without, key=lambda name: without[name].average_risk)
    return Found(1 - without[most].average_risk / before, detail=Contribution(most, without))
