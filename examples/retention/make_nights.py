"""Write into the table of patients what others do before one of ten nights. Usage: make_nights.py FILE NIGHT"""

from __future__ import annotations

import random
import sys
from datetime import date, timedelta

import duckdb

FIRST = date(2026, 1, 1)
PATIENTS, COME, RETURN, LEAVE, CORRECTED = 600, 4, 3, 2, 2


def patient(draw: random.Random, number: int, seen: date) -> tuple[object, ...]:
    """Return somebody who does not exist."""
    age = draw.randrange(18, 95)
    diagnosis = draw.choice(["asthma", "diabetes", "gout", "migraine"])
    return number, f"patient {number}", age, round(draw.lognormvariate(7.5 + age / 200, 0.4)), diagnosis, seen


def main(database: str, night: int) -> None:
    """Make the table before the first night; later let patients come, return, leave, and be corrected."""
    draw, day = random.Random(2026 + night), FIRST + timedelta(night - 1)
    with duckdb.connect(database) as connection:
        if night == 1:
            connection.execute(
                "CREATE TABLE patients (id BIGINT PRIMARY KEY, name VARCHAR, age INTEGER, income BIGINT, "
                "diagnosis VARCHAR, last_visit DATE)"
            )
            seen = [day - timedelta(draw.randrange(200)) for _ in range(PATIENTS)]
            seen = [one - timedelta(620) for one in seen]  # a third of them comes of age in the first night
            new = [patient(draw, number, one) for number, one in enumerate(seen)]
        else:
            new = [patient(draw, PATIENTS + night * COME + number, day) for number in range(COME)]
        connection.executemany("INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?)", new)
        if night == 1:
            return
        keys = [key for (key,) in connection.execute("SELECT id FROM patients ORDER BY id").fetchall()]
        some = draw.sample(keys, RETURN + LEAVE + CORRECTED)
        for key in some[:RETURN]:  # anonymized or not, the patient is here again
            number, name, age, income, diagnosis, seen_on = patient(draw, key, day)
            connection.execute(
                "UPDATE patients SET name = ?, age = ?, income = ?, diagnosis = ?, last_visit = ? WHERE id = ?",
                [name, age, income, diagnosis, seen_on, number],
            )
        for key in some[RETURN:-CORRECTED]:
            connection.execute("DELETE FROM patients WHERE id = ?", [key])
        for key in some[-CORRECTED:]:
            connection.execute("UPDATE patients SET income = income + 1 WHERE id = ?", [key])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
