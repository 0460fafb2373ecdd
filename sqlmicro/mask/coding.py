"""Top and bottom coding: the values of a tail become one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.database.templates import Params
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask import decided
from sqlmicro.mask.decided import RecodingTo
from sqlmicro.options.params import Param
from sqlmicro.registry import method

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

TEMPLATES = (
    "mask/thresholds_by_value.sql",
    "mask/thresholds_by_quantile.sql",
    "mask/thresholds_by_count.sql",
    "mask/tails.sql",
    "mask/tail_values.sql",
    "mask/tail_labels.sql",
    "mask/tail_bounds.sql",
)
SOURCE = "Hundepool et al. (2012), top and bottom coding"

Replacement = Literal["threshold", "mean", "median", "label"]
Value = Annotated[float | None, Param("Threshold: the tail is this value and those beyond.", metavar="X")]
Quantile = Annotated[float | None, Param("Threshold: this quantile of the values, 0.99 or 0.01.", min=0, max=1)]
Count = Annotated[int | None, Param("Threshold: the tail is this many records, and those equal to the last.", min=1)]
Becomes = Annotated[Replacement, Param("What the values of the tail are replaced by.")]
Label = Annotated[str | None, Param("With --replacement label: the text, such as 85+.", metavar="TEXT")]
Smallest = Annotated[int, Param("Smallest number of records a tail may have.", min=2)]


@method(
    "top-code",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    by_value=True,
    source=SOURCE,
    templates=TEMPLATES,
)
def top_code(
    work: Work,
    *,
    value: Value = None,
    quantile: Quantile = None,
    count: Count = None,
    replacement: Becomes = "threshold",
    label: Label = None,
    k: Smallest = 3,
    recoding_to: RecodingTo = None,
) -> Outcome:
    """Replace the largest values of every column by the threshold, the mean or median of the tail, or a label.

    Returns
    -------
    Outcome
        New values of all columns.

    Raises
    ------
    ParameterError
        When the threshold is not given by one of the three ways, or a label is missing or superfluous.
    InputError
        For a column that has no numbers, and a tail of fewer than k records.

    Notes
    -----
    One of value, quantile and count is needed. A quantile is a value that occurs (the inverse of the distribution
    function). A label makes the column text. A tail of fewer than k records is refused: what they have in common would
    single them out.

    The tail are the values *at or beyond* the threshold: equal values are treated alike, and 85+ means 85 and more.
    With --by every stratum has a tail of its own; one without values beyond the threshold has none. NULL stays NULL.
    The mean keeps the total of the column. One pass; a threshold by count sorts. Source: Hundepool et al. (2012).
    """
    return _code(work, True, value, quantile, count, replacement, label, k, recoding_to)


@method(
    "bottom-code",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    by_value=True,
    source=SOURCE,
    templates=TEMPLATES,
)
def bottom_code(
    work: Work,
    *,
    value: Value = None,
    quantile: Quantile = None,
    count: Count = None,
    replacement: Becomes = "threshold",
    label: Label = None,
    k: Smallest = 3,
    recoding_to: RecodingTo = None,
) -> Outcome:
    """Replace the smallest values of every column by the threshold, the mean or median of the tail, or a label.

    The mirror image of `top_code`, which see for errors and notes: the tail are the values at or below the
    threshold.

    Returns
    -------
    Outcome
        New values of all columns.
    """
    return _code(work, False, value, quantile, count, replacement, label, k, recoding_to)


def _code(
    work: Work,
    top: bool,
    value: float | None,
    quantile: float | None,
    count: int | None,
    replacement: Replacement,
    label: str | None,
    k: int,
    recoding_to: str | None,
) -> Outcome:
    ways = {"value": value, "quantile": quantile, "count": count}
    given = [f"--{name}" for name, wish in ways.items() if wish is not None]
    if len(given) != 1:
        must = "needs one of --value, --quantile and --count"
        raise ParameterError(f"{work.where}, threshold", must, " and ".join(given) or "none of them")
    if (replacement == "label") != (label is not None):
        got = "none" if label is None else f"--replacement {replacement}"
        raise ParameterError(f"{work.where}, label", "--label goes with --replacement label", got)
    _refuse_unfit(work, value, replacement)
    found: dict[Column, tuple[Name, Name]] = {}
    for column in work.columns:
        thresholds = _thresholds(work, column, top, value, quantile, count)
        tails = work.run(
            "mask/tails.sql",
            f"tails_{column.staged}",
            relation=work.relation,
            thresholds=thresholds,
            by=work.by,
            column=column,
            top=top,
        )
        _check_tails(work, column, tails, k)
        shared: Params = {"relation": work.relation, "tails": tails, "by": work.by, "column": column}
        into = f"values_{column.staged}"
        if replacement == "label":
            values = work.run("mask/tail_labels.sql", into, **shared, top=top, label=label)
        else:
            values = work.run("mask/tail_values.sql", into, **shared, top=top, replacement=replacement)
        work.replace(column, values, "text" if replacement == "label" else "number")
        found[column] = tails, values
    if recoding_to:
        work.outcome.account.recoding = decided.of_tails(
            work, found, top=top, given=value, replacement=replacement, label=label, k=k
        )
    return work.outcome


def _refuse_unfit(work: Work, value: float | None, replacement: Replacement) -> None:
    wrong = [f"{column.name} ({column.type})" for column in work.columns if not column.numeric]
    if wrong:
        raise InputError(work.where, "works on numbers, dates and timestamps", ", ".join(wrong))
    days = [column for column in work.columns if column.family in ("date", "timestamp", "timestamptz")]
    if days and (value is not None or replacement == "label"):
        raise ParameterError(
            work.where,
            "dates and timestamps take --quantile or --count, and no label",
            ", ".join(f"{column.name} ({column.type})" for column in days),
        )


def _thresholds(
    work: Work, column: Column, top: bool, value: float | None, quantile: float | None, count: int | None
) -> Name:
    into = f"thresholds_{column.staged}"
    shared: Params = {"relation": work.relation, "by": work.by}
    if value is not None:
        # A whole number keeps the type of a column of whole numbers.
        threshold = int(value) if value.is_integer() and column.family == "integer" else value
        return work.run("mask/thresholds_by_value.sql", into, **shared, threshold=threshold)
    if quantile is not None:
        return work.run("mask/thresholds_by_quantile.sql", into, **shared, column=column, quantile=quantile)
    return work.run("mask/thresholds_by_count.sql", into, **shared, column=column, count=count, top=top)


def _check_tails(work: Work, column: Column, tails: Name, k: int) -> None:
    """Refuse a tail of fewer than k records, or none at all, and say how many were coded."""
    found = work.warehouse.query(
        "tails",
        "SELECT coalesce(sum(records), 0), coalesce(min(records), 0), count(*) FILTER (WHERE records < {{ k }}) "
        "FROM {{ tails | ident }}",
        tails=tails,
        k=k,
    )
    records, smallest, below = (int(number) for number in found[0])
    if below or not records:
        got = f"{smallest}" + (f"; {below:,} strata have fewer than k" if work.by else "")
        raise InputError(
            work.where,
            f"the tail of {column.name!r} must have at least k = {k} records",
            got,
            "Move the threshold inward, so that more records share the replacement",
        )
    work.note(f"{column.name}: {records:,} records in the tail")
