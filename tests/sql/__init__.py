"""One row test, one golden and one header test for every SQL template."""
