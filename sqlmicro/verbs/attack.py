"""`sqlmicro attack`: its options, which attacks can be made, and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.attacks import registry
from sqlmicro.attacks.key_replay import leaves
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.pair import MOST_TRIED, Pair, pair
from sqlmicro.attacks.registry import Attack, Measured, NothingToAttack, attacks, find
from sqlmicro.audits import promised
from sqlmicro.audits.verdict import Attacked, Verdict
from sqlmicro.database import attach
from sqlmicro.database.columns import pick
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.files import file_format
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source, find_source
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.common import NO_OPTIONS, AttachOption, DbOption, MachineOptions, ReaderOptions
from sqlmicro.options.params import Param, Registered, settle
from sqlmicro.publish.recording import records_in, release_of
from sqlmicro.registry import PROMISES
from sqlmicro.system.progress import Progress


@dataclass(frozen=True, kw_only=True)
class AttackOptions(DbOption, AttachOption, MachineOptions, ReaderOptions):
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
    columns: Annotated[
        tuple[str, ...], Param("What the attacker knows. Default: the columns both tables have.", metavar="A,B")
    ] = ()
    sensitive: Annotated[
        tuple[str, ...], Param("Sensitive columns of the release, which the attacker wants.", metavar="A,B")
    ] = ()
    nominal: Annotated[tuple[str, ...], Param("Numbers that only are equal or not.", metavar="A,B")] = ()
    attack: Annotated[
        tuple[str, ...], Param("Make this attack only; repeatable. Default: all that can be made.", metavar="NAME")
    ] = ()
    sample: Annotated[
        int | None, Param(f"Records of the original to try. Default: all, up to {MOST_TRIED:,}.", min=1)
    ] = None
    manifest: Annotated[
        str | None, Param("JSON file published with the release, to replay keys from.", metavar="FILE")
    ] = None
    settings: Annotated[Mapping[str, object], Registered(registry.settings)] = field(default_factory=dict)


def attack_values(options: AttackOptions, progress: Progress) -> dict[str, Any]:
    """Attack a release with its original in hand, and measure how far each attack gets.

    Every rate comes with its interval at 95 % and with what chance alone would give. Without --match nobody can tell
    whether an attacker is right: then the true record is assumed to be among those that an attack ends with.
    """
    wanted = find(options.attack)
    if not options.release:
        raise ParameterError("attack, --release", "a release is needed", "none")
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        attach.attach(warehouse, options.attach)
        original = _find(warehouse, options, "original", options.original)
        found = [_find(warehouse, options, f"release_{number}", name) for number, name in enumerate(options.release, 1)]
        warehouse.seal()
        sensitive = pick(found[0].columns, options.sensitive, "attack, --sensitive")
        pairs = [
            pair(
                warehouse, original, one, but=[c.name for c in sensitive], columns=options.columns,
                match=options.match, nominal=options.nominal, sample=options.sample,
            )
            for one in found
        ]  # fmt: skip
        both = [column.name for column in sensitive if column in (*pairs[0].columns, *pairs[0].match)]
        if both:
            raise ParameterError("attack, --sensitive", "is what the attacker does not know", f"known: {both[0]}")
        record = _recorded(warehouse, found[0])
        manifest = _manifest(options.manifest)
        plan = _parameters(manifest) or _parameters(record)
        knowledge = Knowledge(pairs, sensitive, [*leaves(record), *leaves(manifest)], plan, options.settings)
        made = [(one, _rows(one, knowledge, asked=bool(wanted))) for one in wanted or attacks().values()]
        verdict = promised.measured(
            found[0].columns, record, promised.counter(warehouse, found[0].relation),
            apart={column.name: "sensitive" for column in sensitive},
        )  # fmt: skip
        return _report(knowledge, record, options, made, verdict)


def _find(warehouse: DuckDBWarehouse, options: AttackOptions, name: str, table: str) -> Source:
    reader = options if file_format(table) == "csv" else NO_OPTIONS
    return find_source(warehouse, table, reader, name=f"{name}_source")


def _manifest(path: str | None) -> Any:
    """Return what a published manifest says."""
    if path is None:
        return None
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError("attack, --manifest", "must be a JSON file", repr(path)) from None


def _recorded(warehouse: DuckDBWarehouse, release: Source) -> dict[str, Any]:
    """Return the row of sqlmicro.releases of a release, its JSON read; nothing where it was not recorded."""
    # The record is written by layers above this one.

    number = release_of(warehouse, release.label, release.relation)
    if number is None:
        return {}
    (row,) = warehouse.query(
        "record",
        "SELECT to_json(r) FROM {{ name | ident }} AS r WHERE id = $1",
        [number],
        name=records_in(warehouse, "releases"),
    )
    record: dict[str, Any] = json.loads(row[0])
    return record


def strongest(report: Mapping[str, Any]) -> list[Attacked]:
    """Return the attacks of a report that a verdict counts: those that somebody outside can make."""
    assumed = report["truth"] == "assumed"
    return [
        Attacked(row["name"], row["rate"], row["ci"][0], row["chance"], row["n"], assumed)
        for row in report["attacks"] if attacks()[row["name"]].outsider
    ]  # fmt: skip


def _parameters(published: Any) -> dict[str, Any]:
    """Return what a published record says of the plan of a run; nothing where it does not."""
    parameters = published.get("parameters") if isinstance(published, dict) else None
    if not isinstance(parameters, dict) or not parameters.get("steps"):
        return {}
    return {**parameters, "versions": published.get("versions")}


def promise_of(record: Mapping[str, Any]) -> str | None:
    """Return what the recorded release promises, the least of its steps first; None where nothing is recorded."""
    if not record:
        return None
    made = [step["promise"] for step in record["parameters"]["steps"]]
    order = ("column", "moments", "masked", "block", "record")
    return min(made, key=order.index) if made else None


def _rows(made: Attack, knowledge: Knowledge, *, asked: bool) -> list[dict[str, Any]] | str:
    """Make an attack and return a row for what it measured, or why it was not tried where it was not asked for."""
    lacking = knowledge.lacks(made)
    if lacking:
        if not asked:
            return f"needs {' and '.join(lacking)}"
        raise ParameterError(f"attack, {made.name}", f"needs {' and '.join(lacking)}", "none")
    given = knowledge.settings
    own = {parameter.name: given[parameter.name] for parameter in made.parameters if parameter.name in given}
    try:
        found = made.function(knowledge, **settle(made.parameters, own, made.name))
    except NothingToAttack as error:
        if asked:
            raise
        return f"{error.where.removeprefix('attack, ')} {error.must}"
    return [_row(made, one) for one in (found if isinstance(found, list) else [found])]


def _row(made: Attack, found: Measured) -> dict[str, Any]:
    return {
        "name": made.name, "rate": found.rate, "ci": list(found.ci), "chance": found.chance, "n": found.n,
        **found.detail, "source": made.source,
    }  # fmt: skip


def _report(
    knowledge: Knowledge,
    record: Mapping[str, Any],
    options: AttackOptions,
    made: Sequence[tuple[Attack, list[dict[str, Any]] | str]],
    verdict: Verdict,
) -> dict[str, Any]:
    first: Pair = knowledge.pair
    promise = promise_of(record)
    report = {
        "original": options.original,
        "release": list(options.release),
        "columns": [column.name for column in first.columns],
        "match": [column.name for column in first.match],
        "truth": "match" if first.match else "assumed",
        "tried": len(first.tried),
        "records": list(first.sizes),
        "interval": "Wilson, 95 %",
        "recorded": record.get("id"),
        "promise": promise,
        "k": verdict.k,
        "promises": PROMISES[promise] if promise else None,  # type: ignore[index]
        "notes": first.notes(),
        "attacks": [row for _, rows in made if not isinstance(rows, str) for row in rows],
        "not_tried": [{"name": one.name, "why": why} for one, why in made if isinstance(why, str)],
    }
    verdict = verdict.after(strongest(report))
    return report | {"passed": verdict.passed, "verdict": verdict.told()}
