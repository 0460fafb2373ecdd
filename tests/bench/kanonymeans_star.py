"""Loss of kanonymeans-star by how children are mutated, after equally many groupings.

    python tests/bench/kanonymeans_star.py [--data census tarragona eia] [--k 3] [--seeds 5] [--groupings 500]
                                           [--operators exchange-3 move]

One JSON line {data, k, operator, median, low, high, cpu} per operator: IL in % over the seeds, CPU seconds of a run.
`exchange-3` puts records in the place of three centres of every child, as the source of the method says (`of-3`: of
three of the seven children). `move` is what the method did before: 2 % of the centres of every child move, normal with
0.3 standard deviations. `none` has recombination alone.
"""

import argparse
from statistics import median

import numpy as np
from _measure import Measure, emit
from group_loss import SETS, loss

from sqlmicro.group import kanonymeans_star as module
from sqlmicro.missing.standardise import standardise
from sqlmicro.registry import silent

OPERATORS = {
    "exchange-3": (None, 3), "move": (None, 3), "exchange-1": (None, 1), "exchange-10": (None, 10),
    "exchange-3-of-3": (3, 3), "none": (0, 1),
}  # fmt: skip
"""Number of mutated children of seven (None: all), number of centres exchanged."""


def move(centres, records, exchanged, rng):
    chosen = rng.choice(len(centres), int(np.ceil(0.02 * len(centres))), replace=False)
    centres[chosen] += 0.3 * rng.normal(size=(len(chosen), centres.shape[1]))


class Count:
    """Stands for the clock: the search ends after so many groupings."""

    def __init__(self, groupings):
        self.left = groupings

    @property
    def over(self):
        self.left -= 1
        return self.left < 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["census", "tarragona", "eia"], choices=list(SETS))
    parser.add_argument("--k", nargs="+", type=int, default=[3])
    parser.add_argument("--operators", nargs="+", default=list(OPERATORS), choices=list(OPERATORS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--groupings", type=int, default=500)
    args = parser.parse_args()
    exchange = module._mutate
    module._Clock = lambda seconds: Count(args.groupings)
    for data, k in ((data, k) for data in args.data for k in args.k):
        X = standardise(SETS[data]())
        for name in args.operators:
            mutated, exchanged = OPERATORS[name]
            module._mutate = move if name == "move" else exchange
            losses = []
            with Measure() as measured:
                for seed in range(args.seeds):
                    rng, given = np.random.default_rng(seed), {"mutated": mutated, "exchanged": exchanged}
                    found = module.kanonymeans_star(X, rng, silent, k=k, generations=10**9, **given)
                    losses.append(float(loss(X, found.labels)))
            figures = {"median": median(losses), "low": min(losses), "high": max(losses)}
            emit(data=data, k=k, operator=name, **figures, cpu=measured.cpu / args.seeds)


if __name__ == "__main__":
    main()
