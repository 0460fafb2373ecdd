"""Masking methods: one module each; importing it registers the method. May import `guarantees` and what is below it."""

MODULES = (
    "apply_recoding",
    "coding",
    "constant",
    "encrypt",
    "fake",
    "generalize",
    "mondrian",
    "noise",
    "partial",
    "pram",
    "pseudonymise",
    "sample",
    "shift_dates",
    "shuffle",
    "suppress",
    "swap",
)
"""Those that register something, in the order in which it is listed."""
