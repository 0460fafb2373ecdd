"""The scan: a bounded sample of every column's values, matched in SQL, checked in Python, and never shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlmicro.database.columns import Column, ColumnProfile, Finding, Seen
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.typed_columns import profile_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import ParameterError, nearest
from sqlmicro.identifiers import phones
from sqlmicro.identifiers.judge import Sample, judge
from sqlmicro.identifiers.patterns import AFTER, LISTED, PATTERNS

MOST_VALUES = 1000
"""How many distinct values of a column are looked at."""
MOST_CHECKED = 200
_MOST_LEAVES, _MOST_KEYS = 5000, 50
"""Of a column of JSON: values inside of it, and keys they are told apart by."""
_BLANKS = " \t\r\n\u00a0\u200b\ufeff"
_NO_VALUES = ("BOOLEAN", "DATE", "TIME", "INTERVAL", "BIT")
_NESTED = ("STRUCT", "MAP", "JSON", "UNION", "VARIANT")


@dataclass(frozen=True)
class ColumnReport:
    """A column: what it is, and the scale and the role that are proposed for it, with the reasons."""

    name: str
    type: str
    nulls: int
    distinct: int
    scale: str
    scale_reason: str
    role: str
    role_reason: str
    identifier: str | None
    """What kind of identifier its values look like."""
    share: float | None
    """The share of its values that do."""


@dataclass(frozen=True)
class ProfileReport:
    """The columns of a table."""

    table: str
    rows: int
    columns: list[ColumnReport]


def report(table: str, found: Sequence[ColumnProfile]) -> ProfileReport:
    """Return the report of the profiles of a table's columns."""
    columns = [
        ColumnReport(
            p.column.name, p.column.type, p.nulls, p.distinct, *p.scale, *p.role,
            p.seen.finding.kind if p.seen.finding else None, p.seen.finding.share if p.seen.finding else None,
        )
        for p in found
    ]  # fmt: skip
    return ProfileReport(table, found[0].rows if found else 0, columns)


def profiles(warehouse: Warehouse, source: Source, region: str | None = None) -> list[ColumnProfile]:
    """Return the profile of every column, with what a sample of its values shows."""
    with _read_once(warehouse, source) as staged:
        found = seen(warehouse, staged, source.columns, region)
        return [replace(profile, seen=found[profile.column]) for profile in profile_columns(warehouse, staged)]


def seen(
    warehouse: Warehouse, source: Source, columns: Sequence[Column], region: str | None = None
) -> dict[Column, Seen]:
    """Return what a sample of the values of each column shows.

    Raises
    ------
    ParameterError
        When there is no country of that name.
    """
    return seen_together(warehouse, [(source, columns)], region)[0]


def seen_together(
    warehouse: Warehouse,
    tables: Sequence[tuple[Source, Sequence[Column]]],
    region: str | None = None,
    most: int = MOST_VALUES,
) -> list[dict[Column, Seen]]:
    """Return what samples of the values of several tables show, all matched at once: that takes long for every table.

    `most` is how many distinct values of a column are looked at.

    Raises
    ------
    ParameterError
        When there is no country of that name.
    """
    if region is not None and region not in phones.regions():
        raise ParameterError(
            "--region", "must be the two letters of a country", repr(region), nearest(region.upper(), phones.regions())
        )
    scanned = [[column for column in columns if _has_values(column)] for _, columns in tables]
    leaves, place = [], 1
    for (source, _), columns in zip(tables, scanned, strict=True):
        if columns:
            with _read_once(warehouse, source) as staged:
                leaves.append(_leaves(warehouse, staged, columns, place, most))
            place += len(columns)
    found: list[dict[Column, Seen]] = [{column: Seen() for column in columns} for _, columns in tables]
    if not leaves:
        return found
    together = leaves[0]
    if len(leaves) > 1:
        together = warehouse.run("load/leaves_together.sql", "sampled_together", view=True, leaves=leaves)
    listed = [(number, column) for number, columns in enumerate(scanned) for column in columns]
    samples = _samples(warehouse, together, [column for _, column in listed])
    for place, (number, column) in enumerate(listed, 1):
        found[number][column] = _seen(column, samples.get(place, []), region)
    return found


@contextmanager
def _read_once(warehouse: Warehouse, source: Source) -> Iterator[Source]:
    """Stage the records of a text file for the length of the block: every column looked at would read it again."""
    if not source.is_text:
        yield source
        return
    staged = warehouse.run("load/records.sql", "read_once", relation=source.relation)
    try:
        yield replace(source, relation=staged, is_file=False)
    finally:
        warehouse.forget(staged)


def _has_values(column: Column) -> bool:
    return column.family not in ("boolean", "date", "timestamp", "timestamptz") and not (
        column.type.upper().startswith(_NO_VALUES) and "[" not in column.type
    )


def _leaves(warehouse: Warehouse, source: Source, columns: Sequence[Column], first: int, most: int) -> Name:
    """Stage the sample of the values, those inside of JSON each on its own; places start at `first`."""
    (estimates,) = warehouse.rows("load/distinct_estimates.sql", relation=source.relation, columns=columns)
    kinds: Params = {"plain": [], "floats": [], "nested": []}
    for place, (column, distinct) in enumerate(zip(columns, estimates, strict=True), first):
        kinds[_kind(column, warehouse)].append((column, place, max(1, int(distinct) // most)))
    own = "" if first == 1 else f"_{first}"
    sampled = warehouse.run(
        "load/sampled_values.sql", f"sampled_values{own}", relation=source.relation, most=most, blanks=_BLANKS, **kinds
    )
    if not warehouse.reads_json:
        return sampled
    return warehouse.run("load/leaves.sql", f"sampled_leaves{own}", sampled=sampled, most=_MOST_LEAVES)


def _kind(column: Column, warehouse: Warehouse) -> str:
    if column.family == "float":
        return "floats"
    nested = "[" in column.type or column.type.upper().startswith(_NESTED)
    return "nested" if nested and warehouse.reads_json else "plain"


def _samples(warehouse: Warehouse, leaves: Name, columns: Sequence[Column]) -> dict[int, list[Sample]]:
    """Return what was seen of each column, by its place: a sample, and one more for every key of the JSON in it."""
    matched = _matched(warehouse, leaves)
    listed: dict[tuple[int, str], dict[str, list[str]]] = {}
    occurring = {pattern for counts in matched.values() for pattern in counts}
    wanted = [(name, PATTERNS[name]) for name in LISTED if name in occurring]
    if wanted:
        for place, path, pattern, value in warehouse.rows(
            "load/matching_values.sql", leaves=leaves, patterns=wanted, most=MOST_CHECKED
        ):
            listed.setdefault((place, path), {}).setdefault(pattern, []).append(value)
    found: dict[int, list[Sample]] = {}
    for (place, path), counts in sorted(matched.items(), key=lambda item: (-item[1][""], item[0])):
        column = columns[place - 1]
        name = (path and path.strip('"$')) or column.name
        sample = Sample(name, "text" if path else column.family, counts[""], counts, listed.get((place, path), {}))
        if len(found.setdefault(place, [])) < _MOST_KEYS:
            found[place].append(sample)
    return found


def _matched(warehouse: Warehouse, leaves: Name) -> dict[tuple[int, str], dict[str, int]]:
    """Return how many values of each column match each pattern; those that take long only where another one did."""
    found: dict[tuple[int, str], dict[str, int]] = {}
    occurring = {""}
    for patterns in (
        {name: text for name, text in PATTERNS.items() if name not in AFTER},
        {name: PATTERNS[name] for name in AFTER},
    ):
        wanted = [(name, text) for name, text in patterns.items() if AFTER.get(name, "") in occurring]
        if not wanted:
            continue
        for place, path, pattern, count in warehouse.rows("load/value_matches.sql", leaves=leaves, patterns=wanted):
            found.setdefault((place, path), {})[pattern] = count
            occurring.add(pattern)
    return found


def _seen(column: Column, samples: Iterable[Sample], region: str | None) -> Seen:
    """Return what the samples of a column show together; the first finding stands for all."""
    samples = list(samples)
    findings = [found for found in (judge(sample, region) for sample in samples) if found is not None]
    findings.sort(key=lambda found: not found.direct)
    if not findings and column.type == "UUID":
        findings = [Finding("UUIDs", 1.0)]
    whole = next((sample for sample in samples if sample.name == column.name and len(samples) == 1), None)
    comma = (
        column.family == "text"
        and whole is not None
        and whole.share("decimal comma") >= 0.3
        and whole.share("decimal comma") + whole.share("whole") >= 0.9
    )
    group = whole is not None and whole.share("leading zero") > 0 and whole.share("digit group") >= 0.95
    return Seen(findings[0] if findings else None, decimal_comma=comma, digit_group=group)
