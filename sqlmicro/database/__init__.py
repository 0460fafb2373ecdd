"""The warehouse that every engine keeps, DuckDB behind it, and what it reads: templates, sources, columns. May import
`registry` and what is below it."""
