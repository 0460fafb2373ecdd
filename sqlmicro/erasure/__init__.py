"""Replaced values: the purge erases them, residue is looked for. May import `database` and what is below it."""
