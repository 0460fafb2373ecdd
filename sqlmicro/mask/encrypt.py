"""Format-preserving encryption: numbers become numbers of the same form, and the key leads back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask import keyed
from sqlmicro.mask.keyed import KeyFile, key_for
from sqlmicro.options.params import Param
from sqlmicro.registry import Tick, method, of_no_column
from sqlmicro.system.progress import Progress

if TYPE_CHECKING:
    from ffx import FF1

    from sqlmicro.work import Outcome, Work

_DIGITS, _UPPER = "0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ALPHABETS = {
    "digits": _DIGITS, "hex": _DIGITS + "abcdef", "upper": _DIGITS + _UPPER, "lower": _DIGITS + _UPPER.lower(),
    "mixed": _DIGITS + _UPPER + _UPPER.lower(),
}  # fmt: skip
Alphabet = Annotated[
    Literal["digits", "hex", "upper", "lower", "mixed"],
    Param(
        "The letters and digits of the values: digits alone, with a to f, with capital or small letters, or with both."
    ),
]
_LEAST = 1_000_000
"""So many values of one length there must be: NIST SP 800-38G, Rev. 1."""


@method(
    "encrypt",
    stage="mask",
    engine="sql",
    promise="masked",
    assures=of_no_column,
    by_value=True,
    source="NIST SP 800-38G: FF1, with AES-256",
    templates=keyed.TEMPLATES,
    takes_strata=False,
    surrogate="pseudonym",
)
def encrypt(work: Work, *, alphabet: Alphabet = "digits", key_file: KeyFile = None) -> Outcome:
    """Encrypt numbers so that they keep their form: pseudonyms that whoever has the key turns back, by `decrypt`.

    Returns
    -------
    Outcome
        A text of the same length for every value, with the same signs in the same places.

    Raises
    ------
    ParameterError
        When there is no key, or it is too short.
    InputError
        For a column that is neither of text, whole numbers nor UUIDs, values that are too short or have other letters
        or digits, and without libffx.

    Notes
    -----
    The letters and digits of a value are one numeral string for FF1, as it is in libffx; signs and blanks between them
    stay where they are. With one key and alphabet a value becomes the same everywhere, and two values never become
    one, so that tables can be joined as before. NULL stays NULL. There must be at least 1,000,000 values of each
    length that occurs: 6 digits, 5 of hex, 4 of the others.

    What it promises: without the key nobody can tell from a pseudonym what it stands for. What it does not: it is a
    pseudonym, and whoever has the key reads all values. The length and the signs stay, so does how often a value
    occurs, and all records of one person stay recognisable as such. A value may become itself by chance, in one of
    1,000,000 cases or fewer; the report counts them. A result may be the number of somebody else, and check digits are
    not right. The key is neither part of a statement nor recorded. The AES key is made of it by SHA-256, in a series
    together with the number of the epoch. About 40 µs for each different value.
    """
    fit = ("text", "integer", "enum")
    if wrong := [f"{c.name} ({c.type})" for c in work.columns if c.family not in fit and c.type != "UUID"]:
        raise InputError(work.where, "works on text, whole numbers and UUIDs", ", ".join(wrong))
    cipher = _cipher(work.where, keyed.key_of(work, key_file), alphabet)
    for column in work.columns:
        found = [*keyed.texts_of(work, column)]
        _refuse_unfit(f"{work.where}, {column.name}", found, alphabet)

        def encrypted(texts: Sequence[str], tick: Tick) -> list[str]:
            return _each(texts, alphabet, cipher.encrypt, tick)

        made = keyed.replace_texts(work, column, found, encrypted)
        same = sum(text == own for text, own in zip(found, made, strict=True))
        work.note(f"{column.name} is encrypted: a pseudonym that the key turns back; {same:,} of {len(made):,} values "
                  "became themselves by chance")  # fmt: skip
    return work.outcome


@dataclass(frozen=True, kw_only=True)
class DecryptOptions:
    """What `sqlmicro decrypt` takes."""

    file: Annotated[
        str, Param("File with a pseudonym on each line; - reads standard input.", metavar="FILE", positional=True)
    ]
    alphabet: Alphabet = "digits"
    key_file: KeyFile = None
    epoch: Annotated[int | None, Param("The epoch of the series that published them.", min=1)] = None


@dataclass(frozen=True)
class DecryptReport:
    """The values that pseudonyms stand for, in their order."""

    values: list[str]


def decrypt_values(options: DecryptOptions, progress: Progress) -> DecryptReport:
    """Turn back what `encrypt` has made, for who has the key: a value on each line.

    Another key leads to other values: nothing tells that they are wrong.
    """
    where = "decrypt"
    if options.file == options.key_file == "-":
        must = "reads one of the pseudonyms and the key from standard input"
        raise ParameterError(where, must, "both", "Give --key-file FILE")
    try:
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        raise ParameterError(f"{where}, file", "must be a file of text in UTF-8", "another or none") from None
    texts = text.splitlines()
    key = keyed.secret_of(where, options.key_file)
    cipher = _cipher(where, key.of_epoch(options.epoch) if options.epoch else key.value, options.alphabet)
    _refuse_unfit(f"{where}, file", texts, options.alphabet)
    with progress.kernel(where, len(texts)) as counting:
        return DecryptReport(_each(texts, options.alphabet, cipher.decrypt, counting.tick))


def _cipher(where: str, key: bytes, alphabet: str) -> FF1:
    """Return FF1 with a key that is made of a secret for this purpose alone.

    Raises
    ------
    InputError
        Where libffx is not installed.
    """
    try:
        from ffx import FF1
    except ImportError:
        do = "Install it by: pip install 'sqlmicro[encrypt]'"
        raise InputError(where, "needs libffx, which is not installed", do=do) from None
    return FF1(key_for("encrypt", key), alphabet=ALPHABETS[alphabet])


def _refuse_unfit(where: str, texts: Sequence[str], alphabet: str) -> None:
    """Refuse values of which some letters would stay readable, or that can be guessed one after the other.

    Raises
    ------
    InputError
        With how many there are.
    """
    signs = frozenset(ALPHABETS[alphabet])
    least = next(length for length in range(2, 21) if len(signs) ** length >= _LEAST)
    others = sum(any(char.isalnum() and char not in signs for char in text) for text in texts)
    if others:
        must = f"all letters and digits must be of --alphabet {alphabet}"
        raise InputError(where, must, f"{others:,} values with others", f"Choose of {', '.join(ALPHABETS)}")
    short = sum(sum(char in signs for char in text) < least for text in texts)
    if short:
        must = f"values must have at least {least} letters or digits, so that there are {_LEAST:,} of each length"
        raise InputError(where, must, f"{short:,} values with fewer", "Use pseudonymise, or longer numbers")


def _each(texts: Sequence[str], alphabet: str, crypt: Callable[[str], str], tick: Tick) -> list[str]:
    """Return each text with its letters and digits encrypted or decrypted, and the signs between them."""
    signs, made = frozenset(ALPHABETS[alphabet]), []
    for number, text in enumerate(texts, 1):
        new = iter(crypt("".join(char for char in text if char in signs)))
        made.append("".join(next(new) if char in signs else char for char in text))
        tick(number, len(texts))
    return made
