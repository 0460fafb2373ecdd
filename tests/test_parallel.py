"""Units in threads: results and errors as if one ran after the other, and Ctrl-C ends all of them at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

from sqlmicro.system import parallel


@pytest.mark.parametrize("count", [1, 2, 8])
def test_results_come_in_the_order_of_the_units(count: int) -> None:
    def late(unit: int) -> tuple[int, bool]:
        time.sleep(0.002 * (7 - unit % 7))
        return unit, threading.current_thread() is threading.main_thread()

    with parallel.allowed(count):
        found = parallel.each(late, range(20))
    assert [unit for unit, _ in found] == list(range(20))
    assert [main for _, main in found] == [count == 1] * 20


def test_units_run_at_the_same_time_but_no_more_than_are_allowed() -> None:
    together = threading.Barrier(3)
    with parallel.allowed(3):
        assert parallel.each(lambda unit: together.wait(10) >= 0, range(9)) == [True] * 9
    running, most, gate, pair = 0, 0, threading.Lock(), threading.Barrier(2)

    def count(unit: int) -> None:
        nonlocal running, most
        with gate:
            running += 1
            most = max(most, running)
        pair.wait(60)
        with gate:
            running -= 1

    with parallel.allowed(2):
        parallel.each(count, range(12))
    assert most == 2


def test_the_first_failing_unit_is_told_whichever_fails_first() -> None:
    ended, third = [], threading.Event()

    def fail(unit: int) -> None:
        if unit == 2:
            assert third.wait(60)
            raise ValueError("unit 2")
        if unit == 3:
            third.set()
            raise ValueError("unit 3")
        while unit > 3:
            parallel.heed()
            time.sleep(0.001)
        ended.append(unit)

    with parallel.allowed(6), pytest.raises(ValueError, match="unit 2"):
        parallel.each(fail, range(50))
    assert sorted(ended) == [0, 1]


def test_ctrl_c_ends_units_that_heed_it_and_begins_no_other() -> None:
    begun, ended = [], []

    def unit(number: int) -> None:
        begun.append(number)
        if len(begun) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        try:
            while True:
                parallel.heed()
                time.sleep(0.001)
        finally:
            ended.append(number)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with parallel.allowed(2), pytest.raises(KeyboardInterrupt):
            parallel.each(unit, range(100))
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(begun) == sorted(ended) == [0, 1], "they have ended when the caller goes on"


def test_units_inside_a_unit_run_one_after_the_other_in_its_thread() -> None:
    def inner(unit: int) -> int:
        return threading.get_ident()

    with parallel.allowed(2):
        found = parallel.each(lambda unit: (threading.get_ident(), parallel.each(inner, range(3))), range(4))
    assert all(set(inside) == {outside} for outside, inside in found)


def test_what_numpy_was_told_holds_in_all_threads() -> None:
    with parallel.allowed(2), np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        parallel.each(lambda unit: np.ones(1) / np.zeros(1), range(2))


def test_without_a_limit_there_is_a_thread_for_every_core() -> None:
    assert parallel.threads() == len(os.sched_getaffinity(0))
    with parallel.allowed(3):
        assert parallel.threads() == 3
        with parallel.allowed(0):
            assert parallel.threads() == len(os.sched_getaffinity(0))
    parallel.heed()  # outside of all units nothing ends


def test_progress_of_several_units_adds_up_whatever_they_count_in() -> None:
    seen: list[tuple[int, int, str]] = []
    counter = parallel.Counter(100, lambda *now: seen.append(now))
    one, other = counter.part(60), counter.part(40)
    one(1, 2, "IL 3 %")
    other(500, 1000)
    one(2, 2)
    other(0, 0)
    assert seen == [(30, 100, "IL 3 %"), (50, 100, ""), (80, 100, ""), (60, 100, "")]


def test_small_units_are_handed_over_together_and_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_HANDED_OVER", 10)
    runs: list[list[int]] = []
    each = parallel.each

    def seen(function: Any, units: Any) -> Any:
        runs.extend(units)
        return each(function, units)

    monkeypatch.setattr(parallel, "each", seen)
    with parallel.allowed(4):
        assert parallel.each_sized(lambda number: -number, [4, 4, 4, 30, 1, 1, 9]) == [-number for number in range(7)]
    assert runs == [[0, 1], [2], [3], [4, 5], [6]]


def test_kernels_of_grouping_let_other_threads_go_on() -> None:
    from sqlmicro.group.small_sets import looped_mdav
    from sqlmicro.verbs import warm_up

    holding = [k for k in warm_up.kernels() if ".group." in k.__module__ and not k.targetoptions.get("nogil")]
    # What is copied into others holds nothing itself.
    assert [kernel.__name__ for kernel in holding if kernel.targetoptions.get("inline") != "always"] == []

    X = np.random.default_rng(1).normal(size=(6000, 4))
    looped_mdav(X[:50], 3)
    begun, ended = threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        looped_mdav(X, 3)
        ended.set()

    before, seen = sys.getswitchinterval(), 0
    sys.setswitchinterval(60.0)  # else a thread is made to wait, whatever it does
    try:
        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        while not ended.is_set() and seen <= 100:  # going on would hold the other thread for the whole interval
            seen += 1
    finally:
        sys.setswitchinterval(before)
    thread.join()
    assert seen > 100


def test_units_know_whether_more_than_one_thread_is_handed_some_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "_HANDED_OVER", 10)
    for count in (1, 2):
        with parallel.allowed(count):
            assert parallel.each_sized(lambda number: parallel.of_many(), [6, 6, 6]) == [True] * 3
            assert parallel.each_sized(lambda number: parallel.of_many(), [3, 3, 3]) == [False] * 3
    assert not parallel.of_many()
