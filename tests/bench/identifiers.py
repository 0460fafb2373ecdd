"""Precision and recall of the detection of direct identifiers over labelled columns, as JSON lines.

    python tests/bench/identifiers.py [--half "developed on"] [--show]

A column counts as found if `profile` proposes it for an identifier by its values or its name. With Faker installed,
the columns of its generators, which nothing was developed on, are measured too.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from _measure import emit  # noqa: E402
from labelled import Labelled, columns, found  # noqa: E402


def measure(what, labelled, show):
    started = time.perf_counter()
    results = found(labelled)
    right = [bool(result) == column.positive for column, result in zip(labelled, results, strict=True)]
    hits = sum(column.positive and result is not None for column, result in zip(labelled, results, strict=True))
    alarms = sum(result is not None for result in results)
    wanted = sum(column.positive for column in labelled)
    emit(
        columns=what, labelled=len(labelled), identifiers=wanted, precision=hits / alarms if alarms else 1.0,
        recall=hits / wanted if wanted else 1.0, seconds=time.perf_counter() - started,
    )  # fmt: skip
    for column, result, ok in zip(labelled, results, right, strict=True):
        if show and not ok:
            emit(missed=column.title) if column.positive else emit(false_alarm=column.title, as_=result.reason)


_LOCALES = "de_DE en_US fr_FR nl_NL es_ES pl_PL en_IN pt_BR it_IT sv_SE en_GB "
_LOCALES += "de_AT cs_CZ fi_FI da_DK ro_RO tr_TR hu_HU no_NO ja_JP zh_CN"


def faker_columns():
    """Return columns of Faker's generators, which are nobody's of ours."""
    import faker

    made = []
    for locale in _LOCALES.split():
        fake = faker.Faker(locale)
        fake.seed_instance(1)
        for kind, positive in (
            ("name", True), ("last_name", True), ("first_name", True), ("email", True), ("street_address", True),
            ("ssn", True), ("ipv4", True), ("user_name", True), ("phone_number", True),
            ("city", False), ("company", False), ("job", False), ("postcode", False), ("color_name", False),
            ("word", False), ("bs", False), ("country", False), ("date", False), ("ean13", False),
            ("currency_name", False),
        ):  # fmt: skip
            draw = getattr(fake, kind, None)
            if draw is None:
                continue
            values = tuple(str(draw()) for _ in range(200)) * 3
            name = {"ssn": "national_id", "user_name": "login", "phone_number": "tel"}.get(kind, "c1")
            made.append(Labelled(f"Faker {locale}, {kind}", name, kind, values, positive))
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", choices=["developed on", "held out", "Faker", "all"], default="all")
    parser.add_argument("--show", action="store_true", help="list the columns that were misjudged")
    given = parser.parse_args()
    labelled = columns()
    for half in ("developed on", "held out"):
        if given.half in (half, "all"):
            measure(half, [column for column in labelled if column.half == half], given.show)
    if given.half in ("Faker", "all"):
        try:
            measure("of Faker", faker_columns(), given.show)
        except ImportError:
            emit(columns="of Faker", error="faker is not installed")


if __name__ == "__main__":
    main()
