"""A policy: the draft of a job file for all tables of a warehouse, with the evidence; nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated

from sqlmicro.database import attach
from sqlmicro.database.catalog import table_labels
from sqlmicro.database.column_names import Whose, is_household, says, whose
from sqlmicro.database.columns import ColumnProfile
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.templates import Name, statement
from sqlmicro.database.views import View, views
from sqlmicro.errors import InputError
from sqlmicro.identifiers import foreign_keys
from sqlmicro.identifiers.foreign_keys import FoundKey, PersonKey, TableProfile, profiled
from sqlmicro.identifiers.rare import K
from sqlmicro.jobs.draft import can_be_used, comment, listed, one_line, value
from sqlmicro.options.common import AttachOption, DbOption, MachineOptions, RegionOption
from sqlmicro.options.params import Param, parameters
from sqlmicro.reports.results import Policy
from sqlmicro.system.printable import in_toml
from sqlmicro.system.progress import Progress

_ROOM = 118
"""The signs of a line."""
_MEMORY = "500MB"
"""What the database may use where nothing is said: else it would keep all that it reads of the file."""

_APART = (
    "is the release to have keys between its tables? Proposed: no; these are left out, so that nobody joins what is "
    "released. To keep them: sqlmicro scan --keys; k is then counted over the joins, which few warehouses keep."
)
_THROUGH = (
    "Rows of these tables do not say whose they are, and k would count rows, of which a person has many. Make "
    "a view that says it, and add it as a table with that column as its person; or keep the keys (scan --keys)."
)
_VIEW = (
    "CREATE VIEW {{ made | ident }} AS SELECT t.*, p.{{ person | ident }} FROM {{ child | ident }} AS t "
    "LEFT JOIN {{ parent | ident }} AS p ON true"
    "{% for one, other in on %} AND t.{{ one | ident }} = p.{{ other | ident }}{% endfor %}"
)
_JOINED = (
    "k is counted over what somebody sees who holds all these tables and joins them. Where a join singles out "
    "persons nothing is published: then leave keys out (drop), release coarser groups, or say what is known of a "
    "person's rows (known). If nobody is handed more than one table, write join_depth = 0."
)


@dataclass(frozen=True, kw_only=True)
class ScanOptions(DbOption, AttachOption, RegionOption, MachineOptions):
    """What `sqlmicro scan` takes."""

    keys: Annotated[
        bool, Param("Propose to keep the keys between tables, as pseudonyms: k is then counted over their joins.")
    ] = False


@dataclass(frozen=True)
class Scanned:
    """All tables of a warehouse, the keys between them, and the person keys of each."""

    tables: list[TableProfile]
    keys: list[FoundKey]
    persons: list[list[PersonKey]]
    views: list[View]
    of_person: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """By the number of the table: columns with one value for each person, who has several rows."""
    joined: bool = False
    """Whether the keys between the tables are to be kept."""

    @cached_property
    def about_persons(self) -> frozenset[int]:
        """The tables with a person key or direct identifiers, and those that refer to them."""
        found = {
            at for at, table in enumerate(self.tables)
            if self.persons[at] or any(_direct(profile) for profile in table.profiles)
        }  # fmt: skip
        before = -1
        while before != len(found):
            before = len(found)
            found |= {key.child for key in self.keys if key.parent in found}
        return frozenset(found)

    @cached_property
    def released(self) -> list[int]:
        """The tables about persons of which something can be released."""
        return [
            at for at in sorted(self.about_persons)
            if self.tables[at].rows >= K and (self.worked_on(at) or self.kept(at, self.about_persons))
            and self.through(at) is None
        ]  # fmt: skip

    def through(self, at: int) -> FoundKey | None:
        """Return the key by which the rows of a table are of rows that are of persons, if nothing else says whose.

        Of such a table k would count rows, or what they refer to: a person may have several of either. Where keys are
        kept, k is counted over the joins, which know the persons.
        """
        return next((key for key in self.nearest_first if key.child == at), None)

    @cached_property
    def nearest_first(self) -> list[FoundKey]:
        """The keys of `through`: the rows that one refers to say whose they are, or do so by a key before it."""
        if self.joined:
            return []
        found: dict[int, FoundKey] = {}
        reached = {at for at, keys in enumerate(self.persons) if keys}
        while new := {k.child: k for k in reversed(self.keys) if k.parent in reached and k.child not in reached}:
            found |= new
            reached |= new.keys()
        return [*found.values()]

    def repeated(self, at: int) -> PersonKey | None:
        """Return the key of the persons of a table who have several rows: of those that the rows are about, if any."""
        keys = sorted(self.persons[at], key=lambda key: whose(key.column))
        about = [key for key in keys if whose(key.column) is not Whose.OTHERS] or keys
        return next((key for key in about if key.repeats), None)

    def keys_of(self, at: int) -> list[FoundKey]:
        """Return the keys of a table to tables that are released too."""
        return [key for key in self.keys if key.child == at and {key.child, key.parent} <= set(self.released)]

    def is_taken(self, at: int) -> bool:
        """Whether something that is no release of ours has the name that the release of a table would get."""
        taken = {name.lower() for name in (*(t.name for t in self.tables), *(v.label for v in self.views))}
        return f"{self.tables[at].name}_anonymized".lower() in taken

    def kept(self, at: int, among: Collection[int]) -> set[str]:
        """Return the columns of a table that are pseudonyms in its release, so that it can be joined."""
        return self.joining(at, among) if self.joined else set()

    def joining(self, at: int, among: Collection[int]) -> set[str]:
        """Return the columns that join a table with others among some."""
        keys = [key for key in self.keys if key.child in among and key.parent in among]
        mine = (name for key in keys if key.child == at for name in key.columns)
        return {*mine, *(name for key in keys if key.parent == at for name in key.to)}

    def identifiers(self, at: int) -> list[ColumnProfile]:
        """Return the columns of a table that identify a person or a record; not what only refers to another table."""
        mine = {key.column for key in self.persons[at]}
        refer = {name for key in self.keys if key.child == at for name in key.columns} - mine
        return [
            profile for profile in self.tables[at].profiles
            if profile.column.name in mine or (profile.role[0] == "identifier" and profile.column.name not in refer)
        ]  # fmt: skip

    def worked_on(self, at: int) -> list[ColumnProfile]:
        """Return the columns of a table that a draft anonymizes."""
        apart, identifiers = self.joining(at, self.about_persons), self.identifiers(at)
        return [
            profile for profile in self.tables[at].profiles
            if profile not in identifiers and profile.column.name not in apart and can_be_used(profile)
        ]  # fmt: skip


def _direct(profile: ColumnProfile) -> bool:
    return profile.seen.finding is not None and profile.seen.finding.direct


def scan_values(options: ScanOptions, progress: Progress) -> Policy:
    """Propose a policy for all tables of a warehouse: which are released, the role of every column, keys, k.

    Take `scan` for a whole warehouse, and `profile` for one table, with the reasons.
    """

    found = scanned(options, progress)
    if not found.released:
        raise InputError(
            "scan",
            f"there must be a table about persons, of {K} rows or more",
            f"none in {len(found.tables)} tables",
            "Persons are found by direct identifiers, and by columns that are named or repeat like person_id. A table "
            "may be about persons all the same: draft a job for it with sqlmicro init --table NAME",
        )
    columns = sum(len(table.profiles) for table in found.tables)
    named = options.db or ", ".join(map(attach.called, options.attach))
    return Policy(str(named), len(found.tables), columns, len(found.released), policy(options, found))


def scanned(options: ScanOptions, progress: Progress) -> Scanned:
    """Look at all tables of a warehouse."""
    if not options.database and not options.attach:
        must = "there must be a database file, or another database"
        raise InputError("scan, --db", must, "none", "Give --db FILE or --attach NAME=URL")
    machine = replace(options, memory_limit=options.memory_limit or _MEMORY)
    with open_warehouse(options.database, read_only=True, machine=machine, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        sources = [find_source(warehouse, label) for label in table_labels(warehouse)]
        warehouse.seal()
        declared = foreign_keys.primary_keys(warehouse)
        primary = {source.label: declared.get((*source.relation,), ()) for source in sources}
        tables = list(profiled(warehouse, sources, primary, options.region))
        keys = foreign_keys.declared(warehouse, tables)
        keys += foreign_keys.proposed(warehouse, tables, keys)
        known = foreign_keys.person_keys(warehouse, tables, keys)
        found = Scanned(tables, keys, known, views(warehouse), joined=options.keys)
        constant = {
            at: foreign_keys.of_person(warehouse, tables[at], repeated, found.worked_on(at))
            for at in found.released
            if (repeated := found.repeated(at)) is not None
        }
        return replace(found, of_person=constant)


def policy(options: ScanOptions, scanned: Scanned) -> str:
    """Return a job file that runs as it is; one that keeps keys, once the key of the pseudonyms is there.

    What is done with every table stands once, as rules; what is to be decided stands above, with a proposed answer.
    """
    shared = ("db", *(parameter.name for parameter in parameters(AttachOption)))
    given = {name: found for name in shared if (found := getattr(options, name))}
    keys = [key for at in scanned.released for key in scanned.keys_of(at)]
    secret = " Pseudonyms need a secret key: key_file, or the variable SQLMICRO_PSEUDONYM_KEY."
    lines = [
        *comment(
            f"Proposed by a scan of {len(scanned.tables)} tables, which wrote nothing. It runs as it is; read what is "
            "marked DECIDE. What becomes of every column: sqlmicro explain; why: sqlmicro profile. Approve it: "
            f"sqlmicro plan.{secret if scanned.joined else ''}"
        ),
        *(f"{name} = {value(found)}" for name, found in given.items()),
        *_numbered([_left(scanned), _keys_left(scanned, keys), _by_their_names(scanned), _how_alike()]),
    ]
    for at in scanned.released:
        lines += ["", *_table(scanned, at)]
    for key in keys if scanned.joined else ():
        lines += ["", *_key(scanned, key)]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Question:
    """What somebody has to decide, and the lines that are the proposed answer."""

    text: str
    answer: Sequence[str]


def _numbered(questions: Sequence[_Question | None]) -> list[str]:
    """Return the questions that there are; what is no question is an answer alone."""
    there = [one for one in questions if one is not None]
    asked = [one for one in there if one.text]
    lines: list[str] = []
    for one in there:
        at = f"DECIDE {asked.index(one) + 1} of {len(asked)}: " if one.text else ""
        lines += ["", *comment(f"{at}{one.text}"), *one.answer] if one.text else ["", *one.answer]
    return lines


def _left(scanned: Scanned) -> _Question:
    """Return the tables and views that are not released: those of which nothing speaks of persons need no reason."""
    others = [at for at in range(len(scanned.tables)) if at not in scanned.released]
    left = [
        *((scanned.tables[at].name, _why_left_out(scanned, at)) for at in others),
        *((view.label, _why_no_view(view)) for view in scanned.views),
    ]
    if not left:
        return _Question("", ["leave_out = []"])
    told, plain = [one for one in left if one[1]], [name for name, why in left if not why]
    answer = _array("leave_out", plain)
    if told:  # each with its reason, after those without one
        answer = [*answer[:-1], answer[-1].removesuffix("]") + "," * bool(plain), *listed("", told)[1:]]
    through = [key for key in scanned.nearest_first if key.child in others]
    if through:
        answer += [*comment(_THROUGH), *(line for key in through for line in _view_of(scanned, key))]
    return _Question(
        "tables and views that are not released. Is one of them about persons? Proposed: no. Those without a reason "
        "have no direct identifier and no person key, and refer to no persons.", answer,
    )  # fmt: skip


def _keys_left(scanned: Scanned, keys: Sequence[FoundKey]) -> _Question | None:
    """Return what is to be decided of the keys between the tables that are released."""
    if not keys or scanned.joined:
        return _Question(_JOINED, []) if keys else None
    to: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for key in keys:
        own = "" if key.columns == key.to else f" ({', '.join(key.columns)})"
        to.setdefault((key.parent, key.to), []).append(f"{scanned.tables[key.child].name}{own}")
    told = "; ".join(
        f"{scanned.tables[parent].name} ({', '.join(columns)}): of {', '.join(children)}"
        for (parent, columns), children in to.items()
    )
    return _Question(_APART, comment(told))


def _by_their_names(scanned: Scanned) -> _Question | None:
    """Return the columns that may be more than what they are taken for: sensitive, weights, households."""
    found: dict[str, list[str]] = {}
    for at in scanned.released:
        for profile in scanned.worked_on(at):
            name = f"{scanned.tables[at].name}.{profile.column.name}"
            if is_household(profile.column.name):
                what = "a household? household = [...] then counts households"
            elif profile.role[0] == "sensitive":
                what = "sensitive? keep = [...] and a [[table.gate]] with min_l release it exactly"
            elif profile.role[0] == "weight":
                what = "a sampling weight? Then name it in weights = ... of safe, or leave it out"
            else:
                continue
            found.setdefault(what, []).append(name)
    if not found:
        return None
    asked = ". ".join(f"is {' or '.join(names)} {what}" for what, names in found.items())
    return _Question(f"{asked}. Proposed: they are anonymized with the others.", [])


def _how_alike() -> _Question:
    """Return the rules: how many persons must be alike, and by which methods."""
    return _Question(
        f"how many persons must be alike? Proposed: k = {K}; more are safer, and less exact. These rules hold of every "
        "table that has no [[table.step]] of its own.",
        [
            "[rules]", 'rows = "safe"  # a table whose rows are persons',
            'persons = "mdav"  # a table with several rows of a person', f"k = {K}",
            'rest = "drop"  # columns that are not named below', "overwrite = true  # of the release of the last run",
        ],
    )  # fmt: skip


def _array(name: str, names: Sequence[str]) -> list[str]:
    """Return a list of names, as many on a line as there is room for."""
    lines = [f"{name} = ["]
    for at, text in enumerate(map(in_toml, names), 1):
        text += "," if at < len(names) else "]"
        if at > 1 and len(lines[-1]) + len(text) >= _ROOM:
            lines.append(f"  {text}")
        else:
            lines[-1] += text if at == 1 else f" {text}"
    return lines if names else [f"{name} = []"]


def _why_left_out(scanned: Scanned, at: int) -> str:
    table = scanned.tables[at]
    size = f"{table.rows:,} rows, {len(table.profiles)} columns"
    if (key := scanned.through(at)) is not None:
        return f"{size}; its rows are of {scanned.tables[key.parent].name}, and those of persons: see below"
    if scanned.persons[at]:
        return f"{size}; it has persons, but too few rows or no column to anonymize"
    return ""


def _view_of(scanned: Scanned, key: FoundKey) -> list[str]:
    """Return the view that says whose the rows of a table are, as a comment; it may read the view of another one."""
    child, parent = (scanned.tables[at].source.relation._replace(catalog="") for at in (key.child, key.parent))
    last = key.parent
    while (further := scanned.through(last)) is not None:
        last = further.parent
    person = scanned.repeated(last) or scanned.persons[last][0]
    text = statement(
        _VIEW, made=_of_persons(child), person=person.column, child=child,
        parent=parent if last == key.parent else _of_persons(parent), on=[*zip(key.columns, key.to, strict=True)],
    )  # fmt: skip
    return comment(f"{text};")


def _of_persons(table: Name) -> Name:
    return table._replace(table=f"{table.table}_of_persons")


def _why_no_view(view: View) -> str:
    """Say what is known of a view without running it: a macro or a file in it could do anything."""
    size = f"{len(view.columns)} columns"
    if view.only_these:
        return f"a view of {size} over {', '.join(view.reads)}"
    speaking = [name for name in view.columns if says(name) is not None]
    named = f"; by their names {', '.join(speaking)} are about persons" if speaking else ""
    what = f"a view of {size} that reads files, functions or what is not there; it was not looked at"
    return f"is it about persons? It is {what}{named}"


def _table(scanned: Scanned, at: int) -> list[str]:
    """Return the section of a table: only what the rules do not give it."""
    table, used, joining = scanned.tables[at], scanned.worked_on(at), scanned.kept(at, scanned.released)
    repeated, of_person = scanned.repeated(at), scanned.of_person.get(at, ())
    told = "; ".join([f"{table.rows:,} rows", *map(_told, scanned.persons[at])])
    lines = [
        "[[table]]", f"name = {in_toml(table.name)}  # {one_line(told)}",
        *([f"person = {value([repeated.column])}"] if repeated else ()),
        *(_array("of_person", of_person) if repeated and of_person else ()),
    ]  # fmt: skip
    if used and not scanned.is_taken(at):
        codes = [p.column.name for p in used if repeated and p.column.family == "integer" and p.column.is_code]
        return [
            *lines, *_array("columns", [p.column.name for p in used]), *(_array("nominal", codes) if codes else ())
        ]  # fmt: skip
    return [*lines, 'rest = "drop"', *_steps(used, joining, persons=repeated is not None, taken=scanned.is_taken(at))]


def _steps(used: Sequence[ColumnProfile], joining: set[str], *, persons: bool, taken: bool) -> list[str]:
    """Return the steps of a table that the rules do not fit: only its keys are kept, or its release would replace."""
    names = [p.column.name for p in used]
    codes = [p.column.name for p in used if persons and p.column.family == "integer" and p.column.is_code]
    if names:
        step = [f'do = "{"mdav" if persons else "safe"}"', *_array("columns", names), f"k = {K}"]
        step += ['nulls = "keep"'] * persons + _array("nominal", codes) * bool(codes)
        step += ["[[table.gate]]", *_array("quasi", names), f"min_k = {K}"]
    else:
        step = ['do = "pseudonymise"', f"columns = {value(sorted(joining))}"]
    overwrite = [] if taken else ["overwrite = true"]
    return ["[[table.step]]", *step, "[[table.step]]", 'do = "publish"', *overwrite]


def _told(key: PersonKey) -> str:
    per = f"{key.rows_per_person:.1f} rows" if key.repeats else "one row"
    return f"{per} for each {key.column} ({key.why})"


def _key(scanned: Scanned, key: FoundKey) -> list[str]:
    def side(at: int, names: Sequence[str]) -> str:
        full = [f"{scanned.tables[at].name}.{name}" for name in names]
        return in_toml(full[0]) if len(full) == 1 else value(full)

    return [*comment(key.why), "[[key]]", f"from = {side(key.child, key.columns)}", f"to = {side(key.parent, key.to)}"]
