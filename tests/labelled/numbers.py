"""Columns of numbers and codes that were given to persons, their accounts or their devices."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator

from labelled.draws import Labelled, column, date, filled, iban, luhn, repeating, rvnr, valid


def _valid(module: str, form: Callable[[random.Random], str]) -> Callable[[random.Random], str]:
    return lambda r: valid(r, module, form)


NATIONAL: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "US": ("ssn", lambda r: f"{r.randint(1, 665):03}-{r.randint(1, 99):02}-{r.randint(1, 9999):04}"),
    "DE tax": ("steuer_id", _valid("de.idnr", repeating)),
    "DE pension": ("sozialversicherungsnummer", rvnr),
    "AT": ("svnr", _valid("at.vnr", lambda r: filled(r, "####") + date(r, "DDMMYY"))),
    "CH": ("ahv_nr", _valid("ch.ssn", lambda r: filled(r, "756.####.####.##"))),
    "FR": ("nir", _valid("fr.nir", lambda r: r.choice("12") + date(r, "YYMM") + filled(r, "75########"))),
    "NL": ("bsn", _valid("nl.bsn", lambda r: filled(r, "#########"))),
    "BE": ("rijksregisternummer", _valid("be.nn", lambda r: date(r, "YY.MM.DD") + filled(r, "-###.##"))),
    "GB nino": ("national_insurance_number",
                lambda r: r.choice(("AB", "CE", "JG", "PW")) + filled(r, "######") + r.choice("ABCD")),
    "GB nhs": ("nhs_number", _valid("gb.nhs", lambda r: r.choice("467") + filled(r, "#########"))),
    "ES dni": ("dni", _valid("es.dni", lambda r: filled(r, "########@"))),
    "ES nie": ("nie", _valid("es.nie", lambda r: r.choice("XYZ") + filled(r, "#######@"))),
    "IT": ("codice_fiscale", _valid("it.codicefiscale", lambda r: filled(r, "@@@@@@") + date(r, "YY")
                                    + r.choice("ABCDEHLMPRST") + f"{r.randint(1, 28):02}H501" + filled(r, "@"))),
    "PL": ("pesel", _valid("pl.pesel", lambda r: date(r, "YYMMDD", 1940, 1999) + filled(r, "#####"))),
    "SE": ("personnummer", _valid("se.personnummer", lambda r: date(r, "YYMMDD") + filled(r, "-####"))),
    "NO": ("fodselsnummer", _valid("no.fodselsnummer", lambda r: date(r, "DDMMYY", 1955, 1999) + filled(r, "#####"))),
    "DK": ("cpr_nr", _valid("dk.cpr", lambda r: date(r, "DDMMYY", 1940, 1999) + filled(r, "-####"))),
    "FI": ("hetu", _valid("fi.hetu", lambda r: date(r, "DDMMYY", 1940, 1999) + "-" + filled(r, "###")
                          + r.choice("0123456789ABCDEFHJKLMNPRSTUVWXY"))),
    "CZ": ("rodne_cislo", _valid("cz.rc", lambda r: date(r, "YYMMDD", 1960, 1999) + filled(r, "/####"))),
    "RO": ("cnp", _valid("ro.cnp", lambda r: r.choice("12") + date(r, "YYMMDD", 1940, 1999)
                         + f"{r.randint(1, 40):02}" + filled(r, "####"))),
    "TR": ("tc_kimlik_no", _valid("tr.tckimlik", lambda r: filled(r, "###########"))),
    "IN aadhaar": ("aadhaar", _valid("in_.aadhaar", lambda r: r.choice("23456789") + filled(r, "###########"))),
    "IN pan": ("pan_number", _valid("in_.pan", lambda r: filled(r, "@@@P@####@"))),
    "BR": ("cpf", _valid("br.cpf", lambda r: filled(r, "###########"))),
    "BR dotted": ("cpf", _valid("br.cpf", lambda r: filled(r, "###.###.###-##"))),
    "MX": ("curp", _valid("mx.curp", lambda r: filled(r, "@") + r.choice("AEIOU") + filled(r, "@@")
                          + date(r, "YYMMDD", 1950, 1999) + r.choice("HM") + "DFBCD" + filled(r, "0#"))),
    "CA": ("sin", _valid("ca.sin", lambda r: r.choice("1234567") + filled(r, "## ### ###"))),
    "ZA": ("id_number", _valid("za.idnr", lambda r: date(r, "YYMMDD") + filled(r, "####") + "08" + filled(r, "#"))),
    "CN": ("identity_number", _valid("cn.ric", lambda r: "110101" + date(r, "YYYYMMDD") + filled(r, "###")
                                     + r.choice("0123456789X"))),
    "KR": ("rrn", lambda r: date(r, "YYMMDD", 1950, 1999) + filled(r, f"-{r.choice('12')}######")),
}  # fmt: skip


def in_fours(text: str) -> str:
    return " ".join(text[i : i + 4] for i in range(0, len(text), 4))


def codes() -> Iterator[Labelled]:
    for country, (name, draw) in NATIONAL.items():
        yield column("national numbers", name, draw, of=country)
        yield column("national numbers", "k7", draw, of=country)
    yield column("national numbers as numbers", "k8", lambda r: int(NATIONAL["BR"][1](r)), of="BR")
    yield column(
        "national numbers as numbers", "patient_ssn", lambda r: int(NATIONAL["US"][1](r).replace("-", "")), of="US"
    )
    yield column("national numbers as numbers", "wert", lambda r: float(NATIONAL["PL"][1](r)), of="PL")
    for country in ("DE", "NL", "FR", "ES", "PL", "GB"):
        yield column("IBAN", "b2", lambda r, c=country: iban(r, c), of=country)
    yield column("IBAN in fours", "kto", lambda r: in_fours(iban(r, "DE")))
    yield column("accounts", "kontonummer", lambda r: int(filled(r, "1########")))
    for of, form in (("Visa", "4" + "#" * 14), ("Mastercard", "5241" + "#" * 11), ("Amex", "3712" + "#" * 10)):
        yield column("credit cards", "c1", lambda r, f=form: luhn(r, f), of=of)
        yield column("credit cards as numbers", "c2", lambda r, f=form: int(luhn(r, f)), of=of)
    yield column("credit cards in fours", "d1", lambda r: in_fours(luhn(r, "4" + "#" * 14)))
    yield column("IMEI", "geraet", lambda r: luhn(r, "35############"))
    yield column("IP", "src", lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4)))
    yield column("IP", "a1", lambda r: f"192.168.{r.randint(0, 9)}.{r.randint(1, 254)}:{r.randint(1024, 65535)}")
    yield column("IPv6", "a2", lambda r: "2001:db8:" + ":".join(filled(r, "====") for _ in range(6)))
    yield column("MAC", "hw", lambda r: ":".join(filled(r, "==") for _ in range(6)))
    yield column("MAC", "hw2", lambda r: "-".join(filled(r, "==") for _ in range(6)).upper())
    yield column("UUID", "k", lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)))
    of_fr, of_gb, of_es = "ABCDEFGHJKLMNPQRSTVWXYZ", "ABCDEFGHJKLMNOPRSTUVWXYZ", "BCDFGHJKLMNPRSTVWXYZ"

    def letters(r: random.Random, which: str, many: int) -> str:
        return "".join(r.choice(which) for _ in range(many))

    towns = ["B", "M", "HH", "K", "MTK", "LÖ"]
    plates: tuple[tuple[str, str, Callable[[random.Random], str]], ...] = (
        ("f3", "DE", lambda r: f"{r.choice(towns)}-{filled(r, '@@')} {r.randint(1, 9999)}"),
        ("f4", "FR", lambda r: f"{letters(r, of_fr, 2)}-{r.randint(1, 999):03}-{letters(r, of_fr, 2)}"),
        ("f5", "GB", lambda r: f"{letters(r, of_gb[:-1], 2)}{r.randint(2, 73):02} {letters(r, of_gb, 3)}"),
        ("f6", "ES", lambda r: f"{r.randint(0, 9999):04} {letters(r, of_es, 3)}"),
        ("f7", "IN", lambda r: f"{r.choice(['MH', 'KA', 'DL', 'TN'])} {r.randint(1, 50):02} "
                               f"{letters(r, 'ABCDEFGHJKLM', 2)} {r.randint(1, 9999):04}"),
    )  # fmt: skip
    for name, of, draw in plates:
        yield column("plates", name, draw, of=of)
    yield column("plates", "kennzeichen", lambda r: filled(r, "XX @@ ####"), of="other")
    yield column("plates", "placa", lambda r: filled(r, "@@@-####"), of="BR")
    yield column("licence_plate", "license_plate", lambda r: filled(r, "#@@@###"), of="US")
    yield column("positions", "lat", lambda r: round(r.uniform(47, 54), 6))
    yield column("positions", "geo_longitude", lambda r: round(r.uniform(6, 14), 5))
    yield column("positions", "punkt", lambda r: f"{r.uniform(47, 54):.6f}, {r.uniform(6, 14):.6f}")
    yield column("positions", "wkt", lambda r: f"POINT ({r.uniform(6, 14):.6f} {r.uniform(47, 54):.6f})")
    yield column("passports", "passport_no", lambda r: filled(r, "C#####@##"))
    yield column("driving licences", "fuehrerscheinnummer", lambda r: filled(r, "B######@#@#"))
    yield column("health insurance", "versichertennummer", lambda r: filled(r, "@#########"))
    yield column("numbers of persons", "customer_id", lambda r: r.randint(1000, 9999), distinct=60)
    yield column("numbers of persons", "patientNr", lambda r: filled(r, "P-#####"), distinct=60)
