"""Labelled columns: what direct identifiers look like in many countries, and what only looks like them.

Every value is drawn from a generator with a fixed seed. `half` splits the columns in two: detectors are developed on
the first, and the second is only looked at in the end.
"""

from __future__ import annotations

import csv
import hashlib
import random
import string
import unicodedata
import uuid
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

DATA = Path(__file__).parents[2] / "shared" / "data"
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


GIVEN = {
    "de": "Anna Lena Jürgen Uwe Sabine Björn Gerlinde Tobias Mareike Heinz Ayşe Wiebke Detlef Rüdiger Emil Thea Jannik Ottilie",
    "us": "James Mary Linda Robert Ashley Tyler Brianna Madison Jamal Latoya Cody Brooklyn Mackenzie Wyatt Harper Eleanor",
    "fr": "Jean Marie Océane Théo Élodie Benoît Maëlys Aurélien Chloé Gaëtan Solène Yannick Capucine Noémie Loïc Margaux",
    "nl": "Daan Sanne Femke Joost Maartje Pieter Anouk Sjoerd Lieke Bram Roos Thijs Wietske Gijs Fenna Ruben Marijke Hugo",
    "es": "José María Lucía Íñigo Javier Carmen Álvaro Begoña Macarena Pablo Nuria Ramón Ainhoa Jesús Consuelo Raúl Inés",
    "pl": "Anna Krzysztof Małgorzata Łukasz Zbigniew Agnieszka Grzegorz Elżbieta Wojciech Kinga Mateusz Żaneta Paweł Zofia",
    "in": "Aarav Priya Rahul Lakshmi Deepak Sunita Vikram Ananya Ramesh Kavita Ishaan Meenakshi Suresh Pooja Harpreet Gopal",
    "br": "João Maria Thiago Fernanda Luiz Juliana Rafael Camila Vinícius Letícia Otávio Beatriz Caio Sueli Wesley Larissa",
    "it": "Giulia Matteo Francesca Lorenzo Alessia Giovanni Chiara Davide Ilaria Salvatore Ginevra Pietro Martina Ettore",
    "tr": "Mehmet Ayşe Mustafa Fatma Emre Zeynep Burak Elif Hüseyin Gülşen Kerem Özlem Tuğba Serkan Derya Yusuf Sevgi Onur",
    "se": "Lars Ingrid Björn Astrid Gunnar Maja Åsa Oskar Ebba Nils Linnea Håkan Saga Göran Ulla Viktor Elsa Johan Britta",
}
FAMILY = {
    "de": "Müller Schmidt Schneider Weißenberger Hoffmann Köhler Yılmaz Brandstätter Krause Lehmann Oberhuber Vogel Pfeiffer",
    "us": "Smith Johnson Washington Nguyen Garcia Kowalczyk O'Connor Baker Sandoval Hernandez Lee Fitzgerald Brown McAllister",
    "fr": "Martin Dubois Lefèvre Delacroix Moreau Benhaddou Girard Chevalier Roux Quiniou Fontaine Petit Vasseur Le_Goff",
    "nl": "de_Vries Jansen van_den_Berg Bakker Hoekstra Smit van_Leeuwen Dijkstra Terpstra Mulder Visser Bos Oosterhuis",
    "es": "García Fernández Etxeberria López Muñoz Castillo Domínguez Vázquez Ibáñez Aranda Serrano Montoya Gutiérrez Pujol",
    "pl": "Nowak Kowalska Wiśniewski Zielińska Woźniak Dąbrowska Szymański Bąk Kaczmarek Grabowska Chrzanowski Wróbel Lis",
    "in": "Sharma Patel Iyer Reddy Singh Gupta Chatterjee Nair Khan Deshpande Balasubramanian Kaur Joshi Mehta Bhattacharya",
    "br": "Silva Santos Oliveira Souza Ferreira Albuquerque Lima Carvalho Gonçalves Ribeiro Rocha Teixeira Cavalcanti Moreira",
    "it": "Rossi Russo Ferrari Esposito Bianchi Romano Colombo Ricci Marino Lo_Presti Barbieri Sanna De_Luca Mancini Pozzi",
    "tr": "Yılmaz Kaya Demir Çelik Şahin Yıldırım Öztürk Aydın Arslan Doğan Kılıç Karataş Türkoğlu Erdem Özkan Koç",
    "se": "Andersson Johansson Lindqvist Bergström Nyström Karlsson Sjögren Åkesson Hedlund Nilsson Ekdahl Svensson Öberg",
}
STREETS = {
    "de": ("{s} {n}", "Hauptstraße Bahnhofstr. Gartenweg Lindenallee Am_Markt Goetheplatz Kirchgasse Ringstraße Mühlenweg"),
    "us": ("{n} {s}", "Main_St Oak_Avenue Maple_Dr Washington_Blvd N_5th_Street Sunset_Lane Park_Rd Elm_Court Lakeview_Ter"),
    "fr": ("{n} {s}", "rue_de_la_Paix avenue_Victor_Hugo boulevard_Voltaire place_du_Marché impasse_des_Lilas chemin_Vert"),
    "nl": ("{s} {n}", "Keizersgracht Dorpsstraat Kerkweg Beatrixlaan Marktplein Havenkade Molendijk Oranjesingel Kloosterpad"),
    "es": ("{s} {n}", "Calle_Mayor C/_Alcalá Avda._de_la_Constitución Paseo_del_Prado Plaza_Nueva Camino_Real Ronda_Sur"),
    "pl": ("{s} {n}/{m}", "ul._Długa ul._Marszałkowska al._Jerozolimskie os._Piastów ul._Kościuszki pl._Wolności ul._Polna"),
    "in": ("{n}, {s}", "MG_Road Nehru_Marg Gandhi_Nagar Lajpat_Colony Park_Street Station_Road Anna_Salai Ashok_Vihar"),
    "br": ("{s}, {n}", "Rua_Augusta Avenida_Paulista Travessa_do_Ouvidor Praça_da_Sé Alameda_Santos Rua_das_Flores"),
    "it": ("{s} {n}", "Via_Roma Corso_Italia Piazza_Garibaldi Viale_Europa Vicolo_Stretto Via_Dante_Alighieri Largo_Augusto"),
    "se": ("{s} {n}", "Storgatan Kungsvägen Drottninggatan Skolgatan Björkstigen Ringvägen Vasagatan Parkvägen Nygatan"),
}
PHONES = {
    "de": ("+49 30 #######", "+49 (0)89 ######", "+49151########"), "us": ("+1 212 ### ####", "+1-415-###-####"),
    "fr": ("+33 6 ## ## ## ##", "+33 1 ## ## ## ##"), "nl": ("+31 6 ########", "0031 20 #######"),
    "es": ("+34 6## ### ###", "+34 91 ### ## ##"), "pl": ("+48 5## ### ###",), "in": ("+91 98### #####", "+91-22-2#######"),
    "br": ("+55 11 9####-####", "+55 (21) 9####-####"), "gb": ("+44 7### ######", "+44 20 7### ####"),
}  # fmt: skip
NATIONAL_PHONES = {
    "de": ("030 #######", "0151-########", "089/######"), "us": ("(212) ###-####", "(415) ###-####"),
    "fr": ("06 ## ## ## ##", "01 ## ## ## ##"), "nl": ("06-########", "020-#######"), "es": ("6## ### ###",),
    "pl": ("5## ### ###",), "in": ("098### #####", "98########"), "br": ("(11) 9####-####", "(21) 9####-####"),
}  # fmt: skip


def _pool(text: str) -> list[str]:
    return [word.replace("_", " ") for word in text.split()]


def _filled(r: random.Random, form: str) -> str:
    """Fill a form: # is a digit, @ a letter, = a hexadecimal digit."""
    of = {"#": string.digits, "@": string.ascii_uppercase, "=": "0123456789abcdef"}
    return "".join(r.choice(of[char]) if char in of else char for char in form)


def _valid(r: random.Random, module: str, form: Callable[[random.Random], str]) -> str:
    """Draw until the check of a number holds."""
    check = import_module(f"stdnum.{module}").is_valid
    number = next((number for number in (form(r) for _ in range(100_000)) if check(number)), None)
    assert number is not None, module
    return number


def _date(r: random.Random, form: str, first: int = 1940, last: int = 2004) -> str:
    year, month, day = r.randint(first, last), r.randint(1, 12), r.randint(1, 28)
    return form.replace("YYYY", f"{year}").replace("YY", f"{year % 100:02}").replace("MM", f"{month:02}").replace("DD", f"{day:02}")


def _iban(r: random.Random, country: str) -> str:
    forms = {"DE": "#" * 18, "NL": "ABNA##########", "FR": "#" * 23, "ES": "#" * 20, "PL": "#" * 24, "GB": "NWBK" + "#" * 14, "BR": "#" * 23 + "P1"}
    body = _filled(r, forms[country])
    digits = "".join(str(int(char, 36)) for char in body + country + "00")
    return f"{country}{98 - int(digits) % 97:02}{body}"


def _luhn(r: random.Random, form: str) -> str:
    body = _filled(r, form)
    digits = [int(char) for char in body]
    total = sum(sum(divmod(2 * d, 10)) if i % 2 == 0 else d for i, d in enumerate(reversed(digits)))
    return body + str(-total % 10)


def _rvnr(r: random.Random) -> str:
    return _filled(r, f"{r.choice(['12', '65', '53', '15'])}{_date(r, 'DDMMYY')}@") + _filled(r, "###")


def _ean(r: random.Random) -> str:
    body = _filled(r, "40#########" + "#")
    return body + str(-sum(int(char) * (3 if i % 2 else 1) for i, char in enumerate(body)) % 10)


NATIONAL: dict[str, tuple[str, Callable[[random.Random], str]]] = {
    "US": ("ssn", lambda r: f"{r.randint(1, 665):03}-{r.randint(1, 99):02}-{r.randint(1, 9999):04}"),
    "DE tax": ("steuer_id", lambda r: _valid(r, "de.idnr", lambda r: _repeating(r))),
    "DE pension": ("sozialversicherungsnummer", _rvnr),
    "AT": ("svnr", lambda r: _valid(r, "at.vnr", lambda r: _filled(r, "####") + _date(r, "DDMMYY"))),
    "CH": ("ahv_nr", lambda r: _valid(r, "ch.ssn", lambda r: _filled(r, "756.####.####.##"))),
    "FR": ("nir", lambda r: _valid(r, "fr.nir", lambda r: r.choice("12") + _date(r, "YYMM") + _filled(r, "75###") + _filled(r, "#####"))),
    "NL": ("bsn", lambda r: _valid(r, "nl.bsn", lambda r: _filled(r, "#########"))),
    "BE": ("rijksregisternummer", lambda r: _valid(r, "be.nn", lambda r: _date(r, "YY.MM.DD") + _filled(r, "-###.##"))),
    "GB nino": ("national_insurance_number", lambda r: r.choice(("AB", "CE", "JG", "PW")) + _filled(r, "######") + r.choice("ABCD")),
    "GB nhs": ("nhs_number", lambda r: _valid(r, "gb.nhs", lambda r: r.choice("467") + _filled(r, "#########"))),
    "ES dni": ("dni", lambda r: _valid(r, "es.dni", lambda r: _filled(r, "########@"))),
    "ES nie": ("nie", lambda r: _valid(r, "es.nie", lambda r: r.choice("XYZ") + _filled(r, "#######@"))),
    "IT": ("codice_fiscale", lambda r: _valid(r, "it.codicefiscale", lambda r: _filled(r, "@@@@@@") + _date(r, "YY") + r.choice("ABCDEHLMPRST") + f"{r.randint(1, 28):02}H501" + _filled(r, "@"))),
    "PL": ("pesel", lambda r: _valid(r, "pl.pesel", lambda r: _date(r, "YYMMDD", 1940, 1999) + _filled(r, "#####"))),
    "SE": ("personnummer", lambda r: _valid(r, "se.personnummer", lambda r: _date(r, "YYMMDD") + _filled(r, "-####"))),
    "NO": ("fodselsnummer", lambda r: _valid(r, "no.fodselsnummer", lambda r: _date(r, "DDMMYY", 1955, 1999) + _filled(r, "#####"))),
    "DK": ("cpr_nr", lambda r: _valid(r, "dk.cpr", lambda r: _date(r, "DDMMYY", 1940, 1999) + _filled(r, "-####"))),
    "FI": ("hetu", lambda r: _valid(r, "fi.hetu", lambda r: _date(r, "DDMMYY", 1940, 1999) + "-" + _filled(r, "###") + r.choice("0123456789ABCDEFHJKLMNPRSTUVWXY"))),
    "CZ": ("rodne_cislo", lambda r: _valid(r, "cz.rc", lambda r: _date(r, "YYMMDD", 1960, 1999) + _filled(r, "/####"))),
    "RO": ("cnp", lambda r: _valid(r, "ro.cnp", lambda r: r.choice("12") + _date(r, "YYMMDD", 1940, 1999) + f"{r.randint(1, 40):02}" + _filled(r, "####"))),
    "TR": ("tc_kimlik_no", lambda r: _valid(r, "tr.tckimlik", lambda r: _filled(r, "###########"))),
    "IN aadhaar": ("aadhaar", lambda r: _valid(r, "in_.aadhaar", lambda r: r.choice("23456789") + _filled(r, "###########"))),
    "IN pan": ("pan_number", lambda r: _valid(r, "in_.pan", lambda r: _filled(r, "@@@P@####@"))),
    "BR": ("cpf", lambda r: _valid(r, "br.cpf", lambda r: _filled(r, "###########"))),
    "BR dotted": ("cpf", lambda r: _valid(r, "br.cpf", lambda r: _filled(r, "###.###.###-##"))),
    "MX": ("curp", lambda r: _valid(r, "mx.curp", lambda r: _filled(r, "@") + r.choice("AEIOU") + _filled(r, "@@") + _date(r, "YYMMDD", 1950, 1999) + r.choice("HM") + "DFBCD" + _filled(r, "0#"))),
    "CA": ("sin", lambda r: _valid(r, "ca.sin", lambda r: r.choice("1234567") + _filled(r, "## ### ###"))),
    "ZA": ("id_number", lambda r: _valid(r, "za.idnr", lambda r: _date(r, "YYMMDD") + _filled(r, "####") + "08" + _filled(r, "#"))),
    "CN": ("identity_number", lambda r: _valid(r, "cn.ric", lambda r: "110101" + _date(r, "YYYYMMDD") + _filled(r, "###") + r.choice("0123456789X"))),
    "KR": ("rrn", lambda r: _date(r, "YYMMDD", 1950, 1999) + _filled(r, f"-{r.choice('12')}######")),
}  # fmt: skip


def _repeating(r: random.Random) -> str:
    """Draw ten digits of which one occurs twice, as those of a German tax number, and one more."""
    digits = r.sample(string.digits, 9)
    digits.append(r.choice(digits))
    r.shuffle(digits)
    return "".join(digits) + r.choice(string.digits)


def _person(r: random.Random, country: str) -> tuple[str, str]:
    return r.choice(_pool(GIVEN[country])), r.choice(_pool(FAMILY[country]))


def _drawn(title: str, draw: Callable[[random.Random], object], distinct: int = 150) -> tuple:
    r = random.Random(title)
    values = [draw(r) for _ in range(distinct)]
    return tuple(r.choice(values) for _ in range(ROWS))


def _column(kind: str, name: str, draw: Callable[[random.Random], object], *, positive: bool = True, of: str = "", distinct: int = 150) -> Labelled:
    title = f"{kind}, {of + ', ' if of else ''}column {name}"
    return Labelled(title, name, kind, _drawn(title, draw, distinct), positive)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKD", text.lower().replace("ß", "ss").replace("ł", "l").replace("ı", "i"))
    return "".join(char for char in folded if char in string.ascii_lowercase)


def _email(r: random.Random, country: str) -> str:
    given, family = (_plain(word) for word in _person(r, country))
    return f"{given}{r.choice(['.', '_', ''])}{family}{r.choice(['', str(r.randint(1, 99))])}@{r.choice(['gmail.com', 'example.org', 'web.de', 'orange.fr', 'uol.com.br', 'firma-mail.co.uk'])}"


def _address(r: random.Random, country: str) -> str:
    form, names = STREETS[country]
    return form.format(s=r.choice(_pool(names)), n=r.randint(1, 199), m=r.randint(1, 40))


def _names() -> Iterator[Labelled]:
    for country in GIVEN:
        yield _column("given names", "col_3", lambda r, c=country: _person(r, c)[0], of=country)
        yield _column("surnames", "feld7", lambda r, c=country: _person(r, c)[1], of=country)
        yield _column("full names", "x1", lambda r, c=country: " ".join(_person(r, c)), of=country)
    own = {"de": "Nachname", "us": "lastName", "fr": "nom_de_famille", "nl": "achternaam", "es": "apellidos", "pl": "nazwisko", "in": "surname", "br": "sobrenome", "it": "cognome"}
    for country, name in own.items():
        yield _column("surnames", name, lambda r, c=country: _person(r, c)[1], of=country)
        yield _column("names turned round", "kunde", lambda r, c=country: ", ".join(reversed(_person(r, c))).upper(), of=country)
    yield _column("given names", "Vorname", lambda r: r.choice(["Xyla", "Qorin", "Zephra", "Ulvi", "Brisk"]) + r.choice("aeiou"))
    yield _column("titled names", "arzt", lambda r: f"Dr. {' '.join(_person(r, 'de'))}")
    yield _column("initials and surnames", "autor", lambda r: f"{_person(r, 'us')[0][0]}. {_person(r, 'us')[1]}")


def _contacts() -> Iterator[Labelled]:
    for country in ("de", "us", "fr", "nl", "es", "pl", "in", "br"):
        yield _column("e-mails", "c12", lambda r, c=country: _email(r, c), of=country)
        yield _column("addresses", "v4", lambda r, c=country: _address(r, c), of=country)
        yield _column("phones", "z9", lambda r, c=country: _filled(r, r.choice(PHONES[c])), of=country)
        name = {"de": "kundenTelefon", "us": "phone", "fr": "telephone", "nl": "telefoonnummer", "es": "telefono", "pl": "telefon", "in": "mobile_no", "br": "celular"}[country]
        yield _column("phones without code", name, lambda r, c=country: _filled(r, r.choice(NATIONAL_PHONES[c])), of=country)
    for country in ("it", "se"):
        yield _column("addresses", "ort2", lambda r, c=country: _address(r, c), of=country)
    yield _column("e-mails", "customer_email", lambda r: _email(r, "us"))
    yield _column("e-mails among others", "kontakt", lambda r: _email(r, "de") if r.random() < 0.2 else r.choice(["keine Angabe", "Brief", "Fax", str(r.random())]))
    yield _column("e-mails in text", "note", lambda r: f"please write to {_email(r, 'us')} before {_date(r, 'YYYY-MM-DD')}")
    yield _column("e-mails with blanks", "f1", lambda r: f"  {_email(r, 'de')} ")
    yield _column("e-mails, hashed", "email_hash", lambda r: hashlib.md5(_email(r, "de").encode()).hexdigest())
    yield _column("phones as numbers", "tel", lambda r: int(_filled(r, "49151########")))
    yield _column("phones as numbers", "MobilNr", lambda r: float(_filled(r, "49171########")))
    yield _column("full addresses", "blob", lambda r: f"{_address(r, 'us')}, Springfield, IL {_filled(r, '#####')}")
    yield _column("full addresses", "t5", lambda r: f"{_address(r, 'de')}, {_filled(r, '#####')} Berlin")
    yield _column("streets without numbers", "strasse", lambda r: r.choice(_pool(STREETS["de"][1])))
    yield _column("user names", "username", lambda r: f"{_plain(_person(r, 'us')[0])}{r.randint(1, 999)}")
    yield _column("handles", "p3", lambda r: f"@{_plain(_person(r, 'us')[0])}_{r.randint(1, 99)}")
    yield _column("URLs with user", "link", lambda r: f"https://www.linkedin.com/in/{_plain(_person(r, 'us')[0])}-{r.randint(1, 999)}")
    yield _column("URLs with user", "u4", lambda r: f"ftp://{_plain(_person(r, 'us')[0])}:{r.randint(1, 999)}@files.example.org/a")
    yield _column("URLs with user", "referer", lambda r: f"https://shop.example.com/account/orders?user_id={r.randint(1000, 99999)}")
    yield _column("URLs with user", "page", lambda r: f"https://example.org/~{_plain(_person(r, 'nl')[0])}{r.randint(1, 999)}/index.html")


def _codes() -> Iterator[Labelled]:
    for country, (name, draw) in NATIONAL.items():
        yield _column("national numbers", name, draw, of=country)
        yield _column("national numbers", "k7", draw, of=country)
    yield _column("national numbers as numbers", "k8", lambda r: int(NATIONAL["BR"][1](r)), of="BR")
    yield _column("national numbers as numbers", "patient_ssn", lambda r: int(NATIONAL["US"][1](r).replace("-", "")), of="US")
    yield _column("national numbers as numbers", "wert", lambda r: float(NATIONAL["PL"][1](r)), of="PL")
    for country in ("DE", "NL", "FR", "ES", "PL", "GB"):
        yield _column("IBAN", "b2", lambda r, c=country: _iban(r, c), of=country)
    yield _column("IBAN in fours", "kto", lambda r: " ".join(t[i : i + 4] for t in [_iban(r, "DE")] for i in range(0, 22, 4)))
    yield _column("accounts", "kontonummer", lambda r: int(_filled(r, "1########")))
    for of, form in (("Visa", "4" + "#" * 14), ("Mastercard", "5241" + "#" * 11), ("Amex", "3712" + "#" * 10)):
        yield _column("credit cards", "c1", lambda r, f=form: _luhn(r, f), of=of)
        yield _column("credit cards as numbers", "c2", lambda r, f=form: int(_luhn(r, f)), of=of)
    yield _column("credit cards in fours", "d1", lambda r: " ".join(t[i : i + 4] for t in [_luhn(r, "4" + "#" * 14)] for i in range(0, 16, 4)))
    yield _column("IMEI", "geraet", lambda r: _luhn(r, "35############"))
    yield _column("IP", "src", lambda r: ".".join(str(r.randint(1, 254)) for _ in range(4)))
    yield _column("IP", "a1", lambda r: f"192.168.{r.randint(0, 9)}.{r.randint(1, 254)}:{r.randint(1024, 65535)}")
    yield _column("IPv6", "a2", lambda r: "2001:db8:" + ":".join(_filled(r, "====") for _ in range(6)))
    yield _column("MAC", "hw", lambda r: ":".join(_filled(r, "==") for _ in range(6)))
    yield _column("MAC", "hw2", lambda r: "-".join(_filled(r, "==") for _ in range(6)).upper())
    yield _column("UUID", "k", lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)))
    yield _column("plates", "f3", lambda r: f"{r.choice(['B', 'M', 'HH', 'K', 'MTK', 'LÖ'])}-{_filled(r, '@@')} {r.randint(1, 9999)}", of="DE")
    yield _column("plates", "f4", lambda r: "".join(r.choice("ABCDEFGHJKLMNPQRSTVWXYZ") if c == "@" else c for c in _filled(r, "") + "@@-") + f"{r.randint(1, 999):03}-" + "".join(r.choice("ABCDEFGHJKLMNPQRSTVWXYZ") for _ in range(2)), of="FR")
    yield _column("plates", "f5", lambda r: "".join(r.choice("ABCDEFGHJKLMNOPRSTUVWXY") for _ in range(2)) + f"{r.randint(2, 73):02} " + "".join(r.choice("ABCDEFGHJKLMNOPRSTUVWXYZ") for _ in range(3)), of="GB")
    yield _column("plates", "f6", lambda r: f"{r.randint(0, 9999):04} " + "".join(r.choice("BCDFGHJKLMNPRSTVWXYZ") for _ in range(3)), of="ES")
    yield _column("plates", "f7", lambda r: f"{r.choice(['MH', 'KA', 'DL', 'TN'])} {r.randint(1, 50):02} {''.join(r.choice('ABCDEFGHJKLM') for _ in range(2))} {r.randint(1, 9999):04}", of="IN")
    yield _column("plates", "kennzeichen", lambda r: _filled(r, "XX @@ ####"), of="other")
    yield _column("plates", "placa", lambda r: _filled(r, "@@@-####"), of="BR")
    yield _column("licence_plate", "license_plate", lambda r: _filled(r, "#@@@###"), of="US")
    yield _column("positions", "lat", lambda r: round(r.uniform(47, 54), 6))
    yield _column("positions", "geo_longitude", lambda r: round(r.uniform(6, 14), 5))
    yield _column("positions", "punkt", lambda r: f"{r.uniform(47, 54):.6f}, {r.uniform(6, 14):.6f}")
    yield _column("positions", "wkt", lambda r: f"POINT ({r.uniform(6, 14):.6f} {r.uniform(47, 54):.6f})")
    yield _column("passports", "passport_no", lambda r: _filled(r, "C#####@##"))
    yield _column("driving licences", "fuehrerscheinnummer", lambda r: _filled(r, "B######@#@#"))
    yield _column("health insurance", "versichertennummer", lambda r: _filled(r, "@#########"))
    yield _column("numbers of persons", "customer_id", lambda r: r.randint(1000, 9999), distinct=60)
    yield _column("numbers of persons", "patientNr", lambda r: _filled(r, "P-#####"), distinct=60)


WORDS = {
    "city": "Berlin Hamburg München Köln Frankfurt Stuttgart Düsseldorf Leipzig Dortmund Essen Bremen Dresden Hannover Nürnberg Paris London Madrid Sevilla Amsterdam Rotterdam Utrecht Warszawa Kraków Gdańsk São_Paulo Salvador Recife Mumbai Delhi Chennai New_York Houston Phoenix San_Antonio Austin Jackson Charlotte Madison Lincoln Florence Los_Angeles Buenos_Aires",
    "occupation": "Nurse Teacher Software_Engineer Baker Carpenter Accountant Bus_Driver Electrician Plumber Sales_Manager Data_Analyst Cook Farmer Lawyer Judge Mason Miller Taylor Smith Physician Project_Manager Cashier Security_Guard",
    "beruf": "Bäcker Müller Schneider Lehrerin Krankenpfleger Koch Maurer Zimmermann Schreiner Kaufmann Informatiker Ingenieurin Fischer Gärtner Metzger Verkäuferin Arzt Richter Weber Schmied Polizist Elektriker Friseurin",
    "product": "Espresso_Machine Running_Shoes USB_Cable Office_Chair Desk_Lamp Garden_Hose Coffee_Beans Olive_Oil Rose_Wine Amber_Ale Jack_Daniels Notebook_A5 Wireless_Mouse Yoga_Mat Water_Bottle Winter_Jacket Tea_Pot",
    "category": "Books Toys Garden Electronics Food Clothing Sports Music Health Office Automotive Beauty Pets Travel",
    "farbe": "Black White Brown Green Gray Red Blue Rose Violet Amber Silver Gold Olive Scarlet Yellow Orange",
    "month": "January February March April May June July August September October November December",
    "company": "Siemens_AG Müller_GmbH Johnson_&_Johnson Unilever_NV Tata_Steel_Ltd Petrobras_SA Miller_Brewing_Inc Schmidt_Logistik_GmbH BASF_SE Volvo_Group Santander_Bank Orange_SA Philips Wipro_Ltd Harley_Davidson_Inc",
    "country": "Germany France Spain Poland India Brazil Netherlands Italy Jordan Georgia Chad Israel Norway Sweden United_States Mexico Cuba China Japan Portugal",
    "department": "Cardiology Oncology Pediatrics Human_Resources Finance Legal Radiology Emergency_Room Logistics Research Surgery",
    "marital": "single married divorced widowed separated partnered",
    "education": "Bachelors Masters Doctorate HS-grad Some-college 11th 9th Assoc-voc Prof-school Preschool",
    "species": "Quercus_robur Fagus_sylvatica Pinus_nigra Betula_pendula Acer_campestre Tilia_cordata Salix_alba Ulmus_glabra Rosa_canina",
    "car": "Ford_Focus VW_Golf Tesla_Model_3 BMW_X5 Fiat_500 Renault_Clio Audi_A4 Opel_Corsa Mercedes_C200 Toyota_Yaris Honda_Civic",
    "diagnosis": "Asthma Type_2_diabetes Hypertension Fracture_of_wrist Influenza Migraine Parkinson_disease Crohn_disease Hodgkin_lymphoma",
    "street_type": "Straße Weg Platz Allee Gasse Ring Damm Ufer",
    "weekday": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "language": "German English French Spanish Polish Hindi Portuguese Dutch Turkish Arabic",
}


def _things() -> Iterator[Labelled]:
    def no(kind: str, name: str, draw: Callable[[random.Random], object], of: str = "", distinct: int = 150) -> Labelled:
        return _column(kind, name, draw, positive=False, of=of, distinct=distinct)

    for name, words in WORDS.items():
        yield no("words", name, lambda r, w=words: r.choice(_pool(w)))
        yield no("words", "c5", lambda r, w=words: r.choice(_pool(w)), of=name)
    yield no("city names", "name", lambda r: r.choice(_pool(WORDS["city"])))
    yield no("product names", "product_name", lambda r: f"{r.choice(_pool(WORDS['product']))} {r.randint(1, 9)}")
    yield no("company names", "company_name", lambda r: r.choice(_pool(WORDS["company"])))
    yield no("order numbers", "order_no", lambda r: r.randint(100000, 999999))
    for length in (8, 9, 10, 11, 12, 13, 14, 15, 16):
        yield no(f"whole numbers of {length} digits", "v", lambda r, n=length: r.randint(10 ** (n - 1), 10**n - 1))
        yield no(f"consecutive numbers of {length} digits", "w", lambda r, n=length: 4 * 10 ** (n - 1) + r.randint(0, 999))
    yield no("order numbers", "ref", lambda r: f"ORD-{_date(r, 'YYYYMMDD', 2019, 2024)}-{_filled(r, '####')}")
    yield no("invoice numbers", "invoice_number", lambda r: f"INV{_filled(r, '########')}")
    yield no("dated numbers", "belegnr", lambda r: _date(r, "YYMMDD", 2019, 2024) + _filled(r, "#####"))
    yield no("dated numbers", "vorgang", lambda r: _date(r, "DDMMYYYY", 2019, 2024) + _filled(r, "###"))
    yield no("amounts", "amount", lambda r: round(r.uniform(1, 99999), 2))
    yield no("amounts", "umsatz", lambda r: f"{r.randint(1, 999)}.{r.randint(0, 999):03},{r.randint(0, 99):02}")
    yield no("amounts", "price", lambda r: f"${r.uniform(1, 999):.2f}")
    yield no("large amounts", "income", lambda r: r.randint(10**6, 10**9) * 100)
    yield no("timestamps", "ts", lambda r: r.randint(1.4e9.__int__(), 1.7e9.__int__()))
    yield no("timestamps", "event_ms", lambda r: r.randint(14 * 10**11, 17 * 10**11))
    yield no("timestamps", "zeit", lambda r: _date(r, "YYYY-MM-DD", 2019, 2024) + f"T{r.randint(0, 23):02}:{r.randint(0, 59):02}:00Z")
    yield no("dates", "datum", lambda r: _date(r, "DD.MM.YYYY"))
    yield no("dates", "d", lambda r: int(_date(r, "YYYYMMDD")))
    yield no("times", "uhrzeit", lambda r: f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}")
    yield no("EAN", "ean", _ean)
    yield no("EAN", "artikel", lambda r: int(_ean(r)))
    yield no("EAN", "x9", _ean)
    yield no("ISBN", "isbn", lambda r: _valid(r, "isbn", lambda r: "0" + _filled(r, "#########")))
    yield no("product codes", "sku", lambda r: _filled(r, "@@-###-@@"))
    yield no("product codes", "code", lambda r: _filled(r, "@@@-####"))
    yield no("product codes", "teil", lambda r: _filled(r, "@@## @@@"))
    yield no("product codes", "artnr", lambda r: _filled(r, "@#####"))
    yield no("product codes", "mat", lambda r: _filled(r, "####-####-##"))
    yield no("ICD-10 codes", "icd10", lambda r: _filled(r, "@##.#"))
    yield no("ICD-10 codes", "y", lambda r: r.choice(["E11.9", "I10", "J45.0", "A00.1", "S72.0", "F32.1", "C50.9", "M54.5"]))
    yield no("LOINC codes", "loinc", lambda r: _filled(r, "#####-#"))
    yield no("ATC codes", "atc", lambda r: _filled(r, "@##@@##"))
    for of, form in (("DE", "#####"), ("GB", "@@# #@@"), ("NL", "#### @@"), ("PL", "##-###"), ("BR", "#####-###"), ("US", "#####-####"), ("CA", "@#@ #@#"), ("IN", "######")):
        yield no("postcodes", "postcode", lambda r, f=form: _filled(r, f), of=of)
        yield no("postcodes", "p2", lambda r, f=form: _filled(r, f), of=of)
    yield no("postcodes", "plz", lambda r: r.randint(10000, 99999))
    yield no("years", "year", lambda r: r.randint(1940, 2005))
    yield no("ages", "age", lambda r: r.randint(0, 99))
    yield no("hashes of files", "file_hash", lambda r: _filled(r, "=" * 64))
    yield no("hashes of files", "h", lambda r: _filled(r, "=" * 40))
    yield no("hashes of files", "md5", lambda r: _filled(r, "=" * 32))
    yield no("commits", "commit", lambda r: _filled(r, "=" * 7))
    yield no("versions", "version", lambda r: f"{r.randint(0, 12)}.{r.randint(0, 30)}.{r.randint(0, 9)}")
    yield no("versions", "sw", lambda r: f"{r.randint(1, 20)}.{r.randint(0, 30)}.{r.randint(0, 9)}.{r.randint(0, 60)}")
    yield no("versions", "app_version", lambda r: f"10.0.{r.randint(10000, 20000)}.{r.randint(1, 2000)}")
    yield no("packages", "dep", lambda r: f"{r.choice(['lodash', 'react', 'vue', 'left-pad'])}@{r.randint(0, 9)}.{r.randint(0, 20)}.{r.randint(0, 9)}")
    yield no("measurements", "temperature", lambda r: round(r.gauss(15, 8), 5))
    yield no("measurements", "m2", lambda r: r.gauss(0, 1))
    yield no("measurements", "laborwert", lambda r: f"{r.uniform(0, 9):.5f}".replace(".", ","))
    yield no("measurements", "blood_pressure", lambda r: f"{r.randint(90, 180)}/{r.randint(50, 110)}")
    yield no("measurements", "delta", lambda r: f"{r.choice('+-')}{r.randint(1, 99999)}")
    yield no("rough positions", "latitude", lambda r: round(r.uniform(47, 54), 1))
    yield no("shares", "anteil", lambda r: round(r.random(), 5))
    yield no("shares", "pct", lambda r: f"{r.uniform(0, 100):.1f} %")
    for name in ("store_id", "region_id", "department_id", "sensor_id", "product_id", "station_id"):
        yield no("numbers of things", name, lambda r: r.randint(1, 999), distinct=60)
    yield no("measurement codes", "sensor", lambda r: _filled(r, "TMP-###-@"))
    yield no("URLs", "url", lambda r: f"https://www.example.com/{r.choice(['shop', 'news', 'help'])}/{r.randint(1, 999)}")
    yield no("domains", "domain", lambda r: f"{r.choice(['shop', 'news', 'help', 'mail'])}{r.randint(1, 99)}.example.com")
    yield no("hosts", "host", lambda r: f"srv-{r.randint(1, 99)}.prod.internal")
    yield no("files", "path", lambda r: f"/var/log/app/{_date(r, 'YYYY-MM-DD')}.log")
    yield no("files", "file_name", lambda r: f"report_{r.randint(1, 99)}.pdf")
    yield no("flags", "email_opt_in", lambda r: r.choice(["yes", "no"]))
    yield no("flags", "has_phone", lambda r: r.choice([0, 1]))
    yield no("kinds", "phone_type", lambda r: r.choice(["mobile", "home", "work"]))
    yield no("kinds", "email", lambda r: r.choice(["work", "private", "none"]))
    yield no("kinds", "address_type", lambda r: r.choice(["billing", "shipping"]))
    yield no("kinds", "mobile", lambda r: r.choice(["iOS", "Android"]))
    yield no("kinds", "plate", lambda r: r.choice(["left", "right"]))
    yield no("groups of age", "age_group", lambda r: f"{10 * r.randint(1, 8)}-{10 * r.randint(1, 8) + 9}")
    yield no("grades", "grade", lambda r: r.choice("ABCDEF"))
    yield no("codes of regions", "nuts", lambda r: _filled(r, "DE###"))
    yield no("codes of regions", "ags", lambda r: _filled(r, "0#######"))
    yield no("company numbers", "siren", lambda r: _valid(r, "fr.siren", lambda r: _filled(r, "#########")))
    yield no("company numbers", "vat_id", lambda r: f"DE{_filled(r, '#########')}")
    yield no("comments", "answer", lambda r: r.choice(["very good", "good service", "too slow", "would come again", "Never again!"]))
    yield no("colours", "rgb", lambda r: f"#{_filled(r, '======')}")
    yield no("sizes", "masse", lambda r: f"{r.randint(1, 99)} x {r.randint(1, 99)} x {r.randint(1, 99)} cm")
    yield no("airports", "airport", lambda r: r.choice("FRA MUC BER JFK LAX CDG AMS MAD WAW GRU DEL BOM".split()))


def _real() -> Iterator[Labelled]:
    """Yield the columns of public data sets: none of them is a direct identifier."""
    for file in ("census.csv", "tarragona.csv", "eia.csv", "testdata.csv", "mikrozensus2010.csv", "adult/adult.csv"):
        path = DATA / file
        if not path.is_file():
            continue
        with path.open(encoding="utf-8", newline="") as lines:
            header, *rows = list(csv.reader(lines, delimiter=";" if "adult" in file else ","))[:3001]
        for place, name in enumerate(header):
            values = tuple(_number(row[place]) for row in rows)
            yield Labelled(f"{file}, column {name}", name, f"public data, {file}", values, positive=False)


def _number(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text or None


def columns() -> list[Labelled]:
    """Return all labelled columns."""
    return [*_names(), *_contacts(), *_codes(), *_things(), *_real()]


def found(labelled: list[Labelled]) -> list:
    """Return what the scan finds in each column; those of different names share a table."""
    import pyarrow as pa

    from sqlmicro.identifiers import scan
    from sqlmicro.source import find_source
    from sqlmicro.warehouse import Warehouse

    tables: list[dict[str, int]] = []
    for number, column in enumerate(labelled):
        table = next((t for t in tables if column.name.lower() not in t and len(t) < 40), None)
        if table is None:
            tables.append(table := {})
        table[column.name.lower()] = number
    results = [None] * len(labelled)
    with Warehouse.open(None) as warehouse:
        for table in tables:
            most = max(len(labelled[number].values) for number in table.values())
            filled = {
                labelled[n].name: [*labelled[n].values, *[None] * (most - len(labelled[n].values))]
                for n in table.values()
            }
            name = warehouse.load(pa.table(filled), "records", "")
            source = find_source(warehouse, f'"{name.catalog}"."main"."records"', {})
            for column, seen in scan.seen(warehouse, source, source.columns).items():
                results[table[column.name.lower()]] = seen.finding
    return results
