"""Running audits: what the inputs allow, or what was asked for, each held to its gate.

The audits as macros: whoever has a DuckDB shell and a release can repeat them without this program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from sqlmicro.audits.audited import AuditedRelease
from sqlmicro.audits.registry import Audit, AuditRow, Found, NothingToMeasure, Status, audits, find
from sqlmicro.database.templates import header, root
from sqlmicro.errors import InputError, QueryError
from sqlmicro.options.params import settle
from sqlmicro.system.sentences import say, term

_OPTION = {"frame": "--population or --weight", "control": "--control, or a release that can be rehearsed"}


def run(
    audited: AuditedRelease, wanted: Sequence[str], gates: Mapping[str, float], settings: Mapping[str, object]
) -> list[AuditRow]:
    """Run audits and return one row each, or one for every column they measure alone.

    Parameters
    ----------
    audited : AuditedRelease
        What is audited.
    wanted : sequence of str
        Names of audits. Empty: all that there are the inputs for and that are not on request only; of these, what
        has nothing to measure, such as the correlations of one column, is left out.
    gates : mapping
        Threshold by the name of a gate; its audit runs, whatever is wanted.
    settings : mapping
        Settings of audits, by name; the defaults for those that are left out.

    Returns
    -------
    list of AuditRow
        An audit that could not run has value None, is not passed, and unknown.
    """
    asked = [find(name) for name in wanted]
    gated = [found for found in audits().values() if gates.get(found.gate) is not None]
    rows: list[AuditRow] = []
    for found in audits().values():
        named = found in asked or found in gated
        able = not (wanted or found.on_request) and all(audited.has(need) for need in found.needs)
        if named or able:
            results, broken = _found(found, audited, gates.get(found.gate), settings)
            made = [_row(found, audited, gates.get(found.gate), result, asked=named) for result in results]
            rows += [row for row in made if named or row.value is not None or broken]
    return rows


def _found(
    found: Audit, audited: AuditedRelease, threshold: float | None, settings: Mapping[str, object]
) -> tuple[list[Found], bool]:
    """Run an audit; return what it found, and whether it broke off."""
    missing = [_OPTION.get(need, f"--{need}") for need in found.needs if not audited.has(need)]
    if missing:
        both = reduce(lambda one, other: say("{one} and {other}", one=one, other=other), map(term, missing))
        return [Found(None, reason=say("needs {what}", what=both))], False
    own = {parameter.name: settings[parameter.name] for parameter in found.parameters if parameter.name in settings}
    try:
        results = found.function(audited, threshold, **settle(found.parameters, own, found.name))
    except NothingToMeasure as error:
        results = Found(None, reason=str(error))
    except (InputError, QueryError) as error:
        return [Found(None, reason=str(error))], True
    return results if isinstance(results, list) else [results], False


def _row(found: Audit, audited: AuditedRelease, threshold: float | None, result: Found, *, asked: bool) -> AuditRow:
    value = result.value
    if threshold is not None and not found.at_least:
        threshold = max(threshold, result.free)
    status: Status = "measured"
    if value is None or value != value:
        value, status = None, "unknown"
    elif threshold is not None:
        status = "passed" if found.holds(value, threshold) else "failed"
    return AuditRow(
        found.name,
        list(result.columns or (column.name for column in audited.quasi)),
        value,
        threshold,
        found.at_least,
        None if status == "measured" else status == "passed",
        status,
        audited.nulls,
        (result.reason or say("there is nothing to measure")) if status == "unknown" else None,
        result.detail,
        asked,
    )


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
