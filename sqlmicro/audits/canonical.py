"""Canonical bytes: the relation that every k is counted from.

`GROUP BY` merges values that stay distinct in the output: Bob and BOB under a collation, 1 month and 30 days, 0.0 and
-0.0. Here every value becomes what tells it apart, by the type of its column.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, Literal, get_args

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name, Select, select

Form = Literal["plain", "as_bits", "as_nested_bits", "as_bytes", "as_both"]
"""How a column is compared: as it is; by the bits of a floating-point number, or of those within; by the bytes of its
text; by value and text both."""


def has_no_plain_bytes(column: Column) -> bool:
    """Tell whether equal values of a type may be written differently, such as 1 month and 30 days."""
    return column.family == "other" and column.type not in ("UUID", "BLOB")


def is_ambiguous(column: Column) -> bool:
    """Tell whether a type holds the number 1 and the text 1, which are written alike: their kind tells them apart."""
    return "UNION(" in column.type or column.type.startswith("VARIANT")


def form(column: Column) -> Form:
    """Return how a column is compared.

    >>> [form(Column("x", kind, "x")) for kind in ("INTEGER", "DOUBLE", "DOUBLE[]", "INTERVAL", "UNION(a DOUBLE)")]
    ['plain', 'as_bits', 'as_nested_bits', 'as_bytes', 'as_both']
    """
    if column.collated:
        return "as_bytes"
    if column.family == "float":
        return "as_bits"
    if is_ambiguous(column):
        return "as_both"
    if column.bits:
        return "as_nested_bits"
    return "as_bytes" if has_no_plain_bytes(column) else "plain"


def forms(columns: Sequence[Column], form_of: Callable[[Column], Form] = form) -> Mapping[str, Any]:
    """Return the columns by how they are compared, as audit/records.sql takes them."""
    return {kind: [column for column in columns if form_of(column) == kind] for kind in get_args(Form)}


def records(
    relation: Name, columns: Sequence[Column], person: Sequence[Column] = (), told_apart: Container[str] = ()
) -> Select:
    """Return the SELECT of the canonical bytes of a relation, to be read by another one.

    What says whose record it is, stays as it is: more persons would look safer. So do the floating-point columns in
    `told_apart`, which have neither -0.0 nor NaN.
    """
    found = {**forms(columns, lambda column: "plain" if column.name in told_apart else form(column))}
    found["plain"] = [*found["plain"], *(column for column in person if column not in columns)]
    return select("audit/records.sql", relation=relation, complete=[], **found)
