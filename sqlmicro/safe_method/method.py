"""SAFE: files in which every record occurs k times are tried, the one nearest to the original is released."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from sqlmicro.database.deniable import Deniable
from sqlmicro.errors import ParameterError
from sqlmicro.missing.counted import number
from sqlmicro.options.params import Target
from sqlmicro.registry import method
from sqlmicro.safe_method import continued, direct, distance, inside
from sqlmicro.safe_method.anew import Anew, advice, moved_means
from sqlmicro.safe_method.calibration import calibrated
from sqlmicro.safe_method.candidates import Candidate, Chosen, Released, Totals, Trial, load_members
from sqlmicro.safe_method.cells import Cells, checked_weights, make_cells
from sqlmicro.safe_method.deniable import INVENTED, MAX_INFERENCE, Asked
from sqlmicro.safe_method.groupings import Grouping, Maker, made, makers_of
from sqlmicro.safe_method.means import asked
from sqlmicro.safe_method.means import parse as parse_means
from sqlmicro.safe_method.meter import Cost, Meter
from sqlmicro.safe_method.occurring import assigned, at_driver
from sqlmicro.safe_method.seats import enlarged, exchanged, least_records_of
from sqlmicro.safe_method.settings import (
    Algorithms,
    Approach,
    CandidateNumber,
    CountWeight,
    Deal,
    Effort,
    Invented,
    KeepCandidates,
    MaxInference,
    MaxShift,
    Means,
    Nominal,
    Numeric,
    NumericValues,
    Occurrences,
    Order,
    Rounding,
    SmallGroups,
    SumWeight,
    TimeLimit,
    UnifyNominal,
    UnifyNumeric,
    WeightColumn,
)
from sqlmicro.safe_method.summary import Summary, kept_deviations, warnings
from sqlmicro.safe_method.unify import NOMINAL, NUMERIC, Representatives, Unification, choose, rounded
from sqlmicro.system import secrets
from sqlmicro.work import NewValues, Outcome, Rows

if TYPE_CHECKING:
    import numpy as np

    from sqlmicro.database.templates import Name
    from sqlmicro.work import Work


@method(
    "safe",
    stage="safe",
    engine="sql",
    promise="record",
    on_clusters=True,
    source="Höhne, SAFE: a method for the anonymization of microdata (German census 2011)",
    templates=(
        "safe/cells.sql",
        "safe/counted_units.sql",
        "safe/features.sql",
        "safe/rare_values.sql",
        "safe/both_features.sql",
        "safe/cell_of_records.sql",
        "safe/means.sql",
        "safe/moved_means.sql",
        "safe/medians.sql",
        "safe/modes.sql",
        "safe/medoids.sql",
        "safe/released_cells.sql",
        "safe/contents.sql",
        "safe/combinations.sql",
        "safe/shown_cells.sql",
        "safe/with_shown.sql",
        "safe/placed_cells.sql",
        "safe/rounded_cells.sql",
        "safe/nearest_values.sql",
        "safe/numeric_loss.sql",
        "safe/moments.sql",
        "safe/subgroup_means.sql",
        "safe/deviations.sql",
        "safe/totals.sql",
        "safe/nominal_codes.sql",
        "safe/unfit_weights.sql",
        "safe/weighted_cells.sql",
        "safe/weighted_members.sql",
        "safe/weights_of_groups.sql",
        "safe/weights_of_cells.sql",
        "safe/both_categories.sql",
        "safe/assigned.sql",
        "safe/seats.sql",
        "safe/persons_of_cells.sql",
        "safe/cells_of_short_groups.sql",
        "safe/seats_of_cells.sql",
        "safe/with_seats.sql",
        "load/members.sql",
        "load/guaranteed.sql",
        "load/features.sql",
        "replace/by_label.sql",
        "replace/grouped_only.sql",
    ),
    takes_every_column=True,
    keeps_guarantees=True,
)
def safe(
    work: Work,
    *,
    k: Occurrences = 3,
    method: Approach = "search",
    numeric: Numeric = (),
    nominal: Nominal = (),
    algorithm: Algorithms = (),
    unify_numeric: UnifyNumeric = ("rounded-mean",),
    unify_nominal: UnifyNominal = ("mode",),
    order: Order = 2,
    count_weight: CountWeight = 1.0,
    sum_weight: SumWeight = 1.0,
    weights: WeightColumn = None,
    target: Target = None,
    small_groups: SmallGroups = "merge",
    numeric_values: NumericValues = "auto",
    deal: Deal = "anew",
    round: Rounding = (),
    effort: Effort = "full",
    max_shift: MaxShift = None,
    invented: Invented = None,
    max_inference: MaxInference = None,
    means: Means = (),
    time_limit: TimeLimit = None,
    candidate: CandidateNumber = None,
    keep_candidates: KeepCandidates = False,
) -> Outcome:
    """Make every record occur at least k times while the cross tables stay as close to the original as possible.

    The direct search places the records on combinations of the nominal columns that occur, and on some that do not but
    might, so that each has none or at least k and the deviations cancel in the tables. Then the records are dealt anew
    to groups of these combinations, so that the means which numeric columns become keep spread, totals and relations.
    The cluster method groups records by each algorithm on the numeric columns (standardised), on the nominal ones (a
    0/1 column per value) and on both; in every group numeric columns become their mean and nominal ones their mode, or
    what the unification says. Each candidate (algorithm, pass, unification) is compared with the original by the SAFE
    distance, and the nearest is released.

    Returns
    -------
    Outcome
        New values of all columns, the candidates and their distances.

    Raises
    ------
    InputError
        When no group of k can be formed.
    ParameterError
        For a column that is both numeric and nominal, an unknown algorithm or unification, a step that is none, or what
        must be invented without a search.

    Notes
    -----
    By default the search is the only candidate; numbers alone are grouped by microaggregate. The algorithms of the
    methods cluster and best are kmeans++ with 50 and with 500 clusters, and mdav where it takes some seconds. The
    source has k = 3. Each way to unify that is named makes candidates of its own.

    Tables, sums, means and modes are weighted, to six digits after the point; groups have k records. Memory and time
    follow the combinations that occur together with their weight. The mean weight of a group is released, raked.

    The search takes about 25 CPU seconds at most with effort full, 5 with fast; all strata, and patterns of missing
    values, twice as long, each by its share of the records. One that a time limit stops cannot be repeated exactly.
    With `round` the dealing keeps the counts by multiples of a step, up to 200, in place of deciles; without it the
    search does. The mean of each group is released as `unify_numeric` says; `rounded-mean` is moved for the spread of
    its column. A combination that occurs k times gains or loses at most `max_shift` records.

    Groups made from the nominal columns alone, whose records are alike in all of them, are split on the numeric columns
    by MDAV (ours, not in the source): counts and totals stay what they are, and far less variance is lost.

    The means of subgroups of at least 30 records, which `means` names, are kept by the search, as far as the tables let
    it, within one standard error of the original. Of columns with own values they are part of the objective; where
    columns are averaged, records of one combination or two swap where they go, which changes no table.

    Integer and DECIMAL columns keep their type by default: their means are rounded, half to even, and T deviates by up
    to half a unit per record; `--unify-numeric mean --decimals` keeps the totals exact and makes these columns DOUBLE
    (in place: only with --widen). No column gets more values than it had: where means would be more, the nearest value
    that occurs is released. The weights of the distance rank the candidates; the search has its own objective.

    The seconds and the memory of a candidate include its grouping, which candidates that differ in the unification
    alone share. Memory is by how many bytes the candidate raised the peak of the resident memory of the process.

    Z, the 0/1 matrix, is not built for the evaluation: cells are combinations that occur, A and T aggregates of them.
    Where two candidates have the same distance, the smaller loss in the numeric columns decides; without nominal
    columns the only table is the total, so that the loss decides alone. The known implementation accepts a candidate
    that improves one distance and worsens the other; here one number decides.

    A count near k in the release may stand for an original 0, 1 or 2. Of every set of one to four of the columns that
    the search releases with original values, and of all of them, half of the combinations that are shown and that fewer
    than k records have are to be invented: they never occurred, but well could have. A lasting secret decides by the
    content of a combination whether it may be shown or invented, so that many runs over the same columns show no more
    than a quarter of the records that are unique in them; see `sqlmicro help safe`. Of
    a column whose values are averaged nothing is promised; means and modes of a group may occur together or not.
    """
    numbers = choose(unify_numeric, NUMERIC, f"{work.where}, unify_numeric")
    names = choose(unify_nominal, NOMINAL, f"{work.where}, unify_nominal")
    parts = distance.Weights(count_weight, sum_weight).check(work.where)
    weight_column = checked_weights(work, weights)
    by = [name for text in means for name in parse_means(text, f"{work.where}, means")[1]]
    cells = make_cells(work, numeric, nominal, k, weight_column, by, dealt=deal == "anew" and method != "cluster")
    _begin(work, cells, order, k)
    least = least_records_of(work, cells, k, weights)
    steps = direct.parse_steps(cells, round, f"{work.where}, round")
    wanted = tuple(asked(cells.numeric, cells.nominal, cells.elsewhere, means, f"{work.where}, means"))
    possible = Anew.of(work, cells, numeric_values == "own", steps, numbers[0], wanted)
    anew = possible if deal == "anew" and method != "cluster" else None
    numeric_values = "means" if anew else numeric_values
    settings = direct.Settings(numeric_values, {} if anew else steps, effort, max_shift, time_limit, wanted, anew)
    given = {"--weights": weights, "--round": round, "--algorithm": algorithm, "--max-shift": max_shift}
    method = continued.approach(work, cells, settings, method, given)
    denial = _demanded(work, method, invented, max_inference)
    ways = _ways(cells, numbers, names)
    searched = method != "cluster" and bool(cells.nominal or steps or direct.own_columns(cells, settings))

    def make(least: np.ndarray) -> tuple[Sequence[Candidate], Candidate]:
        trial = Trial(at_driver(work), cells, order, parts, wanted)
        makers = makers_of(work, cells, algorithm, method, least, small_groups, searched=searched)
        _try_all(trial, makers, ways, numbers, k, least, settings if searched else None, denial)
        found, best = _nearest(trial, k, candidate, denial, keep_candidates)
        _take(work, cells, found, best, k, advice(anew, possible, best.algorithm, searched))
        return found, best

    found, best = enlarged(work, least, make)
    work.outcome.account.denied = _deniable(work, best, k, denial)
    return _keep_others(work, cells, found, keep_candidates, k, denial)


def _begin(work: Work, cells: Cells, order: int, k: int) -> None:
    """Say which tables are left out, and refuse strata of fewer than k."""
    if left_out := distance.left_out(cells.nominal, order):
        work.note(left_out)
    work.refuse_small_strata(k, *_stratum_sizes(cells, k))


def _ways(cells: Cells, numbers: Sequence[str], names: Sequence[str]) -> list[Unification]:
    """Return every way to unify the columns that there are."""
    pairs = product(numbers if cells.numeric else [""], names if cells.nominal else [""])
    return [Unification(*pair) for pair in pairs]


def _nearest(
    trial: Trial, k: int, candidate: int | None, asked: Asked | None, keep_candidates: bool
) -> tuple[Sequence[Candidate], Candidate]:
    """Return the candidates that were tried, and the nearest of them; the files of the others go where nobody asks."""
    found = trial.some(k)
    best = _chosen(trial.work, found, candidate, asked)
    if not keep_candidates:
        trial.keep_only(best)
    return found, best


def _deniable(work: Work, one: Candidate, k: int, asked: Asked | None) -> Deniable | None:
    """Return what is claimed of a candidate so that it can be denied."""
    return Deniable(one.own, k, work.compared, asked.limits) if one.own and asked else None


def _keep_others(
    work: Work, cells: Cells, found: Sequence[Candidate], keep_candidates: bool, k: int, asked: Asked | None
) -> Outcome:
    """Keep the other candidates beside the release where they are wanted."""
    if keep_candidates:
        work.note(
            "the files of all candidates are kept beside the release, to compare them in-house: somebody who has "
            "several of them may learn more about a record than from one"
        )
        for kept in found:
            other = work.outcome.account.others[kept.number] = Outcome()
            _hand_over(work, cells, kept, other, f"_of_{kept.number}", k)
            other.account.denied = _deniable(work, kept, k, asked)
    return work.outcome


def _try_all(
    trial: Trial,
    makers: Sequence[Maker],
    ways: Sequence[Unification],
    numbers: Sequence[str],
    k: int,
    least: np.ndarray,
    settings: direct.Settings | None,
    asked: Asked | None,
) -> None:
    """Try every grouping in every way, and, with settings for it, the direct search."""
    work, cells = trial.work, trial.cells
    with_database = bool(work.demand.files or work.records.classes)
    search = direct.Search.of(work, cells, k, least, settings, asked) if settings and not with_database else None
    for result, spent in made(work, makers, search):
        if isinstance(result, Grouping):
            _unify(trial, result, spent, ways)
        elif settings:
            _place(trial, result, spent, numbers, settings)
    if settings and with_database:
        meter = Meter()
        if work.demand.files:
            placement = continued.place(work, work.demand.files, cells, k, least, settings, asked)
        else:
            placement = inside.place(work, cells, least, settings)
        _place(trial, placement, meter.read(), numbers, settings)


def _unify(trial: Trial, made: Grouping, spent: Cost, ways: Sequence[Unification]) -> None:
    """Unify the groups of a grouping in every way."""
    work, cells, grouped = trial.work, trial.cells, made.grouped
    for note in made.notes:
        work.note(note)
    if grouped is None:
        return
    meter = Meter(spent)
    members = load_members(work, grouped, made.title, trial.number)
    groups = Representatives(work, cells.relation, members, trial.number, cells.weight_column)
    spent = meter.read()
    for how in ways:
        meter = Meter(spent)
        file = groups.file(how, cells.numeric, cells.without_arithmetic, trial.number)
        trial.add(grouped, (members, file), made.algorithm.text, made.which, str(how), meter)
    groups.forget()


def _place(
    trial: Trial, placement: direct.Placement, spent: Cost, numbers: Sequence[str], settings: direct.Settings
) -> None:
    """Try what the search found; where columns are averaged, unify them in every way."""
    work, cells = trial.work, trial.cells
    meter = Meter(spent)
    unit = work.unit
    own = ", ".join([*(column.name for column in placement.own), *(f"{c.name} in steps" for c in settings.steps)])
    work.note(
        f"search: {number(placement.moved, unit)} moved to another combination of the nominal columns"
        + (f" and {own}" if own else "")
    )
    if trial.means and work.records.classes:
        work.note(
            "the means of subgroups are measured, but the search does not keep them: records stay with their household "
            "or person"
        )
    if placement.stopped:
        work.note("search: stopped early, the best file until then was taken; it cannot be repeated exactly")
    denied = bool((placement.combination >= len(cells.n)).any())
    members = load_members(work, placement.grouped, "the direct search", trial.number)
    groups = Representatives(work, cells.relation, members, trial.number, cells.weight_column)
    spent = meter.read()
    kept, few = [*cells.nominal, *placement.own], cells.scattered
    for how in [Unification(name, "") for name in numbers] if placement.averaged else [Unification("", "")]:
        meter = Meter(spent)
        averaged = placement.averaged
        means = groups.values(how, averaged, few, trial.number) if few else groups.numbers(how, averaged)
        if how.numeric == "rounded-mean":
            means = moved_means(work, cells, placement.differ, members, means, trial.number)
        file = direct.placed_file(work, cells, placement, means, trial.number)
        file = rounded(work, cells.relation, file, how, averaged, [*kept, *few], trial.number)
        shown = ", ".join(filter(None, ["own values" if kept else "", str(how)]))
        trial.add(placement.grouped, (members, file), "search", "all", shown, meter, tuple(kept), denied=denied)
    groups.forget()


def _stratum_sizes(cells: Cells, k: int) -> tuple[int, int, int]:
    """Return the size of the smallest stratum, and the numbers of strata below k and of all."""
    import numpy as np

    sizes = np.bincount(cells.strata, cells.n)
    return int(sizes.min()), int((sizes < k).sum()), len(sizes)


def _take(work: Work, cells: Cells, found: Sequence[Candidate], best: Candidate, k: int, helps: str) -> None:
    """Take the values of the best candidate, and say what they are worth."""
    outcome, small = work.outcome, work.warehouse.small
    groups = _hand_over(work, cells, best, outcome, "", k)
    work.count_groups(groups)
    before, after = (
        (distance.moments(small, file, cells.numeric), distance.sums(small, file, cells.numeric))
        for file in (cells.file, best.released)
    )
    moments = distance.MomentsBeforeAfter(before[0], after[0])
    unit = work.unit
    summary = Summary.of(best.distance.orders, moments, best.means, unit, _not_told(work, best))
    released = Released(best.distance, moments, Totals(before[1], after[1]), summary)
    outcome.account.told = Chosen([one.row() for one in found], best.number, released)
    for warning in warnings(kept_deviations(moments), helps):
        work.note(warning)
    if best.dropped and work.demand.files:
        work.note(f"{best.dropped:,} records have no place tonight: with them the file would change by fewer than {k}")
    elif best.dropped:
        bias = [f"{name} {100 * (after[1][name] / total - 1):+.2f} %" for name, total in before[1].items() if total]
        work.note(
            f"{best.dropped:,} records in groups below k were dropped (--small-groups drop)"
            + (f"; the totals deviate by it: {', '.join(bias)}" if bias else "")
        )


def _not_told(work: Work, best: Candidate) -> str:
    """Return what the release does not tell."""
    if not work.records.classes:
        return best.disclosure
    above = ", ".join(column.name for column in work.records.classes)
    return (
        f"the values of {above} are others for some: whether a released combination of all columns occurred, the "
        "release does not tell"
    )


def _hand_over(work: Work, cells: Cells, one: Candidate, outcome: Outcome, suffix: str, k: int) -> Name:
    """Hand the records of every cell to the groups of a candidate, and its values to `outcome`; return the groups."""
    groups = assigned(work, cells.relation, one.members, cells.key, f"groups{suffix}")
    groups = exchanged(work, cells, groups, k)
    released = work.warehouse.hand_over(one.released)
    values = work.run(
        "replace/by_label.sql", f"values{suffix}", groups=groups, representatives=released, columns=work.columns
    )
    nominal = cells.without_arithmetic
    outcome.values = {
        column: NewValues(values, column.staged, "nominal" if column in nominal else "number")
        for column in work.columns
    }
    if cells.weight_column:
        outcome.values[cells.weight_column] = NewValues(calibrated(work, cells, one, groups, suffix, k), "value")
    outcome.rows = Rows(groups) if one.dropped else None
    return groups


def _demanded(work: Work, method: str, invented: float | None, max_inference: float | None) -> Asked | None:
    """Return what is asked so that the release can be denied, with the secret; None where nothing is.

    Raises
    ------
    ParameterError
        When it is asked of a file that no search makes.
    """
    if method == "cluster":
        if invented or max_inference is not None:
            raise ParameterError(
                f"{work.where}, invented or max_inference",
                "goes with the direct search, which alone can keep it",
                "--method cluster",
                "Use --method search",
            )
        return None
    if work.in_levels:
        if invented or max_inference is not None:
            raise ParameterError(
                f"{work.where}, invented or max_inference",
                "decides which whole combinations are shown, where columns of a person or household are released by a "
                "search of their own, and no search has a whole combination",
                "columns with one value in all records of a person or household",
                "Leave it out, or these columns. What a release lets guess, counted in records, is measured by: "
                "sqlmicro audit --table RELEASE --original TABLE --quasi COLUMNS --measure inference",
            )
        return None
    share = INVENTED if invented is None else invented
    if not share and max_inference is None:
        return None
    inference = max_inference if max_inference is not None else MAX_INFERENCE if share else 1.0
    secret = secrets.lasting()
    work.outcome.account.key_fingerprint = secret.fingerprint
    if not secret.lasts:
        work.note(
            "the secret that decides what is shown could not be kept, as in a container without a home: another run "
            f"may show what this one does not. Set {secrets.LASTING_VARIABLE}"
        )
    limits = (("min_invented", invented), ("max_inference", max_inference))
    return Asked(share, inference, secret, {name: limit for name, limit in limits if limit is not None})


def _chosen(work: Work, found: Sequence[Candidate], candidate: int | None, asked: Asked | None) -> Candidate:
    """Return the nearest candidate, or the one that was asked for; only the search keeps what must be denied."""
    if candidate is not None and candidate > len(found):
        raise ParameterError(f"{work.where}, candidate", f"must be one of 1 to {len(found)}", str(candidate))
    some = [found[candidate - 1]] if candidate else found
    if asked and asked.insists:
        some = [one for one in some if one.own]
        if not some:
            raise ParameterError(
                f"{work.where}, invented or max_inference",
                "needs columns that the direct search releases with original values",
                "none",
                "Name nominal columns, or use --numeric-values own",
            )
    return min(some, key=lambda one: (one.rank, one.number))
