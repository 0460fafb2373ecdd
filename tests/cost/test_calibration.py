"""What a machine was measured at: runs near what was measured are estimated well, and no file can do any harm."""

import json
import os
from multiprocessing import get_context

import pytest

from sqlmicro.jobs import calibration, laws
from sqlmicro.jobs.calibration import Calibration, Observation
from sqlmicro.jobs.sizes import Sizes
from sqlmicro.registry import methods
from sqlmicro.system import secrets

SLOW = 7.0  # by what the machine of these tests is slower than that of the laws
WORKS = [
    (laws.AROUND, "record", ""), ("mdav", "", ""), ("k-ward", "", ""), ("noise", "correlated", ""),
    ("microaggregate", "fast", "fast"), ("microaggregate", "balanced", "balanced"), ("safe", "full best", "full"),
]  # fmt: skip


def measured(work, kind, effort, *sizes, slow=SLOW, constant=0.3):
    return [
        Observation(work, kind, size, constant + slow * laws.seconds(work, size, effort), machine=calibration.machine())
        for size in sizes
    ]


@pytest.mark.parametrize("work, kind, effort", WORKS)
def test_what_was_measured_is_estimated_and_what_lies_between_and_beyond(work, kind, effort):
    known = Calibration(tuple(measured(work, kind, effort, Sizes(3_000, 4), Sizes(10_000, 4), Sizes(100_000, 4))))
    for rows in (3_000, 30_000, 100_000, 1_000_000):
        truth = 0.3 + SLOW * laws.seconds(work, Sizes(rows, 4), effort)
        assert known.seconds(work, kind, Sizes(rows, 4), effort) == pytest.approx(truth, rel=0.15)


def test_one_run_of_any_method_tells_how_slow_the_machine_is():
    size = Sizes(1_000_000, 4)
    known = Calibration(tuple(measured(laws.AROUND, "record", "", Sizes(100_000, 4), constant=0)))
    assert known.slowness == pytest.approx(SLOW)
    assert known.seconds("mdav", "", size, "") == pytest.approx(SLOW * laws.seconds("mdav", size, ""), rel=0.1)


@pytest.mark.parametrize("name", [*methods(), laws.AROUND])
def test_more_of_anything_never_takes_less(name):
    found = methods().get(name)
    efforts = found.setting("effort").choices if found and found.setting("effort") else ("",)
    for effort in efforts:
        noisy = [
            Observation(name, effort, Sizes(rows, 4, strata), seconds)
            for rows, strata, seconds in ((1_000, 3, 2.0), (10_000, 5, 0.5), (50_000, 3, 0.1), (100_000, 3, 9.0))
        ]
        for known in (Calibration(), Calibration(tuple(noisy[:1])), Calibration(tuple(noisy))):
            of = [known.seconds(name, effort, Sizes(10**e, 4), effort) for e in range(2, 8)]
            assert of == sorted(of) and of[0] > 0
            wide = [laws.seconds(name, Sizes(100_000, 4, width=w), effort) for w in (4, 40, 400)]
            assert wide == sorted(wide)


def test_longer_searches_are_estimated_longer():
    for name in ("microaggregate", "safe"):
        choices = sorted(methods()[name].setting("effort").choices, key=laws.EFFORTS.index)
        for rows in (1_000, 10_000, 1_000_000):
            of = [laws.seconds(name, Sizes(rows, 4), effort) for effort in choices]
            assert of == sorted(of) and len(set(of)) == len(of)


def test_one_absurd_run_changes_little():
    sizes = [Sizes(rows, 4) for rows in (10_000, 30_000, 100_000, 300_000)]
    good = measured("mdav", "", "", *sizes)
    asleep = Observation("mdav", "", Sizes(30_000, 4), 40_000.0)  # the computer was closed in the meantime
    before, after = (
        Calibration(tuple(found)).seconds("mdav", "", Sizes(200_000, 4), "") for found in (good, [*good, asleep])
    )
    assert after == pytest.approx(before, rel=0.3)


def test_what_is_kept_are_numbers_of_sizes_and_seconds():
    calibration.add(measured("mdav", "", "", Sizes(10_000, 2)))
    path = secrets.beside_secret(calibration.FILE)
    (line,) = path.read_text().splitlines()
    told = json.loads(line)
    assert set(told) == {"work", "kind", "sizes", "seconds", "memory", "machine"}
    assert told["work"] == "mdav" and all(isinstance(value, int | float) for value in told["sizes"].values())
    assert path.stat().st_mode & 0o077 == 0
    assert calibration.read().observations == tuple(measured("mdav", "", "", Sizes(10_000, 2)))


def test_another_machine_in_the_same_home_is_left_out(monkeypatch):
    calibration.add(measured("mdav", "", "", Sizes(10_000, 2)))
    monkeypatch.setattr(calibration, "machine", lambda: "96 512")
    assert not calibration.read().observations


SPOILED = (
    b"\x00\xff\xfe", b"[" * 20_000, b'{"work": "mdav"}', b"null", b'"text"', b"1e999",
    b'{"work":"mdav","kind":"","sizes":{"rows":-5,"columns":1,"k":3,"stratum":1,"combinations":1,"width":1},'
    b'"seconds":1,"memory":0,"machine":""}',
    b'{"work":"mdav","kind":"","sizes":{"rows":5,"columns":1,"k":3,"stratum":1,"combinations":1,"width":1},'
    b'"seconds":NaN,"memory":0,"machine":""}',
    b'{"work":["mdav"],"kind":"","sizes":{"rows":5,"columns":1,"k":3,"stratum":1,"combinations":1,"width":1},'
    b'"seconds":1,"memory":0,"machine":""}',
)  # fmt: skip


@pytest.mark.parametrize("line", SPOILED, ids=range(len(SPOILED)))
def test_a_spoiled_line_is_left_out_and_the_file_written_anew(line):
    calibration.add(measured("mdav", "", "", Sizes(10_000, 2)))
    path = secrets.beside_secret(calibration.FILE)
    path.write_bytes(line + b"\n" + path.read_bytes() + line[:5])
    found = calibration.read()
    assert found.spoiled and len(found.observations) == 1
    path.write_bytes(path.read_bytes() + b"\n")
    calibration.add(measured("mdav", "", "", Sizes(20_000, 2)), spoiled=True)
    found = calibration.read()
    assert not found.spoiled and [one.sizes.rows for one in found.observations] == [10_000, 20_000]
    assert sorted(one.name for one in path.parent.iterdir()) == [calibration.FILE]


def test_a_folder_or_a_pipe_or_a_link_in_its_place_does_no_harm(tmp_path):
    path = secrets.beside_secret(calibration.FILE)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("not ours\n")
    for make in (path.mkdir, lambda: os.mkfifo(path), lambda: path.symlink_to(elsewhere)):
        make()
        assert calibration.read() == Calibration()
        calibration.add(measured("mdav", "", "", Sizes(10_000, 2)), spoiled=True)
        path.rmdir() if path.is_dir() else path.unlink()
    assert elsewhere.read_text() == "not ours\n"


def test_where_nothing_can_be_written_nothing_is_kept(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    calibration.add(measured("mdav", "", "", Sizes(10_000, 2)))
    assert calibration.read() == Calibration()


def test_the_newest_of_every_kind_are_kept(monkeypatch):
    monkeypatch.setattr(calibration, "_LONGEST", 5_000)
    calibration.add(measured("noise", "", "", Sizes(777, 2)))
    for number in range(60):
        calibration.add(measured("mdav", "", "", Sizes(1_000 + number, 2)))
    rows = [one.sizes.rows for one in calibration.read().observations]
    assert rows[0] == 777 and rows[-1] == 1_059
    assert secrets.beside_secret(calibration.FILE).stat().st_size < 6_000


def _write(number):
    for _ in range(30):
        calibration.add(measured("mdav", "", "", Sizes(1_000 + number, 2)))


def test_two_processes_write_at_once():
    context = get_context("fork")
    writers = [context.Process(target=_write, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = calibration.read()
    assert not found.spoiled and len(found.observations) == 60
