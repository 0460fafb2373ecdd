"""A constant: every value of a column becomes the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.options.params import Param
from sqlmicro.registry import method

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work


@method(
    "constant",
    stage="mask",
    engine="sql",
    promise="masked",
    by_value=True,
    source="sqlmicro",
    templates=("mask/constants.sql", "mask/nulls.sql"),
    takes_strata=False,
)
def constant(
    work: Work,
    *,
    value: Annotated[str | None, Param("Text that every value becomes. Default: NULL.")] = None,
) -> Outcome:
    """Give every record the same value: the column stays where programs expect it, what was in it is gone.

    Returns
    -------
    Outcome
        New values of all columns.

    Notes
    -----
    NULL keeps the type of the column. Missing values become the text too.

    One pass over the records. Leaving the column out altogether is the option --drop.
    """
    if value is None:
        values = work.run("mask/nulls.sql", "values", relation=work.relation, columns=work.columns)
    else:
        values = work.run("mask/constants.sql", "values", relation=work.relation, columns=work.columns, value=value)
    work.replace_all(work.columns, values)
    work.outcome.nominal = list(work.columns)
    if value is not None:
        work.outcome.text = list(work.columns)
    return work.outcome
