"""SAFE, the direct search: what of its release can be denied, at which deviations and in how many CPU seconds.

python tests/bench/deniable.py [--file survey persons testdata mikrozensus adult] [--k 3 5] [--effort full]
    [--seed 1 2 3] [--insist] [--runs 6] [--no-means] [--rows 1000]

`survey` is the file of safe_search.py, all eight columns with their own values; the others are the nominal columns of
the files of regroup.py. What is told is counted anew from the records before and after, in plain Python but for the
deviations. With --insist half of every set must be invented. With --runs so many searches follow, each from another
seed under one secret, and one of a file in which 1 % of the records are others.
"""

import argparse
import math
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
from _files import FILES
from _files import read as columns_of
from _measure import Measure, emit
from safe_search import largest_deviations, moments, percent
from safe_search import read as survey
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from threadpoolctl import threadpool_limits

from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.deniable import INVENTED, MAX_INFERENCE, Asked, pooled
from sqlmicro.safe_method.mean_cells import MeanTable
from sqlmicro.safe_method.search import search
from sqlmicro.system.secrets import Secret

SECRET = Secret(b"a secret of the benchmark", "plain text")
FOLDS = 5


def read(name):
    """Return the records of a file, and the positions of its nominal and of its numeric columns."""
    if name == "survey":
        return survey()
    _, table, nominal, _ = columns_of(name)
    codes = [np.unique([row[j] for row in table], return_inverse=True)[1].reshape(-1) for j in range(nominal)]
    return np.stack(codes, axis=1), list(range(nominal)), []


def by_pairs(nominal, numeric):
    """Return the means of every numeric column by every pair of nominal ones, as the command takes them."""
    return [MeanTable(j, by) for j in range(len(numeric)) for by in combinations(range(len(nominal)), 2)]


def release(records, order, k, seed, effort, invented=INVENTED, inference=MAX_INFERENCE, means=None, insist=False):
    """Return the records of a release as a Counter of tuples in the order of `order`, nominal columns first."""
    nominal, numeric = order
    means = by_pairs(nominal, numeric) if means is None else means
    rows, n = np.unique(records[:, nominal + numeric], axis=0, return_counts=True)
    combined = Combined.of(rows[:, : len(nominal)], rows[:, len(nominal) :].astype(float), n)
    pool = None
    if invented:
        shares = np.array([max(Counter(column.tolist()).values()) / len(records) for column in records.T])
        asked = Asked(invented, inference, SECRET, {"min_invented": invented} if insist else {})
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


def by_known(original, released, k):
    """Return, by the number of known columns: what is rare and shown, what of it never occurred, sets below half."""
    columns = range(len(next(iter(original))))
    found = {}
    for known in sorted({*range(1, min(4, len(columns)) + 1), len(columns)}):
        shown = invented = below = 0
        for some in combinations(columns, known):
            n = Counter()
            for row, records in original.items():
                n[tuple(row[j] for j in some)] += records
            few = [one for one in {tuple(row[j] for j in some) for row in released} if n[one] < k]
            new = sum(n[one] == 0 for one in few)
            shown, invented, below = shown + len(few), invented + new, below + (2 * new < len(few))
        found[known] = [invented, shown, below]
    return found


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
    """Return the AUC of what the release tells of invented and real among the few, by gradient boosting with labels.

    It sees the count, how many others have the same values in every table of up to four columns, and how many
    combinations and records differ in one value alone. Every fold is judged by what was learned on the others. NaN
    where there are fewer of a kind than folds.
    """
    rows, n = np.array(list(released)), np.array(list(released.values()))
    columns = range(rows.shape[1])
    seen = [n]
    for size in range(1, min(4, len(columns)) + 1):
        elsewhere = [np.log(others(rows, n, some) - n + 0.5) for some in combinations(columns, size)]
        seen += [
            *elsewhere,
            np.sum(elsewhere, axis=0),
            np.min(elsewhere, axis=0),
            np.sum(np.array(elsewhere) < 0, axis=0),
        ]
    for j in columns:
        rest = [c for c in columns if c != j]
        seen += [others(rows, np.ones(len(n)), rest) - 1, others(rows, n, rest) - n]
    few = np.array([original[row] < k for row in released])
    x, real = np.stack(seen, axis=1)[few], np.array([row in original for row in released])[few]
    if min(real.sum(), (~real).sum()) < FOLDS:
        return float("nan")
    model = HistGradientBoostingClassifier(max_iter=80, learning_rate=0.06, min_samples_leaf=15, random_state=0)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with threadpool_limits(1):  # threads that wait for others on a busy machine
        told = cross_val_predict(model, x, real, cv=folds, method="predict_proba")[:, 1]
    return float(roc_auc_score(real, told))


def others(rows, n, some):
    """Return for every row how many there are with its values of some columns."""
    of = np.unique(rows[:, list(some)], axis=0, return_inverse=True)[1].reshape(-1)
    return np.bincount(of, n)[of]


def means_of(original, released, nominal, numeric):
    """Return how many subgroups there are by one, two and three columns, and by how much their means shift."""
    every = [shifts(original, released, nominal, numeric, order) for order in (1, 2, 3)] if numeric else []
    return {
        "subgroups": [len(some) for some in every],
        "shifted": [round(sum(s > 1 for s in some) / len(some), 4) for some in every],
        "largest_shift": [round(max(some), 2) for some in every],
    }


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
    parser.add_argument("--file", nargs="+", default=["survey"], choices=["survey", *FILES])
    parser.add_argument("--insist", action="store_true", help="At least so much must be invented, in every set.")
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--effort", nargs="+", default=["full"])
    parser.add_argument("--seed", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--invented", type=float, default=INVENTED)
    parser.add_argument("--no-means", action="store_true", help="Leave the means of subgroups out of the objective.")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--rows", type=int, help="the first so many records")
    given = parser.parse_args()
    for name in given.file:
        measure(name, given)


def measure(name, given):
    """Say what is to say of one file."""
    records, nominal, numeric = read(name)
    records = records[: given.rows]
    order = nominal, numeric
    ordered = records[:, nominal + numeric]
    original = Counter(map(tuple, ordered.tolist()))
    means = [] if given.no_means else None
    release(records[:300], order, 3, 1, "fast", given.invented)  # compile
    for k, effort, seed in ((k, effort, seed) for k in given.k for effort in given.effort for seed in given.seed):
        with Measure() as measured:
            released = release(records, order, k, seed, effort, given.invented, means=means, insist=given.insist)
        assert sum(released.values()) == len(records)
        assert min(released.values()) >= k
        before, after = (np.array(list(file)) for file in (original, released))
        n, new_n = (np.array(list(file.values())) for file in (original, released))
        guesses = inference(original, released)
        emit(
            bench="deniable",
            file=name,
            k=k,
            effort=effort,
            seed=seed,
            **counted(original, released, k),
            by_known=by_known(original, released, k),
            inference=[round(share, 3) for share, _, _ in guesses],
            guesses=[number for _, number, _ in guesses],
            not_deniable=sum(share > max(MAX_INFERENCE, common) for share, _, common in guesses),
            auc=round(auc(original, released, k), 3),
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
