"""SAFE: every record occurs at least k times, and the cross tables stay close. May import `group` and what is
below it."""

MODULES = ("method",)
"""Those that register something, in the order in which it is listed."""
