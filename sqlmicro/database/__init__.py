"""The only place that executes SQL, and what it reads: templates, sources, columns. May import `registry` and what is
below it."""
