"""SAFE that can be denied: what is invented, shown and guessed; recounted in plain Python from the rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

pytest.importorskip("numba")

from sqlmicro import AuditFailed, InputError, ParameterError
from sqlmicro.missing.standardise import standardise
from sqlmicro.safe_method import deniable, given_away, plausible
from sqlmicro.safe_method.combined import Combined
from sqlmicro.safe_method.deniable import EVER_SHOWN, Asked, Pool, pooled
from sqlmicro.safe_method.search import Placement, search
from sqlmicro.system.secrets import Secret, lasting

Row = tuple[Any, ...]
SECRET, OTHER = Secret(b"one secret of a test", "file"), Secret(b"another one of a test", "file")


def table(seed: int, n: int = 400, columns: int = 5) -> np.ndarray:
    """Return records in which many combinations are rare."""
    rng = np.random.default_rng(seed)
    return np.minimum(rng.geometric(0.45, (n, columns)) - 1, 3)


def searched(
    records: np.ndarray, k: int, secret: Secret = SECRET, seed: int = 0, limits: Mapping[str, float] | None = None
) -> tuple[Combined, Pool, Placement]:
    rows, n = np.unique(records, axis=0, return_counts=True)
    combined = Combined.of(rows[:, :-1], rows[:, -1:].astype(float), n)
    shares = np.array([max(Counter(column.tolist()).values()) / len(records) for column in records.T])
    asked = Asked(0.5, 0.8, secret, {"min_invented": 0.5} if limits is None else limits)
    pool = pooled(combined.values, rows.shape[1], rows.astype(np.uint64), n, k, asked, shares)
    rng, file = np.random.default_rng(seed), combined.file(k, pool.new)
    found = search(*file, rng, lambda *_: None, effort="fast", pool=pool)
    return combined, pool, found


def shown(combined: Combined, pool: Pool, found: Placement, k: int) -> Counter[Row]:
    codes, numbers, _, _ = combined.file(k, pool.new)
    rows = np.hstack([codes, numbers.astype(np.int64)])
    return Counter({tuple(rows[i].tolist()): int(found.new_n[i]) for i in np.flatnonzero(found.new_n)})


def counted(records: np.ndarray) -> Counter[Row]:
    return Counter(map(tuple, records.tolist()))


def share_invented(original: Counter[Row], released: Counter[Row], k: int) -> tuple[int, int]:
    rare = [row for row in released if original[row] < k]
    return len(rare), sum(row not in original for row in rare)


def least_share(original: Counter[Row], released: Counter[Row], k: int) -> float:
    """Return the least share that is invented of what is rare and shown, of sets of one to four columns and of all."""
    width = len(next(iter(original)))
    least = 1.0
    for some in chain.from_iterable(combinations(range(width), size) for size in {1, 2, 3, 4, width}):
        n: Counter[Row] = Counter()
        for row, records in original.items():
            n[tuple(row[j] for j in some)] += records
        few = {tuple(row[j] for j in some) for row in released}
        few = {row for row in few if n[row] < k}
        least = min(least, sum(row not in n for row in few) / len(few)) if few else least
    return least


def guesses(original: Counter[Row], released: Counter[Row], j: int) -> tuple[int, int]:
    """Return how often the attacker guesses column j, and how often she is right."""
    made = right = 0
    for row, n in original.items():
        others = row[:j] + row[j + 1 :]
        alone = n == 1 and sum(r[:j] + r[j + 1 :] == others for r in original) == 1
        answers = {r[j] for r in released if r[:j] + r[j + 1 :] == others}
        if alone and len(answers) == 1:
            made += 1
            right += row[j] in answers
    return made, right


@pytest.mark.parametrize("seed", range(4))
def test_what_is_invented_never_occurred_but_could_have(seed: int) -> None:
    """All changes of one value are tried here, none is left out there."""
    records = table(seed, 120, 4 + seed % 2)
    original, k, N, width = counted(records), 3, len(records), records.shape[1]
    counts: Counter[tuple[Row, Row]] = Counter()
    for size in (1, 2, 3):
        for some in combinations(range(width), size):
            for row, n in original.items():
                counts[some, tuple(row[c] for c in some)] += n

    def n(row: Row, *some: int) -> int:
        return counts[tuple(sorted(some)), tuple(row[c] for c in sorted(some))]

    def plausible_pairs(row: Row, j: int) -> bool:
        new = [c for c in range(width) if c != j and not n(row, j, c)]
        expected = [n(row, j) * n(row, c) / N for c in new]
        return len(new) <= 4 and all(0.02 <= x < k for x in expected)

    def plausible_triples(row: Row, j: int) -> bool:
        for c, d in combinations([c for c in range(width) if c != j], 2):
            singles = n(row, j) * n(row, c) * n(row, d)
            expected = N * n(row, j, c) * n(row, j, d) * n(row, c, d) / singles
            if not n(row, j, c, d) and expected >= k:
                return False
        return True

    expected = set()
    for row in original:
        for j in range(width):
            for value in {other[j] for other in original}:
                new = (*row[:j], value, *row[j + 1 :])
                often = all(n(new, c) >= k and n(row, c) >= k for c in range(width))
                if new not in original and often and plausible_pairs(new, j) and plausible_triples(new, j):
                    expected.add(new)
    values = np.array(sorted(original))
    found = plausible.invent(
        values, width, np.array([original[row] for row in sorted(original)]), np.zeros(len(values)), k
    )
    assert {tuple(row) for row in found.values.tolist()} == expected
    assert len(found.values) == len(expected) > 0
    for row, base, donor, column in zip(found.values, found.base, found.donor, found.column, strict=True):
        made = values[base].copy()
        made[column] = values[donor, column]
        assert made.tolist() == row.tolist()


@pytest.mark.parametrize("seed", [0, 1])
def test_of_those_that_look_alike_the_ones_that_show_the_fewest_true_rare_cells_are_taken(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one bin, all look alike: those are taken first, then those with the lowest keyed numbers."""
    monkeypatch.setattr(plausible, "_BINS", 1)
    original, k, ratio = counted(table(seed, 150)), 3, 0.5
    values, n = np.array(sorted(original)), np.array([original[row] for row in sorted(original)])
    invented = plausible.invent(values, 5, n, np.zeros(len(n)), k)
    draw = np.random.default_rng(seed).random(len(invented.values))

    persons: Counter[tuple[Row, Row]] = Counter()
    sets = list(chain.from_iterable(combinations(range(5), size) for size in (2, 3, 4)))
    for some in sets:
        for row, times in original.items():
            persons[some, tuple(row[j] for j in some)] += times

    def true_rare(new: Row) -> int:
        return sum(0 < persons[some, tuple(new[j] for j in some)] < k for some in sets)

    few = n < k
    chosen, _ = plausible.alike(values, n, k, few, few, invented, draw, ratio)
    order = sorted(range(len(draw)), key=lambda i: (true_rare(tuple(invented.values[i].tolist())), draw[i]))
    wanted = round(ratio * int(few.sum()))
    assert 0 < wanted < len(order)
    assert chosen.tolist() == sorted(order[:wanted])


def test_one_column_leaves_nothing_to_invent() -> None:
    values = np.array([[0], [1], [2]])
    assert len(plausible.invent(values, 1, np.ones(3), np.zeros(3), 2).values) == 0


@pytest.mark.parametrize(("seed", "n", "k", "half"), [(1, 1500, 4, True), (3, 1500, 3, True), (2, 200, 2, False)])
def test_a_release_is_invented_by_half_and_shows_few_who_are_unique(seed: int, n: int, k: int, half: bool) -> None:
    """Where there is enough to invent."""
    records = table(seed, n, 6)
    original = counted(records)
    combined, pool, found = searched(records, k)
    released = shown(combined, pool, found, k)
    assert sum(released.values()) == len(records)
    assert min(released.values()) >= k
    rare, invented = share_invented(original, released, k)
    assert not half or invented >= 0.5 * rare > 0
    uniques = [row for row, n in original.items() if n == 1]
    assert sum(row in released for row in uniques) <= EVER_SHOWN * len(uniques)
    # Records become what is shown, all of them.
    np.testing.assert_array_equal(np.bincount(found.target, found.count, len(found.new_n)), found.new_n)


def largest_deviations(original: Counter[Row], released: Counter[Row]) -> list[int]:
    """Return by how many records the tables of one, two and three columns deviate at most."""
    found = []
    for size in (1, 2, 3):
        change: Counter[tuple[Row, Row]] = Counter()
        for some in combinations(range(len(next(iter(original)))), size):
            for sign, rows in ((-1, original), (1, released)):
                for row, records in rows.items():
                    change[some, tuple(row[j] for j in some)] += sign * records
        found.append(max(map(abs, change.values())))
    return found


@pytest.mark.parametrize(("seed", "n", "columns", "half"), [(1, 300, 4, True), (2, 300, 4, True), (2, 600, 5, False)])
def test_half_of_every_set_is_reached_by_default_where_the_tables_stay_within_twice_their_limits(
    seed: int, n: int, columns: int, half: bool
) -> None:
    """The limits are k, 1.6 k and 2 k records. Whoever insists gets half of every set, at any deviations."""
    records, k = table(seed, n, columns), 3
    original = counted(records)
    released = shown(*searched(records, k, limits={}), k)
    assert (least_share(original, released, k) >= 0.5) == half
    assert all(d <= most for d, most in zip(largest_deviations(original, released), (6, 9, 12), strict=True))
    assert least_share(original, shown(*searched(records, k), k), k) >= 0.5


@pytest.mark.slow
def test_many_runs_under_one_secret_show_no_more_than_a_quarter_of_the_unique() -> None:
    records = table(7, 600)
    original = counted(records)
    uniques = {row for row, n in original.items() if n == 1}
    ever: set[Row] = set()
    others: set[Row] = set()
    for seed in range(8):
        ever |= uniques & set(shown(*searched(records, 3, seed=seed), 3))
        others |= uniques & set(shown(*searched(records, 3, OTHER, seed), 3))
    assert 0 < len(ever) <= EVER_SHOWN * len(uniques)
    assert len(ever | others) > len(ever)  # the secret decides


def test_what_the_kernel_keeps_is_what_is_counted_from_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlmicro.safe_method import search as searching

    kept = []
    monkeypatch.setattr(searching, "denial_of", lambda *given: kept.append(deniable.denial_of(*given)) or kept[-1])
    records, k = table(4, 200), 3
    combined, pool, found = searched(records, k)
    original, released = counted(records), shown(combined, pool, found, k)
    (denial,) = kept
    names = ("now", "open", "last", "shown", "guessed")
    before = [np.copy(getattr(denial, name)) for name in names]
    given_away.recount(denial, found.new_n)
    width = records.shape[1]
    guessed = np.zeros_like(denial.guessed)
    for s in np.flatnonzero(denial.inside.any(axis=1)):
        some = np.flatnonzero(denial.inside[s]).tolist()
        n: Counter[Row] = Counter()
        for row, times in original.items():
            n[tuple(row[j] for j in some)] += times
        few = {one for row in released if n[one := tuple(row[j] for j in some)] < k}
        assert denial.shown[s].tolist() == [len(few), sum(one not in n for one in few)]
        for one in few:  # who is alone in these, and which combinations show them
            rows = [row for row in released if tuple(row[j] for j in some) == one]
            if n[one] == 1 and len(rows) == 1:
                (true,) = [row for row in original if tuple(row[j] for j in some) == one]
                for j in set(range(width)) - set(some):
                    guessed[denial.size_of[s], j, 0 if true[j] == rows[0][j] else 1] += 1
    np.testing.assert_array_equal(denial.guessed, guessed)
    # The search kept them up to date: only `settle` may have come after.
    if (before[0] == denial.now).all():
        for name, value in zip(names, before, strict=True):
            np.testing.assert_array_equal(getattr(denial, name), value)


def test_a_missing_number_is_a_value_that_an_invention_can_take() -> None:
    combined = Combined.of(np.array([[0], [1]]), np.array([[5.0], [np.nan]]), np.array([2, 1]))
    assert len({tuple(row) for row in combined.values.tolist()}) == 2
    new = plausible.Invented(np.array([[0, 0]]), np.array([0]), np.array([1]), np.array([1]))
    codes, numbers, n, _ = combined.file(2, new)
    # The base, with the missing number of the donor: its flag, and the mean in place of it.
    base, donor = combined.codes[0], combined.codes[1]
    assert codes[2].tolist() == [base[0], donor[1]]
    assert numbers[2].tolist() == combined.numbers[1].tolist()
    assert n.tolist() == [*combined.n.tolist(), 0]


def test_rows_without_weight_are_standardised_like_the_others() -> None:
    raw, weights = np.array([[1.0], [3.0], [5.0]]), np.array([2.0, 2.0, 0.0])
    found = standardise(raw, weights)
    assert found[2, 0] == pytest.approx(found[1, 0] * 3)


# Through the interface


def persons(records: np.ndarray) -> dict[str, tuple[str, list[Any]]]:
    names = ['net "income"', "b", "c", "d", "e"]
    return {
        name: ("VARCHAR", [None if (name, value) == ("b", 3) else f"{name[0]}{value}" for value in column])
        for name, column in zip(names, records.T.tolist(), strict=True)
    }


def _released(workbench: Any, made: dict[str, tuple[str, list[Any]]], **options: Any) -> Any:
    given = {"columns": list(made), "k": 3, "method": "search", "effort": "fast"}
    return workbench.release("safe", workbench.make(made), **(given | options))


@pytest.mark.slow
def test_audits_of_a_release_are_what_its_rows_say(workbench: Any) -> None:
    made = persons(table(2, 900))
    names = list(made)
    original = Counter(zip(*(values for _, values in made.values()), strict=True))
    release = _released(workbench, made)
    released = Counter(release.records(names))
    rare, invented = share_invented(original, released, 3)
    rows = {(row["check"], *row["columns"]): row for row in release.report["audits"]}
    row = rows["invented", *names]
    assert row["value"] == min(one["least"] for one in row["by_known"] if one["least"] is not None)
    assert (row["rare"], row["invented"]) == (rare, invented)
    for j, name in enumerate(names):
        count, right = guesses(original, released, j)
        found = rows["inference", name]
        all_others = found["by_known"][-1]
        assert (all_others["known"], all_others["guesses"], all_others["right"]) == (len(names) - 1, count, right)
    assert release.report["steps"][0]["key_fingerprint"]


@pytest.mark.slow
def test_what_is_given_must_be_reached_in_every_set_of_columns(workbench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlmicro.safe_method import search as searching

    made = persons(np.minimum(table(2, 900), 2))  # 3 would be missing, and its records searched apart
    names = list(made)
    original = Counter(zip(*(values for _, values in made.values()), strict=True))
    release = _released(workbench, made, invented=0.5)
    assert least_share(original, Counter(release.records(names)), 3) >= 0.5
    (row,) = [row for row in release.report["audits"] if row["check"] == "invented"]
    assert (row["threshold"], row["passed"]) == (0.5, True)
    # A search that does not mind is found out, and nothing is published.
    monkeypatch.setattr(searching, "denial_of", lambda pool, k: given_away.no_denial(len(pool.of)))
    with pytest.raises(AuditFailed, match=r"invented .* needed at least 0\.5"):
        _released(workbench, made, invented=0.5)


def test_nothing_is_invented_where_nobody_wants_it(workbench: Any) -> None:
    made = persons(table(5))
    original = set(zip(*(values for _, values in made.values()), strict=True))
    release = _released(workbench, made, invented=0.0)
    assert set(release.records(list(made))) <= original
    assert not any(row["check"] == "invented" for row in release.report["audits"])
    assert "occurs in the original, if only once" in release.report["safe_parts"]["summary"]["not_told"]


def test_clusters_cannot_promise_it(workbench: Any) -> None:
    with pytest.raises(ParameterError, match="goes with the direct search"):
        _released(workbench, persons(table(1, 60)), method="cluster", invented=0.5)


def test_columns_of_persons_cannot_promise_it_and_those_of_their_records_can(workbench: Any) -> None:
    made = persons(table(1, 120)) | {"whose": ("INTEGER", [i // 2 for i in range(120)])}
    made["e"] = ("VARCHAR", [f"e{i // 2 % 3}" for i in range(120)])
    given: dict[str, Any] = {"person": ["whose"], "rest": "drop", "max_inference": 1.0}
    with pytest.raises(ParameterError, match=r"no search has a whole combination.*sqlmicro audit --table RELEASE"):
        _released(workbench, made, columns=["b", "c", "e"], **given)
    release = _released(workbench, made, columns=["b", "c"], **given)
    assert [row["passed"] for row in release.report["audits"] if row["check"] == "inference"] == [True, True]


@pytest.mark.slow
def test_without_a_seed_the_same_records_make_the_same_release(workbench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = persons(table(3, 200))
    first, again = (Counter(_released(workbench, made, seed=None).records(list(made))) for _ in range(2))
    assert first == again
    monkeypatch.setenv("SQLMICRO_SECRET", "another lasting secret of a test")
    assert Counter(_released(workbench, made, seed=None).records(list(made))) != first


@pytest.mark.slow_but("options1")
@pytest.mark.parametrize("options", [{"weights": "w"}, {"by": ["b"]}])
def test_weights_and_strata_keep_it_too(workbench: Any, options: dict[str, Any]) -> None:
    made = persons(table(6, 900))
    names = list(made)
    original = Counter(zip(*(values for _, values in made.values()), strict=True))
    rng = np.random.default_rng(1)
    weighed = {**made, "w": ("DOUBLE", rng.choice([0.5, 1.0, 2.0], 900).tolist())}
    columns = [name for name in names if name not in options.get("by", ())]
    given = weighed if "weights" in options else made
    keep = {"keep": ["w"]} if "weights" in options else {}
    release = _released(workbench, given, columns=columns, **options, **keep)
    rare, invented = share_invented(original, Counter(release.records(names)), 3)
    row, *_ = [row for row in release.report["audits"] if row["check"] == "invented"]
    assert (row["invented"], row["rare"]) == (invented, rare)
    assert invented >= 0.4 * rare


def test_the_secret_is_in_no_report(workbench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SQLMICRO_SECRET", "a-secret-that-is-looked-for-everywhere")
    assert "looked-for" not in str(_released(workbench, persons(table(8, 100)), show_sql=False).report)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SQLMICRO_SECRET")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "sqlmicro"


def test_the_lasting_secret_is_a_file_that_only_its_owner_can_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lasting()
    path = home / "secret"
    assert first.lasts
    assert path.stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in home.iterdir()] == ["secret"]
    assert lasting() == first
    assert len(first.value) == 64
    monkeypatch.setenv("SQLMICRO_SECRET", "sixteen bytes, or more")
    assert lasting().value == b"sixteen bytes, or more"


@pytest.mark.parametrize("spoil", ["mode", "folder", "link", "pipe"])
def test_a_secret_that_others_may_know_is_refused(home: Path, spoil: str) -> None:
    lasting()
    path = home / "secret"
    if spoil == "mode":
        path.chmod(0o640)
    elif spoil == "folder":
        home.chmod(0o777)
    else:
        path.unlink()
        if spoil == "link":
            (home / "elsewhere").write_bytes(b"x" * 32)
            path.symlink_to(home / "elsewhere")
        else:
            os.mkfifo(path)
    with pytest.raises(InputError, match="nobody else can read"):
        lasting()


def test_without_a_home_the_secret_does_not_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SQLMICRO_SECRET")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert not lasting().lasts
    assert lasting() != lasting()


@pytest.mark.slow
def test_every_kept_candidate_with_original_values_is_audited_like_the_release(workbench: Any) -> None:
    """With two unifications of an averaged column the search makes two candidates, of which one is released."""
    made = persons(table(2, 600))
    rng = np.random.default_rng(3)
    made["income"] = ("DOUBLE", rng.normal(0, 1, 600).tolist())
    names = [name for name in made if name != "income"]
    given = {"unify_numeric": ["mean", "median"], "keep_candidates": True}
    db = workbench.make(made)
    report = workbench.release("safe", db, columns=list(made), k=3, method="search", effort="fast", **given).report
    original = Counter(zip(*(made[name][1] for name in names), strict=True))
    assert len(report["candidates"]) == 2
    with duckdb.connect(db, read_only=True) as connection:
        for candidate in report["candidates"]:
            cursor = connection.execute(f"SELECT {', '.join(map(quoted, names))} FROM {quoted(candidate['kept'])}")
            released = Counter(cursor.fetchall())
            check = f"candidate {candidate['candidate']}: invented%"
            asked = 'SELECT value, threshold FROM sqlmicro.audits WHERE "check" LIKE ?'
            ((value, threshold),) = connection.execute(asked, [check]).fetchall()
            assert (value, threshold) == (pytest.approx(least_share(original, released, 3)), None)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
