"""Columns of numbers and codes that were given to persons, their accounts or their devices."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator

from labelled.draws import Labelled, column, date, filled, iban, luhn, repeating, rvnr, valid

NATIONAL: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "US": ("ssn", lambda r: f"{r.randint(1, 665):03}-{r.randint(1, 99):02}-{r.randint(1, 9999):04}"),
    "DE tax": ("steuer_id", lambda r: valid(r, "de.idnr", lambda r: repeating(r))),
    "DE pension": ("sozialversicherungsnummer", rvnr),
    "AT": ("svnr", lambda r: valid(r, "at.vnr", lambda r: filled(r, "####") + date(r, "DDMMYY"))),
    "CH": ("ahv_nr", lambda r: valid(r, "ch.ssn", lambda r: filled(r, "756.####.####.##"))),
    "FR": (
        "nir",
        lambda r: valid(
            r, "fr.nir", lambda r: r.choice("12") + date(r, "YYMM") + filled(r, "75###") + filled(r, "#####")
        ),
    ),
    "NL": ("bsn", lambda r: valid(r, "nl.bsn", lambda r: filled(r, "#########"))),
    "BE": ("rijksregisternummer", lambda r: valid(r, "be.nn", lambda r: date(r, "YY.MM.DD") + filled(r, "-###.##"))),
    "GB nino": (
        "national_insurance_number",
        lambda r: r.choice(("AB", "CE", "JG", "PW")) + filled(r, "######") + r.choice("ABCD"),
    ),
    "GB nhs": ("nhs_number", lambda r: valid(r, "gb.nhs", lambda r: r.choice("467") + filled(r, "#########"))),
    "ES dni": ("dni", lambda r: valid(r, "es.dni", lambda r: filled(r, "########@"))),
    "ES nie": ("nie", lambda r: valid(r, "es.nie", lambda r: r.choice("XYZ") + filled(r, "#######@"))),
    "IT": (
        "codice_fiscale",
        lambda r: valid(
            r,
            "it.codicefiscale",
            lambda r: (
                filled(r, "@@@@@@")
                + date(r, "YY")
                + r.choice("ABCDEHLMPRST")
                + f"{r.randint(1, 28):02}H501"
                + filled(r, "@")
            ),
        ),
    ),
    "PL": ("pesel", lambda r: valid(r, "pl.pesel", lambda r: date(r, "YYMMDD", 1940, 1999) + filled(r, "#####"))),
    "SE": ("personnummer", lambda r: valid(r, "se.personnummer", lambda r: date(r, "YYMMDD") + filled(r, "-####"))),
    "NO": (
        "fodselsnummer",
        lambda r: valid(r, "no.fodselsnummer", lambda r: date(r, "DDMMYY", 1955, 1999) + filled(r, "#####")),
    ),
    "DK": ("cpr_nr", lambda r: valid(r, "dk.cpr", lambda r: date(r, "DDMMYY", 1940, 1999) + filled(r, "-####"))),
    "FI": (
        "hetu",
        lambda r: valid(
            r,
            "fi.hetu",
            lambda r: (
                date(r, "DDMMYY", 1940, 1999) + "-" + filled(r, "###") + r.choice("0123456789ABCDEFHJKLMNPRSTUVWXY")
            ),
        ),
    ),
    "CZ": ("rodne_cislo", lambda r: valid(r, "cz.rc", lambda r: date(r, "YYMMDD", 1960, 1999) + filled(r, "/####"))),
    "RO": (
        "cnp",
        lambda r: valid(
            r,
            "ro.cnp",
            lambda r: r.choice("12") + date(r, "YYMMDD", 1940, 1999) + f"{r.randint(1, 40):02}" + filled(r, "####"),
        ),
    ),
    "TR": ("tc_kimlik_no", lambda r: valid(r, "tr.tckimlik", lambda r: filled(r, "###########"))),
    "IN aadhaar": (
        "aadhaar",
        lambda r: valid(r, "in_.aadhaar", lambda r: r.choice("23456789") + filled(r, "###########")),
    ),
    "IN pan": ("pan_number", lambda r: valid(r, "in_.pan", lambda r: filled(r, "@@@P@####@"))),
    "BR": ("cpf", lambda r: valid(r, "br.cpf", lambda r: filled(r, "###########"))),
    "BR dotted": ("cpf", lambda r: valid(r, "br.cpf", lambda r: filled(r, "###.###.###-##"))),
    "MX": (
        "curp",
        lambda r: valid(
            r,
            "mx.curp",
            lambda r: (
                filled(r, "@")
                + r.choice("AEIOU")
                + filled(r, "@@")
                + date(r, "YYMMDD", 1950, 1999)
                + r.choice("HM")
                + "DFBCD"
                + filled(r, "0#")
            ),
        ),
    ),
    "CA": ("sin", lambda r: valid(r, "ca.sin", lambda r: r.choice("1234567") + filled(r, "## ### ###"))),
    "ZA": (
        "id_number",
        lambda r: valid(r, "za.idnr", lambda r: date(r, "YYMMDD") + filled(r, "####") + "08" + filled(r, "#")),
    ),
    "CN": (
        "identity_number",
        lambda r: valid(
            r, "cn.ric", lambda r: "110101" + date(r, "YYYYMMDD") + filled(r, "###") + r.choice("0123456789X")
        ),
    ),
    "KR": ("rrn", lambda r: date(r, "YYMMDD", 1950, 1999) + filled(r, f"-{r.choice('12')}######")),
}


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
    yield column(
        "IBAN in fours", "kto", lambda r: " ".join(t[i : i + 4] for t in [iban(r, "DE")] for i in range(0, 22, 4))
    )
    yield column("accounts", "kontonummer", lambda r: int(filled(r, "1########")))
    for of, form in (("Visa", "4" + "#" * 14), ("Mastercard", "5241" + "#" * 11), ("Amex", "3712" + "#" * 10)):
        yield column("credit cards", "c1", lambda r, f=form: luhn(r, f), of=of)
        yield column("credit cards as numbers", "c2", lambda r, f=form: int(luhn(r, f)), of=of)
    yield column(
        "credit cards in fours",
        "d1",
        lambda r: " ".join(t[i : i + 4] for t in [luhn(r, "4" + "#" * 14)] for i in range(0, 16, 4)),
    )
    yield column("IMEI", "geraet", lambda r: luhn(r, "35############"))
    yield column("IP", "src", lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4)))
    yield column("IP", "a1", lambda r: f"192.168.{r.randint(0, 9)}.{r.randint(1, 254)}:{r.randint(1024, 65535)}")
    yield column("IPv6", "a2", lambda r: "2001:db8:" + ":".join(filled(r, "====") for _ in range(6)))
    yield column("MAC", "hw", lambda r: ":".join(filled(r, "==") for _ in range(6)))
    yield column("MAC", "hw2", lambda r: "-".join(filled(r, "==") for _ in range(6)).upper())
    yield column("UUID", "k", lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)))
    yield column(
        "plates",
        "f3",
        lambda r: f"{r.choice(['B', 'M', 'HH', 'K', 'MTK', 'LÖ'])}-{filled(r, '@@')} {r.randint(1, 9999)}",
        of="DE",
    )
    yield column(
        "plates",
        "f4",
        lambda r: (
            "".join(r.choice("ABCDEFGHJKLMNPQRSTVWXYZ") if c == "@" else c for c in filled(r, "") + "@@-")
            + f"{r.randint(1, 999):03}-"
            + "".join(r.choice("ABCDEFGHJKLMNPQRSTVWXYZ") for _ in range(2))
        ),
        of="FR",
    )
    yield column(
        "plates",
        "f5",
        lambda r: (
            "".join(r.choice("ABCDEFGHJKLMNOPRSTUVWXY") for _ in range(2))
            + f"{r.randint(2, 73):02} "
            + "".join(r.choice("ABCDEFGHJKLMNOPRSTUVWXYZ") for _ in range(3))
        ),
        of="GB",
    )
    yield column(
        "plates",
        "f6",
        lambda r: f"{r.randint(0, 9999):04} " + "".join(r.choice("BCDFGHJKLMNPRSTVWXYZ") for _ in range(3)),
        of="ES",
    )
    yield column(
        "plates",
        "f7",
        lambda r: (
            f"{r.choice(['MH', 'KA', 'DL', 'TN'])} {r.randint(1, 50):02} "
            f"{''.join(r.choice('ABCDEFGHJKLM') for _ in range(2))} {r.randint(1, 9999):04}"
        ),
        of="IN",
    )
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
