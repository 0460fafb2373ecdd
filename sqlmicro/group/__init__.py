"""Grouping methods: one module each; importing it registers it. May import `guarantees` and what is below it."""

MODULES = (
    "individual_ranking",
    "k_ward",
    "kanonymeans",
    "kanonymeans_star",
    "max_distance",
    "mdav",
    "mdav_plus",
    "mdav_star",
    "mhm",
    "microaggregate",
    "mona",
    "ona_star",
    "optimal_univariate",
    "recursive_k_ward",
    "secure_k_ward",
    "single_axis",
    "split_group",
    "v_mdav",
)
"""Those that register something, in the order in which it is listed."""
