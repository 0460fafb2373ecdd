"""The verbs: each is a function here, a command of `sqlmicro`, and, where it makes sense, a step of a job file."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

from sqlmicro.audits import inputs, k_anonymity, runner, sql_macros
from sqlmicro.audits.inputs import audit_options
from sqlmicro.audits.verdict import together
from sqlmicro.database import attach
from sqlmicro.database.catalog import find_relation, schema_exists, target_name
from sqlmicro.database.files import may_read, reading
from sqlmicro.database.opening import open_warehouse
from sqlmicro.database.source import find_source
from sqlmicro.database.templates import Name, Sql
from sqlmicro.erasure.purge import purge
from sqlmicro.erasure.residue import residue
from sqlmicro.errors import InputError, JobError, ParameterError
from sqlmicro.identifiers import scan
from sqlmicro.jobs import file, run, steps
from sqlmicro.jobs.draft import INIT_OPTIONS, init_values
from sqlmicro.jobs.explain import EXPLAIN_OPTIONS, explain_values
from sqlmicro.jobs.schema import schema_values
from sqlmicro.options import common
from sqlmicro.options.docstrings import numpydoc
from sqlmicro.options.params import Param, Parameter, parameters, settle
from sqlmicro.publish import recording
from sqlmicro.registry import PROMISES, Method, find, late
from sqlmicro.registry import methods as registered
from sqlmicro.safe_method.compare import compare as compare_tables
from sqlmicro.system.interrupts import watched
from sqlmicro.system.progress import Progress
from sqlmicro.verbs import compare, warm_up
from sqlmicro.verbs import report as reporting
from sqlmicro.verbs.attack import attack_options, attack_values

METHOD_OPTIONS = (
    *common.SOURCE, *common.COLUMNS, *common.IDENTIFIERS, *common.TARGET, *common.RUN, *common.MACHINE,
    *common.READER,
)  # fmt: skip


def _show_values(
    *,
    show_values: Annotated[bool, Param("Print the values of the smallest violating classes.")] = False,
) -> None: ...


AUDIT_OPTIONS = (*common.SOURCE, *audit_options(), *parameters(_show_values), *common.MACHINE, *common.READER)
PROFILE_OPTIONS = (*common.SOURCE, *common.REGION, *common.MACHINE, *common.READER)
_MOST_CLASSES_SHOWN = 20


def _run(
    *,
    job: Annotated[str, Param("Job file, TOML.", metavar="FILE.toml", positional=True)],
    table: Annotated[str | None, Param("Table to use instead of the one in the file.", metavar="TABLE")] = None,
) -> None: ...


def _methods(
    *,
    name: Annotated[str | None, Param("Method to describe.", metavar="[NAME]", positional=True)] = None,
) -> None: ...


REGISTER_OPTIONS = (*common.REGISTER, common.SOURCE[0], *common.MACHINE, *common.READER)
_DB = common.SOURCE[0]
# A job file says what is done: only --db puts another database in its place, no variable of the environment.
_JOB_DB = replace(_DB, param=replace(_DB.param, help="Database file to use instead of the one in the file.", env=""))
RUN_OPTIONS = (
    *parameters(_run), _JOB_DB,
    *(option if option.many else option.overriding() for option in (*common.ATTACH, *common.RUN, *common.MACHINE)),
)  # fmt: skip
METHODS_OPTIONS = parameters(_methods)


def register_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Register files as a table or view of a database."""

    if not values["db"]:
        raise ParameterError(
            "register, --db",
            "a database file is needed, a table in memory would be gone at once",
            "none",
            "Give --db FILE or set SQLMICRO_DB",
        )
    if not values["files"]:
        raise ParameterError("register", "at least one file is needed", "none")
    template, params = reading(values["files"], common.reader_options(values))
    with open_warehouse(
        values["db"], may_create=True, memory_limit=values["memory_limit"], threads=values["threads"], progress=progress
    ) as warehouse:
        warehouse.reading = ", ".join(values["files"])
        may_read(warehouse, params["paths"])
        warehouse.seal()
        target = warehouse.full(target_name(values["table"], "--table"))
        if not schema_exists(warehouse, target):
            schema = warehouse.label(target).rpartition(".")[0]
            raise InputError("--table", f"schema {schema!r} must exist", "none", "Make it with CREATE SCHEMA")
        if values["view"]:
            must = "a view reads its files with DuckDB's own functions, each time"
            warehouse.refuse_shadowing("--view", must, "Give the macros other names, or leave out --view")
        found = find_relation(warehouse, target)
        if found is not None and not values["overwrite"]:
            raise InputError(
                "--table",
                f"{values['table']!r} must not exist yet",
                "a table" if found[1] else "a view",
                "Choose another name, or add --overwrite",
            )
        with warehouse.transaction():
            if found is not None:
                kind = "DROP TABLE {{ name | ident }}" if found[1] else "DROP VIEW {{ name | ident }}"
                warehouse.execute("register", kind, name=found[0])
            warehouse.create("VIEW" if values["view"] else "TABLE", target, template, **params)
        return {
            "table": values["table"], "kind": "view" if values["view"] else "table", "db": values["db"],
            "rows": warehouse.count(target), "columns": [name for name, _ in warehouse.describe(target)],
        }  # fmt: skip


def profile_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Describe a table's columns and propose a scale and a role for each."""

    with open_warehouse(
        values["db"], read_only=True, memory_limit=values["memory_limit"], threads=values["threads"], progress=progress
    ) as warehouse:
        attach.attach(warehouse, values["attach"])
        source = find_source(warehouse, values["table"], common.reader_options(values))
        warehouse.seal()
        found = scan.profiles(warehouse, source, values["region"])
    return {
        "table": values["table"],
        "rows": found[0].rows if found else 0,
        "columns": [
            {"name": p.column.name, "type": p.column.type, "nulls": p.nulls, "distinct": p.distinct,
             "scale": p.scale[0], "scale_reason": p.scale[1], "role": p.role[0], "role_reason": p.role[1],
             "identifier": p.seen.finding and p.seen.finding.kind, "share": p.seen.finding and p.seen.finding.share}
            for p in found
        ],
    }  # fmt: skip


def audit_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Measure what a release discloses and what it is still good for; gates hold it to thresholds.

    The table is read, never changed. Is it a release that this database recorded, the results are added to
    sqlmicro.audits afterwards, where the file can be written to.
    """

    machine = {"memory_limit": values["memory_limit"], "threads": values["threads"], "progress": progress}
    with open_warehouse(values["db"], read_only=True, **machine) as warehouse:
        attach.attach(warehouse, values["attach"])
        subject = inputs.subject(warehouse, values)
        warehouse.seal()
        rows = runner.run(subject, values["measure"], inputs.thresholds(values), values)
        if not rows:
            raise ParameterError(
                "audit, --quasi",
                "names the quasi-identifiers, or --original and the like what else to audit",
                "none",
                "The table has: " + ", ".join(column.name for column in subject.release.columns),
            )
        report = {
            "table": values["table"],
            "nulls": values["nulls"],
            **{role: [column.name for column in getattr(subject, role)] for role in ("quasi", "sensitive")},
            **{role: getattr(getattr(subject, role), "name", None) for role in ("weight", "entity")},
            "audits": rows,
            "passed": together(row["passed"] for row in rows if row["asked"]),
        }
        if values["show_values"] and subject.quasi:
            report["classes_shown"] = k_anonymity.smallest(subject, values["min_k"] or 2, _MOST_CLASSES_SHOWN)
        release = recording.release_of(warehouse, values["table"], subject.release.relation)
    report["release"] = release
    report["recorded"] = release is not None and recording.add(values["db"], release, rows, machine)
    return report


def macros_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Install the audits as macros of a database, or print them: audits in plain SQL, without this program."""

    if not values["print"]:
        if not values["db"]:
            raise ParameterError("macros, --db", "a database file is needed", "none", "Give --db FILE, or --print")
        with open_warehouse(values["db"], progress=progress) as warehouse, warehouse.transaction():
            must = "the macros call DuckDB's own functions, which in a shell yours would stand for"
            warehouse.refuse_shadowing("macros", must, "Give your macros other names")
            with warehouse.using(Name("", warehouse.catalog, "main")):
                for _, _, statement in sql_macros.definitions():
                    warehouse.execute("macros", "{{ statement }}", statement=Sql(statement.removesuffix(";")))
    return {
        "db": None if values["print"] else values["db"],
        "macros": [{"call": call, "title": title} for call, title, _ in sql_macros.definitions()],
        "script": sql_macros.script() if values["print"] else None,
    }


def purge_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Rewrite a database file, so that values which were replaced are no longer readable in it."""

    machine = {"memory_limit": values["memory_limit"], "threads": values["threads"], "progress": progress}
    return purge(values["db"], machine=machine, narrow_enums=values["narrow_enums"])


def warm_up_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Compile now what is compiled on first use, which takes a minute or two: for images, and before the first run."""
    return asdict(warm_up.warm_up(python_function, progress))


def residue_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Look for values that a release replaced: in the file, the catalog and other tables; values are not shown."""

    machine = {"memory_limit": values["memory_limit"], "threads": values["threads"], "progress": progress}
    return residue(values, machine)


def safe_distance_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Measure by how much the cross tables of two tables differ: the SAFE distance and its parts."""

    reader = common.reader_options(values)
    with open_warehouse(
        values["db"],
        read_only=True,
        memory_limit=values["memory_limit"],
        threads=values["threads"],
        progress=progress,
    ) as warehouse:
        attach.attach(warehouse, values["attach"])
        first = find_source(warehouse, values["first"], reader)
        second = find_source(warehouse, values["second"], reader, name="second_source")
        warehouse.seal()
        names = ("columns", "numeric", "nominal", "order", "count_weight", "sum_weight")
        chosen = {name: values[name] for name in names}
        return compare_tables(warehouse, first, second, **chosen)


def run_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """Run the steps of a job file: one table, or several whose releases are published together."""
    overrides = {name: value for name, value in values.items() if name != "job"}
    jobs = file.read(values["job"], overrides, progress)
    if jobs[0].dry and any(step.do == "register" for found in jobs for step in found.steps):
        raise JobError(
            values["job"],
            "a dry run writes nothing, so it cannot register",
            "a step that registers",
            "Register the table beforehand",
        )
    alone = ("register", "profile", "audit")  # a job that anonymizes has gates instead of audits
    done = [_table_step(found, step, progress) for found in jobs for step in found.steps if step.do in alone]
    if not jobs[0].anonymizes:
        return {"job": values["job"], "results": done, "passed": together(result.get("passed") for result in done)}
    reports = _execute(jobs)
    if len(reports) == 1:
        return {**reports[0], "before": done}
    told = {name: reports[0].pop(name) for name in ("sql",) if name in reports[0]}
    told |= {name: True for name in ("purge_failed",) if any(report.get(name) for report in reports)}
    warnings = dict.fromkeys(report["warning"] for report in reports if "warning" in report)
    told |= {"warning": " ".join(warnings)} if warnings else {}
    passed = together(report["passed"] for report in reports)
    return {"job": values["job"], "before": done, "tables": reports, "passed": passed, **told}


def _table_step(found: steps.Job, step: steps.Step, progress: Progress) -> dict[str, Any]:
    """Run a step of a job file that is a command of its own."""
    declared, action = verbs()[step.do]
    known = common.names(declared)
    shared = {name: value for name, value in found.options.items() if name in known and value is not None}
    return {"do": step.do, **action(settle(declared, {**shared, **step.settings}, step.where), progress)}


def methods_values(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """List the methods there are, or describe one: parameters, source, templates and module."""
    if values["name"] is None:
        return {"methods": [
            {"name": m.name, "summary": m.summary, "promise": PROMISES[m.promise], "source": m.source}
            for m in registered().values()
        ]}  # fmt: skip
    method = find(values["name"])
    return {
        "name": method.name,
        "summary": method.summary,
        "promise": PROMISES[method.promise],
        "source": method.source,
        "module": method.module,
        "engine": method.engine,
        "templates": list(method.templates),
        "parameters": [
            {"name": p.name, "option": p.option, "default": p.default, "choices": list(p.choices),
             "help": p.param.help} for p in method.settings
        ],
        "description": inspect.cleandoc(method.function.__doc__ or ""),
    }  # fmt: skip


def _execute(jobs: Sequence[steps.Job]) -> list[dict[str, Any]]:
    """Run jobs on the engine that they name."""
    if jobs[0].options.get("engine") == "spark":
        with watched():
            reports: list[dict[str, Any]] = late("sqlmicro.spark.engine").release(jobs)
        return reports
    return run.execute(jobs)


def method_values(method: Method) -> Callable[[dict[str, Any], Progress], dict[str, Any]]:
    """Return the function that runs one method as a job of one step."""

    def run_method(values: dict[str, Any], progress: Progress) -> dict[str, Any]:
        return _execute([steps.one_step(method, values, progress)])[0]

    run_method.__doc__ = method.summary
    return run_method


Verb = tuple[tuple[Parameter, ...], Callable[[dict[str, Any], Progress], dict[str, Any]]]


def verbs() -> dict[str, Verb]:
    """Return every verb by its name on the command line: its parameters and the function that does it."""
    found: dict[str, Verb] = {
        "register": (REGISTER_OPTIONS, register_values),
        "profile": (PROFILE_OPTIONS, profile_values),
        "audit": (AUDIT_OPTIONS, audit_values),
        "safe-distance": (
            (*common.TWO_TABLES, common.SOURCE[0], common.SOURCE[2], *common.MACHINE, *common.READER),
            safe_distance_values,
        ),
        "attack": (attack_options(), attack_values),
        "compare": (compare.COMPARE_OPTIONS, compare.compare_values),
        "macros": (common.MACROS, macros_values),
        "purge": ((*common.PURGE, *common.MACHINE), purge_values),
        "residue": ((*common.RESIDUE, *common.MACHINE, *common.READER), residue_values),
        "report": (reporting.OPTIONS, reporting.report_values),
        "run": (RUN_OPTIONS, run_values),
        "init": (INIT_OPTIONS, init_values),
        "explain": (EXPLAIN_OPTIONS, explain_values),
        "schema": ((), schema_values),
        "methods": (METHODS_OPTIONS, methods_values),
        "warm-up": ((), warm_up_values),
    }
    for method in registered().values():
        shared = [option for option in METHOD_OPTIONS if method.takes(option.name)]
        found[method.name] = ((*method_parameters(method), *shared), method_values(method))
    return found


def method_parameters(method: Method) -> tuple[Parameter, ...]:
    """Return the parameters of a method, k first."""
    return tuple(sorted(method.settings, key=lambda parameter: parameter.name != "k"))


def description(name: str) -> str:
    """Return what a verb does: the docstring of a method, or that of the function of another verb."""
    method = registered().get(name)
    return inspect.getdoc(verbs()[name][1] if method is None else method.function) or ""


def python_function(name: str) -> Callable[..., dict[str, Any]]:
    """Return a verb as a Python function with its real signature.

    >>> python_function("methods")("mdav")["module"]
    'sqlmicro.group.mdav'
    """
    declared, action = verbs()[name]
    shown = [parameter for parameter in declared if not parameter.param.cli_only]
    positional = [p.name for p in shown if p.param.positional] or [p.name for p in shown if p.name == "table"]
    shown.sort(key=lambda parameter: parameter.name not in positional)

    def call(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        many = {parameter.name for parameter in shown if parameter.many}
        given = {key: _as_names(value) if key in many else value for key, value in bound.arguments.items()}
        return action(settle(declared, given, name), Progress(enabled=False))

    signature = inspect.Signature([
        inspect.Parameter(
            parameter.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter.name in positional else inspect.Parameter.KEYWORD_ONLY,
            default=parameter.default, annotation=parameter.type)
        for parameter in shown
    ], return_annotation=dict[str, Any])  # fmt: skip
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name.replace("-", "_")
    call.__doc__ = numpydoc(description(name), shown, ("dict", "What the command prints with --json."))
    return call


def _as_names(value: Any) -> Any:
    """Return one name or several as a tuple."""
    return (value,) if isinstance(value, str) else value
