"""Generalization (global recoding): values become the class they are in, up to the level at which k-anonymity holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sqlmicro.database.columns import Column, settings_by_column
from sqlmicro.errors import InputError, Need, ParameterError, demand
from sqlmicro.mask import decided, recoding
from sqlmicro.mask import population as everybody
from sqlmicro.mask.decided import RecodingTo
from sqlmicro.mask.ladders import WRITTEN, Ladder, Rule, build, rules
from sqlmicro.mask.losses import Metric
from sqlmicro.mask.recoding import Request
from sqlmicro.options.guarantees import InPopulation, MaxDelta, MinKMap, Population
from sqlmicro.options.params import Param
from sqlmicro.registry import Assurance, method

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work


_GIVE_K = "Give --until-k"

UntilK = Annotated[
    int | None,
    Param("Find the levels that lose least and at which every record occurs this often.", min=2, metavar="K", part="k"),
]
SuppressUpTo = Annotated[
    float, Param("With --until-k: share of the records that may be left out, as 0.05 or 5%.", min=0, max=1, share=True)
]
Local = Annotated[
    bool,
    Param(
        "With --until-k: every class on levels of its own. Loses far less; a column then has mixed levels.",
        part="local",
    ),
]
Target = Annotated[
    str | None, Param("With --until-k: a column that is kept; tells how well the classes predict it.", metavar="A")
]


def _assures(settings: Mapping[str, Any], where: str) -> Assurance:
    """Return what is promised: k of a record, where levels are chosen until there are k."""
    if settings.get("until_k") is None:
        return Assurance("masked")
    return Assurance("record", in_population=InPopulation.of(settings))


@method(
    "generalize",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    assures=_assures,
    keeps_guarantees=True,
    by_value=True,
    recodes=True,
    source="Hundepool et al. (2012), global recoding; Samarati (2001), IEEE TKDE 13(6)",
    templates=(
        "mask/distinct_values.sql",
        "mask/width_bins.sql",
        "mask/break_bins.sql",
        "mask/quantile_bins.sql",
        "mask/range_labels.sql",
        "mask/date_range_labels.sql",
        "mask/range_midpoints.sql",
        "mask/truncated_dates.sql",
        "mask/truncated_timestamps.sql",
        "mask/prefixes.sql",
        "mask/one_class.sql",
        "mask/ladder.sql",
        "mask/hierarchy_ladder.sql",
        "mask/split_classes.sql",
        "load/members.sql",
        "safe/persons_of_cells.sql",
        "mask/ladder_codes.sql",
        "safe/cells.sql",
        "mask/cell_codes.sql",
        "mask/cell_members.sql",
        "mask/member_values.sql",
        "mask/recoded.sql",
        "mask/value_texts.sql",
        "mask/date_texts.sql",
        "mask/timestamp_texts.sql",
        "mask/chosen_levels.sql",
        "replace/by_label.sql",
        *everybody.TEMPLATES,
        "mask/population_values.sql",
        "mask/population_cells.sql",
        "mask/released_bins.sql",
        "mask/class_values.sql",
    ),
)
def generalize(
    work: Work,
    *,
    width: Annotated[
        tuple[str, ...], Param("Bins of equal width, of numbers or days: age=5. Repeat for levels.", metavar="A=W")
    ] = (),
    breaks: Annotated[
        tuple[str, ...], Param("Bins between breaks: age=18;30;65. Repeat for levels.", metavar="A=X;Y")
    ] = (),
    quantiles: Annotated[
        tuple[str, ...], Param("This many bins, each with about as many records: income=4.", metavar="A=N")
    ] = (),
    truncate: Annotated[
        tuple[str, ...],
        Param("Dates to the first of their week, month, quarter or year: born=month.", metavar="A=UNIT"),
    ] = (),
    prefix: Annotated[
        tuple[str, ...], Param("The first characters, the others as asterisks: zip=3.", metavar="A=N")
    ] = (),
    hierarchy: Annotated[
        tuple[str, ...],
        Param("A CSV or TOML file that says what every value becomes on each level.", metavar="A=FILE"),
    ] = (),
    level: Annotated[tuple[str, ...], Param("Level to use, 0 is the original. Default: 1.", metavar="A=LEVEL")] = (),
    bins_as: Annotated[
        Literal["range", "midpoint"], Param("Release a bin as text such as [20, 30), or as its middle.")
    ] = "range",
    until_k: UntilK = None,
    suppress_up_to: SuppressUpTo = 0.0,
    metric: Annotated[Metric, Param("With --until-k: what the loss is measured by.")] = "loss",
    local: Local = False,
    target: Target = None,
    min_k_map: MinKMap = None,
    max_delta: MaxDelta = None,
    population: Population = None,
    recoding_to: RecodingTo = None,
) -> Outcome:
    """Replace values by the class they are in: bins, months, prefixes, or the levels of a hierarchy.

    Returns
    -------
    Outcome
        New values of the columns; with `until_k` the promise is that of a record.

    Raises
    ------
    ParameterError
        For a column without a rule, a rule that does not fit its column, or a level it does not have.
    InputError
        When a hierarchy lacks values, or a level does not hold the one below it; when no level keeps what is asked in
        the population. The messages have counts only.

    Notes
    -----
    A rule reads COLUMN=ARGUMENT; repeated for one column, the rules are its levels, finest first. A hierarchy file is
    CSV without a header (value, level 1, level 2, …) or TOML with a table [[level]] per level (name = [values]).
    `level` does not go with `until_k`. Quantile bins show values that occur. With `until_k` every column has one more
    level, on which all values are one, unless the last level of its hierarchy is that already.

    Rules work on the distinct values of a column. With `until_k` the table is aggregated once to the combinations that
    occur, and every node of the lattice that is looked at is counted on these. The node with the least loss is taken,
    exactly; the records of classes that do not keep what is asked are suppressed. `metric` is `loss`: the mean over
    records and columns of the share of its column that a released value covers, 1 for a suppressed record (Iyengar
    2002; 1 - granularity, El Emam et al. 2009). It counts the values of a hierarchy file, else those that occur. Or
    `entropy`: the bits it takes to tell a value from those it became one with (non-uniform, Gionis & Tassa 2009). Or
    `discernibility`: how many records are in the class of a record (Bayardo & Agrawal 2005). All are reported.

    With a `population` it is recoded in the same way, and every class is held by its members there: by `min_k_map` of
    them (Sweeney 2002), of whom at most the share `max_delta` is in the class (the upper end of delta-presence, Nergiz,
    Atzori & Clifton 2007). k-map is monotone as k is. A share is not, where records may be suppressed: a class may
    become too large a share by what it is joined with. The loss is counted over the values of the records alone.

    With `local` every class is released at the node at which it loses least, and the report has no level. The released
    values of a column are classes that overlap, such as 39, [35, 40) and *: a query has to take them apart.

    Examples
    --------
    On the command line: ``sqlmicro generalize --table persons --columns age,zip --width age=5 --width age=10
    --prefix zip=3 --until-k 5 --suppress-up-to 2% --rest drop``.
    """
    found = rules(work, {
        "width": width, "breaks": breaks, "quantiles": quantiles, "truncate": truncate, "prefix": prefix,
        "hierarchy": hierarchy,
    })  # fmt: skip
    midpoint = bins_as == "midpoint"
    asked = everybody.asked_of(work, min_k_map, population, max_delta)
    if recoding_to:
        demand([decided.sayable(work, population=population is not None, by_class=local)])
    request = Request(until_k or 0, suppress_up_to, metric, local, target, asked)
    if until_k is None:
        demand(_needs_k(work, request))
        ladders, made = _to_levels(work, found, level, midpoint)
    else:
        if level:
            raise ParameterError(f"{work.where}, level", "levels are chosen by --until-k", "both")
        members = everybody.read(work, asked) if asked.limits else None
        ladders = _ladders(work, found, midpoint, members)
        made = recoding.recode(work, ladders, request, members)
    if recoding_to:
        say = decided.of_classes if local else decided.of_levels
        work.outcome.account.recoding = say(work, ladders, made, until_k)
    return work.outcome


def _needs_k(work: Work, request: Request) -> Iterator[Need]:
    """Yield what is needed where levels are not chosen until there are k."""
    if request != Request(0):
        yield Need(False, work.where, f"{request.beside_k} goes with --until-k", "no --until-k", _GIVE_K)
    asked = work.demand.options.asked
    yield Need(not asked, work.where, "guarantees go with --until-k", "no --until-k", _GIVE_K)


def _to_levels(
    work: Work, found: dict[Column, list[Rule]], level: tuple[str, ...], midpoint: bool
) -> tuple[dict[Column, Ladder], recoding.Decided]:
    """Recode every column to the level that was named, or to its first; return the ladders, and these levels."""
    without = [column.name for column in work.columns if column not in found]
    if without:
        raise ParameterError(
            work.where,
            "every column needs a rule",
            f"none for {', '.join(without)}",
            "Give --width, --breaks, --quantiles, --truncate, --prefix or --hierarchy",
        )
    chosen = dict.fromkeys(work.columns, 1)
    ladders = {column: build(work, column, found[column], midpoint=midpoint, top=False) for column in work.columns}
    where = f"{work.where}, level"
    for column, text in settings_by_column(work.columns, level, where, WRITTEN):
        if not text.isdecimal() or int(text) > ladders[column].height:
            raise ParameterError(
                where, f"must be a level from 0 to {ladders[column].height}", f"something else for {column.name!r}"
            )
        chosen[column] = int(text)
    recoding.recode_to(work, ladders, chosen)
    return ladders, recoding.Decided(chosen)


def _ladders(work: Work, found: dict[Column, list[Rule]], midpoint: bool, members: Name | None) -> dict[Column, Ladder]:
    """Make the ladders of all columns, up to a level of one class."""
    ladders = {
        column: build(work, column, found.get(column, []), midpoint=midpoint, top=True, population=members)
        for column in work.columns
    }
    for column, ladder in ladders.items():
        _check_nested(work, column, ladder)
    return ladders


def _check_nested(work: Work, column: Column, ladder: Ladder) -> None:
    """Refuse levels that split a class of the level below: then a higher node could be worse than a lower one."""
    for number in range(1, ladder.height):
        split = work.record(
            "mask/split_classes.sql", ladder=ladder.relation, lower=f"code_{number}", upper=f"code_{number + 1}"
        )["split"]
        if split:
            raise InputError(
                f"{work.where}, {column.name}",
                f"level {number + 1} must hold the classes of level {number} whole",
                f"{split:,} of them are split",
                "Choose widths that are multiples of each other, breaks that are among the finer ones",
            )
