"""Grouping methods: one module each; importing it registers the method. May import `records` and what is below it."""

from sqlmicro.group import (
    individual_ranking,
    k_ward,
    kanonymeans,
    kanonymeans_star,
    max_distance,
    mdav,
    mdav_plus,
    mdav_star,
    mhm,
    microaggregate,
    optimal_univariate,
    recursive_k_ward,
    secure_k_ward,
    single_axis,
    split_group,
    v_mdav,
)

__all__ = [
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
    "optimal_univariate",
    "recursive_k_ward",
    "secure_k_ward",
    "single_axis",
    "split_group",
    "v_mdav",
]
