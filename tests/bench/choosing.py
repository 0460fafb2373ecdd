"""Methods side by side on TARRAGONA: what they lose, how many records the strongest linkage links, CPU seconds.

python tests/bench/choosing.py [--data FOLDER] [--k 3 10] [--only METHOD ...] [--table]

One JSON line a method and k; --table prints the lines of the table in `sqlmicro help choosing` instead. An attacker who
has all records, in all columns, is the strongest of a family; `linked` is the share that is found, ties shared.
"""

import argparse
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
from _measure import Measure, emit

import sqlmicro as sm

DATA = os.environ.get("SQLMICRO_DATA") or Path(__file__).resolve().parents[2].parent / "shared" / "data"
GROUPING = ("microaggregate", "mdav", "kanonymeans", "individual_ranking", "safe")
MASKING = {
    "noise amount=0.1": ("noise", {"amount": 0.1}), "noise amount=0.5": ("noise", {"amount": 0.5}),
    "swap percent=5": ("swap", {"percent": 5}), "swap percent=20": ("swap", {"percent": 20}),
}  # fmt: skip


def measured(session, table, name, settings):
    """Return loss, linkage and CPU seconds of one method; the id is kept only to know whether a link is right."""
    columns = [column for column in table.column_names if column != "id"]
    with Measure() as measure:
        release = getattr(session, name)(
            table, columns=columns, keep="id", accept_unique="id", seed="choosing a method", **settings
        )
    with release:
        links = session.attack(original=table, release=[release.arrow()], match="id", columns=columns, attack="linkage")
        (found,) = links["attacks"]
        return {
            "IL": release.report["IL"],
            "linked": found["rate"],
            "k found": min(release.arrow().group_by(columns).aggregate([([], "count_all")])["count_all"].to_pylist()),
            "cpu": measure.cpu,
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(DATA))
    parser.add_argument("--k", type=int, nargs="+", default=[3, 10])
    parser.add_argument("--only", nargs="+", default=[""], help="methods whose label starts so")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    table = pa.csv.read_csv(given.data / "tarragona.csv")
    table = table.append_column("id", pa.array(range(table.num_rows)))
    wanted = [(name.replace("_", "-"), name, {"k": k}) for k in given.k for name in GROUPING]
    wanted += [(label, name, settings) for label, (name, settings) in MASKING.items()]
    with sm.open() as session:
        wanted = [one for one in wanted if one[0].startswith(tuple(given.only))]
        # The first run of a kernel compiles or loads it.
        for name in {name for _, name, settings in wanted if "k" in settings}:
            getattr(session, name)(table.slice(0, 60), columns=table.column_names[:3], rest="drop", k=3).close()
        for label, name, settings in wanted:
            found = measured(session, table, name, settings)
            k = settings.get("k", "")
            if given.table:
                figures = f"{found['IL']:.2f} | {100 * found['linked']:.1f} % | {found['k found']} | {found['cpu']:.1f}"
                print(f"| `{label}` | {k} | {figures} |", flush=True)
            else:
                emit(method=label, k=k, **found)


if __name__ == "__main__":
    main()
