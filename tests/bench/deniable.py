"""SAFE, the direct search: what of its release can be denied, at which deviations and in how many CPU seconds.

python tests/bench/deniable.py [--k 3 5] [--effort full] [--seed 1 2 3] [--runs 6] [--no-means]

The file is that of safe_search.py, all eight columns with their own values. What is told is counted anew from the
records before and after, in plain Python but for the deviations. With --runs so many searches follow, each from another
seed under one secret, and one of a file in which 1 % of the records are others.
"""

import argparse
import math
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from _measure import Measure, emit
from safe_search import largest_deviations, moments, percent, read

from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.deniable import INVENTED, MAX_INFERENCE, Asked, pooled
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.search import search
from sqlmicro.system.secrets import Secret

SECRET = Secret(b"a secret of the benchmark", "plain text")


def by_pairs(nominal, numeric):
    """Return the means of every numeric column by every pair of nominal ones, as the command takes them."""
    return [MeanTable(j, by) for j in range(len(numeric)) for by in combinations(range(len(nominal)), 2)]


def release(records, order, k, seed, effort, invented=INVENTED, inference=MAX_INFERENCE, means=None):
    """Return the records of a release as a Counter of tuples in the order of `order`, nominal columns first."""
    nominal, numeric = order
    means = by_pairs(nominal, numeric) if means is None else means
    rows, n = np.unique(records[:, nominal + numeric], axis=0, return_counts=True)
    combined = Combined.of(rows[:, : len(nominal)], rows[:, len(nominal) :].astype(float), n)
    pool = None
    if invented:
        shares = np.array([max(Counter(column.tolist()).values()) / len(records) for column in records.T])
        asked = Asked(invented, inference, SECRET, {})
        content = rows.astype(np.uint64)[combined.first]
        pool = pooled(combined.values, rows.shape[1], content, combined.n, k, asked, shares[nominal + numeric])
    file = combined.file(k, pool.new if pool else None)
    found = search(*file, np.random.default_rng(seed), lambda *_: None, effort=effort, pool=pool, means=means)
    shown = np.flatnonzero(found.new_n)
    released = np.hstack([file[0], file[1].astype(np.int64)])[shown]
    return Counter(dict(zip(map(tuple, released.tolist()), found.new_n[shown].tolist(), strict=True)))


def counted(original, released, k):
    """Return what two Counters of records tell: shares of what was shown and invented, and implausible inventions."""
    few = [row for row in released if original[row] < k]
    exactly = [row for row in released if released[row] == k]
    unique = [row for row, records in original.items() if records == 1]
    columns = range(len(next(iter(original))))
    odd = 0
    for order in (2, 3):
        for some in combinations(columns, order):
            known = {tuple(row[j] for j in some) for row in original}
            odd += sum(tuple(row[j] for j in some) not in known for row in few)
    return {
        "few": len(few),
        "invented": sum(row not in original for row in few) / max(1, len(few)),
        "invented_of_exactly_k": sum(row not in original for row in exactly) / max(1, len(exactly)),
        "unique_shown": sum(row in released for row in unique) / max(1, len(unique)),
        "implausible": odd,
    }


def shifts(original, released, nominal, numeric, order, least=30):
    """Return the shifts of the means of subgroups of `order` nominal columns, in standard errors of the original."""
    found = []
    for by in combinations(range(nominal), order):
        for j in range(nominal, nominal + numeric):
            groups = []
            for file in (original, released):
                values = defaultdict(Counter)
                for row, records in file.items():
                    values[tuple(row[i] for i in by)][row[j]] += records
                groups.append(values)
            for key, values in groups[0].items():
                n, now = sum(values.values()), groups[1].get(key)
                mean = sum(x * c for x, c in values.items()) / n
                error = math.sqrt(sum(c * (x - mean) ** 2 for x, c in values.items()) / max(1, n - 1) / n)
                if n >= least and error:
                    after = sum(x * c for x, c in now.items()) / sum(now.values()) if now else math.inf
                    found.append(abs(after - mean) / error)
    return found


def inference(original, released):
    """Return per column the share of right guesses, how many there are, and the share of the commonest value."""
    found = []
    for j in range(len(next(iter(original)))):
        persons, shown, values = {}, {}, Counter()
        for row, records in original.items():
            persons.setdefault(row[:j] + row[j + 1 :], []).append((row[j], records))
            values[row[j]] += records
        for row in released:
            shown.setdefault(row[:j] + row[j + 1 :], set()).add(row[j])
        right = guesses = 0
        for others, theirs in persons.items():
            answer = shown.get(others, ())
            if sum(records for _, records in theirs) == 1 and len(answer) == 1:
                guesses += 1
                right += theirs[0][0] in answer
        found.append((right / max(1, guesses), guesses, max(values.values()) / sum(values.values())))
    return found


def auc(original, released, k):
    """Return the AUC of what the release alone tells of invented and real among the few: three scores, and all of them.

    The scores are how often the pairs of values occur elsewhere, how often the rarest pair does, and how many
    combinations differ in one value; all of them are weighed by a logistic regression, judged on the half of the
    combinations that it has not seen.
    """
    columns = range(len(next(iter(released))))
    pairs, rests = Counter(), Counter()
    for row, records in released.items():
        for a, b in combinations(columns, 2):
            pairs[a, b, row[a], row[b]] += records
        for j in columns:
            rests[j, row[:j] + row[j + 1 :]] += 1
    few = [row for row in released if original[row] < k]
    scores = []
    for row in few:
        elsewhere = [pairs[a, b, row[a], row[b]] - released[row] for a, b in combinations(columns, 2)]
        siblings = sum(rests[j, row[:j] + row[j + 1 :]] - 1 for j in columns)
        scores.append([sum(math.log(n + 0.5) for n in elsewhere), math.log(min(elsewhere) + 0.5), siblings])
    real = [row in original for row in few]
    every = [area([score[s] for score in scores], real) for s in range(3)]
    return [*every, area(*weighed(np.array(scores), np.array(real)))]


def means_of(original, released, nominal, numeric):
    """Return how many subgroups there are by one, two and three columns, and by how much their means shift."""
    every = [shifts(original, released, nominal, numeric, order) for order in (1, 2, 3)]
    return {
        "subgroups": [len(some) for some in every],
        "shifted": [round(sum(s > 1 for s in some) / len(some), 4) for some in every],
        "largest_shift": [round(max(some), 2) for some in every],
    }


def weighed(scores, real):
    """Return the prediction of a logistic regression for the half it has not seen, and the truth of that half."""
    x = np.hstack([np.ones((len(scores), 1)), (scores - scores.mean(0)) / (scores.std(0) + 1e-9)])
    rng = np.random.default_rng(0)
    own = rng.random(len(x)) < 0.5
    weights = np.zeros(x.shape[1])
    for _ in range(25):  # Newton's method
        p = 1 / (1 + np.exp(-x[own] @ weights))
        curvature = x[own].T @ (x[own] * (p * (1 - p))[:, None]) + 1e-6 * np.eye(x.shape[1])
        weights += np.linalg.solve(curvature, x[own].T @ (real[own] - p))
    return (x[~own] @ weights).tolist(), real[~own].tolist()


def area(scores, real):
    """Return the area under the curve: how often a real one scores higher than an invented one."""
    yes = sorted(score for score, is_real in zip(scores, real, strict=True) if is_real)
    no = sorted(score for score, is_real in zip(scores, real, strict=True) if not is_real)
    if not yes or not no:
        return 0.5
    below = np.searchsorted(no, yes, "left").sum() + np.searchsorted(no, yes, "right").sum()
    return float(below / 2 / len(yes) / len(no))


def several(records, order, k, effort, runs):
    """Several searches under one secret, then one of a file with 1 % other records, from the first seed."""
    nominal, numeric = order
    original = Counter(map(tuple, records[:, nominal + numeric].tolist()))
    unique = {row for row, n in original.items() if n == 1}
    seen, ever, small = Counter(), [], set()
    for seed in range(1, runs + 1):
        shown = {row for row in release(records, order, k, seed, effort) if original[row] < k}
        small = small or shown
        seen.update(shown)
        ever.append(len(unique & set(seen)) / len(unique))
    rng = np.random.default_rng(5)
    changed = records.copy()
    who = rng.permutation(len(records))[: len(records) // 100]
    changed[who] = records[rng.integers(0, len(records), len(who))]
    after = release(changed, order, k, 1, effort)
    always = [row for row, times in seen.items() if times == runs]
    emit(
        bench="deniable, several runs",
        k=k,
        effort=effort,
        unique_ever_shown=[round(share, 4) for share in ever],
        invented_of_union=sum(row not in original for row in seen) / len(seen),
        in_all_runs=len(always),
        invented_of_these=sum(row not in original for row in always) / max(1, len(always)),
        small_that_stay_after_1_percent=sum(row in after for row in small) / len(small),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--effort", nargs="+", default=["full"])
    parser.add_argument("--seed", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--invented", type=float, default=INVENTED)
    parser.add_argument("--no-means", action="store_true", help="Leave the means of subgroups out of the objective.")
    parser.add_argument("--runs", type=int, default=0)
    given = parser.parse_args()
    records, nominal, numeric = read()
    order = nominal, numeric
    ordered = records[:, nominal + numeric]
    original = Counter(map(tuple, ordered.tolist()))
    means = [] if given.no_means else None
    release(records[:300], order, 3, 1, "fast", given.invented)  # compile
    for k, effort, seed in ((k, effort, seed) for k in given.k for effort in given.effort for seed in given.seed):
        with Measure() as measured:
            released = release(records, order, k, seed, effort, given.invented, means=means)
        assert sum(released.values()) == len(records)
        assert min(released.values()) >= k
        before, after = (np.array(list(file)) for file in (original, released))
        n, new_n = (np.array(list(file.values())) for file in (original, released))
        guesses = inference(original, released)
        emit(
            bench="deniable",
            k=k,
            effort=effort,
            seed=seed,
            **counted(original, released, k),
            inference=[round(share, 3) for share, _, _ in guesses],
            guesses=[number for _, number, _ in guesses],
            not_deniable=sum(share > max(MAX_INFERENCE, common) for share, _, common in guesses),
            auc=[round(one, 3) for one in auc(original, released, k)],
            nominal_max=largest_deviations(before, n, after, new_n, range(len(nominal))),
            all_columns_max=largest_deviations(before, n, after, new_n, range(before.shape[1])),
            **means_of(original, released, len(nominal), len(numeric)),
            variance_percent=[
                round(percent(moments(before[:, j], n)[1], moments(after[:, j], new_n)[1]), 4)
                for j in range(len(nominal), before.shape[1])
            ],
            cpu=measured.cpu,
        )
    for k in given.k if given.runs else ():
        several(records, order, k, given.effort[0], given.runs)


if __name__ == "__main__":
    main()
