"""Drafts of job files: lists and values as TOML, with comments that give the reasons."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlmicro.system.printable import in_toml

if TYPE_CHECKING:
    from sqlmicro.database.columns import ColumnProfile

_WIDTH = 100


def array(name: str, profiles: Sequence[ColumnProfile], why: Callable[[ColumnProfile], str] | None) -> list[str]:
    """Return a list of columns, one on a line where there is a reason to give."""
    if why is None:
        return [f"{name} = {value([p.column.name for p in profiles])}"]
    return listed(name, [(p.column.name, why(p)) for p in profiles])


def listed(name: str, items: Sequence[tuple[str, str]]) -> list[str]:
    """Return a list of names, each on a line with its reason."""
    if not items:
        return [f"{name} = []"]
    names = [in_toml(item) + "," for item, _ in items]
    longest = min(max(map(len, names)), 40)
    return [
        f"{name} = [",
        *(f"  {text.ljust(longest)}  # {one_line(why)}" for text, (_, why) in zip(names, items, strict=True)),
        "]",
    ]


def comment(text: str) -> list[str]:
    """Write a comment."""
    return textwrap.wrap(one_line(text), _WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def one_line(text: str) -> str:
    """Return text without characters that a TOML comment may not have."""
    return "".join(char if char.isprintable() else " " for char in text)


def value(of: Any) -> str:
    """Write a value."""
    if isinstance(of, list | tuple):
        return f"[{', '.join(map(in_toml, of))}]"
    return ("true" if of else "false") if isinstance(of, bool) else in_toml(str(of))
