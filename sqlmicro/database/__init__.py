"""The warehouse, the only place that executes SQL, and what it reads: templates, sources, columns. Imports registry."""
