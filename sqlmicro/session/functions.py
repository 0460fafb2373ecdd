"""The verbs as functions of the package: given frames in place of names, they work in a session of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sqlmicro import api
from sqlmicro.errors import ParameterError
from sqlmicro.options.common import PublishSettings, names
from sqlmicro.options.docstrings import numpydoc
from sqlmicro.options.params import Parameter, parameters
from sqlmicro.registry import methods as registered
from sqlmicro.session.methods import OTHERS, RECORDS, declared, takes_records
from sqlmicro.session.release import Release
from sqlmicro.session.session import Session
from sqlmicro.system.reporting import Json

_OPENING = ("db", "attach", "memory_limit", "threads")
_PUBLISHING = frozenset(names(parameters(PublishSettings))) & {*inspect.signature(Release.publish).parameters}
_RETURNS = ("dict", "What the command prints with --json.")
_RELEASES = (
    "dict or Release",
    "What the command prints with --json; of a frame without `into` and `to` the records in memory, audited, which "
    "`df`, `pl` and `arrow` give back.",
)


def function(name: str) -> Callable[..., Any]:
    """Return a verb as a function of the package, which takes frames where it takes records.

    >>> import pyarrow as pa
    >>> function("mdav")(pa.table({"age": [20, 22, 40, 42]}), columns="age", k=2).df().age.nunique()
    2
    """
    plain = api.python_function(name)
    if name not in registered() and name not in OTHERS:
        return plain
    signature = inspect.signature(plain)
    shown = [parameter for parameter in api.verbs()[name].parameters if parameter.name in signature.parameters]
    taking = [parameter for parameter in shown if takes_records(parameter)]
    if not taking:
        return plain

    def call(*args: Any, **kwargs: Any) -> Json | Release:
        given = dict(signature.bind(*args, **kwargs).arguments)
        if any(_is_frame(given.get(parameter.name), parameter) for parameter in taking):
            return _in_session(name, shown, given)
        return plain(*args, **kwargs)

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = plain.__name__
    returns = _RELEASES if name in registered() else _RETURNS
    call.__doc__ = numpydoc(api.verbs()[name].description, shown, returns, dict.fromkeys(RECORDS, "str or frame"))
    return call


def _is_frame(value: object, parameter: Parameter) -> bool:
    """Tell whether something else than names is given; what it is, is checked where it is read."""
    several = value if parameter.many and isinstance(value, list | tuple) else (value,)
    return not all(one is None or isinstance(one, str) for one in several)


def _in_session(name: str, shown: list[Parameter], given: Mapping[str, Any]) -> Json | Release:
    said = {p.name: given[p.name] for p in shown if p.name in given and not _is_default(given[p.name], p)}
    opening = {key: said.pop(key) for key in _OPENING if key in said}
    taken = {parameter.name for parameter in declared(name)}
    publishing = {key: said.pop(key) for key in _PUBLISHING - taken if key in said}
    left = sorted(said.keys() - taken)
    if left:
        do = "Register the records as a table first: sqlmicro help python"
        raise ParameterError(f"{name}, {left[0]}", "goes with a table or a file that is named", "a frame", do)
    if "into" in publishing and "db" not in opening:
        raise ParameterError(f"{name}, into", "is a table of a database", "no database", "Give db=FILE, or to=FILE")
    for parameter in shown:
        if parameter.name in said and not takes_records(parameter):
            parameter.check(_as_names(said[parameter.name], parameter), name)
    session = Session(**opening)
    try:
        found = getattr(session, name.replace("-", "_"))(**said)
        if isinstance(found, Release) and not publishing:
            return found  # which keeps the session
        report: Json = found.publish(**publishing) if isinstance(found, Release) else found.report
    except BaseException:
        session.close()
        raise
    session.close()
    return report


def _as_names(value: object, parameter: Parameter) -> object:
    return (value,) if parameter.many and isinstance(value, str) else value


def _is_default(value: object, parameter: Parameter) -> bool:
    return type(value) is type(parameter.default) and bool(value == parameter.default)
