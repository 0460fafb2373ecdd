"""Names as they are shown: what a terminal or a page would act on instead of showing it is written as an escape.

A column can be called `\\x1b[2J`, which clears the screen, or hold U+202E, which turns round what follows. Letters,
digits, signs and the plain blank (`str.isprintable`) are shown; the rest is written as Python would: controls, line
ends, marks of direction, characters of no width, other blanks. Data stays as it is: JSON and TOML have escapes of
their own, and statements are exact unless they are printed on a terminal.
"""

from __future__ import annotations

import json

LONGEST_QUOTED = 300


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


def kind(value: object) -> str:
    """Return what to call an object, which says nothing of what is in it.

    >>> import pyarrow as pa
    >>> kind(pa.table({"a": [1]})), kind({"name": "Ada"})
    ('pyarrow Table', 'dict')
    """
    found = type(value)
    module = found.__module__.partition(".")[0].lstrip("_")
    return found.__name__ if module == "builtins" else f"{module} {found.__name__}"


def quoted(value: object) -> str:
    r"""Return what came in place of an option, as a message may have it: of what may hold records its type alone.

    Words and numbers are quoted as they were typed. A frame, an array or a list is not, and neither is text that is too
    long for a name or has several lines, such as a CSV file that was read.

    >>> quoted("mdva"), quoted(0.5), quoted(["Ada", "Bob"]), quoted("name\nAda\n")
    ("'mdva'", '0.5', 'list', 'a text of 9 characters')
    """
    if isinstance(value, str):
        fits = len(value) <= LONGEST_QUOTED and not {"\n", "\r"} & {*value}
        return repr(str(value)) if fits else f"a text of {len(value)} characters"
    if value is None or type(value) in (bool, int, float):
        return repr(value) if not isinstance(value, int) or value.bit_length() <= 64 else "a number of many digits"
    return kind(value)


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
