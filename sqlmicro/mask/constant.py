"""A constant: every value of a column becomes the same one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from sqlmicro.options.params import Param
from sqlmicro.registry import method

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.work import Outcome, Work


@method(
    "constant",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    by_value=True,
    source="sqlmicro",
    templates=("mask/constants.sql", "mask/nulls.sql"),
    takes_strata=False,
)
def constant(
    work: Work,
    *,
    value: Annotated[
        str | None,
        Param(
            "What every value becomes: a whole number where the column is of whole numbers, else text. Default: NULL."
        ),
    ] = None,
) -> Outcome:
    """Give every record the same value: the column stays where programs expect it, what was in it is gone.

    Returns
    -------
    Outcome
        New values of all columns.

    Notes
    -----
    NULL keeps the type of the column, and so does a whole number in a column of whole numbers that can hold it. Missing
    values become the value too.

    A column that must not be empty (NOT NULL) and says whose record it is can stay where it is so: in a table that is
    changed in place, `value = "0"` takes the place of every key.

    One pass over the records. Leaving the column out altogether is the option --drop.
    """
    whole = [column for column in work.columns if value is not None and _holds(column, value)]
    if value is None:
        values = work.run("mask/nulls.sql", "values", relation=work.relation, columns=work.columns)
    else:
        kinds = [(column, column.type if column in whole else "VARCHAR") for column in work.columns]
        values = work.run("mask/constants.sql", "values", relation=work.relation, columns=kinds, value=value)
    stays: list[Column] = work.columns if value is None else whole
    work.replace_all(work.columns, values, {c: "nominal" if c in stays else "text" for c in work.columns})
    return work.outcome


_WHOLE = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
"""The types of whole numbers, and their bits; those without a sign are called U and the same."""


def _holds(column: Column, value: str) -> bool:
    """Tell whether a value is a whole number that a column can hold."""
    bits, unsigned = _WHOLE.get(column.type.removeprefix("U"), 0), column.type.startswith("U")
    if not bits or not re.fullmatch(r"-?[0-9]{1,39}", value):
        return False
    least, most = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return bool(least <= int(value) <= most)
