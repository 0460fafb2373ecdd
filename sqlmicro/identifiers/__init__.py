"""Direct identifiers, by the values and the name of a column; imports source, columns and what is below."""
