"""Names of persons: whether a text is one, by lists of common given names and surnames."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "ß": "ss"})
_OF_FAMILIES = re.compile(
    r"[^\W\d_]{3,}(?:ski|ska|cki|cka|dzki|dzka|wicz|czyk|czak|ssons?|sdotter|sdottir|ssen|nsen|rsen|lsen|tsen|dsen|escu"
    r"|eanu"
    r"|oglu|ovic|evic|ovich|evich|enko|chuk|czuk|inen|opoulos|opoulou|idis|akis|shvili|strom|stroem|qvist|quist|gren|ovova"
    r"|kova|nova|rova|lova|cova|[nkrlmdst]ov|elli|etti|ucci|acci|azzi|ozzi|igni|aldi|ardi|ieri|stra|inga|ema|huis|veld"
    r"|endez|inez|andez|guez|quez|alez|irez|arez|aharan|swamy|nathan|murthy|garwal|sinh|wala|kar|yan|tyan|zadeh|pour|nejad)"
)
"""Endings that surnames have, and few other words; of whole words without accents."""


@cache
def _listed(file: str) -> frozenset[str]:
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("#") for word in line.split())


def _is_east_asian(text: str) -> bool:
    """Tell whether a text starts with a surname in Chinese, Japanese or Korean letters, with a given name behind."""
    if not "\u3040" <= text[:1] <= "\ud7a3" or not 2 <= len(text) <= 8:
        return False
    given = {
        length: text[length:].strip() for length in (1, 2, 3) if text[:length] in _listed("surnames_east_asia.txt")
    }
    return any(len(rest) <= (2 if length == 1 else 4) for length, rest in given.items())


def plain(text: str) -> str:
    """Return text in lower case without accents; umlauts are written with an e.

    >>> plain("Jörg"), plain("Łukasz"), plain("José")
    ('joerg', 'lukasz', 'jose')
    """
    if text.isascii():
        return text.lower()
    umlauts = text.lower().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue").translate(_LETTERS)
    return "".join(char for char in unicodedata.normalize("NFKD", umlauts) if not unicodedata.combining(char))


def _is_one_of(word: str, names: frozenset[str]) -> bool:
    """Tell whether a word is in a list; an umlaut may be written there with or without its e."""
    own = plain(word)
    return own in names or own.replace("ae", "a").replace("oe", "o").replace("ue", "u") in names


_FIRM = re.compile(
    r"[&+]|\b(?:S[.]?A[.]?S?|S[.]?R[.]?L|[sS][.]?\s?r[.]?\s?o|a[.]s|Lda|e[.]K|KGaA|mbH|O[.]H[.]G)(?:\b"
    r"|[.]|$)"
)


def is_name(text: str) -> bool:
    """Tell whether a text is the name of a person: a common given name or surname, alone or where one stands.

    >>> [is_name(text) for text in ("Anna Schmidt", "GARCÍA, José", "J. Smith", "Bonn", "Müller GmbH", "Nguyễn Văn An")]
    [True, True, True, False, False, True]
    """
    if _is_east_asian(text):
        return True
    if _FIRM.search(text):
        return False
    given, surnames = _listed("given_names.txt"), _listed("surnames.txt")
    words = [word for word in re.split(r"[ ,.()’'`´/-]+", text.strip()) if word]
    if any(plain(word) in _listed("not_of_persons.txt") for word in words):
        return False
    told = [word for word in words if len(word) > 1 and plain(word) not in _listed("titles.txt")] or words[:1]
    if len(told) > 5:
        return False
    first, last = told[0], told[-1]
    if len(told) == 1:
        clear = len(words) > 1 or plain(first) not in _listed("ambiguous.txt")
        return clear and len(first) > 1 and (_is_one_of(first, given) or _is_surname(first, surnames))
    if any(_is_one_of(word, given) and plain(word) not in _listed("ambiguous.txt") for word in (first, last)):
        return True
    return all(_is_surname(word, surnames) or _is_one_of(word, given) for word in (first, last))


_BESIDE = re.compile(r"\b([^\W\d_]{2,})([.]? |, )(?=([^\W\d_a-z][^\W\d_]+))")
"""A word beside one with a capital letter. It is read from its beginning alone, so that a long text takes no longer."""
_SMALL = re.compile(r"\b[^\W\d_A-ZÀ-Þ][^\W\d_]+")
_FEWEST_SMALL = 2
"""Words in small letters: firms that are called by names have fewer, such as Smith, Brown and Jones."""
_TITLES = (
    "mr mrs ms miss mister dr prof herr herrn frau mme mlle madame monsieur sr sra srta senor senora senhor senhora"
)
_TITLED = frozenset(f"{_TITLES} sig signor signora dhr mevr meneer mevrouw pan pani smt shri".split())
"""Titles that a name follows; shorter ones are words of some language."""


def quotes_name(text: str) -> bool:
    """Tell whether a sentence names a person: a title with a name, or a given name beside a surname.

    >>> [quotes_name(text) for text in ("spoke with Mrs. Okafor today", "Anna Schmidt did not come", "no pain at all")]
    [True, True, False]
    """
    said = text.isupper() or len(_SMALL.findall(text)) >= _FEWEST_SMALL
    return said and any(_are_a_name(first, second, between) for first, between, second in _BESIDE.findall(text))


def _are_a_name(first: str, second: str, between: str) -> bool:
    """Tell whether two words beside each other are a title with a name, or a given name and a surname."""
    if not second[0].isupper():
        return False
    if plain(first) in _TITLED:
        return second[1:].islower() and between != ", "
    if not first[0].isupper() or between == ". ":
        return False
    given, surnames = _listed("given_names.txt"), _listed("surnames.txt")
    one, other = (second, first) if between == ", " else (first, second)
    clear = plain(one) not in _listed("ambiguous.txt") and _is_one_of(one, given)
    return clear and (_is_surname(other, surnames) or (between == " " and _is_one_of(other, given)))


def _is_surname(word: str, surnames: frozenset[str]) -> bool:
    return _is_one_of(word, surnames) or (word[:1].isupper() and _OF_FAMILIES.fullmatch(plain(word)) is not None)
