"""Ranges of numbers and dates, as generalized columns are written: an attacker reads them."""

from __future__ import annotations

import math
import re
from datetime import date

Range = tuple[float, float]
EVERYTHING = (-math.inf, math.inf)
_BETWEEN = re.compile(r"\[(.+), (.+)[])]")
_EPOCH = date(1970, 1, 1).toordinal()


def read(text: str, dates: bool) -> Range | None:
    """Return the least and the greatest value that a text stands for, or None if it is no range.

    An end that does not belong to the range is taken to do so. Dates become days since 1970.

    >>> read("[20, 30)", False), read("< 5", False), read("7", False), read("twenties", False)
    ((20.0, 30.0), (-inf, 5.0), (7.0, 7.0), None)
    >>> read("[1970-01-02, 1970-02-01]", True)
    (1.0, 31.0)
    """
    if text == "*":
        return EVERYTHING
    low, high = EVERYTHING
    between = _BETWEEN.fullmatch(text)
    try:
        if between:
            low, high = _number(between[1], dates), _number(between[2], dates)
        elif text.startswith("< "):
            high = _number(text[2:], dates)
        elif text.startswith(">= "):
            low = _number(text[3:], dates)
        else:
            low = high = _number(text, dates)
    except ValueError:
        return None
    return (low, high) if low <= high else None


def _number(text: str, dates: bool) -> float:
    return float(date.fromisoformat(text).toordinal() - _EPOCH) if dates else float(text)
