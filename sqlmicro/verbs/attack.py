"""`sqlmicro attack`: its options, which attacks can be made, and the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from sqlmicro.attacks.attacked import AttackedRelease, attacked_release
from sqlmicro.attacks.control import Controlled, controlled, refuse_members
from sqlmicro.attacks.key_replay import leaves
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import attacks, find
from sqlmicro.audits.verdict import Promises, class_counter, judge_promises
from sqlmicro.database import attach
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.files import file_format
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import ParameterError
from sqlmicro.options.reader import AS_FOUND
from sqlmicro.publish.recording import records_in, release_of
from sqlmicro.publish.report import Parameters
from sqlmicro.registry import late
from sqlmicro.reports import recorded
from sqlmicro.reports.attack_report import AttackReport
from sqlmicro.reports.recorded import RecordedRelease
from sqlmicro.system.progress import Progress
from sqlmicro.verbs.attacking import (
    AttackOptions,
    parameters_in,
    read_manifest,
    recipe_of,
    refuse_known,
    report_of,
    rows_of,
)
from sqlmicro.verbs.rehearsal import rehearsed


def attack_values(options: AttackOptions, progress: Progress) -> AttackReport:
    """Attack a release with its original in hand, and measure how far each attack gets.

    Take `attack` to try what an intruder would, `audit` to count classes and losses, `check` to do
    that for a policy, and `report` for both on a page.

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
        verdict = judge_promises(
            found.releases[0].release.columns, found.record.promises if found.record else Promises(),
            _counter(found.releases[0]), apart=apart, unit=", ".join(found.options.person),
        )  # fmt: skip
        return report_of(knowledge, found.record, found.options, made, verdict)


@dataclass(frozen=True)
class Opened:
    """Releases beside their original, and what is known of how the first was made."""

    warehouse: Database
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


def _recorded_persons(
    record: RecordedRelease | None, original: Source, releases: Sequence[Source], match: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns of the persons that a release was made for, if they tell whose its records are."""
    if record is None:
        return ()
    person = tuple(record.parameters.told_person)
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
        return class_counter(warehouse, release.relation, attacked.told_by)
    taken = {column.name.lower() for column in release.columns}
    name = next(name for n in count() if (name := f"person_{n}") not in taken)
    with_persons = attacked.stage(
        "attack/with_persons.sql", "with_persons", released=release.relation, original=attacked.original.relation,
        columns=release.columns, match=attacked.match, person=attacked.person, number=name,
    )  # fmt: skip
    return class_counter(warehouse, with_persons, [Column(name, "BIGINT", name)])


def _find(warehouse: Database, options: AttackOptions, name: str, table: str) -> Source:
    reader = options if file_format(table) == "csv" else AS_FOUND
    return find_source(warehouse, table, reader, name=f"{name}_source")


def _as_published(warehouse: Database, number: int | None) -> Any:
    """Return the row of sqlmicro.releases of a release as JSON, all that it quotes; nothing where there is none."""
    if number is None:
        return None
    text = "SELECT to_json(r) FROM {{ name | ident }} AS r WHERE id = $1"
    (row,) = warehouse.query("record", text, [number], name=records_in(warehouse, "releases"))
    return json.loads(row[0])
