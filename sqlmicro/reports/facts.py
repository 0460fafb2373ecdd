"""The facts of a report: what is recorded of a release, and what is measured on it and its original, as aggregates.

They are what `sqlmicro report --json` prints, and all that the page and the text are made from. `disclosure.py` says
what may be among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from sqlmicro.audits import inputs, k_anonymity, promised, runner
from sqlmicro.audits.inputs import SubjectOptions
from sqlmicro.audits.registry import find
from sqlmicro.database.columns import pick
from sqlmicro.database.source import find_source
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import AttachOption, DbOption, MachineOptions, ReaderOptions
from sqlmicro.options.params import Param
from sqlmicro.reports import disclosure, distributions, recorded

if TYPE_CHECKING:
    from sqlmicro.audits.subject import Subject
    from sqlmicro.audits.verdict import Verdict
    from sqlmicro.database.columns import Column
    from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse

SMALLEST_K = 3
"""Fewest records behind a figure where no k was promised or asked for."""


@dataclass(frozen=True, kw_only=True)
class ReportOptions(DbOption, AttachOption, SubjectOptions, MachineOptions, ReaderOptions):
    """What `sqlmicro report` takes."""

    release: Annotated[
        str,
        Param(
            "Release: its number in sqlmicro.releases, or the table or file it was published as.", metavar="ID|TABLE"
        ),
    ]
    to: Annotated[str | None, Param("File to write: .html, or .md for text.", metavar="FILE")] = None
    markdown: Annotated[bool, Param("Write Markdown, for a pull request; without --to print it.")] = False
    overwrite: Annotated[bool, Param("Replace the file if it exists.")] = False
    min_k: Annotated[
        int | None,
        Param(
            "k that must hold, and fewest records behind any figure. Default: the k that was promised, else 3.", min=2
        ),
    ] = None
    sample: Annotated[int, Param("Records of the original that attacks try; 0 for no attacks.", min=0)] = 1000
    order: Annotated[int, Param("SAFE deviations: tables of up to so many nominal columns.", min=1, max=10)] = 2


def collect(
    warehouse: DuckDBWarehouse, options: ReportOptions
) -> tuple[dict[str, Any], Verdict, Mapping[str, Any] | None]:
    """Return the facts about a release, its verdict before any attack, and what is recorded of it.

    Parameters
    ----------
    warehouse : DuckDBWarehouse
        Where the release is, opened for reading.
    options : ReportOptions
        The options of `sqlmicro report`.

    Returns
    -------
    facts : dict
        `release`, `table`, `source`, `original` (None, and `no_original` says why), `quasi`, `min_k`, `verdict`,
        `records`, `steps`, `audits`, `class_sizes`, `below_k`, `columns`, `correlations`, `missing`, `loss`,
        `deviations`, `attacks` and `candidates`, which `intruder.py` fills, `safe_candidates`.
    verdict : Verdict
    known : mapping or None

    Raises
    ------
    InputError
        When the release, or an original that was named, is not there.
    ParameterError
        When nothing is recorded of the release and no --quasi is given.
    """
    known = recorded.find_release(warehouse, options.release)
    subject, facts = _subject(warehouse, options, known)
    warehouse.seal()
    verdict = _verdict(subject, known or {}, options)
    if not options.quasi:
        quasi = [name for name in verdict.quasi if name not in facts["sensitive"]]
        subject = replace(subject, quasi=tuple(pick(subject.release.columns, quasi, "report, --quasi")), _made={})
    names = facts["quasi"] = [column.name for column in subject.quasi]
    promised = [one.k for one in verdict.promised]
    k = facts["min_k"] = max([*promised, *(step["k"] or 0 for step in facts["steps"])], default=0) or SMALLEST_K
    needed = max((one.k for one in verdict.promised if set(one.columns) == set(names)), default=0)
    rows = _audits(subject, options, needed)
    facts["audits"] = [_audit(row) for row in rows]
    sizes = _sizes(rows)
    facts["verdict"] = verdict.told()
    steps = disclosure.class_steps({size: n for size, n in sizes.items() if size >= k}, k)
    facts["class_sizes"] = [{"size": step.label, "classes": step.classes, "records": step.records} for step in steps]
    facts["below_k"] = sum(size * n for size, n in sizes.items() if size < k)
    facts["columns"] = distributions.columns(subject, k)
    details = {row["check"]: row for row in rows if row["value"] is not None}
    both = details.get("correlations", {}).get("before_and_after", {})
    facts["correlations"] = [
        {"pair": pair, "before": old, "after": new} for pair, (old, new) in both.items() if old is not None
    ]
    facts["distances"] = {name: details[name]["by_column"] for name in ("hellinger", "emd") if name in details}
    facts["loss"] = _loss(known, details)
    facts["missing"] = disclosure.missing(details.get("missing-rate", {}), k)
    facts["deviations"] = (
        distributions.deviations(subject, details["safe-distance"]) if "safe-distance" in details else {}
    )
    return facts, verdict, known


def _verdict(subject: Subject, known: Mapping[str, Any], options: ReportOptions) -> Verdict:
    """Return what the release is worth by now, counting records, or entities where these are named."""

    count = promised.counter(subject.warehouse, subject.release.relation)
    if subject.entity is not None or subject.nulls != "own_value":

        def count(columns: Sequence[Column]) -> int:
            return k_anonymity.sizes_of(replace(subject, quasi=tuple(columns), _made={})).k

    apart = {column.name: "sensitive" for column in subject.sensitive}
    if subject.weight is not None:
        apart[subject.weight.name] = "weight"
    quasi = [column.name for column in subject.quasi]
    if options.min_k and not quasi:
        left_out = {*apart, *(known.get("parameters") or {}).get("apart", {})}
        everything = [column.name for column in subject.release.columns if column.name not in left_out]
        asked = known.get("promised") or [{"columns": everything}]
        quasi = max((one["columns"] for one in asked), key=len)
    demanded = [(options.min_k, quasi)] if options.min_k else []
    unit = subject.entity.name if subject.entity else ""
    columns = subject.release.columns
    return promised.measured(columns, known, count, apart=apart, demanded=demanded, unit=unit)


def _subject(
    warehouse: DuckDBWarehouse, options: ReportOptions, known: Mapping[str, Any] | None
) -> tuple[Subject, dict[str, Any]]:
    """Return what is audited, and the facts that say what it is."""

    table = known["target"] if known else options.release
    try:
        release = find_source(warehouse, table)
    except InputError:
        if known is None:
            raise
        raise InputError(
            "--release", f"what was published as {table!r} must still be there", "nothing", "Name another release"
        ) from None
    if not options.quasi and known is None:
        raise ParameterError(
            "report, --quasi", "is needed where nothing is recorded of the release", "none",
            f"The table has: {', '.join(column.name for column in release.columns)}",
        )  # fmt: skip
    original, why = options.original, ""
    if original is None:
        original, why = recorded.original_of(known)
    subject = inputs.subject(warehouse, table, replace(options, original=None))
    if original is not None:
        try:
            theirs = find_source(warehouse, original, options, name="original_source")
            if theirs.relation == release.relation and not theirs.is_file:
                raise InputError("--original", "must not be the release itself", repr(original))
            subject = replace(subject, original=inputs.table(theirs))
        except InputError:
            if options.original is not None:
                raise
            original, why = None, f"its source, {original}, is no longer there; name it with --original"
    facts = {
        "release": known["id"] if known else None,
        "table": table,
        "source": known["source"] if known else None,
        "original": original,
        "no_original": why,
        "unit": options.entity,
        "nulls": options.nulls,
        "sensitive": [column.name for column in subject.sensitive],
        "records": warehouse.count(release.relation),
        "records_before": _before(warehouse, subject, known),
        "started": str(known["started"])[:16] if known else None,
        "steps": recorded.steps_of(known) if known else [],
        "kept": known["parameters"].get("kept", []) if known else [],
        "dropped": _dropped(known),
        "versions": known["versions"] if known else {},
        "recorded_audits": known["audits"] if known else [],
        "attacks": [],
        "attacked": [],
        "attacks_assume": False,
        "no_attacks": why or "none was asked for",
        "not_tried": [],
        "candidates": [],
        "other_candidates": [],
        "safe_candidates": known["candidates"] if known else [],
    }
    return subject, facts


def _before(warehouse: DuckDBWarehouse, subject: Subject, known: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return how many records there were: as recorded, and as the original has them now."""
    return {
        "recorded": known["n"] + (known["suppressed"] or 0) if known else None,
        "now": warehouse.count(subject.original.relation) if subject.original else None,
    }


def _dropped(known: Mapping[str, Any] | None) -> list[str]:
    given = known["parameters"] if known else {}
    return [*given.get("direct_identifiers", []), *given.get("dropped", [])]


def _audits(subject: Subject, options: ReportOptions, needed: int) -> list[dict[str, Any]]:
    """Run every audit the inputs allow that has a gate, k-anonymity against what was needed; also the SAFE distance."""

    rows = runner.run(subject, (), {k_anonymity.GATE: needed} if needed and subject.quasi else {}, {})
    rows = [row for row in rows if find(row["check"]).gate]
    if subject.original is not None:
        rows += runner.run(subject, ("safe-distance",), {}, {"order": options.order})
    return rows


def _audit(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a report says of an audit: no histogram, and nothing by column, which has a place of its own."""

    names = ("check", "columns", "value", "threshold", "at_least", "passed", "status")
    return {**{name: row[name] for name in names}, "meaning": find(row["check"]).summary}


def _sizes(rows: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    found = next((row for row in rows if row["check"] == "k-anonymity"), {})
    return dict(found.get("histogram", {}))


def _loss(known: Mapping[str, Any] | None, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return IL: as it is measured record by record, else as it was recorded when the release was made."""
    found = details.get("information-loss")
    if found is not None:
        return {"IL": found["value"], "by_column": found["by_column"], "changed": found["changed"], "measured": True}
    return {"IL": known["il"] if known else None, "by_column": {}, "changed": {}, "measured": False}
