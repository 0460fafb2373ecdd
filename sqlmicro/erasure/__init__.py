"""What is left of replaced values: the purge and the search for residue. Imports database."""
