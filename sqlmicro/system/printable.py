"""Names as they are shown: what a terminal or a page would act on instead of showing it is written as an escape.

A column can be called `\\x1b[2J`, which clears the screen, or hold U+202E, which turns round what follows. Letters,
digits, signs and the plain blank (`str.isprintable`) are shown; the rest is written as Python would: controls, line
ends, marks of direction, characters of no width, other blanks. Data stays as it is: JSON and TOML have escapes of
their own, and statements are exact unless they are printed on a terminal.
"""

from __future__ import annotations

import json


def shown(text: str, keep: str = "") -> str:
    r"""Return text with every character escaped that is not printable, but those in `keep`.

    >>> print(shown("a\x1b[2J"), shown("x\u202ey"), shown("net \"income\" é 名"), shown("a\nb\n", keep="\n"), end="")
    a\x1b[2J x\u202ey net "income" é 名 a
    b
    """
    if text.isprintable():
        return text
    return "".join(
        char if char in keep or char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def in_json(text: str) -> str:
    r"""Return JSON with the escapes of JSON for what is not printable: it means the same.

    >>> print(in_json('{"a\u202e": 1}'))
    {"a\u202e": 1}
    """
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def in_toml(text: str) -> str:
    r"""Return a text as a TOML string.

    >>> print(in_toml('net "income"'), in_toml("two\nlines"), in_toml("\x7f"), in_toml("\u202e\U000e0001"))
    "net \"income\"" "two\nlines" "\u007f" "\u202e\U000e0001"
    """
    return "".join(char if char.isprintable() else _in_toml(char) for char in json.dumps(text, ensure_ascii=False))


def _in_toml(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
