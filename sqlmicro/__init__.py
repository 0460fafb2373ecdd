"""sqlmicro: anonymization of tables about people, in SQL, where the tables are.

Every command of `sqlmicro` is a function here, with the same name and parameters::

    import sqlmicro
    report = sqlmicro.safe("persons", db="warehouse.duckdb", k=3)
    report["k"], report["safe_distance"]
"""

from __future__ import annotations

from typing import Any

from sqlmicro.errors import (
    AuditFailed,
    InputError,
    JobError,
    ParameterError,
    QueryError,
    SqlmicroError,
    TemplateError,
)

__all__ = [
    "AuditFailed",
    "InputError",
    "JobError",
    "ParameterError",
    "QueryError",
    "SqlmicroError",
    "TemplateError",
    "audit",
    "bottom_code",
    "constant",
    "generalize",
    "individual_ranking",
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
    "recursive_k_ward",
    "register",
    "run",
    "safe",
    "safe_distance",
    "sample",
    "secure_k_ward",
    "shuffle",
    "single_axis",
    "split_group",
    "suppress",
    "swap",
    "top_code",
    "v_mdav",
]
_VERBS = frozenset(name for name in __all__ if name[0].islower())


def __getattr__(name: str) -> Any:
    """Make the verbs on first use, so that importing the package costs nothing."""
    if name not in _VERBS:
        raise AttributeError(f"module 'sqlmicro' has no attribute {name!r}")
    from sqlmicro.api import python_function

    globals()[name] = python_function(name.replace("_", "-"))
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *_VERBS})
