"""Masking methods: one module each, importing it registers the method."""

from sqlmicro.mask import constant, generalize

__all__ = ["constant", "generalize"]
