"""What somebody can do with a release, measured: one module per attack, in the order in which they are shown. May
import `group` and what is below it."""

MODULES = (
    "linkage",
    "all_records",
    "row_order",
    "key_replay",
    "recovery",
    "inference",
    "known_columns",
    "membership",
    "criteria",
    "totals",
    "same_order",
)
"""Those that register something, in the order in which it is listed."""
