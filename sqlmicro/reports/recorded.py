"""What the database recorded of a release: a row of sqlmicro.releases, its audits, and the candidates it won over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sqlmicro.database.catalog import find_relation, find_table
from sqlmicro.database.templates import Name
from sqlmicro.errors import InputError
from sqlmicro.publish.recording import records_in, refuse_other, release_of
from sqlmicro.registry import PROMISES

if TYPE_CHECKING:
    from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse

SCHEMA = "sqlmicro"
_CANDIDATE = "candidate "


def find_release(warehouse: DuckDBWarehouse, text: str) -> dict[str, Any] | None:
    """Return what is recorded of the release that `--release` names: by its number, or the newest of a table or file.

    Raises
    ------
    InputError
        When no release has the number.
    """

    if text.isdecimal():
        row = _row(warehouse, int(text))
        if row is None:
            raise InputError(
                "--release",
                "must be the number of a release in sqlmicro.releases, or a table or file",
                text,
                f"There are: {', '.join(_numbers(warehouse)) or 'none'}",
            )
        return row
    found = find_table(warehouse, text)
    number = release_of(warehouse, text, found[0] if found else Name("", "", text))
    return None if number is None else _row(warehouse, number)


def _there(warehouse: DuckDBWarehouse, table: str) -> bool:

    return find_relation(warehouse, _named(warehouse, table)) is not None


def _named(warehouse: DuckDBWarehouse, table: str) -> Name:

    return records_in(warehouse, table)


def _numbers(warehouse: DuckDBWarehouse) -> list[str]:
    if not _there(warehouse, "releases"):
        return []
    releases = _named(warehouse, "releases")
    rows = warehouse.query("report", "SELECT id FROM {{ r | ident }} ORDER BY id DESC LIMIT 20", r=releases)
    return [str(row[0]) for row in rows]


def _row(warehouse: DuckDBWarehouse, number: int) -> dict[str, Any] | None:

    if not _there(warehouse, "releases"):
        return None
    refuse_other(warehouse, _named(warehouse, "releases"))
    names = (
        "id", "source", "target", "method", "parameters", "promised", "n", "suppressed", "il", "started", "versions",
    )  # fmt: skip
    rows = warehouse.query(
        "report",
        "SELECT {{ names | idents }} FROM {{ r | ident }} WHERE id = $1",
        [number],
        names=names,
        r=_named(warehouse, "releases"),
    )
    if not rows:
        return None
    row = dict(zip(names, rows[0], strict=True))
    row |= {name: json.loads(row[name] or "{}") for name in ("parameters", "promised", "versions")}
    row["audits"] = _audits(warehouse, number)
    row["candidates"] = _candidates(warehouse, number)
    row["siblings"] = _siblings(warehouse, row["source"])
    return row


def _audits(warehouse: DuckDBWarehouse, number: int) -> list[dict[str, Any]]:
    """Return the checks of the release itself, in the order in which they were recorded."""
    rows = warehouse.query(
        "report",
        'SELECT "check", value, threshold, passed FROM {{ r | ident }} WHERE release = $1 ORDER BY rowid',
        [number],
        r=_named(warehouse, "audits"),
    )
    names = ("check", "value", "threshold", "passed")
    return [dict(zip(names, row, strict=True)) for row in rows if not row[0].startswith(_CANDIDATE)]


def _candidates(warehouse: DuckDBWarehouse, number: int) -> list[dict[str, Any]]:
    """Return the candidates of SAFE, the nearest to the original first."""
    if not _there(warehouse, "candidates"):
        return []
    names = ("candidate", "algorithm", "pass", "unification", "distance", "loss", "groups", "dropped", "released")
    rows = warehouse.query(
        "report",
        "SELECT {{ names | idents }} FROM {{ r | ident }} WHERE release = $1 ORDER BY distance, candidate",
        [number],
        names=names,
        r=_named(warehouse, "candidates"),
    )
    return [dict(zip(names, row, strict=True)) for row in rows]


def _siblings(warehouse: DuckDBWarehouse, source: str) -> list[dict[str, Any]]:
    """Return every release of the same source, with its parameters and what it lost in each column."""
    names = ("id", "target", "method", "parameters", "loss_by_column")
    rows = warehouse.query(
        "report",
        "SELECT {{ names | idents }} FROM {{ r | ident }} WHERE source = $1 ORDER BY id",
        [source],
        names=names,
        r=_named(warehouse, "releases"),
    )
    return [dict(zip(names, (*row[:3], *map(json.loads, row[3:])), strict=True)) for row in rows]


def steps_of(recorded: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a release: method, columns, strata, k, what is promised, and the parameters that were set."""

    steps = []
    for given in recorded["parameters"].get("steps", []):
        shown = {"nulls": given["nulls"], **given["settings"], "key_fingerprint": given.get("key_fingerprint")}
        steps.append(
            {
                **{name: given[name] for name in ("method", "columns", "by")},
                "k": shown.pop("k", None),
                "promise": PROMISES[given["promise"]],
                "parameters": {key: value for key, value in shown.items() if value not in (None, [], "", False)},
                "released": given.get("released"),
            }
        )
    return steps


def original_of(recorded: Mapping[str, Any] | None) -> tuple[str | None, str]:
    """Return the original to compare with, and if there is none to be had, why."""
    if recorded is None:
        return None, "nothing is recorded of where the release comes from; name the original with --original"
    if recorded["parameters"].get("target_kind") == "in place":
        return None, "the release took the place of the original, which is gone: there is no before"
    return recorded["source"], ""
