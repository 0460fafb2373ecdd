"""Text files in other encodings than UTF-8: the names they go by, and their text in UTF-8, which the database reads."""

from __future__ import annotations

import codecs
import contextlib
import glob
import gzip
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from sqlmicro.database.files import file_format
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.system.stores import is_url

USUAL = "cp1252 or iso-8859-15 (Western Europe), cp1250 or iso-8859-2 (Central Europe), utf-16"
_ALSO = {"ansi": "cp1252", "windows": "cp1252", "excel": "cp1252", "western": "cp1252", "mac": "mac_roman"}
_UTF8 = ("utf-8", "utf-8-sig", "ascii")
_OF_DATABASE = {"iso8859-1": "latin-1"}
"""What the database reads itself, by the names that both give it."""
_PART = 1 << 20


def codec_of(name: str) -> str:
    """Return the name of Python's for an encoding, by any of its usual names.

    Raises
    ------
    ParameterError
        For a name that is none of an encoding of text.

    Examples
    --------
    >>> codec_of("Latin-2"), codec_of("windows-1252"), codec_of("ANSI"), codec_of("UTF8")
    ('iso8859-2', 'cp1252', 'cp1252', 'utf-8')
    """
    asked = name.strip().lower()
    for spelled in (_ALSO.get(asked, asked), asked.replace("-", "").replace("_", "").replace(" ", "")):
        with contextlib.suppress(LookupError, ValueError):
            found = codecs.lookup(spelled)
            if getattr(found, "_is_text_encoding", True):
                return found.name
    raise ParameterError("--encoding", f"must be the name of an encoding, such as {USUAL}", repr(name))


def in_utf8(
    paths: Sequence[str], reader: Mapping[str, object], folder: Path | None
) -> tuple[list[str], dict[str, object]]:
    """Return CSV files that the database can read, and the options it reads them with.

    Those in an encoding that it does not know are written anew in UTF-8, into the `folder` that it spills to; without
    one they are refused.

    Raises
    ------
    InputError
        For files that are not in the encoding that was named, or cannot be written anew.
    """
    options = {name: value for name, value in reader.items() if name != "encoding"}
    if any(file_format(path) != "csv" for path in paths):
        return list(paths), dict(reader)
    if "encoding" not in reader:
        _refuse_utf16(paths)
        return list(paths), dict(reader)
    codec = codec_of(str(reader["encoding"]))
    if codec in _UTF8:
        return list(paths), options
    if codec in _OF_DATABASE:
        return list(paths), {**options, "encoding": _OF_DATABASE[codec]}
    if folder is None:
        raise ParameterError("--encoding", "a view reads UTF-8 or latin-1 files", codec, "Leave out --view")
    files = [file for path in paths for file in _files(path)]
    into = Path(tempfile.mkdtemp(dir=folder))
    return [_written(file, codec, into / f"{number}.csv") for number, file in enumerate(files)] or list(paths), options


def _refuse_utf16(paths: Sequence[str]) -> None:
    """Refuse a file that begins with the mark of UTF-16, of which the database says nothing."""
    for path in paths:
        if not is_url(path) and Path(path).is_file():
            with Path(path).open("rb") as file:
                marked = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
            if marked:
                raise InputError(path, "must be text in UTF-8", "text in UTF-16", "Give --encoding utf-16")


def _files(path: str) -> list[str]:
    if is_url(path) or path.lower().endswith(".zst"):
        must = "must be a local file, as it is or packed by gzip, to be read in another encoding than UTF-8 or latin-1"
        raise InputError("files", must, repr(path), "Unpack it first, or write it in UTF-8")
    return [path] if Path(path).is_file() else sorted(glob.glob(path, recursive=True))  # noqa: PTH207  (the user's pattern may be absolute)


def _written(path: str, codec: str, to: Path) -> str:
    """Write the text of a file in UTF-8, and return where it is."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    decoder, place = codecs.getincrementaldecoder(codec)(), 0
    failed = False
    with opened(path, "rb") as file, to.open("w", encoding="utf-8", newline="") as out:
        while not failed:
            part = file.read(_PART)
            try:
                text = decoder.decode(part, final=not part)
            except UnicodeError:
                failed = True
                break
            out.write(text.removeprefix("\ufeff") if place == 0 else text)
            place += len(part)
            if not part:
                break
    if failed:
        must = f"must be text in the encoding that --encoding names, {codec}"
        raise InputError(path, must, f"other bytes, after byte {place:,}", f"Name another one, such as {USUAL}")
    return str(to)
