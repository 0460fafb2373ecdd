"""`sqlmicro compare`: methods side by side, disclosure risk against information loss, nothing published."""

from __future__ import annotations

import csv
import io
import re
import shlex
import signal
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from sqlmicro.attacks.attacked import attacked_release
from sqlmicro.attacks.linkage import strongest_linkage
from sqlmicro.audits import information_loss, promised
from sqlmicro.audits.promised import Promises, alone
from sqlmicro.audits.verdict_report import Attacked
from sqlmicro.audits.verdict_words import told
from sqlmicro.database import attach
from sqlmicro.database.columns import make_columns, names_of, pick, split_scales
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.errors import InputError, ParameterError, SqlmicroError
from sqlmicro.identifiers import rare, scan
from sqlmicro.jobs.run import anonymized
from sqlmicro.jobs.steps import Job, Step
from sqlmicro.options.common import (
    IdentifierOptions,
    JobOptions,
    MachineOptions,
    RowKeyOption,
    SeedOptions,
    SourceOptions,
)
from sqlmicro.options.params import Param, carried, settle, specification, specifications
from sqlmicro.options.persons import PersonOptions
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.publish import gate
from sqlmicro.registry import PROMISES, Method, find
from sqlmicro.reports.charts import ru_map
from sqlmicro.reports.compared import Best, ComparedRow, CompareReport, Refused, Tried
from sqlmicro.reports.drawn import Point, pareto
from sqlmicro.system import whole_files
from sqlmicro.system.progress import Progress
from sqlmicro.system.secrets import Task

if TYPE_CHECKING:
    from sqlmicro.pipeline import Run

_WHERE, _SIZES = "compare", ("3", "5", "10")


@dataclass(frozen=True, kw_only=True)
class Trials:
    """What is tried on a table, and how it is shown."""

    methods: Annotated[
        tuple[str, ...],
        Param(
            "Methods to try, a comma list, with their parameters: mdav,microaggregate(quality=best),swap(percent=10).",
            metavar="SPEC",
            whole=True,
        ),
    ] = ("mdav", "microaggregate", "individual-ranking", "safe")
    k: Annotated[tuple[str, ...], Param("Group sizes to try with each method that has one.", metavar="3,5")] = _SIZES
    columns: Annotated[
        tuple[str, ...],
        Param("Columns to anonymize. Default: all but direct identifiers and weights.", metavar="A,B"),
    ] = ()
    by: Annotated[tuple[str, ...], Param("Strata: no group crosses their values.", metavar="A,B")] = ()
    nulls: Annotated[
        str | None,
        Param("Missing values: error, keep, suppress or pattern. Default: that of each method.", metavar="HOW"),
    ] = None
    numeric: Annotated[
        tuple[str, ...], Param("Columns to take as numeric, whatever they look like.", metavar="A,B")
    ] = ()
    nominal: Annotated[
        tuple[str, ...], Param("Columns to take as nominal, whatever they look like.", metavar="A,B")
    ] = ()
    max_risk: Annotated[
        float | None,
        Param("Name the candidate that loses least among those that link at most this share.", min=0, max=1),
    ] = None
    sample: Annotated[
        int | None, Param("Records of the original to try to link. Default: all, up to 100,000.", min=1)
    ] = None
    jobs: Annotated[int, Param("Candidates to try at the same time, each in a process of its own.", min=1)] = 1
    to: Annotated[str | None, Param("Draw the map to this file, .svg.", metavar="FILE")] = None
    overwrite: Annotated[bool, Param("Replace the file if it exists.")] = False


@dataclass(frozen=True, kw_only=True)
class CompareOptions(
    SourceOptions, Trials, RowKeyOption, PersonOptions, IdentifierOptions, SeedOptions, MachineOptions, ReaderOptions
):
    """What `sqlmicro compare` takes."""


@dataclass(frozen=True)
class Candidate:
    """A method with its settings, as it is to be tried; `text` is how the user wrote it."""

    text: str
    method: str
    settings: Mapping[str, object]

    @property
    def k(self) -> object:
        """The group size, of a method that has one."""
        return find(self.method).told("k", self.settings)

    @property
    def label(self) -> str:
        """How it is called in the table and in the picture."""
        return self.text if self.k is None else f"{self.text} k={self.k}"


def compare_values(options: CompareOptions, progress: Progress) -> CompareReport:
    """Try methods on a table and show what each discloses and what it loses: the R-U confidentiality map.

    Every candidate is run as its command would, and attacked by the strongest record linkage with the truth known.
    Nothing is published; the original is read, never changed.
    """
    _check_file(options.to, options.overwrite)
    candidates = list(_candidates(options))
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        scales = _scales(warehouse, options, candidates)
    tried = enumerate(_tried(candidates, options, scales, progress), 1)
    rows = [_row(number, *found, options, scales) for number, found in tried]
    mapped = _on_one_map(rows)
    if not mapped:
        raise InputError(_WHERE, "at least one method must be able to work on these columns", str(rows[0].found.error))
    best, found = None, None
    if options.max_risk is not None:
        kept = [point for point in mapped.values() if point.risk <= options.max_risk]
        best = min(kept, key=lambda point: (point.loss, point.risk), default=None)
        found = Best(options.max_risk, best.label if best else None, best is not None)
    if options.to:
        drawn = [replace(point, chosen=best is not None and point.label == best.label) for point in mapped.values()]
        picture = str(ru_map(drawn, risk="share of records linked", loss="loss in %", standalone=True))
        whole_files.write("--to", Path(options.to), picture.encode(), overwrite=options.overwrite)
    return CompareReport(
        options.table,
        [*scales.numeric, *scales.nominal],
        list(scales.numeric),
        list(scales.nominal),
        [row.placed(mapped.get(row.candidate)) for row in rows],
        options.to,
        found,
    )


def _on_one_map(rows: Sequence[ComparedRow]) -> dict[int, Point]:
    """Return the points of the candidates whose risk was measured over the same columns: as many as have one scale."""
    measured = {row.candidate: row for row in rows if isinstance(row.found, Tried)}
    columns = Counter(tuple(row.found.columns) for row in measured.values()).most_common(1)
    same = [row for row in measured.values() if tuple(row.found.columns) == columns[0][0]]
    points = [Point(row.label, row.found.risk, row.found.loss) for row in same if isinstance(row.found, Tried)]
    return dict(zip((row.candidate for row in same), pareto(points), strict=True))


@dataclass(frozen=True)
class Scales:
    """The columns to be anonymized, by scale; every candidate is told the same."""

    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    by: tuple[str, ...]


def _scales(warehouse: DuckDBWarehouse, options: CompareOptions, candidates: Sequence[Candidate]) -> Scales:
    """Settle the columns and their scales for all candidates, from the options or as `profile` proposes."""
    source = _source(warehouse, options)
    by = pick(source.columns, options.by, f"{_WHERE}, by")
    person = pick(source.columns, options.person, f"{_WHERE}, person")
    largest = max((int(str(candidate.k)) for candidate in candidates if candidate.k), default=rare.K)
    profiles = scan.profiles(warehouse, source, options.region, rare.FewerThan(largest, person))
    allowed = pick(source.columns, options.identifier_ok, f"{_WHERE}, identifier_ok")
    chosen = pick(source.columns, options.columns, f"{_WHERE}, columns") or [
        p.column
        for p in profiles
        if (p.role[0] not in ("identifier", "weight") or p.column in allowed) and p.column not in (*by, *person)
    ]
    if not chosen:
        raise InputError(_WHERE, "there must be columns to anonymize", "none", "Name them with --columns a,b")
    proposed = {p.column.name: p.scale[0] for p in profiles}
    found = split_scales(chosen, proposed, options.numeric, options.nominal, _WHERE)
    return Scales(*map(names_of, (*found, by)))


def _candidates(options: CompareOptions) -> Iterator[Candidate]:
    """Yield every method with every k it can take."""
    where = f"{_WHERE}, k"
    sizes = []
    for text in options.k:
        if not re.fullmatch(r"\s*\d{1,9}\s*", text):
            raise ParameterError(where, "must be whole numbers of at least 2, as in 3,5,10", repr(text))
        sizes.append(int(text))
    texts = specifications(options.methods)
    if not texts:
        raise ParameterError(f"{_WHERE}, methods", "at least one method is needed", "none")
    for text in texts:
        name, given = specification(text, f"{_WHERE}, methods", "a method")
        method = find(name)
        many = {parameter.name for parameter in method.settings if parameter.many}
        given = {key: (value,) if key in many and isinstance(value, str) else value for key, value in given.items()}
        k = method.setting("k")
        several = [{**given, k.name: size} for size in dict.fromkeys(sizes)] if k and k.name not in given else [given]
        for settings in several:
            settle(method.settings, settings, f"{_WHERE}, {name}")
            yield Candidate(text, name, settings)


def _tried(
    candidates: Sequence[Candidate], options: CompareOptions, scales: Scales, progress: Progress
) -> Iterable[tuple[Candidate, Tried | Refused]]:
    """Yield what was measured of every candidate, in order."""
    if options.jobs == 1 or len(candidates) == 1:
        for candidate in candidates:
            yield candidate, _try(candidate, options, scales, progress)
        return
    import multiprocessing

    # Spawned: a forked process would share the threads' locks of the database library.
    context = multiprocessing.get_context("spawn")
    tasks = [(candidate, options, scales) for candidate in candidates]
    workers = min(options.jobs, len(tasks))
    with (
        context.Pool(workers, initializer=_leave_interrupts_to_the_parent) as pool,
        progress.stage("try candidates", len(tasks), unit="candidates"),
    ):
        for number, (task, found) in enumerate(zip(tasks, pool.imap(_try_alone, tasks), strict=True), 1):
            progress.tick(number, len(tasks))
            yield task[0], found


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _try_alone(task: tuple[Candidate, CompareOptions, Scales]) -> Tried | Refused:
    return _try(*task, Progress(enabled=False))


def _try(candidate: Candidate, options: CompareOptions, scales: Scales, progress: Progress) -> Tried | Refused:
    """Run a candidate in memory and measure it; what the method cannot do is told, not raised."""
    started = time.perf_counter()
    try:
        with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
            source = _source(warehouse, options)
            run = anonymized(_job(candidate, options, scales, progress), warehouse, source)
            seconds = time.perf_counter() - started
            return _measured(run, candidate, scales, options.sample, round(seconds, 3))
    except SqlmicroError as error:
        return Refused(error=str(error))


def _source(warehouse: DuckDBWarehouse, options: CompareOptions) -> Source:
    attach.attach(warehouse, options.attach)
    found = find_source(warehouse, options.table, options)
    warehouse.seal()
    return found


def _job(candidate: Candidate, options: CompareOptions, scales: Scales, progress: Progress) -> Job:
    """Return the job of the candidate's own command, everything else dropped."""
    method, told = find(candidate.method), _told(find(candidate.method), candidate.settings, scales)
    given = carried(JobOptions, options, rest="drop", keep=told.pop("keep", ()))
    columns, by = (told.pop(name, ()) for name in ("columns", "by"))
    nulls = options.nulls if method.takes("nulls") else None
    step = Step(method, method.name, {**candidate.settings, **told}, columns, by, nulls)
    return Job(given, (step,), _WHERE, progress)


def _told(method: Method, given: Mapping[str, object], scales: Scales) -> dict[str, tuple[str, ...]]:
    """Return the columns and scales that a method is told, under the options it has."""
    told = {"columns": (*scales.numeric, *scales.nominal)} if method.takes("columns") else {}
    if scales.by:  # released as they are, whatever the method makes of them: what is compared has the same columns
        told["by" if method.takes("by") else "keep"] = scales.by
    known = {parameter.name for parameter in method.settings}
    for name in ("numeric", "nominal"):
        if name in known and name not in given and getattr(scales, name):
            told[name] = getattr(scales, name)
    return told


def _measured(run: Run, candidate: Candidate, scales: Scales, sample: int | None, seconds: float) -> Tried:
    """Return risk and loss of the records as they stand."""
    warehouse = run.warehouse
    names = (*scales.numeric, *scales.nominal)
    own = [column for column in run.source.columns if column.name in names]
    numeric = [column for column in own if column.name in scales.numeric and column not in run.text]
    loss = information_loss.measure(warehouse, run.original, run.current, own, numeric)
    by_column = {name: 100.0 if found is None else found for name, found in loss.loss_by_column.items()}  # none is left
    before, after = (
        Source(relation, label, tuple(make_columns(warehouse.describe(relation))), is_table=False)
        for relation, label in ((run.original, "the original"), (run.current, candidate.label))
    )
    # What is released counts, strata included, not only what was to be anonymized.
    known = [column for column in run.known if column in run.source.columns]
    if not known:
        raise InputError(_WHERE, "there must be a released column that an attacker may know", "none")
    sides = attacked_release(
        warehouse, before, after, columns=[column.staged for column in known], match=["row_id"],
        nominal=[column.staged for column in known if column.name in scales.nominal], sample=sample,
        person=[column.staged for column in run.roles.person],
    )  # fmt: skip
    staged = {column.name: column.staged for column in known}
    worked = [tuple(staged.get(name, name) for name in step.columns) for step in run.steps]
    tasks = [Task(s.method, on, (), s.nulls, s.parameters) for s, on in zip(run.steps, worked, strict=True)]
    linked = strongest_linkage(sides, tasks)
    over = [
        (claim.k, [column.staged for column in claim.columns])
        for claim in run.claims if claim.promise == "record" and claim.columns
    ]  # fmt: skip
    promises = Promises(over, alone=alone(step.promise for step in run.steps))
    columns = [replace(c, name=c.staged) for c in known]
    verdict = promised.measured(columns, promises, gate.counter(run), unit=run.roles.unit)
    attacked = Attacked("linkage", linked.rate, linked.ci[0], linked.chance, linked.n, assumed=False)
    return Tried(
        columns=[column.name for column in known],
        risk=linked.rate,
        loss=sum(by_column.values()) / len(by_column),
        k_released=verdict.k_released,
        verdict=told(verdict.after([attacked])),
        promise=PROMISES[run.steps[-1].promise],
        risk_ci=list(linked.ci),
        chance=linked.chance,
        tried=linked.n,
        loss_by_column=by_column,
        suppressed=run.rows_in - warehouse.count(run.current),
        notes=sides.notes(),
        seconds=seconds,
    )


def _row(
    number: int, candidate: Candidate, found: Tried | Refused, options: CompareOptions, scales: Scales
) -> ComparedRow:
    return ComparedRow(
        number, candidate.label, candidate.method, candidate.k, candidate.settings, found,
        command(candidate, options, scales),
    )  # fmt: skip


def command(candidate: Candidate, options: CompareOptions, scales: Scales) -> str:
    """Return the command line that makes the release of a candidate.

    >>> options = CompareOptions(db="w.db", table="t", nulls="keep")
    >>> command(Candidate("mdav", "mdav", {"k": 3}), options, Scales(("age", "net income"), ("town",), ()))
    "sqlmicro mdav --db w.db --table t --columns 'age,net income,town' --nominal town --rest drop --nulls keep --k 3"
    """
    method = find(candidate.method)
    words = ["sqlmicro", method.name]
    for name, given in (("db", options.database), ("table", options.table)):
        words += [f"--{name}", str(given)] if given else []
    for name, chosen in _told(method, candidate.settings, scales).items():
        words += [f"--{name}", _comma_list(chosen)]
    words += ["--rest", "drop"]
    if options.nulls and method.takes("nulls"):
        words += ["--nulls", options.nulls]
    for name in ("identifier_ok", "row_key", "person"):
        words += [f"--{name.replace('_', '-')}", _comma_list(getattr(options, name))] if getattr(options, name) else []
    words += ["--rows-are-persons"] * options.rows_are_persons
    for parameter in method.settings:
        value = candidate.settings.get(parameter.name)
        if value is True:
            words.append(parameter.option)
        elif value not in (None, False):
            words += [parameter.option, _comma_list(value) if isinstance(value, tuple) else str(value)]
    return " ".join(shlex.quote(word) for word in words)


def _comma_list(names: Sequence[str]) -> str:
    """Return names as an option takes them: quoted where they hold a comma or a quote."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()


def _check_file(to: str | None, overwrite: bool) -> None:
    if to is None:
        return
    path, where = Path(to), f"{_WHERE}, --to"
    if path.suffix.lower() != ".svg":
        raise ParameterError(where, "must end in .svg", repr(path.suffix))
    if not path.parent.is_dir():
        raise InputError(where, f"there must be a folder {str(path.parent)!r}", "none")
    whole_files.refuse(where, path, to, overwrite=overwrite)
