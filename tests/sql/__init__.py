"""A row test and a header test for every SQL template, and a dozen goldens for review."""
