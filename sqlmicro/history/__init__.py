"""The ledger of releases, what several of the same people tell together, and series. May import `pipeline`, and below.

A release is judged with its past: with every other one that somebody may still have.
"""
