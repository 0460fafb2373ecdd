"""The command line: the only place that prints or exits. Results go to stdout, talk to stderr."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from sqlmicro import api
from sqlmicro.database.columns import split_names
from sqlmicro.errors import SqlmicroError
from sqlmicro.options import common, reader
from sqlmicro.options.params import REQUIRED, Parameter, filled, parameters
from sqlmicro.registry import late, methods
from sqlmicro.reports.rendering import rendered
from sqlmicro.system import interrupts, memory, packages
from sqlmicro.system.printable import in_json, shown
from sqlmicro.system.progress import Progress
from sqlmicro.system.reporting import Coded, Reserved, Scripted, Unpurged, Warned, as_json, passed
from sqlmicro.verbs.completion import completer
from sqlmicro.verbs.verb import Verb

INTERRUPTED = 130
FAULT = 3

_HELP = "Anonymize tables about people where they are: in DuckDB, with SQL you can read."
_PANELS = {
    common.SourceOptions: "Source", reader.ReaderOptions: "CSV files", common.ColumnOptions: "Columns",
    common.PublishSettings: "Target", common.DraftOption: "Target", common.RunOptions: "Run",
    common.MachineOptions: "Run", common.DisplayOptions: "Run", common.DetailOptions: "Run",
}  # fmt: skip
_STAGES = {"safe": "SAFE", "group": "Microaggregation", "mask": "Masking"}
_DAY = {
    "Look": ("help", "register", "profile", "compare"),
    "Make a release": ("safe", "microaggregate", "suppress", "generalize", "pseudonymise", "publish-draft"),
    "Check": ("audit", "attack", "report", "ledger"),
    "Every night, and whole warehouses": ("run", "scan", "plan", "apply", "check", "certify", "verify"),
}
"""What `--help` lists, in the order of a day: by it most of the work is done. The others are listed by `--help-all`."""
_MOST_USED = frozenset({
    "table", "db", "k", "columns", "by", "keep", "drop", "rest", "sensitive", "min_l", "person", "nulls",
    "to", "into", "in_place", "overwrite", "series", "row_key", "draft", "json", "details",
    "quality", "until_k", "hierarchy", "width", "prefix", "local", "suppress_up_to", "recoding", "kind", "amount",
    "percent", "rate", "value", "quantile", "fraction", "size", "keep_first", "keep_last", "key_file", "within",
    "keep_probability", "together", "quasi", "original", "release", "control", "min_k", "for_",
})  # fmt: skip
"""The options that nine of ten runs need. Where a command has few, `--help` shows all of them."""
_FEW = 14
_ALL = "--help-all"


def _everything(ctx: typer.Context, wanted: bool) -> None:
    """Print the help with all that `--help` leaves out."""
    if wanted:
        ctx.meta[_ALL] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


@contextlib.contextmanager
def _hidden(things: Sequence[Any]) -> Iterator[None]:
    """Leave options or commands out of what is printed meanwhile, and only there: completion knows them."""
    for thing in things:
        thing.hidden = True
    try:
        yield
    finally:
        for thing in things:
            thing.hidden = False


def _of_a_day() -> dict[str, str]:
    """Return the panel of every command that `--help` lists, in their order."""
    return {name: panel for panel, names in _DAY.items() for name in names}


_HelpAll = Annotated[
    bool, typer.Option(_ALL, callback=_everything, is_eager=True, help="Show everything there is, and exit.")
]


class _Command(TyperCommand):
    """Shows the options that most runs need, in a sentence each; all of them, in full, where that is asked for."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        options: list[Any] = [option for option in self.get_params(ctx) if not getattr(option, "hidden", False)]
        shown = [option for option in options if option.required or option.name in {*_MOST_USED, "help"}]
        left = [] if ctx.meta.get(_ALL) or len(options) <= _FEW else [one for one in options if one not in shown]
        self.epilog = f"{len(left)} more options, and more about these: {ctx.command_path} {_ALL}" if left else None
        texts = [option.help for option in shown]
        if left:
            for option, text in zip(shown, texts, strict=True):
                option.help = text and text.partition(". ")[0].removesuffix(".") + "."
        with _hidden(left):
            super().format_help(ctx, formatter)
        for option, text in zip(shown, texts, strict=True):
            option.help = text


class _Commands(TyperGroup):
    """Makes a command when it is called: to list commands, their names and texts are enough.

    Help lists those of a day, and all of them where that is asked for.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        _lean(self)

    def list_commands(self, ctx: Any) -> list[str]:
        of_a_day = _of_a_day()
        for name, verb in api.verbs().items():
            panel = _STAGES[methods()[name].stage] if name in methods() else "Others"
            listed = TyperCommand(name, help=verb.text, rich_help_panel=of_a_day.get(name, panel))
            self.commands.setdefault(name, listed)
        others = [name for name in super().list_commands(ctx) if name not in of_a_day]
        return [*of_a_day, *sorted(others, key=lambda name: name in methods())]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        listed = self.list_commands(ctx)
        left = [] if ctx.meta.get(_ALL) else [self.commands[name] for name in listed if name not in _of_a_day()]
        self.epilog = f"{len(left)} more commands: sqlmicro {_ALL}. All methods: sqlmicro methods" if left else None
        with _hidden(left):
            super().format_help(ctx, formatter)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] in api.verbs():
            return args[0], _made(api.verbs()[args[0]]), args[1:]
        self.list_commands(ctx)  # what is written wrongly may be one of them
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=_Commands, help=_HELP, pretty_exceptions_enable=False)


@cache
def _panels() -> dict[str, str]:
    """Return the panel of every shared option by its name."""
    return {parameter.name: panel for group, panel in _PANELS.items() for parameter in parameters(group)}


def _annotation(parameter: Parameter) -> Any:
    """Return what Typer needs to know of a parameter."""
    kind = list[str] if parameter.many else parameter.base
    if parameter.choices:
        kind = Literal[parameter.choices]
    if parameter.optional or parameter.default is None:
        kind = kind | None
    param = parameter.param
    shared: dict[str, Any] = {"help": param.help, "metavar": param.metavar or None}
    if param.positional:
        return Annotated[kind, typer.Argument(**shared)]
    flags = [parameter.option]
    if parameter.base is bool and parameter.optional:  # it takes the place of what a job file says
        flags = [f"{parameter.option}/--no-{parameter.option.removeprefix('--')}"]
    panel = _panels().get(parameter.name)
    shared |= {"envvar": param.env or None, "rich_help_panel": panel, "autocompletion": completer(parameter)}
    if param.share:
        shared |= {"parser": _share, "metavar": "SHARE"}
    return Annotated[kind, typer.Option(*flags, **shared)]


def _share(text: str | float) -> float:
    """Return a share that may be written as a percentage.

    >>> _share("5%"), _share("0.05")
    (0.05, 0.05)
    """
    percent = str(text).strip()
    return float(percent.removesuffix("%")) / (100 if percent.endswith("%") else 1)


def _default(parameter: Parameter) -> Any:
    if parameter.default is REQUIRED:
        return inspect.Parameter.empty
    return list(parameter.default) or None if parameter.many else parameter.default


def _command(verb: Verb[Any]) -> Callable[..., None]:
    """Return a fresh function with the signature Typer reads the options from."""
    releases = any(parameter.name in ("dry_run", "into") for parameter in verb.parameters)
    detailed = parameters(common.DetailOptions) if releases else ()
    listed = (*verb.parameters, *parameters(common.DisplayOptions), *detailed)
    known = {parameter.name: parameter for parameter in listed}

    def command(help_all: bool, details: bool = True, **given: Any) -> None:
        display = filled(common.DisplayOptions, given)
        values = {key: _names(known[key], value) for key, value in given.items() if not known[key].param.cli_only}
        run = api.verbs()[verb.name].run
        progress = Progress(not display.quiet, lines=not display.json)
        again = {name: values[name] for name in ("db", "attach") if values.get(name)}
        _exit(lambda: _print(verb.name, run(values, progress), display, None if details else again))

    signature = inspect.Signature([
        *(inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=_default(p), annotation=_annotation(p))
          for p in sorted(listed, key=lambda p: _default(p) is not inspect.Parameter.empty)),
        inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_HelpAll),
    ])  # fmt: skip
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    command.__doc__ = "\n\n".join(" ".join(paragraph.split()) for paragraph in verb.text.split("\n\n"))
    return command


def _names(parameter: Parameter, value: Any) -> Any:
    """Split comma lists of columns; paths and algorithm specifications are taken whole."""
    if not parameter.many:
        return value
    if value is None:
        return ()
    return tuple(value) if parameter.param.whole else split_names(value)


def _print(name: str, report: Any, display: common.DisplayOptions, where: Mapping[str, Any] | None) -> int:
    """Print a report and return its exit code; of a release what matters most, and by `where` what to do next."""
    brief = where is not None
    report = report.printed if isinstance(report, Reserved) else report
    worst = report.exit_code if isinstance(report, Coded) else 0
    failed = passed(report) is False or worst > 0
    code = worst or int(failed or (isinstance(report, Unpurged) and report.left_unpurged))
    if isinstance(report, Warned) and report.warned:
        typer.echo(f"warning: {shown(report.warned)}", err=True)
    if display.json:
        typer.echo(in_json(json.dumps(as_json(report), default=str, ensure_ascii=False)))
    elif isinstance(report, Scripted) and report.sql is not None:
        _print_sql(report.sql)
        if not display.quiet:
            typer.echo(rendered(report, brief=brief), err=True)
    elif not display.quiet:
        typer.echo(rendered(report, brief=brief))
        if where is not None and type(report).__name__ == "ReleaseReport" and (step := _next(report, where)):
            typer.echo(f"next            {shown(shlex.join(step))}")
    if failed and display.quiet:
        typer.echo(f"{name}: {'values were found' if name == 'residue' else 'the audit failed'}", err=True)
    return code


def _next(report: Any, where: Mapping[str, Any]) -> list[str]:
    """Return the command that publishes a draft, or reports on a release; nothing where nothing was written."""
    if report.draft:
        return ["sqlmicro", "publish-draft", report.draft]
    if report.dry_run or not report.release:
        return []
    given = [("--db", where.get("db")), *(("--attach", one) for one in where.get("attach", ()))]
    words = [word for option, value in given if value for word in (option, value)]
    return ["sqlmicro", "report", *words, "--release", report.target, "--to", "report.html"]


def _print_sql(sql: str) -> None:
    """Print a script: exactly as it is into a pipe or a file, harmless on a terminal."""
    harmless = shown(sql, keep="\n") if sys.stdout.isatty() else sql
    typer.echo(harmless, nl=False, color=True)  # or what looks like a colour would be taken out of a name
    if harmless != sql:
        typer.echo("note: names are shown with escapes here; the script in a file or a pipe is exact", err=True)


def _exit(action: Callable[[], int]) -> None:
    """Run a command and leave with its exit code; nothing but our own words is printed."""
    watch = interrupts.Watch()
    try:
        with interrupts.watched() as watch:
            code = action()
        sys.stdout.flush()
        if watch.late:
            typer.echo("the signal came too late to stop it: what was asked for is written", err=True)
    except SqlmicroError as error:
        typer.echo(f"error: {error}", err=True)
        code = error.exit_code
    except KeyboardInterrupt as error:
        typer.echo(f"interrupted: {shown(str(error.args[0])) if error.args else 'nothing was published'}", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; what follows must not raise again when stdout is closed.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except PermissionError as error:
        typer.echo(f"error: {error.filename!r}: must be a file that you may use. Got {error.strerror}.", err=True)
        code = 2
    except Exception as error:
        place, short = inspect.trace()[-1], "" if watch.committed else memory.ran_short(error)
        typer.echo(
            f"error: {short}"
            if short
            else f"fault: {type(error).__name__} in {Path(place.filename).name}:{place.lineno}. "
            f"{'The release is' if watch.committed else 'Nothing was'} published. "
            "This is an error of sqlmicro; please report it.",
            err=True,
        )
        code = FAULT
    raise typer.Exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(packages.ours())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    help_all: _HelpAll = False,
) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(late("sqlmicro.help", "start")())


_root.__doc__ = _HELP


@app.command("help", rich_help_panel="Look")
def _help(
    topic: Annotated[
        str | None,
        typer.Argument(help="Topic. Default: list all topics.", autocompletion=lambda incomplete: _topics(incomplete)),
    ] = None,
) -> None:
    """Explain: concepts, which method to choose, missing values and more."""
    _exit(lambda: _explain(topic))


def _topics(incomplete: str) -> list[str]:
    return [name for name in late("sqlmicro.help", "topics")() if name.startswith(incomplete)]


def _explain(topic: str | None) -> int:
    help = late("sqlmicro.help")
    typer.echo(help.overview() if topic is None else help.terminal(help.source(topic)))
    return 0


_known: dict[str, tuple[object, Any]] = {}


def _made(verb: Verb[Any]) -> Any:
    """Return the command of a verb with its options: made once, as long as no plug-in changes these."""
    said = (verb.text, verb.parameters)
    if verb.name not in _known or _known[verb.name][0] != said:
        alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        alone.command(verb.name, cls=_Command)(_command(verb))
        _known[verb.name] = said, _lean(typer.main.get_command(alone), verb.parameters)
    return _known[verb.name][1]


def _lean(command: Any, declared: tuple[Parameter, ...] = ()) -> Any:
    """Take what is given well without the validators that Typer makes for every option: they cost more than a command.

    Whatever else is given goes to them, and so does the message about it.
    """
    known = {parameter.name: parameter for parameter in declared}
    listed = command.get_params

    def lean(ctx: Any) -> Any:
        found = listed(ctx)
        for made in found:
            if not isinstance(made.process_value, partial):
                made.process_value = partial(_processed, known.get(made.name), made, made.process_value)
        return found

    command.get_params = lean
    return command


def _processed(parameter: Parameter | None, made: Any, otherwise: Callable[..., Any], ctx: Any, value: Any) -> Any:
    """Return a value from the command line in the type of its parameter."""
    if value in (None, False) and not made.required:
        return value
    if parameter is None:
        return value if value is True and made.callback is None else otherwise(ctx, value)
    kind = parameter.base
    if parameter.many and isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return list(value)
    if type(value) is kind or (parameter.choices and value in parameter.choices):
        return value
    if kind is int and isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
        return int(value)
    return otherwise(ctx, value)
