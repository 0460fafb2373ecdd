"""What is said before the work: how long, how much memory, which column; to whom, and to whom not."""

import random

import pytest
from command import run

import sqlmicro as sm
from sqlmicro.jobs import calibration, forecast, laws, sizes
from sqlmicro.system import secrets

NAME = 'w\x1b[2J"ard"'


@pytest.fixture
def visits(workbench):
    draw = random.Random(3)
    n = 1000
    return workbench.make({
        "age": ("INTEGER", [draw.randrange(20, 90) for _ in range(n)]),
        "income": ("DOUBLE", [draw.gauss(0, 1) for _ in range(n)]),
        "sex": ("VARCHAR", [draw.choice("fm") for _ in range(n)]),
        NAME: ("VARCHAR", [f"c{draw.randrange(300)}" for _ in range(n)]),
    })  # fmt: skip


def command(db, *more, method="mdav", columns="age,income"):
    return run(method, "--table", "records", "--db", db, "--columns", columns, "--rest", "drop", "--into", "released",
               "--seed", "s", "--rows-are-persons", *([] if method == "shuffle" else ["--k", "5"]), *more)  # fmt: skip


def test_a_small_job_says_nothing_and_is_measured(visits):
    done = command(visits)
    assert done.returncode == 0 and "about" not in done.stderr
    done = command(visits, "--overwrite", "--alone-because", "a test")  # kernels are compiled by now
    found = {one.work: one for one in calibration.read().observations}
    assert set(found) == {"around", "mdav"}
    assert found["mdav"].sizes == sizes.Sizes(1000, 2, 5)
    assert found["mdav"].seconds > 0 and found["around"].sizes.columns == 2
    text = secrets.beside_secret(calibration.FILE).read_text()
    assert "income" not in text and "records" not in text


def test_a_dry_run_tells_what_it_expects(visits):
    assert "about 1 s" in command(visits, "--dry-run").stderr


@pytest.mark.slow_but("--quiet")
@pytest.mark.parametrize("option", ["--quiet", "--json"])
def test_quiet_and_json_say_nothing(visits, monkeypatch, option):
    monkeypatch.setattr("sqlmicro.jobs.forecast.WORTH_TELLING", 0.0)
    assert "about" in command(visits).stderr
    assert "about" not in command(visits, option, "--overwrite", "--alone-because", "a test").stderr


def test_the_column_that_costs_most_is_named(visits, monkeypatch):
    monkeypatch.setattr(laws, "seconds", lambda work, sizes, effort: sizes.width if work == "mdav" else 0.01)
    quoted = '"' + NAME.replace('"', '""') + '"'
    done = command(visits, "--dry-run", "--identifier-ok", quoted, columns=f"age,sex,{quoted}")
    assert done.returncode == 0, done.stderr
    assert 'w\\x1b[2J"ard" (' in done.stderr and "values) costs 9" in done.stderr


@pytest.mark.slow
def test_sizes_of_a_step(visits):
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forecast.sizes, "of_step", lambda *given: seen.append(sizes_of(*given)) or seen[-1])
        sm.mdav(
            "records", db=visits, columns=["age", NAME], by=["sex"], rest="drop", dry_run=True, rows_are_persons=True
        )
        sm.safe("records", db=visits, columns=["sex", "age"], rest="drop", dry_run=True, effort="fast")
        sm.safe("records", db=visits, columns=["sex", NAME], rest="drop", dry_run=True, effort="fast",
                rows_are_persons=True)  # fmt: skip
    mdav, safe, wide = (one.sizes for one in seen)
    assert wide.width == 102  # 300 values of a ward are grouped by 100 of them
    assert (mdav.rows, mdav.columns) == (1000, 2) and mdav.width == pytest.approx(301, rel=0.2)
    assert mdav.stratum == pytest.approx(500, rel=0.02) and mdav.strata == pytest.approx(2, rel=0.02)
    assert safe.combinations == pytest.approx(140, rel=0.2) and safe.width == 3  # age has more values than codes have


sizes_of = sizes.of_step


def test_a_run_that_compiled_is_not_measured(visits, monkeypatch):
    told = forecast.expected

    def compiled(run, *given, **more):
        run.warehouse.progress.compiled = True
        return told(run, *given, **more)

    monkeypatch.setattr("sqlmicro.jobs.forecast.expected", compiled)
    assert command(visits, method="shuffle").returncode == 0
    assert not calibration.read().observations


def test_a_spoiled_file_is_told_and_written_anew(visits):
    path = secrets.beside_secret(calibration.FILE)
    path.write_text("{spoiled\n")
    assert "cannot be read: they are left" in " ".join(command(visits, method="shuffle").stdout.split())
    assert not calibration.read().spoiled and calibration.read().observations


def test_a_folder_that_is_read_only_stops_nothing(visits, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    done = command(visits, method="shuffle")
    assert done.returncode == 0, done.stderr
