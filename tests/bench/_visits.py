"""Nights of visits of patients, some without a cost, with a sensitive diagnosis: as `series.py --visits` runs them.

A patient has four visits on average. Tonight 1 % of the visits are new, one in five of them of a new patient, and .3 %
are gone. Ages are the patient's; a cost is missing in one of ten.
"""

import multiprocessing
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from _measure import Measure, peak_mb

COLUMNS = ("age", "cost")
UNITS = {"persons": {"person": ["patient_id"]}, "rows": {"rows_are_persons": True}}
"""A series that counts patients, and the same one that takes every visit for a person, which is false here."""


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
            "visit_id": self.visit, "patient_id": self.patient, "age": self.ages[self.patient].astype(float),
            "cost": pa.array(self.cost, mask=self.visit % 10 == 3), "diagnosis": self.diagnosis,
        })  # fmt: skip


def nights(rows, count, seed):
    """Yield the same world, as it is night after night."""
    rng = np.random.default_rng(seed)
    world = World(rows, rng)
    for night in range(count):
        if night:
            world.change(rng)
        yield world


def release(db, given, **more):
    import sqlmicro

    return sqlmicro.mdav(
        "visits", db=db, columns=list(COLUMNS), sensitive=["diagnosis"], min_l=given.l, nulls=given.nulls, k=given.k,
        rest="drop", row_key=["visit_id"], **more,
    )  # fmt: skip


def live(way, given, pipe):
    """Run the nights of one way, each when it is asked for, and tell what it came to."""
    import duckdb

    from sqlmicro.history import series

    seen, made = {}, series._Made.__init__

    def watched(self, *arguments, **more):
        made(self, *arguments, **more)
        seen.update(record=self.persons["record"], labels=self.night.labels, founders=self.night.founders)

    series._Made.__init__ = watched

    def night(world, path, number):
        with duckdb.connect(path) as connection:
            connection.register("tonight", world.table())
            connection.execute("CREATE OR REPLACE TABLE visits AS FROM tonight")
        with Measure() as measured:
            more = {"series": "nightly", "into": "out", "overwrite": number > 0, "night": f"2026-01-{number + 1:02}"}
            report = release(path, given, **more, **UNITS[way])
        with duckdb.connect(path) as connection:
            rows = connection.sql("SELECT age, cost, diagnosis, count(*) FROM out GROUP BY ALL").fetchall()
            known = dict(connection.sql("SELECT hash(CAST(visit_id AS VARCHAR)), visit_id FROM visits").fetchall())
            visits = [known[record] for record in seen["record"].tolist()]
        told = {name: seen[name].tolist() for name in ("labels", "founders")}
        empty = report["series"]["empty"] / report["rows"]
        return {"cpu": measured.cpu, "peak": peak_mb(), "rows": rows, "visits": visits, "empty": empty, **told}

    with tempfile.TemporaryDirectory() as folder:
        for number, world in enumerate(nights(600, 3, 0)):
            night(world, str(Path(folder) / "warm.duckdb"), number)
        for number, world in enumerate(nights(given.rows, given.nights, given.seeds[0])):
            pipe.recv()
            pipe.send(night(world, str(Path(folder) / "w.duckdb"), number))
        pipe.recv()
        pipe.send(release(str(Path(folder) / "w.duckdb"), given, into="fresh", alone_because="measured", **UNITS[way]))


def lived(given):
    """Run the nights of both ways in turn; return the figures of each."""
    context, workers = multiprocessing.get_context("spawn"), {}
    for way in UNITS:
        here, there = context.Pipe()
        worker = context.Process(target=live, args=(way, given, there), daemon=True)
        worker.start()
        workers[way] = (here, worker, Outsider(given, persons=way == "persons"))
    for world in nights(given.rows, given.nights, given.seeds[0]):
        for pipe, _, outsider in workers.values():
            pipe.send("go on")
            outsider.night(world, pipe.recv())
    found = {}
    for way, (pipe, worker, outsider) in workers.items():
        pipe.send("the last one by itself")
        found[way] = {**outsider.figures(), "il_fresh": pipe.recv()["IL"]}
        worker.join()
    for name in ("cpu_first", "cpu_a_night", "il_last"):
        found["persons"][f"{name}_to_rows"] = found["persons"][name] / found["rows"][name]
    return found


class Outsider:
    """Whoever knows who is in which class, and counts in plain Python whether each night keeps what it promises.

    A class is what its founders say: one visit each of k persons, the mean of each column over those who have a value
    there, none where fewer than k have one. Its rows, and their diagnoses, are those of the night in which it opened.
    """

    def __init__(self, given, *, persons):
        self.k, self.l, self.nulls, self.persons = given.k, given.l, given.nulls, persons
        self.founded, self.opened, self.mean, self.seats = {}, {}, {}, {}
        self.of_visit, self.sits, self.told = defaultdict(set), [], []
        self.hidden = 0.0

    def night(self, world, told):
        cost = [
            None if visit % 10 == 3 else value for visit, value in zip(world.visit, world.cost.tolist(), strict=True)
        ]
        facts = dict(zip(world.visit.tolist(), zip(
            world.patient.tolist(), world.ages[world.patient].tolist(), cost, world.diagnosis.tolist(), strict=True
        ), strict=True))  # fmt: skip
        sits, founds = defaultdict(list), defaultdict(list)
        for visit, label, founder in zip(told["visits"], told["labels"], told["founders"], strict=True):
            if label >= 0:
                sits[label].append(visit)
                self.of_visit[visit].add(label)
            if founder:
                founds[label].append(visit)
        for label, visits in sorted(founds.items()):
            self.opens(label, visits, sits[label], facts)
        self.sits.append({label: {self.who(visit, facts) for visit in visits} for label, visits in sits.items()})
        self.published(sits, facts, told["rows"])
        waits = 1 - sum(map(len, sits.values())) / len(facts)
        self.told.append({"cpu": told["cpu"], "peak": told["peak"], "withheld": waits, "empty": told["empty"]})
        self.il = self.lost(sits, facts)

    def who(self, visit, facts):
        return facts[visit][0] if self.persons else visit

    def opens(self, label, visits, beside, facts):
        who = [self.who(visit, facts) for visit in visits]
        assert label not in self.opened and len(who) >= self.k, "a class opens once, with k records"
        assert len(set(who)) == len(who), "each founder is another person"
        again = [person for person in who if person in self.founded]
        assert len(again) <= self.k // 2, "at most k / 2 have founded before"
        self.founded.update(dict.fromkeys(who, label))
        self.opened[label] = {self.who(visit, facts) for visit in beside}
        self.seats[label] = Counter(facts[visit][3] for visit in beside)
        assert len(self.seats[label]) >= self.l, "l diagnoses"
        mean = []
        for column in (1, 2):
            values = [facts[visit][column] for visit in visits if facts[visit][column] is not None]
            if self.nulls == "pattern":
                assert len(values) in (0, len(visits)), "no class mixes who lacks other values"
            mean.append(sum(values) / len(values) if len(values) >= self.k else None)
        self.mean[label] = mean

    def published(self, sits, facts, rows):
        """See that the release is the rows of the classes that are open, and no others."""
        expected, found = Counter(), Counter()
        for label, visits in sits.items():
            claims = Counter(facts[visit][3] for visit in visits)
            assert not claims - self.seats[label], "nobody sits where there is no seat with her diagnosis"
            for diagnosis, seats in self.seats[label].items():
                expected[(*self.rounded(self.mean[label]), diagnosis)] += seats
        classes, values = Counter(), defaultdict(set)
        for age, cost, diagnosis, many in rows:
            row = self.rounded((age, cost))
            found[(*row, diagnosis)] += many
            classes[row] += many
            values[row].add(diagnosis)
        assert found == expected, "the rows are those of the classes"
        assert min(classes.values()) >= self.k and min(map(len, values.values())) >= self.l, "k rows, l diagnoses"

    @staticmethod
    def rounded(values):
        return tuple(None if value is None else round(value, 6) for value in values)

    def lost(self, sits, facts):
        """Return IL of the cells that are published: squared differences in percent of those from the mean."""
        loss = total = 0.0
        lacks = cells = 0
        for column in (1, 2):
            pairs = [(facts[v][column], self.mean[c][column - 1]) for c, of in sits.items() for v in of]
            pairs = [pair for pair in pairs if pair[0] is not None]
            lacks, cells = lacks + sum(m is None for _, m in pairs), cells + len(pairs)
            own = np.array([pair for pair in pairs if pair[1] is not None])
            scale = own[:, 0].var()
            loss, total = loss + ((own[:, 0] - own[:, 1]) ** 2).sum() / scale, total + len(own)
        self.hidden = lacks / cells
        return 100 * loss / total

    def union(self):
        """Return with how many persons each visit shares the classes of all nights: who opened it, if it is one."""
        members = defaultdict(lambda: defaultdict(set))
        for night, classes in enumerate(self.sits):
            for label, who in classes.items():
                members[label][night] = who
        found = []
        for labels in self.of_visit.values():
            if len(labels) == 1:
                found.append(len(self.opened[min(labels)]))
            else:
                found.append(len(set.intersection(*(set.union(*members[label].values()) for label in labels))))
        return np.array(found)

    def figures(self):
        union, later = self.union(), self.told[1:]
        return {
            "cpu_first": self.told[0]["cpu"],
            "cpu_a_night": float(np.mean([one["cpu"] for one in later])),
            "cpu_median": float(np.median([one["cpu"] for one in later])),
            "peak_mb": max(one["peak"] for one in self.told),
            "il_last": self.il,
            "cells_emptied": self.hidden,
            "classes": len(self.sits[-1]),
            "withheld": self.told[-1]["withheld"],
            "empty": self.told[-1]["empty"],
            "nights_audited": len(self.told),
            "union_k": int(union.min()),
            "below_k": float((union < self.k).mean()),
        }
