"""The settings of `safe`: types, bounds and what is said of them."""

from __future__ import annotations

from typing import Annotated, Literal

from sqlmicro.options.params import Param

Occurrences = Annotated[int, Param("How often every record must occur, at least.", min=2)]
Approach = Annotated[
    Literal["best", "cluster", "search"],
    Param(
        "Search for a file directly, group records, or do both and release the nearest. The search tries an "
        "--algorithm that is named beside it; numbers alone are grouped by microaggregate."
    ),
]
Numeric = Annotated[tuple[str, ...], Param("Columns to take as numeric, whatever they look like.", metavar="COLUMNS")]
Nominal = Annotated[tuple[str, ...], Param("Columns to take as nominal, whatever they look like.", metavar="COLUMNS")]
Algorithms = Annotated[
    tuple[str, ...],
    Param(
        "How to group, any number: kmeans++(clusters=50), dbscan(eps=1), ward(clusters=50), single, complete, "
        "average, and the methods that group whole records: mdav, kanonymeans, microaggregate and others of "
        "`sqlmicro methods`, with their parameters. Default of --method cluster and best: kmeans++ with 50 and 500, "
        "and mdav.",
        metavar="SPEC",
        whole=True,
    ),
]
UnifyNumeric = Annotated[
    tuple[str, ...],
    Param(
        "What numeric columns become in a group, one or several to try: mean, median, or rounded-mean, which keeps "
        "DECIMALs what they are, and with --deal anew moves numbers so that they keep their spread; whole numbers stay "
        "whole without --decimals.",
        metavar="HOW",
    ),
]
UnifyNominal = Annotated[
    tuple[str, ...],
    Param("What nominal columns become in a group, one or several to try: mode or medoid.", metavar="HOW"),
]
Order = Annotated[int, Param("Evaluate the tables of up to this many nominal columns.", min=1, max=10)]
CountWeight = Annotated[float, Param("Weight of the counts in the SAFE distance.", min=0)]
SumWeight = Annotated[float, Param("Weight of the sums in the SAFE distance.", min=0)]
WeightColumn = Annotated[
    str | None,
    Param(
        "Column of sampling weights, which counts and sums are weighted by, not k. Their means in groups are released, "
        "calibrated so that totals stay.",
        metavar="COLUMN",
        part="weights",
    ),
]
SmallGroups = Annotated[
    Literal["merge", "drop"],
    Param("Groups below k: merge them into the nearest group, or drop their records (the original method)."),
]
NumericValues = Annotated[
    Literal["auto", "own", "means"],
    Param("Search: numeric columns keep values that occur, or get group means; auto decides by distinct values."),
]
Deal = Annotated[
    Literal["anew", "none"],
    Param(
        "Search: deal the records anew to its groups, so that averaged columns keep their spread and no table of "
        "counts changes; none leaves every record in its combination or one near to it."
    ),
]
Rounding = Annotated[
    tuple[str, ...],
    Param(
        "Search: numeric columns whose counts by multiples of a step are kept, as in income=100; the mean of the "
        "records in a group is released.",
        metavar="COLUMN=STEP",
    ),
]
Effort = Annotated[
    Literal["full", "fast"],
    Param(
        "Search: fast makes a quarter of the attempts; the largest deviations may be one or two higher.", part="effort"
    ),
]
MaxShift = Annotated[
    int | None,
    Param("Search: combinations that occur k times keep their records, give or take this many. Default: k/2.", min=0),
]
Invented = Annotated[
    float | None,
    Param(
        "Search: of the combinations released that fewer than k records have, at least this share never occurred. "
        "Default: 0.5, or the share that is reached; one that is given must be reached. 0 invents none.",
        min=0,
        max=1,
    ),
]
MaxInference = Annotated[
    float | None,
    Param(
        "Search: who knows all other columns of a person who is unique in them guesses a column right at most in this "
        "share of the cases, or as often as its commonest value is. Default: 0.8, or what is reached.",
        min=0,
        max=1,
    ),
]
Means = Annotated[
    tuple[str, ...],
    Param(
        "Means of subgroups of 30 or more records that the search keeps within a standard error, and that candidates "
        "are compared by; any number. Default: every numeric column by every pair of nominal ones.",
        metavar='"COLUMN by A,B"',
        whole=True,
    ),
]
TimeLimit = Annotated[
    float | None,
    Param("Search: stop after this many seconds and take the best file so far.", min=0, metavar="SECONDS"),
]
CandidateNumber = Annotated[
    int | None, Param("Release candidate N of the list instead of the nearest.", min=1, metavar="N")
]
KeepCandidates = Annotated[
    bool,
    Param(
        "Publish every candidate too, each audited, as <target>_candidate_N, to compare them in-house.",
        part="candidates",
    ),
]
