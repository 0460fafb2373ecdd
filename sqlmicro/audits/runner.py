"""Running audits: what the inputs allow, or what was asked for, each held to its gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlmicro.audits.registry import Audit, Found, NothingToMeasure, audits, find
from sqlmicro.audits.subject import Subject
from sqlmicro.errors import InputError, QueryError
from sqlmicro.options.params import settle

_OPTION = {"frame": "--population or --weight"}


def run(
    subject: Subject, wanted: Sequence[str], gates: Mapping[str, float], settings: Mapping[str, object]
) -> list[dict[str, Any]]:
    """Run audits and return one row each, or one for every column they measure alone.

    Parameters
    ----------
    subject : Subject
        What is audited.
    wanted : sequence of str
        Names of audits. Empty: all that the subject has the inputs for and that are not on request only; of these, what
        has nothing to measure, such as the correlations of one column, is left out.
    gates : mapping
        Threshold by the name of a gate; its audit runs, whatever is wanted.
    settings : mapping
        Settings of audits, by name; the defaults for those that are left out.

    Returns
    -------
    list of dict
        `check`, `columns`, `value`, `threshold`, `at_least`, `passed`, `status` (measured, passed, failed, unknown),
        `asked` (whether it was named or gated), `nulls` (how NULL was read), `reason` if unknown, and what else was
        found. `passed` is None where nothing was
        demanded. An audit that could not run has value None, is not passed, and unknown.
    """
    asked = [find(name) for name in wanted]
    gated = [found for found in audits().values() if gates.get(found.gate) is not None]
    rows = []
    for found in audits().values():
        named = found in asked or found in gated
        able = not (wanted or found.on_request) and all(subject.has(need) for need in found.needs)
        if named or able:
            made = _rows(found, subject, gates.get(found.gate), settings)
            rows += [row | {"asked": named} for row in made if named or row["value"] is not None or row["broken"]]
    for row in rows:
        del row["broken"]
    return rows


def _rows(
    found: Audit, subject: Subject, threshold: float | None, settings: Mapping[str, object]
) -> list[dict[str, Any]]:
    missing = [_OPTION.get(need, f"--{need}") for need in found.needs if not subject.has(need)]
    if missing:
        return [_row(found, subject, threshold, Found(None, detail={"reason": f"needs {' and '.join(missing)}"}))]
    own = {parameter.name: settings[parameter.name] for parameter in found.parameters if parameter.name in settings}
    try:
        results = found.function(subject, threshold, **settle(found.parameters, own, found.name))
    except NothingToMeasure as error:
        results = Found(None, detail={"reason": str(error)})
    except (InputError, QueryError) as error:
        return [_row(found, subject, threshold, Found(None, detail={"reason": str(error)})) | {"broken": True}]
    results = results if isinstance(results, list) else [results]
    return [_row(found, subject, threshold, result) for result in results]


def _row(found: Audit, subject: Subject, threshold: float | None, result: Found) -> dict[str, Any]:
    value = result.value
    if value is None or value != value:
        value, status = None, "unknown"
    elif threshold is None:
        status = "measured"
    else:
        status = "passed" if found.holds(value, threshold) else "failed"
    row = {
        "check": found.name,
        "columns": list(result.columns or (column.name for column in subject.quasi)),
        "value": value,
        "threshold": threshold,
        "at_least": found.at_least,
        "passed": None if status == "measured" else status == "passed",
        "status": status,
        "nulls": subject.nulls,
        "broken": False,
    }
    if status == "unknown":
        row["reason"] = "there is nothing to measure"
    return row | result.detail


def described(row: Mapping[str, Any]) -> str:
    """Return a row as a clause of a sentence.

    >>> described({"check": "t-closeness", "columns": ["a"], "value": 0.5, "threshold": 0.2, "at_least": False})
    't-closeness (a) is 0.5, needed at most 0.2'
    """
    of = f" ({', '.join(row['columns'])})" if row["columns"] else ""
    value = f"unknown: {row['reason']}" if row["value"] is None else f"{row['value']:.6g}"
    if row["threshold"] is None:
        return f"{row['check']}{of} is {value}"
    return f"{row['check']}{of} is {value}, needed {'at least' if row['at_least'] else 'at most'} {row['threshold']:g}"
