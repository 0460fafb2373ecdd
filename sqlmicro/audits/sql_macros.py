"""The audits as macros: whoever has a DuckDB shell and a release can repeat them without this program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlmicro.database.templates import header, root

PREFIX = "sm_"
ORDER = (
    "class_sizes", "k_anonymity", "violations", "risk", "l_diversity", "t_closeness", "ordered_t_closeness", "likeness",
    "safe_distance", "union_k",
)  # fmt: skip
"""A macro comes after those it uses."""


def definitions() -> Iterator[tuple[str, str, str]]:
    """Yield name with arguments, title and statement of every macro.

    Names of tables and columns are arguments, which DuckDB looks up (`query_table`, `COLUMNS`): nothing is put together
    as text, so that no name can become a statement. A column that the table lacks is an error, not left out.

    Examples
    --------
    >>> next(definitions())[0]
    'sm_class_sizes(tbl, cols, person := [])'
    """
    for name in ORDER:
        lines = header(f"macros/{name}.sql")
        call = f"{PREFIX}{name}({re.sub(r' ?[(][^)]*[)]', '', lines['params'])})"
        select = (root() / f"macros/{name}.sql").read_text(encoding="utf-8").strip()
        yield call, lines["title"], "CREATE OR REPLACE MACRO " + call + " AS TABLE\n" + select + ";"


def script() -> str:
    """Return all macros as one script for the DuckDB shell."""
    return "\n\n".join(statement for _, _, statement in definitions()) + "\n"
