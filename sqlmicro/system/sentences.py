"""Sentences that can be said in another language: English text that remembers its sentence and what stands in it.

A `Said` is a string, in English: messages, JSON and comparisons take it as one. A report in another language looks up
its sentence instead, and writes numbers and days as they are written there; see `reports.language`. Names and values of
a table are plain strings, which nobody translates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any


class Said(str):
    """A text, the sentence it was made from, and what stands in the places of the sentence.

    Attributes
    ----------
    sentence : str
        In English, with places such as `{n:,}`: the key of a translation.
    places : dict
        What stands in them: names and values as `str`, numbers, days, and other texts as `Said`.
    """

    sentence: str
    places: Mapping[str, Any]

    def __new__(cls, sentence: str, places: Mapping[str, Any]) -> Said:
        """Make the English text."""
        made = super().__new__(cls, sentence.format(**places))
        made.sentence, made.places = sentence, places
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Return what a copy is made from."""
        return self.sentence, self.places

    def each(self, change: Callable[[Any], Any]) -> Said:
        """Return the text with something else in its places."""
        return Said(self.sentence, {name: change(value) for name, value in self.places.items()})


def say(sentence: str, **places: Any) -> Said:
    """Return a sentence with its places filled; it is written out where it is said, so that a test finds it.

    >>> say("{n:,} records of {table}", n=1234, table="persons")
    '1,234 records of persons'
    """
    return Said(sentence, places)


def term(text: str) -> Said:
    """Return what the program has a name or a line for elsewhere, such as an audit: it is translated as a whole.

    >>> term("k-anonymity"), term("{a}")
    ('k-anonymity', '{a}')
    """
    return text if isinstance(text, Said) else Said(text.replace("{", "{{").replace("}", "}}"), {})


def figure(value: Any, form: str = "") -> Said:
    """Return a number or a day by itself.

    >>> figure(1234.5, ",.2f")
    '1,234.50'
    """
    return Said("{x:" + form + "}", {"x": value})


def join(texts: Iterable[str], between: str = " ") -> Said:
    """Return texts one after another, without those that are empty.

    >>> join([say("{n} of", n=3), "", "persons"]), join([])
    ('3 of persons', '')
    """
    places = {f"p{number}": text for number, text in enumerate(filter(None, texts))}
    return Said(between.join(f"{{{name}}}" for name in places), places)


def names(columns: Iterable[str], most: int = 12, none: str = "") -> Said:
    """Return names in one line, so many at most, and what stands for none.

    >>> names(["a", "b"]), names("abcd", 2), names([], none=say("none"))
    ('a, b', 'a, b and 2 more', 'none')
    """
    listed = list(columns)
    if not listed:
        return term(none)
    shown = join(listed[:most], ", ")
    return say("{names} and {n:,} more", names=shown, n=len(listed) - most) if len(listed) > most else shown
