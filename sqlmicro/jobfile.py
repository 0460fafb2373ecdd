"""Job files: TOML in, a `Job` out; errors name file, step and key.

Its top level holds the options all steps share, each `[[step]]` what to `do`::

   db = "warehouse.duckdb"
   table = "persons"
   drop = ["name"]

   [[step]]
   do = "individual-ranking"
   columns = ["income"]
   k = 5

   [[step]]
   do = "safe"
   columns = ["age", "sex", "region"]
   k = 3

   [[step]]
   do = "audit"
   quasi = ["age", "sex", "region"]
   min_k = 3

   [[step]]
   do = "publish"
   into = "persons_release"
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlmicro import options
from sqlmicro.audits.inputs import audit_options
from sqlmicro.errors import JobError, ParameterError, did_you_mean
from sqlmicro.job import JOB_OPTIONS, OTHER_STEPS, STEP_OPTIONS, TABLE_STEPS, Job, Step
from sqlmicro.params import Parameter, settle
from sqlmicro.progress import Progress
from sqlmicro.registry import find, methods


def read(path: str, overrides: Mapping[str, Any], progress: Progress) -> Job:
    """Read a job file; paths in it are taken from its own folder.

    Raises
    ------
    JobError
        For a file that cannot be read, an unknown key, or a step that is wrong; the message names file, step and key.
    """
    import tomllib

    file = Path(path)
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError:
        raise JobError(path, "there must be a job file", "none") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        place = str(error).rpartition("(")[2].rstrip(")") if "(at" in str(error) else "somewhere"
        raise JobError(path, "must be TOML", f"something else {place}") from None
    listed = content.pop("step", [])
    if not isinstance(listed, list) or not listed or not all(isinstance(item, dict) for item in listed):
        raise JobError(path, "must have at least one [[step]]", "none", "See: sqlmicro run --help")
    given = {**content, **{name: value for name, value in overrides.items() if value not in (None, False, ())}}
    for name in ("db", "table"):
        if isinstance(content.get(name), str) and name not in {n for n, v in overrides.items() if v}:
            given[name] = _beside(file, content[name], name)
    try:
        shared = settle(JOB_OPTIONS, given, path)
    except ParameterError as error:
        raise JobError(error.where, error.must, error.got, error.do) from None
    steps = tuple(_read_step(path, file, number, item) for number, item in enumerate(listed, 1))
    job = Job(shared, steps, path, progress)
    _check_order(job)
    return job


def _beside(file: Path, text: str, name: str) -> str:
    """Return a path of the job file's own folder; a table name stays as it is."""
    from sqlmicro.source import file_format

    if name in ("table", "into") and file_format(text) is None:
        return text
    return text if Path(text).is_absolute() else str(file.parent / text)


def _read_step(path: str, file: Path, number: int, item: dict[str, Any]) -> Step:
    do = item.get("do")
    known = [*methods(), *OTHER_STEPS]
    where = f"{path}, step {number}"
    if not isinstance(do, str):
        raise JobError(where, "must say what to do", "no key 'do'", f'Write do = "…"; there are: {", ".join(known)}')
    if do not in known:
        raise JobError(f"{where}, key 'do'", f"{do!r} is no step", do=did_you_mean(do, known))
    settings = {name: value for name, value in item.items() if name != "do"}
    if do == "publish" and isinstance(settings.get("to"), str):
        settings["to"] = _beside(file, settings["to"], "to")
    for name in ("key_file", "matrix"):
        if isinstance(settings.get(name), str):
            settings[name] = _beside(file, settings[name], name)
    if do == "register" and isinstance(settings.get("files"), list):
        settings["files"] = [_beside(file, str(name), "files") for name in settings["files"]]
    where = f"{where} ({do})"
    try:
        settle(step_parameters(do), settings, where)
    except ParameterError as error:
        raise JobError(error.where, error.must, error.got, error.do) from None
    return Step(do, settings, where)


def step_parameters(do: str) -> tuple[Parameter, ...]:
    """Return the parameters of a step of a job file."""
    others = {"publish": options.TARGET, "audit": audit_options(), "register": options.REGISTER, "profile": ()}
    if do in others:
        return others[do]
    method = find(do)
    return (*(option for option in STEP_OPTIONS if method.takes(option.name)), *method.settings)


def _check_order(job: Job) -> None:
    """Tables first, publishing last; a job that publishes nothing only registers, profiles and audits."""
    does = [step.do for step in job.steps]
    first = next((number for number, do in enumerate(does) if do not in TABLE_STEPS), len(does))
    late = [do for do in does[first:] if do in TABLE_STEPS]
    if late:
        raise JobError(job.label, "steps that register or profile come first", f"{late[0]} after {does[first]}")
    if job.anonymizes and (does.count("publish") != 1 or does[-1] != "publish"):
        raise JobError(
            job.label,
            "must end with one step that does publish",
            f"{does.count('publish')} of them",
            'Add [[step]] do = "publish" at the end',
        )
    if not job.anonymizes and "publish" in does:
        raise JobError(
            job.label,
            "must have a step that anonymizes what it publishes",
            "none",
            "There are: " + ", ".join(methods()),
        )
