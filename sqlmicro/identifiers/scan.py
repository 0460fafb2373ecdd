"""The scan: a bounded sample of every column's values, matched in SQL, checked in Python, and never shown."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlmicro.database.columns import Column, ColumnProfile, Finding, Seen, names_of
from sqlmicro.database.read_once import read_once
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name, Params
from sqlmicro.database.typed_columns import profile_columns
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import ParameterError, nearest
from sqlmicro.identifiers import phones
from sqlmicro.identifiers.judge import Sample, judge
from sqlmicro.identifiers.misread import misread
from sqlmicro.identifiers.patterns import AFTER, AFTER_IN_ASCII, FOLDED, LISTED, in_folded, matching
from sqlmicro.identifiers.rare import FewerThan, marked
from sqlmicro.identifiers.repeated import RepeatedPersons
from sqlmicro.system.reporting import OMITTED

MOST_VALUES = 1000
"""How many distinct values of a column are looked at."""
MOST_CHECKED = 200
_MOST_LEAVES, _MOST_KEYS = 5000, 50
"""Of a column of JSON: values inside of it, and keys they are told apart by."""
BLANKS = " \t\r\n\u00a0\u200b\ufeff"
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
    persons: RepeatedPersons | None = field(default=None, metadata=OMITTED)
    """Whose records the rows seem to be, where these are of fewer persons."""
    of_person: list[str] | None = field(default=None, metadata=OMITTED)
    """The columns without missing values that have one value for each of these persons."""


@dataclass(frozen=True)
class _Sampled:
    """The staged values, and the patterns that they are matched with.

    Some are looked for after another, and some where letters beyond ASCII are folded into one.
    """

    leaves: Name
    patterns: Mapping[str, str]
    after: Mapping[str, str]
    folded: Sequence[str]


def report(
    table: str,
    found: Sequence[ColumnProfile],
    persons: RepeatedPersons | None,
    of_person: Sequence[Column] = (),
) -> ProfileReport:
    """Return the report of the profiles of a table's columns, and of whose records its rows seem to be."""
    columns = [
        ColumnReport(
            p.column.name, p.column.type, p.nulls, p.distinct, *p.scale, *p.role,
            p.seen.finding.kind if p.seen.finding else None, p.seen.finding.share if p.seen.finding else None,
        )
        for p in found
    ]  # fmt: skip
    named = list(names_of(of_person)) if persons else None
    return ProfileReport(table, found[0].rows if found else 0, columns, persons, named)


def profiles(
    warehouse: Warehouse,
    source: Source,
    region: str | None = None,
    fewer: FewerThan | None = None,
    codes: Collection[Column] = (),
) -> list[ColumnProfile]:
    """Return the profile of every column, with what a sample of its values shows, and whether most of them are rare."""
    with read_once(warehouse, source) as staged:
        found = seen(warehouse, staged, source.columns, region)
        profiled = [replace(profile, seen=found[profile.column]) for profile in profile_columns(warehouse, staged)]
        return marked(warehouse, staged, profiled, fewer or FewerThan(), codes)


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
    listed: list[tuple[int, Column]] = []
    drawn: list[Name] = []
    for number, (source, columns) in enumerate(tables):
        scanned = [column for column in columns if _has_values(column)]
        if scanned:
            with read_once(warehouse, source) as staged:
                drawn.append(warehouse.fetch(_drawn(warehouse, staged, scanned, len(listed) + 1, most)))
        listed += [(number, column) for column in scanned]
    found: list[dict[Column, Seen]] = [{column: Seen() for column in columns} for _, columns in tables]
    if not drawn:
        return found
    here = warehouse.small
    samples = _samples(here, _sampled(here, drawn), [column for _, column in listed])
    beside = [frozenset(column.name for column in source.columns) for source, _ in tables]
    for place, (number, column) in enumerate(listed, 1):
        csv = tables[number][0].is_csv
        found[number][column] = _seen(column, samples.get(place, []), region, beside[number], csv=csv)
    return found


def _has_values(column: Column) -> bool:
    return column.family not in ("boolean", "date", "timestamp", "timestamptz") and not (
        column.type.upper().startswith(_NO_VALUES) and "[" not in column.type
    )


def _drawn(warehouse: Warehouse, source: Source, columns: Sequence[Column], first: int, most: int) -> Name:
    """Stage a sample of the values of a table; the places of its columns start at `first`."""
    (estimates,) = warehouse.rows("load/distinct_estimates.sql", relation=source.relation, columns=columns)
    kinds: Params = {"plain": [], "floats": [], "nested": []}
    for place, (column, distinct) in enumerate(zip(columns, estimates, strict=True), first):
        kinds[_kind(column, warehouse)].append((column, place, max(1, int(distinct) // most)))
    into = "sampled_values" if first == 1 else f"sampled_values_{first}"
    return warehouse.run("load/sampled_values.sql", into, relation=source.relation, most=most, blanks=BLANKS, **kinds)


def _sampled(warehouse: Warehouse, drawn: Sequence[Name]) -> _Sampled:
    """Return the values of samples, those inside of JSON each on its own, and the patterns to be looked for."""
    sampled = drawn[0]
    if len(drawn) > 1:
        sampled = warehouse.run("load/samples_together.sql", "sampled_together", samples=drawn)
        for relation in drawn:
            warehouse.forget(relation)
    ((json, others, letters, digits, marks, longest),) = warehouse.rows("load/sampled_forms.sql", sampled=sampled)
    if json and warehouse.reads_json:
        leaves = warehouse.run("load/leaves.sql", "sampled_leaves", sampled=sampled, most=_MOST_LEAVES)
        return _Sampled(leaves, in_folded(), AFTER, FOLDED)  # JSON may have any letters, written as \u00e9
    if others:
        return _Sampled(sampled, in_folded(), AFTER, FOLDED)
    there = {*marks, *(string.ascii_letters if letters else ""), *(string.digits if digits else "")}
    return _Sampled(sampled, matching(there, longest), AFTER_IN_ASCII, ())


def _kind(column: Column, warehouse: Warehouse) -> str:
    if column.family == "float":
        return "floats"
    nested = "[" in column.type or column.type.upper().startswith(_NESTED)
    return "nested" if nested and warehouse.reads_json else "plain"


def _samples(warehouse: Warehouse, sampled: _Sampled, columns: Sequence[Column]) -> dict[int, list[Sample]]:
    """Return what was seen of each column, by its place: a sample, and one more for every key of the JSON in it.

    The patterns that take long are only looked for where another one was found.
    """
    matched: dict[tuple[int, str], dict[str, int]] = {}
    listed: dict[tuple[int, str], dict[str, list[str]]] = {}
    occurring = {""}
    for later in (False, True):
        wanted = [
            (name, text)
            for name, text in sampled.patterns.items()
            if (name in sampled.after) == later and sampled.after.get(name, "") in occurring
        ]
        if not wanted:
            continue
        for place, path, pattern, count, values in warehouse.rows(
            "load/pattern_matches.sql", leaves=sampled.leaves, listed=LISTED, most=MOST_CHECKED,
            patterns=[one for one in wanted if one[0] not in sampled.folded],
            folded=[one for one in wanted if one[0] in sampled.folded],
        ):  # fmt: skip
            matched.setdefault((place, path), {})[pattern] = count
            listed.setdefault((place, path), {})[pattern] = values or []
            occurring.add(pattern)
    samples: dict[int, list[Sample]] = {}
    for (place, path), counts in sorted(matched.items(), key=lambda item: (-item[1][""], item[0])):
        column = columns[place - 1]
        name = (path and path.strip('"$')) or column.name
        sample = Sample(name, "text" if path else column.family, counts[""], counts, listed.get((place, path), {}))
        if len(samples.setdefault(place, [])) < _MOST_KEYS:
            samples[place].append(sample)
    return samples


def _seen(column: Column, samples: Iterable[Sample], region: str | None, beside: Collection[str], *, csv: bool) -> Seen:
    """Return what the samples of a column show together; the first finding stands for all."""
    samples = list(samples)
    findings = [found for found in (judge(sample, region, beside) for sample in samples) if found is not None]
    findings.sort(key=lambda found: not found.direct)
    if not findings and column.type == "UUID":
        findings = [Finding("UUIDs", 1.0)]
    whole = next((sample for sample in samples if sample.name == column.name and len(samples) == 1), None)
    read = misread(whole, csv=csv) if whole is not None and not findings else None
    group = whole is not None and whole.share("leading zero") > 0 and whole.share("digit group") >= 0.95
    prose = whole is not None and column.family in ("text", "enum") and whole.share("prose") >= 0.5
    return Seen(findings[0] if findings else None, misread=read, digit_group=group, prose=prose)
