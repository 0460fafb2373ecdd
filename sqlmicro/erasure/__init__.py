"""Erasure: rewriting a database file without replaced values, and looking for those that are still somewhere."""
