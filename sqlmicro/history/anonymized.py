"""Which rows of a table a series has anonymized in place: those that hold what it has written, by a keyed hash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlmicro.database.catalog import find_relation
from sqlmicro.database.columns import Column, pick
from sqlmicro.database.content import by_kind
from sqlmicro.database.source import Source
from sqlmicro.database.templates import Name
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.history import ledger, remembered
from sqlmicro.history.contents import places
from sqlmicro.history.remembered import Remembered, Tables
from sqlmicro.history.union import KEY
from sqlmicro.system import secrets
from sqlmicro.system.secrets import LASTING_VARIABLE, words

if TYPE_CHECKING:
    import numpy as np

IN_PLACE = "in place"
"""The kind of a release that is in the table itself."""


@dataclass(frozen=True)
class Anonymized:
    """The rows of a table that a series has anonymized."""

    relation: Name
    """A view in staging, with all columns of the table."""
    rows: int
    others: int
    """How many rows of the table it has not anonymized, or somebody has overwritten since."""
    released: list[str]
    """The columns that the series releases, in the order of the table."""

    @property
    def told(self) -> str:
        """What is said of them."""
        raw = f"{self.others:,} others are as they are, raw or emptied, and nothing is said of them"
        return f"{self.rows:,} rows of the table are anonymized; {raw}"


def rows_of(warehouse: Database, table: Tables, series: str, source: Source) -> Anonymized:
    """Return the rows of a table that a series has anonymized, as the table holds them now.

    Raises
    ------
    InputError
        When there is no such series of this table, or the secret is another one.
    """
    import numpy as np
    import pyarrow as pa

    where = f"series {series}"
    _refuse_another(warehouse, table, series, source)
    before = remembered.load(warehouse, table, series)
    if before is None:
        raise InputError(where, "must remember which rows it has anonymized", "nothing: it was forgotten")
    settings = json.loads(before.night.settings)
    row_key = pick(source.columns, settings["row_key"], where)
    held = {column.name for column in pick(source.columns, [*settings["columns"], *settings["by"]], where)}
    key = secrets.ledger_key(
        ledger.by_person(settings["person"]) if settings["person"] else ledger.by_row_key(settings["row_key"])
    )
    if key is None or secrets.lasting().fingerprint != settings["secret"]:
        must = "needs the secret by which its rows are known again"
        got = "another one" if key else "none that lasts"
        raise InputError(where, must, got, f"Set {LASTING_VARIABLE} to the one of its nights")
    before = remembered.with_persons(before, remembered.everyone(warehouse, before))
    written = [column for column in source.columns if column.name in held]
    record, token = tokens(warehouse, source.relation, row_key, written, key)
    mine = seated(before, who_of(warehouse, record, key), token)
    told = warehouse.load(
        pa.table({"record": np.sort(record[mine])}), "anonymized_rows", "filled with those of a series"
    )
    view = warehouse.run(
        "history/asked_rows.sql", "anonymized", view=True, relation=source.relation, row_key=row_key, asked=told,
        columns=source.columns,
    )  # fmt: skip
    released = {name.lower() for name in settings["released"]}
    return Anonymized(
        view, int(mine.sum()), int((~mine).sum()), [one.name for one in source.columns if one.name.lower() in released]
    )


def _refuse_another(warehouse: Database, table: Tables, series: str, source: Source) -> None:
    """Refuse a series that has no rows in this table."""
    there = find_relation(warehouse, table("releases")) is not None
    entries = [one for one in ledger.entries(warehouse, table("releases")) if one.kind == IN_PLACE] if there else []
    place = ledger.place(warehouse.full(source.relation), None)
    names = sorted({one.series for one in entries if one.series and one.place == place})
    if series not in names:
        raise InputError(
            f"--of-series {series}", f"must be a series that anonymizes rows of {source.label!r} in place",
            f"another name. This table has {', '.join(names) or 'no such series'}",
            "" if names else "Rows are anonymized so by --only-where CONDITION --in-place: see sqlmicro help retention",
        )  # fmt: skip


def tokens(
    warehouse: Database, relation: Name, row_key: Sequence[Column], written: Sequence[Column], key: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the key of every row of a table, and a keyed hash of it and of what the classes give."""
    own = by_kind([Column(one.name, one.type, one.name) for one in written])
    found = warehouse.arrays("history/rows_of_source.sql", relation=relation, row_key=row_key, **own)
    return found["record"], words(key, "row", found["content"])


def who_of(warehouse: Database, record: np.ndarray, key: str) -> np.ndarray:
    """Return the keyed hash by which a series knows each row (n,)."""
    import numpy as np
    import pyarrow as pa

    warehouse.set_key(KEY, key)
    numbered = warehouse.load(
        pa.table({"row_id": np.arange(len(record)), "record": record}), "rows_of_table", "filled with hashes of keys"
    )
    found = warehouse.arrays(
        "history/persons.sql", relation=numbered, stream=KEY, columns=["copy"], by=[], sensitive=[]
    )
    who: np.ndarray = found["who"]
    return who


def seated(before: Remembered | None, who: np.ndarray, token: np.ndarray) -> np.ndarray:
    """Return which rows hold what was written of them (n,)."""
    import numpy as np

    found = np.zeros(len(who), bool)
    if before is None:
        return found
    known, at = places(before.memory.who, who)
    memory = before.memory
    found[known] = (memory.here & (memory.seat >= 0) & (before.token != -1))[at[known]]
    found[known] &= before.token[at[known]] == token[known]
    return found
