"""The candidates of SAFE: what is recorded of them, how they are ranked, and what becomes of those that are kept."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest
from conftest import reported
from databases import opened

import sqlmicro
from sqlmicro import AuditFailed, InputError, JobError, ParameterError
from sqlmicro.publish.report import ReleaseReport
from sqlmicro.reports.release_text import release, safe_distance
from sqlmicro.safe_method import groupings, method
from sqlmicro.safe_method.candidates import Candidate
from sqlmicro.safe_method.meter import Cost, Meter
from sqlmicro.system import memory
from sqlmicro.system.memory import peak_memory
from sqlmicro.system.reporting import as_json

USED = ["region", "sex", "age", "income"]


@pytest.fixture
def db(workbench: Any) -> str:
    rng = np.random.default_rng(5)
    n = 60
    path: str = workbench.make({
        "region": ("VARCHAR", rng.choice(["n", "e", "s"], n).tolist()),
        "sex": ("VARCHAR", rng.choice(["f", "m"], n).tolist()),
        "age": ("INTEGER", rng.integers(0, 90, n).tolist()),
        "income": ("DOUBLE", np.exp(rng.normal(7, 1, n)).tolist()),
    })  # fmt: skip
    return path


SETTINGS = {
    "columns": USED, "nominal": ["region", "sex"], "numeric": ["age", "income"], "k": 3, "seed": "1",
    "algorithm": ["kmeans++(clusters=5)", "mdav"], "method": "cluster", "into": "t",
}  # fmt: skip


def _safe(db: str, /, **options: Any) -> dict[str, Any]:
    report: dict[str, Any] = sqlmicro.safe("records", db=db, **{**SETTINGS, **options})
    return report


def _reported(db: str, /, **options: Any) -> ReleaseReport:
    """Return the report as it is before it becomes a dictionary."""
    report: ReleaseReport = reported("safe", "records", db=db, **{**SETTINGS, **options})
    return report


def _query(db: str, sql: str) -> list[tuple[Any, ...]]:
    with opened(db, read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.mark.slow
def test_candidates_are_recorded_with_what_they_cost_and_how_far_they_are(db: str) -> None:
    report = _safe(db, unify_nominal=["mode", "medoid"])
    rows = _query(
        db,
        "SELECT candidate, algorithm, pass, unification, distance, counts, sums, parts, seconds, memory, kept, "
        "released FROM sqlmicro.candidates WHERE release = 1 ORDER BY candidate",
    )
    assert [row[:4] for row in rows] == [
        (2 * i + j + 1, name, which, f"rounded-mean, {how}")
        for i, (name, which) in enumerate(
            (name, which) for name in ("kmeans++(clusters=5)", "mdav") for which in ("numeric", "nominal", "both")
        )
        for j, how in enumerate(("mode", "medoid"))
    ]
    for row, candidate in zip(rows, report["candidates"], strict=True):
        assert row[4:7] == (candidate["distance"], candidate["counts"], candidate["sums"])
        parts = json.loads(row[7])
        assert set(parts) == {"1", "2", "all"}
        # Of two columns: two tables of one, one of both; their mean is the count part.
        shares = [parts[order]["count_deviation"] / 120 for order in ("1", "2")]
        assert sum(shares) / 3 == pytest.approx(candidate["counts"], abs=1e-12)
        assert row[8] > 0
        assert row[9] is None or row[9] >= 0
        assert row[10] is None
    assert [row[0] for row in rows if row[11]] == [report["chosen"]]
    chosen = report["candidates"][report["chosen"] - 1]
    assert report["parameters"]["steps"][0]["released"] == {
        name: chosen[name] for name in ("algorithm", "pass", "unification")
    }


def test_memory_is_the_growth_of_the_peak_of_the_process() -> None:
    if peak_memory() is None:
        pytest.skip("needs /proc/self/status, which only Linux has")
    measured = Meter()
    # More than the process ever held, by 64 MB that are really written.
    held = Path("/proc/self/status").read_text(encoding="ascii")
    resident = int(held.partition("VmRSS:")[2].split()[0]) * 1024
    array = np.ones((peak_memory() or 0) - resident + (64 << 20), dtype=np.uint8)
    cost = measured.read()
    assert 60 << 20 < (cost.memory or 0) < 80 << 20
    assert cost.seconds > 0
    del array
    assert Meter().read().memory == 0
    assert Meter(Cost(5.0, 7)).read().seconds > 5


def test_memory_is_unknown_where_the_system_does_not_tell(db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_STATUS", Path("/nowhere/status"))
    assert peak_memory() is None
    found = _reported(db)
    assert {candidate.memory for candidate in found.candidates} == {None}
    monkeypatch.setenv("COLUMNS", "100")
    assert "numeric  kmeans++(clusters=5); rounded-mean, mode" in release(found)


# Weights


@pytest.mark.slow
def test_the_weights_decide_which_candidate_is_nearest(db: str) -> None:
    told = _reported(db, sum_weight=0.0, into="a"), _reported(db, count_weight=0.0, sum_weight=3.0, into="b")
    by_counts, by_sums = map(as_json, told)
    for report, (count, total) in ((by_counts, (1, 0)), (by_sums, (0, 3))):
        for candidate in report["candidates"]:
            assert candidate["distance"] == pytest.approx(
                count * candidate["counts"] + total * candidate["sums"], abs=1e-11
            )
        best = min(report["candidates"], key=lambda c: (c["distance"], c["loss"], c["candidate"]))
        assert report["chosen"] == best["candidate"]
        assert report["safe_parts"]["weights"] == {"counts": count, "sums": total}
    # Those of kmeans++ are drawn, and other settings draw other numbers.
    one, other = (
        [c["counts"] for c in report["candidates"] if not c["algorithm"].startswith("kmeans")]
        for report in (by_counts, by_sums)
    )
    assert one == other != []
    assert "0 × counts" in release(told[1])
    assert "+ 3 × sums" in release(told[1])
    assert "= counts" in release(told[0])
    assert "+ 0 × sums" in release(told[0])


@pytest.mark.slow
def test_weights_of_two_tables(db: str) -> None:
    _safe(db, algorithm=["kmeans++(clusters=2, columns=numeric)"])
    equal = sqlmicro.safe_distance("records", "t", db=db)
    found = reported("safe-distance", "records", "t", db=db, count_weight=2.0, sum_weight=0.5)
    weighted = as_json(found)
    assert equal["counts"] > 0 < equal["sums"]
    assert weighted["distance"] == pytest.approx(2 * equal["counts"] + equal["sums"] / 2, abs=1e-11)
    assert "= 2 × counts" in safe_distance(found)
    assert "+ 0.5 × sums" in safe_distance(found)


def test_a_distance_of_nothing_is_refused(db: str) -> None:
    with pytest.raises(ParameterError, match="count_weight or sum_weight must be above 0"):
        _safe(db, count_weight=0, sum_weight=0)
    with pytest.raises(ParameterError, match="count_weight or sum_weight must be above 0"):
        sqlmicro.safe_distance("records", "records", db=db, count_weight=0, sum_weight=0)
    with pytest.raises(ParameterError, match="count_weight"):
        _safe(db, count_weight=-1.0)


# What is said


def test_the_output_says_what_a_release_tells(db: str) -> None:
    shown = " ".join(release(_reported(db)).split())
    assert "near k may stand for an original" in shown
    assert "known to be true" not in shown
    assert "A candidate is better only if its distance is smaller" in shown


def test_the_bias_of_dropping_is_shown(workbench: Any) -> None:
    """Of 3 x 10, 3 x 20 and one of 940 the last is dropped: 90 of 1030 are left, -91.26 %."""
    db = workbench.make({"x": ("INTEGER", [10] * 3 + [20] * 3 + [940])})
    report = _safe(
        db, columns=["x"], nominal=[], numeric=["x"], algorithm=["kmeans++(clusters=3)"], small_groups="drop", k=2,
    )  # fmt: skip
    (note,) = [note for note in report["notes"] if "dropped" in note]
    assert note.startswith("1 records in groups below k were dropped")
    assert "x -91.26 %" in note
    assert report["safe_parts"]["totals"] == {"before": {"x": 1030.0}, "after": {"x": 90.0}}


# Kept candidates


@pytest.mark.slow_but("False")
@pytest.mark.parametrize("kept", [True, False])
def test_candidates_that_are_not_taken_leave_the_memory(db: str, monkeypatch: pytest.MonkeyPatch, kept: bool) -> None:
    found, take = [], method._take

    def looked(work: Any, cells: Any, candidates: Any, best: Any, k: int, advice: str) -> None:
        names = work.warehouse.query("tables", "SELECT table_name FROM duckdb_tables()")
        parts = [re.fullmatch(r"safe_1_(members|unified|rounded|means|modes_1)_(\d+)", name) for (name,) in names]
        found.append(({(part[1], int(part[2])) for part in parts if part}, best.number, len(candidates)))
        take(work, cells, candidates, best, k, advice)

    monkeypatch.setattr(method, "_take", looked)
    _safe(db, keep_candidates=kept)
    ((tables, best, all_of_them),) = found
    assert all_of_them > 2
    taken = range(1, all_of_them + 1) if kept else [best]
    # age is an INTEGER: its means are rounded, and what was rounded is dropped, as are the means and modes of groups.
    assert tables == {(what, number) for what in ("members", "rounded") for number in taken}


@pytest.mark.slow
def test_kept_candidates_are_tables_beside_the_release(db: str) -> None:
    report = _safe(db, keep_candidates=True)
    kept = [candidate["kept"] for candidate in report["candidates"]]
    assert kept == [f"t_candidate_{number}" for number in range(1, 7)]
    for candidate in report["candidates"]:
        rows = _query(db, f"SELECT * FROM {candidate['kept']}")
        assert len(rows) == 60
        sizes = Counter(map(repr, rows))
        assert min(sizes.values()) == min(
            value for check, value in _query(db, "SELECT \"check\", value FROM sqlmicro.audits")
            if check.startswith(f"candidate {candidate['candidate']}: k-anonymity")
        )  # fmt: skip
        assert sqlmicro.safe_distance(
            "records", candidate["kept"], db=db, nominal=["region", "sex"], numeric=["age", "income"], order=2
        )["distance"] == pytest.approx(candidate["distance"], abs=1e-9)
    chosen = report["candidates"][report["chosen"] - 1]["kept"]
    assert sorted(_query(db, f"SELECT * FROM {chosen}")) == sorted(_query(db, "SELECT * FROM t"))
    checks = [check for (check,) in _query(db, 'SELECT "check" FROM sqlmicro.audits WHERE passed')]
    assert len(checks) == 2 * 7
    assert _query(db, "SELECT kept FROM sqlmicro.candidates ORDER BY candidate") == [(name,) for name in kept]
    assert any("kept beside the release" in note for note in report["notes"])


@pytest.mark.slow
def test_kept_candidates_are_files_beside_the_release(db: str, tmp_path: Path) -> None:
    target = tmp_path / "out.csv.gz"
    report = _safe(db, keep_candidates=True, into=None, to=str(target), algorithm=["mdav"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "out.csv.gz", "out_candidate_1.csv.gz", "out_candidate_2.csv.gz", "out_candidate_3.csv.gz",
    ]  # fmt: skip
    assert [c["kept"] for c in report["candidates"]] == [str(tmp_path / f"out_candidate_{n}.csv.gz") for n in (1, 2, 3)]
    for candidate in report["candidates"]:
        rows = duckdb.sql(f"SELECT * FROM read_csv('{candidate['kept']}')").fetchall()
        assert len(rows) == 60
        assert min(Counter(map(repr, rows)).values()) >= 3


@pytest.mark.slow
def test_what_was_kept_before_is_replaced_only_on_request(db: str, tmp_path: Path, workbench: Any) -> None:
    _safe(db, keep_candidates=True, algorithm=["mdav"])
    before = workbench.relations(db)
    with pytest.raises(InputError, match="must not exist yet"):
        _safe(db, keep_candidates=True, algorithm=["mdav"])
    with opened(db) as connection:
        connection.execute("DROP TABLE t")
    with pytest.raises(InputError, match="'t_candidate_1' must not exist yet"):
        _safe(db, keep_candidates=True, algorithm=["mdav"])
    _safe(db, keep_candidates=True, algorithm=["mdav"], overwrite=True)
    assert workbench.relations(db) == before
    (tmp_path / "out_candidate_1.parquet").write_text("")
    with pytest.raises(InputError, match="must not exist yet"):
        _safe(db, keep_candidates=True, into=None, to=str(tmp_path / "out.parquet"))
    assert [path.name for path in tmp_path.iterdir()] == ["out_candidate_1.parquet"]


@pytest.mark.slow
def test_a_later_candidate_in_the_way_is_found_before_anything_is_written(db: str, workbench: Any) -> None:
    with opened(db) as connection:
        connection.execute("CREATE VIEW t_candidate_3 AS SELECT 1 AS one")
    before = workbench.relations(db)
    for overwrite in (False, True):
        with pytest.raises(InputError, match=r"'t_candidate_3' must not exist yet\. Got a view"):
            _safe(db, keep_candidates=True, algorithm=["mdav"], overwrite=overwrite)
    assert workbench.relations(db) == before


def test_candidates_are_not_kept_in_place(db: str, workbench: Any) -> None:
    before = workbench.relations(db)
    with pytest.raises(ParameterError, match="--keep-candidates: goes with a new table or file"):
        _safe(db, keep_candidates=True, into=None, in_place=True)
    assert workbench.relations(db) == before


def test_a_candidate_that_breaks_its_promise_stops_everything(
    db: str, workbench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Groups below k left as they are: the release itself, by MDAV, is sound, a candidate that is kept is not."""
    monkeypatch.setattr(groupings, "merge_small", lambda X, weights, labels, k: labels)
    options = {"algorithm": ["mdav(columns=both)", "kmeans++(clusters=20, columns=numeric)"], "candidate": 1}
    report = _safe(db, **options)
    assert report["k"] >= 3 > report["candidates"][1]["smallest_group"]
    before = workbench.relations(db)
    with pytest.raises(AuditFailed, match=r"k-anonymity .* needed at least 3"):
        _safe(db, keep_candidates=True, into="u", **options)
    assert workbench.relations(db) == before
    assert _query(db, "SELECT count(*) FROM sqlmicro.releases") == [(1,)]


@pytest.mark.slow
def test_candidates_are_made_at_the_same_time_and_are_the_same_for_any_number_of_threads(
    db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[threading.Thread] = []
    grouped, met = groupings.Maker._grouped, threading.Barrier(2)

    def meet(self: groupings.Maker, *given: Any) -> Any:
        began.append(threading.current_thread())
        if threads == 2 and len(began) <= 2:
            met.wait(20)  # two of them at least, the search aside, have begun before one has ended
        return grouped(self, *given)

    monkeypatch.setattr(groupings.Maker, "_grouped", meet)
    found = {}
    for threads in (1, 2, 8):
        began.clear()
        options = {"method": "best", "invented": 0, "keep_candidates": True, "into": f"t{threads}", "threads": threads}
        report = _safe(db, **options, effort="fast", alone_because="a test")
        kept = [f"_candidate_{number}" for number in range(1, 8) if number != report["chosen"]]
        files = [_query(db, f"SELECT * FROM t{threads}{one} ORDER BY ALL") for one in ("", *kept)]
        measured = [(one["distance"], one["loss"], one["groups"], one["dropped"]) for one in report["candidates"]]
        found[threads] = report["chosen"], measured, files
        assert len(began) == 6
        assert (threading.main_thread() in began) == (threads == 1)
    assert len(found[1][2]) == 7
    assert found[1] == found[2] == found[8]


@pytest.mark.slow
def test_what_is_made_at_the_same_time_fits_into_the_memory_that_one_may_take(
    db: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two candidates of 60 cells and 7 coordinates have 840; what waits has three numbers a cell."""
    together: list[int] = []
    make = groupings._together

    def seen(work: Any, units: Any) -> Any:
        together.append(len(units))
        return make(work, units)

    monkeypatch.setattr(groupings, "_together", seen)
    for most, expected in ((839, [1] * 6), (840, [4, 2]), (10**6, [6])):
        together.clear()
        monkeypatch.setattr(groupings, "COORDINATES_UP_TO", most)
        _safe(db, threads=2, dry_run=True)
        assert together == expected


@pytest.mark.slow
def test_a_dry_run_shows_how_candidates_would_be_kept(db: str, workbench: Any) -> None:
    before = workbench.relations(db)
    report = _safe(db, keep_candidates=True, show_sql=True, algorithm=["mdav"])
    assert workbench.relations(db) == before
    assert {candidate["kept"] for candidate in report["candidates"]} == {None}
    made = [line for line in report["sql"].splitlines() if line.startswith("CREATE TABLE")]
    catalog = Path(db).stem
    kept = ("_candidate_1", "_candidate_2", "_candidate_3", "")
    assert made == [f'CREATE TABLE "{catalog}"."main"."t{behind}" AS' for behind in kept]
    assert report["sql"].count("nothing is published') END\nFROM (") == 4


@pytest.mark.slow
def test_candidates_of_an_earlier_step_are_not_kept(db: str, tmp_path: Path, workbench: Any) -> None:
    def job(*steps: str) -> str:
        path = tmp_path / "job.toml"
        path.write_text(
            f'db = "{db}"\ntable = "records"\nrest = "keep"\naccept_unique = ["age"]\nseed = "1"\n' + "\n".join(steps)
        )
        return str(path)

    safe = '[[step]]\ndo = "safe"\ncolumns = ["region", "sex"]\nk = 3\nkeep_candidates = true\nmethod = "cluster"'
    ranking = '[[step]]\ndo = "individual-ranking"\ncolumns = ["income"]\nk = 3'
    publish = '[[step]]\ndo = "publish"\ninto = "t"'
    before = workbench.relations(db)
    with pytest.raises(JobError, match="goes with the last step that changes records"):
        sqlmicro.run(job(safe, ranking, publish))
    assert workbench.relations(db) == before
    gate = '[[gate]]\nquasi = ["region"]\nmin_k = 4'
    report = sqlmicro.run(job(ranking, safe, gate, publish))
    checks = [check for (check,) in _query(db, 'SELECT "check" FROM sqlmicro.audits')]
    for number in range(1, len(report["candidates"]) + 1):
        assert f"candidate {number}: k-anonymity (region)" in checks
    assert sorted(_query(db, "SELECT income FROM t_candidate_1")) == sorted(_query(db, "SELECT income FROM t"))
    assert _query(db, "SELECT income FROM t_candidate_1") != _query(db, "SELECT income FROM records")


def test_candidates_are_ordered_by_their_distance_and_only_then_by_their_loss() -> None:
    rank = Candidate.__dict__["rank"].fget
    near, far = (SimpleNamespace(distance=SimpleNamespace(distance=one), loss=5 - one) for one in (1.0, 2.0))
    assert rank(near) < rank(far)
    assert rank(SimpleNamespace(distance=near.distance, loss=3.0)) < rank(near)
