"""Whole commands, each a process of its own, beside the bare operation of the engine, pandas and Polars.

    python tests/bench/whole.py [--rows 100000 1000000] [--only individual-ranking swap] [--repeat 3] [--compare]

What is measured is CPU seconds of the process, all threads, from its start to its end, and its peak memory. A ratio is
that to the bare operation (`sort`, `group`, `sha256` or `copy` of the same table, in a process too) of the same round.
The peers read the table, do what the command does to its columns, put the records in a random order, write a table, and
count how often the rarest value occurs there; they keep no record of it, and look for no identifiers.
`--compare` prints the ratios that are more than 25 % above those in README.md; the exit code is 1 where there are some.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from _measure import emit

HERE = Path(__file__).parent
GROWN = 1.25
TABLE = """CREATE TABLE people AS
SELECT
  i * 7919 % {n} AS id, i // 1000 AS part, 'P' || hash(i) % 100000000 AS person, 'town ' || hash(i) % 20 AS town,
  CAST(18 + hash(i + 1) % 70 AS INTEGER) AS age, 'illness ' || hash(i + 2) % 12 AS illness,
  DATE '1940-01-01' + CAST(hash(i + 3) % 25000 AS INTEGER) AS born,
  {numbers}
FROM range({n}) AS t(i)"""
NUMBER = "exp(hash(i + {j}0) % 100003 / 40000.0e0 + hash(i + {j}1) % 100003 / 40000.0e0) AS x{j}"
BASES = {
    "sort": "SELECT {columns} FROM source.people ORDER BY {first}",
    "group": "SELECT {columns}, count(*) AS n FROM source.people GROUP BY ALL",
    "sha256": "SELECT {columns}, sha256(CAST({first} AS VARCHAR)) AS hash FROM source.people",
    "copy": "SELECT {columns} FROM source.people",
}
X, X5, MIXED = ("x1",), ("x1", "x2", "x3", "x4", "x5"), ("age", "town", "born")


def case(command, columns, base, *more, keep=(), peer=None, most=10_000_000):
    """A command over some columns, the bare operation beside it, what else it needs, and the most rows it is run on."""
    return {
        "command": command,
        "columns": columns,
        "keep": keep,
        "base": base,
        "more": more,
        "peer": peer,
        "most": most,
    }


IN_PARTS = ("--by", "part")
"""Groups within 1 000 records each, for methods whose work grows with the square of them."""
QUADRATIC = (
    "k-ward", "kanonymeans", "kanonymeans-star", "max-distance", "mdav", "mdav-plus", "mdav-star", "mhm", "mona",
    "ona-star", "recursive-k-ward", "secure-k-ward", "v-mdav",
)  # fmt: skip
CASES = {
    "individual-ranking-1": case("individual-ranking", X, "sort", peer="ranking"),
    "individual-ranking": case("individual-ranking", X, "sort", keep=("id",), peer="ranking"),
    "individual-ranking-5": case("individual-ranking", X5, "sort", keep=("id",), peer="ranking"),
    "optimal-univariate": case("optimal-univariate", X, "sort", peer="ranking"),
    "single-axis": case("single-axis", X5, "sort"),
    "split-group": case("split-group", X5, "sort", "--k", "4"),
    **{name: case(name, X5[:3], "sort", *IN_PARTS, most=100_000) for name in QUADRATIC},
    "microaggregate": case("microaggregate", X5[:3], "sort", *IN_PARTS, "--quality", "fast", most=100_000),
    "safe": case("safe", ("age", "town"), "group", "--k", "5", "--method", "search", "--effort", "fast", most=100_000),
    "mondrian": case("mondrian", ("x1", "age"), "sort", "--k", "5"),
    "generalize": case("generalize", ("age",), "copy", "--width", "age=5"),
    "suppress": case("suppress", ("age", "town"), "group", "--k", "5"),
    "top-code": case("top-code", X, "copy", "--quantile", "0.95"),
    "bottom-code": case("bottom-code", X, "copy", "--quantile", "0.05"),
    "constant": case("constant", X, "copy", "--value", "0"),
    "noise": case("noise", X, "sha256", "--kind", "uncorrelated", "--amount", "0.1"),
    "partial": case("partial", ("person",), "copy", "--keep-last", "4"),
    "pram": case("pram", ("town",), "sha256", "--keep-probability", "0.8"),
    "pseudonymise": case("pseudonymise", ("person",), "sha256", peer="pseudonyms"),
    "sample": case("sample", X, "sha256", "--fraction", "0.1"),
    "shift-dates": case("shift-dates", ("born",), "sha256", "--within", "9d", "--person", "person"),
    "shuffle": case("shuffle", X, "sort"),
    "swap": case("swap", X, "sort", "--kind", "rank", "--percent", "5", peer="swap"),
    "audit": case("audit", ("age", "town"), "group", "--sensitive", "illness", keep=("illness",), peer="audit"),
}
"""Every method, and the audit; `apply-recoding` is measured by recoding.py."""


# In a process of its own: the bare operation, or a peer

BEFORE = """
import duckdb, hashlib, hmac, sys
source, target, columns = sys.argv[1], sys.argv[2], sys.argv[3].split(",")
con = duckdb.connect(target, config={"threads": 2})
con.execute(f"ATTACH '{source}' AS source (READ_ONLY)")
read = con.sql(f"SELECT {', '.join(columns)} FROM source.people")
"""
PEERS = {
    "pandas": BEFORE + """
import numpy as np, pandas as pd
frame, rng = read.df(), np.random.default_rng()
def groups(n, k=3): return np.minimum(np.arange(n) // k, n // k - 1)
""",
    "polars": BEFORE + """
import polars as pl
frame = pl.from_arrow(read.to_arrow_table())
def groups(n, k=3): return pl.int_range(n).floordiv(k).clip(upper_bound=n // k - 1)
""",
}  # fmt: skip
JOBS = {
    ("pandas", "ranking"): """
for c in worked:
    frame = frame.sort_values(c, kind="stable")
    frame[c] = frame[c].groupby(groups(len(frame))).transform("mean")
""",
    ("polars", "ranking"): """
for c in worked:
    frame = frame.sort(c).with_columns(pl.col(c).mean().over(groups(len(frame))))
""",
    ("pandas", "pseudonyms"): """
for c in worked:
    frame[c] = [hmac.new(b"a key", v.encode(), "sha256").hexdigest() for v in frame[c]]
""",
    ("polars", "pseudonyms"): """
for c in worked:
    made = [hmac.new(b"a key", v.encode(), "sha256").hexdigest() for v in frame[c]]
    frame = frame.with_columns(pl.Series(c, made))
""",
    ("pandas", "swap"): """
for c in worked:
    frame = frame.sort_values(c)
    size = len(frame) * 5 // 100
    place = np.argsort(np.arange(len(frame)) // size * 2.0 + rng.random(len(frame)))
    other = np.arange(len(frame)); pairs = len(frame) // 2 * 2
    other[place[0:pairs:2]], other[place[1:pairs:2]] = place[1:pairs:2], place[0:pairs:2]
    frame[c] = frame[c].to_numpy()[other]
""",
    ("polars", "swap"): """
import numpy as np
for c in worked:
    frame = frame.sort(c)
    size = len(frame) * 5 // 100
    place = np.argsort(np.arange(len(frame)) // size * 2.0 + np.random.default_rng().random(len(frame)))
    other = np.arange(len(frame)); pairs = len(frame) // 2 * 2
    other[place[0:pairs:2]], other[place[1:pairs:2]] = place[1:pairs:2], place[0:pairs:2]
    frame = frame.with_columns(frame[c].gather(other))
""",
    ("pandas", "audit"): """
found = frame.groupby(columns[:-1])[columns[-1]].agg(["size", "nunique"])
print(found.min())
raise SystemExit
""",
    ("polars", "audit"): """
print(frame.group_by(columns[:-1]).agg(pl.len(), pl.col(columns[-1]).n_unique().alias("l")).min())
raise SystemExit
""",
}
AFTER = {
    "pandas": """
frame = frame.sample(frac=1)
con.execute("CREATE TABLE released AS SELECT * FROM frame")
back = con.sql("SELECT * FROM released").df()
print([int(back[c].value_counts().min()) for c in worked])
""",
    "polars": """
frame = frame.sample(fraction=1.0, shuffle=True)
con.register("shuffled", frame.to_arrow())
con.execute("CREATE TABLE released AS SELECT * FROM shuffled")
back = pl.from_arrow(con.sql("SELECT * FROM released").to_arrow_table())
print([back[c].value_counts()["count"].min() for c in worked])
""",
}
BARE = """
import duckdb, sys
con = duckdb.connect(sys.argv[2], config={"threads": 2})
con.execute(f"ATTACH '{sys.argv[1]}' AS source (READ_ONLY)")
con.execute("CREATE TABLE main.released AS " + sys.argv[3])
con.execute("CHECKPOINT")
"""


def process(words, env):
    """Run a process and return its CPU seconds and peak memory in MB."""
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=said, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            raise SystemExit(f"{' '.join(map(str, words[:3]))}: {said.read().decode(errors='replace')[-2000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def make(path, rows):
    import duckdb

    with duckdb.connect(str(path)) as con:
        con.execute(TABLE.format(n=rows, numbers=", ".join(NUMBER.format(j=j) for j in range(1, 6))))


def command(one, db):
    """Return the words of our command: it reads a table of a database and publishes another one there."""
    columns, keep = list(one["columns"]), list(one["keep"])
    if one["command"] == "audit":
        return ["-m", "sqlmicro", "audit", "--db", db, "--table", "people", "--quasi", ",".join(columns), *one["more"]]
    words = ["-m", "sqlmicro", one["command"], "--db", db, "--table", "people", "--rest", "drop"]
    words += [] if "--person" in one["more"] else ["--rows-are-persons"]
    words += ["--identifier-ok", ",".join(columns), "--into", "released"]
    if one["command"] == "sample":  # it works on no column
        keep = columns
    else:
        words += ["--columns", ",".join(columns)]
    if keep:
        words += ["--keep", ",".join(keep), "--accept-unique", ",".join(keep)]
    return [*words, *one["more"], "--quiet"]


def measured(name, one, rows, repeat, peers, folder, env):
    """Run a case in rounds: the bare operation, our command, and the peers, each in turn."""
    db, columns = folder / f"people_{rows}.duckdb", [*one["keep"], *one["columns"]]
    if one["command"] == "audit":
        columns = [*one["columns"], *one["keep"]]
    listed, first = ", ".join(columns), one["columns"][0]
    select = BASES[one["base"]].format(columns=listed, first=first)
    seconds, memory = {}, {}
    for number in range(repeat):
        target, own = folder / f"target_{number}.duckdb", folder / f"own_{number}.duckdb"
        shutil.copy(db, own)
        runs = {"base": ["-c", BARE, db, target, select], "sqlmicro": command(one, own)}
        for peer in peers if one["peer"] else ():
            worked = f"worked = {list(one['columns'])!r}\n"
            text = PEERS[peer] + worked + JOBS[peer, one["peer"]] + AFTER[peer]
            runs[peer] = ["-c", text, db, folder / f"{peer}_{number}.duckdb", ",".join(columns)]
        for who, words in runs.items():
            cpu, mb = process(list(map(str, words)), env)
            seconds.setdefault(who, []).append(cpu)
            memory[who] = max(memory.get(who, 0), mb)
        for path in folder.glob("*_[0-9].duckdb"):
            path.unlink()
    ratios = {
        who: [round(of([a / b for a, b in zip(found, seconds["base"], strict=True)]), 2) for of in
              (statistics.median, min, max)]
        for who, found in seconds.items() if who != "base"
    }  # fmt: skip
    emit(
        bench="whole", case=name, rows=rows, base=one["base"], base_cpu=statistics.median(seconds["base"]),
        cpu=statistics.median(seconds["sqlmicro"]), ratio=ratios.pop("sqlmicro"), peers=ratios,
        peak_mb=round(memory["sqlmicro"]), base_mb=round(memory["base"]),
    )  # fmt: skip
    return statistics.median([a / b for a, b in zip(seconds["sqlmicro"], seconds["base"], strict=True)])


def kept():
    """Return the ratios in README.md: of every case, by the number of rows."""
    text = (HERE / "README.md").read_text(encoding="utf-8")
    section = text.partition("## Whole commands")[2].partition("\n## ")[0]
    found, heads = {}, []
    for name, cells in re.findall(r"^\| (`[\w-]+`|command)[^|]*\|(.*)\|$", section, re.M):
        if name == "command":
            heads = [10 ** "⁰¹²³⁴⁵⁶⁷⁸⁹".index(power) for power in re.findall(r"10([⁰¹²³⁴⁵⁶⁷⁸⁹]) rows", cells)]
            continue
        for rows, cell in zip(heads, cells.split("|"), strict=False):
            if number := re.match(r"\s*([\d.]+)", cell):
                found[name.strip("`"), rows] = float(number[1])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--only", nargs="+", default=list(CASES))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--compare", action="store_true")
    given = parser.parse_args()
    env = {**os.environ, "SQLMICRO_PSEUDONYM_KEY": "a secret key of a few bytes"}
    known, grown = kept(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env |= {"SQLMICRO_SECRET": "a secret for the benchmark", "XDG_CONFIG_HOME": name}
        for rows in given.rows:
            make(folder / f"people_{rows}.duckdb", rows)
            for one in given.only:
                if rows <= CASES[one]["most"]:
                    ratio = measured(one, CASES[one], rows, given.repeat, given.peers, folder, env)
                    if given.compare and ratio > GROWN * known.get((one, rows), float("inf")):
                        grown.append({"grown": one, "rows": rows, "ratio": round(ratio, 2), "was": known[one, rows]})
    for line in grown:
        print(json.dumps(line))
    return bool(grown)


if __name__ == "__main__":
    sys.exit(main())
