"""Text files in other encodings than UTF-8: the names they go by, and their text in UTF-8, which the database reads."""

from __future__ import annotations

import codecs
import contextlib
import glob
import gzip
import re
import tempfile
import zlib
from collections import Counter
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
_FITS = 0.7
_LOOKED_AT = 64 << 20
"""So many bytes of a file are looked at for its encoding; what comes later is refused where it does not fit."""
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_LETTERS = {
    "de": "äöüß", "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíñóúü", "it": "àèéìíòóùú", "pt": "ãáàâçéêíóôõú", "nl": "áéëïóöü",
    "da": "æøåé", "sv": "åäöé", "is": "áðéíóúýþæö", "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž",
    "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "hr": "čćđšž", "ro": "ăâîșşțţ",
    "ru": "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "tr": "çğıİöşü",
    "el": "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώ",
}  # fmt: skip
_LETTERS |= {
    one: "".join(filter(lambda letter: not letter.isascii(), letters + letters.upper()))
    for one, letters in _LETTERS.items()
}
_OTHER_ALPHABETS = ("ru", "el")
_OPENING = "“„‘«¿¡€£§"
_SIGNS = "×÷" + "".join(sign for sign in bytes(range(0x80, 0xC0)).decode("cp1252", "ignore") if not sign.isalpha())
"""Signs that Windows writes, for which older encodings have letters; those that open may stand before a letter."""
_WRITTEN_IN = {
    "cp1252": "de fr es it pt nl da sv is", "cp1250": "de pl cs sk hu hr ro", "iso8859-2": "de pl cs sk hu hr ro",
    "cp1251": "ru", "cp1254": "de tr", "cp1253": "el", "cp850": "de fr es it pt nl da sv is",
    "cp852": "de pl cs sk hu hr ro", "cp866": "ru",
}  # fmt: skip
"""Encodings that files are found in, the commonest first, and the languages written in them."""


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


def guessed(path: str) -> str | None:
    """Return the encoding that a CSV file seems to have; None where it is UTF-8, or there is none to be told.

    A text fits an encoding as far as its letters beyond ASCII are those of a single language that is written in it; the
    first that fits best is taken. Objects of a store are not looked at. Takes time linear in the first 64 MB.
    """
    if is_url(path) or file_format(path) != "csv" or path.lower().endswith(".zst") or not Path(path).is_file():
        return None
    try:
        lines = _beyond_utf8(path)
    except (OSError, EOFError, zlib.error):  # it is told when the file is read
        return None
    if lines is None or lines[:2] in _MARKS:
        return _MARKS[lines[:2]] if lines else None
    fits = {codec: _fit(lines, codec, languages.split()) for codec, languages in _WRITTEN_IN.items()}
    best = max(fits, key=fits.__getitem__)
    return best if fits[best] else None


def _beyond_utf8(path: str) -> bytes | None:
    """Return lines that are not ASCII of a file that is not UTF-8; of one in UTF-16 its mark; None of UTF-8."""
    decoder, lines, left = codecs.getincrementaldecoder("utf-8")(), bytearray(), b""
    is_utf8 = True
    with (gzip.open if path.lower().endswith(".gz") else open)(path, "rb") as file:
        for number in range(_LOOKED_AT // _PART):
            part = file.read(_PART)
            if number == 0 and part[:2] in _MARKS:
                return bytes(part[:2])
            try:
                if is_utf8:
                    decoder.decode(part, final=not part)
            except UnicodeError:
                is_utf8 = False
            *whole, left = (left + part).split(b"\n")
            if len(lines) < _PART:
                lines += b"".join(line + b"\n" for line in whole if not line.isascii())
            if not part or (not is_utf8 and len(lines) >= _PART):
                break
    return None if is_utf8 else bytes(lines + left)


def _fit(lines: bytes, codec: str, languages: Sequence[str]) -> float:
    """Return the share of what is beyond ASCII that are letters of the language that fits best, or signs.

    Words of another alphabet have no letters of ours among theirs, and signs stand at the ends of words.
    """
    try:
        text = lines.decode(codec)
    except UnicodeError:
        return 0.0
    words = re.findall(r"[^\W\d_]+", text)
    every = Counter("".join(words))
    unmixed = Counter("".join(word for word in words if not re.search("[A-Za-z]", word)))
    letters = max(
        sum((unmixed if one in _OTHER_ALPHABETS else every)[letter] for letter in _LETTERS[one]) for one in languages
    )
    signs = len(re.findall(rf"’|(?<![A-Za-z])[{_OPENING}]|[{_SIGNS}](?![^\W\d_])", text))
    share = (letters + signs) / max(1, sum(not letter.isascii() for letter in text))
    return share if share >= _FITS else 0.0


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
