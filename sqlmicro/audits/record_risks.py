"""The risk of every record as a table: what the audits of classes, households and SUDA measure, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlmicro.attacks.attacked import attacked_release
from sqlmicro.attacks.linkage import hits_of
from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.risk import risks_of_classes, risks_of_households
from sqlmicro.audits.suda import scored_classes
from sqlmicro.database.columns import Column, names_of
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError, ParameterError

NUMBER = "row_number"
"""What the number of a record is called, of a table that has no key."""
MEASURED = {
    "class_size": "BIGINT", "individual_risk": "DOUBLE", "household_risk": "DOUBLE", "suda": "DOUBLE",
    "dis_suda": "DOUBLE", "linked_by": "VARCHAR",
}  # fmt: skip
"""What is told of every record, and its type."""
_RIGHT = 0.5
"""An attack that is right with more than this names the record of its own and no other."""


@dataclass(frozen=True)
class RecordRisks:
    """The staged risks, and the columns that tell which record each is of; none: it is numbered."""

    relation: Name
    key: tuple[Column, ...]


def measure(
    audited: AuditedRelease, key: Sequence[Column], suda_size: int | None, sampling_fraction: float | None
) -> RecordRisks:
    """Stage the risk of every record of the release under audit.

    Raises
    ------
    ParameterError
        When records are left out, or a key column is called like a measure.
    """
    where = "audit, --per-record"
    if not audited.quasi:
        raise ParameterError(where, "needs the quasi-identifiers that the classes are over", "none", "Give --quasi")
    if audited.nulls == "exclude":
        raise ParameterError(where, "every record has a risk", "--nulls exclude", "Use own_value or wildcard")
    taken = [column.name for column in key if column.name.lower() in MEASURED]
    if taken:
        raise InputError(where, f"the key is called otherwise than {', '.join(MEASURED)}", ", ".join(taken))
    own, relation = tuple(replace(c, staged=f"key_{n}") for n, c in enumerate(key, 1)), audited.release.relation
    if not key:
        own = (Column(_free(audited), "BIGINT", "key_1"),)
        relation = audited.stage("audit/keyless.sql", "keyless", relation=relation, number=own[0].name)
    scored, linked = scored_classes(audited, suda_size, sampling_fraction), _linked(audited)
    given = {"household_risk": audited.household, "suda": scored, "dis_suda": scored, "linked_by": linked}
    staged = audited.stage(
        "audit/record_risks.sql", "record_risks", view=False, records=audited.keyed(relation, own),
        key=[(column, column.name if key else NUMBER) for column in own],
        columns=audited.quasi, cells=audited.cells, classes=risks_of_classes(audited),
        scored=[scored] if scored else [], household=audited.household,
        households=[risks_of_households(audited)] if audited.household else [],
        linked=[linked] if linked else [],
        lacking=[(name, MEASURED[name]) for name, found in given.items() if not found],
    )  # fmt: skip
    return RecordRisks(staged, tuple(key))


def _free(audited: AuditedRelease) -> str:
    """Return a name that no column of the release has."""
    taken, name = {column.name.lower() for column in audited.release.columns}, NUMBER
    while name in taken:
        name += "_"
    return name


def _linked(audited: AuditedRelease) -> Name | None:
    """Stage what matches the records that an attack links to their own, and to no other; None without an original."""
    import numpy as np
    import pyarrow as pa

    quasi = [column.name for column in audited.quasi if column.name in audited.theirs]
    if audited.original is None or not audited.match or not quasi:
        return None
    attacked = attacked_release(
        audited.warehouse, replace(audited.original, label="--original"), replace(audited.release, label="--table"),
        columns=quasi, match=names_of(audited.match), nominal=[name for name in quasi if name in audited.nominal],
    )  # fmt: skip
    found = hits_of(attacked)
    right = found.hits > _RIGHT
    table = pa.table({"position": np.asarray(attacked.tried)[right], "attack": found.by[right]})
    positions = audited.load(table, "linked_positions", "filled with what was linked")
    return audited.stage("attack/linked.sql", "linked", view=False, original=attacked.originals, linked=positions)
