"""sqlmicro: anonymization of tables about people, in SQL, where the tables are.

Every command of `sqlmicro` is a function here, with the same name and parameters::

    import sqlmicro
    report = sqlmicro.safe("persons", db="warehouse.duckdb", k=3)
    report["k"], report["safe_distance"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlmicro.errors import (
    AuditFailed,
    InputError,
    JobError,
    ParameterError,
    QueryError,
    SqlmicroError,
    TemplateError,
)

if TYPE_CHECKING:
    from sqlmicro.session import Audit as Audit
    from sqlmicro.session import Release as Release
    from sqlmicro.session import Result as Result
    from sqlmicro.session import Session as Session
    from sqlmicro.session import open as open

__all__ = [
    "AuditFailed",
    "InputError",
    "JobError",
    "ParameterError",
    "QueryError",
    "SqlmicroError",
    "TemplateError",
    "attack",
    "audit",
    "bottom_code",
    "compare",
    "constant",
    "explain",
    "generalize",
    "individual_ranking",
    "init",
    "k_ward",
    "kanonymeans",
    "kanonymeans_star",
    "macros",
    "max_distance",
    "mdav",
    "mdav_plus",
    "mdav_star",
    "methods",
    "mhm",
    "microaggregate",
    "mondrian",
    "noise",
    "optimal_univariate",
    "partial",
    "pram",
    "profile",
    "pseudonymise",
    "purge",
    "recursive_k_ward",
    "register",
    "report",
    "residue",
    "run",
    "safe",
    "safe_distance",
    "sample",
    "schema",
    "secure_k_ward",
    "shuffle",
    "single_axis",
    "split_group",
    "suppress",
    "swap",
    "top_code",
    "v_mdav",
    "warm_up",
]
_VERBS = frozenset(name for name in __all__ if name[0].islower())
_SESSION = frozenset({"Audit", "Release", "Result", "Session", "open"})
"""Not in __all__: `from sqlmicro import *` must not take the place of the builtin `open`."""


def __getattr__(name: str) -> Any:
    """Make the verbs on first use, so that importing the package costs nothing."""
    if name in _SESSION:
        from sqlmicro import session

        globals()[name] = getattr(session, name)
        return globals()[name]
    if name not in _VERBS:
        raise AttributeError(f"module 'sqlmicro' has no attribute {name!r}")
    from sqlmicro.api import python_function

    globals()[name] = python_function(name.replace("_", "-"))
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_VERBS, *_SESSION})
