"""Guarantees: what must hold of every class, its bounds and its sentence. May import `work` and what is below it."""
