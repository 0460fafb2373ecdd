"""What somebody can do with a release, measured: one module per attack, in the order in which they are shown. May
import `group` and what is below it."""

MODULES = (
    "linkage",
    "all_records",
    "row_order",
    "key_replay",
    "insider",
    "inference",
    "homogeneity",
    "known_columns",
    "membership",
    "singling_out",
    "linkability",
    "averaging",
    "difference",
    "totals",
    "same_order",
)
"""Those that register something, in the order in which it is listed."""
