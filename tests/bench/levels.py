"""Levels: what it costs that columns of a person, or of a household, keep one value for each of them.

    python tests/bench/levels.py [visits households] [--patients 15000] [--methods mdav] [--k 5]

One JSON line per table, method and way of counting: `rows` counts records, `persons` counts persons without levels,
`levels` groups the columns of persons and households once for each. IL is the mean over the columns of 100·SSE/SST;
`changed` the share of the values that are another one now, in per cent; `mixed` how many persons or households have two
values in a column that was constant within each; CPU seconds of the whole release, compiled before. Made visits: 58
394 of 15 000 patients, whose age and income are their own, with length of stay and cost. Households: testdata.csv, read
from SQLMICRO_DATA or from ../shared/data beside the repository.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from _measure import Measure, emit

import sqlmicro as sm
from sqlmicro.database import levels

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SQLMICRO_DATA") or ROOT.parent / "shared" / "data")
OF_HOUSEHOLD = ["roof", "walls", "water", "electcon"]
SETTLE = levels.settle


def visits(patients):
    rng = np.random.default_rng(3)
    many = np.minimum(12, 1 + rng.negative_binomial(1.2, 0.285, patients))
    person = np.repeat(np.arange(patients), many)
    n = len(person)
    age, income = rng.normal(50, 18, patients), np.exp(rng.normal(8, 0.5, patients))
    stay = rng.gamma(2, 3, n) + 0.05 * age[person]
    columns = {"age": np.round(age)[person], "income": np.round(income)[person], "stay": np.round(stay, 1)}
    columns["cost"] = np.round(300 * stay + rng.gamma(2, 200, n))
    return pa.table({"rid": np.arange(n), "unit": person, **columns}), list(columns), ["age", "income"], {}


def households():
    table = pa.csv.read_csv(DATA / "testdata.csv")
    nominal = [*OF_HOUSEHOLD, "relat", "sex", "hhcivil"]
    columns = [*nominal, "age"]
    made = pa.table({name: table[name] for name in columns})
    made = made.append_column("rid", pa.array(np.arange(len(made)))).append_column("unit", table["ori_hid"])
    return made, columns, OF_HOUSEHOLD, {"nominal": nominal, "nulls": "pattern"}


def figures(before, after, columns, constant):
    """Return IL, the share of changed values, and the units that are mixed."""
    own = {rid: at for at, rid in enumerate(before["rid"].to_pylist())}
    order = np.array([own[rid] for rid in after["rid"].to_pylist()])
    old = {name: np.array(before[name].to_pylist(), dtype=float)[order] for name in columns}
    new = {name: np.array(after[name].to_pylist(), dtype=float) for name in columns}
    unit = np.array(before["unit"].to_pylist())[order]
    lost = [100 * np.nansum((old[c] - new[c]) ** 2) / np.nansum((old[c] - np.nanmean(old[c])) ** 2) for c in columns]
    mixed = []
    for name in constant:
        codes = np.unique(new[name], return_inverse=True)[1]
        units = np.unique(np.array([np.unique(unit, return_inverse=True)[1], codes]), axis=1)[0]
        mixed.append(int((np.bincount(units) > 1).sum()))
    changed = {name: round(float(100 * np.mean(old[name] != new[name])), 1) for name in columns}
    return float(np.mean(lost)), changed, mixed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=["visits", "households"], help="visits, households or both")
    parser.add_argument("--patients", type=int, default=15_000)
    parser.add_argument("--methods", nargs="+", default=["mdav"])
    parser.add_argument("--quality", default="fast", help="of microaggregate")
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    for name in given.tables:
        table, columns, constant, more = visits(given.patients) if name == "visits" else households()
        key = "person" if name == "visits" else "household"
        for method in given.methods:
            extra = {**more, **({"quality": given.quality} if method == "microaggregate" else {})}
            for how in ("rows", "persons", "levels"):
                if how == "persons" and key == "household":
                    continue
                levels.settle = SETTLE if how == "levels" else lambda *_: ()
                unit = {} if how == "rows" else {key: "unit"}
                unit |= {"rows_are_persons": True} if how == "rows" or key == "household" else {}
                for part in (table.slice(0, 500), table):
                    with sm.open() as w, Measure() as m:
                        run = getattr(w, method.replace("-", "_"))
                        named = {"columns": columns, "keep": ["rid"], "accept_unique": ["rid"], "rest": "drop"}
                        made = run(part, k=given.k, **named, **unit, **extra)
                        after = made.arrow()
                        made.close()
                lost, changed, mixed = figures(table, after, columns, constant)
                emit(bench="levels", table=name, method=method, k=given.k, how=how, rows=len(table), IL=round(lost, 3),
                     cpu=round(m.cpu, 2), changed=changed, mixed=dict(zip(constant, mixed, strict=True)))  # fmt: skip
    levels.settle = SETTLE


if __name__ == "__main__":
    main()
