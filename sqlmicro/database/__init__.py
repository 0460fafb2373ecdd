"""The warehouse that every engine keeps, DuckDB behind it, and what it reads: templates, sources. Imports registry."""
