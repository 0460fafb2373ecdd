"""l-diversity: how many values of a sensitive column the members of a class may have.

t-closeness, (alpha, k)-anonymity, beta-likeness: what a class tells beyond what the whole table tells.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import Detail, Found, audit_of, measured, reference, shares, worst
from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.guarantees.hierarchies import Tree, refuse_lacking, trees
from sqlmicro.guarantees.limits import Alpha, Beta, Distinct, Entropy, Recursive, TCloseness
from sqlmicro.system.reporting import INLINE


@dataclass(frozen=True)
class WithC(Detail):
    """The c of (c, l)-diversity."""

    classes: Detail | None = field(metadata=INLINE)
    c: float


@audit_of(Distinct)
def distinct(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """How many distinct values of a sensitive column the least diverse class has.

    Returns
    -------
    list of Found
        One per sensitive column: the smallest number of values, classes and records below the gate. With --person it is
        that over the records of a class, and never above its number of persons: nobody is diverse alone.

    Notes
    -----
    A missing sensitive value counts as a value, unless records with one are left out. One GROUP BY over the
    quasi-identifiers and the column, one over its result.
    """
    return measured(Distinct.declared, audited, limit)


@audit_of(Entropy)
def entropy(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """The entropy of a sensitive column in its most uniform class, as a number of equally frequent values.

    Returns
    -------
    list of Found
        One per sensitive column: the smallest exp(H), where H = -sum p log p over the shares p of the values in a
        class. The release is entropy l-diverse for every l up to that.

    Notes
    -----
    O(n), as distinct l-diversity.
    """
    return measured(Entropy.declared, audited, limit)


@audit_of(Recursive)
def recursive(audited: AuditedRelease, limit: float | None, *, c: float) -> list[Found]:
    """The largest l for which every class is recursively (c, l)-diverse.

    Returns
    -------
    list of Found
        One per sensitive column: the smallest l of a class, where r1 >= ... >= rm are the frequencies of the values
        and l is the largest with r1 < c (rl + ... + rm); 0 if it holds for none.

    Notes
    -----
    A window over the values of every class: O(d log d) for d pairs of class and value that occur.
    """
    found = measured(Recursive.declared, audited, limit, c=c)
    return [replace(one, detail=WithC(one.detail, c)) for one in found]


_WHERE = "audit, --hierarchical"


@dataclass(frozen=True)
class Closeness(Detail):
    """How far apart two values of the sensitive column were taken to be."""

    classes: Detail | None = field(metadata=INLINE)
    distance: Literal["ordered", "equal", "hierarchical"]
    input: bool
    """Whether it is compared with the input, else with the whole release."""


@audit_of(
    TCloseness,
    "audit/reference_shares.sql",
    "audit/shares.sql",
    "audit/closeness_nominal.sql",
    "audit/closeness_numeric.sql",
    "audit/closeness_hierarchical.sql",
)
def t_closeness(audited: AuditedRelease, limit: float | None, *, hierarchical: tuple[str, ...]) -> list[Found]:
    """How far the distribution of a sensitive column in a class is from that in the whole table, at most.

    Returns
    -------
    list of Found
        One per sensitive column: the largest Earth Mover's Distance of a class, from 0 to 1, with `distance`: "equal"
        for a nominal column, where any two values are 1 apart, "ordered" for a numeric one, where the values of rank i
        and j of m distinct ones are |i - j|/(m - 1) apart; "hierarchical" for one with a hierarchy of H levels, where
        two values are the level of their lowest common class / H apart, and a missing one 1 from all others.

    Notes
    -----
    The table is the original where one is given that has the column in the same type, else the release itself. A
    missing value counts as a value, in a numeric column as the largest. O(d log d) for d pairs of class and value
    that occur: values that a class does not have are not enumerated.
    """
    numeric, _ = audited.split(audited.sensitive)
    named = [replace(column, name=audited.names.get(column.name, column.name)) for column in audited.sensitive]
    in_trees = {column.staged: tree for column, tree in trees(named, hierarchical, _WHERE).items()}
    found = []
    for column in audited.sensitive:
        of, of_input = shares(audited, column), audited.original_values(column) is not None
        if column.staged in in_trees:
            template = "audit/closeness_hierarchical.sql"
            tree, other = _loaded(audited, column, in_trees[column.staged]), reference(audited, column)
            by_class = worst(
                audited, template, limit, columns=[column], shares=of, reference=other, tree=tree, value=column
            )
            found.append(replace(by_class, detail=Closeness(by_class.detail, "hierarchical", of_input)))
        elif column in numeric:
            template = "audit/closeness_numeric.sql"
            other = reference(audited, column)
            ordered = worst(audited, template, limit, columns=[column], shares=of, reference=other, value=column)
            found.append(replace(ordered, detail=Closeness(ordered.detail, "ordered", of_input)))
        else:
            equal = worst(audited, "audit/closeness_nominal.sql", limit, columns=[column], shares=of)
            found.append(replace(equal, detail=Closeness(equal.detail, "equal", of_input)))
    return found


def _loaded(audited: AuditedRelease, column: Column, tree: Tree) -> Name:
    """Load the tree of a column: value, level, place of its class there; refuse values that it lacks."""
    import pyarrow as pa

    rows = [(value, level, place) for value, places in tree.items() for level, place in enumerate(places)]
    values, levels, places = zip(*rows, strict=True)
    table = pa.table({"value": pa.array(values, pa.string()), "level": levels, "place": places})
    name = audited.names.get(column.name, column.name)
    loaded = audited.load(table, f"tree_{audited.sensitive.index(column) + 1}", f"filled with the hierarchy of {name}")
    lacking, total = audited.warehouse.query(
        "hierarchy",
        "SELECT count(*) FILTER (WHERE NOT found), count(*) FROM (SELECT {{ value | ident }} IS NULL OR "
        "CAST({{ value | ident }} AS VARCHAR) IN (SELECT t.value FROM {{ tree | ident }} AS t "
        "WHERE t.value IS NOT NULL) AS found FROM {{ reference | ident }})",
        reference=reference(audited, column), tree=loaded, value=column,
    )[0]  # fmt: skip
    refuse_lacking(name, lacking, total, _WHERE)
    return loaded


@audit_of(Alpha)
def alpha_k(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """The largest share that one sensitive value has of a class.

    Returns
    -------
    list of Found
        One per sensitive column: alpha, from 0 to 1; the k of (alpha, k) is that of k-anonymity.

    Notes
    -----
    Every value is taken for sensitive. 1 is a class that is alike in the column (homogeneity).
    """
    return measured(Alpha.declared, audited, limit)


@audit_of(Beta)
def beta_likeness(audited: AuditedRelease, limit: float | None) -> list[Found]:
    """By how much a sensitive value is more frequent in a class than in the whole table, relative to it, at most.

    Returns
    -------
    list of Found
        One per sensitive column: the largest (q - p)/p of a share q in a class and p in the table; 0 and more.

    Notes
    -----
    Basic beta-likeness: positive gain only.
    """
    return measured(Beta.declared, audited, limit)
