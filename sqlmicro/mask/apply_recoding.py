"""A published recoding applied to other rows: what it does not know, or too few would share, is withheld."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.guarantees import read as guarantees
from sqlmicro.guarantees.rules import Rules
from sqlmicro.guarantees.tally import Tally
from sqlmicro.mask import applied, decided, recoding_file
from sqlmicro.mask import population as everybody
from sqlmicro.mask.recoding_file import Promised, Recoding
from sqlmicro.options.params import K, Param
from sqlmicro.registry import Assurance, method
from sqlmicro.work import Rows

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

_SAME_TYPE = ("float", "decimal", "other")
"""Families whose values are written in another way in another type."""


def _codes_tails(found: Recoding) -> bool:
    return found.method in ("top-code", "bottom-code")


def _assures(settings: Mapping[str, Any], where: str) -> Assurance:
    """Return what is promised: k of a record, but for a recoding of tails, which makes no classes."""
    found = recoding_file.read(settings["recoding"], f"{where}, recoding")
    return Assurance("masked" if _codes_tails(found) else "record")


@method(
    "apply-recoding",
    stage="mask",
    engine="sql",
    promise="masked",
    assures=_assures,
    keeps_guarantees=True,
    by_value=True,
    source="Hundepool et al. (2012), global recoding; LeFevre, DeWitt & Ramakrishnan (2006)",
    templates=applied.TEMPLATES,
)
def apply_recoding(
    work: Work,
    *,
    recoding: Annotated[str, Param("JSON file that --recoding-to wrote.", metavar="FILE")],
    k: K = 5,
    hierarchy: Annotated[
        tuple[str, ...], Param("The hierarchy file that the recoding was made with.", metavar="A=FILE")
    ] = (),
    withhold: Annotated[
        bool, Param("Leave out rows with values that are not known or in a class of fewer than k, and say how many.")
    ] = False,
) -> Outcome:
    """Recode other rows as a release was recoded: by the levels, boxes or tails that --recoding-to wrote.

    Returns
    -------
    Outcome
        New values of the columns; the promise is that of a record, but for top and bottom coding.

    Raises
    ------
    ParameterError
        When columns, strata, guarantees or k are not those of the recoding.
    InputError
        When the file is none, was changed so that it makes no sense, or a hierarchy is another one. When rows are not
        known or too few share a class, unless they are to be withheld.

    Notes
    -----
    A value outside a hierarchy, a number outside all boxes of Mondrian, a stratum without a tail: none is guessed, the
    row is not known. What is known gets exactly the values that the run gave it which wrote the file. Then every class
    must have k records, or persons, and keep the guarantees that the recoding was made with; of a tail k records.

    The file is read as what somebody else may have written: other keys, types that do not fit, bounds that cross, boxes
    that share a record are refused. One pass; a join with the boxes takes O(n · boxes) time in the worst case.
    """
    where = f"{work.where}, recoding"
    found = recoding_file.read(recoding, where)
    _refuse_unlike(work, found, k, where)
    if _codes_tails(found):
        if work.demand.more_than_k:
            raise ParameterError(work.where, "guarantees are about classes", "a recoding of tails, which makes none")
        kept, unknown = applied.tails(work, found, k)
    else:
        known = applied.known(work, found, hierarchy)
        unknown = work.warehouse.count(work.relation) - work.warehouse.count(known)
        kept = _kept(work, known, k)
    _withhold(work, kept, unknown, k, withhold=withhold)
    return work.outcome


def _refuse_unlike(work: Work, found: Recoding, k: int, where: str) -> None:
    """Refuse a step that is about other columns than the recoding, or asks for less than that promised."""
    for option, own, theirs in (("columns", work.columns, found.columns), ("by", everybody.strata(work), found.by)):
        types = {column.name: column.type for column in theirs}
        if set(types) != {column.name for column in own}:
            raise ParameterError(
                where, f"--{option} are those of the recoding: {', '.join(types) or 'none'}",
                ", ".join(column.name for column in own) or "none", f"Name them with --{option}",
            )  # fmt: skip
        unlike = [c.name for c in own if not _alike(c.type, types[c.name])]
        if unlike:
            must, got = "columns have the types that they had", "others for " + ", ".join(unlike)
            raise InputError(where, must, got, "Cast them in a view, or read the file with the same types")
    if found.k is not None and k < found.k:
        raise ParameterError(f"{work.where}, k", f"must be at least that of the recoding, {found.k}", str(k),
                             f"Give --k {found.k}")  # fmt: skip
    if found.promised.limits and found.promised != Promised.of(work.demand.options):
        limits = " ".join(f"--{name.replace('_', '-')} {limit:g}" for name, limit in found.promised.limits.items())
        do = f"Give --sensitive {','.join(found.promised.sensitive)} {limits}"
        raise ParameterError(where, "classes keep what the recoding was made with", "another guarantee", do)


def _alike(mine: str, theirs: str) -> bool:
    family = recoding_file.family_of(mine)
    return family == recoding_file.family_of(theirs) and (family not in _SAME_TYPE or mine == theirs)


def _kept(work: Work, known: Name, k: int) -> Name:
    """Return the records in classes that have k of them, and keep what else is asked."""
    taken = [(column, "v" if column in work.outcome.values else "r") for column in work.columns]
    strata = [(column, "r") for column in everybody.strata(work)]
    classes = work.run(
        "mask/recoded_classes.sql", "classes", relation=work.relation, values=known, columns=[*taken, *strata]
    )
    rules = guarantees.with_households(work, guarantees.rules(work, k).asked)
    if rules.only_k:
        return work.run("mask/large_classes.sql", "kept", classes=classes, k=k)
    return _kept_of(work, classes, rules)


def _kept_of(work: Work, classes: Name, rules: Rules) -> Name:
    """Return the records in classes that keep some rules; who is not known is in none."""
    import numpy as np
    import pyarrow as pa

    found = work.warehouse.arrays("mask/class_of_records.sql", relation=work.relation, classes=classes)
    labels = np.unique(found["label"], return_inverse=True)[1]
    tally = Tally.of(rules, labels, int(labels.max()) + 1)
    kept = (tally.enough() & tally.kept())[labels] & (found["label"] > 0)
    return work.load(
        pa.table({"row_id": found["row_id"][kept]}), "kept", "filled with the records of classes that keep all"
    )


def _withhold(work: Work, kept: Name, unknown: int, k: int, *, withhold: bool) -> None:
    """Leave out the records that are not kept, or refuse."""
    rows, left = work.warehouse.count(work.relation), work.warehouse.count(kept)
    few = rows - left - unknown
    if rows == left:
        return
    told = [f"{unknown:,} with values that the recoding does not know"] if unknown else []
    told += [f"{few:,} in a class that has fewer than {k} or does not keep what is asked"] if few else []
    if not withhold:
        raise InputError(
            work.where, "every row must be known to the recoding and in a class that is large enough",
            f"of {rows:,} rows {' and '.join(told)}", "Add --withhold to leave them out, or make a new recoding",
        )  # fmt: skip
    decided.refuse_nothing(work, left)
    work.outcome.rows = Rows(kept)
    work.note(f"{rows - left:,} of {rows:,} rows withheld: {', '.join(told)}")
