"""Guarantees: what must hold of every class, its bounds and its sentence. May import `missing` and what is below it."""

MODULES = ("limits",)
"""Those that register something, in the order in which it is listed."""
