"""Every release is measured together with those of the same people that somebody may still have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlmicro.audits.registry import Check
from sqlmicro.audits.verdict import DIFFERENCES, UNION_K, UNION_L
from sqlmicro.database.catalog import find_relation
from sqlmicro.database.templates import Name, Select, select
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import AuditFailed
from sqlmicro.history import differences, ledger, union
from sqlmicro.history.ledger import Entry
from sqlmicro.history.union import Staged, Union, promised_k
from sqlmicro.publish import continuing
from sqlmicro.publish.continuing import Book
from sqlmicro.publish.recording import Kept
from sqlmicro.publish.report import Consulted, OfJob
from sqlmicro.registry import find

if TYPE_CHECKING:
    from sqlmicro.history.series import Series
    from sqlmicro.pipeline import Run
    from sqlmicro.publish.release import Release

_WAYS = (
    "Nothing was published. To try methods, use --draft or sqlmicro compare: what is not published counts nowhere. To "
    "publish, replace the earlier release (the same target with --overwrite), or say that nobody has it any more "
    '(sqlmicro ledger withdraw N --reason "…"), or publish it as it is with --alone-because "…". If it is released '
    "again and again, --series keeps k over all nights (sqlmicro help series)"
)


def beside(warehouse: Database, release: Release) -> Book | None:
    """Return the ledger beside a release; None where it is elsewhere, or the release is in none."""
    if release.past.ledger or not (union.promises(release.run) or release.series):
        return None
    target = release.target
    place = ledger.place(target.name and warehouse.full(target.name), target.place)
    memory = target.record_table(warehouse, "memory")
    return Book(warehouse, target, carried(warehouse, memory, release, counted(release)), place,
                continuing.beside(release))  # fmt: skip


def carried(warehouse: Database, memory: Name, release: Release, told: Staged | None) -> Staged | None:
    """Return the classes of a release; those of a series with what the means of classes have that were there before."""
    series = release.series
    if (
        told is None
        or series is None
        or not series.before
        or not series.members
        or not find_relation(warehouse, memory)
    ):
        return told
    import pyarrow as pa

    found = warehouse.arrays(
        "history/carried_members.sql", classes=told.classes, memory=memory, last=series.before.night.release
    )
    return replace(told, classes=warehouse.lent(pa.table(found)))


def consult(book: Book | None, release: Release) -> None:
    """Measure what a release tells together with others of the same people, and note it with its audits.

    All that are out must share k with it. The one that it replaces is measured too, since readers may have kept it:
    that is noted, and demanded with --min-union-k.

    Raises
    ------
    AuditFailed
        When fewer persons than were promised share their classes in all that are out. Nothing is published.
    """
    if book is None:
        return
    run, series = release.run, release.series
    continuing.audit(book, release)
    entries = ledger.entries(book.warehouse, book.table("releases"))
    changed = _changed(book, entries)
    if changed:
        _settle(release, [_Finding(_check(UNION_K, [], None, promised_k(run)), changed)], "releases recorded here")
        return
    if book.told is None and not union.promises(run):
        return
    schema = ledger.schema_hash(run.source.columns)
    same = [
        one
        for one in entries
        if one.k and one.state in ("out", "replaced")
        and (one.people == run.source.people or one.schema_hash == schema)
    ]  # fmt: skip
    own = (series.name, series.epoch) if series else None
    here = [one for one in same if one.place == book.place][-1:]
    replaced = [one for one in here if own is None or _night(one) != own]
    out = _nights_as_one([one for one in same if one.state == "out" and one.place != book.place], entries, own)
    least = max((int(claim.terms.limits.get("min_l", 0)) for claim in run.promises.claims), default=0)
    if book.told is None:
        _refuse_unknown(release, [*out, *(replaced if release.past.min_union_k else [])])
        return
    if len(release.outputs) > 1:
        alone = select("history/own_members.sql", classes=book.told.classes)
        _settle(release, [_shared(book, run, [], alone, None)], "the candidates that are kept beside it")
    release.report.consulted = [
        Consulted(one.release, one.entry, one.state, one.series, one.epoch)
        for one in sorted({*out, *replaced}, key=lambda one: one.release)
    ]
    said = _said_already(book, release, [*out, *replaced])
    out = [one for one in out if one not in said]
    _hold(book, release, out, promised_k(run), least)
    if replaced and (release.past.min_union_k or replaced[0] not in said):
        _hold(book, release, [*out, *replaced], release.past.min_union_k, None)


def _said_already(book: Book, release: Release, others: Sequence[Entry]) -> list[Entry]:
    """Return the releases that are the same, row for row, of the same persons, of whom some have several records.

    Such a person shares the classes of all these records with few, in one release alone. Two releases that are the same
    tell nothing that one of them does not.
    """
    if not others or not release.run.roles.person:
        return []
    written, releases = release.audits[None], book.table("releases")
    content = union.output_hash(release.run.warehouse, written.relation, written.columns)
    own = union.digest(book.warehouse, _told(book, release))
    hashes = dict(book.warehouse.query("ledger", "SELECT id, output_hash FROM {{ r | ident }}", r=releases))
    found = [one for one in others if one.remembered == own and hashes.get(one.release) == content]
    if found:
        named = ", ".join(f"release {one.release} ({one.target})" for one in found)
        release.run.log.notes.append(f"nothing new: {named} is the same, of the same persons")
    return found


def unmeasured(release: Release, why: str, do: str) -> None:
    """Note that a release could not be measured with others: it fails, unless it is to stand alone.

    Raises
    ------
    AuditFailed
        With what to do.
    """
    if not release.past.alone_because:
        must = "a release must be measured together with all others of the same people, which the ledger knows"
        raise AuditFailed("ledger", must, why, f'Nothing was published. {do}, or publish it with --alone-because "…"')
    release.run.log.notes.append(
        f"warning: {why}: this release is in no ledger, and was not measured together with others"
    )
    release.audits[None].checks.append(Check(UNION_K, [], None, promised_k(release.run), True, None))


def _refuse_unknown(release: Release, others: Sequence[Entry]) -> None:
    """Refuse a release whose persons cannot be known again, where others of the same people are out."""
    if not others:
        return
    told = "no secret lasts by which persons are known again, so that nothing could be measured"
    named = ", ".join(f"release {one.release} ({one.target})" for one in others)
    _settle(release, [_Finding(_check(UNION_K, [], None, promised_k(release.run)), told)], named)


def _night(entry: Entry) -> tuple[str, int] | None:
    return (entry.series, entry.epoch or 1) if entry.series is not None else None


def _nights_as_one(out: Sequence[Entry], entries: Sequence[Entry], own: tuple[str, int] | None) -> list[Entry]:
    """Return entries, of each epoch of a series its last night only, and none of the epoch that goes on.

    What the nights of an epoch tell together is held by the theorem of `history/seats.py` and by the audits of the
    series. The classes that their persons were in are remembered with the last one.
    """
    last = {night: one for one in entries if (night := _night(one))}
    last = {night: one for night, one in last.items() if night != own}
    found = [last.get(night) if (night := _night(one)) else one for one in out]
    return list({one.release: one for one in found if one}.values())


def note_noise(warehouse: Database, release: Release) -> None:
    """Note releases of the same people by the same method whose random numbers come from another secret.

    One secret gives the same value of the same person the same noise in every release. Noise of two averages out.
    """
    run, releases = release.run, release.target.record_table(warehouse, "releases")
    if run.repeat.key.fingerprint is None or not any(find(step.method).draws for step in run.log.steps):
        return
    others = {
        one.release: one.target for one in ledger.entries(warehouse, releases)
        if (one.people, one.method) == (run.source.people, release.report.method)
        and one.state in ("out", "replaced")
    }  # fmt: skip
    if not others:
        return
    drawn = dict(warehouse.query("ledger", "SELECT id, key_fingerprint FROM {{ r | ident }}", r=releases))
    anew = [f"release {one} ({target})" for one, target in others.items() if drawn[one] != run.repeat.key.fingerprint]
    if anew:
        run.log.notes.append(OfJob(
            f"warning: the random numbers of {', '.join(anew)} were drawn by another secret: what was added to the "
            "same values can be averaged out. Publish all by one secret, or withdraw the others"
        ))  # fmt: skip


def _changed(book: Book, entries: Sequence[Entry]) -> str:
    """Return what somebody has changed in the ledger, if anybody has: what it says is then worth nothing."""
    broken = [str(one.release) for one in entries if not one.intact and one.state != "withdrawn"]
    memory = book.table("memory")
    if find_relation(book.warehouse, memory):
        rows = book.warehouse.query("ledger", "SELECT DISTINCT release FROM {{ m | ident }}", m=memory)
        broken += sorted(str(release) for (release,) in rows if release not in {one.release for one in entries})
    if not broken:
        return ""
    return f"the ledger was changed or entries removed, at release {', '.join(broken)}: nothing could be measured"


@dataclass(frozen=True)
class _Finding:
    """A check of several releases, and what it found in words; nothing where there is nothing to say."""

    check: Check
    told: str


def _hold(book: Book, release: Release, others: Sequence[Entry], k: int | None, l: int | None) -> None:  # noqa: E741
    """Measure a release together with others, and hold it to a k and an l where these are needed."""
    if not others:
        return
    numbers = [one.release for one in others]
    named = ", ".join(f"release {one.release} ({one.target})" for one in others)
    forgotten = [str(one.release) for one in union.forgotten(book.warehouse, book.table("releases"), others)]
    if forgotten:
        told = f"the classes of release {', '.join(forgotten)} are not remembered, so that nothing could be measured"
        _settle(release, [_Finding(_check(UNION_K, [], None, k), told)], named)
        return
    assert book.told is not None
    members = select("history/members.sql", classes=book.told.classes, memory=book.table("memory"), releases=numbers)
    shared = _shared(book, release.run, others, members, k)
    found = [_differences(book, release.run, others, k), shared] if shared.check.value is not None else [shared]
    remembered = book.table("class_values")
    if book.told.values is not None and find_relation(book.warehouse, remembered):
        values = select(
            "history/values_of_members.sql", class_values=book.told.values, remembered=remembered,
            releases=numbers,
        )  # fmt: skip
        found += _left(book, members, values, l)
    _settle(release, found, named)


def _settle(release: Release, found: Sequence[_Finding], named: str) -> None:
    """Note what was found with the audits of a release; what fails publishes nothing, unless it is to stand alone.

    Raises
    ------
    AuditFailed
        With what failed and the ways out.
    """
    alone = release.past.alone_because
    for one in found:
        release.run.log.notes += [f"together with {named}: {one.told}"] if one.told else []
        over = alone and one.check.passed is False
        release.audits[None].checks.append(replace(one.check, passed=None) if over else one.check)
    failed = [one.told for one in found if one.check.passed is False]
    if failed and not alone:
        must = "a release must keep its guarantees together with all that are out"
        raise AuditFailed("ledger", must, f"{'; '.join(failed)}, together with {named}", _WAYS)


def _shared(book: Book, run: Run, others: Sequence[Entry], members: Select, needed: int | None) -> _Finding:
    """Return how many persons share their classes in all releases."""
    k = needed or promised_k(run)
    found = union.shared(book.warehouse, members, k)
    unknown = _unknown(book, run, others, found)
    told = f"{found.below:,} of {found.persons:,} persons share their classes with fewer than {k}"
    return _Finding(_check(UNION_K, [], None if unknown else found.fewest, needed), unknown or told * bool(found.below))


def _differences(book: Book, run: Run, others: Sequence[Entry], needed: int | None) -> _Finding:
    """Return how few persons the differences of totals are about, of this release and any other."""
    assert book.told is not None
    k, memory = needed or promised_k(run), book.table("memory")
    made = [
        differences.measured(
            book.warehouse,
            select("history/members.sql", classes=book.told.classes, memory=memory, releases=[one.release]), k,
        )
        for one in others
    ]  # fmt: skip
    worst = max(made, key=lambda one: one.persons)
    told = f"differences of totals about fewer than {k} persons: {worst.isolating:,}, on {worst.persons:,} of them"
    fewest = min(one.fewest for one in made)
    return _Finding(_check(DIFFERENCES, [], fewest, needed), told * bool(worst.persons))


def _left(book: Book, members: Select, values: Select, needed: int | None) -> list[_Finding]:
    """Return how many values of each sensitive column a person may have after all releases."""
    findings = []
    for one in union.left(book.warehouse, members, values, needed or 2):
        told = f"{one.below:,} of {one.persons:,} persons have fewer than {needed or 2} values of {one.sensitive} left"
        findings.append(_Finding(_check(UNION_L, [one.sensitive], one.fewest, needed), told * bool(one.below)))
    return findings


def _check(name: str, columns: list[str], value: int | None, needed: int | None) -> Check:
    """Return a check; what could not be measured was not kept."""
    passed = None if not needed else value is not None and value >= needed
    return Check(name, columns, value, needed or None, True, passed)


def counted(release: Release) -> Staged | None:
    """Return the classes that count: over all that an attacker may know, if these are as large as was promised."""
    classes, first = release.outputs[-1].told, release.audits[None].checks[0]
    if not classes:
        return None
    return classes[0] if (first.value or 0) >= promised_k(release.run) else classes[-1]


def _unknown(book: Book, run: Run, others: Sequence[Entry], found: Union) -> str:
    """Return why persons cannot be known again, if they cannot: what could not be measured was not kept."""
    unit, named = ledger.unit(run), bool(run.roles.person or run.roles.row_key)
    if any(one.unit != unit for one in others):
        return "persons are known by other columns there: nothing could be measured; name one --row-key for both"
    if not named and 2 * found.known < found.of_release:
        return "most records have changed, so that nothing could be measured; name a --row-key"
    remembered, contents = book.table("contents"), book.told.contents if book.told else None
    if contents is None or find_relation(book.warehouse, remembered) is None:
        return ""
    if union.is_given_anew(book.warehouse, contents, remembered, [one.release for one in others]):
        key = unit.removeprefix("row key: ")
        return f"records have another {key} than before, so that nothing could be measured; name a --row-key that stays"
    return ""


def kept(book: Book | None, release: Release) -> Kept | None:
    """Return what the entry of a release says of where it is, and of the classes that are remembered."""
    if book is None:
        return None
    told = _told(book, release)
    return Kept(book.place, union.digest(book.warehouse, told) if told[0] else None)


def _told(book: Book, release: Release) -> list[Name | Select | None]:
    """Return what is remembered of a release, as the tables of `union.REMEMBERED`."""
    told = book.told
    return [_members(book, release), told.values if told else None, told.contents if told else None]


def _members(book: Book, release: Release) -> Name | Select | None:
    """Return the classes of persons that are remembered of a release; None where it promises no k of records."""
    if book.told is None:
        return None
    before, memory = release.series and release.series.before, book.table("memory")
    # Who has one record, and does not move, is in the class that she was ever in.
    series = release.series
    moves = series is not None and (
        series.rules.moves or bool(release.run.roles.of_night) or not series.binds_kept  # or somebody overwrites a row
    )
    if not before or not moves or find_relation(book.warehouse, memory) is None:
        return book.told.classes
    classes, last = book.told.classes, before.night.release
    return select("history/members_of_series.sql", classes=classes, memory=memory, last=last)


def remember(book: Book | None, release: Release) -> None:
    """Keep the classes of a release, by keyed hashes of the persons, for those that come after it."""
    if book is None:
        return
    continuing.store(book, release)
    definitions = (ledger.MEMORY, ledger.CLASS_VALUES, ledger.CONTENTS)
    kept = zip(union.REMEMBERED.items(), definitions, _told(book, release), strict=True)
    for (name, columns), definition, relation in kept:
        if relation is None:
            continue
        table = book.table(name)
        book.warehouse.query("record", book.target.record_definition(definition), name=table)
        book.warehouse.insert(
            "record",
            "INSERT INTO {{ table | ident }} SELECT $1, {{ columns | idents }} FROM {{ relation | ident }}",
            [release.report.release],
            table=table,
            columns=columns,
            relation=relation,
        )
        if release.series and release.series.before:
            last, tonight = release.series.before.night.release, int(release.report.release or 0)
            # A file is put in place later, and may be taken back until then.
            _forget_nights(book, table, release.series, last if book.target.kind == "file" else tonight)


def _forget_nights(book: Book, table: Name, series: Series, until: int) -> None:
    """Forget the classes of earlier nights: those of tonight stand for all of the epoch."""
    book.warehouse.insert(
        "record",
        "DELETE FROM {{ t | ident }} WHERE release < $1 AND release IN ("
        "SELECT id FROM {{ r | ident }} WHERE series = $2 AND epoch = $3)",
        [until, series.name, series.epoch], t=table, r=book.table("releases"),
    )  # fmt: skip
