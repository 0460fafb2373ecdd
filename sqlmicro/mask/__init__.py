"""Masking methods: one module each, importing it registers the method."""

from sqlmicro.mask import constant

__all__ = ["constant"]
