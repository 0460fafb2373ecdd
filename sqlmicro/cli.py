"""The command line: the only place that prints or exits. Results go to stdout, talk to stderr."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sqlmicro import api, options
from sqlmicro.columns import split_names
from sqlmicro.errors import SqlmicroError
from sqlmicro.params import REQUIRED, Parameter, settle
from sqlmicro.progress import Progress
from sqlmicro.registry import methods
from sqlmicro.reports import audit_text, text

INTERRUPTED = 130
FAULT = 3

_HELP = """Anonymize tables about people where they are: in DuckDB, with SQL you can read.

Start with: sqlmicro register FILE --db DB --table T, sqlmicro profile, sqlmicro safe, sqlmicro audit.
"""
_PANELS = (
    (options.SOURCE, "Source"), (options.READER, "CSV files"), (options.COLUMNS, "Columns"), (options.TARGET, "Target"),
    (options.RUN, "Run"), (options.MACHINE, "Run"), (options.DISPLAY, "Run"),
)  # fmt: skip
_PANEL = {parameter.name: panel for group, panel in _PANELS for parameter in group}
_RENDER: dict[str, Callable[[dict[str, Any]], str]] = {
    "register": text.registered, "profile": text.profile, "audit": audit_text.audit, "methods": text.methods,
    "safe-distance": text.safe_distance, "macros": text.macros,
}  # fmt: skip

app = typer.Typer(help=_HELP, no_args_is_help=True, pretty_exceptions_enable=False)


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
    panel = _PANEL.get(parameter.name)
    return Annotated[kind, typer.Option(*flags, envvar=param.env or None, rich_help_panel=panel, **shared)]


def _default(parameter: Parameter) -> Any:
    if parameter.default is REQUIRED:
        return inspect.Parameter.empty
    return list(parameter.default) or None if parameter.many else parameter.default


def _command(name: str, declared: tuple[Parameter, ...], action: Callable[..., dict[str, Any]]) -> Callable[..., None]:
    """Return a fresh function with the signature Typer reads the options from."""
    known = {parameter.name: parameter for parameter in declared}

    def command(**given: Any) -> None:
        shown = {option: given.pop(option) for option in options.names(options.DISPLAY)}
        values = {key: _names(known[key], value) for key, value in given.items()}
        _exit(lambda: _print(name, action(settle(declared, values, name), Progress(not shown["quiet"])), shown))

    shown = (*declared, *options.DISPLAY)
    signature = inspect.Signature([
        inspect.Parameter(p.name, inspect.Parameter.KEYWORD_ONLY, default=_default(p), annotation=_annotation(p))
        for p in sorted(shown, key=lambda p: _default(p) is not inspect.Parameter.empty)
    ])  # fmt: skip
    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    command.__doc__ = action.__doc__
    return command


def _names(parameter: Parameter, value: Any) -> Any:
    """Split comma lists of columns; paths and algorithm specifications are taken whole."""
    if not parameter.many:
        return value
    if value is None:
        return ()
    return tuple(value) if parameter.name in ("files", "algorithm") else split_names(value)


def _print(name: str, report: dict[str, Any], shown: dict[str, bool]) -> int:
    """Print a report and return the exit code it stands for."""
    failed = report.get("passed") is False
    if "warning" in report:
        typer.echo(f"warning: {report['warning']}", err=True)
    if shown["json"]:
        typer.echo(json.dumps(report, default=str, ensure_ascii=False))
    elif "sql" in report:
        typer.echo(report["sql"], nl=False)
        if not shown["quiet"]:
            typer.echo(text.release(report), err=True)
    elif not shown["quiet"]:
        typer.echo("\n\n".join(_rendered(name, report)))
    if failed and shown["quiet"]:
        typer.echo(f"{name}: the audit failed", err=True)
    return 1 if failed else 0


def _rendered(name: str, report: dict[str, Any]) -> list[str]:
    """Return a report as text; that of a job file has a part for every step that is a command of its own."""
    if name in _RENDER:
        return [_RENDER[name](report)]
    steps = report.get("before", []) + report.get("results", [])
    release = [text.release(report)] if "method" in report else []
    return [_RENDER[step["do"]](step) for step in steps] + release


def _exit(action: Callable[[], int]) -> None:
    """Run a command and leave with its exit code; nothing but our own words is printed."""
    try:
        code = action()
        sys.stdout.flush()
    except SqlmicroError as error:
        typer.echo(f"error: {error}", err=True)
        code = error.exit_code
    except KeyboardInterrupt:
        typer.echo("interrupted: nothing was published", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader has gone; what follows must not raise again when stdout is closed.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        place = inspect.trace()[-1]
        typer.echo(
            f"fault: {type(error).__name__} in {Path(place.filename).name}:{place.lineno}. "
            "Nothing was published. This is an error of sqlmicro; please report it.",
            err=True,
        )
        code = FAULT
    raise typer.Exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"sqlmicro {version('sqlmicro')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


_root.__doc__ = _HELP
_STAGES = {"safe": "SAFE", "group": "Microaggregation", "mask": "Masking"}
for _verb, (_declared, _action) in api.verbs().items():
    app.command(
        _verb,
        rich_help_panel=_STAGES[methods()[_verb].stage] if _verb in methods() else "Data and audits",
    )(_command(_verb, _declared, _action))
