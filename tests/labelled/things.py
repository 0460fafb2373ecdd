"""Columns that are no direct identifiers, most of them alike to one."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from labelled.draws import Labelled, column, date, ean, filled, pool, valid
from labelled.words import WORDS


def things() -> Iterator[Labelled]:
    def no(
        kind: str, name: str, draw: Callable[[random.Random], object], of: str = "", distinct: int = 150
    ) -> Labelled:
        return column(kind, name, draw, positive=False, of=of, distinct=distinct)

    for name, words in WORDS.items():
        yield no("words", name, lambda r, w=words: r.choice(pool(w)))
        yield no("words", "c5", lambda r, w=words: r.choice(pool(w)), of=name)
    yield no("city names", "name", lambda r: r.choice(pool(WORDS["city"])))
    yield no("product names", "product_name", lambda r: f"{r.choice(pool(WORDS['product']))} {r.randint(1, 9)}")
    yield no("company names", "company_name", lambda r: r.choice(pool(WORDS["company"])))
    yield no("order numbers", "order_no", lambda r: r.randint(100000, 999999))
    for length in (8, 9, 10, 11, 12, 13, 14, 15, 16):
        yield no(f"whole numbers of {length} digits", "v", lambda r, n=length: r.randint(10 ** (n - 1), 10**n - 1))
        yield no(
            f"consecutive numbers of {length} digits", "w", lambda r, n=length: 4 * 10 ** (n - 1) + r.randint(0, 999)
        )
    yield no("order numbers", "ref", lambda r: f"ORD-{date(r, 'YYYYMMDD', 2019, 2024)}-{filled(r, '####')}")
    yield no("invoice numbers", "invoice_number", lambda r: f"INV{filled(r, '########')}")
    yield no("dated numbers", "belegnr", lambda r: date(r, "YYMMDD", 2019, 2024) + filled(r, "#####"))
    yield no("dated numbers", "vorgang", lambda r: date(r, "DDMMYYYY", 2019, 2024) + filled(r, "###"))
    yield no("amounts", "amount", lambda r: round(r.uniform(1, 99999), 2))
    yield no("amounts", "umsatz", lambda r: f"{r.randint(1, 999)}.{r.randint(0, 999):03},{r.randint(0, 99):02}")
    yield no("amounts", "price", lambda r: f"${r.uniform(1, 999):.2f}")
    yield no("large amounts", "income", lambda r: r.randint(10**6, 10**9) * 100)
    yield no("timestamps", "ts", lambda r: r.randint((1.4e9).__int__(), (1.7e9).__int__()))
    yield no("timestamps", "event_ms", lambda r: r.randint(14 * 10**11, 17 * 10**11))
    yield no(
        "timestamps",
        "zeit",
        lambda r: date(r, "YYYY-MM-DD", 2019, 2024) + f"T{r.randint(0, 23):02}:{r.randint(0, 59):02}:00Z",
    )
    yield no("dates", "datum", lambda r: date(r, "DD.MM.YYYY"))
    yield no("dates", "d", lambda r: int(date(r, "YYYYMMDD")))
    yield no("times", "uhrzeit", lambda r: f"{r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}")
    yield no("EAN", "ean", ean)
    yield no("EAN", "artikel", lambda r: int(ean(r)))
    yield no("EAN", "x9", ean)
    yield no("ISBN", "isbn", lambda r: valid(r, "isbn", lambda r: "0" + filled(r, "#########")))
    yield no("product codes", "sku", lambda r: filled(r, "@@-###-@@"))
    yield no("product codes", "code", lambda r: filled(r, "@@@-####"))
    yield no("product codes", "teil", lambda r: filled(r, "@@## @@@"))
    yield no("product codes", "artnr", lambda r: filled(r, "@#####"))
    yield no("product codes", "mat", lambda r: filled(r, "####-####-##"))
    yield no("ICD-10 codes", "icd10", lambda r: filled(r, "@##.#"))
    yield no(
        "ICD-10 codes", "y", lambda r: r.choice(["E11.9", "I10", "J45.0", "A00.1", "S72.0", "F32.1", "C50.9", "M54.5"])
    )
    yield no("LOINC codes", "loinc", lambda r: filled(r, "#####-#"))
    yield no("ATC codes", "atc", lambda r: filled(r, "@##@@##"))
    for of, form in (
        ("DE", "#####"),
        ("GB", "@@# #@@"),
        ("NL", "#### @@"),
        ("PL", "##-###"),
        ("BR", "#####-###"),
        ("US", "#####-####"),
        ("CA", "@#@ #@#"),
        ("IN", "######"),
    ):
        yield no("postcodes", "postcode", lambda r, f=form: filled(r, f), of=of)
        yield no("postcodes", "p2", lambda r, f=form: filled(r, f), of=of)
    yield no("postcodes", "plz", lambda r: r.randint(10000, 99999))
    yield no("years", "year", lambda r: r.randint(1940, 2005))
    yield no("ages", "age", lambda r: r.randint(0, 99))
    yield no("hashes of files", "file_hash", lambda r: filled(r, "=" * 64))
    yield no("hashes of files", "h", lambda r: filled(r, "=" * 40))
    yield no("hashes of files", "md5", lambda r: filled(r, "=" * 32))
    yield no("commits", "commit", lambda r: filled(r, "=" * 7))
    yield no("versions", "version", lambda r: f"{r.randint(0, 12)}.{r.randint(0, 30)}.{r.randint(0, 9)}")
    yield no("versions", "sw", lambda r: f"{r.randint(1, 20)}.{r.randint(0, 30)}.{r.randint(0, 9)}.{r.randint(0, 60)}")
    yield no("versions", "app_version", lambda r: f"10.0.{r.randint(10000, 20000)}.{r.randint(1, 2000)}")
    yield no(
        "packages",
        "dep",
        lambda r: (
            f"{r.choice(['lodash', 'react', 'vue', 'left-pad'])}@{r.randint(0, 9)}.{r.randint(0, 20)}.{r.randint(0, 9)}"
        ),
    )
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
    yield no("measurement codes", "sensor", lambda r: filled(r, "TMP-###-@"))
    yield no(
        "URLs", "url", lambda r: f"https://www.example.com/{r.choice(['shop', 'news', 'help'])}/{r.randint(1, 999)}"
    )
    yield no(
        "domains", "domain", lambda r: f"{r.choice(['shop', 'news', 'help', 'mail'])}{r.randint(1, 99)}.example.com"
    )
    yield no("hosts", "host", lambda r: f"srv-{r.randint(1, 99)}.prod.internal")
    yield no("files", "path", lambda r: f"/var/log/app/{date(r, 'YYYY-MM-DD')}.log")
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
    yield no("codes of regions", "nuts", lambda r: filled(r, "DE###"))
    yield no("codes of regions", "ags", lambda r: filled(r, "0#######"))
    yield no("company numbers", "siren", lambda r: valid(r, "fr.siren", lambda r: filled(r, "#########")))
    yield no("company numbers", "vat_id", lambda r: f"DE{filled(r, '#########')}")
    yield no(
        "comments",
        "answer",
        lambda r: r.choice(["very good", "good service", "too slow", "would come again", "Never again!"]),
    )
    yield no("colours", "rgb", lambda r: f"#{filled(r, '======')}")
    yield no("sizes", "masse", lambda r: f"{r.randint(1, 99)} x {r.randint(1, 99)} x {r.randint(1, 99)} cm")
    yield no("airports", "airport", lambda r: r.choice(pool("FRA MUC BER JFK LAX CDG AMS MAD WAW GRU DEL BOM")))
