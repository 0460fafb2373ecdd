"""Row tests of the templates of shift-dates: sql/mask/, dates moved by persons."""

from __future__ import annotations

from datetime import UTC, date, datetime
from hashlib import sha256

from sqlmicro.database.warehouse import ORDER

from .case import KEY, Case, col, rel, values

SEEN, AT = col("seen", "DATE"), col("moment", "TIMESTAMP")
WHO, CLINIC = col('"who"', "VARCHAR"), col("clinic", "INTEGER")
DAY = 24 * 60 * 60 * 1_000_000


def moved(*parts, within):
    """Return the keyed hash of a person and its offset; a part of None is missing."""
    hashed = "".join("missing" if part is None else sha256(part.encode()).hexdigest() for part in parts)
    person = sha256(f"{KEY} {hashed}".encode()).hexdigest()
    return person, int(person[:15], 16) % (2 * within + 1) - within


def day_number(year, month, day):
    """Return the days from 1970 to a date."""
    return (date(year, month, day) - date(1970, 1, 1)).days


def microseconds(*parts):
    """Return the microseconds from 1970 to a moment."""
    passed = datetime(*parts, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return (passed.days * 86400 + passed.seconds) * 1_000_000 + passed.microseconds


OFFSETS = values("row_id, person, missing, days", "(0, 'p', false, 3)", "(1, 'p', false, 3)", "(2, 'q', false, -1)")
BOTH = {"columns": [(SEEN, 1), (AT, DAY)]}
# A leap day, the night in which summer time began, and one missing date.
DATES = values(
    "row_id, seen, moment",
    f"(0, {day_number(2024, 2, 27)}e0, {microseconds(2026, 3, 28, 1, 30)}e0)",
    f"(1, {day_number(2024, 3, 1)}e0, {microseconds(2026, 3, 29, 3, 30)}e0)",
    f"(2, NULL, {microseconds(1969, 12, 31, 23, 59, 59, 999999)}e0)",
)

CASES: list[Case] = [
    # Numbers and texts that read alike are one person; (a, NULL) is another one than (NULL, a).
    Case(
        "mask/person_offsets.sql",
        given={"read": values('row_id, """who""", clinic', "(0, '17', 1)", "(1, NULL, 1)", "(2, '1', NULL)",
                              "(3, NULL, NULL)", "(4, '17', 1)")},
        params={"original": rel("read"), "person": [WHO, CLINIC], "stream": ORDER, "within": 30},
        returns=["row_id", "person", "missing", "days"],
        expect=[
            (0, moved("17", "1", within=30)[0], False, moved("17", "1", within=30)[1]),
            (1, moved(None, "1", within=30)[0], False, moved(None, "1", within=30)[1]),
            (2, moved("1", None, within=30)[0], False, moved("1", None, within=30)[1]),
            (3, moved(None, None, within=30)[0], True, moved(None, None, within=30)[1]),
            (4, moved("17", "1", within=30)[0], False, moved("17", "1", within=30)[1]),
        ],
    ),
    Case(
        "mask/person_offsets.sql",
        given={"read": values("row_id, clinic", "(0, 17)", "(1, 18)")},
        params={"original": rel("read"), "person": [CLINIC], "stream": ORDER, "within": 1},
        returns=["row_id", "person", "missing", "days"],
        expect=[(0, moved("17", within=1)[0], False, moved("17", within=1)[1]),
                (1, moved("18", within=1)[0], False, moved("18", within=1)[1])],
    ),
    # The whole day counts, also before 1970.
    Case(
        "mask/real_dates.sql",
        given={"typed": values("row_id, seen, moment",
                               f"(0, {day_number(9999, 12, 31)}e0, {microseconds(1969, 12, 31, 23, 59, 59)}e0)",
                               "(1, NULL, 0e0)", "(2, 2e0, -86400000001e0)")},
        params={**BOTH, "relation": rel("typed"),
                "unshifted": [float(day_number(9999, 12, 31)), float(day_number(1969, 12, 31))]},
        returns=["row_id", "seen", "moment"],
        expect=[(0, None, None), (1, None, 0.0), (2, 2.0, -86400000001.0)],
    ),
    Case(
        "mask/unfit_dates.sql",
        given={"dates": values("seen, moment", "(10e0, -5e0)", "(11e0, NULL)", "(-3e0, CAST('infinity' AS DOUBLE))")},
        params={"dates": rel("dates"), "columns": [(SEEN, -2, 10), (AT, -5, 9)]},
        returns=["place", "unfit"],
        expect=[(1, 2), (2, 1)],
    ),
    # Day 0: 2 persons, one of them with two moments; day 2: one. Within 1 day, day 0 is alone; within 2 it has 2 of 3.
    # In `seen` 1 and 1 person are 2 days apart: neither is more than half of both.
    Case(
        "mask/shared_dates.sql",
        given={"dates": values("row_id, seen, moment", "(0, 1e0, 0e0)", "(1, NULL, 5e0)", "(2, NULL, 86399999999e0)",
                               f"(3, 3e0, {2 * DAY}e0)"),
               "offsets": values("row_id, person", "(0, 'p')", "(1, 'p')", "(2, 'q')", "(3, 'r')")},
        params={**BOTH, "dates": rel("dates"), "offsets": rel("offsets"), "within": 2, "least": 1},
        returns=["place", "persons"],
        expect=[(1, 0), (2, 2)],
    ),
    # 100 persons on day 0 and as many on day 1: either may be the other. Within 1 day there is nothing else.
    Case(
        "mask/shared_dates.sql",
        given={"dates": "SELECT i AS row_id, (i // 100)::DOUBLE AS seen FROM range(201) t(i)",
               "offsets": "SELECT i AS row_id, 'p' || i AS person FROM range(201) t(i)"},
        params={"columns": [(SEEN, 1)], "dates": rel("dates"), "offsets": rel("offsets"), "within": 1, "least": 2},
        returns=["place", "persons"],
        expect=[(1, 0)],
    ),
    Case(
        "mask/shared_dates.sql",
        given={"dates": "SELECT i AS row_id, 7e0 AS seen FROM range(9) t(i)",
               "offsets": "SELECT i AS row_id, 'p' || i AS person FROM range(9) t(i)"},
        params={"columns": [(SEEN, 1)], "dates": rel("dates"), "offsets": rel("offsets"), "within": 1, "least": 10},
        returns=["place", "persons"],
        expect=[(1, 0)],
    ),
    Case(
        "mask/shifted_dates.sql",
        given={"dates": DATES, "offsets": OFFSETS,
               "typed": values("row_id, seen, moment", "(0, 0e0, 0e0)", "(1, 0e0, 0e0)",
                               f"(2, {day_number(9999, 12, 31)}e0, 0e0)")},
        params={**BOTH, "relation": rel("typed"), "dates": rel("dates"), "offsets": rel("offsets")},
        returns=["row_id", "seen", "moment"],
        expect=[
            (0, day_number(2024, 3, 1), microseconds(2026, 3, 31, 1, 30)),
            (1, day_number(2024, 3, 4), microseconds(2026, 4, 1, 3, 30)),
            (2, day_number(9999, 12, 31), microseconds(1969, 12, 30, 23, 59, 59, 999999)),
        ],
    ),
    # The period of `seen` is days 0 to 9, that of `moment` the whole days 0 and 1.
    Case(
        "mask/beyond_period.sql",
        given={"dates": values("row_id, seen, moment", "(0, 0e0, 3600e6)", f"(1, 9e0, {DAY}e0)", "(2, NULL, 0e0)"),
               "shifted": values("row_id, seen, moment", "(0, -1e0, 0e0)", f"(1, 8e0, {2 * DAY - 1}e0)",
                                 f"(2, 99e0, {2 * DAY}e0)")},
        params={**BOTH, "dates": rel("dates"), "shifted": rel("shifted")},
        returns=["place", "beyond", "moved"],
        expect=[(1, 1, 2), (2, 1, 3)],
    ),
]  # fmt: skip
