"""`sqlmicro attack`: its options, which attacks can be made, and the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.attacks import registry
from sqlmicro.attacks.attacked import MOST_TRIED, AttackedRelease, attacked_release
from sqlmicro.attacks.control import Controlled, controlled, refuse_members
from sqlmicro.attacks.key_replay import leaves
from sqlmicro.attacks.knowledge import UNKNOWN, Knowledge
from sqlmicro.attacks.registry import Attack, NothingToAttack, attacks, find
from sqlmicro.attacks.row import AttackRow
from sqlmicro.audits import promised
from sqlmicro.audits.inputs import ControlOption
from sqlmicro.audits.promised import Promises
from sqlmicro.audits.verdict import Verdict
from sqlmicro.audits.verdict_report import Attacked
from sqlmicro.audits.verdict_words import told
from sqlmicro.database import attach
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.files import file_format
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import AS_FOUND, AttachOption, DbOption, MachineOptions, ReaderOptions
from sqlmicro.options.engine import EngineChoice
from sqlmicro.options.params import Param, Registered, settle
from sqlmicro.publish.recording import records_in, release_of
from sqlmicro.publish.report import Parameters
from sqlmicro.registry import PROMISES, Promise, late
from sqlmicro.reports import recorded
from sqlmicro.reports.attack_report import AttackReport, NotTried
from sqlmicro.reports.recorded import RecordedRelease
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import from_json
from sqlmicro.system.secrets import Recipe, Task
from sqlmicro.system.sentences import say, term
from sqlmicro.verbs.rehearsal import rehearsed


@dataclass(frozen=True)
class Published:
    """What the attacks need of a manifest."""

    parameters: Parameters


@dataclass(frozen=True, kw_only=True)
class AttackOptions(DbOption, ControlOption, AttachOption, EngineChoice, MachineOptions, ReaderOptions):
    """What `sqlmicro attack` takes: inputs, and settings of the attacks."""

    original: Annotated[str, Param("Table, view or file the release was made from.", metavar="TABLE")]
    release: Annotated[tuple[str, ...], Param("Release to attack: a table, view or file; repeatable.", metavar="TABLE")]
    match: Annotated[
        tuple[str, ...],
        Param(
            "Columns unchanged in the release that identify a record, to tell whether an attack is right. Default: the "
            "worst is assumed.",
            metavar="A,B",
        ),
    ] = ()
    person: Annotated[
        tuple[str, ...],
        Param(
            "Columns of the original that say whose record it is: persons are looked for, with all their records. The "
            "release has them too, or records are matched.",
            metavar="A,B",
        ),
    ] = ()
    columns: Annotated[
        tuple[str, ...], Param("What the attacker knows. Default: the columns both tables have.", metavar="A,B")
    ] = ()
    sensitive: Annotated[
        tuple[str, ...], Param("Sensitive columns of the release, which the attacker wants.", metavar="A,B")
    ] = ()
    nominal: Annotated[tuple[str, ...], Param("Numbers that are only compared as equal or not.", metavar="A,B")] = ()
    attack: Annotated[
        tuple[str, ...], Param("Make this attack only; repeatable. Default: all that can be made.", metavar="NAME")
    ] = ()
    sample: Annotated[
        int | None, Param(f"Records, or persons, of the original to try. Default: all, up to {MOST_TRIED:,}.", min=1)
    ] = None
    manifest: Annotated[
        str | None, Param("JSON file published with the release, to replay keys from.", metavar="FILE")
    ] = None
    settings: Annotated[Mapping[str, object], Registered(registry.settings)] = field(default_factory=dict)


def attack_values(options: AttackOptions, progress: Progress) -> AttackReport:
    """Attack a release with its original in hand, and measure how far each attack gets.

    Every rate comes with its interval at 95 % and with what chance alone would give. Without --match nobody can tell
    whether an attacker is right: then the true record is assumed to be among those that an attack ends with.
    """
    if options.engine == "spark":
        made_there: AttackReport = late("sqlmicro.verbs.attack_on_spark", "attack_on_spark")(options, progress)
        return made_there
    wanted = find(options.attack)
    with opened(options, progress) as found:
        parameters = found.parameters
        needed = any("control" in one.needs for one in wanted)
        control = found.control(rehearse=needed) if needed or options.control else None
        published = [*leaves(_as_published(found.warehouse, found.number)), *leaves(found.manifest)]
        knowledge = Knowledge(
            found.releases, found.sensitive, published, recipe_of(parameters), control, options.settings
        )  # fmt: skip
        made = [(one, rows_of(one, knowledge, asked=bool(wanted))) for one in wanted or attacks().values()]
        apart = {column.name: "sensitive" for column in found.sensitive}
        apart |= {column.name: "pseudonym" for column in _pseudonyms(found.releases[0])}
        verdict = promised.measured(
            found.releases[0].release.columns, found.record.promises if found.record else Promises(),
            _counter(found.releases[0]), apart=apart, unit=", ".join(found.options.person),
        )  # fmt: skip
        return report_of(knowledge, found.record, found.options, made, verdict)


@dataclass(frozen=True)
class Opened:
    """Releases beside their original, and what is known of how the first was made."""

    warehouse: DuckDBWarehouse
    options: AttackOptions
    releases: list[AttackedRelease]
    sensitive: list[Column]
    number: int | None
    record: RecordedRelease | None
    manifest: Any
    others: Source | None
    """The table that was named as the control group."""

    @property
    def parameters(self) -> Parameters | None:
        """How the first release was made: as its manifest says, else as it is recorded."""
        return parameters_in(self.manifest) or (self.record.parameters if self.record else None)

    def control(self, *, rehearse: bool) -> Controlled | None:
        """Return the release beside the control group that was named, or that a rehearsal makes.

        Raises
        ------
        InputError
            When there is none.
        """
        first, sample = self.releases[0], self.options.sample
        if self.others is not None:
            refuse_members(first, self.others)
            return controlled(first, self.others, self.sensitive, "given", sample)
        return rehearsed(first, self.sensitive, self.parameters, sample) if rehearse else None


@contextmanager
def opened(options: AttackOptions, progress: Progress) -> Iterator[Opened]:
    """Open the database of an attack, and find what it is about, for the length of the block."""
    if not options.release:
        raise ParameterError("attack, --release", "a release is needed", "none")
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        original = _find(warehouse, options, "original", options.original)
        found = [_find(warehouse, options, f"release_{number}", name) for number, name in enumerate(options.release, 1)]
        others = _find(warehouse, options, "control", options.control) if options.control else None
        warehouse.seal()
        number = release_of(warehouse, found[0].label, found[0].relation)
        record = None if number is None else recorded.read(warehouse, number)
        options = replace(options, person=options.person or _recorded_persons(record, original, found, options.match))
        sensitive = pick(found[0].columns, options.sensitive, "attack, --sensitive")
        releases = [
            attacked_release(
                warehouse, original, one, but=[c.name for c in sensitive], columns=options.columns,
                match=options.match, nominal=options.nominal, sample=options.sample, person=options.person,
            )
            for one in found
        ]  # fmt: skip
        refuse_known(sensitive, releases[0])
        yield Opened(
            warehouse, options, releases, sensitive, number, record, read_manifest(options.manifest), others
        )  # fmt: skip


def refuse_known(sensitive: Sequence[Column], attacked: AttackedRelease) -> None:
    """Refuse sensitive columns that the attacker is said to know.

    Raises
    ------
    ParameterError
        With the first of them.
    """
    both = [column.name for column in sensitive if column in (*attacked.columns, *attacked.match)]
    if both:
        raise ParameterError("attack, --sensitive", "is what the attacker does not know", f"known: {both[0]}")


def _recorded_persons(
    record: RecordedRelease | None, original: Source, releases: Sequence[Source], match: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns of the persons that a release was made for, if they tell whose its records are."""
    if record is None:
        return ()
    person = tuple(record.parameters.person)
    told = [original] if match else [original, *releases]
    there = all(set(person) <= {column.name for column in source.columns} for source in told)
    return person if there else ()


def _pseudonyms(attacked: AttackedRelease) -> Sequence[Column]:
    """Return the columns of the release that say whose record it is, if none of their values are those of the original.

    A key as it is names the person, and is what somebody may know.
    """
    if not attacked.told_by:
        return []
    text = (
        "SELECT count(*) FROM (SELECT DISTINCT {{ told | idents }} FROM {{ released | ident }} WHERE "
        "{% for column in told %}{{ column | ident }} IS NOT NULL AND {% endfor %}true INTERSECT "
        "SELECT {{ whose | idents }} FROM {{ original | ident }})"
    )
    ((known,),) = attacked.warehouse.query(
        "persons", text, told=attacked.told_by, whose=attacked.whose, released=attacked.released,
        original=attacked.originals,
    )  # fmt: skip
    return [] if known else attacked.told_by


def _counter(attacked: AttackedRelease) -> Callable[[Sequence[Column]], int]:
    """Return what counts the records of the smallest class of the release, or the persons where these are sought."""
    warehouse, release = attacked.warehouse, attacked.release
    if not attacked.person or attacked.told_by:
        return promised.counter(warehouse, release.relation, attacked.told_by)
    taken = {column.name.lower() for column in release.columns}
    name = next(name for n in count() if (name := f"person_{n}") not in taken)
    with_persons = attacked.stage(
        "attack/with_persons.sql", "with_persons", released=release.relation, original=attacked.original.relation,
        columns=release.columns, match=attacked.match, person=attacked.person, number=name,
    )  # fmt: skip
    return promised.counter(warehouse, with_persons, [Column(name, "BIGINT", name)])


def _find(warehouse: DuckDBWarehouse, options: AttackOptions, name: str, table: str) -> Source:
    reader = options if file_format(table) == "csv" else AS_FOUND
    return find_source(warehouse, table, reader, name=f"{name}_source")


def read_manifest(path: str | None) -> Any:
    """Return what a published manifest says; None without one.

    Raises
    ------
    InputError
        When it is no JSON file.
    """
    if path is None:
        return None
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError("attack, --manifest", "must be a JSON file", repr(path)) from None


def _as_published(warehouse: DuckDBWarehouse, number: int | None) -> Any:
    """Return the row of sqlmicro.releases of a release as JSON, all that it quotes; nothing where there is none."""
    if number is None:
        return None
    text = "SELECT to_json(r) FROM {{ name | ident }} AS r WHERE id = $1"
    (row,) = warehouse.query("record", text, [number], name=records_in(warehouse, "releases"))
    return json.loads(row[0])


def strongest(report: AttackReport) -> list[Attacked]:
    """Return the attacks of a report that a verdict counts: those that somebody outside can make."""
    assumed = report.truth == "assumed"
    return [
        Attacked(row.name, row.rate, row.ci[0], row.chance, row.n, assumed)
        for row in report.attacks if attacks()[row.name].outsider
    ]  # fmt: skip


def parameters_in(manifest: Any) -> Parameters | None:
    """Return what a manifest says of how a release was made; nothing where it does not."""
    try:
        return from_json(Published, manifest).parameters
    except ValueError:
        return None


def recipe_of(parameters: Parameters | None) -> Recipe:
    """Return the recipe that parameters tell of, but for the source."""
    if parameters is None:
        return UNKNOWN
    tasks = [Task(step.method, tuple(step.columns), tuple(step.by), step.nulls, step.settings)
             for step in parameters.steps]  # fmt: skip
    given = parameters
    units = (tuple(names) for names in (given.person, given.of_person, given.household))
    return Recipe("", tuple(given.dropped), tuple(given.row_key), tuple(tasks), *units)


def least(made: Sequence[Promise]) -> Promise | None:
    """Return the least of what some steps promise; None without any."""
    order: tuple[Promise, ...] = ("column", "moments", "masked", "block", "record")
    return min(made, key=order.index, default=None)


def rows_of(made: Attack, knowledge: Knowledge, *, asked: bool) -> list[AttackRow] | str:
    """Make an attack and return a row for what it measured, or why it was not tried where it was not asked for."""
    lacking = knowledge.lacks(made)
    if lacking:
        if not asked:
            return say("needs {what}", what=_all_of(lacking))
        raise ParameterError(f"attack, {made.name}", f"needs {' and '.join(lacking)}", "none")
    given = knowledge.settings
    own = {parameter.name: given[parameter.name] for parameter in made.parameters if parameter.name in given}
    try:
        found = made.function(knowledge, **settle(made.parameters, own, made.name))
    except NothingToAttack as error:
        if asked:
            raise
        return say("{option} {must}", option=error.where.removeprefix("attack, "), must=term(error.must))
    return [
        AttackRow(made.name, one.rate, list(one.ci), one.chance, one.n, one.unit, one.detail, made.source)
        for one in (found if isinstance(found, list) else [found])
    ]


def _all_of(what: Sequence[str]) -> str:
    return reduce(lambda one, other: say("{one} and {other}", one=one, other=other), map(term, what))


def report_of(
    knowledge: Knowledge,
    record: RecordedRelease | None,
    options: AttackOptions,
    made: Sequence[tuple[Attack, list[AttackRow] | str]],
    verdict: Verdict,
) -> AttackReport:
    """Return the report of attacks that were made, and of those that were not."""
    first: AttackedRelease = knowledge.first
    promise = least([step.promise for step in record.parameters.steps]) if record else None
    report = AttackReport(
        original=options.original,
        release=list(options.release),
        columns=[column.name for column in first.columns],
        match=[column.name for column in first.match],
        person=list(options.person),
        truth="match" if first.match else "assumed",
        tried=len(first.tried),
        persons=None if first.persons is None else first.persons_tried,
        records=list(first.whole),
        interval="Wilson, 95 %",
        recorded=record.id if record else None,
        promise=promise,
        k=verdict.k,
        promises=PROMISES[promise] if promise else None,
        notes=first.notes(),
        attacks=[row for _, rows in made if not isinstance(rows, str) for row in rows],
        not_tried=[NotTried(one.name, why) for one, why in made if isinstance(why, str)],
        passed=None,
        verdict=told(verdict),
    )
    verdict = verdict.after(strongest(report))
    return replace(report, passed=verdict.passed, verdict=told(verdict))
