"""The three criteria and membership of releases of CENSUS and Adult, each against people held out of a rehearsal.

python tests/bench/criteria.py [--table census adult] [--rows 100000]
"""

import argparse
import os
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from _measure import Measure, emit

import sqlmicro
from sqlmicro.system.progress import Progress
from sqlmicro.verbs.attacking import AttackOptions
from sqlmicro.verbs.report import criteria_values

DATA = Path(os.environ.get("SQLMICRO_DATA") or Path(__file__).resolve().parents[2].parent / "shared" / "data")
RELEASES = {
    "census": {
        "individual-ranking k=10": ("individual_ranking", {"k": 10}),
        "microaggregate k=3": ("microaggregate", {"k": 3}), "mdav k=10": ("mdav", {"k": 10}),
        "noise 0.5": ("noise", {"amount": 0.5}), "swap 20 %": ("swap", {"percent": 20}),
    },
    "adult": {
        "safe k=3": ("safe", {"k": 3}),
        "mondrian k=10": ("mondrian", {"k": 10}), "microaggregate k=5": ("microaggregate", {"k": 5}),
    },
}  # fmt: skip
SENSITIVE = {"census": (), "adult": ("salary-class",), "made": ("ill",)}


def made(rows):
    """Return 10^5 x 5 of four numbers that hang together and a town, with something sensitive beside them."""
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(rows, 4)) + rng.normal(size=(rows, 1))).round(3)
    ill = np.where(X[:, 0] + rng.normal(size=rows) > 0, "yes", "no")
    return pa.table({
        **{name: X[:, j] for j, name in enumerate("abcd")},
        "town": rng.choice([f"t{i}" for i in range(20)], rows), "ill": ill,
    })  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", nargs="*", default=list(RELEASES))
    parser.add_argument("--only", default="", help="releases whose label starts so")
    parser.add_argument("--rows", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SQLMICRO_LEDGER"] = str(Path(folder) / "ledger.duckdb")
        db = str(Path(folder) / "bench.duckdb")
        with duckdb.connect(db) as connection:
            for table in given.table:
                path = DATA / "adult" / "adult.csv" if table == "adult" else DATA / f"{table}.csv"
                connection.execute(f"CREATE TABLE {table} AS FROM read_csv('{path}')")
            if given.rows:
                connection.register("given", made(given.rows))
                connection.execute("CREATE TABLE made AS FROM given")
        tried = [(table, *one) for table in given.table for one in RELEASES[table].items()]
        tried = [one for one in tried if one[1].startswith(given.only)]
        tried += [("made", "mdav k=5", ("mdav", {"k": 5}))] * bool(given.rows)
        for number, (table, label, (method, settings)) in enumerate(tried):
            with duckdb.connect(db, read_only=True) as connection:
                columns = [name for name, *_ in connection.execute(f"DESCRIBE {table}").fetchall()]
            worked = [name for name in columns if name not in SENSITIVE[table]]
            getattr(sqlmicro, method)(
                table, db=db, columns=worked, keep=list(SENSITIVE[table]), into=f"out_{number}", rows_are_persons=True,
                alone_because="a benchmark", **settings,
            )  # fmt: skip
            with Measure() as measure:
                options = AttackOptions(db=db, original=table, release=(f"out_{number}",), sensitive=SENSITIVE[table])
                found = criteria_values(options, Progress(enabled=False))
            figures = {one.name: None if one.risk is None else round(one.risk, 3) for one in found.all}
            told = found.membership
            emit(
                table=table, release=label, **{name.replace(" ", "_"): value for name, value in figures.items()},
                inferred=found.inference.column, right=found.inference.attack, of_control=found.inference.control,
                commonest=found.inference.commonest, auc=told.auc, true_positives=told.true_positives,
                cpu=round(measure.cpu, 1),
            )  # fmt: skip


if __name__ == "__main__":
    main()
