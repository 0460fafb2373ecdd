"""Make examples/persons.csv: 1 000 invented people. Run it again and the same file comes out.

python examples/make_persons.py > examples/persons.csv
"""

import csv
import random
import sys

FIRST = ("Ada", "Ben", "Cem", "Dana", "Emil", "Fatma", "Hana", "Ivo", "Jana", "Karl", "Mert", "Nora", "Rosa", "Sami")
LAST = ("Adler", "Bauer", "Can", "Dietz", "Fuchs", "Graf", "Ivanov", "Jung", "Kaya", "Meyer", "Otte", "Sahin")
REGIONS = ["North", "East", "South", "West", "Capital"]
MARITAL = ["single", "married", "divorced", "widowed"]


def main() -> None:
    draw = random.Random(2011)
    write = csv.writer(sys.stdout, lineterminator="\n")
    write.writerow(
        ["person_id", "name", "sex", "age", "region", "marital", "household_size", 'net "income"', "moved_in", "phone"]
    )
    for number in range(1, 1001):
        age = min(99, max(0, int(draw.gauss(43, 21))))
        marital = "single" if age < 18 else draw.choices(MARITAL, [30, 50, 13, 7 + age / 8])[0]
        income = "0.00" if age < 15 else f"{draw.lognormvariate(7.6, 0.55):.2f}"
        moved = f"{draw.randint(1985, 2024)}-{draw.randint(1, 12):02d}-{draw.randint(1, 28):02d}"
        write.writerow(
            [
                number,
                f"{draw.choice(FIRST)} {draw.choice(LAST)} {number}",
                draw.choice(["f", "m"]),
                age,
                draw.choices(REGIONS, [20, 15, 30, 25, 10])[0],
                marital,
                min(8, 1 + int(draw.expovariate(0.8))),
                income,
                moved,
                "" if draw.random() < 0.3 else f"0{draw.randint(10**8, 10**9 - 1)}",
            ]
        )


if __name__ == "__main__":
    main()
