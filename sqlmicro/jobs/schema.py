"""The JSON Schema of job files, from the parameters as they are declared: editors complete and check with it.

JSON Schema draft 2020-12. It says all that can be said of a file alone; whether a table has the columns a step names,
and that publishing comes last, is for `sqlmicro run` to see.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlmicro.audits.inputs import MeasureOption
from sqlmicro.audits.registry import audits
from sqlmicro.audits.registry import gates as gate_options
from sqlmicro.jobs.keys import KEY_OPTIONS
from sqlmicro.jobs.steps import (
    FILE_OPTIONS,
    OTHER_STEPS,
    RULED_COLUMNS,
    RULES,
    TABLE_OPTIONS,
    gate_parameters,
    step_parameters,
)
from sqlmicro.options import common
from sqlmicro.options.common import JoinOptions
from sqlmicro.options.params import REQUIRED, Parameter, parameters
from sqlmicro.registry import methods
from sqlmicro.system.json_schema import DIALECT, Schema

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_SUMMARIES = {
    "register": "Register files as a table or view of the database, before anything else.",
    "profile": "Describe the columns of the table, before anything else.",
    "audit": "Audit the table; in a job that releases nothing. A release is held to a [[gate]] instead.",
    "publish": "Publish the release; the last step.",
}


def job_schema() -> Schema:
    """Return the schema of a job file.

    >>> found = job_schema()
    >>> found["$defs"]["mdav"]["properties"]["k"]["minimum"], found["$defs"]["gate"]["properties"]["min_k"]["type"]
    (2, 'integer')
    """
    steps = {do: _step(do) for do in (*sorted(methods()), *OTHER_STEPS)}
    content = {"step": _sections("step", 1), "gate": _sections("gate", 0)}
    (table,) = common.names(parameters(common.TableOption))
    own = _properties(TABLE_OPTIONS)
    shared, ruled = _properties(FILE_OPTIONS), _properties(RULED_COLUMNS)
    several = {"properties": {table: {"type": "array"}}, "required": [table]}
    of_several = {**{name: found for name, found in own.items() if name != table}, **content}
    order = {"$ref": "#/$defs/order"}
    alone = dict.fromkeys(["key", "rules", *common.names(parameters(JoinOptions))], False)
    return {
        "$schema": DIALECT,
        "title": "Job file of sqlmicro",
        "description": "What is done to one table, or, as [[table]], to several that are released together.",
        "type": "object",
        "properties": {
            **shared, **own, **content,
            table: {"anyOf": [own[table], _sections("table", 1)]},
            "key": _sections("key", 0),
            "rules": {"$ref": "#/$defs/rules"},
        },
        "additionalProperties": False,
        "if": several,
        "then": {"propertyNames": {"enum": [*shared, table, "key", "rules"]}},
        "else": {"required": [table, "step"], "properties": alone, "allOf": [order]},
        "$defs": {
            "step": _any_step(steps),
            "gate": _gate(),
            "key": _key(),
            "table": {
                "type": "object",
                "required": ["name"],
                "description": "What is done to one of several tables.",
                "if": {"required": ["step"]},
                "then": {"allOf": [order, {"$ref": "#/$defs/releases"}], "properties": dict.fromkeys(ruled, False)},
                "else": {"required": ["columns"]},
                "properties": {"name": own[table], **of_several, **ruled},
                "additionalProperties": False,
            },
            "rules": {
                "description": "What is done with every [[table]] that has no step of its own.",
                "type": "object",
                "properties": _properties(RULES),
                "additionalProperties": False,
            },
            "order": _order(),
            "releases": {"properties": {"step": {"contains": _does(["publish"])}}},
            **steps,
        },
    }  # fmt: skip


def _key() -> Schema:
    """Return the schema of a key between tables; one column need not be a list."""
    properties = _properties(KEY_OPTIONS)
    for parameter in KEY_OPTIONS:
        if parameter.many:
            found = properties[parameter.name]
            properties[parameter.name] = {**found, "type": ["string", "array"], "minItems": 1}
    return {
        "description": "Columns of a table that refer to columns of a table; they are pseudonymised alike.",
        "type": "object",
        "properties": properties,
        "required": [parameter.name for parameter in KEY_OPTIONS if parameter.default is REQUIRED],
        "additionalProperties": False,
    }


def _sections(name: str, at_least: int) -> Schema:
    return {"type": "array", "minItems": at_least, "items": {"$ref": f"#/$defs/{name}"}}


def _properties(declared: Iterable[Parameter]) -> Schema:
    return {parameter.name: _property(parameter) for parameter in declared}


def _property(parameter: Parameter) -> Schema:
    """Return what the declaration of a parameter says of its values."""
    found: Schema = {"description": parameter.param.help}
    if parameter.choices:
        found |= {"enum": list(parameter.choices)}
    elif parameter.many:
        found |= {"type": "array", "items": {"type": "string"}}
    else:
        found |= {"type": _TYPES[parameter.base]}
    if parameter.param.min is not None:
        found["minimum"] = parameter.param.min
    if parameter.param.max is not None:
        found["maximum"] = parameter.param.max
    if parameter.default is not REQUIRED and parameter.default not in (None, ()):
        found["default"] = parameter.default
    return found


def _step(do: str) -> Schema:
    declared = step_parameters(do)
    required = [parameter.name for parameter in declared if parameter.default is REQUIRED]
    return {
        "description": _SUMMARIES.get(do) or methods()[do].summary,
        "properties": {"do": {"const": do}, **_properties(declared)},
        "required": ["do", *required],
        "additionalProperties": False,
    }


def _any_step(steps: Iterable[str]) -> Schema:
    """Return the schema of a step: which one it is, `do` says, so that a message is about that one alone."""
    names = list(steps)
    return {
        "type": "object",
        "properties": {"do": {"enum": names, "description": "What the step does."}},
        "required": ["do"],
        "allOf": [{"if": _does([name]), "then": {"$ref": f"#/$defs/{name}"}} for name in names],
    }


def _gate() -> Schema:
    (measure,) = parameters(MeasureOption)
    names = [*common.names(gate_options()), measure.name]
    audit = {"type": "string", "enum": sorted(audits())}
    properties = {**_properties(gate_parameters()), measure.name: {**_property(measure), "items": audit}}
    return {
        "description": "What the release must pass before it is published.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "anyOf": [{"required": [name]} for name in names],
    }


def _does(names: Iterable[str]) -> Schema:
    """Return the schema of the steps of these names."""
    return {"type": "object", "properties": {"do": {"enum": list(names)}}, "required": ["do"]}


def _order() -> Schema:
    """Return what holds for the steps together: what anonymizes is published, once, and has gates, not audits."""
    anonymizes = {"properties": {"step": {"contains": _does(sorted(methods()))}}}
    once = {"contains": _does(["publish"]), "minContains": 1, "maxContains": 1, "not": {"contains": _does(["audit"])}}
    never = {"not": {"contains": _does(["publish"])}}
    return {
        "if": anonymizes,
        "then": {"properties": {"step": once}},
        "else": {"properties": {"step": never, "gate": {"maxItems": 0}}},
    }
