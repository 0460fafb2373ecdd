"""Direct identifiers, found by the values and the name of a column. May import `database` and what is below it."""
