"""Disclosure audits against pycanon: agreement where it is right, and our figure worked by hand where it is not.

pycanon pins old versions of half a dozen libraries that these functions do not use, and is installed without them.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from .conftest import Audit

pd = pytest.importorskip("pandas", reason="pip install 'sqlmicro[test]'")
pycanon = pytest.importorskip("pycanon.anonymity", reason="pip install --no-deps pycanon==1.3.6")

pytestmark = pytest.mark.filterwarnings("ignore:In a future version")
Figures = dict[str, float]
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
MEASURES = (
    "k-anonymity", "l-diversity", "entropy-l-diversity", "recursive-l-diversity", "t-closeness", "alpha-k-anonymity",
    "beta-likeness",
)  # fmt: skip


def theirs(frame: Any, quasi: list[str], sensitive: str) -> Figures:
    return {
        "k-anonymity": pycanon.k_anonymity(frame, quasi),
        "l-diversity": pycanon.l_diversity(frame, quasi, [sensitive]),
        "t-closeness": pycanon.t_closeness(frame, quasi, [sensitive]),
        "alpha-k-anonymity": pycanon.alpha_k_anonymity(frame, quasi, [sensitive])[0],
        "beta-likeness": pycanon.basic_beta_likeness(frame, quasi, [sensitive]),
    }


def ours(audit: Audit, frame: Any, quasi: list[str], sensitive: str, **options: Any) -> Figures:
    numeric = pd.api.types.is_numeric_dtype(frame[sensitive])
    types = {c: "DOUBLE" if pd.api.types.is_numeric_dtype(frame[c]) else "VARCHAR" for c in frame.columns}
    rows = [
        tuple(None if pd.isna(value) else value for value in row) for row in frame.itertuples(index=False, name=None)
    ]
    scale = {"numeric" if numeric else "nominal": (sensitive,)}
    found = audit({"release": (types, rows)}, MEASURES, quasi=tuple(quasi), sensitive=(sensitive,), **scale, **options)
    return {name: result["value"] for name, (result,) in found.items()}


def agree(ours: Figures, theirs: Figures) -> bool:
    return all(ours[name] == pytest.approx(value, abs=1e-12) for name, value in theirs.items())


def random_frame(seed: int, numbers: bool) -> Any:
    rng = random.Random(seed)
    n = rng.randint(2, 40)
    sensitive = [7.0, 7.5, 9.0, 20.0] if numbers else ["flu", "cold", "none"]
    return pd.DataFrame({
        "a": [rng.choice(["x", "y"]) for _ in range(n)],
        "b": [rng.choice([1.0, 2.0, 3.0]) for _ in range(n)],
        "s": [*sensitive[:2], *(rng.choice(sensitive) for _ in range(n - 2))],
    })  # fmt: skip


@pytest.mark.slow_but("0-nominal", "1-numeric")
@pytest.mark.parametrize("numbers", [False, True], ids=["nominal", "numeric"])
@pytest.mark.parametrize("seed", range(5))
def test_small_frames(audit: Audit, seed: int, numbers: bool) -> None:
    frame = random_frame(seed, numbers)
    assert agree(ours(audit, frame, ["a", "b"], "s"), theirs(frame, ["a", "b"], "s"))


@pytest.mark.parametrize("sensitive", ["hhcivil", pytest.param("age", marks=pytest.mark.slow)])
def test_the_survey(audit: Audit, data_folder: Path, sensitive: str) -> None:
    frame = pd.read_csv(data_folder / "testdata.csv")[[*KEYS, sensitive]].head(300)
    if sensitive == "hhcivil":
        frame[sensitive] = frame[sensitive].astype(str)
    assert agree(ours(audit, frame, KEYS, sensitive), theirs(frame, KEYS, sensitive))


SHUFFLED = pd.DataFrame(
    {"a": ["x", "x", "x", "y", "y", "y"], "s": ["c", "d", "e", "c", "c", "d"]}, index=[3, 4, 5, 0, 1, 2]
)
"""Class x has c, d, e once each, class y has c twice and d once."""


def test_a_shuffled_index_leads_it_astray(audit: Audit) -> None:
    """It takes labels of the index for positions, so that it looks at y for x.

    c has 3/6 of the whole, d 2/6, e 1/6. Class x has c, d, e by 1/3 each: t = (e) 1/3 - 1/6 = 1/6, gain of e
    (1/3)/(1/6) - 1 = 1. Class y has c by 2/3, d by 1/3: t = 2/3 - 1/2 = 1/6, gain of c 1/3, alpha 2/3.
    """
    by_hand = {
        "k-anonymity": 3, "l-diversity": 2, "t-closeness": 1 / 6, "alpha-k-anonymity": 2 / 3, "beta-likeness": 1,
    }  # fmt: skip
    assert agree(ours(audit, SHUFFLED, ["a"], "s"), by_hand)
    assert agree(by_hand, theirs(SHUFFLED.reset_index(drop=True), ["a"], "s"))
    # Classes of two sizes: what it takes for x is then a part of both.
    uneven = pd.DataFrame({"a": ["x", "x", "y", "y", "y"], "s": ["c", "c", "d", "e", "c"]}, index=[2, 1, 0, 4, 3])
    found = ours(audit, uneven, ["a"], "s")
    # x has c only: l = 1, alpha = 1, t = 1 - 3/5 = 2/5, gain of c 5/3 - 1; y has d by 1/3 of 1/5: gain 2/3 as well.
    by_hand = {"l-diversity": 1, "alpha-k-anonymity": 1, "t-closeness": 2 / 5, "beta-likeness": 2 / 3}
    assert agree(found, by_hand)
    astray = theirs(uneven, ["a"], "s")
    assert {name for name, value in by_hand.items() if astray[name] != pytest.approx(value)} == set(by_hand)


def test_it_drops_records_with_a_missing_key(audit: Audit) -> None:
    """x twice, and NULL once with a value of its own: k is 1, and 2 only where such records are left out."""
    frame = pd.DataFrame({"a": ["x", "x", None], "s": ["c", "d", "e"]})
    assert ours(audit, frame, ["a"], "s")["k-anonymity"] == 1
    assert ours(audit, frame, ["a"], "s", nulls="exclude")["k-anonymity"] == 2
    # Where NULL may be x, three records match the NULL and three match x.
    assert ours(audit, frame, ["a"], "s", nulls="wildcard")["k-anonymity"] == 3
    assert pycanon.k_anonymity(frame, ["a"]) == 2


def test_it_loses_missing_sensitive_values(audit: Audit) -> None:
    """Class x has 1.0 and NULL, class y has 1.0 twice.

    NULL is a value, the largest of two. The whole: 3/4, 1/4; class x: 1/2, 1/2; class y: 1, 0. Both are 1/4 away. In x
    the gain of NULL is (1/2)/(1/4) - 1 = 1, in y that of 1.0 is 1/3.
    """
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "s": [1.0, None, 1.0, 1.0]})
    assert agree(ours(audit, frame, ["a"], "s"), {"t-closeness": 1 / 4, "beta-likeness": 1})
    assert pycanon.t_closeness(frame, ["a"], ["s"]) == pytest.approx(1 / 2)
    with pytest.warns(RuntimeWarning):
        assert pycanon.basic_beta_likeness(frame, ["a"], ["s"]) == pytest.approx(1 / 3)


def test_it_rounds_the_entropy_down_below_a_whole_number(audit: Audit) -> None:
    """Two equally frequent values are an entropy of log 2: l is 2."""
    frame = pd.DataFrame({"a": ["x"] * 2, "s": [f"v{i}" for i in range(2)]})
    assert ours(audit, frame, ["a"], "s")["entropy-l-diversity"] == pytest.approx(2, rel=1e-12)
    assert pycanon.entropy_l_diversity(frame, ["a"], ["s"]) == 1


def test_it_takes_the_rarest_value_for_the_most_frequent(audit: Audit) -> None:
    """Frequencies 4, 1, 1: r1 = 4 < c (r2 + r3) = 2c takes c above 2, but r1 < c (r1 + r2 + r3) does for c = 1.

    With c = 2, l is 1; with c = 2.5, r1 = 4 < 2.5 * 2 gives l = 2. It says that c = 1 does for l = 3.
    """
    frame = pd.DataFrame({"a": ["x"] * 6, "s": ["c", "c", "c", "c", "d", "e"]})
    assert ours(audit, frame, ["a"], "s", c=1.0)["recursive-l-diversity"] == 1
    assert ours(audit, frame, ["a"], "s", c=2.0)["recursive-l-diversity"] == 1
    assert ours(audit, frame, ["a"], "s", c=2.5)["recursive-l-diversity"] == 2
    assert pycanon.recursive_c_l_diversity(frame, ["a"], ["s"]) == (1, 3)
