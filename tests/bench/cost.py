"""How near the estimate before a run is to what it took: every method, after this machine was measured once.

Seconds are those of the processor, all threads, in the estimates too, so that what else the machine does tells nothing.
Made tables: numbers, and for `safe` codes; `--text` adds a column of text to it. Each line is one run, measured after
it was estimated; `ratio` is measured by estimated. The runs of `--calibrate` sizes are estimated as well: their lines
tell what is known of a machine nobody has measured.
"""

import argparse
import os
import tempfile
import types
from pathlib import Path

import _measure

ARGUMENTS = {
    "individual-ranking": {}, "k-ward": {}, "kanonymeans": {}, "kanonymeans-star": {"generations": 2}, "mdav": {},
    "max-distance": {}, "mdav-plus": {}, "mdav-star": {}, "mhm": {}, "optimal-univariate": {}, "recursive-k-ward": {},
    "microaggregate(fast)": {"quality": "fast"}, "microaggregate(balanced)": {}, "microaggregate(best)":
    {"quality": "best"}, "secure-k-ward": {}, "single-axis": {}, "split-group": {}, "v-mdav": {},
    "safe(full)": {}, "safe(fast)": {"effort": "fast"}, "safe(search)": {"method": "search"},
    "top-code": {"quantile": 0.99}, "bottom-code": {"quantile": 0.01}, "constant": {}, "generalize": {"width": "10"},
    "mondrian": {}, "noise": {"amount": 0.1}, "partial": {"keep_first": 1}, "pram": {"keep_probability": 0.9},
    "shuffle": {}, "suppress": {"k": 3}, "swap": {"percent": 5},
}  # fmt: skip
TAKES_K = {"generalize", "top-code", "bottom-code", "suppress"}


def table(con, path, rows, columns, seed, text):
    """Make a table of numbers x, codes c and texts t."""
    numbers = ", ".join(f"round(100 * sqrt(-2 * ln(random() + 1e-9)), 2) AS x{i}" for i in range(columns))
    codes = ", ".join(f"CAST(floor({4 + 3 * i} * random() ** 2) AS INTEGER) AS c{i}" for i in range(columns))
    words = f", 'p' || CAST(floor({text} * random()) AS INTEGER) AS t" if text else ""
    con.execute(f"SELECT setseed({seed / 1000})")
    con.execute(f"COPY (SELECT {numbers}, {codes}{words} FROM range({rows})) TO '{path}'")


def columns_of(method, columns, text):
    """Return the columns a method works on."""
    kind = "c" if method in ("safe", "suppress", "mondrian", "pram", "partial", "constant") else "x"
    named = [f"{kind}{i}" for i in range(columns)]
    if method == "partial":
        named = named[:1]
    return [*named, "t"] if text and method == "safe" else named


def settings(method, given, columns):
    """Return the settings of a run."""
    own = dict(given)
    if "width" in own:
        own["width"] = [f"{column}={own['width']}" for column in columns]
    return own


def run(method, given, source, columns, folder, *, keep):
    """Run a method, and return what was told before and what each part took."""
    import sqlmicro as sm
    from sqlmicro.jobs import calibration
    from sqlmicro.system.progress import Progress

    seen, told = [], []
    add, expect = calibration.add, Progress.expect

    def kept(found, **more):
        seen.extend(found)
        if keep:
            add(seen, **more)

    calibration.add = kept
    Progress.expect = lambda self, text, seconds, *, tell: told.append((seconds, text))
    try:
        getattr(sm, method.replace("-", "_"))(
            str(source), columns=columns, rest="drop", **settings(method, given, columns),
            to=str(folder / "out.parquet"), overwrite=True, seed="bench", rows_are_persons=True,
        )  # fmt: skip
    finally:
        calibration.add, Progress.expect = add, expect
    return told[-1], seen


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--calibrate", type=int, nargs="+", default=[3_000, 10_000, 100_000])
    parser.add_argument("--columns", type=int, default=4)
    parser.add_argument("--methods", nargs="+", default=list(ARGUMENTS))
    parser.add_argument("--text", type=int, default=0, help="values of a column of text, for safe")
    parser.add_argument("--longest", type=float, default=60, help="runs that are estimated longer are left out")
    parser.add_argument("--keep", help="folder of the measured times, kept for the next run")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="cost-"))
    os.environ["XDG_CONFIG_HOME"] = options.keep or str(folder)

    import duckdb

    from sqlmicro import pipeline

    pipeline.time = types.SimpleNamespace(perf_counter=_measure._cpu)
    con = duckdb.connect()
    for name in options.methods:
        method = name.partition("(")[0]
        columns = columns_of(method, options.columns, options.text)
        rate = 0.0
        # The first run loads or compiles kernels, which is not estimated.
        runs = [("first", 500, 3)]
        runs += [("calibrate", rows, 1) for rows in options.calibrate] + [("measure", rows, 2) for rows in options.rows]
        for what, rows, seed in runs:
            source = folder / f"{rows}-{seed}.parquet"
            table(con, source, rows, options.columns, seed, options.text)
            if rate * rows > options.longest:
                _measure.emit(method=name, what=what, rows=rows, left_out=True)
                continue
            try:
                (estimated, text), seen = run(method, ARGUMENTS[name], source, columns, folder, keep=what != "first")
            except Exception as error:
                _measure.emit(method=name, what=what, rows=rows, error=str(error)[:200])
                continue
            if what == "first":
                continue
            if not seen:  # other kernels were compiled than in the first run
                (estimated, text), seen = run(method, ARGUMENTS[name], source, columns, folder, keep=True)
            seconds = sum(one.seconds for one in seen)
            rate = seconds / rows
            _measure.emit(
                method=name, what=what, rows=rows, estimated=estimated, measured=seconds,
                ratio=seconds / estimated, parts={one.work: round(one.seconds, 3) for one in seen}, told=text,
            )  # fmt: skip


if __name__ == "__main__":
    main()
