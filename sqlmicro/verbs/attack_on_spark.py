"""`sqlmicro attack --engine spark`: targets are drawn where the records are, and attacked at the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlmicro.attacks.attacked import attacked_release
from sqlmicro.attacks.key_replay import leaves
from sqlmicro.attacks.knowledge import Knowledge
from sqlmicro.attacks.registry import Attack, AttackRow, attacks, find
from sqlmicro.audits.verdict import Promises, class_counter, judge_promises
from sqlmicro.database.columns import pick
from sqlmicro.errors import Need, demand
from sqlmicro.options.common import AttachOption, DbOption, MachineOptions
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.reports.attack_report import AttackReport
from sqlmicro.spark.attacked import beside_control, sampled
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.system.progress import Progress
from sqlmicro.system.sentences import say
from sqlmicro.verbs import attacking
from sqlmicro.verbs.attacking import AttackOptions
from sqlmicro.verbs.on_spark import none_of

_WHOLE = ("difference",)
"""The attacks that are SQL alone, and are made on the whole tables."""
_SAMPLED = ("linkage", "membership", "linkability")
"""The attacks that look at targets and at the combinations of released values."""


def attack_on_spark(options: AttackOptions, progress: Progress) -> AttackReport:
    """Attack a release by targets that are drawn in Spark; see `sqlmicro help spark`.

    Raises
    ------
    ParameterError, InputError
        For what needs all records in one place, and as on one machine.
    """
    wanted = find(options.attack)
    demand(_needs(options, wanted))
    with SparkWarehouse.open(options.master, progress, numbers=False) as warehouse:
        original = warehouse.source(options.original, name="original_source")
        found = [warehouse.source(name, name=f"release_{n}_source") for n, name in enumerate(options.release, 1)]
        sensitive = pick(found[0].columns, options.sensitive, "attack, --sensitive")
        there = [
            attacked_release(
                warehouse, original, one, but=[column.name for column in sensitive], columns=options.columns,
                match=options.match, nominal=options.nominal, sample=options.sample,
            )
            for one in found
        ]  # fmt: skip
        attacking.refuse_known(sensitive, there[0])
        manifest = attacking.read_manifest(options.manifest)
        recipe = attacking.recipe_of(attacking.parameters_in(manifest))
        control = None
        if options.control:
            others = warehouse.source(options.control, name="control_source")
            control = beside_control(warehouse, there[0], others, sensitive, options.sample)
        here = sampled(warehouse, there[0])
        small = Knowledge([here], sensitive, [*leaves(manifest)], recipe, control, options.settings)
        large = replace(small, releases=there)
        made = [(one, _made(one, small, large, asked=bool(wanted))) for one in wanted or attacks().values()]
        apart = {column.name: "sensitive" for column in sensitive}
        verdict = judge_promises(found[0].columns, Promises(), class_counter(warehouse, found[0].relation), apart=apart)
        return attacking.report_of(small, None, options, made, verdict)


def _needs(options: AttackOptions, wanted: Sequence[Attack]) -> Iterator[Need]:
    """Yield what an attack needs to be made on Spark, before this is started: no record is brought together there."""
    yield Need(options.release, "attack, --release", "a release is needed", "none")
    must = "reads Parquet files or tables of Spark's catalog"
    yield none_of(options, (DbOption, AttachOption, MachineOptions, ReaderOptions), must)
    can, do = (*_SAMPLED, *_WHOLE), "Leave it out, or use --engine duckdb; see sqlmicro help spark"
    yield Need(not options.person, "attack, --engine spark", "looks for records on Spark", "--person", do)
    wrong = ", ".join(one.name for one in wanted if one.name not in can)
    yield Need(not wrong, "attack, --engine spark", f"makes {', '.join(can)} on Spark", wrong, do)


def _made(one: Attack, small: Knowledge, large: Knowledge, *, asked: bool) -> list[AttackRow] | str:
    """Make an attack on what it looks at, or say why it is not made."""
    if one.name not in (*_SAMPLED, *_WHOLE):
        return say("needs all records in one place: on DuckDB")
    return attacking.rows_of(one, large if one.name in _WHOLE else small, asked=asked)
