"""Numbers as a report writes them: three significant digits, counts in full."""

from __future__ import annotations

from math import floor, isfinite, log10

from sqlmicro.system.sentences import Said, figure, say

_NOTHING = 1e-12
"""What floating-point arithmetic cannot tell from 0."""


def number(value: float | None) -> Said:
    """Return a measured number with three significant digits.

    >>> number(0.0123456), number(2), number(90929693.2), number(-0.5), number(0), number(None)
    ('0.0123', '2.00', '90,900,000', '-0.500', '0', 'unknown')
    """
    if value is None or not isfinite(value):
        return say("unknown")
    if abs(value) < _NOTHING:
        return figure(0)
    power = floor(log10(abs(float(f"{value:.2e}"))))
    if not -5 <= power < 15:
        return figure(value, ".2e")
    return figure(round(value, 2 - power), f",.{max(0, 2 - power)}f")


def percent(share: float | None) -> Said:
    """Return a share in percent, with three significant digits.

    >>> percent(0.3333), percent(1), percent(0)
    ('33.3 %', '100 %', '0 %')
    """
    return say("unknown") if share is None else say("{x} %", x=number(100 * share))


def plain(value: float) -> Said:
    """Return a round number in full, millions as M.

    >>> plain(10.0), plain(0.25), plain(1500000.0)
    ('10', '0.25', '1.5 M')
    """
    if abs(value) >= 1e6:
        return say("{x:,.10g} M", x=value / 1e6)
    return figure(value, ",.0f" if value == int(value) else ",.10g")
