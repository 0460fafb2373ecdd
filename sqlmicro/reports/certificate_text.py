"""A certificate that was written, as text."""

from __future__ import annotations

import textwrap

from sqlmicro.publish.certificate import Attested, Certified
from sqlmicro.publish.report import Recounted
from sqlmicro.reports.text import table, width


def certified(report: Certified) -> str:
    """Return what a stranger can recount, what is only attested, and who signed."""
    told = report.told
    if report.signer is None:
        signed = "NOT SIGNED: nobody vouches for it"
    else:
        signed = f"signed by {report.signer}; the signature is {report.signature}"
    earlier = ", ".join(str(one.release) for one in told.ledger.consulted) or "none"
    blocks = [
        textwrap.fill(f"certificate {report.to} of {told.release.name}, {told.release.rows:,} rows; {signed}", width()),
        "Anybody can recount:\n" + table([_counted(one) for one in told.recounted], _HEADER),
    ]
    if told.attested:
        blocks.append("Only attested:\n" + table([_attested(one) for one in told.attested], _HEADER))
    if told.not_counted:
        blocks.append("Not counted: " + ", ".join(f"{name} ({why})" for name, why in told.not_counted.items()))
    blocks.append(f"Measured with earlier releases: {earlier}")
    return "\n\n".join(blocks)


_HEADER = ["check", "found", "promised", "over"]


def _counted(one: Recounted) -> list[str]:
    over = ", ".join([*one.columns, *([one.sensitive] if one.sensitive else [])])
    return [one.check, _shown(one.value), _shown(one.threshold), over]


def _attested(one: Attested) -> list[str]:
    check, _, over = one.check.partition(" (")
    passed_over = one.threshold is not None and one.passed is None
    return [
        check,
        _shown(one.value),
        _shown(one.threshold),
        "not required of it" if passed_over else over.removesuffix(")"),
    ]


def _shown(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"
