"""How a night is written into what its series remembers, in the transaction that publishes it; how that is erased."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

from sqlmicro.database.catalog import find_relation
from sqlmicro.database.templates import Name, Params, Select
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.history import remembered
from sqlmicro.history.remembered import Night, Sums, Tables
from sqlmicro.history.seat_memory import Memory

_NIGHTS = """CREATE TABLE IF NOT EXISTS {{ name | ident }} (
  series VARCHAR, release BIGINT, source VARCHAR, schema_hash VARCHAR, settings VARCHAR, epoch BIGINT, first BIGINT,
  number BIGINT, night BIGINT, day INTEGER, reach DOUBLE, scales VARCHAR, target VARCHAR,
  recoding VARCHAR, digest VARCHAR)"""


def make(warehouse: Database, table: Tables, define: Callable[[str], str]) -> None:
    """Make the tables that are not there yet; `define` gives a definition the types that their database has."""
    warehouse.query("record", define(_NIGHTS), name=table(remembered.NIGHTS))
    for name, kept in remembered.KEPT.items():
        warehouse.query("record", define(kept.definition), name=table(name))


def store(
    warehouse: Database,
    table: Tables,
    series: str,
    night: Night,
    changed: Mapping[str, Name | Select],
    steps: Name | Select | None,
) -> None:
    """Write, in the open transaction, what a night has changed, and remove what an earlier one made obsolete.

    `changed` has the changed rows of each table, without series and release; `steps` the rows of the combinations that
    have others than in the night before, None where their number promises nothing.
    """
    for name in (
        remembered.TABLES if night.first == night.release else ()
    ):  # what somebody has restored of another ledger
        warehouse.insert("record", _STRAY, [series, night.release], t=table(name))
    before = remembered.last(warehouse, table, series)
    left = _tidied(warehouse, table, series, before) if before else None
    own = [series, night.release]
    for name, relation in changed.items():
        columns = list(remembered.KEPT[name].columns)
        warehouse.insert("record", _ADD, own, t=table(name), columns=columns, r=relation)
    if steps is not None:
        warehouse.insert("record", _ADD_ROWS, own, t=table(remembered.ROWS), r=steps)
    warehouse.insert(
        "record",
        "INSERT INTO {{ t | ident }} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        [*own, night.source, night.schema_hash, night.settings, night.epoch, night.first, night.number, night.night,
         night.day, night.reach, json.dumps([asdict(one) for one in night.scales]), night.target,
         night.recoding, _sealed(warehouse, table, series, night, left)],
        t=table(remembered.NIGHTS),
    )  # fmt: skip


_STRAY = """DELETE FROM {{ t | ident }} WHERE series = $1 AND release >= $2"""
_ADD = """INSERT INTO {{ t | ident }} SELECT $1, $2, {{ columns | idents }} FROM {{ r | ident }}"""
_ADD_ROWS = """INSERT INTO {{ t | ident }} SELECT $1, $2, class, rows, $2 FROM {{ r | ident }}"""
_GIVING = """
RETURNING release >= {{ first | lit }}, hash(release, {{ columns | idents }})"""
_OBSOLETE = """DELETE FROM {{ t | ident }} WHERE series = $1 AND release < $2 AND (release < {{ first | lit }} OR
  ({{ keys | idents }}) IN (SELECT ({{ keys | idents }}) FROM {{ t | ident }} WHERE series = $1 AND release = $2))"""
_FORGOTTEN = """DELETE FROM {{ t | ident }}
WHERE series = $1 AND release <= $2 AND NOT here AND seat = -1 AND founded = -1"""
_UNKNOWN = """DELETE FROM {{ t | ident }} WHERE series = $1 AND release <= $2 AND who IN (
  SELECT who FROM {{ seats | ident }}
  WHERE series = $1 AND release <= $2 AND NOT here AND seat = -1 AND founded = -1)"""
_GONE = """DELETE FROM {{ t | ident }} WHERE series = $1 AND release <= $2 AND class IN (
  SELECT class FROM {{ classes | ident }} WHERE series = $1 AND release <= $2 AND last_number >= 0)"""


def _sealed(warehouse: Database, table: Tables, series: str, night: Night, left: Sums | None) -> str:
    """Return what tells whether all that is remembered is as it was written: what was `left`, and what tonight adds.

    What was left is not read again, so that what somebody changes meanwhile is seen by the next night.
    """
    release = night.release
    if night.first == release:
        return remembered.sealed(night, remembered.sums(warehouse, table, series, release, release))
    if left is None:
        return remembered.sealed(night, remembered.sums(warehouse, table, series, night.first, release))
    new = remembered.sums(warehouse, table, series, release, release)
    return remembered.sealed(night, {name: (n + new[name][0], h + new[name][1]) for name, (n, h) in left.items()})


def _tidied(warehouse: Database, table: Tables, series: str, before: Night) -> Sums | None:
    """Remove what is no longer needed once there is another night after `before`; return what is left of its epoch.

    The last night is told of it, so that all agrees when tonight is taken back.
    """
    known = remembered.opened(before)
    left = dict(known or {})
    for name in reversed(remembered.KEPT):  # what persons have goes before they do
        if before.first < before.release and left.get(name) == (0, 0):
            continue  # what an earlier epoch had went in the second night
        gone = [hashed for counts, hashed in _forget_obsolete(warehouse, table, series, before, name) if counts]
        if name in left:
            rows, hashes = left[name]
            left[name] = rows - len(gone), hashes - sum(gone)
    nights, values = table(remembered.NIGHTS), [series, before.release]
    warehouse.insert("record", "DELETE FROM {{ t | ident }} WHERE series = $1 AND release < $2", values, t=nights)
    if known is None:
        return None
    if left != known:
        told = [*values, remembered.sealed(before, left)]
        warehouse.insert("record", _RESEALED, told, t=nights)
    return left


_RESEALED = "UPDATE {{ t | ident }} SET digest = $3 WHERE series = $1 AND release = $2"


def _forget_obsolete(
    warehouse: Database, table: Tables, series: str, before: Night, name: str
) -> list[tuple[bool, int]]:
    """Remove rows that newer ones have replaced, whom the last night forgot, and the values of classes that are gone.

    None of them was needed any more before the night that is open. Returns of each whether it is of the epoch of the
    last night, and its hash as in history/kept_digest.sql.
    """
    told = remembered.KEPT[name]
    kept: Params = {"t": table(name), "keys": list(told.keys), "columns": list(told.columns), "first": before.first}
    values: Sequence[object] = [series, before.release]

    def delete(text: str, **more: Name) -> list[tuple[bool, int]]:
        return warehouse.query("record", text + _GIVING, values, **kept, **more)

    found = delete(_OBSOLETE)
    if name == remembered.SEATS:
        found += delete(_FORGOTTEN)
    elif name == remembered.CONTENTS:
        found += delete(_UNKNOWN, seats=table(remembered.SEATS))
    elif name in (remembered.VALUES, remembered.SENSITIVE):
        found += delete(_GONE, classes=table(remembered.CLASSES))
    return found


def erase(warehouse: Database, table: Tables, series: str, who: int) -> None:
    """Erase, in the open transaction, what a series remembers of one person who has left.

    Raises
    ------
    InputError
        When she was in the table of the last night, or nobody of that key is remembered.
    """
    found = remembered.load(warehouse, table, series)
    if found is not None:
        found = remembered.with_persons(found, remembered.everyone(warehouse, found))
    at = list(found.memory.who).index(who) if found and who in found.memory.who else None
    if found is None or at is None:
        must = "names a person whom the series remembers"
        raise InputError("series forget, row_key_value", must, "nobody of that key", "Nothing is left to be erased")
    if found.memory.here[at]:
        must = "is of a person who was not in the table of the last night"
        do = "Delete her row from the source, and publish a night first"
        raise InputError("series forget, row_key_value", must, "one who was", do)
    values: list[object] = [series, who]
    own, more = int(found.memory.person[at]), _more_of_hers(found.memory, at)
    if more and found.memory.founded[at]:
        nobody = -1 - secrets.randbits(60)
        told = "UPDATE {{ t | ident }} SET who = $3 WHERE series = $1 AND who = $2"
        warehouse.insert("series", told, [*values, nobody], t=table(remembered.SEATS))
    elif own and not more:
        gone = "DELETE FROM {{ t | ident }} WHERE series = $1 AND who < 0 AND person = $2"
        warehouse.insert("series", gone, [series, own], t=table(remembered.SEATS))
    for name in (remembered.SEATS, remembered.CONTENTS):
        warehouse.insert("series", "DELETE FROM {{ t | ident }} WHERE series = $1 AND who = $2", values, t=table(name))
    values = [series, remembered.digest(warehouse, table, series, found.night)]
    warehouse.insert(
        "series", "UPDATE {{ t | ident }} SET digest = $2 WHERE series = $1", values, t=table(remembered.NIGHTS)
    )


def _more_of_hers(memory: Memory, at: int) -> bool:
    """Tell whether more records of a person, or of a household, are remembered.

    Then it stays remembered that she has founded a class, by a record of nobody, whose number is below 0: she could
    found another one with the others, and the means of both would tell the difference of few.
    """
    own = memory.person[at]
    return bool(own != 0 and ((memory.person == own) & (memory.who >= 0)).sum() > 1)


def forget(warehouse: Database, table: Tables, series: str) -> None:
    """Erase, in the open transaction, all that a series remembers."""
    for name in remembered.TABLES:
        if find_relation(warehouse, table(name)):
            warehouse.insert("series", "DELETE FROM {{ t | ident }} WHERE series = $1", [series], t=table(name))
