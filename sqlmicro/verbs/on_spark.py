"""What a command that measures cannot do on Spark."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.errors import Need
from sqlmicro.options.params import parameters


def none_of(options: object, groups: Sequence[type], must: str) -> Need:
    """Return what Spark needs: that no option of some groups is given, since they mean nothing there."""
    # Where the ledger is may be said in the environment; by itself it asks for nothing.
    known = [one for group in groups for one in parameters(group) if one.name != "ledger"]
    given = [one.option for one in known if getattr(options, one.name, one.default) != one.default]
    return Need(not given, "--engine spark", must, ", ".join(given), "Leave it out, or use --engine duckdb")
