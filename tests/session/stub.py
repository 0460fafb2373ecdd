"""Writes sqlmicro/session/methods.pyi: the signatures of the verbs of a session, from their declared parameters."""

from typing import Literal, get_args, get_origin

from sqlmicro import api
from sqlmicro.options import common, reader
from sqlmicro.options.params import REQUIRED, Parameter, parameters
from sqlmicro.registry import methods
from sqlmicro.session.methods import OTHERS, declared, positional, takes_records

HEAD = '''# ruff: noqa: E501
"""The verbs as methods of a session. Made by tests/session/test_stub.py: do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, Unpack

from sqlmicro.options.params import Parameter
from sqlmicro.session.release import Release
from sqlmicro.session.result import Audit, Result

class Frame(Protocol):
    """A DuckDB relation, an Arrow table or reader, a pandas or Polars frame."""

    def __arrow_c_stream__(self, requested_schema: Any = ...) -> Any: ...

Records: TypeAlias = str | Frame
"""The name of a table, the path of a file, or a frame."""
Names: TypeAlias = str | Sequence[str]

'''
TAIL = """
OTHERS: tuple[str, ...]
RECORDS: tuple[str, ...]

def takes_records(parameter: Parameter) -> bool: ...

def declared(name: str) -> tuple[Parameter, ...]: ...
def positional(parameters: list[Parameter]) -> list[str]: ...
"""
GIVEN = "self, name: str, declared: tuple[Parameter, ...], given: Mapping[str, Any]"
PRIVATE = f"""    def _anonymized({GIVEN}) -> Release: ...
    def _found({GIVEN}) -> Result: ...
"""
EXPLICIT = ("table", "columns", "by", "nulls")


def written(parameter: Parameter) -> str:
    """Return the type of a parameter as it is written."""
    base = parameter.base
    if takes_records(parameter):
        text = "Records | Sequence[Records]" if parameter.many else "Records"
    elif parameter.many:
        text = "Names"
    elif get_origin(base) is Literal:
        text = "Literal[" + ", ".join(f'"{choice}"' for choice in get_args(base)) + "]"
    else:
        text = base.__name__
    return f"{text} | None" if parameter.optional or parameter.default is None else text


def listed(parameters: list[Parameter], first: list[str]) -> list[str]:
    """Return parameters as they stand in a signature."""
    lines = []
    for parameter in parameters:
        if parameter.name not in first and "*" not in lines:
            lines.append("*")
        default = "" if parameter.default is REQUIRED else " = ..."
        lines.append(f"{parameter.name}: {written(parameter)}{default}")
    return lines


def typed_dict(name: str, base: str, parameters: tuple[Parameter, ...]) -> str:
    """Return the class of keyword arguments that methods share."""
    lines = [f"    {parameter.name}: {written(parameter)}" for parameter in parameters]
    return f"class {name}({base}, total=False):\n" + "\n".join(lines) + "\n\n"


def stub() -> str:
    """Return the text of the stub."""
    known = methods()
    records = parameters(common.RecordOptions)
    vectors = common.names(records)
    shared = tuple(p for p in declared("mdav") if p.name in SHARED)
    text = HEAD + typed_dict("Shared", "TypedDict", shared) + typed_dict("Vectors", "Shared", records)
    text += "class Verbs:\n" + PRIVATE
    for name in (*known, *OTHERS):
        own = list(declared(name))
        first = positional(own)
        returns, more = "Result", []
        if name in known:
            returns = "Release"
            more = [f"**shared: Unpack[{'Vectors' if known[name].engine == 'numpy' else 'Shared'}]"]
            own = [p for p in own if p.name not in SHARED and not (more[0].endswith("[Vectors]") and p.name in vectors)]
        elif name == "audit":
            returns = "Audit"
        lines = ["self", *listed(own, first), *more]
        signature = "".join(
            f"\n        {line}," if not line.startswith("**") else f"\n        {line}" for line in lines
        )
        summary = api.verbs()[name].text.splitlines()[0]
        text += f'    def {name.replace("-", "_")}({signature}\n    ) -> {returns}:\n        """{summary}"""\n\n'
    return text.rstrip() + "\n" + TAIL


SHARED = tuple(
    option.name
    for group in (common.ColumnOptions, common.RunOptions, reader.ReaderOptions)
    for option in parameters(group)
    if option.name not in EXPLICIT
)
