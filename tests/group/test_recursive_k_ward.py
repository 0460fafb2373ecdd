"""Recursive k-Ward: when it divides, by hand; its groups against a naive implementation; the saving it is for."""

from __future__ import annotations

import re
from typing import Any

import naive_ward as naive
import numpy as np
import pytest

from sqlmicro.group.k_ward import ward_groups
from sqlmicro.group.recursive_k_ward import recursive_k_ward
from sqlmicro.registry import Grouping, silent


def group(X: np.ndarray, k: int, **settings: Any) -> Grouping:
    found: Grouping = recursive_k_ward(X, np.random.default_rng(0), silent, k=k, **settings)
    return found


def counted(found: Grouping) -> tuple[int, int]:
    """Return the number of parts and of distances computed, as the note says."""
    match = re.match(r"k-Ward in ([\d,]+) parts? computed ([\d,]+) distances", found.notes[0])
    assert match is not None, found.notes
    parts, distances = (int(text.replace(",", "")) for text in match.groups())
    return parts, distances


def naive_parts(X: np.ndarray, rows: list[int], k: int, parts: int, theta: float, below: bool) -> list[list[int]]:
    """Divide as the definition reads, along the first principal component."""
    Z = X[rows] - X[rows].mean(axis=0)
    whole = (Z**2).mean(axis=0).sum()
    if len(rows) // parts < 2 * k * parts or whole == 0:
        return [rows]
    direction = np.linalg.svd(Z)[2][0]
    direction = direction * np.sign(direction[np.argmax(np.abs(direction))])
    along = dict(zip(rows, Z @ direction, strict=True))
    in_order = sorted(rows, key=lambda row: (along[row], row))
    size, larger = divmod(len(rows), parts)
    pieces = []
    for part in range(parts):
        end = size + (part < larger)
        pieces.append(sorted(in_order[:end]))
        in_order = in_order[end:]
    ratio = sum(((X[piece] - X[piece].mean(axis=0)) ** 2).mean(axis=0).sum() for piece in pieces) / whole
    if (ratio < theta) != below:
        return [rows]
    return [leaf for piece in pieces for leaf in naive_parts(X, piece, k, parts, theta, below)]


def test_when_to_divide_by_hand() -> None:
    """0..15: Var = (16² - 1)/12 = 21.25, of each half (8² - 1)/12 = 5.25, V = 10.5/21.25 = 0.494.

    Each half has 8 = 2kJ records at k = J = 2; the quarters would have 4, so it ends there.
    """
    x = np.arange(16.0)[:, None]
    assert [counted(group(x, 2, theta=theta))[0] for theta in (0.0, 0.49, 0.5)] == [2, 2, 1]
    assert [counted(group(x, 2, theta=theta, direction="below"))[0] for theta in (0.49, 0.5, 9.0)] == [1, 2, 2]
    two = np.repeat([0.0, 1.0], 8)[:, None]
    assert counted(group(two, 2, theta=0.0))[0] == 2, "V = 0 is at least 0"
    assert counted(group(two, 2, theta=0.0, direction="below"))[0] == 1, "and not below it"
    assert counted(group(x[:15], 2, theta=0.0))[0] == 1, "a part would have 7 records"
    assert counted(group(x, 3, theta=0.0))[0] == 1
    assert counted(group(np.full((64, 2), 0.1), 2, theta=0.0))[0] == 1, "constant records are not divided"


def test_two_clusters_are_told_apart_by_a_small_ratio() -> None:
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(0, 1, (12, 2)), rng.normal(1000, 1, (12, 2))])[rng.permutation(24)]
    assert counted(group(X, 3, theta=0.1, direction="below"))[0] == 2
    assert counted(group(X, 3, theta=0.1, direction="at-least"))[0] == 1


@pytest.mark.parametrize("p", [1, 2, 5])
@pytest.mark.parametrize(("k", "parts", "theta", "direction"), [(2, 2, 0.5, "at-least"), (2, 3, 0.6, "below")])
def test_groups_are_the_naive_ones(p: int, k: int, parts: int, theta: float, direction: str) -> None:
    rng = np.random.default_rng(p)
    join = naive.neighbours_joined if p == 1 else naive.chain_joined
    for X in (
        rng.normal(size=(60, p)),
        np.exp(rng.normal(size=(49, p))) + 1e6,
        rng.integers(0, 4, (50, 1)) * np.ones(p),
    ):
        labels = group(X, k, parts=parts, theta=theta, direction=direction).labels
        found = {frozenset(np.flatnonzero(labels == label).tolist()) for label in range(labels.max() + 1)}
        expected = set()
        leaves = naive_parts(X, list(range(len(X))), k, parts, theta, direction == "below")
        for leaf in leaves:
            inside = naive.k_ward(X[leaf], k, join)
            expected |= {frozenset(np.array(leaf)[inside == label].tolist()) for label in range(inside.max() + 1)}
        assert found == expected
        firsts = [int(np.flatnonzero(labels == label)[0]) for label in range(labels.max() + 1)]
        assert firsts == sorted(firsts), "groups are numbered by their lowest row"


def test_the_saving_of_the_source(data_folder: Any) -> None:
    """More than 90 % fewer computations than k-Ward on all records, its authors report; the price is measured too."""
    X = np.genfromtxt(data_folder / "tarragona.csv", delimiter=",", skip_header=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    labels, distances = ward_groups(X, 3)
    found = group(X, 3, theta=0.5)
    assert counted(found)[1] < 0.1 * distances
    assert naive.sse(X, labels) < naive.sse(X, found.labels) < 1.5 * naive.sse(X, labels)


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    X = np.random.default_rng(0).normal(size=(300, 2))
    recursive_k_ward(X, np.random.default_rng(0), lambda done, total, best="": told.append((done, total)))
    assert told[-1] == (300, 300)
    assert told == sorted(told)
