"""Direct identifiers, found by what columns hold and what they are called; imports source, columns and what is below."""
