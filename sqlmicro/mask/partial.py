"""Partial masking: the ends of a value as they are, the rest hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import Param
from sqlmicro.registry import method

if TYPE_CHECKING:
    from sqlmicro.work import Outcome, Work


@method(
    "partial",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    by_value=True,
    source="sqlmicro",
    templates=("mask/partial_values.sql",),
    takes_strata=False,
)
def partial(
    work: Work,
    *,
    keep_first: Annotated[int, Param("Characters to show at the beginning.", min=0)] = 0,
    keep_last: Annotated[int, Param("Characters to show at the end.", min=0)] = 0,
    character: Annotated[str, Param("What every other character becomes.", metavar="CHAR")] = "*",
) -> Outcome:
    """Show the first and last characters of every value and hide those between: the last 4 digits of a card.

    Returns
    -------
    Outcome
        New values of all columns, as text.

    Raises
    ------
    ParameterError
        When `character` is not one character.
    InputError
        For a column of floating-point numbers, dates or timestamps.

    Notes
    -----
    A value that has no more than the characters to show together is hidden altogether. The length of a value stays
    visible.

    NULL stays NULL. What is shown may still single a record out: the k that is reached is measured. One pass.
    """
    if len(character) != 1:
        raise ParameterError(f"{work.where}, character", "must be one character", f"{len(character)}")
    unfit = ("float", "date", "timestamp", "timestamptz")
    wrong = [f"{column.name} ({column.type})" for column in work.columns if column.family in unfit]
    if wrong:
        raise InputError(work.where, "works on text and whole numbers", ", ".join(wrong))
    values = work.run(
        "mask/partial_values.sql",
        "values",
        relation=work.relation,
        columns=work.columns,
        first_shown=keep_first,
        last_shown=keep_last,
        character=character,
    )
    work.replace_all(work.columns, values, "text")
    return work.outcome
