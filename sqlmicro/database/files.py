"""The files that are read and written: their formats, how DuckDB reads them, and how a release is written."""

from __future__ import annotations

import glob
import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlmicro.database.templates import Params, Sql
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import check_path
from sqlmicro.system.stores import is_url

WRITTEN = (
    ".parquet", ".csv", ".csv.gz", ".csv.zst", ".json", ".json.gz", ".json.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst"
)  # fmt: skip
"""The endings that a release can have, which say how it is written."""
_SUFFIXES = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}  # fmt: skip
_COMPRESSED = (".gz", ".zst")
_HEAD = 65536


def file_format(text: str) -> str | None:
    """Return csv, parquet or json if `text` reads like a path or glob of such files, else None.

    >>> file_format("data/*.csv.gz"), file_format("persons")
    ('csv', None)
    """
    path = text.lower()
    for suffix in _COMPRESSED:
        path = path.removesuffix(suffix)
    return _SUFFIXES.get(Path(path).suffix)


def file_stem(text: str) -> str:
    """Return what the records of files are called where nothing else is said.

    >>> file_stem("data/visits_*.csv.gz"), file_stem("*.csv")
    ('visits', 'records')
    """
    return Path(text).name.partition(".")[0].replace("*", "").strip("_- ") or "records"


def file_ending(path: str) -> str:
    """Return the ending that says how a file is written; a folder has none.

    >>> file_ending("release.csv.gz"), file_ending("release/")
    ('.csv.gz', '')
    """
    return next((ending for ending in WRITTEN if path.lower().endswith(ending)), "")


def reading(paths: Sequence[str], reader: Mapping[str, object], **own: object) -> tuple[str, Params]:
    """Return the template that reads `paths`, all of one format, and its parameters.

    `reader` are the user's options, which apply to CSV; `own` are ours.
    """
    # Spark writes a file as a folder of such parts.
    paths = [f"{glob.escape(path)}/**/*.parquet" if _is_folder(path) else path for path in paths]
    formats = {path: file_format(path) for path in paths}
    unknown = [path for path, kind in formats.items() if kind is None]
    if unknown:
        raise InputError(
            "files",
            "must end in .csv, .tsv, .parquet, .json or .ndjson (.gz and .zst may follow)",
            ", ".join(map(repr, unknown)),
        )
    if len(set(formats.values())) > 1:
        raise InputError("files", "must be of one format", ", ".join(sorted({str(kind) for kind in formats.values()})))
    for path in paths:
        check_path(path, "files")
        if not is_url(path) and not Path(path).is_file() and not glob.glob(path, recursive=True):  # noqa: PTH207  (the user's pattern may be absolute)
            raise InputError(
                "files", f"there must be a file {path!r}", "none", "Check the path; it is taken from the current folder"
            )
    kind = next(iter(formats.values()))
    local = [path for path in paths if not is_url(path)]
    if local and kind != "parquet" and all(_is_empty(file) for path in local for file in _matched(path)):
        raise InputError("files", "there must be something in a file", f"nothing in {', '.join(map(repr, paths))}")
    # A file of that very name is meant by it, whatever brackets it has; else it is a pattern.
    absolute = [
        path if is_url(path)
        else glob.escape(str(Path(path).absolute())) if Path(path).is_file() else str(Path(path).absolute())
        for path in paths
    ]  # fmt: skip
    if kind != "csv" and reader:
        raise ParameterError("files", "the options of the CSV reader apply to CSV files only", f"{kind} files")
    return f"load/{kind}.sql", {"paths": absolute, "options": [*reader.items(), *own.items()]}


def _is_folder(path: str) -> bool:
    return not is_url(path) and file_format(path) == "parquet" and Path(path).is_dir()


def _matched(path: str) -> list[str]:
    return [path] if Path(path).is_file() else glob.glob(path, recursive=True)  # noqa: PTH207  (may be absolute)


def _is_empty(path: str) -> bool:
    """Tell whether a text file holds blanks and a mark of its byte order at most; zstd is not opened."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            head = file.read(_HEAD)
    except (OSError, EOFError):  # the database says what is wrong with it
        return False
    return len(head) < _HEAD and not head.removeprefix(b"\xef\xbb\xbf").strip()


def copying(select: Sql, path: Path | str, partition_by: tuple[str, ...] = ()) -> tuple[str, Params]:
    """Return the statement that writes records to a file, and its names."""
    text = "COPY (\n{{ select }}\n) TO {{ path | lit }} (" + _options(str(path), partition_by) + ")"
    return text, {"select": select, "path": str(path), "parts": partition_by}


def _options(path: str, partition_by: tuple[str, ...]) -> str:
    """Return how a file is written, from its ending."""
    if partition_by:
        return "FORMAT parquet, COMPRESSION zstd, PARTITION_BY ({{ parts | idents }})"
    kinds = {
        ".parquet": "FORMAT parquet, COMPRESSION zstd", ".csv": "FORMAT csv, HEADER",
        ".json": "FORMAT json, ARRAY true", ".ndjson": "FORMAT json",
    }  # fmt: skip
    packed = {".gz": ", COMPRESSION gzip", ".zst": ", COMPRESSION zstd"}
    kind, _, packing = file_ending(path).removeprefix(".").partition(".")
    return kinds[f".{kind}"] + packed.get(f".{packing}", "")


def read_back(path: Path) -> tuple[str, Params]:
    """Return the template that reads a release which was written, and its parameters."""
    # As text: what a reader of the file sees, whatever types a reader would guess. What is missing is not "".
    text: Params = {"all_varchar": True, "header": True, "allow_quoted_nulls": False}
    options = text if file_format(str(path)) == "csv" else {}
    if path.is_dir():
        return reading([str(path / "**" / "*.parquet")], options, hive_partitioning=True, hive_types_autocast=False)
    return reading([str(path)], options, hive_partitioning=False)
