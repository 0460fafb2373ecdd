"""Telephone numbers: which texts are one, by the numbering plans of the countries."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _library() -> Any:
    # Imported where it is needed: its plans of all countries take a while to load.
    import phonenumbers

    return phonenumbers


def regions() -> frozenset[str]:
    """Return the countries whose numbering plan is known, by their two letters.

    >>> "DE" in regions(), "XX" in regions()
    (True, False)
    """
    found: frozenset[str] = frozenset(_library().SUPPORTED_REGIONS)
    return found


def is_international(text: str) -> bool:
    """Tell whether a text is a telephone number with a country code.

    >>> [is_international(text) for text in ("+49 30 123456", "0049 30 123456", "+1-555-0100", "+12", "030 123456")]
    [True, True, True, False, False]
    """
    number = _parsed("+" + text[2:] if text.startswith("00") else text, None)
    return number is not None and bool(_library().is_possible_number(number))


def is_national(text: str, region: str) -> bool:
    """Tell whether a text is a telephone number as it is written in a country, with or without the country's code.

    >>> is_national("030 1234567", "DE"), is_national("(212) 555-0123", "US"), is_national("12345678", "DE")
    (True, True, False)
    """
    number = _parsed(text, region)
    if number is None or not _library().is_valid_number(number):
        return False
    prefix = _library().PhoneMetadata.metadata_for_region(region).national_prefix
    digits = "".join(char for char in text if char.isdigit())
    plain = digits == text
    # Where numbers start with a prefix, such as 0, digits without it may be anything.
    return not (plain and prefix and prefix != "1" and not digits.startswith(prefix))


def _parsed(text: str, region: str | None) -> Any:
    try:
        return _library().parse(text, region)
    except _library().NumberParseException:
        return None
