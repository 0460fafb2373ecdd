"""A budget: what is chosen fits, is said and recorded, and the options that it names make the same release."""

import json
import random

import duckdb
import pytest
from command import run

import sqlmicro as sm
from sqlmicro.errors import ParameterError
from sqlmicro.jobs import calibration, forecast, laws
from sqlmicro.jobs.calibration import Calibration, Observation
from sqlmicro.jobs.forecast import Expected
from sqlmicro.jobs.sizes import Measured, Sizes

NET = 'net "income"'


def made(n=400, seed=1):
    draw = random.Random(seed)
    return {
        "age": ("INTEGER", [draw.randrange(20, 90) for _ in range(n)]),
        NET: ("DOUBLE", [round(draw.gauss(3000, 700), 2) for _ in range(n)]),
        "sex": ("VARCHAR", [draw.choice("fm") for _ in range(n)]),
    }


@pytest.fixture
def known(monkeypatch):
    """Let microaggregate take 1, 60 and 3,600 seconds by its quality, safe 5 and 100, and all else nearly nothing."""
    times = {
        ("microaggregate", "fast"): 1.0, ("microaggregate", "balanced"): 60.0, ("microaggregate", "best"): 3600.0,
        ("safe", "fast"): 5.0, ("safe", "full"): 100.0,
    }  # fmt: skip
    monkeypatch.setattr(laws, "seconds", lambda work, sizes, effort: times.get((work, effort), 0.01) * sizes.rows / 400)
    measured = tuple(
        Observation(work, f"{effort} best" if work == "safe" else effort, Sizes(400, 2), seconds)
        for (work, effort), seconds in times.items()
        for _ in range(12)
    ) + tuple(Observation(laws.AROUND, kind, Sizes(400, 2), 0.01) for kind in ("record k", "record k dry"))
    monkeypatch.setattr(calibration, "read", lambda: Calibration(measured))
    monkeypatch.setattr(calibration, "add", lambda found, **more: list(found))


def chosen(db, budget, **more):
    report = sm.microaggregate("records", db=db, columns=["age", NET], rest="drop", k=5, budget=budget, dry_run=True,
                               seed="s", **more)  # fmt: skip
    return report["steps"][0]["parameters"]["quality"], report


@pytest.mark.slow_but("30s-fast")
@pytest.mark.parametrize("text, quality", [("30s", "fast"), ("90s", "balanced"), ("59m", "balanced"), ("2h", "best")])
def test_the_longest_search_that_fits_is_chosen_and_said(workbench, known, monkeypatch, text, quality):
    monkeypatch.setattr("sqlmicro.group.microaggregate._run", lambda search, *rest: search.start(search.blocks()))
    found, report = chosen(workbench.make(made()), text)
    assert found == quality
    (note,) = [note for note in report["notes"] if note.startswith("budget")]
    assert f"--quality {quality} in its place makes the same release" in note


def test_what_it_says_makes_the_same_release_and_is_recorded(workbench, known, tmp_path):
    db = workbench.make(made())
    common = {"columns": ["age", NET], "rest": "drop", "k": 5, "overwrite": True, "alone_because": "a test"}
    paths = [tmp_path / "budget.csv", tmp_path / "given.csv"]
    for path, option in zip(paths, ({"budget": "30s"}, {"quality": "fast"}), strict=True):
        sm.microaggregate("records", db=db, to=str(path), manifest=f"{path}.json", **common, **option)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    told = [json.loads(path.with_name(f"{path.name}.json").read_text())["parameters"]["steps"] for path in paths]
    assert told[0] == told[1] and told[0][0]["settings"]["quality"] == "fast"


def test_what_cannot_be_done_in_time_is_refused_before_the_work(workbench, known, tmp_path):
    db, to = workbench.make(made()), tmp_path / "out.csv"
    done = run("microaggregate", "--table", "records", "--db", db, "--columns", "age,sex",
               "--nominal", "sex", "--rest", "drop", "--to", to, "--budget", "0.5s")  # fmt: skip
    assert done.returncode == 2 and not to.exists()
    assert "about 1 s with --quality fast" in done.stderr and "--quality fast without a budget" in done.stderr


@pytest.mark.parametrize("text", ["", "5", "5 parsecs", "-5m", "0s", "m5", "5m later", "1e9h", "nan s", "٣"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ParameterError, match="must be a time with its unit"):
        forecast.seconds_of(text)


@pytest.mark.parametrize(
    "method, more, words",
    [
        ("mdav", {}, "Got mdav, which has nothing to choose"),
        ("microaggregate", {"quality": "fast"}, "Leave out --quality fast"),
        ("microaggregate", {"quality": "best", "time_limit": 3.0}, "Leave out --time-limit"),
    ],
)
def test_where_nothing_is_left_to_choose_it_is_refused(workbench, known, method, more, words):
    verb = getattr(sm, method)
    with pytest.raises(ParameterError, match=words):
        verb("records", db=workbench.make(made()), columns=["age"], rest="drop", k=5, budget="5m", dry_run=True, **more)


def test_a_night_of_a_series_has_the_settings_of_the_others(workbench, known):
    with pytest.raises(ParameterError, match="the same every night"):
        sm.microaggregate("records", db=workbench.make(made()), columns=["age"], rest="drop", budget="5m", series="s",
                          row_key=["sex"])  # fmt: skip


def test_a_session_and_a_job_file_choose_too(workbench, known, tmp_path):
    db = workbench.make(made())
    with sm.open(db) as session:
        release = session.microaggregate("records", columns=["age", NET], k=5, rest="drop", budget="30s")
        assert release.report["steps"][0]["parameters"]["quality"] == "fast"
    job = tmp_path / "job.toml"
    job.write_text(
        f'db = "{db}"\ntable = "records"\nrest = "drop"\nbudget = "30s"\n[[step]]\ndo = "microaggregate"\n'
        'columns = ["age"]\nk = 5\n[[step]]\ndo = "individual-ranking"\ncolumns = ["net \\"income\\""]\nk = 5\n'
        '[[step]]\ndo = "publish"\ninto = "released"\n'
    )
    report = sm.run(str(job), dry_run=True)
    assert report["steps"][0]["parameters"]["quality"] == "fast"
    assert any("step 1" in note and "--quality fast" in note for note in report["notes"])


def test_tables_of_one_job_share_it_by_their_records(workbench, known, tmp_path):
    db = workbench.make(made(400))
    with duckdb.connect(db) as connection:
        connection.execute("CREATE TABLE fewer AS FROM records LIMIT 100")
    tables = [
        f'[[table]]\nname = "{name}"\nrest = "drop"\n[[table.step]]\ndo = "microaggregate"\ncolumns = ["age"]\nk = 5\n'
        f'[[table.step]]\ndo = "publish"\ninto = "{name}_out"\n'
        for name in ("records", "fewer")
    ]
    (tmp_path / "job.toml").write_text(f'db = "{db}"\nbudget = "90s"\n' + "".join(tables))
    reports = sm.run(str(tmp_path / "job.toml"), dry_run=True)["tables"]
    assert [report["steps"][0]["parameters"]["quality"] for report in reports] == ["balanced", "balanced"]
    reports = sm.run(str(tmp_path / "job.toml"), dry_run=True, budget="70s")["tables"]
    assert [report["steps"][0]["parameters"]["quality"] for report in reports] == ["fast", "balanced"]


def test_on_spark_there_is_none():
    with pytest.raises(ParameterError, match="Got --budget"):
        sm.microaggregate("persons.parquet", columns=["age"], rest="drop", to="out", engine="spark", budget="5m")


def test_two_steps_share_it_and_the_cheaper_step_is_raised_first(known):
    from sqlmicro.pipeline import PlannedStep
    from sqlmicro.registry import find

    steps = tuple(
        PlannedStep(number, find(name), {"k": 3, setting: default, **more}, (), (), "error", f"step {number}")
        for number, (name, setting, default, more) in enumerate(
            [("microaggregate", "quality", "balanced", {}), ("safe", "effort", "full", {"method": "best"})], 1
        )
    )
    expected = Expected(calibration.read(), steps, (Measured(Sizes(400, 2)),) * 2, Sizes(400, 2), False, None)

    def of(seconds):
        found, told = forecast.chosen(expected, None, "so long", seconds)
        assert found.seconds <= seconds and len(told) == 2
        return found.steps[0].settings["quality"], found.steps[1].settings["effort"]

    assert of(30) == ("fast", "fast")
    assert of(90) == ("balanced", "fast")
    assert of(180) == ("balanced", "full")
    assert of(4000) == ("best", "full")
