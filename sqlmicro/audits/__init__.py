"""What a release discloses and what it is good for: one module per measure, in the order in which they are shown. May
import `safe_method`, `attacks` and what is below them."""

MODULES = (
    "k_anonymity",
    "l_diversity",
    "closeness",
    "risk",
    "household",
    "suda",
    "population_uniqueness",
    "contribution",
    "interval",
    "linkage",
    "criteria",
    "missing",
    "information_loss",
    "moments",
    "distributions",
    "regression",
    "subgroup_means",
    "propensity",
    "tables",
    "deniable",
)
"""Those that register something, in the order in which it is listed."""
