"""The SAFE distance and the candidates of SAFE as text."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from sqlmicro.publish.report import ReleasedRows
from sqlmicro.reports.text import line, table, width
from sqlmicro.safe_method.compare import Compared
from sqlmicro.safe_method.distance import Deviations, SafeDistance
from sqlmicro.safe_method.means import ShiftedMeans

_CANDIDATES_IN_FULL, _CANDIDATES_WITH_SECONDS = 100, 72
_SHIFT = (
    "IL is what the numeric columns lose. Shift is the largest change of the mean of a subgroup of 30 or more records, "
    "in its standard errors; gone, if one is not there."
)


def weighted(parts: SafeDistance) -> str:
    """Return the parts of a SAFE distance as they add up to it.

    >>> from sqlmicro.safe_method.distance import Weights
    >>> weighted(SafeDistance(1.25, 0.25, 0.5, Weights(1.0, 2.0), {}))
    'counts 0.250000 + 2 × sums 0.500000'
    """
    return " + ".join(
        ("" if weight == 1 else f"{weight:g} × ") + f"{name} {part:.6f}"
        for name, weight, part in (
            ("counts", parts.weights.counts, parts.counts),
            ("sums", parts.weights.sums, parts.sums),
        )
    )


def candidates(report: ReleasedRows) -> str:
    """Return the candidates of SAFE and their distances, the released one marked."""
    narrow, timed = width() < _CANDIDATES_IN_FULL, width() >= _CANDIDATES_WITH_SECONDS
    several = len({c.unification for c in report.candidates if c.algorithm != "search"}) > 1
    rows = [
        [
            f"{'*' if c.candidate == report.chosen else ''}{c.candidate}",
            f"{c.distance:.6f}",
            f"{c.loss:.3g}",
            _shift(c.means),
            *([f"{c.seconds:.2f}"] if timed else []),
            *([] if narrow else [f"{c.groups:,}", "" if c.memory is None else f"{c.memory / 1e6:.1f}"]),
            c.which,
            c.algorithm + ("" if narrow and not several else f"; {c.unification}"),
        ]
        for c in report.candidates
    ]
    if narrow:
        header = ["", "distance", "IL %", "shift", *(["seconds"] if timed else []), "columns", "candidate"]
        meaning = f"* released. A candidate is better only if its distance is smaller. {_SHIFT}"
        return f"{table(rows, header, right=range(5 if timed else 4))}\n{textwrap.fill(meaning, width())}"
    header = [
        "",
        "distance",
        "IL %",
        "shift",
        "seconds",
        "groups",
        "+MB",
        "columns",
        "candidate; unification (* released)",
    ]
    meaning = (
        f"A candidate is better only if its distance is smaller. {_SHIFT} +MB is by how much it raised the peak of the "
        "memory; one that needs no more than an earlier one shows 0."
    )
    return f"{table(rows, header, right=[0, 1, 2, 3, 4, 5, 6])}\n{textwrap.fill(meaning, width())}"


def _shift(means: ShiftedMeans | None) -> str:
    """Return the largest shift of the mean of a subgroup, in standard errors."""
    if means is None or not means.subgroups:
        return ""
    return "gone" if means.gone or means.largest is None else f"{means.largest:.2f}"


def deviations(orders: Mapping[str, Deviations]) -> str:
    """Return the deviations of the tables by order."""
    rows = [
        [
            order,
            str(p.tables),
            f"{p.count_deviation:,.10g}",
            f"{p.count_max:,.10g}",
            f"{100 * p.share_changed:.1f}",
        ]
        for order, p in orders.items()
    ]
    return table(rows, ["order", "tables", "sum |dA|", "max |dA|", "% cells changed"], right=[1, 2, 3, 4])


def safe_distance(report: Compared) -> str:
    """Return the SAFE distance of two tables and its parts."""
    lines = [
        line("original", report.first),
        line("changed", report.second),
        line("nominal", ", ".join(report.nominal) or "none"),
        line("numeric", ", ".join(report.numeric) or "none"),
        line("SAFE distance", f"{report.parts.distance:.6f} = {weighted(report.parts)}"),
        "",
        deviations(report.parts.orders),
    ]
    if report.numeric:
        before, after = report.moments.before, report.moments.after
        rows = [
            [f"{what} {name}", f"{old:.6g}", f"{new:.6g}"]
            for what, olds, news in (
                ("mean", before.mean, after.mean),
                ("variance", before.variance, after.variance),
                ("covariance", before.covariance, after.covariance),
            )
            for name, old in olds.items()
            if old is not None and (new := news[name]) is not None
        ]
        lines += ["", table(rows, ["", "original", "changed"], right=[1, 2])]
    return "\n".join(lines)
