"""Generalization (global recoding): values become the class they are in, up to the level at which k-anonymity holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.database.columns import Column, settings_by_column
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask import lattice
from sqlmicro.mask.ladders import WRITTEN, Kind, Ladder, Rule, build, rules
from sqlmicro.options.params import Param
from sqlmicro.registry import method
from sqlmicro.work import Claim

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work


@method(
    "generalize",
    stage="mask",
    engine="sql",
    promise="masked",
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
        "mask/mapped_values.sql",
        "mask/one_class.sql",
        "mask/ladder.sql",
        "mask/split_classes.sql",
        "mask/coded_cells.sql",
        "mask/node.sql",
        "mask/recoded.sql",
        "mask/frequent_records.sql",
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
        tuple[str, ...], Param("So many bins of about equally many records: income=4.", metavar="A=N")
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
    until_k: Annotated[
        int | None,
        Param("Find the levels that lose least among those at which every record occurs so often.", min=2, metavar="K"),
    ] = None,
    suppress: Annotated[float, Param("With --until-k: share of the records that may be left out.", min=0, max=1)] = 0.0,
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
        When a hierarchy lacks values, or a level does not hold the one below it; the messages have counts only.

    Notes
    -----
    A rule reads COLUMN=ARGUMENT; repeated for one column, the rules are its levels, finest first. A hierarchy file is
    CSV without a header (value, level 1, level 2, …) or TOML with a table [[level]] per level (name = [values]).
    `level` does not go with `until_k`. Quantile bins show values that occur. With `until_k` every column has one more
    level, on which all values are one.

    Rules work on the distinct values of a column. With `until_k` the table is aggregated once to the combinations that
    occur; every node of the lattice that is looked at is one GROUP BY over these. The node with the least loss is
    taken: the mean over records and columns of the share of the column's values a released value covers, 1 for a
    suppressed record (1 - granularity, El Emam et al. 2009). Ours: shares count the values that occur in the table.

    Examples
    --------
    On the command line: ``sqlmicro generalize --table persons --columns age,zip --width age=5 --width age=10
    --prefix zip=3 --until-k 5 --suppress 0.02 --rest drop``.
    """
    given: dict[Kind, tuple[str, ...]] = {
        "width": width, "breaks": breaks, "quantiles": quantiles, "truncate": truncate, "prefix": prefix,
        "hierarchy": hierarchy,
    }  # fmt: skip
    found = rules(work, given)
    midpoint = bins_as == "midpoint"
    if until_k is None:
        if suppress:
            raise ParameterError(f"{work.where}, suppress", "goes with --until-k", "no --until-k")
        _to_levels(work, found, level, midpoint)
    else:
        if level:
            raise ParameterError(f"{work.where}, level", "levels are chosen by --until-k", "both")
        _until(work, found, until_k, suppress, midpoint)
    return work.outcome


def _to_levels(work: Work, found: dict[Column, list[Rule]], level: tuple[str, ...], midpoint: bool) -> None:
    """Recode every column to the level that was named, or to its first."""
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
    _recode(work, ladders, chosen)


def _until(work: Work, found: dict[Column, list[Rule]], k: int, suppress: float, midpoint: bool) -> None:
    """Recode to the best node of the lattice at which k-anonymity holds; leave the records below k out."""
    ladders = {
        column: build(work, column, found.get(column, []), midpoint=midpoint, top=True) for column in work.columns
    }
    for column, ladder in ladders.items():
        _check_nested(work, column, ladder)
    strata = [column for column in work.by if isinstance(column, Column)]
    key = [*work.columns, *strata]
    cells = work.run("safe/cells.sql", "cells", relation=work.relation, columns=key)
    coded = _coded(work, cells, ladders, strata)
    best = _best_node(work, coded, ladders, len(strata), k, suppress)
    if best is None:
        raise InputError(
            work.where,
            f"some levels must make every record occur {k} times",
            "none do" if not strata else "none do: a stratum has fewer",
            "Use a smaller --until-k, coarser --by columns, or a larger --suppress",
        )
    chosen = dict(zip(work.columns, best.node, strict=True))
    recoded = _recode(work, ladders, chosen, strata)
    shown = ", ".join(f"{column.name} {chosen[column]} of {ladders[column].height}" for column in work.columns)
    work.note(f"levels: {shown} (0 is the original, the last is one class)")
    work.note(
        f"granularity {1 - best.loss:.3f}, {best.classes:,} classes, {best.below:,} records suppressed; "
        f"{best.visited:,} of {best.nodes:,} nodes of the lattice were counted"
    )
    if best.below:
        work.outcome.only_grouped = work.run(
            "mask/frequent_records.sql", "frequent", relation=recoded, columns=key, k=k
        )
    work.outcome.claims = [Claim(tuple(key), "record", k)]
    work.outcome.promise = "record"


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


def _coded(work: Work, cells: Name, ladders: dict[Column, Ladder], strata: list[Column]) -> Name:
    """Return the combinations with the code and share of every column on every level."""
    aliases = {column: f"a{i}" for i, column in enumerate(ladders, 1)}
    levels: list[tuple[str, str | Column, str]] = []
    for i, (column, ladder) in enumerate(ladders.items(), 1):
        levels += [(aliases[column], f"code_{step}", f"code_{i}_{step}") for step in range(ladder.height + 1)]
        levels += [(aliases[column], f"share_{step}", f"share_{i}_{step}") for step in range(1, ladder.height + 1)]
    levels += [("c", column, f"stratum_{i}") for i, column in enumerate(strata, 1)]
    return work.run(
        "mask/coded_cells.sql",
        "coded_cells",
        cells=cells,
        ladders=[(aliases[column], ladder.relation, column) for column, ladder in ladders.items()],
        levels=levels,
    )


def _best_node(
    work: Work, coded: Name, ladders: dict[Column, Ladder], strata: int, k: int, suppress: float
) -> lattice.Found | None:
    heights = [ladder.height + 1 for ladder in ladders.values()]
    nodes = 1
    for height in heights:
        nodes *= height
    if nodes > lattice.MOST_NODES:
        raise ParameterError(
            f"{work.where}, until_k",
            f"the lattice must have at most {lattice.MOST_NODES:,} nodes",
            f"{nodes:,}",
            "Give fewer levels, or fix a column by an earlier step",
        )
    fixed = [f"stratum_{i}" for i in range(1, strata + 1)]
    records = int(work.warehouse.query("count", "SELECT sum(n) FROM {{ r | ident }}", r=coded)[0][0])
    means = []
    for i, height in enumerate(heights, 1):
        losses = [0.0]
        for number in range(1, height):
            share = work.warehouse.rows(
                "mask/node.sql", log=False, cells=coded, codes=[], shares=[f"share_{i}_{number}"], k=1
            )
            losses.append(float(share[0][2]) / records)
        means.append(losses)

    def evaluate(node: tuple[int, ...]) -> lattice.Cost:
        codes = [f"code_{i}_{number}" for i, number in enumerate(node, 1)]
        shares = [f"share_{i}_{number}" for i, number in enumerate(node, 1) if number]
        row = work.warehouse.rows("mask/node.sql", log=False, cells=coded, codes=[*codes, *fixed], shares=shares, k=k)[
            0
        ]
        return int(row[0]), int(row[1]), float(row[2])

    with work.warehouse.progress.stage("search the lattice", nodes, "nodes") as progress:
        return lattice.search(means, records, int(suppress * records), evaluate, progress.tick)


def _recode(
    work: Work, ladders: dict[Column, Ladder], chosen: dict[Column, int], strata: list[Column] | None = None
) -> Name:
    """Take the values of the chosen levels; a column on level 0 stays as it is."""
    changed = [column for column in work.columns if chosen[column]]
    untouched = [column for column in (*work.columns, *(strata or ())) if column not in changed]
    values = work.run(
        "mask/recoded.sql",
        "values",
        relation=work.relation,
        untouched=untouched,
        recoded=[
            (column, f"a{i}", ladders[column].relation, f"level_{chosen[column]}")
            for i, column in enumerate(changed, 1)
        ],
    )
    work.replace_all(changed, values)
    work.outcome.text = [column for column in changed if ladders[column].text]
    work.outcome.nominal = [column for column in work.columns if not (column in changed and ladders[column].numeric)]
    return values
