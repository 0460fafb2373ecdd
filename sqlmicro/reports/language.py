"""The languages of a report: what a sentence is there, and how numbers and days are written.

`languages/de.toml` has a translation for every English sentence that a report may say: `"English" = "German"`, with the
same places, such as `{n:,}`, in any order. What is not in it stays English. To add a language, copy the file and
translate its right side; `tests/reports/test_language.py` says what is missing. Both languages there are have one form
for one and another for all other numbers, so that these are two sentences; a language with more forms needs more.

Numbers as a report writes them: three significant digits, counts in full.
"""

from __future__ import annotations

import os
import re
import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cache
from math import floor, isfinite, log10
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from sqlmicro.options.params import Param
from sqlmicro.system.sentences import Said, figure, say

Lang = Literal["en", "de"]
LANG_VARIABLE = "SQLMICRO_LANG"
"""The language where a command, or a notebook, is told none. Not the locale of the machine: a nightly job and a laptop
are to write the same page, and who reads it is seldom who made it."""
CATALOGUES = Path(__file__).parent / "languages"
_PLACE = re.compile(r"\{\{|\}\}|\{[^{}]*\}")


@dataclass(frozen=True, kw_only=True)
class LanguageOption:
    """In which language a report is written."""

    lang: Annotated[
        Lang,
        Param(
            "Language of the report, its numbers and days; names, methods and options stay as they are.",
            env=LANG_VARIABLE,
        ),
    ] = "en"


@dataclass(frozen=True, eq=False)
class Language:
    """A language: its code, its sentences by the English ones, and how numbers and days are written."""

    code: str
    sentences: Mapping[str, str] = field(default_factory=dict)
    thousands: str = ","
    decimal: str = "."
    day: str = "%Y-%m-%d"

    def told(self, text: str) -> str:
        """Return a text as it is said in the language; what is no sentence, such as a name, stays.

        >>> from sqlmicro.system.sentences import say
        >>> language("de").told(say("{n:,} records", n=1234)), language("de").told("records")
        ('1.234 Datensätze', 'records')
        """
        if not isinstance(text, Said):
            return text
        sentence = self.sentences.get(text.sentence, text.sentence) if has_words(text.sentence) else text.sentence
        return _Formatter(self).vformat(sentence, (), text.places)


@dataclass(frozen=True)
class _Formatter(string.Formatter):
    """What stands in the places of a sentence, in a language."""

    language: Language

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return what stands in a place, as it is written."""
        own = self.language
        if isinstance(value, str):
            return format(own.told(value), format_spec)
        if isinstance(value, datetime):
            return value.strftime(f"{own.day} %H:%M")
        if isinstance(value, date):
            return value.strftime(own.day)
        return format(value, format_spec).translate({ord(","): own.thousands, ord("."): own.decimal})


def has_words(sentence: str) -> bool:
    """Tell whether there is anything to translate beside the places of a sentence.

    >>> has_words("{n:,} records"), has_words("{n:,} %")
    (True, False)
    """
    return any(character.isalpha() for character in _PLACE.sub("", sentence))


def places(sentence: str) -> Sequence[str]:
    """Return the places of a sentence, in the order of their names.

    >>> places("{n:,} of {table}")
    ['{n:,}', '{table}']
    """
    return sorted(place for place in _PLACE.findall(sentence) if place not in ("{{", "}}"))


@cache
def language(code: str) -> Language:
    """Return a language with its catalogue."""
    path = CATALOGUES / f"{code}.toml"
    if not path.is_file():
        return Language(code)
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    return Language(code, read["sentences"], **read["written"])


ENGLISH = language("en")


def of_environment() -> Language:
    """Return the language of a notebook: English where the environment names none that there is."""
    code = os.environ.get(LANG_VARIABLE, "")
    return language(code) if code in get_args(Lang) else ENGLISH


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
