"""What the benchmarks share: CPU seconds and peak memory of a block, and one JSON line per measurement."""

import json
import multiprocessing
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time


class Measure:
    """CPU seconds of this process, all threads, and wall seconds, between enter and exit."""

    def __enter__(self):
        self._cpu, self._wall = _cpu(), time.perf_counter()
        return self

    def __exit__(self, *_):
        self.cpu, self.wall = _cpu() - self._cpu, time.perf_counter() - self._wall


def _cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def apart(function, *arguments):
    """Call a function in a process of its own, which keeps this one small: see `sqlmicro`."""
    called = multiprocessing.get_context("spawn").Process(target=function, args=arguments)
    called.start()
    called.join()
    assert called.exitcode == 0


def sqlmicro(*arguments, env=None):
    """Run a command; return its report, seconds, CPU seconds and its peak memory in MB.

    Linux counts what this process has in memory as that of a process it starts: so this one keeps small.
    """
    started = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        command = subprocess.Popen([sys.executable, "-m", "sqlmicro", *arguments, "--json"], stdout=out, env=env)
        _, status, used = os.wait4(command.pid, 0)
        seconds, command.returncode = time.perf_counter() - started, os.waitstatus_to_exitcode(status)
        assert command.returncode == 0
        out.seek(0)
        return json.load(out), seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def rounds(functions, repeat):
    """Run every function `repeat` times in turn, after one round that is not counted; return their CPU seconds."""
    seconds = {name: [] for name in functions}
    for number in range(repeat + 1):
        for name, function in functions.items():
            with Measure() as measured:
                function()
            if number:
                seconds[name].append(measured.cpu)
    return Rounds(seconds)


class Rounds(dict):
    """CPU seconds of every round, by name."""

    def median(self, name):
        return statistics.median(self[name])

    def ratio(self, name, to):
        """Return median, lowest and highest ratio of one to another, each in the same round."""
        ratios = [round(a / b, 3) for a, b in zip(self[name], self[to], strict=True)]
        return [statistics.median(ratios), min(ratios), max(ratios)]


def emit(**fields):
    print(json.dumps({key: round(v, 4) if isinstance(v, float) else v for key, v in fields.items()}), flush=True)
