"""Replaced values: the purge that erases them, the search for what is left. May import `database` and what is below it."""
