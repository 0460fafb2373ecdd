"""Columns that name persons or say where to reach them."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator

from labelled.draws import Labelled, address, column, date, email, filled, person, plain, pool
from labelled.words import GIVEN, NATIONAL_PHONES, PHONES, STREETS


def names() -> Iterator[Labelled]:
    for country in GIVEN:
        yield column("given names", "col_3", lambda r, c=country: person(r, c)[0], of=country)
        yield column("surnames", "feld7", lambda r, c=country: person(r, c)[1], of=country)
        yield column("full names", "x1", lambda r, c=country: " ".join(person(r, c)), of=country)
    own = {
        "de": "Nachname", "us": "lastName", "fr": "nom_de_famille", "nl": "achternaam", "es": "apellidos",
        "pl": "nazwisko", "in": "surname", "br": "sobrenome", "it": "cognome",
    }  # fmt: skip
    for country, name in own.items():
        yield column("surnames", name, lambda r, c=country: person(r, c)[1], of=country)
        yield column(
            "names turned round", "kunde", lambda r, c=country: ", ".join(reversed(person(r, c))).upper(), of=country
        )
    yield column(
        "given names", "Vorname", lambda r: r.choice(["Xyla", "Qorin", "Zephra", "Ulvi", "Brisk"]) + r.choice("aeiou")
    )
    yield column("titled names", "arzt", lambda r: f"Dr. {' '.join(person(r, 'de'))}")
    yield column("initials and surnames", "autor", lambda r: f"{person(r, 'us')[0][0]}. {person(r, 'us')[1]}")


def contacts() -> Iterator[Labelled]:
    for country in ("de", "us", "fr", "nl", "es", "pl", "in", "br"):
        yield column("e-mails", "c12", lambda r, c=country: email(r, c), of=country)
        yield column("addresses", "v4", lambda r, c=country: address(r, c), of=country)
        yield column("phones", "z9", lambda r, c=country: filled(r, r.choice(PHONES[c])), of=country)
        name = {
            "de": "kundenTelefon", "us": "phone", "fr": "telephone", "nl": "telefoonnummer", "es": "telefono",
            "pl": "telefon", "in": "mobile_no", "br": "celular",
        }[country]  # fmt: skip
        yield column(
            "phones without code", name, lambda r, c=country: filled(r, r.choice(NATIONAL_PHONES[c])), of=country
        )
    for country in ("it", "se"):
        yield column("addresses", "ort2", lambda r, c=country: address(r, c), of=country)
    yield column("e-mails", "customer_email", lambda r: email(r, "us"))
    yield column(
        "e-mails among others",
        "kontakt",
        lambda r: email(r, "de") if r.random() < 0.2 else r.choice(["keine Angabe", "Brief", "Fax", str(r.random())]),
    )
    yield column(
        "e-mails in text", "note", lambda r: f"please write to {email(r, 'us')} before {date(r, 'YYYY-MM-DD')}"
    )
    yield column("e-mails with blanks", "f1", lambda r: f"  {email(r, 'de')} ")
    yield column("e-mails, hashed", "email_hash", lambda r: hashlib.md5(email(r, "de").encode()).hexdigest())
    yield column("phones as numbers", "tel", lambda r: int(filled(r, "49151########")))
    yield column("phones as numbers", "MobilNr", lambda r: float(filled(r, "49171########")))
    yield column("full addresses", "blob", lambda r: f"{address(r, 'us')}, Springfield, IL {filled(r, '#####')}")
    yield column("full addresses", "t5", lambda r: f"{address(r, 'de')}, {filled(r, '#####')} Berlin")
    yield column("streets without numbers", "strasse", lambda r: r.choice(pool(STREETS["de"][1])))
    yield column("user names", "username", lambda r: f"{plain(person(r, 'us')[0])}{r.randint(1, 999)}")
    yield column("handles", "p3", lambda r: f"@{plain(person(r, 'us')[0])}_{r.randint(1, 99)}")
    urls: tuple[tuple[str, Callable[[random.Random], str]], ...] = (
        ("link", lambda r: f"https://www.linkedin.com/in/{plain(person(r, 'us')[0])}-{r.randint(1, 999)}"),
        ("u4", lambda r: f"ftp://{plain(person(r, 'us')[0])}:{r.randint(1, 999)}@files.example.org/a"),
        ("referer", lambda r: f"https://shop.example.com/account/orders?user_id={r.randint(1000, 99999)}"),
        ("page", lambda r: f"https://example.org/~{plain(person(r, 'nl')[0])}{r.randint(1, 999)}/index.html"),
    )
    for name, draw in urls:
        yield column("URLs with user", name, draw)
