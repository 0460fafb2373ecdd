"""The report of `sqlmicro attack` as text: a line per attack, and what its figures mean."""

from __future__ import annotations

from typing import Any

from sqlmicro.reports.text import figure, line, some, table

_TRUTH = {
    "match": "records are matched by {match}: a rate is how often an attack was right",
    "assumed": "assumed: nothing tells which record became which, so the true one is assumed to be among those that an "
    "attack ends with. Rates of linkage are upper bounds. To measure them, name a key that both tables have in --match",
}


def attack(report: dict[str, Any]) -> str:
    """Return what was measured, beside chance, and what the release promises."""
    n, m = report["records"]
    tried = f"{report['tried']:,} of {n:,} records, against {m:,} released"
    lines = [
        line("original", report["original"]),
        line("release", ", ".join(report["release"])),
        line("columns", some(report["columns"])),
        line("tried", tried + ("" if report["tried"] == n else ": a sample, or those that were released")),
        line("truth", _TRUTH[report["truth"]].format(match=", ".join(report["match"]))),
    ]
    if report["promises"]:
        lines.append(line("promise", f"release {report['recorded']}: {report['promises']}"))
    lines += [line("verdict", report["verdict"]["headline"]), line("", report["verdict"]["sentence"])]
    lines += [line("note", note) for note in report["notes"]]
    left = [line("not tried" if i == 0 else "", f"{row['name']}: {row['why']}")
            for i, row in enumerate(report["not_tried"])]  # fmt: skip
    left = ["", *left] if left else []
    if not report["attacks"]:
        return "\n".join([*lines, "", "no attack could be made", *left])
    rows = [_cells(row) for row in report["attacks"]]
    lines += ["", table(rows, ["attack", "rate", "95 %", "chance", "n"], right=[1, 2, 3, 4])]
    return "\n".join([*lines, *_said(report), *left])


def _cells(row: dict[str, Any]) -> list[str]:
    low, high = row["ci"]
    return [
        row["name"],
        _share(row["rate"]),
        f"{_share(low)} to {_share(high)}",
        _share(row["chance"]),
        f"{row['n']:,}",
    ]


def _share(value: float) -> str:
    """Return a share with four decimals, and one that would be 0 then by its size.

    >>> _share(0.12345), _share(0.0), _share(0.00001234)
    ('0.1235', '0', '1e-05')
    """
    return f"{value:.4f}" if value >= 0.00005 else f"{value:.0e}" if value else "0"


def _shown(value: Any) -> Any:
    """Return a figure to be read, in four digits where it is no whole number, and a grouping in words."""
    groups = {"records": "all the columns", "columns": "the column alone"}
    if isinstance(value, dict):
        told = [f"{name} {figure:.3f}" for name, figure in value.items() if isinstance(figure, float)]
        return ", ".join(told) or "not known"
    if isinstance(value, float):
        return f"{value:.4g}"
    return figure(value) if isinstance(value, int) else groups.get(value, value) if isinstance(value, str) else value


def _said(report: dict[str, Any]) -> list[str]:
    """Return what an attack found besides its rate."""
    texts = {
        "candidates": "released records left on average: {candidates}; share of those tried for which the true one is "
        "among them: {truth_among_them}",
        "order_correlation": "places in both tables correlate by {order_correlation}",
        "guesses": "the best of {guesses} keys and seeds made from what was published",
        "groups": "values that the others of a group recover to within {within} standard deviations; a group is the "
        "records alike in {groups}",
        "one_release": "values recovered to within {within} standard deviations from {releases} releases; from the "
        "first alone: {one_release}",
        "linked": "records with fewer than {k} in common between their two classes; linked to {linked} on average",
        "agreement": "places of releases {releases} at which the two records are nearer than elsewhere; columns "
        "correlate by: {correlations}; what was added by: {residuals}",
        "rebuilt": "places of releases {releases} that give what is in the original: {rebuilt}",
        "sensitive": "records whose class has one value of {sensitive}",
    }
    said = []
    for row in report["attacks"]:
        for key, text in texts.items():
            if key in row:
                truth = " (assumed)" if key == "candidates" and report["truth"] == "assumed" else ""
                shown = {name: _shown(value) for name, value in row.items()}
                said.append(line(row["name"], text.format(**shown) + truth))
                break
    return ["", *said] if said else []
