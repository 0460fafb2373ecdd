"""From the options of `sqlmicro audit` to the subject of its audits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlmicro.audits.registry import gates, settings
from sqlmicro.audits.subject import ARITHMETIC, Subject, Table, is_ambiguous
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.files import file_format
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Warehouse
from sqlmicro.errors import ParameterError
from sqlmicro.options import common
from sqlmicro.options.params import Parameter


def audit_options() -> tuple[Parameter, ...]:
    """Return the options of `sqlmicro audit` and of an audit step: inputs, gates, and settings of the audits."""
    return (*common.AUDIT, *gates(), *settings())


def thresholds(values: Mapping[str, Any]) -> dict[str, float]:
    """Return the gates that were given."""
    return {gate.name: values[gate.name] for gate in gates() if values.get(gate.name) is not None}


def table(source: Source) -> Table:
    """Return a source as a table of a subject."""
    is_text = source.is_file and file_format(source.label) in ("csv", "json")
    return Table(source.relation, source.columns, is_text)


def subject(warehouse: Warehouse, values: Mapping[str, Any]) -> Subject:
    """Return the subject that the options name.

    Raises
    ------
    ParameterError
        For a column that the release does not have, or that has two roles.
    InputError
        For a table that cannot be found or read.
    """
    reader = common.reader_options(dict(values))
    release = table(warehouse.source(values["table"], reader))
    others: dict[str, Any] = {}
    for name in ("original", "population"):
        if values[name]:
            theirs = reader if file_format(values[name]) == "csv" else {}
            others[name] = table(warehouse.source(values[name], theirs, name=f"{name}_source"))
    return Subject(warehouse, release, **roles(release.columns, values, "audit, --"), **others)


def roles(columns: Sequence[Column], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the columns of every role and how they are read, as a subject takes them."""
    found = {name: tuple(pick(columns, values[name] or (), where + name)) for name in ("quasi", "sensitive", "match")}
    both = [column.name for column in found["quasi"] if column in found["sensitive"]]
    if both:
        raise ParameterError(
            f"{where}sensitive", "a column is either a quasi-identifier or sensitive", f"both for {', '.join(both)}"
        )
    unclear = [f"{column.name} ({column.type})" for column in found["quasi"] if is_ambiguous(column)]
    if unclear:
        raise ParameterError(
            f"{where}quasi", "values of different types that are written alike cannot be told apart", ", ".join(unclear)
        )
    single = {
        name: pick(columns, [values[name]] if values[name] else [], where + name) for name in ("weight", "entity")
    }
    scales = {
        name: tuple(column.name for column in pick(columns, values[name], where + name))
        for name in ("numeric", "nominal")
    }
    wrong = [column.name for column in single["weight"] if column.family not in ARITHMETIC]
    if wrong:
        raise ParameterError(f"{where}weight", "must be a column of numbers", wrong[0])
    return {
        **found,
        **{name: one[0] if one else None for name, one in single.items()},
        **scales,
        "nulls": values["nulls"],
    }
