"""Job files: TOML in, jobs out; errors name file, step or gate, and key.

Its top level holds the options all steps share, each `[[step]]` what to `do`, each `[[gate]]` what the release must
pass before it is published::

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

   [[gate]]
   quasi = ["age", "sex", "region"]
   min_k = 3

   [[step]]
   do = "publish"
   into = "persons_release"

Several tables are released together: each is a `[[table]]` with a `name`, and has what the file of one table has, with
`[[table.step]]` and `[[table.gate]]`; what holds for all of them (`db`, seed, memory) stands above. A `[[key]]` says
which columns refer to which: they are pseudonymised with one key. A `[rules]` above the tables says what is
done with each that has no step of its own and names its `columns`. Values are taken as they are written; of the
environment only secrets are read.

What is known of the rows of a person, as a job file says it: `orders: count, sum(amount)`.

The tables that a job names and what it publishes into, at the location that is given for them.

A job file names a table `visits` and a release `visits_release`. Where they are is said elsewhere: in a schema, in a
folder of Parquet files here or in a store, or in one of Delta or Iceberg tables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlmicro.audits.join_k import AGGREGATES, Known
from sqlmicro.audits.registry import audits
from sqlmicro.database import attach, finding, lakes
from sqlmicro.database.catalog import split_name
from sqlmicro.database.finding import beside
from sqlmicro.database.lakes import LAKES
from sqlmicro.errors import JobError, ParameterError, did_you_mean
from sqlmicro.jobs import keys
from sqlmicro.jobs.steps import (
    COMMANDS,
    FILE_OPTIONS,
    JOB_OPTIONS,
    OTHER_STEPS,
    RULED_COLUMNS,
    RULES,
    TABLE_OPTIONS,
    TABLE_STEPS,
    Command,
    Gate,
    Job,
    RuleOptions,
    gate_parameters,
    step_of,
    step_parameters,
)
from sqlmicro.options import common
from sqlmicro.options.common import JobOptions, JoinOptions, PublishSettings
from sqlmicro.options.params import Parameter, filled, parameters, settle, take
from sqlmicro.registry import find, methods
from sqlmicro.system.progress import Progress
from sqlmicro.system.secrets import ASK
from sqlmicro.system.stores import is_url, refuse_secret

SECTIONS = ("step", "gate")
(TABLE,) = common.names(parameters(common.TableOption))
JOINS = common.names(parameters(JoinOptions))


@dataclass(frozen=True)
class _Section:
    """A `[[step]]` whose settings are checked."""

    do: str
    where: str
    settings: Mapping[str, Any]


def read(path: str, overrides: Mapping[str, Any], progress: Progress) -> list[Job]:
    """Read a job file: one job, or one for every `[[table]]`.

    Parameters
    ----------
    path : str
        The file; paths in it are taken from its own folder.
    overrides : mapping
        Options of the command line, which go before those of the file; None and an empty list are none.
    progress : Progress
        Where the jobs tell how far they are.

    Raises
    ------
    JobError
        For a file that cannot be read, an unknown key, or a step that is wrong; the message names file, step and key.
    """
    return of_content(path, content(path), overrides, progress)


def of_content(path: str, content: Mapping[str, Any], overrides: Mapping[str, Any], progress: Progress) -> list[Job]:
    """Return the jobs of what a job file says."""
    given = {name: value for name, value in overrides.items() if value not in (None, ())}
    if not content:
        do = "Draft one with: sqlmicro init --table NAME; of a whole warehouse with: sqlmicro scan"
        raise JobError(path, "must say what is to be done", "an empty file", do)
    if not isinstance(content.get(TABLE), list):
        if "key" in content:
            raise JobError(path, "a [[key]] joins tables, of which each is a [[table]]", "one table")
        for name in (*content, *given):
            if name in JOINS:
                raise JobError(
                    f"{path}, key {name!r}", "is about tables that are joined, each a [[table]]", "one table"
                )
        return [_read_job(path, path, content, given, progress)]
    if TABLE in given:
        must = "--table goes with the file of one table"
        raise JobError(path, must, "a file of several", "Change the table in the file")
    shared = {name: value for name, value in content.items() if name not in (TABLE, "key", "rules")}
    for name in shared:
        if name in (*common.names(TABLE_OPTIONS), *SECTIONS):
            must = f"{name!r} belongs into each [[table]]; above them stands what holds for all tables"
            raise JobError(path, must, do="There may be: " + ", ".join(common.names(FILE_OPTIONS)))
    sections = _listed(path, content, TABLE)
    if not sections:
        raise JobError(path, "must have at least one [[table]]", "none", "See: sqlmicro run --help")
    labels = [f"{path}, table {_called(number, item)}" for number, item in enumerate(sections, 1)]
    jobs = [
        _read_table(path, label, shared, item, given, progress)
        for label, item in zip(labels, by_rule(path, labels, content), strict=True)
    ]
    if not all(job.anonymizes for job in jobs):
        raise JobError(
            path, "every [[table]] must be anonymized and published", "one that is not", "Make two job files"
        )
    names = [str(item["name"]) for item in sections]
    both = {name.lower() for name in names} & {name.lower() for name in jobs[0].options.leave_out}
    if both:
        raise JobError(f"{path}, key 'leave_out'", "names tables that are not released", f"the [[table]] {min(both)!r}")
    found = keys.read(path, _listed(path, content, "key"), names)
    jobs = keys.told_of(keys.kept(jobs, found), found)
    _check_pseudonyms(path, jobs)
    told = read_known(path, jobs[0].options.known, names)
    return [
        replace(job, keys=tuple(key for key in found if key.child == number), known=told[number])
        for number, job in enumerate(jobs)
    ]


def by_rule(path: str, labels: Sequence[str], content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the tables of a job file, those without steps with the steps, gate and rest that `[rules]` give them."""
    tables = _listed(path, content, TABLE)
    if "rules" not in content:
        return tables
    if not isinstance(content["rules"], dict):
        raise JobError(f"{path}, key 'rules'", "is written [rules], before the first [[table]]", "something else")
    where = f"{path}, rules"
    rules = take(RuleOptions, _settled(RULES, content["rules"], where), where)
    for name in (rules.rows, rules.persons):
        if name not in methods():
            raise JobError(where, f"{name!r} is no method", do=did_you_mean(name, methods()))
    return [_ruled(label, item, rules) for label, item in zip(labels, tables, strict=True)]


def _ruled(label: str, item: Mapping[str, Any], rules: RuleOptions) -> Mapping[str, Any]:
    """Return a table with what the rules give it; one with steps of its own as it is."""
    own = common.names(RULED_COLUMNS)
    if SECTIONS[0] in item:
        if both := [name for name in own if name in item]:
            must = "a table with steps of its own names its columns in them"
            raise JobError(label, must, f"{both[0]!r} beside [[table.step]]", "Write it into the step")
        return item
    given = _settled(RULED_COLUMNS, {name: item[name] for name in own if name in item}, label)
    columns, nominal = list(given["columns"]), list(given["nominal"])
    persons = bool(item.get("person"))
    step = {
        "do": rules.persons if persons else rules.rows, "columns": columns, "k": rules.k,
        **({"nulls": "keep"} if persons else {}), **({"nominal": nominal} if nominal else {}),
    }  # fmt: skip
    return {
        **({"rest": rules.rest} if rules.rest else {}),
        **{name: value for name, value in item.items() if name not in own},
        "step": [step, {"do": "publish", "overwrite": rules.overwrite}],
        "gate": [{"quasi": columns, "min_k": rules.k}, *item.get("gate", [])],
    }


def _called(number: int, item: Mapping[str, Any]) -> str:
    """Return what a [[table]] is called in messages: its number, and its name if it has one."""
    return f"{number} ({item['name']})" if isinstance(item.get("name"), str) else str(number)


def _read_table(
    path: str,
    label: str,
    shared: Mapping[str, Any],
    item: Mapping[str, Any],
    given: Mapping[str, Any],
    progress: Progress,
) -> Job:
    """Return the job of a `[[table]]`."""
    own = {*common.names(FILE_OPTIONS), "key"} & item.keys()
    if own:
        raise JobError(label, f"{sorted(own)[0]!r} holds for all tables, and stands above the first [[table]]")
    if TABLE in item or not isinstance(item.get("name"), str):
        raise JobError(label, "must say which table it is", "no 'name'", 'Write name = "…" in the [[table]]')
    content = {TABLE if name == "name" else name: value for name, value in item.items()}
    return _read_job(path, label, {**shared, **content}, given, progress)


def content(path: str) -> Mapping[str, Any]:
    """Return what a job file says, as it is written."""
    import tomllib

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError:
        raise JobError(
            path, "there must be a job file", "none", "Check the path, or draft one with: sqlmicro init"
        ) from None
    except RecursionError:
        raise JobError(path, "must be TOML with values of a few levels", "brackets in brackets without end") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        place = str(error).rpartition("(")[2].rstrip(")") if "(at" in str(error) else "somewhere"
        do = "Mend it there; sqlmicro init and sqlmicro scan draft files that are right"
        raise JobError(path, "must be TOML", f"something else {place}", do) from None


def _listed(where: str, content: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the sections of a name: a list of tables, possibly empty."""
    listed = content.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise JobError(f"{where}, key {name!r}", f"is written [[{name}]]", "something else")
    return listed


def _read_job(path: str, label: str, content: Mapping[str, Any], given: Mapping[str, Any], progress: Progress) -> Job:
    """Return the job of one table."""
    known = common.names(JOB_OPTIONS)
    for name in content:
        if name not in (*known, *SECTIONS):
            raise JobError(label, f"{name!r} is not a key here", do=did_you_mean(name, (*known, *SECTIONS)))
    folder = Path(path).parent
    own = {name: value for name, value in content.items() if name not in SECTIONS}
    shared = _settled(JOB_OPTIONS, {**_beside(folder, JOB_OPTIONS, own), **given}, label)
    listed = _listed(label, content, "step")
    if not listed:
        raise JobError(label, "must have at least one [[step]]", "none", "See: sqlmicro run --help")
    sections = [_read_step(label, folder, number, item) for number, item in enumerate(listed, 1)]
    gates = [
        _read_gate(f"{label}, gate {number}", folder, item)
        for number, item in enumerate(_listed(label, content, "gate"), 1)
    ]
    _check_order(label, sections, gates)
    release = [section for section in sections if section.do not in OTHER_STEPS]
    published = next((section.settings for section in sections if section.do == "publish"), {})
    options, publish = filled(JobOptions, shared), take(PublishSettings, published, label)
    options, publish = located(options, publish, label)
    return Job(
        options,
        tuple(step_of(find(section.do), section.settings, section.where) for section in release),
        label,
        progress,
        tuple(Command(one.do, one.where, one.settings) for one in sections if one.do in COMMANDS),
        tuple(gates),
        publish,
    )


def _read_gate(where: str, folder: Path, item: Mapping[str, Any]) -> Gate:
    settings = _given(folder, gate_parameters(), item, where)
    gate = Gate(where, settings)
    for name in gate.options.measure:
        if name not in audits():
            raise JobError(f"{where}, key 'measure'", f"{name!r} is no audit", do=did_you_mean(name, audits()))
    if not (gate.options.thresholds or gate.options.measure):
        raise JobError(where, "must say what has to hold, such as min_k = 3", "no threshold")
    for found in audits().values():
        if "control" in found.needs and (found.name in gate.options.measure or found.gate in gate.options.thresholds):
            raise JobError(
                where, "measures what is released, not people outside of the table", found.name,
                f"Hold the release to it after the job: sqlmicro audit --original TABLE --measure {found.name}",
            )  # fmt: skip
    return gate


def _beside(folder: Path, declared: tuple[Parameter, ...], settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings with the paths in them taken from a folder; the name of a table stays as it is."""

    def path(kind: str, text: Any) -> Any:
        if not isinstance(text, str) or text == ASK:
            return text
        if kind == "LOCATION":
            return from_folder(folder, text)
        if kind in ("TABLE", "NAME=URL"):
            return (finding if kind == "TABLE" else attach).beside(folder, text)
        if text.startswith(tuple(f"{lake}:" for lake in lakes.LAKES)):
            return finding.beside(folder, text)
        column, equals, file = text.partition("=") if kind == "A=FILE" else ("", "", text)
        return text if Path(file).is_absolute() or is_url(file) else f"{column}{equals}{folder / file}"

    found = dict(settings)
    for parameter in declared:
        kind, value = parameter.param.metavar, settings.get(parameter.name)
        if kind in ("FILE", "FILE...", "A=FILE", "TABLE", "NAME=URL", "LOCATION") and value is not None:
            texts = [path(kind, text) for text in value] if isinstance(value, list) else path(kind, value)
            found[parameter.name] = texts
    return found


def _settled(declared: tuple[Parameter, ...], given: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    try:
        return settle(declared, given, where)
    except ParameterError as error:
        raise JobError(error.where, error.must, error.got, error.do) from None


def _given(folder: Path, declared: tuple[Parameter, ...], item: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return the settings that are given, checked; paths in them are taken from a folder."""
    settled = _settled(declared, _beside(folder, declared, item), where)
    return {name: settled[name] for name in item}


def _read_step(label: str, folder: Path, number: int, item: Mapping[str, Any]) -> _Section:
    do = item.get("do")
    known = [*methods(), *OTHER_STEPS]
    where = f"{label}, step {number}"
    if not isinstance(do, str):
        raise JobError(where, "must say what to do", "no key 'do'", f'Write do = "…"; there are: {", ".join(known)}')
    if do not in known:
        raise JobError(f"{where}, key 'do'", f"{do!r} is no step", do=did_you_mean(do, known))
    given = {name: value for name, value in item.items() if name != "do"}
    where = f"{where} ({do})"
    return _Section(do, where, _given(folder, step_parameters(do), given, where))


def _check_order(label: str, steps: Sequence[_Section], gates: Sequence[Gate]) -> None:
    """Tables first, publishing last; a job that publishes nothing only registers, profiles and audits."""
    does = [step.do for step in steps]
    first = next((number for number, do in enumerate(does) if do not in TABLE_STEPS), len(does))
    late = [do for do in does[first:] if do in TABLE_STEPS]
    if late:
        raise JobError(label, "steps that register or profile come first", f"{late[0]} after {does[first]}")
    if all(do in OTHER_STEPS for do in does):
        if "publish" in does:
            must = "must have a step that anonymizes what it publishes"
            raise JobError(label, must, "none", "There are: " + ", ".join(methods()))
        if gates:
            must = "a [[gate]] holds a release to something before it is published"
            raise JobError(label, must, "a job that publishes nothing", 'Write [[step]] do = "audit"')
        return
    if "audit" in does:
        where = steps[does.index("audit")].where
        raise JobError(where, "a release is held to its audits by a [[gate]]", "an audit step", "Write [[gate]]")
    if does.count("publish") != 1 or does[-1] != "publish":
        must, way = "must end with one step that does publish", 'Add [[step]] do = "publish" at the end'
        raise JobError(label, must, f"{does.count('publish')} of them", way)


def _check_pseudonyms(path: str, jobs: list[Job]) -> None:
    """Refuse different keys: what joined the tables before would join them no more."""
    steps = [step for job in jobs for step in job.steps if step.method.surrogate]
    if len({step.key_file for step in steps}) > 1:
        raise JobError(
            path,
            "the tables of one job file share the key of their pseudonyms, so that they can be joined",
            "different values of key_file",
            "Give all steps that pseudonymise the same key_file, or make two job files",
        )


_TERM = re.compile(r"""\s*(?:(count|none)|(\w+)\s*\(\s*(?:"((?:[^"]|"")+)"|([^()",]+?))\s*\))\s*(?:,|$)""")


def read_known(where: str, texts: Sequence[str], tables: Sequence[str]) -> list[Known]:
    """Return what is known of the rows of every table: their number, where nothing else is said.

    Raises
    ------
    JobError
        For a table that is not in the file or is named twice, or what cannot be known of one.

    >>> read_known("f", ['orders: count, sum("net a")', "visits: none"], ["visits", "orders", "x"])[:2]
    [Known(count=False, of=()), Known(count=True, of=(('sum', 'net a'),))]
    """
    found: dict[int, Known] = {}
    where = f"{where}, key 'known'"
    for text in texts:
        at = next((n for n, name in enumerate(tables) if text.lower().startswith(f"{name}:".lower())), None)
        if at is None or at in found:
            must = 'each is "table: what", of every [[table]] of this file once'
            raise JobError(where, must, repr(text), "There are the tables: " + ", ".join(tables))
        found[at] = _known(where, text[len(tables[at]) + 1 :])
    return [found.get(at, Known()) for at in range(len(tables))]


def _known(where: str, text: str) -> Known:
    terms, rest = [], text.strip()
    while rest:
        term = _TERM.match(rest)
        if term is None or (term[2] and term[2] not in AGGREGATES):
            must = f"what is known is count, {', '.join(f'{name}(column)' for name in AGGREGATES)}, or none alone"
            raise JobError(where, must, repr(text.strip()))
        terms.append(term)
        rest = rest[term.end() :]
    words = [term[1] for term in terms if term[1]]
    if not terms or ("none" in words and len(terms) > 1):
        raise JobError(where, "what is known is count, an aggregate of a column, or none alone", repr(text.strip()))
    of = [(term[2], term[3].replace('""', '"') if term[3] else term[4]) for term in terms if not term[1]]
    return Known("count" in words, tuple(dict.fromkeys(of)))


_NOT_IN_NAMES = set("/\\*?[]:")


def located(options: JobOptions, publish: PublishSettings, where: str) -> tuple[JobOptions, PublishSettings]:
    """Return the options of a job, and where it publishes, with the places of the tables that it names.

    A release without a name of its own is called `<table>_anonymized`. What is published `to` a file or in place stays
    as it is.

    Raises
    ------
    ParameterError
        When a table is not named by a plain name, or a location cannot be.
    """
    source, release = options.location, options.release_location or options.location
    if release is not None and publish.to is None and not publish.in_place:
        named = publish.into
        if named is None:
            named = f"{_plain(options.table, f'{where}, table')}_anonymized"
        place = placed(release, named, f"{where}, into")
        is_table = _is_schema(release)
        publish = replace(publish, into=place if is_table else None, to=None if is_table else place)
    if source is not None:
        options = replace(options, table=placed(source, options.table, f"{where}, table"))
    return options, publish


def placed(location: str, table: str, where: str) -> str:
    """Return what `--table` or a target is called for the table of a name at a location.

    >>> [placed(at, "visits", "") for at in ("crm.public", "data/", "s3://lake/in", "delta:lake")]
    ['crm.public.visits', 'data/visits.parquet', 's3://lake/in/visits.parquet', 'delta:lake/visits']
    """
    refuse_secret(location, "--location")
    name = _plain(table, where)
    if _is_schema(location):
        if not 1 <= len(split_name(location)) <= 2 or not all(split_name(location)):
            must = "is a schema, or catalog.schema; a folder has a slash in it"
            raise ParameterError("--location", must, repr(location))
        return f"{location}.{table}"
    if not name.strip() or name.startswith(".") or _NOT_IN_NAMES & set(name):
        must = "the name of a table in a folder has no sign of a path or a pattern, and does not begin with a dot"
        raise ParameterError(where, must, repr(table), "Use another name")
    folder = location if location.endswith(("/", ":")) else f"{location}/"
    return f"{folder}{name}" if location.partition(":")[0] in LAKES else f"{folder}{name}.parquet"


def from_folder(folder: Path, location: str) -> str:
    """Return a location with a path in it taken from the folder of a job file.

    >>> [from_folder(Path("/jobs"), text) for text in ("data/", "delta:lake", "crm.public", "s3://lake/in")]
    ['/jobs/data/', 'delta:/jobs/lake', 'crm.public', 's3://lake/in']
    """
    if _is_schema(location) or is_url(location):
        return location
    return beside(folder, location) if location.partition(":")[0] in LAKES else f"{folder / location}/"


def _is_schema(location: str) -> bool:
    return not is_url(location) and "/" not in location and location.partition(":")[0] not in LAKES


def _plain(table: str, where: str) -> str:
    """Return the name of a table without its quotes."""
    parts = split_name(table)
    if len(parts) > 1 or "/" in table:
        must = "a table is named without its schema or folder where --location says where it is"
        raise ParameterError(where, must, repr(table), "Write the name alone, or leave --location out")
    return parts[0]
