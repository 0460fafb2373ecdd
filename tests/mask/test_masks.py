"""Sampling, coding of tails, PRAM, pseudonyms, partial masking and constants, held to their definitions."""

from __future__ import annotations

import hmac
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from world import refused, release, warehouse

import sqlmicro
from sqlmicro import InputError, ParameterError
from sqlmicro.mask.pram import read_matrix

# Sampling


@pytest.mark.slow
def test_a_sample_has_exactly_its_size_and_proportional_strata(workbench: Any) -> None:
    land = ["a"] * 510 + ["b"] * 332 + ["c"] * 155 + ["d"] * 3
    db = workbench.make({"i": ("INTEGER", range(1000)), "land": ("VARCHAR", land)})
    release = workbench.release("sample", db, size=97, by=["land"], rest="keep", weight_column="w", seed="s")
    # Quotas 49.47, 32.204, 15.035, 0.291: one record is left over, for the remainder 0.47.
    assert Counter(release.columns["land"]) == {"a": 50, "b": 32, "c": 15}
    assert len(set(release.columns["i"])) == 97
    weights = {"a": 510 / 50, "b": 332 / 32, "c": 155 / 15}
    assert release.columns["w"] == [weights[land] for land in release.columns["land"]]
    assert sum(release.columns["w"]) == pytest.approx(997), "the strata that are represented"
    assert any("1 strata are too small" in note for note in release.report["notes"])
    half = workbench.release("sample", db, fraction=0.0005, rest="keep", seed="s")
    assert half.rows == 1, "halves are rounded upward"
    assert workbench.release("sample", db, fraction=1.0, rest="keep", seed="s").rows == 1000


def test_every_record_is_drawn_equally_often(workbench: Any) -> None:
    """Chi-square of the inclusion frequencies of 50 records over 400 strata that are drawn alike, and of neighbours."""
    from scipy import stats

    n, size, strata = 50, 10, 400
    db = workbench.make({"i": ("INTEGER", range(n * strata)), "g": ("INTEGER", [i // n for i in range(n * strata)])})
    release = workbench.release("sample", db, size=size * strata, by=["g"], rest="keep", seed="s")
    drawn = np.zeros(n * strata)
    drawn[release.columns["i"]] = 1
    drawn = drawn.reshape(strata, n)
    assert (drawn.sum(axis=1) == size).all()
    # Without replacement the sum of squares over strata p (1 - p) has n - 1 degrees of freedom, times (n - 1) / n.
    p = size / n
    statistic = ((drawn.sum(axis=0) - strata * p) ** 2 / (strata * p * (1 - p))).sum() * (n - 1) / n
    assert 1e-4 < stats.chi2.sf(statistic, n - 1) < 1 - 1e-4
    pairs = (drawn[:, :-1] * drawn[:, 1:]).mean()
    expected = p * (size - 1) / (n - 1)
    assert abs(pairs - expected) < 5 * np.sqrt(expected / (strata * (n - 1)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs one of"),
        ({"size": 3, "fraction": 0.1}, "both"),
        ({"size": 11}, "1 to 10 records"),
        ({"fraction": 0.0}, "1 to 10 records"),
        ({"fraction": -0.1}, "from 0 to 1"),
        ({"size": 3, "weight_column": "I"}, "a name that the table does not have"),
    ],
)
def test_samples_that_cannot_be_are_refused(workbench: Any, options: dict[str, Any], message: str) -> None:
    db = workbench.make({"i": ("INTEGER", range(10))})
    with refused(message, db):
        workbench.release("sample", db, rest="keep", **options)


# Tails

INCOMES: list[int | None] = [10, 20, 20, 30, 40, 50, 50, 60, None, 90]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "settings", "expected"),
    [
        ("top-code", {"value": 50}, [10, 20, 20, 30, 40, 50, 50, 50, None, 50]),
        ("top-code", {"count": 3}, [10, 20, 20, 30, 40, 50, 50, 50, None, 50]),
        ("top-code", {"quantile": 0.5}, [10, 20, 20, 30, 40, 40, 40, 40, None, 40]),
        ("top-code", {"count": 4, "replacement": "mean"}, [10, 20, 20, 30, 40, 62, 62, 62, None, 62]),
        ("top-code", {"count": 4, "replacement": "median"}, [10, 20, 20, 30, 40, 55, 55, 55, None, 55]),
        ("top-code", {"value": 45.5}, [10, 20, 20, 30, 40, 45.5, 45.5, 45.5, None, 45.5]),
        ("bottom-code", {"value": 25}, [25, 25, 25, 30, 40, 50, 50, 60, None, 90]),
        ("bottom-code", {"count": 2}, [20, 20, 20, 30, 40, 50, 50, 60, None, 90]),
        ("bottom-code", {"quantile": 0.3, "replacement": "mean"}, [17] * 3 + [30, 40, 50, 50, 60, None, 90]),
        (
            "top-code",
            {"value": 50, "replacement": "label", "label": "50+"},
            ["10", "20", "20", "30", "40", "50+", "50+", "50+", None, "50+"],
        ),
    ],
)
def test_tails_are_coded(workbench: Any, method: str, settings: dict[str, Any], expected: list[Any]) -> None:
    db = workbench.make({"i": ("INTEGER", range(10)), "x": ("INTEGER", INCOMES)})
    release = workbench.release(method, db, columns=["x"], rest="keep", seed="s", **settings)
    found = dict(release.records(["i", "x"]))
    assert [found[i] for i in range(10)] == expected
    with duckdb.connect(db, read_only=True) as connection:
        kind = connection.execute(f"SELECT typeof(x) FROM {release.report['target']} LIMIT 1").fetchall()[0][0]
    becomes = settings.get("replacement", "threshold")
    kinds = {"threshold": "DECIMAL(11,1)" if 45.5 in expected else "INTEGER", "label": "VARCHAR"}
    assert kind == kinds.get(becomes, "INTEGER")  # means and medians of whole numbers are rounded, halves to even ones


def test_tails_of_strata_and_of_dates(workbench: Any) -> None:
    born = [f"19{year}-05-01" for year in range(40, 60)]
    db = workbench.make({"born": ("DATE", born), "sex": ("VARCHAR", ["f", "m"] * 10)})
    release = workbench.release("bottom-code", db, columns=["born"], by=["sex"], count=3, seed="s")
    smallest = {sex: min(str(b) for b, s in release.records(["born", "sex"]) if s == sex) for sex in "fm"}
    assert smallest == {"f": "1944-05-01", "m": "1945-05-01"}
    assert sum(str(b) == "1944-05-01" for b in release.columns["born"]) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"value": 60}, r"tail of 'x' must have at least k = 3 records. Got 2"),
        ({"value": 1000}, "Got 0"),
        ({"count": 4, "k": 5}, "k = 5"),
        ({"count": 11}, "Got 0"),
        ({}, "needs one of"),
        ({"value": 1, "count": 3}, "--value and --count"),
        ({"count": 3, "label": "x"}, "--label goes with"),
        ({"count": 3, "replacement": "label"}, "--label goes with"),
        ({"quantile": 1.5}, "from 0 to 1"),
        ({"count": 0}, "at least 1"),
    ],
)
def test_tails_that_cannot_be_are_refused(workbench: Any, settings: dict[str, Any], message: str) -> None:
    db = workbench.make({"x": ("INTEGER", INCOMES)})
    with refused(message, db):
        workbench.release("top-code", db, columns=["x"], **settings)


# PRAM

TOWNS, SHARES = ["a", "b", "c", "d"], [0.5, 0.3, 0.15, 0.05]
MATRIX = [[0.7, 0.1, 0.1, 0.1], [0.0, 1.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.6, 0.4]]
N = 100_000


def _towns() -> list[str | None]:
    drawn = np.random.default_rng(5).choice(TOWNS, N, p=SHARES).tolist()
    return [None if i % 100 == 0 else town for i, town in enumerate(drawn)]


def _changes(workbench: Any, db: str, **options: Any) -> np.ndarray:
    """Return how often every category became which (4, 4)."""
    release = workbench.release("pram", db, columns=["town"], rest="keep", seed="s", **options)
    towns = _towns()
    counts = Counter((towns[i], town) for i, town in release.records(["i", "town"]))
    assert counts.pop((None, None)) == N // 100
    found = np.array([[counts.pop((a, b), 0) for b in TOWNS] for a in TOWNS])
    assert not counts
    return found


def _check_matrix(found: np.ndarray, expected: np.ndarray) -> None:
    from scipy import stats

    assert (found[expected == 0] == 0).all(), "what is impossible never happens"
    for row, probabilities in zip(found, expected, strict=True):
        possible = probabilities > 0
        if possible.sum() > 1:
            assert stats.chisquare(row[possible], row.sum() * probabilities[possible]).pvalue > 1e-4


@pytest.fixture(scope="module")
def towns(workbench: Any) -> str:
    """Return a table of N towns."""
    return str(workbench.make({"i": ("INTEGER", range(N)), "town": ("VARCHAR", _towns())}))


@pytest.mark.slow
def test_values_change_as_the_matrix_says(workbench: Any, towns: str, tmp_path: Path) -> None:
    _check_matrix(_changes(workbench, towns, keep_probability=0.7), np.full((4, 4), 0.1) + 0.6 * np.eye(4))
    assert (_changes(workbench, towns, keep_probability=1.0) > 0).sum() == 4
    csv, toml = tmp_path / "m.csv", tmp_path / "m.toml"
    csv.write_text(
        ",a,b,c,d\n" + "".join(f"{t},{','.join(map(str, row))}\n" for t, row in zip(TOWNS, MATRIX, strict=True))
    )
    lines = [
        f"[transitions.{t}]\n" + "".join(f"{u} = {p}\n" for u, p in zip(TOWNS, row, strict=True) if p)
        for t, row in zip(TOWNS, MATRIX, strict=True)
    ]
    toml.write_text("\n".join(lines))
    found = _changes(workbench, towns, matrix=str(csv))
    _check_matrix(found, np.array(MATRIX))
    assert (_changes(workbench, towns, matrix=str(toml)) == found).all()


@pytest.mark.slow
def test_invariant_pram_keeps_the_expected_margin(workbench: Any, towns: str, tmp_path: Path) -> None:
    """Two stages: R = PQ with Q_jl = P_lj t_l / (tP)_j; then t R = t."""
    t = np.array([Counter(_towns())[town] for town in TOWNS], dtype=float)
    file = tmp_path / "m.csv"
    file.write_text(
        ",a,b,c,d\n" + "".join(f"{u},{','.join(map(str, row))}\n" for u, row in zip(TOWNS, MATRIX, strict=True))
    )
    P = np.array(MATRIX)
    R = P @ (P.T * t / (t @ P)[:, None])
    assert t @ R == pytest.approx(t)
    found = _changes(workbench, towns, matrix=str(file), invariant=True)
    _check_matrix(found, R)
    errors = np.sqrt((t[:, None] * R * (1 - R)).sum(axis=0))
    assert (np.abs(found.sum(axis=0) - t) <= 5 * errors).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",a,b\na,0.5,0.5\nb,0.5,0.6\n", "add up to 1"),
        (",a,b\na,0.5,0.5\n", "must be CSV with a header"),
        (",a,b\na,0.5,x\nb,0,1\n", "must be CSV with a header"),
        (",a,b\na,1.5,-0.5\nb,0,1\n", "add up to 1"),
        (",a,b,c\na,1,0,0\nb,0,1,0\nc,0,0,1\n", "Got 1 values, of"),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused_with_counts_only(
    workbench: Any, towns: str, tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "m.csv"
    file.write_text(text)
    with refused(message) as no:
        workbench.release("pram", towns, columns=["town"], matrix=str(file), rest="keep")
    assert "'d'" not in str(no.value)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        workbench.release("pram", towns, columns=["town"], keep_probability=1.1, rest="keep")


# Pseudonyms

KEY = "correct horse battery staple, " * 3


@pytest.mark.slow
def test_pseudonyms_are_hmac_sha_256_and_alike_in_every_table(
    workbench: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    uuid = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
    columns: dict[str, tuple[str, Any]] = {
        "id": ("BIGINT", [7, None, -12]),
        "name": ("VARCHAR", ["Zoë", "", None]),
        "born": ("DATE", ["1980-02-29", None, "0044-03-15"]),
        "card": ("UUID", [uuid, None, uuid]),
        "kind": ("ENUM('x', 'y')", ["y", "x", None]),
        "seen": ("INTEGER", [1, 2, 3]),
    }
    names = [name for name in columns if name != "seen"]
    texts = {
        "id": ["7", None, "-12"],
        "card": [uuid, None, uuid],
        **{n: columns[n][1] for n in ("name", "born", "kind")},
    }
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    db = workbench.make(columns)
    release = workbench.release("pseudonymise", db, columns=names, rest="keep", seed="s")
    order = [release.columns["seen"].index(seen) for seen in (1, 2, 3)]
    for name in names:
        expected = [t if t is None else hmac.new(KEY.encode(), t.encode(), sha256).hexdigest() for t in texts[name]]
        assert [release.columns[name][i] for i in order] == expected, name
    assert release.report["quasi"] == ["seen"], "a pseudonym is no quasi-identifier"
    visits = workbench.make({"person": ("INTEGER", [7, 7]), "visit": ("INTEGER", [1, 2])})
    file = tmp_path / "key"
    file.write_text(KEY + "\n")
    monkeypatch.delenv("SQLMICRO_PSEUDONYM_KEY")
    with pytest.raises(ParameterError, match="a secret key is needed"):
        workbench.release("pseudonymise", visits, columns=["person"], rest="keep")
    other = workbench.release("pseudonymise", visits, columns=["person"], rest="keep", key_file=str(file))
    assert set(other.columns["person"]) == {release.columns["id"][order[0]]}
    file.write_text("too short\n")
    with pytest.raises(ParameterError, match=r"at least 16 bytes\. Got 9") as refused:
        workbench.release("pseudonymise", visits, columns=["person"], rest="keep", key_file=str(file))
    assert "too short" not in str(refused.value)


def test_a_direct_identifier_can_be_pseudonymised_and_the_key_is_nowhere(
    workbench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLMICRO_PSEUDONYM_KEY", KEY)
    db = workbench.make({"id": ("INTEGER", range(300)), "town": ("VARCHAR", ["a", "b"] * 150)})
    report = sqlmicro.pseudonymise("records", db=db, columns=["id"], rest="keep", show_sql=True)
    pads = [bytes(c ^ x for c in sha256(KEY.encode()).digest()) for x in (0x36, 0x5C)]
    for secret in (KEY, *(pad.hex() for pad in pads), *(repr(pad)[2:-1] for pad in pads)):
        assert secret not in report["sql"]
    sqlmicro.pseudonymise("records", db=db, columns=["id"], rest="keep")
    content = Path(db).read_bytes()
    assert KEY.encode() not in content
    assert not any(pad in content for pad in pads)


# Partial masking and constants


def test_the_ends_of_a_value_are_shown_and_short_values_hidden(workbench: Any) -> None:
    cards = ["4111111111111111", "123", "1234", None, "12345"]
    db = workbench.make(
        {"i": ("INTEGER", range(5)), "card": ("VARCHAR", cards), "number": ("INTEGER", [12345, 1, 99, None, -7])}
    )
    release = workbench.release("partial", db, columns=["card", "number"], keep_last=4, rest="keep", seed="s")
    found = dict(zip(release.columns["i"], release.records(["card", "number"]), strict=True))
    assert [found[i][0] for i in range(5)] == ["************1111", "***", "****", None, "*2345"]
    assert [found[i][1] for i in range(5)] == ["*2345", "*", "**", None, "**"]
    with pytest.raises(ParameterError, match="one character"):
        workbench.release("partial", db, columns=["card"], character="", rest="keep")
    with pytest.raises(ParameterError, match="at least 0"):
        workbench.release("partial", db, columns=["card"], keep_last=-1, rest="keep")


def test_a_column_of_nothing_keeps_its_type(workbench: Any, tmp_path: Path) -> None:
    kinds = {"a": "VARCHAR", "b": "DATE", "c": "DECIMAL(9,2)", "d": "TIMESTAMP", "e": "BOOLEAN", "f": "UUID"}
    db = workbench.make({name: (kind, [None] * 3) for name, kind in kinds.items()})
    release = workbench.release("constant", db, columns=list(kinds))
    sqlmicro.constant("records", db=db, columns=list(kinds), to=str(tmp_path / "c.parquet"))
    with duckdb.connect(db, read_only=True) as connection:
        described = connection.execute(f"DESCRIBE {release.report['target']}").fetchall()
        in_file = connection.execute(f"DESCRIBE SELECT * FROM '{tmp_path / 'c.parquet'}'").fetchall()
    assert {row[0]: row[1] for row in described} == kinds
    assert {row[0]: row[1] for row in in_file} == kinds


@pytest.mark.slow
def test_one_job_masks_a_whole_table(tmp_path: Path, workbench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps on other columns and on the same: each draws numbers of its own."""
    rng = np.random.default_rng(6)
    db = workbench.make(
        {
            "id": ("INTEGER", range(5000)),
            "card": ("VARCHAR", [f"{i:016d}" for i in range(5000)]),
            "income": ("DOUBLE", rng.normal(0, 1, 5000).tolist()),
            "number": ("INTEGER", range(5000)),
        }
    )
    monkeypatch.delenv("SQLMICRO_PSEUDONYM_KEY", raising=False)
    (tmp_path / "secret").write_text(KEY)
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nkeep = ["number"]\naccept_unique = ["number"]\nseed = "s"\n'
        '[[step]]\ndo = "pseudonymise"\ncolumns = ["id"]\nkey_file = "secret"\n'
        '[[step]]\ndo = "partial"\ncolumns = ["card"]\nkeep_last = 4\n'
        '[[step]]\ndo = "noise"\nkind = "uncorrelated"\namount = 1.0\ncolumns = ["income"]\n'
        '[[step]]\ndo = "noise"\nkind = "uncorrelated"\namount = 1.0\ncolumns = ["income"]\n'
        '[[step]]\ndo = "sample"\nsize = 4000\n'
        '[[step]]\ndo = "publish"\ninto = "release"\n'
    )
    report = sqlmicro.run(str(job))
    assert report["rows"] == 4000
    found = workbench.read(db, "release")
    income = np.array(workbench.read(db, "records")["income"])[found["number"]]
    # Variances 1, 1 and 2 = 1 + 1 of what is there by then. Were both noises alike but for their scale, it would be
    # 1 + (1 + sqrt(2))² = 6.8.
    assert np.var(np.array(found["income"])) == pytest.approx(4, rel=0.15)
    assert np.corrcoef(found["income"], income)[0, 1] == pytest.approx(0.5, abs=0.07)


@pytest.mark.slow
def test_inputs_of_the_wrong_type(workbench: Any) -> None:
    db = workbench.make({"x": ("DOUBLE", [1.0, 2.0]), "t": ("TIMESTAMP", ["2020-01-01", "2020-01-02"])})
    for method, settings in (("pram", {"keep_probability": 0.5}), ("partial", {}), ("pseudonymise", {})):
        for column in ("x", "t"):
            with pytest.raises(InputError, match="works on"):
                workbench.release(method, db, columns=[column], rest="keep", **settings)


def test_halves_of_a_sample_are_rounded_upward(tmp_path: Path) -> None:
    warehouse(tmp_path, persons={"i": ("INTEGER", range(3))})
    assert release("sample", tmp_path, fraction=0.5, keep=["i"], accept_unique=["i"])["rows"] == 2


@pytest.mark.parametrize("row", ["0.5,0.4", "0.5,0.6", "1.5,-0.5"])
def test_rows_of_a_matrix_are_probabilities(tmp_path: Path, row: str) -> None:
    (tmp_path / "m.csv").write_text(f",a,b\na,{row}\nb,0.5,0.5\n")
    with pytest.raises(ParameterError, match="add up to 1"):
        read_matrix(str(tmp_path / "m.csv"), "pram, matrix")
