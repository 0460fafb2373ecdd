"""Numbers as a report writes them: three significant digits, counts in full."""

from __future__ import annotations

from math import floor, isfinite, log10

_NOTHING = 1e-12
"""What floating-point arithmetic cannot tell from 0."""


def number(value: float | None) -> str:
    """Return a measured number with three significant digits.

    >>> number(0.0123456), number(2), number(90929693.2), number(-0.5), number(0), number(None)
    ('0.0123', '2.00', '90,900,000', '-0.500', '0', 'unknown')
    """
    if value is None or not isfinite(value):
        return "unknown"
    if abs(value) < _NOTHING:
        return "0"
    power = floor(log10(abs(float(f"{value:.2e}"))))
    if not -5 <= power < 15:
        return f"{value:.2e}"
    return f"{round(value, 2 - power):,.{max(0, 2 - power)}f}"


def percent(share: float | None) -> str:
    """Return a share in percent, with three significant digits.

    >>> percent(0.3333), percent(1), percent(0)
    ('33.3 %', '100 %', '0 %')
    """
    return "unknown" if share is None else f"{number(100 * share)} %"


def plain(value: float) -> str:
    """Return a round number in full, millions as M.

    >>> plain(10.0), plain(0.25), plain(1500000.0)
    ('10', '0.25', '1.5 M')
    """
    if abs(value) >= 1e6:
        return f"{value / 1e6:,.10g} M"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.10g}"
