"""How much of its population a release has: as it was told, or by the weights."""

from __future__ import annotations

from typing import Annotated

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param

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
