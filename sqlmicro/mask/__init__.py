"""Masking methods: one module each; importing it registers the method. May import `work` and what is below it."""

from sqlmicro.mask import (
    coding,
    constant,
    generalize,
    mondrian,
    noise,
    partial,
    pram,
    pseudonymise,
    sample,
    shuffle,
    suppress,
    swap,
)

__all__ = [
    "coding",
    "constant",
    "generalize",
    "mondrian",
    "noise",
    "partial",
    "pram",
    "pseudonymise",
    "sample",
    "shuffle",
    "suppress",
    "swap",
]
