"""Make the table of one of ten nights: people come, leave, and change. Usage: make_nights.py warehouse.duckdb NIGHT"""

from __future__ import annotations

import random
import sys

import duckdb

PEOPLE, COME, LEAVE, CHANGE = 1000, 15, 5, 8
REGIONS = ["north", "east", "south", "west"]


def person(draw: random.Random) -> tuple[int, int, str]:
    """Return age, income and region of somebody who does not exist."""
    age = draw.randrange(18, 95)
    return age, round(draw.lognormvariate(7.5 + age / 200, 0.4)), draw.choice(REGIONS)


def table_of(night: int) -> dict[int, tuple[int, int, str]]:
    """Return everybody who is in the table of a night, by number; the first night is 1."""
    draw = random.Random(2026)
    people = {number: person(draw) for number in range(PEOPLE)}
    born = PEOPLE
    for _ in range(night - 1):
        changed = draw.sample(sorted(people), LEAVE + CHANGE)
        for number in changed[:LEAVE]:
            del people[number]
        for number in changed[LEAVE:]:
            people[number] = (people[number][0], person(draw)[1], people[number][2])
        people |= {number: person(draw) for number in range(born, born + COME)}
        born += COME
    return people


def main(database: str, night: int) -> None:
    """Replace the table of persons by that of a night."""
    people = table_of(night)
    columns = [list(people), *map(list, zip(*people.values(), strict=True))]
    with duckdb.connect(database) as connection:
        connection.execute("CREATE OR REPLACE TABLE persons (id BIGINT, age INTEGER, income BIGINT, region VARCHAR)")
        connection.execute("INSERT INTO persons SELECT unnest(?), unnest(?), unnest(?), unnest(?)", columns)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
