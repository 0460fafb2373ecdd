"""Whether a column is a direct identifier: what the sample of its values shows, and what its name says."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from sqlmicro.database.column_names import Says, is_part_of_a_name, of_a_thing, says
from sqlmicro.database.columns import Family, Finding
from sqlmicro.identifiers import phones
from sqlmicro.identifiers.numbers import NUMBERS, SURE, THINGS, Number, has_any_form
from sqlmicro.identifiers.words import is_name, quotes_name

_MOST_BY_CHANCE = 1e-5
"""How likely numbers of another kind may at most pass a check so often, where the name of the column says nothing."""
_LEAST = 0.3
"""The least share of values that must pass a check, where the name of the column says that they do."""
_QUOTING = 0.03
"""The least share of texts that quote the name of somebody."""
_FIRST = 24
"""A number that few of so many values fit is not looked for in the others."""
_KINDS: dict[Says, str] = {
    "email": "e-mail addresses", "phone": "telephone numbers", "person": "names of persons", "name": "names of persons",
    "address": "street addresses", "number": "national or insurance numbers", "short number": "national numbers",
    "person id": "numbers given to persons", "login": "user names", "bank": "bank accounts", "card": "payment cards",
    "device": "devices", "network": "network addresses", "plate": "licence plates", "position": "exact positions",
    "profile": "addresses of a person's pages",
}  # fmt: skip


@dataclass(frozen=True)
class Sample:
    """What the scan saw of a column, or of one key of a column that holds JSON."""

    name: str
    family: Family
    total: int
    matched: Mapping[str, int] = field(default_factory=dict)
    listed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def share(self, pattern: str) -> float:
        """Return the share of the values that match a pattern."""
        return self.matched.get(pattern, 0) / self.total if self.total else 0.0

    def checked(self, pattern: str, check: Callable[[str], bool]) -> float:
        """Return the share of the values that match a pattern and pass a check, as far as they were listed."""
        values = self.listed.get(pattern, ())
        return self.share(pattern) * sum(map(check, values)) / len(values) if values else 0.0


def judge(sample: Sample, region: str | None, beside: Collection[str] = ()) -> Finding | None:
    """Return what kind of direct identifier a sample shows, by its values first and else by its name.

    `beside` are the columns of its table: one that is called `first` has names where another one is called `last`.
    """
    said: Says | None = "person" if is_part_of_a_name(sample.name, beside) else says(sample.name)
    thing = said != "person id" and of_a_thing(sample.name)
    for kind, share in (*_by_form(sample), *_by_check(sample, said, thing, region), *_by_words(sample, said, thing)):
        return Finding(kind, share)
    if sample.share("numbered person") >= 0.5:
        return Finding(_KINDS["person id"], sample.share("numbered person"), direct=False)
    if said is not None and sample.total and _fits_its_name(sample, said):
        return Finding(_KINDS[said], None, direct=said != "person id")
    return None


def _by_form(sample: Sample) -> Iterable[tuple[str, float]]:
    """Yield what is known by its form alone."""
    for kind, pattern, least in (
        ("e-mail addresses", "email", 0.01), ("UUIDs", "uuid", 0.3), ("devices (MAC address)", "mac", 0.1),
        ("URLs of persons", "url of a person", 0.3), ("user names", "handle", 0.5),
        ("exact positions", "position", 0.3),
    ):  # fmt: skip
        if sample.share(pattern) >= least:
            yield kind, sample.share(pattern)
    ip4, ip6 = sample.share("ip4"), sample.checked("ip6", _is_ip6)
    if ip4 + ip6 >= 0.3 and (ip6 >= 0.3 or sample.share("ip4 large") >= 0.3 * ip4):
        yield "network addresses (IP)", ip4 + ip6
    phone = sample.checked("phone", phones.is_international) + sample.share("phone as written")
    if phone >= 0.3:
        yield "telephone numbers", phone


def _is_ip6(text: str) -> bool:
    try:
        ipaddress.ip_address(text.partition("/")[0].partition("%")[0])
    except ValueError:
        return False
    return True


def _by_check(sample: Sample, said: Says | None, thing: bool, region: str | None) -> Iterable[tuple[str, float]]:
    """Yield what passes the checks of a number, more often than numbers of another kind would."""
    values = sample.listed.get("code", ())
    hinted = said in ("number", "short number", "bank", "card", "device", "plate")
    if has_any_form(values[:_FIRST]) >= 0.5 * _LEAST:
        yield from _by_number(sample, values, hinted, thing)
    if region and not thing:
        share = sample.checked("phone loose", lambda text: phones.is_national(text, region))
        if share >= 0.8:
            yield "telephone numbers", share


def _by_number(sample: Sample, values: Sequence[str], hinted: bool, thing: bool) -> Iterable[tuple[str, float]]:
    is_thing = thing or (not hinted and any(_passes(values, number, 0.9) for number in THINGS))
    for kind, numbers in _by_kind().items():
        if is_thing and not any(number.chance <= SURE for number in numbers):
            continue
        if share := _share_of(values, numbers, _LEAST if hinted else 0.9 if kind == "licence plates" else 0.8, hinted):
            yield kind, sample.share("code") * share


@cache
def _by_kind() -> dict[str, list[Number]]:
    """Return the numbers by kind; plates of each country stand alone, as they have no check digit."""
    found: dict[str, list[Number]] = {}
    for position, number in enumerate(NUMBERS):
        key = f"{number.kind} {position}" if number.kind == "licence plates" else number.kind
        found.setdefault(key, []).append(number)
    return found


def _share_of(values: Sequence[str], numbers: Sequence[Number], least: float, hinted: bool) -> float:
    """Return the share of values that pass one of several checks, or 0 where that may be chance."""
    first = values[:_FIRST]
    if sum(any(number.fits(value) for number in numbers) for value in first) < 0.5 * least * len(first):
        return 0.0
    fitting = [value for value in values if any(number.fits(value) for number in numbers)]
    if len(fitting) < least * len(values) or not fitting:
        return 0.0
    passed = sum(any(number.holds(value) for number in numbers) for value in fitting)
    chance = max(number.chance for number in numbers if any(number.fits(value) for value in fitting[:20]))
    share = passed / len(values)
    likely = 1.0 if hinted else by_chance(passed, len(fitting), chance)
    return share if share >= least and (hinted or likely <= _MOST_BY_CHANCE) else 0.0


def _passes(values: Sequence[str], number: Number, least: float) -> bool:
    return _share_of(values, [number], least, hinted=False) > 0


def by_chance(passed: int, tried: int, chance: float) -> float:
    """Return a bound of the probability that at least so many of the tried pass by chance (Chernoff-Hoeffding).

    >>> by_chance(1, 10, 0.1), round(by_chance(10, 10, 0.1), 12)
    (1.0, 1e-10)
    """
    share = passed / tried
    if share <= chance:
        return 1.0
    rest = (1 - share) * math.log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return math.exp(-tried * (share * math.log(share / chance) + rest))


def _by_words(sample: Sample, said: Says | None, thing: bool) -> Iterable[tuple[str, float]]:
    """Yield names and street addresses."""
    address = sample.share("address")
    if address >= (0.8 if thing else 0.4):
        yield "street addresses", address
    names = sample.checked("name", is_name)
    listed = sample.listed.get("name", ())
    several = sum(" " in value for value in listed) > 0.5 * len(listed)
    least = 0.8 if thing else 0.12 if said == "name" else 0.3 if several else 0.4
    if names >= least and names * sample.total >= (2 if said == "name" else 4):
        yield "names of persons", names
    quoting = sample.checked("prose", quotes_name)
    if quoting >= _QUOTING and quoting * sample.total >= 2:
        yield "text that names persons", quoting


def _fits_its_name(sample: Sample, said: Says) -> bool:
    """Tell whether the values may be what the name of the column says."""
    text = sample.family in ("text", "enum", "other")
    if not text and said in ("email", "person", "address", "login", "profile", "name"):
        return False
    if said == "position":
        return sample.share("five decimals") >= 0.3
    if said == "short number":
        values = sample.listed.get("code", ())
        national = [number for number in NUMBERS if number.kind.startswith("national")]
        return any(_share_of(values, [number], 0.5, hinted=True) for number in national)
    token = 0.0 if sample.family == "float" else sample.share("token")  # many decimals are none
    fits: dict[Says, float] = {
        "email": token, "phone": sample.share("phone loose"), "person": sample.share("letters"),
        "address": sample.share("letters"), "number": max(sample.share("digits"), token),
        "login": sample.share("letters"), "bank": max(sample.share("digits"), token),
        "card": max(sample.share("digits"), token), "device": max(sample.share("digits"), token),
        "network": max(sample.share("ip4"), token), "plate": min(sample.share("letters"), sample.share("code")),
        "profile": sample.share("url"), "person id": max(sample.share("code"), token),
    }  # fmt: skip
    return fits.get(said, 0.0) >= 0.4
