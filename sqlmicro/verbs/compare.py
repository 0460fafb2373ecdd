"""`sqlmicro compare`: methods side by side, disclosure risk against information loss, nothing published.

The candidates of `sqlmicro compare`: methods with their settings, the columns they are told, and their commands.
"""

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
from typing import TYPE_CHECKING, Annotated, Literal

from sqlmicro.attacks.attacked import attacked_release
from sqlmicro.attacks.inference import Gain, gained
from sqlmicro.attacks.linkage import strongest_linkage
from sqlmicro.audits import information_loss, usefulness
from sqlmicro.audits.verdict import Attacked, Promises, alone, judge_promises
from sqlmicro.audits.verdict_words import told
from sqlmicro.database import attach
from sqlmicro.database.columns import make_columns, names_of, pick, split_scales
from sqlmicro.database.finding import find_source
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, ParameterError, SqlmicroError
from sqlmicro.identifiers import rare, scan
from sqlmicro.jobs.run import anonymized
from sqlmicro.jobs.steps import Job, Step
from sqlmicro.options.common import (
    IdentifierOptions,
    JobOptions,
    MachineOptions,
    PersonOptions,
    RowKeyOption,
    SeedOptions,
    SourceOptions,
)
from sqlmicro.options.params import Param, carried, settle, specification, specifications
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.publish import gate
from sqlmicro.registry import PROMISES, Method, find
from sqlmicro.reports.charts import Point, pareto, ru_map
from sqlmicro.reports.compared import LOSS, RISK, Accuracy, Best, ComparedRow, CompareReport, Refused, Tried
from sqlmicro.system import moves
from sqlmicro.system.progress import Progress
from sqlmicro.system.secrets import Task
from sqlmicro.verbs.rehearsal import Named, beside_others, divided

if TYPE_CHECKING:
    from sqlmicro.database.templates import Name
    from sqlmicro.pipeline import Run

_HELD_OUT = 0.1


def compare_values(options: CompareOptions, progress: Progress) -> CompareReport:
    """Try methods on a table and show what each discloses and what it loses: the R-U confidentiality map.

    Every candidate is run as its command would, and attacked by the strongest record linkage with the truth known.
    Nothing is published; the original is read, never changed.
    """
    _check_file(options.to, options.overwrite)
    candidates = list(candidates_of(options.methods, options.k))
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        scales = _scales(warehouse, options, candidates)
    tried = enumerate(_tried(candidates, options, scales, progress), 1)
    rows = _ranked([_row(number, *found, options, scales) for number, found in tried], options.for_)
    mapped = _on_one_map(rows)
    if not mapped:
        raise InputError(WHERE, "at least one method must be able to work on these columns", str(rows[0].found.error))
    best, found = None, None
    if options.max_risk is not None:
        kept = [point for point in mapped.values() if point.risk <= options.max_risk]
        best = min(kept, key=lambda point: (point.loss, point.risk), default=None)
        found = Best(options.max_risk, best.label if best else None, best is not None)
    report = CompareReport(
        options.table,
        [*scales.numeric, *scales.nominal],
        list(scales.numeric),
        list(scales.nominal),
        [row.placed(mapped.get(row.candidate)) for row in rows],
        options.to,
        found,
        options.for_,
        scales.target,
        list(scales.weights),
    )
    if options.to:
        picture = str(ru_map(report.points, risk=RISK, loss=LOSS, standalone=True))
        moves.write("--to", Path(options.to), picture.encode(), overwrite=options.overwrite)
    return report


def _ranked(rows: Sequence[ComparedRow], use: Use) -> list[ComparedRow]:
    """Return the rows with their places by what the release is for, from 1; equal ones share a place."""
    worth = {row.candidate: row.found.worth(use) for row in rows if isinstance(row.found, Tried)}
    return [
        replace(row, rank=1 + sum(other < worth[row.candidate] for other in worth.values()))
        if row.candidate in worth else row
        for row in rows
    ]  # fmt: skip


def _on_one_map(rows: Sequence[ComparedRow]) -> dict[int, Point]:
    """Return the points of the candidates whose risk was measured over the same columns: as many as have one scale."""
    measured = {row.candidate: row for row in rows if isinstance(row.found, Tried)}
    columns = Counter(tuple(row.found.columns) for row in measured.values()).most_common(1)
    same = [row for row in measured.values() if tuple(row.found.columns) == columns[0][0]]
    points = [Point(row.label, row.found.risk, row.found.loss) for row in same if isinstance(row.found, Tried)]
    return dict(zip((row.candidate for row in same), pareto(points), strict=True))


def _scales(warehouse: Database, options: CompareOptions, candidates: Sequence[Candidate]) -> Scales:
    """Settle the columns and their scales for all candidates, from the options or as `profile` proposes."""
    source = _source(warehouse, options)
    by = pick(source.columns, options.by, f"{WHERE}, by")
    person = pick(source.columns, options.person, f"{WHERE}, person")
    largest = max((int(str(candidate.k)) for candidate in candidates if candidate.k), default=rare.K)
    profiles = scan.profiles(warehouse, source, options.region, rare.FewerThan(largest, person))
    allowed = pick(source.columns, options.identifier_ok, f"{WHERE}, identifier_ok")
    target = pick(source.columns, [options.target] if options.target else [], f"{WHERE}, target")
    named = pick(source.columns, options.columns, f"{WHERE}, columns")
    apart = (*by, *person, *target)
    if both := [column for column in (*named, *by, *person) if column in target]:
        raise ParameterError(f"{WHERE}, target", "a column has one role only", names_of(both)[0])
    weights = [p.column for p in profiles if p.role[0] == "weight" and p.column not in (*allowed, *apart)]
    chosen = named or [
        p.column for p in profiles
        if (p.role[0] != "identifier" or p.column in allowed) and p.column not in (*apart, *weights)
    ]  # fmt: skip
    if not chosen:
        raise InputError(WHERE, "there must be columns to anonymize", "none", "Name them with --columns a,b")
    proposed = {p.column.name: p.scale[0] for p in profiles}
    found = split_scales(chosen, proposed, options.numeric, options.nominal, WHERE)
    text = names_of([column for column in chosen if not column.numeric])
    left = () if named else names_of(weights)
    numeric, nominal = map(names_of, found)
    told = target[0].name if target else None
    return Scales(numeric, nominal, names_of(by), text, left, told, told is not None and proposed[told] == "nominal")


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
    if why := refusal(candidate, scales):
        return Refused(error=why)
    started = time.perf_counter()
    try:
        with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
            source = _source(warehouse, options)
            run = anonymized(_job(candidate, options, scales, progress), warehouse, source)
            seconds = time.perf_counter() - started
            found = _measured(run, candidate, scales, options.sample, round(seconds, 3))
        gain, notes = _inference(candidate, options, scales, progress)
        accuracy = _accuracy(candidate, options, scales, progress) if scales.target else None
        return replace(found, inference=gain, accuracy=accuracy, notes=[*found.notes, *notes])
    except SqlmicroError as error:
        return Refused(error=str(error))


def _inference(
    candidate: Candidate, options: CompareOptions, scales: Scales, progress: Progress
) -> tuple[Gain | None, list[str]]:
    """Return what being in the table adds to what is guessed of somebody, or why that could not be measured.

    The candidate is made again without a tenth of the people, the same for all candidates: they show what it teaches
    about anybody.
    """
    told = [scales.target] if scales.target else []
    try:
        with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
            source = _source(warehouse, options)
            whose = pick(source.columns, options.person, f"{WHERE}, person")
            people = divided(warehouse, source, whose, _HELD_OUT)
            run = anonymized(_job(candidate, options, scales, progress), warehouse, people[0])
            run.promises.apart |= dict.fromkeys(told, "sensitive")
            known = [column.name for column in run.known if column in source.columns]
            nominal = [*scales.nominal, *(told if scales.target_is_nominal else [])]
            named = Named(known, told, nominal)
            return gained(beside_others(run, candidate.label, named, people, whose, options.sample)), []
    except SqlmicroError as error:
        return None, [f"inference was not measured: {str(error).rstrip('.')}"]


def _accuracy(candidate: Candidate, options: CompareOptions, scales: Scales, progress: Progress) -> Accuracy:
    """Return how well models tell the target of a third of the records, fitted on what is released of the others."""
    job = _job(candidate, options, scales, progress)
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        source = _source(warehouse, options)
        run = anonymized(job, warehouse, source, _part(warehouse, source, "two thirds"))
        trained, in_ranges = [warehouse.table(one) for one in (run.table.original, run.table.current)], run.table.text
    with open_warehouse(options.database, read_only=True, machine=options, progress=progress) as warehouse:
        source = _source(warehouse, options)
        run = anonymized(job, warehouse, source, _part(warehouse, source, "the others"), steps=False)
        (target,) = (column for column in source.columns if column.name == scales.target)
        nominal, numeric = (
            [c for c in source.columns if c.name in names] for names in (scales.nominal, scales.numeric)
        )
        (nominal if scales.target_is_nominal else numeric).append(target)
        relations = [warehouse.load(table, f"trained_{n}", "filled with a part") for n, table in enumerate(trained)]
        found = [
            usefulness.read(warehouse, run.table.original, relation, nominal, numeric, [*in_ranges] if at else [])
            for at, relation in enumerate(relations)
        ]
    shares = [usefulness.accuracy(*reversed(pair), nominal=scales.target_is_nominal) for pair in found]
    return Accuracy(*shares)


def _part(warehouse: Database, source: Source, which: Literal["two thirds", "the others"]) -> Name:
    """Return two thirds of the records, or the others; equal records are in one part."""
    sides = (0, 1) if which == "two thirds" else (2,)
    return warehouse.run("audit/part.sql", "part", relation=source.relation, columns=source.columns, parts=sides)


def _source(warehouse: Database, options: CompareOptions) -> Source:
    attach.attach(warehouse, options.attach)
    found = find_source(warehouse, options.table, options)
    warehouse.seal()
    return found


def _job(candidate: Candidate, options: CompareOptions, scales: Scales, progress: Progress) -> Job:
    """Return the job of the candidate's own command, everything else dropped."""
    method, told = find(candidate.method), columns_told(find(candidate.method), candidate.settings, scales)
    given = carried(
        JobOptions, options, rest="drop", keep=told.pop("keep", ()), accept_unique=told.pop("accept_unique", ())
    )
    columns, by = (told.pop(name, ()) for name in ("columns", "by"))
    nulls = options.nulls if method.takes("nulls") else None
    settings = {**candidate.settings, **told, **({"target": scales.target} if "target" in told else {})}
    step = Step(method, method.name, settings, columns, by, nulls)
    return Job(given, (step,), WHERE, progress)


def _measured(run: Run, candidate: Candidate, scales: Scales, sample: int | None, seconds: float) -> Tried:
    """Return risk and loss of the records as they stand."""
    warehouse = run.warehouse
    run.promises.apart |= {scales.target: "sensitive"} if scales.target else {}
    names = (*scales.numeric, *scales.nominal)
    own = [column for column in run.source.columns if column.name in names]
    numeric = [column for column in own if column.name in scales.numeric and column not in run.table.text]
    loss = information_loss.measure(warehouse, run.table.original, run.table.current, own, numeric)
    by_column = {name: 100.0 if found is None else found for name, found in loss.loss_by_column.items()}  # none is left
    before, after = (
        Source(relation, label, tuple(make_columns(warehouse.describe(relation))), is_table=False)
        for relation, label in ((run.table.original, "the original"), (run.table.current, candidate.label))
    )
    # What is released counts, strata included, not only what was to be anonymized.
    known = [column for column in run.known if column in run.source.columns]
    if not known:
        raise InputError(WHERE, "there must be a released column that an attacker may know", "none")
    sides = attacked_release(
        warehouse, before, after, columns=[column.staged for column in known], match=["row_id"],
        nominal=[column.staged for column in known if column.name in scales.nominal], sample=sample,
        person=[column.staged for column in run.roles.person],
    )  # fmt: skip
    staged = {column.name: column.staged for column in known}
    worked = [tuple(staged.get(name, name) for name in step.columns) for step in run.log.steps]
    tasks = [Task(s.method, on, (), s.nulls, s.parameters) for s, on in zip(run.log.steps, worked, strict=True)]
    linked = strongest_linkage(sides, tasks)
    over = [
        (claim.terms.k, [column.staged for column in claim.columns])
        for claim in run.promises.claims if claim.promise == "record" and claim.columns
    ]  # fmt: skip
    promises = Promises(over, alone=alone(step.promise for step in run.log.steps))
    # By the types that are released: of a number that became a range no NaN can be told from a missing value.
    types = {column.name: column.type for column in after.columns}
    columns = [replace(c, name=c.staged, type=types[c.staged]) for c in known]
    verdict = judge_promises(columns, promises, gate.counter(run), unit=run.roles.unit)
    attacked = Attacked("linkage", linked.rate, linked.ci[0], linked.chance, linked.n, assumed=False)
    return Tried(
        columns=[column.name for column in known],
        risk=linked.rate,
        loss=sum(by_column.values()) / len(by_column),
        use=usefulness.measure(
            *usefulness.read(
                warehouse,
                run.table.original,
                run.table.current,
                [column for column in own if column.name in scales.nominal],
                [column for column in own if column.name in scales.numeric],
                [*run.table.text],
            )
        ),
        k_released=verdict.k_released,
        verdict=told(verdict.after([attacked])),
        promise=PROMISES[run.log.steps[-1].promise],
        risk_ci=list(linked.ci),
        chance=linked.chance,
        tried=linked.n,
        loss_by_column=by_column,
        suppressed=run.table.loaded.rows - warehouse.count(run.table.current),
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


def _check_file(to: str | None, overwrite: bool) -> None:
    if to is None:
        return
    path, where = Path(to), f"{WHERE}, --to"
    if path.suffix.lower() != ".svg":
        raise ParameterError(where, "must end in .svg", repr(path.suffix))
    if not path.parent.is_dir():
        raise InputError(where, f"there must be a folder {str(path.parent)!r}", "none")
    moves.refuse(where, path, to, overwrite=overwrite)


WHERE = "compare"
Use = Literal["tables", "means", "models"]


_SIZES = ("3", "5", "10")


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
    k: Annotated[
        tuple[str, ...], Param("Group sizes to try with each method that has one.", metavar="3,5", numbers=True)
    ] = _SIZES
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
    target: Annotated[
        str | None,
        Param(
            "Column that a model is to tell. It stays as it is, and the accuracy of a model is shown that is fitted on "
            "two thirds, released, and tells the others.",
            metavar="COLUMN",
        ),
    ] = None
    for_: Annotated[Use, Param("What the release is for: what candidates are ranked by.")] = "tables"
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


@dataclass(frozen=True)
class Scales:
    """The columns to be anonymized, by scale; every candidate is told the same."""

    numeric: tuple[str, ...]
    nominal: tuple[str, ...]
    by: tuple[str, ...]
    text: tuple[str, ...] = ()
    """Those without arithmetic."""
    weights: tuple[str, ...] = ()
    """What is left out because it is a weight by its name."""
    target: str | None = None
    target_is_nominal: bool = False


def candidates_of(methods: Sequence[str], k: Sequence[str]) -> Iterator[Candidate]:
    """Yield every method with every k it can take."""
    where = f"{WHERE}, k"
    sizes = []
    for text in k:
        if not re.fullmatch(r"\s*\d{1,9}\s*", text):
            raise ParameterError(where, "must be whole numbers of at least 2, as in 3,5,10", repr(text))
        sizes.append(int(text))
    texts = specifications(methods)
    if not texts:
        raise ParameterError(f"{WHERE}, methods", "at least one method is needed", "none")
    for text in texts:
        name, given = specification(text, f"{WHERE}, methods", "a method")
        method = find(name)
        many = {parameter.name for parameter in method.settings if parameter.many}
        given = {key: (value,) if key in many and isinstance(value, str) else value for key, value in given.items()}
        size_of = method.setting("k")
        asked = size_of and size_of.name not in given
        several = [{**given, size_of.name: size} for size in dict.fromkeys(sizes)] if asked and size_of else [given]
        for settings in several:
            settle(method.settings, settings, f"{WHERE}, {name}")
            yield Candidate(text, name, settings)


def columns_told(method: Method, given: Mapping[str, object], scales: Scales) -> dict[str, tuple[str, ...]]:
    """Return the columns and scales that a method is told, under the options it has."""
    named = (*scales.numeric, *scales.nominal)
    # A sample releases its records as they are: what is compared has the same columns.
    found = {"columns": named} if method.takes("columns") else {"keep": named, "accept_unique": named}
    if scales.by:  # so are strata, whatever the method makes of them
        if method.takes("by"):
            found["by"] = scales.by
        else:
            found["keep"] = (*found.get("keep", ()), *scales.by)
    known = {parameter.name for parameter in method.settings}
    if scales.target:
        found["accept_unique"] = (*found.get("accept_unique", ()), scales.target)
        if method.setting("target"):
            found["target"] = (scales.target,)
        else:
            found["keep"] = (*found.get("keep", ()), scales.target)
    for name in ("numeric", "nominal"):
        if name in known and name not in given and getattr(scales, name):
            found[name] = getattr(scales, name)
    return found


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
    for name, chosen in columns_told(method, candidate.settings, scales).items():
        words += [f"--{name.replace('_', '-')}", _comma_list(chosen)]
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


def refusal(candidate: Candidate, scales: Scales) -> str | None:
    """Return why a candidate need not be tried: what takes numbers alone would refuse the columns."""
    method = find(candidate.method)
    if method.stage != "group" or method.engine == "numpy" or not scales.text:
        return None
    return (
        f"not tried: {method.name} works on numbers, dates and timestamps alone, and not on {', '.join(scales.text)}. "
        "Name others with --columns, or use a method that takes any type, such as safe"
    )
