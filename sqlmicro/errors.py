"""Every error sqlmicro raises on purpose, and the shape of its message.

::

    SqlmicroError              exit 3   a fault of ours or of the machine
    ├── InputError             exit 2   the data or the table cannot be used as asked
    ├── ParameterError         exit 2   an option or parameter is wrong
    ├── JobError               exit 2   a job file is wrong
    ├── TemplateError          exit 3   a SQL template is wrong
    ├── QueryError             exit 3   the database refused a statement
    └── AuditFailed            exit 1   the release did not keep its promise; nothing was published

A message reads *where: what must hold. Got what. What to do.* It never contains a record value.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from sqlmicro.system.printable import shown


class SqlmicroError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    where : str
        The place the reader has to look at: a command, an option, a file and step.
    must : str
        What must hold there.
    got : str, optional
        What came instead; counts and names, never record values.
    do : str, optional
        What to do about it.
    """

    exit_code = 3

    def __init__(self, where: str, must: str, got: str = "", do: str = "") -> None:
        self.where, self.must, self.got, self.do = where, must, got, do
        sentences = [f"{where}: {_sentence(must)}"]
        if got:
            sentences.append(_sentence(f"Got {got}"))
        if do:
            sentences.append(_sentence(do))
        super().__init__(shown(" ".join(sentences)))


class InputError(SqlmicroError):
    """The data or the table cannot be used as asked."""

    exit_code = 2


class ParameterError(SqlmicroError):
    """An option or a parameter of a method is wrong."""

    exit_code = 2


class JobError(SqlmicroError):
    """A job file is wrong."""

    exit_code = 2


class TemplateError(SqlmicroError):
    """A SQL template, or the parameters given to it, are wrong."""


class QueryError(SqlmicroError):
    """The database refused a statement; its own words, which may quote values, are kept out."""


class AuditFailed(SqlmicroError):  # noqa: N818
    """A release did not keep its promise; nothing was published."""

    exit_code = 1


class Need(NamedTuple):
    """What must be so where something is asked for, what came instead, and what to do about it."""

    met: object
    where: str
    must: str
    got: str = ""
    do: str = ""
    kind: type[SqlmicroError] = ParameterError


def demand(needs: Iterable[Need]) -> None:
    """Refuse what does not go together: by the first need that is not met.

    Raises
    ------
    SqlmicroError
        Of the kind of that need, with the reason.

    Examples
    --------
    >>> demand([Need("in a series", "--moves", "goes with a series")])
    """
    for need in needs:
        if not need.met:
            raise need.kind(need.where, need.must, need.got, need.do)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else text + "."


def nearest(word: str, known: Iterable[str]) -> str:
    """Return "Did you mean …?" for the known name closest to `word`, or nothing.

    >>> nearest("mdva", ["mdav", "safe"])
    "Did you mean 'mdav'?"
    """
    names = list(known)
    close = get_close_matches(word.lower(), [name.lower() for name in names], n=1)
    return f"Did you mean {next(name for name in names if name.lower() == close[0])!r}?" if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "Did you mean …?" for the known name closest to `word`, else the list of known names.

    >>> did_you_mean("x", ["mdav", "safe"])
    'There are: mdav, safe.'
    """
    names = list(known)
    return nearest(word, names) or (f"There are: {', '.join(names)}." if names else "")
