"""What was written is counted anew by `verify`, without the database that wrote it: what a stranger would find.

A release is published only if both find the same classes. What cannot be recounted from the records is left to the
audits: persons whom no column names, t against the source, columns of nested types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sqlmicro.audits.l_diversity import Closeness
from sqlmicro.audits.registry import AuditRow, Check
from sqlmicro.database.templates import statement
from sqlmicro.database.warehouse import database_of
from sqlmicro.errors import AuditFailed, SqlmicroError
from sqlmicro.publish.report import Recounted
from sqlmicro.registry import late
from sqlmicro.system import parallel
from sqlmicro.system.arrow import whole_numbers
from sqlmicro.system.reporting import as_json

if TYPE_CHECKING:
    import pyarrow as pa

    from sqlmicro.pipeline import Run
    from sqlmicro.publish.release import OutputAudit

MOST_ROWS = 5_000_000
"""Larger tables are left to the audits: a recount holds what it has read of their combinations in memory."""
MOST_VALUES = 20_000_000
"""And so is what is over more values: it takes some 45 bytes each."""
_OF_K = ("k-anonymity", "value frequency")
_MISSING = "__HIVE_DEFAULT_PARTITION__"


def of_file(run: Run, audited: OutputAudit, path: Path) -> OutputAudit:
    """Recount a file, or a folder of files, that is not in its place yet, and note it with its audits.

    Of a large release of a cluster, which may be larger than this machine, they stay what the audits found.

    Raises
    ------
    AuditFailed
        When something else is found than the audits found.
    """
    if path.is_dir():
        if run.warehouse.database is None and audited.records > MOST_ROWS:
            return _left_to_audits(run, audited)
        return _recounted(run, audited, lambda _: _of_folder(path))
    if {".json", ".ndjson"} & {*path.suffixes}:
        return _recounted(run, audited, _of_relation(run, audited))
    batches = late("sqlmicro.verify", "batches")
    return _recounted(run, audited, lambda _: batches(path))


def of_table(run: Run, audited: OutputAudit) -> OutputAudit:
    """Recount a table in the transaction that makes it, and note it with its audits; of a large one what they found.

    Raises
    ------
    AuditFailed
        When something else is found than the audits found.
    """
    if audited.records > MOST_ROWS:
        return _left_to_audits(run, audited)
    return _recounted(run, audited, _of_relation(run, audited))


def _left_to_audits(run: Run, audited: OutputAudit) -> OutputAudit:
    run.log.notes.append(f"not recounted without the database: a table of more than {MOST_ROWS:,} rows")
    return replace(audited, recounted=_as_audited(_claims(run, audited)))


def _as_audited(claims: Sequence[Recounted]) -> list[Recounted]:
    """Return checks that are not recounted: t of the audits is against the source, and so no t of the release."""
    return [replace(one, value=None) if one.check == "t-closeness" else one for one in claims]


def _fitting(run: Run, rows: int, claims: Sequence[Recounted]) -> list[Recounted]:
    """Return the checks that can be recounted in memory: all, or those that something was promised of, or none."""
    promised = [one for one in claims if one.threshold is not None]
    for some in (claims, promised, []):
        if rows * len({name for one in some for name in (*one.columns, one.sensitive)} - {None}) <= MOST_VALUES:
            break
    if len(some) < len(claims):
        what = "what is promised" if not some and promised else "what is not promised"
        run.log.notes.append(f"not recounted without the database: {what}, over more than {MOST_VALUES:,} values")
    return list(some)


def as_promised(one: Recounted) -> Recounted:
    """Return a check with what was promised of it: t against the source says nothing of t within the release."""
    if one.check != "t-closeness":
        whole = [None if number is None else int(number) for number in (one.value, one.threshold)]
        return replace(one, value=whole[0], threshold=whole[1])
    kept = one.threshold is not None and one.value is not None and one.value <= one.threshold
    return one if kept else replace(one, threshold=None)


Reader = Callable[[Sequence[str] | None], Iterator[Any]]
"""Yields records as Arrow batches, which have some columns at least; without these, all columns of some records."""


def _of_relation(run: Run, audited: OutputAudit) -> Reader:
    """Return what reads a relation: a batch of DuckDB's is in memory as long as one of its columns is."""
    warehouse, relation = run.warehouse, audited.relation
    warehouse = database_of(warehouse)  # the others write folders of Parquet files

    def read(columns: Sequence[str] | None) -> Iterator[Any]:
        if columns is None:
            return warehouse.batches(statement("SELECT * FROM {{ r | ident }} LIMIT 1", r=relation))
        text = "SELECT {{ columns | idents }} FROM {{ r | ident }}"
        return warehouse.batches(statement(text, columns=columns, r=relation))

    return read


def _of_folder(path: Path) -> Iterator[Any]:
    """Yield the records of a folder of Parquet files; `column=value` in a path is a column."""
    import pyarrow as pa

    for part in sorted(path.rglob("*.parquet")):
        folders = part.relative_to(path).parts[:-1]
        values = {unquote(name): unquote(value) for name, _, value in (folder.partition("=") for folder in folders)}
        for batch in late("sqlmicro.verify", "batches")(part):
            for name, value in values.items():
                cells = pa.array([None if value == _MISSING else value] * len(batch), pa.string())
                batch = batch.append_column(name, cells)
            yield batch


def _recounted(run: Run, audited: OutputAudit, read: Reader) -> OutputAudit:
    must = "without the database, what was written must be found to be what the audits have found"
    try:
        with run.log.timed("recount"):
            apart = {name for batch in islice(read(None), 1) for name in special(batch)}
            every = _claims(run, audited)
            plain = [one for one in every if not apart & {*one.columns, one.sensitive}]
            claims = _fitting(run, audited.records, plain)
            columns = sorted({name for one in claims for name in (*one.columns, one.sensitive) if name is not None})
            records = read(columns) if columns else []
            _, _, found = late("sqlmicro.verify", "recount")(
                records, [as_json(one) for one in claims], parallel.each, occurring
            )
    except SqlmicroError:
        raise
    except Exception as error:  # in words of its own, which may quote a value
        got = f"nothing that can be read ({type(error).__name__})"
        raise AuditFailed("audit, recount", must, got, "Nothing was published. Write another format") from None
    made = [replace(one, value=value, classes=classes) for one, (value, classes) in zip(claims, found, strict=True)]
    wrong = [
        f"{one.check} ({', '.join(one.columns)}) is {now.value}; the audits found {one.value}"
        for one, now in zip(claims, made, strict=True)
        if (one.check == "k-anonymity" and now.value != one.value)
        or (one.check != "t-closeness" and (now.value or 0) < (one.threshold or 0))
    ]  # fmt: skip
    if len(plain) < len(every):
        run.log.notes.append(f"not recounted without the database: what is over {', '.join(sorted(apart))}")
    if wrong:
        raise AuditFailed("audit, recount", must, "; ".join(wrong), "Nothing was published. Please report it")
    left = _as_audited([one for one in plain if one not in claims])
    return replace(audited, recounted=[*(as_promised(one) for one in made), *left])


def occurring(code: Any) -> pa.Array:
    """Return how often each value occurs: of numbers by a sort, which takes a fifth of the time of a hash table.

    >>> import pyarrow as pa
    >>> occurring(pa.array([7, 3, None, 7])).to_pylist()
    [1, 2, 1]
    """
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_integer(code.type):
        counted: pa.Array = late("sqlmicro.verify").call("value_counts", [code]).field(1)
        return counted
    missing = [code.null_count] if code.null_count else []
    ordered = np.sort((code.drop_null() if missing else code).to_numpy())
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], len(ordered) > 0))
    return whole_numbers(np.append(np.diff(ends, prepend=-1), missing).astype(np.int64))


def special(batch: Any) -> set[str]:
    """Return the columns whose values have no bytes of their own, such as lists."""
    verify, found = late("sqlmicro.verify"), set()
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            verify.plain(column)
        except verify.RefusedError:
            found.add(name)
    return found


def _claims(run: Run, audited: OutputAudit) -> list[Recounted]:
    """Return what can be recounted of what was audited: each once, with the strictest threshold."""
    found: dict[tuple[object, ...], Recounted] = {}
    # What promises nothing and was not counted by the audits, is not counted here either.
    checks = audited.checks if audited.sizes else [one for one in audited.checks if one.threshold is not None]
    for check in checks:
        one = _claim(check, counts_persons=bool(run.counted) and isinstance(check, AuditRow))
        if one is None:
            continue
        key = (one.check, frozenset(one.columns), one.sensitive, one.distance)
        other = found.get(key, one)
        asked = [limit for limit in (one.threshold, other.threshold) if limit is not None]
        strictest = (min if one.check == "t-closeness" else max)(asked, default=None)
        found[key] = replace(other, threshold=strictest)
    return list(found.values())


def _claim(check: Check, *, counts_persons: bool) -> Recounted | None:
    if isinstance(check, AuditRow) and check.nulls != "own_value":
        return None
    *columns, last = check.columns or [""]
    if check.check in _OF_K and check.columns and not counts_persons:
        return Recounted("k-anonymity", check.columns, None, None, check.value, check.threshold, None)
    if check.check == "l-diversity":
        return Recounted("l-diversity", columns, last, None, check.value, check.threshold, None)
    detail = check.detail if isinstance(check, AuditRow) else None
    if isinstance(detail, Closeness) and detail.distance != "hierarchical":
        return Recounted("t-closeness", columns, last, detail.distance, check.value, check.threshold, None)
    return None
