"""Docstrings in sections, as numpydoc has them: read from functions, and written from declared parameters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sqlmicro.options.params import REQUIRED, Parameter

_WIDTH = 88


def sections(docstring: str) -> dict[str, str]:
    """Return the sections of a docstring by their title; what it begins with has none.

    >>> sections("Do it.\\n\\nNotes\\n-----\\nTwice.")
    {'': 'Do it.', 'Notes': 'Twice.'}
    """
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", docstring.strip(), flags=re.MULTILINE)
    return {title: text.strip() for title, text in zip(["", *parts[1::2]], parts[0::2], strict=True)}


def numpydoc(
    docstring: str,
    parameters: Iterable[Parameter],
    returns: tuple[str, str],
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return what a docstring says, and its notes, with these parameters and what is returned: its type and a sentence.

    `kinds` are the types of parameters that are called with another than the declared one.

    >>> from sqlmicro.options.common import MachineOptions
    >>> from sqlmicro.options.params import parameters
    >>> print(numpydoc("Do it.", parameters(MachineOptions)[1:], ("dict", "What was done.")))
    Do it.
    <BLANKLINE>
    Parameters
    ----------
    threads : int, optional
        Threads the database and the kernels may use.
    <BLANKLINE>
    Returns
    -------
    dict
        What was done.
    """
    found = sections(docstring)
    lines = [found[""], ""] if found[""] else []
    lines += ["Parameters", "----------"]
    for parameter in parameters:
        lines += [
            f"{parameter.name} : {kinds.get(parameter.name) or _kind(parameter)}",
            _indented(parameter.param.help),
        ]
    lines += ["", "Returns", "-------", returns[0], _indented(returns[1])]
    if "Notes" in found:
        lines += ["", "Notes", "-----", found["Notes"]]
    return "\n".join(lines)


def _kind(parameter: Parameter) -> str:
    """Return type and default as numpydoc writes them."""
    if parameter.many:
        kind = "str or sequence of str"
    elif parameter.choices:
        kind = "{" + ", ".join(map(repr, parameter.choices)) + "}"
    else:
        kind = parameter.base.__name__
    default: Any = parameter.default
    if default is REQUIRED:
        return kind
    return f"{kind}, optional" if default in (None, ()) else f"{kind}, default {default!r}"


def _indented(text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
