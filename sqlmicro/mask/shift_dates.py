"""Shifted dates: all dates of a person moved by the same number of days, so that the intervals between them stay."""

from __future__ import annotations

import hmac
import re
from datetime import date
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated

from sqlmicro.errors import InputError, ParameterError
from sqlmicro.options.params import Param
from sqlmicro.registry import method, of_no_column
from sqlmicro.system import secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

_EPOCH = date(1970, 1, 1)
_FIRST, _LAST = (date.min - _EPOCH).days, (date.max - _EPOCH).days
_MICROSECONDS = 24 * 60 * 60 * 1_000_000
_EXACT = 2**53 // _MICROSECONDS
"""Days from 1970 within which every microsecond is a number of its own: from 1684 to 2255."""
_LONGEST = 36_500
_KNOWN = 10
"""So many persons with one date make it one that somebody else may know, such as the start of a study."""


@method(
    "shift-dates",
    stage="mask",
    engine="sql",
    promise="masked",
    assures=of_no_column,
    source="Hripcsak et al. (2016); Johnson et al. (2016), MIMIC-III",
    templates=(
        "mask/person_offsets.sql",
        "mask/real_dates.sql",
        "mask/unfit_dates.sql",
        "mask/shared_dates.sql",
        "mask/shifted_dates.sql",
        "mask/beyond_period.sql",
    ),
    takes_strata=False,
)
def shift_dates(
    work: Work,
    *,
    within: Annotated[
        str | None, Param("The most days that a person's dates are moved by, such as 30d.", metavar="DAYS")
    ] = None,
    unshifted: Annotated[
        tuple[str, ...],
        Param("Dates that stand for none, such as 9999-12-31: they stay as they are.", metavar="DATE,DATE"),
    ] = (),
) -> Outcome:
    """Move all dates of a person by the same number of days: intervals and order are kept, the days are not.

    Returns
    -------
    Outcome
        New values of all columns.

    Raises
    ------
    ParameterError
        When nobody says whose record it is, or for a width or a date of another form.
    InputError
        For columns without dates, dates that cannot be moved, and a date that would tell by how much it was moved.

    Notes
    -----
    It needs --person. The offset is a whole number of days from -within to +within, 0 too, all equally likely: nobody
    can tell a person who was not moved. It is a keyed hash of the text of the person's key and nothing else. So it is
    the same in all columns, rows and tables, and in every release with the same --within, whatever the seed; a key of
    several columns is taken in the order in which they are named. The key is the lasting secret, SQLMICRO_SECRET or a
    file of the user. A secret that does not last is refused: two offsets for the same dates tell more than one. For
    the same reason release one width only.

    A day is 24 hours. Intervals are kept exactly, to the microsecond, leap days and changes of summer time included;
    of a TIMESTAMP WITH TIME ZONE the local time of day may change by an hour. Records without a person are one person:
    one known date tells the offset of all of them. NULL stays NULL. O(n log n).

    What it promises: a date alone is not that of its event. What it does not: no k is promised. Intervals are exact,
    and a person with a few of them is often the only one: whoever knows three visits by date finds the pattern, and
    with it the offset of everything else of that person. Season, and nearly the weekday, of a narrow width remain. One
    date of a person that is known, or that stands beside it unmoved, such as an age to the day, tells the offset. Dates
    at the end of the table's period are moved beyond it, which tells part of the offset; the report counts these.
    """
    days, unmoved = _width(work, within), _unshifted(work, unshifted)
    person, columns = _person(work), [(column, _day(column)) for column in work.columns]
    _refuse_others(work)
    secret = secrets.lasting()
    if not secret.lasts:
        raise ParameterError(
            f"{work.where}, key", "needs a secret that lasts: two runs must move a person alike", "a new one",
            f"Set {secrets.LASTING_VARIABLE}",
        )  # fmt: skip
    work.outcome.account.key_fingerprint = secret.fingerprint
    stream = f"sqlmicro_offsets_{days}"
    work.warehouse.set_key(stream, hmac.digest(secret.value, f"sqlmicro offsets {days}".encode(), sha256).hex()[:32])
    offsets = work.run(
        "mask/person_offsets.sql", "offsets", original=work.demand.original, person=person, stream=stream,
        within=days,
    )  # fmt: skip
    dates = work.relation
    if unmoved:
        dates = work.run("mask/real_dates.sql", "dates", relation=dates, columns=columns, unshifted=unmoved)
    _refuse_unfit(work, dates, days)
    _refuse_shared(work, dates, offsets, days)
    shifted = work.run(
        "mask/shifted_dates.sql", "shifted", relation=work.relation, dates=dates, offsets=offsets, columns=columns
    )
    work.replace_all(work.columns, shifted)
    _note(work, dates, shifted, offsets)
    return work.outcome


def _width(work: Work, within: str | None) -> int:
    found = re.fullmatch(r"([0-9]{1,5})d", within or "", re.ASCII)
    days = int(found[1]) if found else 0
    if not 1 <= days <= _LONGEST:
        must = f"must be a number of days from 1d to {_LONGEST}d"
        raise ParameterError(f"{work.where}, within", must, repr(within) if within else "none", "Write --within 30d")
    return days


def _unshifted(work: Work, texts: Sequence[str]) -> list[float]:
    """Return the days since 1970 of the dates that stand for none."""
    try:
        return [float((date.fromisoformat(text) - _EPOCH).days) for text in texts]
    except ValueError:
        must = "must be dates as YYYY-MM-DD"
        raise ParameterError(f"{work.where}, unshifted", must, ", ".join(texts)) from None


def _person(work: Work) -> Sequence[Column]:
    """Return the columns that say whose record it is; their text has to be the same in every table."""
    person = work.demand.person
    if not person:
        raise ParameterError(
            f"{work.where}, person", "must say whose dates are moved together", "none",
            "Name the column that says it, as in --person patient_id; where every record is a person, its key",
        )  # fmt: skip
    unfit = ("float", "date", "timestamp", "timestamptz")
    wrong = [f"{column.name} ({column.type})" for column in person if column.family in unfit]
    if wrong:
        must = "is text, whole numbers, decimals, UUIDs or truth values: others have not the same text in every table"
        raise InputError(f"{work.where}, person", must, ", ".join(wrong), "Convert it to text in a view first")
    return person


def _refuse_others(work: Work) -> None:
    """Refuse what has no days, and dates of a household: moved with one person, they would be wrong for the others."""
    if work.unit == "household":
        names = ", ".join(column.name for column in work.columns)
        raise InputError(
            work.where, "moves dates with the person, not those of a household", names,
            "Leave them out, or name the household as --person: all its dates are then moved alike",
        )  # fmt: skip
    fits = ("date", "timestamp", "timestamptz")
    wrong = [f"{c.name} ({c.type})" for c in work.columns if c.family not in fits or c.type.upper() == "TIMESTAMP_NS"]
    if wrong:
        do = "Convert it to DATE or TIMESTAMP in a view first"
        raise InputError(work.where, "works on dates, and on timestamps to the microsecond", ", ".join(wrong), do)


def _day(column: Column) -> int:
    """Return how many units of a column are a day."""
    return 1 if column.family == "date" else _MICROSECONDS


def _refuse_unfit(work: Work, dates: Name, days: int) -> None:
    bounds = []
    for column in work.columns:
        day = _day(column)
        first, last = (_FIRST, _LAST) if day == 1 else (-_EXACT, _EXACT)
        bounds.append((column, (first + days) * day, (last - days + 1) * day - 1))
    rows = work.warehouse.rows("mask/unfit_dates.sql", dates=dates, columns=bounds)
    wrong = [f"{unfit:,} in {work.columns[place - 1].name}" for place, unfit in sorted(rows) if unfit]
    if wrong:
        raise InputError(
            work.where,
            f"moved by {days} days, every date must stay in the years 1 to 9999, a timestamp in 1685 to 2254",
            "others or infinite ones: " + ", ".join(wrong),
            "Name dates that stand for none with --unshifted 9999-12-31, or make them NULL in a view",
        )


def _refuse_shared(work: Work, dates: Name, offsets: Name, days: int) -> None:
    """Refuse a date that is known to be there, and that nothing near it could be taken for."""
    columns = [(column, _day(column)) for column in work.columns]
    rows = work.warehouse.rows(
        "mask/shared_dates.sql", dates=dates, offsets=offsets, columns=columns, within=days, least=_KNOWN
    )
    wrong = [f"{persons:,} persons in {work.columns[place - 1].name}" for place, persons in sorted(rows) if persons]
    if wrong:
        raise InputError(
            work.where,
            f"no date may have more than half of all within {days} days of it: it tells by how much it was moved",
            "one of " + ", of ".join(wrong),
            "Name a date that stands for none with --unshifted, make it NULL in a view, drop the column, or use a "
            "larger --within",
        )


def _note(work: Work, dates: Name, shifted: Name, offsets: Name) -> None:
    columns = [(column, _day(column)) for column in work.columns]
    rows = work.warehouse.rows("mask/beyond_period.sql", dates=dates, shifted=shifted, columns=columns)
    beyond = [
        f"{work.columns[place - 1].name} ({100 * out / moved:.2g} %)" for place, out, moved in sorted(rows) if out
    ]
    if beyond:
        work.note(
            f"dates outside of the period that their column had before: {', '.join(beyond)}. Whoever knows that period "
            "learns by how many days these persons were moved at least"
        )
    ((missing,),) = work.warehouse.query(
        "offsets", "SELECT count(*) FILTER (WHERE missing) FROM {{ offsets | ident }}", offsets=offsets
    )
    if missing:
        work.note(
            f"{missing:,} records have no person: they are moved alike, as if they were one. One known date among them "
            "tells the offset of all"
        )
