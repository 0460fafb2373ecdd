"""Made tables of many shapes: some in which persons have several rows, and more in which nobody has."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

FIRST = ("Anna", "Peter", "Maria", "Jonas", "Julia", "Lukas", "Emma", "David", "Laura", "Thomas", "Sarah", "Nina")
LAST = ("Meyer", "Smith", "Gruber", "Novak", "Rossi", "Garcia", "Silva", "Jensen", "Kowalski", "Dubois", "Brown")
CITIES = ("Graz", "Linz", "Bern", "Reims", "Lyon", "Cork", "Porto", "Wien", "Köln")
Columns = dict[str, list[object]]
Shape = Callable[[random.Random, int], Columns]


@dataclass(frozen=True)
class Made:
    """A table, and the column that says whose record it is where persons have several."""

    title: str
    columns: Columns
    person: str = ""


def numbers(r: random.Random, n: int, low: int, high: int) -> list[object]:
    return [r.randint(low, high) for _ in range(n)]


def floats(r: random.Random, n: int, mean: float = 100.0) -> list[object]:
    return [round(r.lognormvariate(0, 0.6) * mean, 2) for _ in range(n)]


def words(r: random.Random, n: int, listed: object) -> list[object]:
    of = list(listed)
    return [r.choice(of) for _ in range(n)]


def days(r: random.Random, n: int, first: int = 2015, last: int = 2024) -> list[object]:
    return [f"{r.randint(first, last)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}" for _ in range(n)]


def things(r: random.Random, n: int, name: str, how_many: int, form: str = "{}") -> Columns:
    """Return a column that refers to one of several things."""
    return {name: [form.format(1 + int(how_many * r.random() ** 1.5)) for _ in range(n)]}


def of_persons(r: random.Random, n: int) -> Columns:
    """Return what a table of persons may have, one row for each."""
    own = {
        "sex": words(r, n, "fm"),
        "gender": words(r, n, ("female", "male")),
        "birth_date": days(r, n, 1935, 2005),
        "birth_year": numbers(r, n, 1935, 2005),
        "age": numbers(r, n, 18, 90),
        "region": words(r, n, range(1, 10)),
        "zip": numbers(r, n, 1000, 9990),
        "city": words(r, n, CITIES),
        "marital": words(r, n, "abcd"),
        "income": numbers(r, n, 800, 9000),
        "household_size": numbers(r, n, 1, 6),
        "nationality": words(r, n, ("AT", "DE", "IT", "SI")),
        "education": words(r, n, range(1, 7)),
        "occupation": words(r, n, range(1000, 1400)),
        "first_name": words(r, n, FIRST),
        "last_name": words(r, n, LAST),
    }
    return {name: own[name] for name in r.sample(list(own), r.randint(4, 10))}


def without() -> dict[str, Shape]:
    """Return shapes of tables in which no person has several rows."""

    def orders(r: random.Random, n: int) -> Columns:
        name = r.choice(("product_id", "article_no", "sku", "item_id", "ProductID", "artikelnr"))
        return {
            r.choice(("order_id", "id", "OrderID")): list(range(1, n + 1)),
            **things(r, n, name, 60, "A{:04}"),
            "quantity": numbers(r, n, 1, 9),
            "price": floats(r, n),
            "ordered": days(r, n),
            "store_id": numbers(r, n, 1, 20),
        }

    def sensors(r: random.Random, n: int) -> Columns:
        name = r.choice(("sensor_id", "device_id", "station", "machine_no", "meter_id", "node", "probe", "tag"))
        return {
            "ts": list(range(1_600_000_000, 1_600_000_000 + 60 * n, 60)),
            **things(r, n, name, 40, "S-{}"),
            "temperature": floats(r, n, 20),
            "humidity": floats(r, n, 50),
            "status": words(r, n, (0, 1, 2)),
        }

    def logs(r: random.Random, n: int) -> Columns:
        return {
            "time": list(range(n)),
            "host": words(r, n, (f"web{i}" for i in range(12))),
            "level": words(r, n, ("INFO", "WARN", "ERROR")),
            "service": words(r, n, ("auth", "pay", "search")),
            "request_id": [f"{r.getrandbits(64):016x}" for _ in range(n)],
            "bytes": numbers(r, n, 1, 99999),
            "session_count": numbers(r, n, 1, 500),
        }

    def persons(r: random.Random, n: int) -> Columns:
        name = r.choice(("person_id", "id", "patient_id", "customer_no", "member_id", "KundeID", "pid", "nr"))
        more = r.sample(("teacher_id", "doctor_id", "mother_id", "household_id", "employer_id", "school_id"), 2)
        return {
            name: list(range(70_000, 70_000 + n)),
            **of_persons(r, n),
            **{other: numbers(r, n, 1, max(20, n // 6)) for other in more},
        }

    def survey(r: random.Random, n: int) -> Columns:
        return {
            **of_persons(r, n),
            **{f"q{i}": numbers(r, n, 1, 5) for i in range(1, r.randint(3, 9))},
            "weight": floats(r, n, 300),
        }

    def aged(r: random.Random, n: int) -> Columns:
        years = numbers(r, n, 1930, 2010)
        return {
            "birth_year": years,
            "age": [2026 - int(y) for y in years],
            "agegroup": [(2026 - int(y)) // 5 for y in years],
            "cohort": [int(y) // 10 for y in years],
            "region": words(r, n, range(1, 10)),
        }

    def households(r: random.Random, n: int) -> Columns:
        sizes: list[int] = []
        while sum(sizes) < n:
            sizes.append(r.randint(1, 5))
        house = [i for i, size in enumerate(sizes) for _ in range(size)][:n]
        inside = [j for size in sizes for j in range(1, size + 1)][:n]
        nation = [r.choice(("AT", "DE", "IT")) for _ in sizes]
        return {
            r.choice(("hid", "household_id", "hh_nr", "ori_hid")): [10_000 + h for h in house],
            r.choice(("person_no", "pnr", "member_no", "line")): inside,
            "sex": words(r, n, "fm"),
            "age": numbers(r, n, 0, 95),
            "nationality": [nation[h] for h in house],
            "income": numbers(r, n, 0, 9000),
        }

    def firms(r: random.Random, n: int) -> Columns:
        return {
            "company_id": numbers(r, n, 1, n // 8),
            "year": numbers(r, n, 2010, 2024),
            "sales": floats(r, n, 1e6),
            "employees": numbers(r, n, 1, 500),
            "nace": words(r, n, range(10, 99)),
            "country": words(r, n, CITIES),
        }

    def catalogue(r: random.Random, n: int) -> Columns:
        return {
            "product_id": list(range(n)),
            "brand": words(r, n, (f"brand {i}" for i in range(50))),
            "target_gender": words(r, n, ("women", "men", "unisex")),
            "price": floats(r, n),
            "created_by_user_id": numbers(r, n, 1, 30),
            "category_id": numbers(r, n, 1, 40),
        }

    def clothes(r: random.Random, n: int) -> Columns:
        of = {i: r.choice(("women", "men")) for i in range(80)}
        sold = [r.randrange(80) for _ in range(n)]
        return {"sale": list(range(n)), "product_id": sold, "gender": [of[i] for i in sold], "price": floats(r, n)}

    def livestock(r: random.Random, n: int) -> Columns:
        of = {i: ("fm"[i % 2], f"20{i % 20:02}-0{1 + i % 9}-1{i % 9}") for i in range(n // 6)}
        cow = [r.randrange(n // 6) for _ in range(n)]
        return {
            "cow_id": cow,
            "sex": [of[i][0] for i in cow],
            "birth_date": [of[i][1] for i in cow],
            "milk": floats(r, n, 20),
        }

    def flights(r: random.Random, n: int) -> Columns:
        return {
            "flight_no": words(r, n, (f"OS{i}" for i in range(90))),
            "aircraft": words(r, n, (f"OE-L{i}" for i in range(30))),
            "origin": words(r, n, CITIES),
            "passengers": numbers(r, n, 20, 180),
            "delay": numbers(r, n, 0, 90),
        }

    def ledger(r: random.Random, n: int) -> Columns:
        return {
            "booking": list(range(n)),
            "account_no": words(r, n, range(4000, 4200)),
            "tax_code": words(r, n, "ABC"),
            "cost_centre": numbers(r, n, 100, 180),
            "amount": floats(r, n),
        }

    def visits_of_other(r: random.Random, n: int) -> Columns:
        return {
            "case_id": list(range(n)),
            **of_persons(r, n),
            "sex": words(r, n, "fm"),
            "doctor_id": numbers(r, n, 1, 40),
            "hospital_id": numbers(r, n, 1, 12),
            "ward": words(r, n, "ABCDE"),
        }

    def matrix(r: random.Random, n: int) -> Columns:
        return {f"x{i}": floats(r, n) if i % 2 else numbers(r, n, 0, 300) for i in range(r.randint(4, 14))}

    def registers(r: random.Random, n: int) -> Columns:
        return {
            "email": [f"{r.choice(FIRST).lower()}{i}@example.org" for i in range(n)],
            **of_persons(r, n),
            "tariff": words(r, n, "SML"),
            "shop": numbers(r, n, 1, 40),
        }

    def genes(r: random.Random, n: int) -> Columns:
        return {
            "gene_id": words(r, n, (f"ENSG{i:06}" for i in range(150))),
            "chromosome": words(r, n, range(1, 23)),
            "variant": [f"rs{r.randint(1, 10**8)}" for _ in range(n)],
            "expression": floats(r, n),
        }

    return {name: shape for name, shape in locals().items() if callable(shape)}


def keys(r: random.Random, n: int, each: float, form: str = "{}", first: int = 50_000) -> list[object]:
    """Return whose record each is: persons have one row or more, on average `each`."""
    persons = max(2, round(n / each))
    chosen = [*range(persons), *(int(persons * r.random() ** 1.3) for _ in range(n - persons))][:n]
    r.shuffle(chosen)
    return [form.format(first + 7 * i) if form != "{}" else first + 7 * i for i in chosen]


def attributes(of: list[object], r: random.Random) -> Columns:
    """Return what does not change of a person, in every row."""
    own = {
        key: (r.choice("fm"), f"{r.randint(1935, 2005)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}", r.choice(CITIES))
        for key in dict.fromkeys(of)
    }
    return {"sex": [own[k][0] for k in of], "birth_date": [own[k][1] for k in of], "city": [own[k][2] for k in of]}


NAMES = (
    "patient_id",
    "customer_id",
    "CustomerID",
    "user_id",
    "userId",
    "member_no",
    "kundennr",
    "KundenNummer",
    "person_id",
    "student_id",
    "employee_id",
    "client_id",
    "cust_key",
    "subscriber_id",
    "patientennummer",
    "insured_id",
    "policyholder_id",
    "donor_id",
    "participant_id",
    "respondent_id",
    "patient",
    "customer",
    "borrower_id",
    "passenger_id",
    "cardholder_id",
    "visitor_id",
    "guest_id",
    "cliente_id",
    "klant_nr",
    "usuario_id",
    "o_custkey",
    "ssn",
    "mrn",
    "svnr_patient_id",
    "personalnummer",
    "matrikelnummer",
)


def with_persons() -> dict[str, Callable[[random.Random, int], tuple[Columns, str]]]:
    """Return shapes of tables in which persons have several rows, and the column that says whose."""

    def events(r: random.Random, n: int) -> tuple[Columns, str]:
        name = r.choice(NAMES)
        key = keys(r, n, r.choice((1.3, 2, 4, 10, 40)), r.choice(("{}", "P{:06}", "{:x}")))
        return {
            "event_id": list(range(n)),
            name: key,
            "day": days(r, n),
            "amount": floats(r, n),
            "kind": words(r, n, "ABCDE"),
            "site_id": numbers(r, n, 1, 20),
        }, name

    def visits(r: random.Random, n: int) -> tuple[Columns, str]:
        name = r.choice((*NAMES, "pid", "id", "token", "number", "subject", "case_ref", "record_key", "hash"))
        key = keys(r, n, r.choice((2, 4, 8)), r.choice(("{}", "{:08x}")))
        return {
            "admitted": days(r, n),
            name: key,
            **attributes(key, r),
            "ward": words(r, n, "ABCD"),
            "diagnosis": words(r, n, range(100, 180)),
            "doctor_id": numbers(r, n, 1, 30),
        }, name

    def mails(r: random.Random, n: int) -> tuple[Columns, str]:
        name = r.choice(("email", "customer_email", "Mail", "user_name", "login", "phone", "msisdn"))
        form = (
            "+43660{:07}"
            if name in ("phone", "msisdn")
            else "u{}"
            if name in ("user_name", "login")
            else "u{}@example.org"
        )
        return {"at": days(r, n), name: keys(r, n, r.choice((2, 5)), form), "bytes": numbers(r, n, 1, 9999)}, name

    def orders(r: random.Random, n: int) -> tuple[Columns, str]:
        return {
            "order_id": list(range(n)),
            "customer_id": keys(r, n, 6),
            "employee_id": numbers(r, n, 1, 40),
            "product_id": numbers(r, n, 1, 70),
            "quantity": numbers(r, n, 1, 9),
            "price": floats(r, n),
        }, "customer_id"

    def absences(r: random.Random, n: int) -> tuple[Columns, str]:
        key = keys(r, n, 5)
        return {
            "employee_no": key,
            **attributes(key, r),
            "days": numbers(r, n, 1, 30),
            "team": words(r, n, "ABC"),
        }, "employee_no"

    def sites(r: random.Random, n: int) -> tuple[Columns, str]:
        site, number = words(r, n, ("north", "south", "east")), numbers(r, n, 1, max(30, n // 12))
        of = attributes([f"{s} {i}" for s, i in zip(site, number, strict=True)], r)
        return {
            "site": site,
            "patient_no": number,
            **of,
            "value": floats(r, n),
            "test": words(r, n, range(40)),
        }, "site,patient_no"

    return {name: shape for name, shape in locals().items() if callable(shape)}


def made(each: int, seed: int = 1) -> Iterator[Made]:
    """Yield so many tables of every shape."""
    for title, shape in without().items():
        for number in range(each):
            r = random.Random(f"{title} {number} {seed}")
            yield Made(f"{title} {number}", shape(r, r.choice((60, 200, 1000, 3000))))
    for title, persons in with_persons().items():
        for number in range(each):
            r = random.Random(f"{title} {number} {seed}")
            yield Made(f"{title} {number}", *persons(r, r.choice((60, 200, 1000, 3000))))
