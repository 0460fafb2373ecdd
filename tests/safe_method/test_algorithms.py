"""The algorithms that group cells: how they are written, and the partitions they find on weighted rows."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Annotated

import numpy as np
import pytest
from looping import each

from sqlmicro import registry
from sqlmicro.errors import ParameterError
from sqlmicro.options.params import Param
from sqlmicro.registry import Grouping, Tick, find, method
from sqlmicro.safe_method import algorithms
from sqlmicro.safe_method.algorithms import PASSES, NoCluster, parse
from sqlmicro.safe_method.linkage import agglomerate

LINKAGES = ["single", "complete", "average", "ward"]
NEEDS = {"dbscan": "sklearn", **dict.fromkeys(LINKAGES, "scipy")}
BLOBS = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [9.0, 9.0], [9.1, 9.0], [9.0, 9.1]])


def _quiet(done: int, total: int, best: str = "") -> None:
    pass


def _group(text: str, X: np.ndarray, n: np.ndarray | None = None, k: int = 3, seed: int = 1) -> np.ndarray:
    """Return the group of every row; every record is in exactly one."""
    n = np.ones(len(X), dtype=np.int64) if n is None else n
    rows, labels, counts, _ = parse(text, "safe").group(X, n, k, np.random.default_rng(seed), _quiet)
    np.testing.assert_array_equal(rows, np.arange(len(X)))
    np.testing.assert_array_equal(counts, n)
    assert sorted(set(labels)) == list(range(labels.max() + 1))
    return labels


def _same_partition(one: np.ndarray, other: np.ndarray) -> bool:
    return len(set(zip(one, other, strict=True))) == len(set(one)) == len(set(other))


def _weighted(seed: int, m: int = 60, p: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(m, p)), rng.integers(1, 9, m)


@each("text", ["dbscan", *(f"{how}(clusters=2)" for how in LINKAGES)])
def test_two_blobs_are_two_groups(text: str) -> None:
    assert _same_partition(_group(text, BLOBS), np.array([0, 0, 0, 1, 1, 1]))


@each(
    ("how", "expected"),
    [
        ("single", [0, 0, 0, 0, 1]),  # a chain: steps of 1.0, 1.1, 1.2, then a gap of 2
        ("complete", [0, 0, 1, 1, 1]),  # {0, 1} and {2.1, 3.3} are 3.3 apart, {2.1, 3.3} and {5.3} 3.2
        ("average", [0, 0, 0, 0, 1]),
        ("ward", [0, 0, 1, 1, 1]),
    ],
)
def test_each_linkage_has_its_own_idea_of_near(how: str, expected: list[int]) -> None:
    X = np.array([[0.0], [1.0], [2.1], [3.3], [5.3]])
    assert _same_partition(_group(f"{how}(clusters=2)", X, k=2), np.array(expected))


@each("how", LINKAGES)
@each("clusters", [1, 2, 7, 30, 59])
def test_rows_of_one_record_give_the_tree_of_scipy(how: str, clusters: int) -> None:
    from scipy.cluster.hierarchy import cut_tree, linkage

    X, _ = _weighted(3)
    expected = cut_tree(linkage(X, how), clusters).reshape(-1)
    assert _same_partition(agglomerate(X, np.ones(len(X)), clusters, how, _quiet), expected)


@each("text", ["dbscan(eps=0.9, min_samples=9)", *(f"{how}(clusters=9)" for how in LINKAGES)])
@each("seed", range(8))
def test_weighted_rows_are_grouped_like_repeated_rows(text: str, seed: int) -> None:
    X, n = _weighted(seed)
    repeated = _group(text, np.repeat(X, n, axis=0))
    assert _same_partition(np.repeat(_group(text, X, n), n), repeated)


@each("how", ["average", "ward"])
def test_weighted_trees_are_those_of_scipy_on_repeated_records(how: str) -> None:
    from scipy.cluster.hierarchy import cut_tree, linkage

    X, n = _weighted(5, m=40)
    for clusters in (2, 5, 11):
        expected = cut_tree(linkage(np.repeat(X, n, axis=0), how), clusters).reshape(-1)
        found = agglomerate(X, n, clusters, how, _quiet)
        assert _same_partition(np.repeat(found, n), expected)
    unweighted = [agglomerate(X, np.ones(len(X)), c, how, _quiet) for c in (2, 5, 11)]
    assert any(
        not _same_partition(one, agglomerate(X, n, c, how, _quiet))
        for one, c in zip(unweighted, (2, 5, 11), strict=True)
    )


@each("how", LINKAGES)
@each("clusters", [1, 3, 8, 16, 50])
def test_as_many_clusters_as_asked_for_where_distances_tie(how: str, clusters: int) -> None:
    """0/1 columns: cutting the tree at a height would leave one group, as all distances are the same."""
    labels = _group(f"{how}(clusters={clusters})", np.eye(16), np.full(16, 9))
    assert labels.max() + 1 == min(clusters, 16)


@each("how", LINKAGES)
def test_never_more_clusters_than_groups_of_k_could_be(how: str) -> None:
    X, _ = _weighted(4, m=20)
    assert _group(how, X, k=3).max() + 1 == 6


@each("text", ["dbscan(eps=2)", *LINKAGES])
def test_rows_that_agree_in_this_pass_stay_together(text: str) -> None:
    labels = _group(text, np.repeat([[0.0, 1.0], [5.0, 1.0], [9.0, 1.0]], 7, axis=0))
    assert _same_partition(labels, np.repeat([0, 1, 2], 7))
    assert set(_group(text, np.zeros((20, 2)))) == {0}
    assert _group(text, np.ones((1, 3)), np.array([5])).tolist() == [0]


def test_rows_are_untouched_and_their_order_does_not_matter() -> None:
    X, n = _weighted(7)
    before, order = X.copy(), np.random.default_rng(1).permutation(len(X))
    for text in ("dbscan(eps=0.9)", *(f"{how}(clusters=7)" for how in LINKAGES)):
        np.testing.assert_array_equal(_group(text, X, n)[order], _group(text, X[order], n[order]))
    np.testing.assert_array_equal(X, before)


def test_noise_rows_are_groups_of_their_own() -> None:
    X = np.vstack([BLOBS, [[4.0, 4.0]], [[-50.0, 0.0]], [[4.0, 4.0]]])
    assert _same_partition(_group("dbscan", X), np.array([0, 0, 0, 1, 1, 1, 2, 3, 2]))


def test_records_not_rows_make_a_neighbourhood_dense() -> None:
    X = np.array([[0.0], [5.0], [10.0]])
    assert _group("dbscan(min_samples=4)", X, np.array([4, 1, 1])).max() == 2
    with pytest.raises(NoCluster):
        _group("dbscan(min_samples=5)", X, np.array([4, 1, 1]))


def test_min_samples_is_k_if_left_out() -> None:
    assert _group("dbscan", BLOBS, k=3).max() == 1
    with pytest.raises(NoCluster):
        _group("dbscan", BLOBS, k=4)


def test_eps_too_small_forms_no_cluster() -> None:
    with pytest.raises(NoCluster, match=r"dbscan .* min_samples=3 .* eps=0\.001"):
        _group("dbscan(eps=0.001)", BLOBS)


@pytest.mark.parametrize("name", ["dbscan", *LINKAGES])
def test_too_many_rows_are_refused_with_the_figures(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(algorithms, "MOST_ROWS_DBSCAN" if name == "dbscan" else "MOST_ROWS", 20)
    X, n = _weighted(8, m=21)
    with pytest.raises(
        ParameterError, match=rf"algorithm {name}: takes at most 20 distinct rows.* 21 rows.* sample=20"
    ):
        _group(name, X, n)
    _group(f"{name}(sample=15{', eps=9' if name == 'dbscan' else ''})", X, n)
    _group(f"{name}(sample=0{', eps=9' if name == 'dbscan' else ''})", np.repeat(X[:20], 3, axis=0))


@each(("name", "most"), [("ward", 20_000), ("dbscan", 12_000)])
def test_the_limit_is_what_fits_into_a_few_gigabytes(name: str, most: int) -> None:
    with pytest.raises(ParameterError, match=rf"at most {most:,} .* {most + 1:,} rows, or (4\.0|3\.9) GB"):
        _group(name, np.arange(most + 1, dtype=float)[:, None])


@each("text", ["dbscan(eps=3, min_samples=1, {})", *(f"{how}(clusters=2, {{}})" for how in LINKAGES)])
@each("seed", range(3))
def test_rows_not_sampled_go_to_the_nearest_centre(text: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    side = rng.integers(0, 2, 400)
    X = rng.uniform(-1, 1, (400, 2)) + 50 * side[:, None]
    assert _same_partition(_group(text.format("sample=40"), X, seed=seed), side)


def test_rows_not_sampled_never_go_to_noise() -> None:
    """Of a dense line, a heavy row far off and a light one next to it, the light one alone is never sampled."""
    X = np.concatenate([np.linspace(0, 1, 100), [300.0, 301.0]])[:, None]
    n = np.array([10**8] * 100 + [10**9 - 1, 1])
    labels = _group(f"dbscan(min_samples={10**9}, sample=101)", X, n)
    assert set(labels[:100]) == {0}
    assert labels[100] == 1
    assert labels[101] == 0


def test_the_key_decides_on_the_sample() -> None:
    X, n = _weighted(9, m=300)
    first, again = (_group("ward(clusters=20, sample=60)", X, n, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert any(not _same_partition(first, _group("ward(clusters=20, sample=60)", X, n, seed=s)) for s in range(3))
    whole = _group("ward(clusters=20)", X, n)
    np.testing.assert_array_equal(whole, _group("ward(clusters=20, sample=300)", X, n))


@each(
    ("text", "says"),
    [
        ("dbscan(eps=-1)", "dbscan, eps: must be a number from"),
        ("dbscan(eps=0)", "dbscan, eps: must be a number from"),
        ("dbscan(eps=nan)", "dbscan, eps: must be a number from"),
        ("dbscan(eps=inf)", "dbscan, eps: must be a number from"),
        ("dbscan(eps=much)", "dbscan, eps: must be a number from"),
        ("dbscan(min_samples=0)", "min_samples: must be a whole number of at least 1"),
        ("dbscan(min_samples=2.5)", "min_samples: must be a whole number of at least 1"),
        ("dbscan(sample=12001)", "sample: must be a whole number from 0 to 12000"),
        ("dbscan(clusters=5)", "'clusters' is not a parameter here"),
        ("ward(foo=1)", "'foo' is not a parameter here"),
        ("ward(column=both)", "Did you mean 'columns'"),
        ("single(clusters=0)", "clusters: must be a whole number of at least 1"),
        ("complete(sample=-1)", "sample: must be a whole number from 0 to 20000"),
        ("average(sample=20001)", "sample: must be a whole number from 0 to 20000"),
        ("ward(clusters=2, clusters=3)", "'clusters' must be given once"),
        ("ward(2)", "reads name=value"),
        ("wards", "Did you mean 'ward'"),
        ("mdav(columns=)", "columns: must be numeric, nominal, both"),
        ("mdav(columns=numeric+)", "columns: must be numeric, nominal, both"),
        ("mdav(columns=nominel)", "Did you mean 'nominal'"),
        ("mdav(columns=1)", "columns: must be text"),
    ],
)
def test_what_is_written_wrong_is_refused(text: str, says: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse(text, "safe, algorithm")
    assert says in str(caught.value)


@each(
    ("text", "passes"),
    [
        ("mdav", PASSES),
        ("mdav(columns=both)", ("both",)),
        ("kmeans++(columns=both+numeric, clusters=5)", ("numeric", "both")),
        ("ward(clusters=5, columns=nominal + nominal)", ("nominal",)),
        ("dbscan(eps=2, columns=numeric+nominal+both)", PASSES),
    ],
)
def test_columns_says_on_which_passes_an_algorithm_runs(text: str, passes: tuple[str, ...]) -> None:
    algorithm = parse(text, "safe")
    assert algorithm.passes == passes
    assert "columns" not in algorithm.values
    assert algorithm.text == text
    assert algorithm.group(BLOBS, np.full(6, 3), 3, np.random.default_rng(1), _quiet)[2].sum() == 18


# Grouping methods of whole records


@each("name", sorted(algorithms._kernels()))
def test_every_grouping_method_of_records_is_an_algorithm(name: str) -> None:
    """Rows of several records are repeated: what comes back is the partition that the method makes of the records."""
    rng = np.random.default_rng(3)
    X, n, k = rng.normal(size=(25, 1)), rng.integers(1, 4, 25), 4
    found = parse(name, "safe").group(X, n, k, np.random.default_rng(1), _quiet)
    np.testing.assert_array_equal(np.bincount(found.row, found.records, len(X)), n)
    assert np.bincount(found.label, found.records).min() >= k
    assert len(set(zip(found.row, found.label, strict=True))) == len(found.row)
    labels = find(name).group(np.repeat(X, n, axis=0), np.random.default_rng(1), _quiet, k=k).labels
    pairs = Counter(zip(np.repeat(np.arange(25), n).tolist(), labels.tolist(), strict=True))
    assert pairs == {(r, g): c for r, g, c in zip(*(a.tolist() for a in found[:3]), strict=True)}


def test_methods_take_their_parameters_and_their_notes_are_passed_on() -> None:
    asked = {}

    @method("halves-2", stage="group", engine="numpy", promise="record", source="test")
    def halves(
        X: np.ndarray,
        rng: np.random.Generator,
        tick: Tick,
        *,
        k: Annotated[int, Param("Smallest group.", min=2)] = 3,
        swap: Annotated[bool, Param("Number the upper half first.")] = False,
        cut: Annotated[float, Param("Where to cut.", min=0, max=1)] = 0.5,
    ) -> Grouping:
        """Cut the records in two."""
        asked.update(k=k, swap=swap, cut=cut)
        return Grouping((np.arange(len(X)) >= cut * len(X)).astype(np.int64) ^ swap, ("cut in two",))

    try:
        found = parse("halves-2(swap=true, cut=0.25, columns=both)", "safe").group(
            np.arange(4.0)[:, None], np.full(4, 3), 3, np.random.default_rng(0), _quiet
        )
        assert asked == {"k": 3, "swap": True, "cut": 0.25}
        assert [part.tolist() for part in found[:3]] == [[0, 1, 2, 3], [1, 0, 0, 0], [3, 3, 3, 3]]
        assert found.notes == ("cut in two",)
        for text, says in (
            ("halves-2(k=4)", "'k' is not a parameter here"),
            ("halves-2(cut=2)", "cut: must be a number from 0 to 1"),
            ("halves-2(swap=1)", "swap: must be true or false"),
            ("halve-2", "Did you mean 'halves-2'"),
        ):
            with pytest.raises(ParameterError) as caught:
                parse(text, "safe")
            assert says in str(caught.value)
    finally:
        registry.METHODS.remove("halves-2")


@each("name", ["individual-ranking", "safe", "split-group"])
def test_methods_of_single_columns_are_no_algorithms(name: str) -> None:
    with pytest.raises(ParameterError, match="is no algorithm"):
        parse(name, "safe")


@pytest.mark.parametrize(("name", "package"), NEEDS.items())
def test_a_missing_package_is_named_with_its_extra(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [module for module in sys.modules if module.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    shown = {"sklearn": "scikit-learn", "scipy": "SciPy"}[package]
    with pytest.raises(ParameterError, match=rf"{name}: needs {shown}, .* pip install 'sqlmicro\[clustering\]'"):
        parse(name, "safe, algorithm")
    assert parse("kmeans++", "safe").name == "kmeans++"
    assert parse("mdav", "safe").name == "mdav"
