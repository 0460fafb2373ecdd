"""What a release discloses and what it is good for: one module per measure, in the order in which they are shown. May
import `safe_method`, `attacks` and what is below them."""

MODULES = (
    "k_anonymity",
    "l_diversity",
    "risk",
    "suda",
    "population_uniqueness",
    "criteria",
    "information_loss",
    "moments",
    "regression",
    "deniable",
)
"""Those that register something, in the order in which it is listed."""
