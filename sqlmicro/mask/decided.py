"""What a step of recoding decided, said as an artefact: levels, boxes or tails, with bounds that the release shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from sqlmicro.database.columns import Column
from sqlmicro.errors import InputError, Need, ParameterError
from sqlmicro.mask import population as everybody
from sqlmicro.mask.ladders import Ladder, Rule
from sqlmicro.mask.recoding_file import (
    Box,
    Level,
    LocalClass,
    Promised,
    RecodedColumn,
    Recoding,
    Side,
    Stratum,
    Tail,
    digest,
    refuse_inexact,
    written,
)
from sqlmicro.options.params import Param

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.mask.recoding import Decided
    from sqlmicro.work import Work

RecodingTo = Annotated[
    str | None,
    Param("JSON file for what was decided: apply-recoding applies it to other rows.", metavar="FILE", part="recoding"),
]


def of_levels(work: Work, ladders: Mapping[Column, Ladder], made: Decided, k: int | None) -> Recoding:
    """Say which level every column was recoded to."""
    chosen = made.levels
    columns = [_column(column, ladders[column], [chosen[column]] if chosen[column] else [], work) for column in chosen]
    return _whole(work, "generalize", k, columns)


def of_classes(work: Work, ladders: Mapping[Column, Ladder], made: Decided, k: int | None) -> Recoding:
    """Say which classes local recoding released, in the order in which it made them.

    Raises
    ------
    ParameterError
        When rules do not tell which record is in which class.
    """
    classes, must = made.classes, "says local recoding by rules: which values are released in which class"
    assert classes is not None
    if classes.first is None:
        raise ParameterError(f"{work.where}, recoding_to", must, "classes that were united to keep what is asked",
                             "Leave --local or --recoding-to out")  # fmt: skip
    quantiles = [column.name for column in classes.changed if ladders[column].bins]
    if quantiles:
        raise ParameterError(f"{work.where}, recoding_to", must, f"--quantiles of {', '.join(quantiles)}",
                             "Use --breaks or --width")  # fmt: skip
    columns = [
        _column(column, ladder, range(1, ladder.height + 1) if column in classes.changed else [], work)
        for column, ladder in ladders.items()
    ]
    strata, first = everybody.strata(work), classes.first
    found = work.warehouse.rows(
        "mask/class_values.sql", cells=classes.cells, representatives=classes.representatives, strata=strata,
        chosen=first.tolist(), columns=[(column, "p" if column in classes.changed else "c") for column in ladders],
    )  # fmt: skip
    said = [
        LocalClass(list(row[: len(strata)]), levels, list(row[len(strata) :]))
        for row, levels in zip(found, classes.levels[first].tolist(), strict=True)
    ]
    return _whole(work, "generalize", k, columns, classes=said)


def _column(column: Column, ladder: Ladder, levels: Sequence[int], work: Work) -> RecodedColumn:
    said = [_level(ladder, number, work) for number in levels]
    return RecodedColumn(column.name, column.type, said, numeric=bool(said) and ladder.numeric)


def _level(ladder: Ladder, number: int, work: Work) -> Level:
    """Say what makes a level of a ladder."""
    rule: Rule = ladder.rules[0]
    if rule.kind == "hierarchy":
        return Level("hierarchy", step=number, top=ladder.top, sha256=digest(rule.argument))
    rule = ladder.rules[number - 1]
    if rule.kind == "quantiles":
        found = work.warehouse.rows(
            "mask/released_bins.sql", bins=ladder.bins[number], relation=work.relation, column=ladder.column,
            kept=work.outcome.rows.relation if work.outcome.rows else work.relation,
        )  # fmt: skip
        refuse_inexact((end for one in found for end in one), rule.where)
        return Level("bins", bins=[list(one) for one in found])
    if rule.kind == "width":
        return Level("width", width=rule.argument)
    if rule.kind == "breaks":
        return Level("breaks", breaks=rule.argument)
    if rule.kind == "truncate":
        return Level("truncate", unit=rule.argument)
    return Level("prefix", length=rule.argument) if rule.kind == "prefix" else Level("one-class")


def of_boxes(work: Work, groups: Name, recoded: Mapping[Column, Name], k: int) -> Recoding:
    """Say which range or set every class has in every column; `groups` has row_id and label, `recoded` the ends."""
    numbered = [(column, f"low_{i}", f"high_{i}", f"missing_{i}") for i, column in enumerate(work.columns, 1)]
    strata = [(column, f"stratum_{i}") for i, column in enumerate(everybody.strata(work), 1)]
    found = work.warehouse.rows(
        "mask/group_boxes.sql", groups=groups, relation=work.relation, strata=strata,
        ranges=[(recoded[column], *names) for column, *names in numbered if column.numeric],
        sets=[one for one in numbered if not one[0].numeric],
        order=[(low, high, missing) for _, low, high, missing in numbered],
    )  # fmt: skip
    boxes = []
    for row in found:
        sides = []
        for i, column in enumerate(work.columns):
            low, high, missing = row[len(strata) + 3 * i : len(strata) + 3 * i + 3]
            sides.append(Side(low, high, None, missing) if column.numeric else Side(None, None, low or [], missing))
        boxes.append(Box(list(row[: len(strata)]), sides))
    columns = [RecodedColumn(column.name, column.type) for column in work.columns]
    return _whole(work, "mondrian", k, columns, boxes=boxes)


def of_suppressed(work: Work) -> Recoding:
    """Say which combinations are released, those with fewest values suppressed first; a missing value fits any."""
    strata = [(column, f"stratum_{i}") for i, column in enumerate(everybody.strata(work), 1)]
    values = next(iter(work.outcome.values.values())).relation
    rows = work.warehouse.rows(
        "mask/released_combinations.sql", relation=work.relation, values=values, strata=strata, columns=work.columns
    )
    columns = [RecodedColumn(c.name, c.type, [Level("one-class")], numeric=True) for c in work.columns]
    said = []
    for row in rows:
        own = list(row[len(strata) :])
        said.append(LocalClass(list(row[: len(strata)]), [int(value is None) for value in own], own))
    said.sort(key=lambda one: sum(one.levels))
    return _whole(work, "suppress", None, columns, classes=said)


def of_tails(work: Work, tails: Mapping[Column, tuple[Name, Name]], *, top: bool, given: float | None, replacement: str,
             label: str | None, k: int) -> Recoding:  # fmt: skip
    """Say where the tail of every column begins, and what it becomes; `tails` has those and the thresholds they have.

    A threshold that was found among the values is said if it is released. If the mean takes its place, or a label, the
    last value that is no part of the tail is said instead: it is released.
    """
    columns = []
    strata = [(column, f"stratum_{i}") for i, column in enumerate(everybody.strata(work), 1)]
    for column, (found, values) in tails.items():
        rows = work.warehouse.rows(
            "mask/tail_bounds.sql", relation=work.relation, tails=found, by=work.by, strata=strata, column=column,
            top=top, replacement="threshold" if replacement == "label" else replacement,
        )  # fmt: skip
        said = []
        for *stratum, threshold, beyond, becomes in rows:
            start = threshold if given is None else _text(given)
            becomes = label if label is not None and threshold is not None else becomes
            if given is not None and replacement in ("threshold", "label"):
                becomes = start if label is None else label
            shown = given is not None or (replacement == "threshold" and threshold is not None)
            said.append(Tail(stratum, start if shown else None, None if shown else beyond, becomes))
        kind = dict(work.warehouse.describe(values))["value"]
        columns.append(RecodedColumn(column.name, column.type, tails=said, becomes=kind))
    return _whole(work, "top-code" if top else "bottom-code", k, columns)


def _text(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def _whole(work: Work, method: str, k: int | None, columns: list[RecodedColumn], *, boxes: list[Box] | None = None,
           classes: list[LocalClass] | None = None) -> Recoding:  # fmt: skip
    by = [Stratum(column.name, column.type) for column in everybody.strata(work)]
    promised = Promised.of(work.demand.options)
    return written(Recoding(1, method, k, columns, by, promised, boxes, classes), work.where)  # type: ignore[arg-type]


def sayable(work: Work, *, population: bool, relaxed: bool = False, by_class: bool = False) -> Need:
    """Return what a recoding needs to say what was decided: classes that depend on the values of a record alone."""
    got = "--population" if population else "--relaxed: equal values go to both sides" if relaxed else ""
    if by_class and (work.in_levels or work.records.guides):
        got = "columns of a person or household, which are grouped apart"
    must = "says what the values of a record become"
    return Need(not got, f"{work.where}, recoding_to", must, got, "Leave one of them out")


def refuse_nothing(work: Work, rows: int) -> None:
    """Refuse a release without rows."""
    if not rows:
        raise InputError(work.where, "some rows must be released", "none", "Check whether the recoding fits the table")
