"""Masking methods: one module each, importing it registers the method."""

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
