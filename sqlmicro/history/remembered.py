"""What a series remembers, in tables beside the ledger: who sits in which class, and what the classes publish.

Every row has the number of the release that wrote it, and of every key the newest row counts. A night writes only what
it changed, in the transaction that publishes it; what it made obsolete goes with the next one. So a night that is taken
back leaves everything as it was: its rows are removed by their number. Persons are keyed hashes of the row key.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlmicro.database.carried import Files
from sqlmicro.database.catalog import find_relation, tables_of
from sqlmicro.database.templates import Name, Params, Select, select
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError
from sqlmicro.history.features import Scale
from sqlmicro.history.seat_memory import Memory, nothing

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

Tables = Callable[[str], Name]
"""Returns a table of the ledger by its name."""
Lasting: TypeAlias = "pa.Table | Select"
"""Rows that are remembered: where they are, or read from a ledger in a file of its own."""


@dataclass(frozen=True)
class Kept:
    """A table of what a series remembers: its columns, and those of them that are its key."""

    columns: Mapping[str, str]
    keys: tuple[str, ...]

    @property
    def definition(self) -> str:
        """The statement that makes it."""
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns.items())
        return "CREATE TABLE IF NOT EXISTS {{ name | ident }} (series VARCHAR, release BIGINT, " + columns + ")"


SEATS, CLASSES, VALUES, SENSITIVE, TEXTS, ROWS, COMBINATIONS, INPUTS, OCCURRED, RECORDS, COLUMNS, CONTENTS, MEASURED = (
    "series_seats", "series_classes", "series_values", "series_sensitive", "series_texts", "series_rows",
    "series_combinations", "series_inputs", "series_occurred", "series_records", "series_columns", "series_contents",
    "series_measured",
)  # fmt: skip
KEPT = {
    SEATS: Kept(
        {"who": "BIGINT", "seat": "INTEGER", "here": "BOOLEAN", "since": "INTEGER", "founded": "INTEGER",
         "changed": "BOOLEAN", "token": "BIGINT", "person": "BIGINT"}, ("who",),
    ),
    CLASSES: Kept(
        {"class": "INTEGER", "size": "INTEGER", "radius": "DOUBLE", "centre": "DOUBLE[]", "stratum": "BIGINT",
         "opened": "INTEGER", "closed": "INTEGER", "combination": "BIGINT", "first_number": "BIGINT",
         "last_number": "BIGINT"}, ("class",),
    ),
    VALUES: Kept({"class": "INTEGER", "column_name": "VARCHAR", "value": "VARCHAR"}, ("class", "column_name")),
    SENSITIVE: Kept({"class": "INTEGER", "value": "BIGINT", "seats": "INTEGER"}, ("class", "value")),
    TEXTS: Kept({"value": "BIGINT", "column_name": "VARCHAR", "text": "VARCHAR"}, ("value", "column_name")),
    ROWS: Kept({"class": "BIGINT", "rows": "BIGINT", "since": "BIGINT"}, ("class", "since")),
    COMBINATIONS: Kept({"class": "BIGINT", "column_name": "VARCHAR", "value": "VARCHAR"}, ("class", "column_name")),
    INPUTS: Kept({"day": "INTEGER", "digest": "VARCHAR"}, ("day",)),
    OCCURRED: Kept({"drawn": "DOUBLE"}, ("drawn",)),
    RECORDS: Kept({"row": "INTEGER", "classes": "INTEGER[]"}, ("row",)),
    COLUMNS: Kept({"class": "INTEGER", "column_name": "VARCHAR", "value": "VARCHAR"}, ("class", "column_name")),
    CONTENTS: Kept({"who": "BIGINT", "content": "BIGINT", "published": "BIGINT"}, ("who",)),
    MEASURED: Kept({"name": "VARCHAR", "value": "VARCHAR"}, ("name",)),
}  # fmt: skip
"""Who sits where; the classes; what they publish, as texts; the sensitive values of their seats, and what these are;
since which release a combination has how many rows. Of files: values of combinations, records of a day, what records
had. Of columns: the classes of every row, and their values. Of rows: hashes of what was read and published of a person;
what the first night has measured."""
NIGHTS = "series"
TABLES = (NIGHTS, *KEPT)
_LAST = """SELECT release, source, schema_hash, settings, epoch, first, number, night, day, reach, scales,
  target, recoding, digest
FROM {{ nights | ident }} WHERE series = $1 ORDER BY release DESC LIMIT 1"""


@dataclass(frozen=True)
class Night:
    """A night of a series as it is remembered."""

    release: int
    source: str
    schema_hash: str
    settings: str
    """What decides the classes, as JSON."""
    epoch: int
    first: int
    """The first release of the epoch."""
    number: int
    """How many releases were published in this epoch, this one included."""
    night: int
    """How many days were published in this epoch, this one included."""
    day: int
    reach: float
    scales: tuple[Scale, ...]
    target: str
    recoding: str | None = None
    """What a method of recoding decided in the first night, as JSON."""
    digest: str = ""
    """What tells whether all that is remembered is as it was written."""


@dataclass(frozen=True)
class Remembered:
    """What a series remembers of its last night."""

    night: Night
    memory: Memory
    founded: np.ndarray
    """The class that a person founded last (n,); -1 for who founded none."""
    changed: np.ndarray
    """Whose values are others than those that were published of her (n,), where rows stay as they were published."""
    token: np.ndarray
    """What tells whether the row of a person is as it was read (n,); -1 for who is not there."""
    taken: np.ndarray
    """How many persons sit in every class (G,), besides those in the memory: their rows need not be read."""
    people: Lasting
    """All persons, as they are kept."""
    combination: np.ndarray
    """What tells the values of a class from those of others (G,)."""
    size: np.ndarray
    """Rows of a class, for as long as it is published (G,)."""
    first: np.ndarray
    last: np.ndarray
    """Between which numbers of releases a class was published (G,); -1 for one that still is."""
    sensitive: np.ndarray
    """The sensitive values of the seats of all classes that are published (m, 3): class, hash, seats."""
    values: Lasting
    texts: Lasting
    files: Files | None
    """Of a series of files, what these have shown."""
    records: Lasting
    """Of a series whose columns have classes of their own: row, classes (one for every column)."""
    rows: int
    """How many these are."""
    columns: Lasting
    """The values of these classes: class, column_name, value."""
    contents: Lasting
    """By who: hashes of what was read of a person, and of what was published of her."""
    measured: Mapping[str, Any]
    """What the first night has measured, by its name."""


def load(warehouse: Database, table: Tables, series: str, *, beside: bool = True) -> Remembered | None:
    """Return what a series remembers, without its persons, or None where it remembers nothing.

    Large tables stay where they are, if that is `beside` the run.

    Raises
    ------
    InputError
        When somebody has changed it.
    """
    night = last(warehouse, table, series)
    if night is None:
        return None
    import numpy as np

    none = np.empty(0, np.int64)
    if digest(warehouse, table, series, night) != night.digest:
        raise InputError(
            f"series {series}", "what it remembers must be as it was written", "something else",
            "Restore a backup of the whole database, or begin a new epoch with --epoch",
        )  # fmt: skip
    classes, sensitive = (_arrays(warehouse, table, series, night, name) for name in (CLASSES, SENSITIVE))
    measured = _table(warehouse, table, series, night, MEASURED)

    def lasting(name: str) -> Lasting:
        selected = _selected(table, series, night, name)
        return selected if beside else warehouse.table(selected)

    ((rows,),) = warehouse.query(
        "series", "SELECT count(*) FROM {{ r | ident }}", r=_selected(table, series, night, RECORDS)
    )
    return Remembered(
        night,
        _classes(night, classes, sensitive),
        *(none, none.astype(bool), none, np.zeros(len(classes["class"]), np.int64)),
        lasting(SEATS),
        *(classes["combination"], classes["size"], classes["first_number"], classes["last_number"]),
        _triples(sensitive),
        lasting(VALUES),
        lasting(TEXTS),
        _files(warehouse, table, series, night),
        lasting(RECORDS),
        int(rows),
        lasting(COLUMNS),
        lasting(CONTENTS),
        {str(row["name"]): json.loads(row["value"]) for row in measured.to_pylist()},
    )


def _files(warehouse: Database, table: Tables, series: str, night: Night) -> Files | None:
    """Return what the files of an epoch have shown, from the rows of every combination and since when it had them."""
    import numpy as np

    digests = _arrays(warehouse, table, series, night, INPUTS)["digest"]  # by day
    if not len(digests):
        return None
    found = _arrays(warehouse, table, series, night, ROWS)  # by class, and since when
    one, rows = found["class"].astype(np.int64), found["rows"].astype(np.int64)
    combination, start = np.unique(one, return_index=True)
    step = np.diff(rows, prepend=0)
    step[start] = rows[start]
    since, release = np.unique(found["since"], return_inverse=True)
    totals = np.unique(np.cumsum(np.bincount(release, step, len(since)))).astype(np.int64)
    counts = np.unique(np.stack([np.searchsorted(combination, one), rows], axis=1), axis=0)
    counts = counts[counts[:, 1] > 0]
    return Files(
        _table(warehouse, table, series, night, COMBINATIONS),
        combination,
        rows[np.append(start[1:], len(one)) - 1] if len(one) else rows,
        np.searchsorted(counts[:, 0], np.arange(len(combination) + 1)),
        counts[:, 1].copy(),
        totals,
        str(digests[-1]),
        _arrays(warehouse, table, series, night, OCCURRED)["drawn"].astype(float),
    )


def last(warehouse: Database, table: Tables, series: str) -> Night | None:
    """Return the last night of a series that is remembered."""
    nights = table(NIGHTS)
    rows = warehouse.query("series", _LAST, [series], nights=nights) if find_relation(warehouse, nights) else []
    if not rows:
        return None
    *told, scales, target, recoding, found = rows[0]
    night = Night(*(*told, (), target, recoding, found))
    try:
        frozen = tuple(Scale(**one) for one in json.loads(scales))
    except (ValueError, TypeError):  # somebody has changed it: the digest tells
        frozen = ()
    lost: dict[str, Any] = {name: 0 for name in ("epoch", "first") if not isinstance(getattr(night, name), int)}
    return replace(night, scales=frozen, **lost)


def everyone(warehouse: Database, found: Remembered) -> Mapping[str, np.ndarray]:
    """Return all persons that are remembered, as arrays."""
    told = warehouse.table(found.people) if isinstance(found.people, Select) else found.people
    return {column: told.column(column).to_numpy() for column in told.column_names}


def with_persons(found: Remembered, seats: Mapping[str, np.ndarray], taken: np.ndarray | None = None) -> Remembered:
    """Return what is remembered with some of the persons (who, seat, here, …); `taken` are the seats of the others."""
    import numpy as np

    order = np.argsort(seats["who"])
    own = {name: values[order] for name, values in seats.items()}
    memory = replace(
        found.memory,
        who=own["who"].astype(np.int64),
        seat=own["seat"].astype(np.int32),
        here=own["here"].astype(bool),
        since=own["since"].astype(np.int32),
        founded=own["founded"] >= 0,
        person=own["person"].astype(np.int64),
    )
    others = found.taken if taken is None else taken
    return replace(
        found, memory=memory, founded=own["founded"], changed=own["changed"].astype(bool), token=own["token"],
        taken=others,
    )  # fmt: skip


def _classes(night: Night, classes: Mapping[str, np.ndarray], sensitive: Mapping[str, Any]) -> Memory:
    """Return the classes that are remembered, without persons."""
    import numpy as np

    values = _triples(sensitive)
    closed = classes["closed"].astype(np.int32)
    return replace(
        nothing(0),
        centre=classes["centre"],
        rows=np.where(closed < 0, classes["size"], 0).astype(np.int32),
        radius=classes["radius"].astype(float),
        stratum=classes["stratum"].astype(np.int64),
        opened=classes["opened"].astype(np.int32),
        closed=closed,
        values=values[closed[values[:, 0]] < 0],
        reach=night.reach,
        day=night.day,
    )


def _triples(sensitive: Mapping[str, Any]) -> np.ndarray:
    import numpy as np

    return np.column_stack([sensitive[name].astype(np.int64) for name in ("class", "value", "seats")])


Sums: TypeAlias = Mapping[str, tuple[int, int]]
"""Of tables by their names: how many rows some releases have written, and the sum of their hashes."""


def digest(warehouse: Database, table: Tables, series: str, night: Night) -> str | None:
    """Return what tells whether all that a series remembers is as it was written; None where a table is missing.

    It is a sum of hashes that no secret makes: it finds what was lost, restored in part or edited, and not a forgery by
    somebody who writes the sums anew.
    """
    if len(tables_of(warehouse, [table(name) for name in KEPT])) < len(KEPT):
        return None
    return sealed(night, sums(warehouse, table, series, night.first, night.release))


def sums(warehouse: Database, table: Tables, series: str, first: int, last: int) -> Sums:
    """Return what the releases from the first to the last have written of a series."""
    parts = [(number, table(name), list(kept.columns)) for number, (name, kept) in enumerate(KEPT.items())]
    found = warehouse.rows("history/kept_digest.sql", parts=parts, series=series, first=first, last=last)
    names = list(KEPT)
    return {names[number]: (int(rows), int(hashes)) for number, rows, hashes in found}


def sealed(night: Night, found: Sums) -> str:
    """Return what tells whether a night, and what it remembers, are as they were written; `opened` gives the sums."""
    told = [list(found[name]) for name in KEPT]
    own = asdict(replace(night, release=0, target="", digest=""))
    return json.dumps([sha256(json.dumps([own, told]).encode()).hexdigest(), told])


def opened(night: Night) -> Sums | None:
    """Return the sums that a night remembers; None where somebody has changed it."""
    try:
        _, told = json.loads(night.digest)
        return {name: (int(rows), int(hashes)) for name, (rows, hashes) in zip(KEPT, told, strict=True)}
    except (ValueError, TypeError):
        return None


def _selected(table: Tables, series: str, night: Night, name: str) -> Select:
    """Return the newest rows of a table, of those that count."""
    own: Params = {"kept": table(name), "series": series, "first": night.first, "last": night.release}
    if name == SEATS:
        return select("history/latest_seats.sql", **own, columns=list(KEPT[name].columns))
    by: Params = {"keys": list(KEPT[name].keys), "columns": list(KEPT[name].columns)}
    if name in (VALUES, SENSITIVE):
        classes = _selected(table, series, night, CLASSES)
        return select("history/latest_of_classes.sql", classes=classes, **own, **by)
    return select("history/latest.sql", **own, **by)


def _arrays(warehouse: Database, table: Tables, series: str, night: Night, name: str) -> Mapping[str, np.ndarray]:
    """Return the columns of a table in the order of its keys."""
    import numpy as np

    told = warehouse.table(_selected(table, series, night, name))
    columns = {column: told.column(column).to_numpy() for column in told.column_names if column != "centre"}
    if "centre" in told.column_names:
        values = told.column("centre").combine_chunks().flatten().to_numpy()
        columns["centre"] = values.reshape(told.num_rows, -1) if told.num_rows else np.empty((0, 0))
    keys = [columns[key] for key in KEPT[name].keys]
    order = np.argsort(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])
    return {column: values[order] for column, values in columns.items()}


def _table(warehouse: Database, table: Tables, series: str, night: Night, name: str) -> pa.Table:
    found = _selected(table, series, night, name)
    return warehouse.table(select("history/in_order.sql", relation=found, keys=list(KEPT[name].keys)))


def names(warehouse: Database, table: Tables) -> list[str]:
    """Return the names of the series that are remembered."""
    nights = table(NIGHTS)
    if find_relation(warehouse, nights) is None:
        return []
    rows = warehouse.query("series", "SELECT DISTINCT series FROM {{ nights | ident }} ORDER BY 1", nights=nights)
    return [str(name) for (name,) in rows]
