"""Draws of single values, each with a generator of its own seed."""

from __future__ import annotations

import random
import string
import unicodedata
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from labelled.words import FAMILY, GIVEN, STREETS

ROWS = 600


@dataclass(frozen=True)
class Labelled:
    """A column, and whether it is a direct identifier."""

    title: str
    name: str
    kind: str
    values: tuple
    positive: bool

    @property
    def half(self) -> str:
        return "developed on" if zlib.crc32(self.title.encode()) % 2 else "held out"


def pool(text: str) -> list[str]:
    return [word.replace("_", " ") for word in text.split()]


def filled(r: random.Random, form: str) -> str:
    """Fill a form: # is a digit, @ a letter, = a hexadecimal digit."""
    of = {"#": string.digits, "@": string.ascii_uppercase, "=": "0123456789abcdef"}
    return "".join(r.choice(of[char]) if char in of else char for char in form)


def valid(r: random.Random, module: str, form: Callable[[random.Random], str]) -> str:
    """Draw until the check of a number holds."""
    check = import_module(f"stdnum.{module}").is_valid
    number = next((number for number in (form(r) for _ in range(100_000)) if check(number)), None)
    assert number is not None, module
    return number


def date(r: random.Random, form: str, first: int = 1940, last: int = 2004) -> str:
    year, month, day = r.randint(first, last), r.randint(1, 12), r.randint(1, 28)
    form = form.replace("YYYY", f"{year}").replace("YY", f"{year % 100:02}")
    return form.replace("MM", f"{month:02}").replace("DD", f"{day:02}")


def iban(r: random.Random, country: str) -> str:
    forms = {"DE": "#" * 18, "NL": "ABNA##########", "FR": "#" * 23, "ES": "#" * 20, "PL": "#" * 24}
    forms |= {"GB": "NWBK" + "#" * 14, "BR": "#" * 23 + "P1"}
    body = filled(r, forms[country])
    digits = "".join(str(int(char, 36)) for char in body + country + "00")
    return f"{country}{98 - int(digits) % 97:02}{body}"


def luhn(r: random.Random, form: str) -> str:
    body = filled(r, form)
    digits = [int(char) for char in body]
    total = sum(sum(divmod(2 * d, 10)) if i % 2 == 0 else d for i, d in enumerate(reversed(digits)))
    return body + str(-total % 10)


def rvnr(r: random.Random) -> str:
    return filled(r, f"{r.choice(['12', '65', '53', '15'])}{date(r, 'DDMMYY')}@") + filled(r, "###")


def ean(r: random.Random) -> str:
    body = filled(r, "40#########" + "#")
    return body + str(-sum(int(char) * (3 if i % 2 else 1) for i, char in enumerate(body)) % 10)


def repeating(r: random.Random) -> str:
    """Draw ten digits of which one occurs twice, as those of a German tax number, and one more."""
    digits = r.sample(string.digits, 9)
    digits.append(r.choice(digits))
    r.shuffle(digits)
    return "".join(digits) + r.choice(string.digits)


def person(r: random.Random, country: str) -> tuple[str, str]:
    return r.choice(pool(GIVEN[country])), r.choice(pool(FAMILY[country]))


def drawn(title: str, draw: Callable[[random.Random], object], distinct: int = 150) -> tuple:
    r = random.Random(title)
    values = [draw(r) for _ in range(distinct)]
    return tuple(r.choice(values) for _ in range(ROWS))


def column(
    kind: str,
    name: str,
    draw: Callable[[random.Random], object],
    *,
    positive: bool = True,
    of: str = "",
    distinct: int = 150,
) -> Labelled:
    title = f"{kind}, {of + ', ' if of else ''}column {name}"
    return Labelled(title, name, kind, drawn(title, draw, distinct), positive)


def plain(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.lower().replace("ß", "ss").replace("ł", "l").replace("ı", "i"))
    return "".join(char for char in folded if char in string.ascii_lowercase)


def email(r: random.Random, country: str) -> str:
    given, family = (plain(word) for word in person(r, country))
    host = r.choice(["gmail.com", "example.org", "web.de", "orange.fr", "uol.com.br", "firma-mail.co.uk"])
    return f"{given}{r.choice(['.', '_', ''])}{family}{r.choice(['', str(r.randint(1, 99))])}@{host}"


def address(r: random.Random, country: str) -> str:
    form, names = STREETS[country]
    return form.format(s=r.choice(pool(names)), n=r.randint(1, 199), m=r.randint(1, 40))
