"""Nights of visits of patients: a series that counts persons, and the same one that takes every row for a person.

python tests/bench/series_persons.py [--rows 60000] [--nights 30] [--k 5] [--seed 1]

A patient has four visits on average. Tonight 1 % of the visits are new, one in five of them of a new patient, and .3 %
are gone. Ages are the patient's; a cost is missing in one of ten. Both series keep three values of the diagnosis.

- `spread`: the standard deviation of the costs that are released, in percent of the original;
- `withheld`: the share of tonight's visits that wait; `empty`: the share of the rows that are empty seats;
- `cpu`: CPU seconds of a night after the first, and of the first.
"""

import argparse
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
from _measure import emit

import sqlmicro

WAYS = {"persons": {"person": ["patient_id"]}, "rows": {"rows_are_persons": True}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for way, more in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            told = [*lived(Path(folder) / "w.duckdb", given, more)]
        emit(bench="series_persons", way=way, rows=given.rows, k=given.k, nights=given.nights,
             cpu_first=told[0]["cpu"], cpu=float(np.mean([one["cpu"] for one in told[1:]])),
             **{name: told[-1][name] for name in ("classes", "withheld", "empty", "spread")})  # fmt: skip


def lived(path, given, more):
    """Yield what every night came to."""
    rng = np.random.default_rng(given.seed)
    world = World(given.rows, rng)
    for night in range(given.nights):
        if night:
            world.change(rng)
        with duckdb.connect(str(path)) as connection:
            connection.register("tonight", world.table())
            connection.execute("CREATE OR REPLACE TABLE visits AS FROM tonight")
        began = time.process_time()
        report = sqlmicro.mdav(
            "visits", db=str(path), columns=["age", "cost"], sensitive=["diagnosis"], min_l=3, nulls="keep", k=given.k,
            rest="drop", row_key=["visit_id"], series="nightly", into="out", overwrite=night > 0,
            night=f"2026-01-{night + 1:02}", **more,
        )  # fmt: skip
        cpu = time.process_time() - began
        with duckdb.connect(str(path)) as connection:
            ((classes, spread),) = connection.sql(
                "SELECT count(DISTINCT (age, cost)), 100 * stddev(cost) / (SELECT stddev(cost) FROM visits) FROM out"
            ).fetchall()
        told = report["series"]
        yield {
            "cpu": cpu, "classes": classes, "spread": spread, "withheld": 100 * told["withheld"] / len(world.visit),
            "empty": 100 * told["empty"] / report["rows"],
        }  # fmt: skip


class World:
    """Visits, as arrays of equal length."""

    def __init__(self, rows, rng):
        self.visit, self.patients = np.empty(0, int), 0
        self.patient, self.cost, self.diagnosis = np.empty(0, int), np.empty(0), np.empty(0, int)
        self.ages = np.empty(0, int)
        self.born = 0
        self.come(rows, rows // 4, rng)

    def come(self, visits, patients, rng):
        """Let some patients come, and visits of these and of all others."""
        self.ages = np.r_[self.ages, rng.integers(18, 90, patients)]
        new = np.arange(self.patients, self.patients + patients)
        self.patients += patients
        old = rng.integers(0, self.patients, visits - patients)
        whose = np.r_[new, old][:visits]
        self.patient = np.r_[self.patient, whose]
        self.visit = np.r_[self.visit, self.born + np.arange(visits)]
        self.born += visits
        self.cost = np.r_[self.cost, np.round(np.exp(rng.normal(5, 1, visits) + self.ages[whose] / 90))]
        self.diagnosis = np.r_[self.diagnosis, rng.integers(0, 12, visits)]

    def change(self, rng):
        stays = rng.random(len(self.visit)) >= 0.003
        for name in ("visit", "patient", "cost", "diagnosis"):
            setattr(self, name, getattr(self, name)[stays])
        new = len(self.visit) // 100
        self.come(new, new // 5, rng)

    def table(self):
        import pyarrow as pa

        return pa.table({
            "visit_id": self.visit, "patient_id": self.patient, "age": self.ages[self.patient],
            "cost": pa.array(self.cost, mask=self.visit % 10 == 3), "diagnosis": self.diagnosis,
        })  # fmt: skip


if __name__ == "__main__":
    main()
