"""sqlmicro: anonymization of tables about people, in SQL, where the tables are.

Every command of `sqlmicro` is a function here, with the same name and parameters::

    import sqlmicro
    report = sqlmicro.safe("persons", db="warehouse.duckdb", k=3)
    report["k"], report["safe_distance"]
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlmicro.errors import AuditFailed as AuditFailed
    from sqlmicro.errors import InputError as InputError
    from sqlmicro.errors import JobError as JobError
    from sqlmicro.errors import ParameterError as ParameterError
    from sqlmicro.errors import QueryError as QueryError
    from sqlmicro.errors import SqlmicroError as SqlmicroError
    from sqlmicro.errors import TemplateError as TemplateError
    from sqlmicro.session import Audit as Audit
    from sqlmicro.session import Release as Release
    from sqlmicro.session import Result as Result
    from sqlmicro.session import Session as Session
    from sqlmicro.session import open as open

_ERRORS = (
    "AuditFailed", "InputError", "JobError", "ParameterError", "QueryError", "SqlmicroError", "TemplateError",
)  # fmt: skip
_SESSION = frozenset({"Audit", "Release", "Result", "Session", "open"})
"""Not in __all__: `from sqlmicro import *` must not take the place of the builtin `open`."""


def __getattr__(name: str) -> Any:
    """Load all names on first use, so that importing the package costs nothing, and `verify` nothing but itself."""
    if name in _ERRORS:
        from sqlmicro import errors

        globals()[name] = getattr(errors, name)
        return globals()[name]
    if name in _SESSION:
        from sqlmicro import session

        globals()[name] = getattr(session, name)
        return globals()[name]
    if name == "__all__":
        return sorted((*_ERRORS, *_verbs()))
    # A module of ours that is not loaded yet is asked for when it is imported.
    if name.startswith("_") or find_spec(f"{__name__}.{name}") or name not in _verbs():
        raise AttributeError(f"module 'sqlmicro' has no attribute {name!r}")
    from sqlmicro.session.functions import function

    globals()[name] = function(name.replace("_", "-"))
    return globals()[name]


def _verbs() -> list[str]:
    """Return the names of all verbs in Python; `verify` is the module that stands alone."""
    from sqlmicro.api import verbs

    return [name.replace("-", "_") for name in verbs() if name != "verify"]


def __dir__() -> list[str]:
    return sorted({*globals(), *_verbs(), *_SESSION, *_ERRORS})
