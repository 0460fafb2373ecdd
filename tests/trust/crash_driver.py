"""Runs a release again and again, stops it at a statement or moment, and tells what it left: JSON lines.

Called with a folder that holds `pristine.duckdb` and a plan in JSON: `stops` (a list of `[signal, share]`: after
which share of the statements of a run), `kinds` (signals, sent in turn before the first statement of each kind),
`random` (how many kills at random moments, spread over a run; a run that was faster is not one of them), or `files`: a
job of two releases to files, killed from the moment on that they are put in place, before every statement, or, unless
`files` is "whole", every first of several alike.
Every run is forked from here after a whole run in this process, whose database is closed again, so that it costs no
more than the work itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb  # noqa: F401  loaded once, for all the runs
import numpy  # noqa: F401
import pyarrow  # noqa: F401
import typer

import sqlmicro.__main__
from sqlmicro import cli
from sqlmicro.database import templates
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.opening import open_warehouse
from sqlmicro.publish import publish
from sqlmicro.system import scratch

ARGUMENTS = (
    "individual-ranking --table persons --columns income,born --keep sex --drop name,token,grade --k 5 --in-place "
    "--seed crash --threads 1 --json --db"
)
FILES = ("a.csv", "b.csv")
JOB = """
[[table]]
name = "persons"
keep = ["sex"]
drop = ["name", "token", "grade"]
[[table.step]]
do = "individual-ranking"
columns = ["income", "born"]
k = 5
[[table.step]]
do = "publish"
to = "{}"
overwrite = true
"""
_files = False


def arguments(db: Path) -> list[str]:
    """Return the command that is run on a database."""
    if not _files:
        return [*ARGUMENTS.split(), str(db)]
    job = db.with_name("job.toml")
    job.write_text("".join(JOB.format(name) for name in FILES))
    return ["run", str(job), "--db", str(db), "--seed", "crash", "--threads", "1", "--json"]


def forked(work: Callable[[], Any]) -> int:
    """Run `work` in a child process and return its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except SystemExit as end:
            os._exit(end.code if isinstance(end.code, int) else 1)
        finally:
            os._exit(0)
    return child


def release(folder: Path, stop: tuple[int, int] | None = None) -> None:
    """Release in place as the command does; before statement `stop[1]` send signal `stop[0]` to this process."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    # How many statements come before files are put in place depends on how long ago the database was written to.
    count, counts = 0, not _files

    def counted(before: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += counts
            if counts and stop is None:
                kind = given[1] if before is statement else before.__name__
                os.write(kinds, f"{kind}\n".encode())
            if counts and stop is not None and count == stop[1]:
                os.kill(os.getpid(), stop[0])
            return before(*given, **named)

        return call

    if stop is not None or not (folder / "kinds").exists():
        kinds, statement = os.open(folder / "kinds", os.O_WRONLY | os.O_CREAT | os.O_APPEND), DuckDBWarehouse._call
        DuckDBWarehouse._call = counted(statement)  # type: ignore[method-assign]
        DuckDBWarehouse.attach = counted(DuckDBWarehouse.attach)  # type: ignore[method-assign]
        Path.replace = counted(Path.replace)  # type: ignore[method-assign]
        Path.unlink = counted(Path.unlink)  # type: ignore[method-assign]
        os.link = counted(os.link)
        scratch.database_taken = counted(scratch.database_taken)
        os.fsync = counted(os.fsync)
    place = publish.place

    def placed(*given: Any) -> None:
        nonlocal counts
        counts = True
        place(*given)

    publish.place = placed
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell without a terminal may have switched off
    sys.argv = ["sqlmicro", *arguments(folder / "work" / "w.duckdb")]
    sqlmicro.__main__.main()


def look(folder: Path) -> None:
    """Write into `state` what the next start finds."""
    db = folder / "work" / "w.duckdb"
    with open_warehouse(str(db)) as warehouse:
        rows = warehouse.query(
            "look", "SELECT income, born::VARCHAR, sex, name IS NULL, token FROM persons ORDER BY ALL"
        )
        recorded = warehouse.query(
            "look", "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'sqlmicro' AND table_name = 'releases'"
        )[0][0]
        found = warehouse.query("look", "SELECT id, n, k_released FROM sqlmicro.releases") if recorded else []
        checks = warehouse.query("look", "SELECT bool_and(passed), count(*) FROM sqlmicro.audits") if found else []
    state = {
        "files": [hash((folder / "work" / name).read_bytes()) if _files else 0 for name in FILES],
        "rows": hash(str(rows)), "count": len(rows), "releases": found, "audits": checks,
        "canaries": db.read_bytes().count(b"CANARY-"),
        "left": sorted(path.name for part in ("work", "tmp") for path in (folder / part).iterdir()),
    }  # fmt: skip
    (folder / "state").write_text(json.dumps(state))


def state_after(folder: Path) -> dict[str, Any]:
    """Let a fresh process look, and return what it saw."""
    _, status = os.waitpid(forked(lambda: look(folder)), 0)
    assert status == 0, "the database could not be opened"
    return dict(json.loads((folder / "state").read_text()))


def reset(folder: Path) -> None:
    shutil.rmtree(folder / "work", ignore_errors=True)
    (folder / "work").mkdir()
    (folder / "state").unlink(missing_ok=True)
    shutil.copy(folder / "pristine.duckdb", folder / "work" / "w.duckdb")
    for name in FILES if _files else ():
        (folder / "work" / name).write_text("the old release\n")


def load(pristine: Path) -> None:
    """Load and compile what every run does, once: by a whole run in another place, whose database is closed again."""
    for template in templates.all_templates():
        templates.environment().get_template(template)
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w") as nowhere:
        db = Path(shutil.copy(pristine, folder))
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), contextlib.suppress(SystemExit):
            typer.main.get_command(cli.app).main(arguments(db))


def firsts(kinds: Sequence[str]) -> list[int]:
    """Return the number of the first statement of each kind; what computes in one stage is of one kind."""
    stages = [kind.partition("/")[0] for kind in kinds]
    return [stages.index(stage) + 1 for stage in dict.fromkeys(stages)]


def main() -> None:
    global _files
    folder, plan = Path(sys.argv[1]), json.loads(sys.argv[2])
    _files = "files" in plan
    load(folder / "pristine.duckdb")
    (folder / "tmp").mkdir()
    tempfile.tempdir = str(folder / "tmp")
    reset(folder)
    old = state_after(folder)
    _, status = os.waitpid(forked(lambda: release(folder)), 0)
    if status:
        sys.exit(f"the release that is to be stopped does not run: {(folder / 'err').read_text()}")
    new = state_after(folder)
    print(json.dumps({"old": old, "new": new}))
    kinds = (folder / "kinds").read_text().splitlines()
    stops: list[Any] = [[sent, max(1, round(share * len(kinds)))] for sent, share in plan.get("stops", [])]
    if "kinds" in plan:
        stops = list(zip(cycle(plan["kinds"]), firsts(kinds)))
    if _files:
        every = plan["files"] == "whole"
        stops = [[signal.SIGKILL, at + 1] for at, kind in enumerate(kinds) if every or kinds[at - 1 : at] != [kind]]
    seconds = 0.0
    if not stops:
        started = time.monotonic()
        for _ in range(3):
            reset(folder)
            os.waitpid(forked(lambda: release(folder)), 0)
        seconds = (time.monotonic() - started) / 3
    moments, kills = random.Random(7), plan.get("random", 0)
    wanted, tries = kills, 0
    while stops or (kills and tries < 3 * wanted):
        stop, tries = stops.pop(0) if stops else None, tries + 1
        reset(folder)
        if stop is None:
            child = forked(lambda: release(folder))
            time.sleep((tries % wanted + moments.random()) / wanted * 0.95 * seconds)
            os.kill(child, signal.SIGKILL)
        else:
            child = forked(lambda stop=stop: release(folder, tuple(stop)))  # type: ignore[misc]
        _, status = os.waitpid(child, 0)
        if stop is None:
            if not os.WIFSIGNALED(status):
                continue
            kills -= 1
        left = sorted(path.name for part in ("work", "tmp") for path in (folder / part).iterdir())
        print(
            json.dumps({
                "stop": stop, "status": os.waitstatus_to_exitcode(status), "left_before": left,
                "err": (folder / "err").read_text(), **state_after(folder),
            }), flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
