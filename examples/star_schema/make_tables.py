"""Make the tables of this example: 400 invented persons, their visits and their orders. No one in it exists.

python make_tables.py
"""

import csv
import random
from datetime import date, timedelta
from pathlib import Path

FOLDER = Path(__file__).parent
FIRST = ["Anna", "Peter", "Maria", "Jonas", "Julia", "Lukas", "Emma", "David", "Laura", "Thomas", "Sarah", "Robert"]
LAST = ["Meyer", "Smith", "Gruber", "Novak", "Rossi", "Garcia", "Silva", "Jensen", "Kowalski", "Dubois", "Brown"]
DIAGNOSES = ["asthma", "diabetes", "fracture", "influenza", "migraine", "hypertension"]


def write(name: str, header: str, rows: list[list[object]]) -> None:
    """Write one table."""
    with (FOLDER / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header.split())
        writer.writerows(rows)


def main() -> None:
    """Write the three tables."""
    random.seed(16)
    persons, visits, orders = [], [], []
    for number in range(400):
        name = f"{random.choice(FIRST)} {random.choice(LAST)}"
        born = date(1935, 1, 1) + timedelta(days=random.randrange(25_000))
        zipcode = f"{random.randrange(101, 140)}0"
        persons.append([5000 + number, name, f"p{number}@example.org", born, random.choice("fm"), zipcode])
    for number in range(1200):
        admitted = date(2025, 1, 1) + timedelta(days=random.randrange(600))
        diagnosis, cost = random.choice(DIAGNOSES), random.randrange(40, 900)
        visits.append([number + 1, 5000 + random.randrange(400), admitted, diagnosis, cost])
    for number in range(900):
        customer = "" if number % 50 == 0 else 5000 + random.randrange(400)
        amount = random.randrange(500, 9000) / 100
        orders.append([number + 1, customer, random.choice(["book", "lamp", "chair", "desk"]), amount])
    write("persons", "person_id name email born sex zip", persons)
    write("visits", "visit_id patient_id admitted diagnosis cost", visits)
    write("orders", "order_id customer_id article amount", orders)


if __name__ == "__main__":
    main()
