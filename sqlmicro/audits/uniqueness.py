"""How many members of a population are unique in it, estimated from the class sizes of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

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
