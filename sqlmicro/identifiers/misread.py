"""Text that reads as numbers, dates or amounts, but for a few values: what it is, and what reads it so."""

from __future__ import annotations

import shlex

from sqlmicro.database.columns import Misread, Reading
from sqlmicro.identifiers.judge import Sample

_MOST = 0.9
_COMMAS = 0.3
"""The least share of values with a decimal comma: others may be whole."""
_DATES = (
    ("date by year", "%Y-%m-%d"), ("date by year with /", "%Y/%m/%d"), ("date with dots", "%d.%m.%Y"),
    ("date by month", "%m/%d/%Y"), ("date by day", "%d/%m/%Y"),
)  # fmt: skip


def misread(sample: Sample, *, csv: bool) -> Misread | None:
    """Return what nine tenths of the values of a text column read as, where they do; words for missing ones aside.

    >>> of = {"whole": 90, "missing": 1, "number": 90}
    >>> told = misread(Sample("income", "text", 91, of, {"missing": ["NA"]}), csv=True)
    >>> told.what, told.how
    ('numbers', '--null-string NA')
    >>> misread(Sample("line", "text", 90, {"whole": 90, "number": 90}), csv=True)
    """
    words = sample.listed.get("missing", ())
    there = sample.total - sample.matched.get("missing", 0)
    if sample.family != "text" or there < 2:
        return None
    found = _read_as(sample, there)
    if found is None:
        return None
    what, own, matched = found
    if own is None:
        return Misread(what, "make numbers of it in SQL, such as CAST(replace(x, '%', '') AS DOUBLE) in a view")
    if not csv:
        kind = "DATE" if what == "dates" else "DOUBLE"
        return Misread(what, f"make a column of them in SQL, with TRY_CAST(x AS {kind}) or TRY_STRPTIME(x, format)")
    options = [*own, *(["--null-string " + shlex.quote(",".join(sorted(words)))] if words else [])]
    others = "what else stands for a missing value" if words else "what stands for a missing value"
    if matched < there or not options:
        options.append(f"{'with' if words else 'and name in --null-string'} {others}{' in it' if words else ''}")
    dates = tuple(form for name, form in _DATES if what == "dates" and sample.matched.get(name, 0) == matched)
    comma = what == "numbers with decimal comma"
    return Misread(what, " ".join(options), Reading(tuple(sorted(words)), comma, dates))


def _read_as(sample: Sample, there: int) -> tuple[str, list[str] | None, int] | None:
    """Return what the values read as, the options that read them (None where none does), and how many they read."""
    count = sample.matched
    dates = {form: count.get(name, 0) for name, form in _DATES}
    if (most := max(dates.values())) >= _MOST * there:
        forms = [form for form, matched in dates.items() if matched == most]
        return "dates", [] if forms == ["%Y-%m-%d"] else [f"--date-format {' or '.join(forms)}"], most
    commas, whole, numbers = (count.get(name, 0) for name in ("decimal comma", "whole", "number"))
    if commas >= _COMMAS * there and commas + whole >= _MOST * there:
        return "numbers with decimal comma", ["--decimal ,"], commas + whole
    # Digits and nothing else are text on purpose, as are those that begin with 0.
    mixed = count.get("missing") or min(numbers, whole) < there
    if numbers >= _MOST * there and mixed and not count.get("leading zero"):
        return "numbers", [], numbers
    for name, what in (("percentage", "percentages"), ("amount", "amounts of money")):
        if count.get(name, 0) >= _MOST * there:
            return what, None, count[name]
    return None
