"""What each guarantee costs on three data sets: what releases lose, and the records the strongest linkage links.

    python tests/bench/guarantee_costs.py [--data FOLDER] [--sets census adult] [--quality balanced] [--table]

One JSON line a data set and guarantee; --table prints lines of the table in `sqlmicro help choosing` instead. k = 5 and
the sensitive column of a set: tax of CENSUS (12 other columns), savings of 4 580 persons in households (age, income and
expenditure), occupation of ADULT (age, sex, race and education of the first 10 000). The loss is the mean over the
columns of IL, or of the share of the values that changed, in percent. The attacker has all other columns.
"""

import argparse
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
from _measure import Measure, emit

import sqlmicro as sm

DATA = os.environ.get("SQLMICRO_DATA") or Path(__file__).resolve().parents[2].parent / "shared" / "data"
K = 5
SETS = {
    "census": ("census.csv", ",", None, "FEDTAX", {}),
    "households": ("testdata.csv", ",", ["age", "income", "expend"], "savings", {"person": "ori_hid"}),
    "adult": ("adult/adult.csv", ";", ["age", "sex", "race", "education"], "occupation", {}),
}
"""File, delimiter, quasi-identifiers (all others), sensitive column, and what says whose record it is."""
GUARANTEES = {
    "k = 5": {},
    "5 persons": {"person": True},
    "l = 3": {"min_l": 3},
    "t = 0.3": {"max_t": 0.3},
    "l = 3, t = 0.2": {"min_l": 3, "max_t": 0.2},
}
MOST = 10_000


def measured(session, table, quasi, sensitive, asked, quality):
    """Return loss, linkage and CPU seconds of a release; the id is kept only to know whether a link is right."""
    settings = dict(asked)
    if any(name.startswith(("min", "max")) for name in settings):
        settings["sensitive"] = sensitive
    others = {"seed": "what guarantees cost", "rest": "drop", "identifier_ok": "id"}
    others["accept_unique"] = ["id", sensitive] if "sensitive" in settings else "id"
    with Measure() as measure:
        release = session.microaggregate(table, columns=quasi, keep="id", k=K, quality=quality, **settings, **others)
    with release:
        links = session.attack(original=table, release=[release.arrow()], match="id", columns=quasi, attack="linkage")
        (found,) = links["attacks"]
        report, lost = release.report, release.report["loss_by_column"].values()
        return {
            "loss": sum(lost) / len(lost), "linked": found["rate"], "groups": report["groups"],
            "largest": report["largest_group"], "cpu": measure.cpu,
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(DATA))
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--quality", default="balanced")
    parser.add_argument("--rows", type=int, default=MOST)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    with sm.open() as session:
        for name in given.sets:
            file, delimiter, quasi, sensitive, person = SETS[name]
            table = pa.csv.read_csv(given.data / file, parse_options=pa.csv.ParseOptions(delimiter=delimiter))
            table = table.slice(0, given.rows)
            quasi = quasi or [column for column in table.column_names if column != sensitive]
            table = table.append_column("id", pa.array(range(table.num_rows)))
            for label, asked in GUARANTEES.items():
                if "person" in asked:
                    if not person:
                        continue
                    asked = person
                found = measured(session, table, quasi, sensitive, asked, given.quality)
                if given.table:
                    figures = f"{found['loss']:.2f} | {100 * found['linked']:.1f} % | {found['groups']:,}"
                    print(f"| {name} | {label} | {figures} | {found['cpu']:.1f} |", flush=True)
                else:
                    emit(data=name, guarantee=label, **found)


if __name__ == "__main__":
    main()
