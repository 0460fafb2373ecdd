"""What a release is worth, and what it tells: the same yardsticks for methods of the same k, and for peers.

python tests/bench/usefulness.py [--file persons testdata mikrozensus adult] [--k 3 5 10] [--method safe ...] [--seed 1]
python tests/bench/usefulness.py --table LINES [--k 5]   (or --first LINES: Markdown from the lines that were printed)

Seven of ten records are released; the others are held out. All is counted anew from the two files by this program:

- `tv` and `largest`: the mean total variation (percent of the records) and the largest deviation of all tables of 1, 2
  and 3 columns, numbers in tenths of the original;
- `propensity`: AUC of a boosting that tells originals from released records, .5 where it cannot;
- `correlation`: the largest error; `z`: the mean shift of the coefficients of a regression in standard errors;
- `accuracy`, `auc`: of a boosting trained on the release, asked of the held-out originals whether the target is above
  its median; `from_originals` is the AUC of the same from the originals;
- `single`: the share of predicates over 4 columns of a released record that are true of exactly one original;
  `anonymeter`: its risk of singling out by 4 columns, numbers by <= and >=, above that of those held out;
- `linked`: how often the nearest released record is one's own, ties shared (where records keep their number);
- `member`: AUC of telling who was released from the distance to the nearest released record, .5 where one cannot.

A range or a set of values is read as one value of it, drawn at random; `*` and a missing value as one of the column.
Peers, where they are installed (see _peers.py): syndiffix, which has no k and runs once a file; anonypyx, by Mondrian;
anjana, which recodes whole columns and leaves records out. First is what has the best figure of the methods with the
same k, or is within 5 % of it; where chance tells .5, half is the best.
"""

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from itertools import combinations
from pathlib import Path

import _peers
import numpy as np
from _files import FILES, in_numbers, quoted, read
from _measure import emit
from regroup import coefficients, numbered

HELD_OUT = 0.3
PREDICATES, WIDTH = 2_000, 4
METHODS = {
    "safe": [], "microaggregate": [], "mdav": [], "mondrian": [], "suppress": [], "generalize --local": ["--local"],
}  # fmt: skip
LOW = ("tv 1", "tv 2", "tv 3", "largest 1", "largest 2", "largest 3", "propensity", "correlation", "z", "single",
       "anonymeter", "linked", "member")  # fmt: skip
HIGH = ("accuracy", "auc")
RANGE = re.compile(r"^\[?(-?[\d.]+(?:-\d\d-\d\d)?), (-?[\d.]+(?:-\d\d-\d\d)?)[\])]$")


def days(values):
    """Return a column as numbers, days of dates; NaN where nothing is said."""
    return np.array([np.nan if value in ("", "*") else in_numbers([value])[0] for value in values])


def cells_of(column, known, rng, number):
    """Return values as they may be read: one of a range or of a set, at random."""
    found = []
    for text in column:
        text = re.sub(r" or missing$", "", text)
        inside = RANGE.match(text)
        if inside and number:
            low, high = (in_numbers([end])[0] for end in inside.groups())
            found.append(low + (high - low) * rng.random())
        elif number and text.startswith((">= ", "< ")):
            found.append(in_numbers([text.split(" ", 1)[1]])[0])
        elif text in ("", "*"):
            found.append(known[rng.integers(len(known))])
        elif text.startswith("{"):
            parts = text[1:-1].split(", ")
            one = parts[rng.integers(len(parts))]
            found.append(in_numbers([one])[0] if number else one)
        else:
            found.append(in_numbers([text])[0] if number else text)
    return np.array(found, dtype=float) if number else np.array(found)


def by_command(method, columns, table, nominal, k, seed, folder):
    """Return the rows that a method of ours released, and which original each is."""
    source, target = folder / "source.csv", folder / "release.csv"
    with source.open("w", encoding="utf-8", newline="") as out:
        csv.writer(out).writerows([["rid", *columns], *([str(i), *row] for i, row in enumerate(table))])
    given = {"--table": source, "--to": target, "--columns": quoted(columns), "--keep": "rid",
             "--accept-unique": "rid", "--rest": "drop", "--alone-because": "a benchmark", "--seed": seed}  # fmt: skip
    given["--until-k" if method.startswith("generalize") else "--k"] = k
    if method == "safe":
        given |= {"--nominal": quoted(columns[:nominal]), "--numeric": quoted(columns[nominal:])}
    words = [method.split()[0], "--rows-are-persons", *(str(word) for pair in given.items() for word in pair)]
    if method.startswith("generalize"):
        for j, column in enumerate(columns[nominal:], nominal):
            values = in_numbers([row[j] for row in table])
            words += ["--width", f"{quoted([column])}={max(1, round(np.ptp(values) / 20))}"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    done = subprocess.run([sys.executable, "-m", "sqlmicro", *words, *METHODS[method]], check=False,
                          env={**os.environ, "XDG_CONFIG_HOME": str(folder)}, **quiet)  # fmt: skip
    if done.returncode:
        raise ValueError(" ".join(done.stderr.split())[-160:])
    with target.open(encoding="utf-8", newline="") as lines:
        rows = sorted(csv.DictReader(lines), key=lambda row: int(row["rid"]))
    return [[row[column] for column in columns] for row in rows], [int(row["rid"]) for row in rows]


def coded(before, after, nominal):
    """Return every column of both files as categories, numbers in tenths of the originals; and the numbers."""
    codes, numbers = [], []
    for j, (one, other) in enumerate(zip(before, after, strict=True)):
        if j < nominal:
            codes.append(np.unique(np.concatenate([one, other]).astype(str), return_inverse=True)[1].reshape(-1))
        else:
            both = np.concatenate([one, other])
            numbers.append(both)
            codes.append(np.searchsorted(np.unique(np.quantile(one, np.linspace(0.1, 0.9, 9))), both, "right"))
    return codes, numbers


def of_tables(n, codes):
    """Return the mean total variation and the largest deviation of tables of 1, 2 and 3 columns, in percent."""
    m, means, largest = len(codes[0]) - n, [], []
    weights = np.concatenate([np.full(n, -1.0 / n), np.full(m, 1.0 / m)])
    for order in (1, 2, 3):
        off = [np.bincount(numbered(some), weights) for some in combinations(codes, order)]
        means.append(round(50 * float(np.mean([np.abs(one).sum() for one in off])), 2))
        largest.append(round(100 * float(max(np.abs(one).max() for one in off)), 2))
    return means, largest


def boosted(X, y, nominal, train, test):
    """Return accuracy and AUC of a boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    model = HistGradientBoostingClassifier(max_iter=60, random_state=0, categorical_features=list(range(nominal)))
    score = model.fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    return round(float(((score > 0.5) == y[test]).mean()), 4), round(float(roc_auc_score(y[test], score)), 4)


def matrix(before, after, held, nominal):
    """Return originals, released and held-out records as one matrix for models."""
    found = []
    for j, parts in enumerate(zip(before, after, held, strict=True)):
        column = np.concatenate(parts)
        if j < nominal:
            column = np.unique(column.astype(str), return_inverse=True)[1].reshape(-1)
            common = np.argsort(-np.bincount(column))[:250]
            place = np.full(column.max() + 1, 250)
            place[common] = np.arange(len(common))
            column = place[column]
        found.append(column)
    return np.column_stack(found).astype(float)


def nearest(points, others, nominal, scale):
    """Return the distance to the nearest of the others, and which: numbers over their spread, 1 a category."""
    least, which = np.full(len(points), np.inf), []
    for i, point in enumerate(points):
        off = (others[:, :nominal] != point[:nominal]).sum(axis=1)
        off = off + np.minimum(1.0, np.abs(others[:, nominal:] - point[nominal:]) / scale).sum(axis=1)
        least[i] = off.min()
        which.append(np.flatnonzero(off <= least[i] + 1e-12))
    return least, which


def of_people(X, n, m, ids, nominal, rng):
    """Return what the release tells of single persons: predicates true of one, links, and membership."""
    from sklearn.metrics import roc_auc_score

    members, shown, held = X[:n], X[n : n + m], X[n + m :]
    scale = 2 * X[:n, nominal:].std(axis=0) + 1e-9
    few = min(1_500, n, len(held))
    some, others = rng.choice(n, few, replace=False), rng.choice(len(held), few, replace=False)
    near, which = nearest(members[some], shown, nominal, scale)
    far, _ = nearest(held[others], shown, nominal, scale)
    is_member = np.r_[np.ones(few), np.zeros(few)]
    member = roc_auc_score(is_member, -np.r_[near, far])
    linked = None
    if ids is not None:
        place = {one: j for j, one in enumerate(ids)}
        hits = [(place.get(int(i), -1) in ties) / len(ties) for i, ties in zip(some, which, strict=True)]
        linked = round(float(np.mean(hits)), 4)
    return {"linked": linked, "member": round(float(member), 4)}


def singled_out(n, codes, rng):
    """Return how many predicates of a released record are true of exactly one original."""
    right, width = 0, min(WIDTH, len(codes))
    for _ in range(PREDICATES):
        some = rng.choice(len(codes), width, replace=False)
        record = rng.integers(n, len(codes[0]))
        alike = np.ones(n, dtype=bool)
        for j in some:
            alike &= codes[j][:n] == codes[j][record]
        right += int(alike.sum() == 1)
    return round(right / PREDICATES, 4)


def measured(name, before, after, held, ids, nominal, target, seed):
    """Return all figures of a release."""
    rng = np.random.default_rng(seed)
    n, m = len(before[0]), len(after[0])
    codes, numbers = coded(before, after, nominal)
    tv, largest = of_tables(n, codes)
    rows = np.arange(n + m) < n
    correlation = [np.corrcoef([column[part] for column in numbers]) for part in (rows, ~rows)]
    y = numbers[target - nominal]
    y = np.log1p(np.maximum(y, 0.0)) if name == "persons" else y
    others = [column for j, column in enumerate(numbers) if j != target - nominal]
    one, error = coefficients(codes[:nominal], others, y, rows, rows)
    other, _ = coefficients(codes[:nominal], others, y, ~rows, rows)
    X = matrix(before, after, held, nominal)
    original, shown, kept = (np.arange(a, b) for a, b in ((0, n), (n, n + m), (n + m, len(X))))
    above = X[:, target] > np.median(before[target])
    rest = np.delete(X, target, axis=1)
    accuracy, auc = boosted(rest, above, nominal, shown, kept)
    mixed = rng.permutation(n + m)
    half = len(mixed) // 2
    told = [boosted(X, np.arange(len(X)) >= n, nominal, *halves)[1]
            for halves in ((mixed[:half], mixed[half:]), (mixed[half:], mixed[:half]))]  # fmt: skip
    return {
        "records": m, "tv": tv, "largest": largest, "propensity": round(float(np.mean(told)), 3),
        "correlation": round(float(np.abs(correlation[0] - correlation[1]).max()), 4),
        "z": round(float((np.abs(other - one) / error).mean()), 2), "accuracy": accuracy, "auc": auc,
        "from_originals": boosted(rest, above, nominal, original, kept)[1], "single": singled_out(n, codes, rng),
        "anonymeter": _peers.singled_out(before, after, held, nominal), **of_people(X, n, m, ids, nominal, rng),
    }  # fmt: skip


def run(name, given):
    """Print the figures of one file, a line a method and k."""
    columns, table, nominal, target = read(name)
    table = table[: given.rows]
    rng = np.random.default_rng(given.seed)
    out = rng.random(len(table)) < HELD_OUT
    train, rest = ([row for row, is_out in zip(table, out, strict=True) if is_out == held] for held in (False, True))
    before, held = ([np.array(column) if j < nominal else in_numbers(column)
                     for j, column in enumerate(zip(*rows, strict=True))] for rows in (train, rest))  # fmt: skip
    runs = [(k, method) for k in given.k for method in given.method if method != "syndiffix"]
    runs += [(None, method) for method in given.method if method == "syndiffix"]
    for k, method in runs:
        began = seconds()
        try:
            if method in _peers.PEERS:
                rows, ids = _peers.PEERS[method](columns, train, nominal, k)
            else:
                with tempfile.TemporaryDirectory() as folder:
                    rows, ids = by_command(method, columns, train, nominal, k, given.seed, Path(folder))
        except ValueError as error:
            emit(file=name, k=k, method=method, refused=str(error))
            continue
        cpu = round(seconds() - began, 1)
        after = [cells_of(column, before[j], rng, j >= nominal) for j, column in enumerate(zip(*rows, strict=True))]
        emit(
            file=name,
            k=k,
            method=method,
            cpu=cpu,
            **measured(name, before, after, held, ids, nominal, target, given.seed),
        )


def seconds():
    """Return the CPU seconds of this process and of those it started."""
    return sum(used.ru_utime + used.ru_stime
               for used in map(resource.getrusage, (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)))  # fmt: skip


def value_of(line, yardstick):
    """Return a figure of a line, None where there is none."""
    name, _, order = yardstick.partition(" ")
    figure = line.get(name)
    figure = figure[int(order) - 1] if order and figure else figure
    # Who guesses worse than chance guesses as well by doing the opposite.
    return 0.5 + abs(figure - 0.5) if name in ("propensity", "member") and figure is not None else figure


def is_first(figure, best, yardstick):
    """Return whether a figure is the best one or within 5 % of it."""
    return figure >= best / 1.05 if yardstick in HIGH else figure <= best * 1.05


def tabulated(lines, ks):
    """Print the lines as a table, a row a file, k and method; chance and originals stand in the row of a file."""
    print("| file | k | method | tv | largest | propensity | correlation | z | auc | single | linked | member |")
    print("|---|---:|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    seen = None
    for line in sorted(lines, key=lambda line: (list(FILES).index(line["file"]), line["k"] or 99)):
        if line["k"] not in (*ks, None):
            continue
        (file, k, method), figures = (line[key] for key in ("file", "k", "method")), ["refused", *[""] * 8]
        if "refused" not in line:
            shown = [line[key] for key in ("propensity", "correlation", "z", "auc", "single", "linked", "member")]
            figures = ["/".join(f"{one:.2g}" if one < 10 else f"{one:.0f}" for one in line[key])
                       for key in ("tv", "largest")] + ["" if one is None else short(one) for one in shown]  # fmt: skip
        name = "" if file == seen else f"{file} ({short(line['from_originals'])})"
        print(f"| {name} | {k or ''} | {method} | {' | '.join(figures)} |")
        seen = file


def short(figure):
    """Return a figure with three decimals, without the zero before the point."""
    return f"{figure:.2f}" if figure >= 1 else f"{figure:.3f}".lstrip("0")


def firsts(lines, ks):
    """Print for each yardstick and k on how many files `safe` is first, and what is where it is not."""
    print("| yardstick | k | first or within 5 % | where not: the first, and `safe` |")
    print("|---|---:|---:|---|")
    for yardstick in (*LOW, *HIGH):
        for k in ks:
            won, files, lost = 0, 0, []
            for file in FILES:
                found = {line["method"]: value_of(line, yardstick) for line in lines
                         if line["file"] == file and line["k"] == k}  # fmt: skip
                found = {method: figure for method, figure in found.items() if figure is not None}
                if "safe" not in found:
                    continue
                best = (max if yardstick in HIGH else min)(found, key=found.get)
                files += 1
                won += is_first(found["safe"], found[best], yardstick)
                if not is_first(found["safe"], found[best], yardstick):
                    lost.append(f"{file}: {best} {found[best]:g}, {found['safe']:g}")
            print(f"| {yardstick} | {k} | {won} of {files} | {'; '.join(lost)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", nargs="+", default=list(FILES))
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--method", nargs="+", default=[*METHODS, *_peers.installed()])
    parser.add_argument("--rows", type=int, help="only so many, the first ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", type=Path, help="print the lines of this file as a table")
    parser.add_argument("--first", type=Path, help="print where `safe` is first by the lines of this file")
    given = parser.parse_args()
    for path, printed in ((given.table, tabulated), (given.first, firsts)):
        if path:
            printed([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()], given.k)
    if not (given.table or given.first):
        for name in given.file:
            run(name, given)


if __name__ == "__main__":
    main()
