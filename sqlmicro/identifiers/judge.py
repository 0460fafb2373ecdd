"""Whether a column is a direct identifier: what the sample of its values shows, and what its name says.

Numbers given to persons: which texts are one, by their form and their check digits.

Telephone numbers: which texts are one, by the numbering plans of the countries.

Names of persons: whether a text is one, by lists of common given names and surnames.
"""

from __future__ import annotations

import importlib
import ipaddress
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from sqlmicro.database.column_names import Says, is_part_of_a_name, of_a_thing, says
from sqlmicro.database.columns import Family, Finding

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
    phone = sample.checked("phone", is_international) + sample.share("phone as written")
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
        share = sample.checked("phone loose", lambda text: is_national(text, region))
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


_STATES = (
    "AN|AP|AR|AS|BR|CG|CH|DD|DL|DN|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|OR|PB|PY|RJ|SK|TN|TR|TS|UK|UP|WB"
)
_GERMAN = (
    "A|AA|AB|AC|AE|AK|AN|AM|AS|AW|AZ|B|BA|BB|BC|BI|BIR|BIT|BL|BM|BN|BO|BOR|BOT|BRB|BS|BT|BZ|C|CB|CE|CHA|CLP|COC|COE|CO"
    "|CUX"
    "|CW|D|DA|DAH|DAN|DAU|DB|DD|DE|DEG|DEL|DGF|DH|DI|DL|DLG|DM|DN|DO|DON|DU|DW|E|EA|EB|ED|EE|EF|EI|EL|EM|EMD|EN|ER|ERB"
    "|ERH"
    "|ES|ESW|EU|F|FB|FD|FDS|FF|FFB|FG|FL|FN|FO|FR|FRG|FRI|FS|FT|FU|FW|G|GAP|GE|GER|GF|GG|GI|GL|GM|GOE|GÖ|GP|GR|GS|GT"
    "|GTH|GZ"
    "|H|HA|HAL|HAM|HAS|HB|HBN|HD|HDH|HE|HEF|HEI|HEL|HER|HF|HG|HGW|HH|HI|HK|HL|HM|HN|HO|HOL|HOM|HP|HR|HRO|HS|HSK|HST|HU"
    "|HVL"
    "|HX|HZ|IGB|IK|IL|IN|IZ|J|JL|K|KA|KB|KC|KE|KEH|KF|KG|KH|KI|KIB|KL|KLE|KN|KO|KR|KS|KT|KU|KÜN|KUS|KYF|L|LA|LAU|LB|LD"
    "|LDK"
    "|LDS|LER|LEV|LG|LI|LIF|LIP|LL|LM|LÖ|LOS|LRO|LSA|LU|LUP|LWL|M|MA|MB|MD|ME|MEI|MG|MH|MI|MIL|MK|MKK|MM|MN|MO|MOL|MOS"
    "|MR"
    "|MS|MSE|MSH|MSP|MST|MTK|MÜ|MÜR|MYK|MZ|MZG|N|NB|ND|NDH|NE|NEA|NES|NEW|NF|NH|NI|NK|NM|NMS|NOH|NOM|NR|NT|NU|NVP|NW"
    "|NWM|OA"
    "|OAL|OB|OD|OE|OF|OG|OH|OHA|OHV|OHZ|OL|OPR|OS|OSL|P|PA|PAF|PAN|PB|PCH|PE|PF|PI|PIR|PLÖ|PM|PR|PS|R|RA|RD|RE|REG|RH"
    "|RO|ROW"
    "|RP|RS|RT|RÜD|RÜG|RV|RW|RZ|S|SAD|SAW|SB|SC|SDL|SE|SG|SHA|SHG|SHK|SHL|SI|SIG|SIM|SK|SL|SLF|SLK|SLS|SM|SN|SO|SOK|SÖM"
    "|SON"
    "|SP|SPN|SR|ST|STA|STD|SU|SÜW|SW|SZ|TBB|TF|TIR|TO|TÖL|TR|TS|TÜ|TUT|UE|UH|UL|UM|UN|V|VB|VEC|VER|VG|VIE|VK|VR|VS|W"
    "|WAF|WAK"
    "|WB|WE|WEN|WES|WF|WHV|WI|WIL|WL|WM|WN|WND|WO|WOB|WST|WT|WTM|WÜ|WUG|WUN|WW|Z|ZW"
)


@dataclass(frozen=True)
class Number:
    """A kind of number: its form, the module of python-stdnum that checks it, and how often a wrong one passes.

    `length` is the number of digits of one that may have lost leading zeros where it is stored as a number.
    """

    kind: str
    form: str
    module: str = ""
    chance: float = 0.1
    length: int = 0

    @cached_property
    def _has_form(self) -> Callable[[str], object]:
        return re.compile(self.form, re.IGNORECASE).fullmatch

    @cached_property
    def _check(self) -> Callable[[str], bool]:
        if not self.module:
            return lambda text: True
        own = _OWN.get(self.module)
        if own is not None:
            return own
        module: Any = importlib.import_module(f"stdnum.{self.module}")
        found: Callable[[str], bool] = module.is_valid
        return found

    def fits(self, text: str) -> bool:
        """Tell whether a text has the form, whatever its check digits."""
        return self._has_form(self._padded(text) if self.length else text) is not None

    def holds(self, text: str) -> bool:
        """Tell whether a text has the form and passes the check."""
        padded = self._padded(text)
        return self._has_form(padded) is not None and self._check(padded)

    def _padded(self, text: str) -> str:
        short = self.length - len(text)
        return "0" * short + text if 0 < short <= 2 and text.isascii() and text.isdigit() else text


def _iban(text: str) -> bool:
    """Tell whether the check digits of an IBAN are right; those of the bank's own number are left to it."""
    from stdnum import iban

    return bool(iban.is_valid(text, check_country=False))


def _card(text: str) -> bool:
    """Tell whether the check digit of a payment card is right."""
    from stdnum import luhn

    return bool(luhn.is_valid(text.replace(" ", "").replace("-", "")))


def _health_insurance(text: str) -> bool:
    """Tell whether the check digit of a German number of an insured person (KVNR) is right: Luhn from the left."""
    digits = [int(char) for char in f"{ord(text[0].upper()) - 64:02}{text[1:]}"]
    return sum(sum(divmod(d * (1 + i % 2), 10)) for i, d in enumerate(digits[:-1])) % 10 == digits[-1]


_OWN: dict[str, Callable[[str], bool]] = {"iban": _iban, "card": _card, "kvnr": _health_insurance}
"""Checks that python-stdnum does not have, or has stricter than they are kept."""


def _national(country: str, form: str, module: str = "", chance: float = 0.1, length: int = 0) -> Number:
    return Number(f"national numbers ({country})", form, module, chance, length)


SURE = 1e-4
"""The chance of a form that other codes do not have."""
_CARD = (
    "(?:4[0-9]{12}(?:[0-9]{3}){0,2}|5[1-5][0-9]{14}|2[2-7][0-9]{14}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}"
    "|6(?:011|5[0-9]{2}|4[4-9][0-9])[0-9]{12}|35[0-9]{14}|62[0-9]{14,17}|(?:50|5[6-8]|6[0-9])[0-9]{10,17})"
)

NUMBERS: tuple[Number, ...] = (
    Number("bank accounts (IBAN)", "[A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]){11,30}", "iban", SURE),
    Number("credit cards", f"(?:{_CARD}|[3456][0-9]{{3}}[ -][0-9]{{4}}[ -][0-9]{{4}}[ -][0-9]{{1,7}}|3[47][0-9]{{2}}[ "
    f"-][0-9]{{6}}[ -][0-9]{{5}})", "card"),
    Number("devices (IMEI)", "(?:01|35|86|99|45|52|91)[0-9]{13}|[0-9]{2}-[0-9]{6}-[0-9]{6}-[0-9]", "imei"),
    _national("US", "(?!000|666|9)[0-9]{3}[- ](?!00)[0-9]{2}[- ](?!0000)[0-9]{4}", "", SURE),
    _national("US", "9[0-9]{2}-[0-9]{2}-[0-9]{4}|[0-9]{3}-[0-9]{2}-[0-9]{4}", "", SURE),
    _national("DE", "[1-9][0-9]{10}|[1-9][0-9] [0-9]{3} [0-9]{3} [0-9]{3}", "de.idnr", 0.03),
    _national("DE", "[0-9]{2} ?(?:[0-2][0-9]|3[01])(?:0[1-9]|1[0-2])[0-9]{2} ?[A-Z] ?[0-9]{2} ?[0-9]", "", SURE),
    _national("DE", "[A-Z][0-9]{9}", "kvnr"),
    _national("AT", "[1-9][0-9]{3} ?(?:[0-2][0-9]|3[01])(?:0[1-9]|1[0-5])[0-9]{2}", "at.vnr", 0.02),
    _national("CH", "756[. ]?[0-9]{4}[. ]?[0-9]{4}[. ]?[0-9]{2}", "ch.ssn", SURE),
    _national("FR", "[12378] ?[0-9]{2} ?[0-9]{2} ?(?:[0-9]{2}|2[AB]) ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}", "fr.nir", 0.01),
    _national("FR", "[0-3][0-9]{12}|[0-3][0-9](?: [0-9]{2} [0-9]{3} [0-9]{3} [0-9]{3})", "fr.nif", 0.02),
    _national("NL", "[0-9]{9}|[0-9]{4}[. ][0-9]{2}[. ][0-9]{3}|[0-9]{3}[. ][0-9]{3}[. ][0-9]{3}", "nl.bsn", 0.09, 9),
    _national("BE", "[0-9]{2}[. ]?[0-9]{2}[. ]?[0-9]{2}[- ]?[0-9]{3}[. ]?[0-9]{2}", "be.nn", 0.005, 11),
    _national("GB", "(?![DFIQUV])[A-Z](?![DFIQUVO])[A-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]", "", SURE),
    _national("GB", "[467][0-9]{9}|[0-9]{3}[ -][0-9]{3}[ -][0-9]{4}", "gb.nhs", 0.09),
    _national("IE", "[0-9]{7}[A-W][A-IW]?", "ie.pps", 0.05),
    _national("ES", "[0-9]{8}[ -]?[A-Z]", "es.dni", 0.05),
    _national("ES", "[XYZ][ -]?[0-9]{7}[ -]?[A-Z]", "es.nie", 0.05),
    _national("PT", "[0-9]{8} ?[0-9] ?[A-Z0-9]{2}[0-9]", "pt.cc", 0.1),
    _national("PT", "[123][0-9]{8}|[123][0-9]{2} [0-9]{3} [0-9]{3}", "pt.nif", 0.1),
    _national("IT", "[A-Z]{6}[0-9LMNPQRSTUV]{2}[ABCDEHLMPRST][0-9LMNPQRSTUV]{2}[A-Z][0-9LMNPQRSTUV]{3}[A-Z]",
              "it.codicefiscale", SURE),
    _national("PL", "[0-9]{11}", "pl.pesel", 0.02, 11),
    _national("CZ", "[0-9]{6}/[0-9]{3,4}", "", SURE),
    _national("CZ", "[0-9]{10}", "cz.rc", 0.02, 10),
    _national("RO", "[1-8][0-9]{12}", "ro.cnp", 0.01),
    _national("BG", "[0-9]{10}", "bg.egn", 0.04, 10),
    _national("HR", "[0-9]{11}", "hr.oib", 0.1, 11),
    _national("SI, RS, BA", "[0-3][0-9](?:0[1-9]|1[0-2])[09][0-9]{8}", "si.emso", 0.02, 13),
    _national("GR", "[0-3][0-9](?:0[1-9]|1[0-2])[0-9]{7}", "gr.amka", 0.05, 11),
    _national("EE, LT", "[1-6][0-9]{10}", "ee.ik", 0.02),
    _national("SE", "(?:[0-9]{2})?[0-9]{6}[-+][0-9]{4}", "se.personnummer", 0.04),
    _national("SE", "(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]{5}", "se.personnummer", 0.04),
    _national("NO", "[0-9]{11}|[0-9]{6} [0-9]{5}", "no.fodselsnummer", 0.01, 11),
    _national("DK", "[0-3][0-9](?:0[1-9]|1[0-2])[0-9]{2}-[0-9]{4}", "dk.cpr", 0.3),
    _national("FI", "[0-3][0-9](?:0[1-9]|1[0-2])[0-9]{2}[-+ABCDEFYXWVU][0-9]{3}[0-9A-Y]", "fi.hetu", SURE),
    _national("IS", "[0-7][0-9](?:0[1-9]|1[0-2])[0-9]{2}-?[0-9]{4}", "is_.kennitala", 0.05, 10),
    _national("TR", "[1-9][0-9]{10}", "tr.tckimlik", 0.01),
    _national("RU", "[0-9]{12}", "ru.inn", 0.01, 12),
    _national("RU", "[0-9]{3}-[0-9]{3}-[0-9]{3}[ -][0-9]{2}", "", SURE),
    _national("UA", "[0-9]{10}", "ua.rntrc", 0.1, 10),
    _national("IL", "[0-9]{9}", "il.idnr", 0.1, 9),
    _national("IN", "[2-9][0-9]{3}[ -]?[0-9]{4}[ -]?[0-9]{4}", "in_.aadhaar", 0.1),
    _national("IN", "[A-Z]{3}[ABCFGHLJPTK][A-Z][0-9]{4}[A-Z]", "in_.pan", 0.02),
    _national("IN", "[A-Z]{3}[0-9]{7}", "in_.epic", 0.1),
    _national("PK", "[1-7][0-9]{4}-[0-9]{7}-[0-9]", "", SURE),
    _national("BR", "[0-9]{3}[.][0-9]{3}[.][0-9]{3}-[0-9]{2}", "", SURE),
    _national("BR", "[0-9]{11}", "br.cpf", 0.01, 11),
    _national("MX", "[A-Z]{4}[0-9]{6}[HMX][A-Z]{5}[0-9A-Z][0-9]", "", SURE),
    _national("MX", "[A-ZÑ&]{4}-?[0-9]{2}(?:0[1-9]|1[0-2])(?:[0-2][0-9]|3[01])-?[0-9A-Z]{3}", "", SURE),
    _national("AR", "(?:20|23|24|27)-?[0-9]{8}-?[0-9]", "ar.cuit", 0.1),
    _national("CL", "[0-9]{1,2}(?:[.]?[0-9]{3}){2}-[0-9K]", "cl.rut", 0.09),
    _national("CO, EC", "[0-2][0-9]{9}", "ec.ci", 0.1, 10),
    _national("CA", "[1-9][0-9]{2}[- ]?[0-9]{3}[- ]?[0-9]{3}", "ca.sin", 0.1),
    _national("AU", "[0-9]{3} ?[0-9]{3} ?[0-9]{2,3}", "au.tfn", 0.09),
    _national("NZ", "[0-9]{8,9}|[0-9]{2,3}-[0-9]{3}-[0-9]{3}", "nz.ird", 0.09),
    _national("ZA", "[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]{5}[01][0-9]{2}", "za.idnr", 0.02, 13),
    _national("CN", "[1-6][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]{4}[0-9X]", "cn.ric", SURE),
    _national("KR", "[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]-[1-8][0-9]{6}", "", SURE),
    _national("JP", "[0-9]{4} ?[0-9]{4} ?[0-9]{4}", "jp.in_", 0.1),
    _national("TH", "[1-8](?:-?[0-9]{4})-?[0-9]{5}-?[0-9]{2}-?[0-9]", "th.pin", 0.1),
    _national("MY", "[0-9]{2}(?:0[1-9]|1[0-2])[0-3][0-9]-[0-9]{2}-[0-9]{4}", "my.nric", SURE),
    _national("SG", "[STFGM][0-9]{7}[A-Z]", "", 0.01),
    _national("ID", "[1-9][0-9]{5}[0-7][0-9](?:0[1-9]|1[0-2])[0-9]{6}", "id.nik", 0.02),
    Number("licence plates", f"(?:{_GERMAN})[- ·][A-Z]{{1,2}}[- ]?[1-9][0-9]{{0,3}}[EH]?", "", 0.35),
    Number("licence plates", "[A-HJ-NP-TV-Z]{2}-[0-9]{3}-[A-HJ-NP-TV-Z]{2}", "", 0.6),
    Number("licence plates", "[A-HJ-PR-Y]{2}[0-9]{2} ?[A-HJ-PR-Z]{3}", "", 0.6),
    Number("licence plates", "[0-9]{4}[ -]?[BCDFGHJKLMNPRSTVWXYZ]{3}", "", 0.5),
    Number("licence plates", f"(?:{_STATES})[ -]?[0-9]{{1,2}}[ -]?[A-HJ-NP-Z]{{1,3}}[ -]?[0-9]{{4}}", "", 0.1),
    Number("licence plates", "[A-HJ-NPR-TV-Z]{2} ?[0-9]{3} ?[A-HJ-NPR-TV-Z]{2}", "", 0.6),
    Number("licence plates", "[A-Z]{3}[0-9][A-Z][0-9]{2}", "", 0.3),
    Number("licence plates", "(?:[BDFGHJKLMNPRSTVWXYZ]{2}-){2}[0-9]{2}"
    "|[BDFGHJKLMNPRSTVWXYZ]{2}-[0-9]{2}-[BDFGHJKLMNPRSTVWXYZ]{2}"
    "|[0-9]{2}-[BDFGHJKLMNPRSTVWXYZ]{2}-[BDFGHJKLMNPRSTVWXYZ]{2}|[A-Z]-[0-9]{3}-[BDFGHJKLMNPRSTVWXYZ]{2}"
    "|[0-9]-[BDFGHJKLMNPRSTVWXYZ]{3}-[0-9]{2}|[0-9]{2}-[BDFGHJKLMNPRSTVWXYZ]{3}-[0-9]"
    "|[BDFGHJKLMNPRSTVWXYZ]{2}-[0-9]{3}-[A-Z]|[BDFGHJKLMNPRSTVWXYZ]-[0-9]{2}-[BDFGHJKLMNPRSTVWXYZ]{3}"
    "|[BDFGHJKLMNPRSTVWXYZ]{3}-[0-9]{2}-[BDFGHJKLMNPRSTVWXYZ]", "", 0.6),
)  # fmt: skip
"""What is looked for whatever the column is called. Sources: python-stdnum, and the forms of those who issue them."""

THINGS: tuple[Number, ...] = (
    Number("products (EAN)", "[0-9]{13}|[0-9]{12}|[0-9]{8}|[0-9]{14}", "ean", 0.1),
    Number("books (ISBN)", "[0-9X -]{10,17}", "isbn", 0.1),
    Number("companies (SIREN)", "[0-9]{9}", "fr.siren", 0.1),
    Number("companies (SIRET)", "[0-9]{14}", "fr.siret", 0.1),
    Number("companies (IVA)", "[0-9]{11}", "it.iva", 0.1),
)
"""Numbers of things that look like those of persons: only the name of the column can then tell that it is persons."""


_LEAST_DIGITS = 8
"""How long a number of digits alone is at least that has a form."""


@cache
def _any_form() -> Callable[[str], object]:
    return re.compile("|".join(f"(?:{number.form})" for number in (*NUMBERS, *THINGS)), re.IGNORECASE).fullmatch


def has_any_form(texts: Sequence[str]) -> float:
    """Return at most which share of texts has a form of a number, with zeros that may have been lost; 0 for no text.

    Most columns have none, and need not be compared with one form after the other.
    """
    if all(len(text) + 2 < _LEAST_DIGITS and text.isascii() and text.isdecimal() for text in texts):
        return 0.0  # as of ages or amounts: all forms together take 14 ms to be compiled
    fits = _any_form()
    return sum(any(fits(zeros + text) for zeros in ("", "0", "00")) for text in texts) / len(texts) if texts else 0.0


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
