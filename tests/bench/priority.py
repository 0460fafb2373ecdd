"""What SAFE's dealing tells about people, for several prices of nominal values, beside what it keeps.

python tests/bench/priority.py [--file persons testdata mikrozensus adult] [--k 3] [--seed 1] [--value 0.3 1 3 10]

Half of the records are released, the other half is held out. Somebody who knows all columns of a person but one looks
for the nearest released record, and takes its value: `gain` is the share of right guesses about the members minus that
about those held out, the mean over the columns, in percent; a number is right within 5 %. `linked` is the share of
members whose own group is the nearest, by the numbers alone, divided by its records; `linkage` that by all columns.
`member`, `single` and `anonymeter` are those of usefulness.py. `none` is --deal none. The other figures are those of
regroup.py.
"""

import argparse
import functools
import sys
from pathlib import Path

import _peers
import numpy as np
from _files import FILES, in_numbers, read
from _measure import emit
from regroup import compared, release
from usefulness import coded as in_tenths
from usefulness import matrix, of_people, singled_out

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from command import run

from sqlmicro.safe_method import anew, dealing

MOST = 1_500


def coded(tables, nominal):
    """Return the nominal columns as codes and the others as numbers, of several tables side by side."""
    every = [row for table in tables for row in table]
    columns = [np.array(column) for column in zip(*every, strict=True)]
    codes = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in columns[:nominal]]
    numbers = [in_numbers(column) for column in columns[nominal:]]
    ends = np.cumsum([len(table) for table in tables])[:-1]
    return np.split(np.array(codes).T, ends), np.split(np.array(numbers).T, ends)


def nearest(codes, numbers, shown_codes, shown_numbers):
    found = np.zeros(len(numbers), dtype=int)
    for start in range(0, len(numbers), 100):
        some = slice(start, start + 100)
        away = ((numbers[some, None] - shown_numbers[None]) ** 2).sum(axis=2)
        for j in range(codes.shape[1]):
            away += codes[some, j, None] != shown_codes[None, :, j]
        found[some] = away.argmin(axis=1)
    return found


def gain(members, released, others, nominal, seed):
    """Return the mean gain over all columns, and how often the nearest group by the numbers is the own one."""
    rng = np.random.default_rng(seed)
    (own, shown, held), (x, z, y) = coded([members, released, others], nominal)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    both = np.hstack([shown, z])
    _, first, group, size = np.unique(both, axis=0, return_index=True, return_inverse=True, return_counts=True)
    shown, z, group = shown[first], z[first], group.reshape(-1)
    some = rng.permutation(len(x))[:MOST]
    sides = [(own[some], x[some]), *[(held[rows], y[rows]) for rows in [rng.permutation(len(y))[:MOST]]]]
    scaled = [(codes, (numbers - mean) / deviation) for codes, numbers in sides]
    at = (z - mean) / deviation
    gains = []
    for j in range(nominal + x.shape[1]):
        right = []
        for (codes, numbers), (_, raw) in zip(scaled, sides, strict=True):
            left, kept = [c for c in range(nominal) if c != j], [c for c in range(x.shape[1]) if c != j - nominal]
            found = nearest(codes[:, left], numbers[:, kept], shown[:, left], at[:, kept])
            if j < nominal:
                right.append((shown[found, j] == codes[:, j]).mean())
            else:
                truth = raw[:, j - nominal]
                right.append((np.abs(z[found, j - nominal] - truth) <= 0.05 * np.abs(truth)).mean())
        gains.append(right[0] - right[1])
    nothing = np.zeros((len(some), 0))
    found = nearest(nothing, scaled[0][1], np.zeros((len(at), 0)), at)
    linked = ((found == group[some]) / size[group[some]]).mean()
    return 100 * float(np.mean(gains)), 100 * float(np.max(gains)), 100 * float(linked)


def told(members, released, others, nominal, seed):
    """Return linkage by all columns, membership and singling out, of half of the records beside the other half."""
    rng = np.random.default_rng(seed)
    own, shown, held = ([np.array(column) if j < nominal else in_numbers(column)
                         for j, column in enumerate(zip(*rows, strict=True))]
                        for rows in (members, released, others))  # fmt: skip
    n, m = len(members), len(released)
    people = of_people(matrix(own, shown, held, nominal), n, m, range(m), nominal, rng)
    single = singled_out(n, in_tenths(own, shown, nominal)[0], rng)
    risk = _peers.singled_out(own, shown, held, nominal)
    return {"linkage": people["linked"], "member": people["member"], "single": single, "anonymeter": risk}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", nargs="+", default=list(FILES))
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--rows", type=int, help="only so many, the first ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--value", type=float, nargs="+", default=[0.3, 1.0, 3.0, 10.0])
    given = parser.parse_args()
    for name in given.file:
        columns, table, nominal, target = read(name)
        table = table[: given.rows]
        order = np.random.default_rng(given.seed).permutation(len(table))
        half = len(table) // 2
        members, others = ([table[i] for i in rows] for rows in (order[:half], order[half:]))
        for value in ("none", *given.value):
            options = ["--deal", "none"] if value == "none" else []
            if options == []:
                prices = list(dealing.PRICES)
                prices[4] = value
                anew.dealt = functools.partial(dealing.dealt, prices=prices)
            released, _ = release(columns, members, nominal, given.k, given.seed, options, here=run)
            anew.dealt = dealing.dealt
            mean, most, linked = gain(members, released, others, nominal, given.seed)
            figures = compared(name, members, released, nominal, target) | told(
                members, released, others, nominal, given.seed
            )
            emit(file=name, k=given.k, value=value, gain=mean, largest_gain=most, linked=linked, **figures)


if __name__ == "__main__":
    main()
