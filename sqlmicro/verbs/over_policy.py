"""The command `check`, and what `certify`, `verify` and `report` do with every release of a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from sqlmicro.database import attach
from sqlmicro.database.opening import open_warehouse
from sqlmicro.errors import AuditFailed, InputError, ParameterError, SqlmicroError
from sqlmicro.jobs.approval import jobs_of, released_as
from sqlmicro.jobs.steps import Job
from sqlmicro.options.common import OpenDatabase
from sqlmicro.options.params import Param
from sqlmicro.publish import ledger_file
from sqlmicro.reports import collecting
from sqlmicro.reports.done import OfRelease, OverPolicy, over_policy
from sqlmicro.reports.facts import ReportOptions
from sqlmicro.system.progress import Progress

POLICY = "Policy, .toml, or plan of one, .plan.json"


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What `sqlmicro check` takes."""

    policy: Annotated[str, Param(f"{POLICY}.", metavar="POLICY", positional=True)]


def is_policy(text: str) -> bool:
    """Tell whether a name is that of a policy or of a plan.

    >>> [is_policy(name) for name in ("policy.toml", "policy.plan.json", "persons", "7", "released.json")]
    [True, True, False, False, False]
    """
    return text.endswith((".toml", ".plan.json"))


def check_values(options: CheckOptions, progress: Progress) -> OverPolicy:
    """Measure again what every release of a policy promises, on what is there now; the worst decides the exit code.

    A release does not hold that was changed since it was published, that was withdrawn, or that other steps have made
    than those of the policy. Nothing is written. Take `check` after a night: the policy knows what to hold each release
    to. Take `audit` to say that yourself for one table, `attack` to try an attack on one, and `report` for a page on
    each, attacks included.
    """
    return each(
        options.policy, progress, "hold what was promised", lambda job, name: _checked(job, name, progress),
        ["sqlmicro", "certify", options.policy, "--to", "certificates", "--key", "release_key"],
    )  # fmt: skip


def each(
    policy: str, progress: Progress, done: str, do: Callable[[Job, str], OfRelease], then: list[str]
) -> OverPolicy:
    """Do something with every release of a policy; one that cannot be looked at does not keep the others from it."""
    found, jobs = [], jobs_of(policy, progress)
    for job in jobs:
        name = released_as(job)
        try:
            _look_at(job, name, progress)
            found.append(do(job, name))
        except SqlmicroError as error:
            found.append(OfRelease(job.options.table, name, None, f"NOT: {error}", None, error.exit_code))
    return over_policy(policy, done, found, then)


def _look_at(job: Job, name: str, progress: Progress) -> None:
    """Look whether a release is the one that the policy has made, as it was published.

    A table that is changed in place goes on to be written to: its checks count what is there now.

    Raises
    ------
    InputError, AuditFailed
        With what it is.
    """
    asked = asked_of(job, ReportOptions(release=name, sample=0))
    with open_warehouse(recorded(asked), read_only=True, machine=asked, progress=progress) as warehouse:
        attach.attach(warehouse, asked.attach)
        known = collecting.as_published(warehouse, name, goes_on=job.publish.in_place)
        made = [(step.method, step.settings.get("k")) for step in known.parameters.steps]
        if made != [(step.method.name, step.settings.get("k")) for step in job.steps]:
            must = "must be released by the steps of the policy, with their k"
            raise AuditFailed(name, must, f"release {known.id}, by others", "Apply the policy")


def asked_of(job: Job, options: Any, **asked: object) -> Any:
    """Return options for one release: the database, the ledger and the machine are those of the policy."""
    given, names = job.options, {one.name for one in fields(options)}
    ledger = job.publish.ledger or getattr(options, "ledger", None)
    machine = {"memory_limit": given.memory_limit, "threads": given.threads}
    own = {"db": given.db, "attach": given.attach, "ledger": ledger, **machine, **asked}
    assert is_dataclass(options) and not isinstance(options, type)
    return replace(options, **{name: value for name, value in own.items() if name in names})


def recorded(options: ReportOptions) -> str | OpenDatabase | None:
    """Return the database to open: the one that is named, else the ledger, which has the releases to files."""
    if options.database or options.attach:
        return options.database
    path = ledger_file.place(options.ledger)
    return str(path) if path is not None and path.is_file() else None


def _checked(job: Job, name: str, progress: Progress) -> OfRelease:
    """Measure again what a release promises."""
    asked = asked_of(job, ReportOptions(release=name, sample=0))
    with open_warehouse(recorded(asked), read_only=True, machine=asked, progress=progress) as warehouse:
        attach.attach(warehouse, asked.attach)
        facts, verdict, _ = collecting.collect(warehouse, asked)
    return OfRelease(
        job.options.table, name, facts.records, str(facts.verdict.headline), None, int(verdict.passed is False)
    )


def folder(option: str, text: str | None) -> Path:
    """Return a folder for a file of every release, made where there is none.

    Raises
    ------
    ParameterError, InputError
        When none is named, or it is something else.
    """
    if text is None:
        raise ParameterError(option, "names a folder for a file of every release of a policy", "none")
    path = Path(text).absolute()
    if path.suffix or (path.exists() and not path.is_dir()):
        raise ParameterError(option, "must be a folder, for a file of every release of a policy", repr(text))
    if not path.parent.is_dir():
        raise InputError(option, f"the folder above {text!r} must exist", "none", "Make it first")
    path.mkdir(exist_ok=True)
    return path


def file_of(name: str, ending: str) -> str:
    r"""Return what the file of a release is called: signs that are none of a name are told by their number.

    >>> file_of("crm.public.Order Details_anonymized", ".html"), file_of("out/visits.parquet", ".json")
    ('crm.public.Order~20~Details_anonymized.html', 'out~2f~visits.parquet.json')
    """
    return "".join(sign if sign.isalnum() or sign in "._-" else f"~{ord(sign):x}~" for sign in name) + ending
