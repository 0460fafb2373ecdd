"""Numbers given to persons: which texts are one, by their form and their check digits."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

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
