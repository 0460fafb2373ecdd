"""What a command that measures cannot do on Spark."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmicro.errors import ParameterError
from sqlmicro.options.params import parameters


def refuse_given(options: object, groups: Sequence[type], must: str) -> None:
    """Refuse options of some groups that were given: they mean nothing on Spark.

    Raises
    ------
    ParameterError
        With their names.
    """
    # Where the ledger is may be said in the environment; by itself it asks for nothing.
    known = [one for group in groups for one in parameters(group) if one.name != "ledger"]
    given = [one.option for one in known if getattr(options, one.name, one.default) != one.default]
    if given:
        raise ParameterError("--engine spark", must, ", ".join(given), "Leave it out, or use --engine duckdb")
