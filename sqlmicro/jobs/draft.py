"""The draft of a job file, from the profile of a table: safe as it stands, and what is to be decided as comments.

Drafts of job files: lists and values as TOML, with comments that give the reasons.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlmicro.database import attach, column_names
from sqlmicro.database.columns import pick
from sqlmicro.database.files import file_stem
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import InputError
from sqlmicro.identifiers import scan
from sqlmicro.identifiers.rare import FewerThan, K, marked
from sqlmicro.identifiers.repeated import RepeatedPersons, repeated_persons
from sqlmicro.options.common import MachineOptions, RegionOption, SourceOptions
from sqlmicro.options.params import parameters
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.reports.results import Draft
from sqlmicro.system.printable import in_toml
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    from sqlmicro.database.columns import ColumnProfile


@dataclass(frozen=True, kw_only=True)
class InitOptions(SourceOptions, RegionOption, MachineOptions, ReaderOptions):
    """What `sqlmicro init` takes."""


def init_values(options: InitOptions, progress: Progress) -> Draft:
    """Draft a job file from the profile of a table: identifiers dropped, everything else anonymized, k = 3."""

    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        source = find_source(warehouse, options.table, options)
        warehouse.seal()
        profiles = scan.profiles(warehouse, source, options.region)
        persons = repeated_persons(warehouse, source, {profile.column: profile.seen for profile in profiles})
        if persons:
            fewer = FewerThan(K, pick(source.columns, persons.columns, "persons"))
            profiles = marked(warehouse, source, profiles, fewer)
    if all(p in left_out(profiles, persons) for p in profiles):
        raise InputError("init", "there must be a column to anonymize", "only direct identifiers")
    return Draft(options.table, draft(options, profiles, persons))


def draft(options: InitOptions, profiles: Sequence[ColumnProfile], persons: RepeatedPersons | None) -> str:
    """Return a job file that runs as it is.

    Direct identifiers are dropped, and so are columns no method takes; all others go through SAFE together, so that
    every combination of all released values occurs k times. Where persons have several rows, they go through MDAV, and
    every combination is that of k persons. Comments say why, and what is to be decided.
    """
    dropped = left_out(profiles, persons)
    used = [p for p in profiles if p not in dropped]
    weights = _weights(used, persons)
    used = [p for p in used if p not in weights]
    quasi = [p for p in used if p.role[0] == "quasi"] or used
    missing = any(p.nulls for p in used)
    rows = f"{profiles[0].rows:,} records" if profiles else "no records"
    shared = ("db", "attach", "table", "region", *(parameter.name for parameter in parameters(ReaderOptions)))
    given = {name: found for name in shared if (found := getattr(options, name))}
    lines = [
        *comment(
            f"Drafted from the profile of {in_toml(options.table)}, {rows}. It runs as it is; read the lines marked "
            "DECIDE. Paths are taken from the folder of this file. See what it does: sqlmicro explain, and "
            "sqlmicro run --dry-run --diff."
        ),
        *(f"{name} = {value(found)}" for name, found in given.items()),
        *_persons(persons),
        "",
        *comment("Left out of the release. DECIDE: is there another column that names a person, such as free text?"),
        *array("drop", dropped, _why_dropped),
        "",
        *comment(
            f"All other columns are anonymized together: every combination of their values is that of {K} "
            f"{'persons' if persons else 'records'}, or does not occur. DECIDE: a larger k is safer and less exact; "
            'fewer columns are more exact (drop what nobody needs). keep = ["…"] above would release a column as it is.'
        ),
        "[[step]]",
        'do = "mdav"' if persons else 'do = "safe"',
        *array("columns", used, _reason),
        f"k = {K}",
        *(f"weights = {value(p.column.name)}  # by its name; the means of groups, whose totals stay" for p in weights),
        *(_nulls(used, persons is not None) if missing else ()),
        "",
        *comment("What the release must pass, or nothing is published. DECIDE: what may be known of a person?"),
        "[[gate]]",
        *array("quasi", quasi, None),
        f"min_k = {K}",
        *_sensitive([p for p in used if p.role[0] == "sensitive"]),
        "",
        "[[step]]",
        'do = "publish"',
        *_target(options),
    ]
    return "\n".join(lines) + "\n"


def left_out(profiles: Sequence[ColumnProfile], persons: RepeatedPersons | None) -> list[ColumnProfile]:
    """Return the columns a draft drops: direct identifiers, keys of persons, and those no method takes."""
    keys = persons.columns if persons else ()
    return [p for p in profiles if p.role[0] == "identifier" or p.column.name in keys or not can_be_used(p)]


def _weights(used: Sequence[ColumnProfile], persons: RepeatedPersons | None) -> list[ColumnProfile]:
    """Return the column of sampling weights, if there is one and only one, and no other column is left out for it."""
    found = [p for p in used if p.role[0] == "weight"]
    alone = len(found) == 1 < len(used) and persons is None
    return found if alone and column_names.is_sampling_weight(found[0].column.name) else []


def _persons(persons: RepeatedPersons | None) -> list[str]:
    if persons is None:
        return []
    text = (
        f"rows: {persons.told}. DECIDE: are these persons? If every row is about another one: rows_are_persons = true."
    )
    return ["", *comment(text), f"person = {value(list(persons.columns))}"]


def can_be_used(profile: ColumnProfile) -> bool:
    """Tell whether there is a method that takes a column."""
    return not profile.column.type.startswith(("UNION", "VARIANT"))


def _why_dropped(profile: ColumnProfile) -> str:
    role, why = profile.role
    if can_be_used(profile) and role != "identifier":
        return "it says whose record it is"
    return why if role == "identifier" else f"no method takes a {profile.column.type.partition('(')[0]}"


def _reason(profile: ColumnProfile) -> str:
    role, why = profile.role
    text = f"{profile.scale[0]}: {profile.scale[1]}"
    if role == "weight":
        text += "; DECIDE: measured, as of a body? Sampling weights belong in weights = … of safe, or in drop"
    if role == "sensitive":
        text += f"; sensitive by {why}"
    return text + (f"; {profile.nulls:,} missing" if profile.nulls else "")


def _nulls(used: Iterable[ColumnProfile], persons: bool) -> list[str]:
    names = ", ".join(in_toml(p.column.name) for p in used if p.nulls)
    if persons:
        return [
            *comment(
                f"Missing in {names}. The majority of a group decides, which fills in some values and takes out "
                "others; the run says how many. DECIDE: suppress leaves out every record that lacks a value; pattern "
                "fills in none, but inside the classes of persons it needs k persons who lack the same columns."
            ),
            'nulls = "keep"',
        ]
    return [
        *comment(
            f"Missing in {names}. This loses least: what is missing stays missing, and none is filled in; where fewer "
            "than k records lack the same columns, further values are taken out, and the run says how many. DECIDE: "
            "suppress leaves out every record that lacks a value; keep lets the majority of a group decide, which "
            "fills in some and takes out others."
        ),
        'nulls = "pattern"',
    ]


def _sensitive(sensitive: Sequence[ColumnProfile]) -> list[str]:
    if not sensitive:
        return []
    return [
        *comment(
            "DECIDE: if a sensitive column is released as it is (keep), a class of k records may still share its "
            "value. Then hold the release to this too:"
        ),
        *(f"# {line}" for line in array("sensitive", sensitive, None)),
        "# min_l = 2",
    ]


def _target(options: InitOptions) -> list[str]:
    """Return where the release goes: a table of the database, or without one a file beside the job file."""
    if options.db:
        text = (
            "By default the table has the name of the source and _anonymized after it, and must not exist yet. "
            'into = "…" gives another name, overwrite = true replaces a table.'
        )
        return comment(text)
    name = file_stem(options.table)
    ending = ".csv" if ".csv" in options.table.lower() else ".parquet"
    return [f"to = {in_toml(f'{name}_anonymized{ending}')}"]


_WIDTH = 100


def array(name: str, profiles: Sequence[ColumnProfile], why: Callable[[ColumnProfile], str] | None) -> list[str]:
    """Return a list of columns, one on a line where there is a reason to give."""
    if why is None:
        return [f"{name} = {value([p.column.name for p in profiles])}"]
    return listed(name, [(p.column.name, why(p)) for p in profiles])


def listed(name: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """Return a list of names, each on a line with its reason."""
    if not items:
        return [f"{name} = []"]
    names = [in_toml(item) + "," for item, _ in items]
    longest = min(max(map(len, names)), 40)
    return [
        f"{name} = [",
        *(f"  {text.ljust(longest)}  # {one_line(why)}" for text, (_, why) in zip(names, items, strict=True)),
        "]",
    ]


def comment(text: str) -> list[str]:
    """Write a comment."""
    return textwrap.wrap(one_line(text), _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def one_line(text: str) -> str:
    """Return text without characters that a TOML comment may not have."""
    return "".join(char if char.isprintable() else " " for char in text)


def value(of: Any) -> str:
    """Write a value."""
    if isinstance(of, list | tuple):
        return f"[{', '.join(map(in_toml, of))}]"
    return ("true" if of else "false") if isinstance(of, bool) else in_toml(str(of))
