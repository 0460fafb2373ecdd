"""The series that a job continues: what cannot be one is refused before any work is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

from sqlmicro import pipeline
from sqlmicro.database.columns import Column, names_of, pick
from sqlmicro.database.conditions import OPTION as ONLY_WHERE
from sqlmicro.database.conditions import condition
from sqlmicro.database.content import content
from sqlmicro.database.source import Source
from sqlmicro.database.warehouse import Database
from sqlmicro.errors import InputError, Need, ParameterError, demand
from sqlmicro.history import lake_feed, ledger, remembered
from sqlmicro.history.columns import SeriesOfColumns
from sqlmicro.history.compared import NAME as COMPARED
from sqlmicro.history.compared import SNAPSHOT, Feed, compared
from sqlmicro.history.files import SeriesOfFiles
from sqlmicro.history.masks import SeriesOfMasks
from sqlmicro.history.remembered import Remembered
from sqlmicro.history.retention import Retention
from sqlmicro.history.seats import Rules
from sqlmicro.history.series import SOURCE_ROWS, Series, settings_of
from sqlmicro.jobs.plan import Plan
from sqlmicro.options.limits import limits
from sqlmicro.pipeline import PlannedStep, Run
from sqlmicro.publish import continuing, ledger_file
from sqlmicro.publish.continuing import Found
from sqlmicro.publish.in_place import InPlace
from sqlmicro.publish.new_file import NewFile
from sqlmicro.publish.targets import Target
from sqlmicro.registry import methods
from sqlmicro.system import secrets
from sqlmicro.system.secrets import Key

FILES = "safe"
"""The method whose nights are files of combinations."""
MASKS = ("noise", "pseudonymise", "encrypt", "fake", "pram", "top-code", "bottom-code", "partial", "constant", "sample")
"""The methods that give a person the same values in every night, or none, as long as hers are the same."""


def series_of(plan: Plan, warehouse: Database, source: Source, target: Target) -> Series | None:
    """Return the series that a job continues, with what it remembers; None where it continues none.

    Raises
    ------
    ParameterError, InputError
        When the job cannot be a night of it.
    """
    given = plan.publish
    demand(given.needs_of_night(is_night=given.is_night))
    demand(given.needs_of_rows(in_place=given.in_place))
    if not given.is_night:
        return None
    step = plan.steps[0]
    demand(_Asked(plan, target, _kind(step)).needs())
    day, name = plan.options.day, given.series or _named_as(warehouse, target)
    row_key, person = names_of(plan.roles.row_key), names_of(plan.roles.of_night)
    unit = ledger.by_row_key(row_key) if row_key else f"series: {name}"
    key = secrets.ledger_key(ledger.by_person(person) if person else unit)
    if key is None:
        raise InputError(
            "--series", "needs a secret that lasts: by it persons are known again", "none that could be kept",
            f"Set {secrets.LASTING_VARIABLE}, or HOME",
        )  # fmt: skip
    found, last = _found(plan, warehouse, source, target, name)
    rules = Rules(step.k, moves=given.moves, distinct=int(step.guarantees.limits.get("min_l", 1)))
    rules = rules if given.patience is None else replace(rules, patience=given.patience)
    if person and step.method.stage == "mask":
        rules = replace(rules, again=step.k)  # what is true of all in a class is no mean
    told = {
        "method": step.method.name, **_settings(step), "columns": names_of(step.columns), "by": names_of(step.by),
        "nulls": step.nulls, "row_key": row_key, "person": person, "moves": given.moves,
        "released": names_of(plan.roles.released), "secret": secrets.lasting().fingerprint,
        "more": [(one.method.name, names_of(one.columns), _settings(one)) for one in plan.steps[1:]],
    }  # fmt: skip
    used = {*plan.roles.read, *plan.roles.row_key}  # a column that is dropped is none of the release
    schema = ledger.schema_hash([column for column in source.columns if column in used])
    kind = _kind(step) if given.only_where is None else Retention
    series = kind(name, rules, day, source.people, schema, settings_of(told), found.epoch, key, step.nulls)
    if given.epoch or not found.epoch:
        series.epoch = max(found.epoch, last.epoch if last else 0) + 1
    else:
        series.before = _same(series, found)
        series.recoding = series.before.night.recoding
    if isinstance(series, Retention):
        if series.before is None:
            _refuse_anonymized(warehouse, target, name)
        series.of_age = condition(warehouse, source.columns, str(given.only_where), day)
        series.waiting, series.by, series.sensitive = given.waiting, step.by, step.sensitive
        series.counted = plan.roles.of_night
        series.row_key, series.written = plan.roles.row_key, _in_order(source, plan.worked_on)
    return series


def _found(
    plan: Plan, warehouse: Database, source: Source, target: Target, name: str
) -> tuple[Found, ledger_file.LastNight | None]:
    """Return a series where it is remembered, and the last night that was noted beside the secret.

    Raises
    ------
    InputError
        When it is remembered nowhere, elsewhere, or not as it was.
    """
    given = plan.publish
    last = None
    if given.ledger or (isinstance(target, NewFile) and target.records is None):
        found = ledger_file.found(given.ledger, name, plan.job.progress, anew=given.epoch)
        last = ledger_file.last_night(given.ledger, name)
    elif continuing.remembers(warehouse, target):
        found = continuing.found(warehouse, target, name, anew=given.epoch)
    else:
        raise InputError(
            "--series", "is remembered in a DuckDB file", "a target in another database", "Give --ledger FILE"
        )
    if given.series is None and found.epoch:
        must = "remembers which rows it has anonymized by a series that is called as the table, where none is named"
        raise InputError(ONLY_WHERE, must, f"another series called {name}", "Give --series NAME")
    if not found.epoch and not given.epoch:
        ledger_file.refuse_elsewhere(warehouse, target, given.ledger, name, source.people, plan.job.progress)
    elif given.ledger and not given.epoch:
        ledger_file.refuse_older(warehouse, target, found, name, source.people)
    if not given.epoch:
        ledger_file.refuse_restored(last, found, name)
    return found, last


def _named_as(warehouse: Database, target: Target) -> str:
    """Return the name of the series that remembers which rows of a table are anonymized, where none is given.

    Raises
    ------
    InputError
        When rows were anonymized before: a series has to go on with them.
    """
    assert target.name is not None
    name = ".".join(part for part in target.name[1:] if part and part != "main")
    _refuse_anonymized(warehouse, target, name)
    return name


def _refuse_anonymized(warehouse: Database, target: Target, name: str) -> None:
    """Refuse to begin a series in a table that was anonymized before: its rows are no longer what they were."""
    assert target.name is not None
    place = ledger.place(warehouse.full(target.name), None)
    entries = ledger.entries(warehouse, target.record_table(warehouse, "releases"))
    earlier = [one for one in entries if one.place == place and one.state != "withdrawn"]
    if earlier:
        last = earlier[-1]
        named = f"release {last.release}" + (f" of series {last.series}" if last.series else "")
        do = f"Continue it with --series {last.series}" if last.series else "Use a table of raw records"
        raise InputError(f"series {name}", "begins in a table of which nothing was anonymized before", named, do)


def _in_order(source: Source, columns: Collection[Column]) -> list[Column]:
    return [column for column in source.columns if column in set(columns)]


def _settings(step: PlannedStep) -> dict[str, object]:
    """Return the settings of a step; of the file with a key not its name: what is in it counts."""
    return {name: value for name, value in step.told.items() if name != "key_file"}


def load(warehouse: Database, source: Source, plan: Plan, key: Key, series: Series | None, *, watched: bool) -> Run:
    """Load the records of a job; of a night of a series those only that it has to read."""
    alone = isinstance(series, SeriesOfMasks | SeriesOfFiles)
    if series is None or alone:
        if series is not None and series.before is not None:
            series.before = remembered.with_persons(series.before, remembered.everyone(warehouse, series.before))
        run = pipeline.load(
            warehouse, source, plan.roles, key, plan.recipe(source), watched=watched, by_hash=series is not None
        )
        _refuse_lost(plan, series, run.table.loaded.rows)
        return run
    if isinstance(series, Retention):
        return _of_age(warehouse, source, plan, key, series, watched=watched)
    columns = _in_order(source, plan.roles.read)
    # Where persons move, or values are kept, all rows decide.
    every = series.rules.moves or plan.gates or _keeps_values(plan) or plan.roles.of_night
    feed = _feed(plan, warehouse, source, series.before)
    series.compared = compared(
        warehouse, source, plan.roles.row_key, columns, series.key, series.before, feed, every=bool(every)
    )
    series.before = series.compared.before
    _refuse_lost(plan, series, series.compared.rows)
    run = pipeline.load(
        warehouse,
        source,
        plan.roles,
        key,
        plan.recipe(source),
        watched=watched,
        read=series.compared.read,
        by_hash=True,
    )
    if series.compared.read is not None:
        if run.table.loaded.rows > len(series.compared.record):
            must = "must not change while a night reads it"
            raise InputError(source.label, must, "rows with keys that others have", "Run it again")
        told = ", by the change feed of the lake" if feed.snapshot else ""
        run.log.notes.append(
            f"rows that were read: {run.table.loaded.rows:,} of {series.compared.rows:,}{told}; IL is theirs"
        )
    run.table.loaded = replace(
        run.table.loaded, rows=series.compared.rows, content=series.compared.content or run.table.loaded.content
    )
    return run


def _of_age(warehouse: Database, source: Source, plan: Plan, key: Key, series: Retention, *, watched: bool) -> Run:
    """Load the rows that are anonymized or have come of age; what the whole table held is kept, as it may change."""
    seen = content(warehouse, source.relation) if watched else None
    if series.before is not None:
        series.before = remembered.with_persons(series.before, remembered.everyone(warehouse, series.before))
    read = series.look(warehouse, source)
    assert series.rows is not None
    _refuse_lost(plan, series, len(series.rows.record))
    if series.before is None:
        _refuse_few(plan, int(series.rows.due.sum()))
    run = pipeline.load(warehouse, source, plan.roles, key, plan.recipe(source), read=read, by_hash=True)
    run.table.loaded = replace(run.table.loaded, rows=len(series.rows.record), seen=seen)
    return run


def _refuse_few(plan: Plan, rows: int) -> None:
    k = plan.steps[0].k
    if rows < k:
        raise InputError(
            "--only-where", f"in the first night it holds for at least k = {k} rows", "fewer",
            "Nothing was changed. Run it again another night",
        )  # fmt: skip


_MOST_LOST = 0.2
"""The share of its rows that a source may lose from night to night, where nobody says another."""


def _refuse_lost(plan: Plan, series: Series | None, rows: int) -> None:
    """Refuse a night whose source has lost many rows: its classes would close for good.

    Raises
    ------
    InputError
        With how many there are and were, rounded: a message tells of nobody either.
    """
    last = series.before.measured.get(SOURCE_ROWS) if series and series.before else None
    if series is None or not isinstance(last, int) or not rows:
        return
    given = plan.publish.max_loss_of_rows
    allowed, lost = _MOST_LOST if given is None else given, 1 - rows / last
    if lost <= allowed:
        return
    raise InputError(
        f"series {series.name}",
        f"the source may lose {100 * allowed:.3g} % of its rows from night to night (--max-loss-of-rows)",
        f"about {_roughly(rows)} rows, where the last night had about {_roughly(last)}: a loss of {100 * lost:.0f} %",
        "Nothing was published, and the series remembers its last night. See whether the source was loaded as a whole. "
        f"If these persons have left for good, say --max-loss-of-rows {min(100, ceil(100 * lost) + 1)}%",
    )  # fmt: skip


def _roughly(rows: int) -> str:
    """Return a number with two digits.

    >>> _roughly(247), _roughly(98_765)
    ('250', '99,000')
    """
    return f"{int(float(f'{rows:.1e}')):,}"


_GROWS = ("integer", "decimal", "date", "timestamp", "timestamptz")
CHANGES = "changes_source"
"""How the list of changes is called in staging, where it is in a file."""


def _feed(plan: Plan, warehouse: Database, source: Source, before: Remembered | None) -> Feed:
    """Return what tells which rows have changed; a lake does without being named.

    Raises
    ------
    ParameterError
        When it cannot.
    """
    given = plan.publish
    if given.changes_from is not None:
        changes = warehouse.source(given.changes_from, name=CHANGES)
        there = {column.name: column.type for column in changes.columns}
        if any(there.get(column.name) != column.type for column in plan.roles.row_key):
            must = f"has the columns of the row key, in their types: {', '.join(names_of(plan.roles.row_key))}"
            raise ParameterError("--changes-from", must, ", ".join(f"{name} {kind}" for name, kind in there.items()))
        return Feed(changes=changes.relation)
    if given.watermark is None:
        return _of_lake(plan, warehouse, source, before) if lake_feed.is_fed(warehouse, source) else Feed()
    (column,) = pick(source.columns, [given.watermark], "--watermark")
    if column.family not in _GROWS:
        must = "is a column of numbers, dates or timestamps that grow"
        raise ParameterError("--watermark", must, f"{column.name} ({column.type})")
    return Feed(watermark=column)


def _of_lake(plan: Plan, warehouse: Database, source: Source, before: Remembered | None) -> Feed:
    """Return the feed of the lake that the source is in, since the snapshot that the last night has read."""
    now = lake_feed.snapshot(warehouse, source)
    last = before.measured.get(COMPARED) if before else None
    then = last.get(SNAPSHOT) if isinstance(last, dict) else None  # it may have been edited
    if not isinstance(then, str):
        return Feed(snapshot=now)
    return Feed(snapshot=now, changes=lake_feed.changes(warehouse, source, plan.roles.row_key, then, now))


def _keeps_values(plan: Plan) -> bool:
    return any(step.sensitive or step.left_as_it_is(plan.roles.released) for step in plan.steps)


def watch(run: Run, series: Series | None) -> None:
    """Compare the rows that the steps of a run have made with those of the last night."""
    if isinstance(series, SeriesOfColumns | SeriesOfMasks):
        series.watch(run)
    if series is not None:
        series.note_measured(run)


def _kind(step: PlannedStep) -> type[Series]:
    """Return what continues the series of a method."""
    method = step.method
    if method.name == FILES:
        return SeriesOfFiles
    if method.promise == "column":
        return SeriesOfColumns
    return SeriesOfMasks if method.name in MASKS else Series


@dataclass(frozen=True)
class _Asked:
    """What a night is asked to be: by its plan, its first step, and the kind of series that continues this."""

    plan: Plan
    target: Target
    kind: type[Series]

    @property
    def step(self) -> PlannedStep:
        """The step of the night, or the first of its masks."""
        return self.plan.steps[0]

    @property
    def in_place(self) -> bool:
        """Whether some rows of a table are changed in place."""
        return self.plan.publish.only_where is not None

    def needs(self) -> Iterator[Need]:
        """Yield all that a night needs, in the order in which it is told."""
        yield from self._of_persons()
        yield from self._of_table() if self.in_place else [Need(
            self.target.kind != "in place", "--series", "needs a table that stays as it is", "--in-place",
            "Use --into NAME or --to FILE, or say with --only-where which rows are anonymized for good",
        )]  # fmt: skip
        steps = self.plan.steps
        yield Need(
            len(steps) == 1 or all(step.method.name in MASKS for step in steps), "--series",
            "has one step a night, which decides all classes", f"{len(steps)} steps", "Leave the others out",
        )  # fmt: skip
        yield Need(
            not self.plan.job.keys, "--series", "has no keys to other tables of the job", "some",
            "Leave out their [[key]]",
        )  # fmt: skip
        yield self._of_units()
        for step in steps:
            yield from self._of_method(step)
            yield from self._of_settings(step)
        yield from self._of_options()
        yield from self._of_columns()
        got = "--keep-candidates" if self.plan.keeps_candidates else f"--engine {self.plan.options.engine}"
        alone = not self.plan.keeps_candidates and self.plan.options.engine == "duckdb"
        yield Need(alone, "--series", "publishes one release a night, with DuckDB", got)

    def _of_persons(self) -> Iterator[Need]:
        roles = self.plan.roles
        must = "needs --row-key, by which persons are known again"
        yield Need(roles.row_key or self.kind is SeriesOfFiles, "--series", must, "none", "Give --row-key id")
        must = "gives every record a class of its own, so that no column is kept constant within a person"
        yield Need(not roles.of_person, "--series", must, "--of-person", "Leave it out")
        must = "counts persons or households: who moves to another household would found a class for each"
        do = "Leave out --person: k households hold k persons"
        yield Need(not (roles.household and roles.person), "--series", must, "--person and --household", do)

    def _of_table(self) -> Iterator[Need]:
        given, step, target = self.plan.publish, self.step, self.target
        is_own = isinstance(target, InPlace) and not target.on_server
        yield Need(is_own, ONLY_WHERE, "goes with a table of a DuckDB database", "another one")
        options = {
            "--moves": given.moves, "--epoch": given.epoch, "--widen": given.widen,
            "--watermark": given.watermark is not None, "--changes-from": given.changes_from is not None,
        }  # fmt: skip
        others = ", ".join(option for option, there in options.items() if there)
        must = "has its rows in the table itself, which stay what they are"
        yield Need(not others, ONLY_WHERE, must, others, "Leave it out")
        alone = len(self.plan.steps) == 1
        got = step.method.name if alone else f"{len(self.plan.steps)} steps"
        can = ", ".join(name for name, one in methods().items() if one.engine == "numpy")
        must = f"goes with one step that gives groups of records a mean: {can}"
        yield Need(alone and step.method.engine == "numpy", ONLY_WHERE, must, got)
        do = "Use --nulls keep or error"
        yield Need(step.nulls in ("error", "keep"), ONLY_WHERE, "leaves no row out", f"--nulls {step.nulls}", do)

    def _of_units(self) -> Need:
        roles, moves = self.plan.roles, self.plan.publish.moves
        unit, option = ("household", "--household") if roles.household else ("person", "--person")
        do = "Leave out --moves" if moves else "Use mdav, microaggregate, mondrian or suppress"
        counts = self.kind in (Series, SeriesOfMasks) and not moves
        must = _UNITS.get(self.kind, "counts {0}s where nobody moves").format(unit)
        got = f"{option} with {'--moves' if moves else self.step.method.name}"
        return Need(counts or not roles.of_night, "--series", must, got, do)

    def _of_method(self, step: PlannedStep) -> Iterator[Need]:
        method, moves = step.method, self.plan.publish.moves
        if method.name == FILES:
            names = ", ".join(names_of(step.sensitive))
            yield Need(not step.sensitive, "--series", _NO_RECORD, names, "Put it into --columns")
        elif _kind(step) is not Series:
            for depends, got, do in _on_others(step):
                yield Need(not depends, "--series", "needs masked values that depend on nobody else's", got, do)
        else:
            can = ", ".join([*(name for name, one in methods().items() if one.goes_on), FILES])
            columns = ", ".join(name for name, one in methods().items() if one.promise == "column")
            use = f"Use a method that makes classes of records: {can}; column by column: {columns}; or a mask: "
            got = f"{method.name}: {method.no_series or 'nobody has said what its nights would keep together'}"
            must = "needs nights that tell no more together than one"
            yield Need(method.goes_on, "--series", must, got, use + ", ".join(MASKS))
            yield Need(step.k, "--series", "keeps k over all nights", f"{method.name} without --until-k", "Give it")
            do = "Leave it out: one combination of values may be released in several ways"
            yield Need(method.name != "suppress" or not moves, "--moves", "does not go with suppress", "both", do)

    def _of_settings(self, step: PlannedStep) -> Iterator[Need]:
        blocks, by_pattern = step.settings.get("block_attributes"), step.nulls == "pattern"
        yield Need(not blocks, "--series", "groups whole records", "--block-attributes", "Leave it out")
        must = "of files counts combinations of values, of which a missing one is one"
        files = step.method.name == FILES
        yield Need(not (by_pattern and files), "--series", must, "--nulls pattern", "Use --nulls keep")
        must = "does not go with --nulls pattern: who lost a value, so that k lack the same, would move for that"
        moves, do = self.plan.publish.moves, "Leave --moves out, or use --nulls keep"
        yield Need(not (by_pattern and moves), "--moves", must, "both", do)
        others = sorted(set(step.guarantees.limits) - {"min_l"})
        if of_table := [limits()[name].shown for name in others if limits()[name].of_table]:
            must = "keeps no limit that compares a class with the whole table, which changes while the class stays"
            measure = f"sqlmicro audit RELEASE --sensitive {step.sensitive[0].name}"
            do = f"Use --min-l. What a night has is measured by: {measure}"
            yield Need(False, "--series", must, ", ".join(of_table), do)
        got = _shown(others)
        yield Need(not others, "--series", "keeps k and --min-l over all nights", got, "Leave these out")

    def _of_options(self) -> Iterator[Need]:
        given, kind, name = self.plan.publish, self.kind, self.step.method.name
        some = given.watermark or given.changes_from
        got = "--watermark" if given.watermark else "--changes-from"
        groups = kind not in (SeriesOfMasks, SeriesOfFiles)
        yield Need(groups or not some, got, "goes with the methods that group persons", name)
        if kind not in (SeriesOfColumns, SeriesOfMasks):
            return
        yield Need(not given.moves, "--moves", "goes with the methods that make classes", name)
        asked = [name for step in self.plan.steps for name in step.guarantees.limits]
        kept = not asked or (kind is SeriesOfColumns and asked == ["min_l"])
        yield Need(kept, "--series", "keeps only k with this method", _shown(asked), "Leave these out")
        draws = any(step.method.draws or step.method.surrogate for step in self.plan.steps)
        seed = self.plan.options.seed is not None or self.plan.options.seed_file is not None
        must = "draws by the secret that lasts, so that a person's noise stays"
        yield Need(not (kind is SeriesOfMasks and draws and seed), "--series", must, "a seed", "Leave out --seed")

    def _of_columns(self) -> Iterator[Need]:
        plan, step = self.plan, self.step
        hidden = {column for one in plan.steps if one.method.surrogate for column in one.columns}
        shown = (set(plan.roles.row_key) & set(plan.roles.released)) - hidden
        do = "Leave it out of --keep" + (": it stays in the table" if self.in_place else "")
        yield Need(not shown, "--row-key", "is never released in a series", "a released column", do)
        kept = () if self.in_place else step.left_as_it_is(plan.roles.released)
        named, of_files = ", ".join(names_of(kept)), self.kind is SeriesOfFiles
        do = "Put them into --columns, or drop them"
        yield Need(not (kept and of_files), "--series", _NO_RECORD, named, do)
        must = "releases nothing as it is beside a limit such as --min-l: a seat keeps one value, that of the limit"
        do = "Put them into --columns, --by or --sensitive, or drop them"
        beside = kept and self.kind is Series and step.guarantees.limits
        yield Need(not beside, "--series", must, named, do)


def _shown(options: Iterable[str]) -> str:
    return ", ".join("--" + name.replace("_", "-") for name in options)


_NO_RECORD = "of files has rows that are of no record, whose other values they could show"
_UNITS: Mapping[type[Series], str] = {
    SeriesOfFiles: "of files knows nobody again: k rows by which two nights differ may be of one {0}",
    SeriesOfColumns: "by column has every {0} in one mean of a column: another row would be in a second one",
}
"""Why a kind of series counts neither persons nor households."""


def _on_others(step: PlannedStep) -> tuple[tuple[bool, str, str], ...]:
    """Return by what values of a mask may depend on others in the table of tonight: whether, by what, what helps."""
    given, coded = step.settings, ("top-code", "bottom-code")
    return (
        (given.get("kind") == "nonlinear", "--kind nonlinear: whoever comes changes everybody's rank",
         "Use --kind correlated, linear or uncorrelated"),
        (step.method.name == "pram" and (given.get("matrix") is None or bool(given.get("invariant"))),
         "probabilities by the categories of tonight", "Give --matrix FILE, without --invariant"),
        (step.method.name == "sample" and given.get("fraction") is None,
         "a number of tonight's records: who is drawn changes with how many there are", "Give --fraction"),
        (step.method.name in coded and given.get("value") is None, "a threshold by tonight's values", "Give --value X"),
        (step.method.name in coded and given.get("replacement") in ("mean", "median"),
         f"the {given.get('replacement')} of tonight's tail", "Use --replacement threshold or label"),
        (given.get("where_risk") is not None, "the risks of records, which others change", "Leave out --where-risk"),
    )  # fmt: skip


def _same(series: Series, found: Found) -> Remembered:
    """Return what a series remembers, if tonight can go on with it.

    Raises
    ------
    InputError
        When it cannot.
    """
    anew = "Begin a new one with --epoch; nothing is promised across two epochs"
    if isinstance(series, Retention):  # its classes stand in the table
        anew = "Give what was given in the nights before, and a later --night"
    if found.remembered is None:
        raise InputError(
            series.name, "a series must remember its nights", "none: it was forgotten, or its tables were dropped", anew
        )
    night, last = found.remembered.night, found.entry and found.entry.release
    if night.release != last:
        raise InputError(
            f"series {series.name}", "what it remembers must be of its last release",
            f"release {night.release}, where the ledger has {f'release {last}' if last else 'none'}",
            f"A backup may have been restored in part: restore all of it. Or {anew[0].lower()}{anew[1:]}",
        )  # fmt: skip
    for same, must, got in (
        (night.source == series.source, "has one source", "another one"),
        (night.settings == series.settings, "keeps its settings", _differing(night.settings, series.settings)),
        (night.schema_hash == series.schema_hash, "has one schema", "columns of another type"),
    ):
        if not same:
            raise InputError(f"series {series.name}", f"an epoch {must}", got, anew)
    if series.day < night.day:
        raise InputError(
            f"series {series.name}", "nights are published in their order", "one before the last",
            "Rows that come late belong to the next night: they are newcomers there. If --night was wrong last time: "
            f"{anew[0].lower()}{anew[1:]}",
        )  # fmt: skip
    return found.remembered


def _differing(before: str, now: str) -> str:
    """Return the names of the settings that differ."""
    import json

    old, new = json.loads(before), json.loads(now)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return "another " + ", ".join(names)
