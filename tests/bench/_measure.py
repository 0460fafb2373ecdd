"""What the benchmarks share: CPU seconds and peak memory of a block, and one JSON line per measurement."""

import json
import resource
import statistics
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
