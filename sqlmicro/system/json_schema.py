"""The JSON Schema of reports, from the dataclasses they are: types, and the words that stand with them.

JSON Schema draft 2020-12. A dataclass is an object with no other keys than its fields. The first paragraph of its
docstring describes it, and the text below a field the field.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from sqlmicro.system.reporting import is_inline, key_of, may_lack

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema: TypeAlias = dict[str, Any]
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", NoneType: "null"}


@dataclass
class _Object:
    """The keys of an object: their schemas, those that are never absent, and whether there may be others."""

    properties: dict[str, Schema] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    open: bool = False

    def joined(self, other: _Object) -> _Object:
        """Return the keys of both; one that both have may be either."""
        properties = dict(self.properties)
        for key, schema in other.properties.items():
            there = properties.get(key, schema)
            known = schema in (there, *there.get("anyOf", ()))
            properties[key] = there if known else {"anyOf": [*there.get("anyOf", [there]), schema]}
        return _Object(properties, [*self.required, *other.required], self.open or other.open)


def reports_schema(title: str, made: Mapping[str, Any]) -> Schema:
    """Return the schema of reports, given as the types of what each command returns.

    >>> reports_schema("Reports", {"look": _Object})["$defs"]["_Object"]["required"]
    ['properties', 'required', 'open']
    """
    kinds = {name: list(_options(kind)) for name, kind in made.items()}
    roots = list(dict.fromkeys(kind for options in kinds.values() for kind in options))
    by_commands = [(root, [name for name, options in kinds.items() if root in options]) for root in roots]
    definitions: dict[str, Schema] = {}
    found = [{**_schema(root, definitions), "description": ", ".join(names)} for root, names in by_commands]
    return {"$schema": DIALECT, "title": title, "anyOf": found, "$defs": definitions}


def _options(kind: Any) -> Iterator[Any]:
    """Yield the types of a union, or the one type."""
    if get_origin(kind) in (Union, UnionType):
        for one in get_args(kind):
            yield from _options(one)
    else:
        yield kind


def _schema(kind: Any, definitions: dict[str, Schema]) -> Schema:
    """Return the schema of a type; dataclasses are put among the definitions."""
    options = list(_options(kind))
    if len(options) > 1:
        found = [_schema(one, definitions) for one in options]
        if all(one.keys() == {"type"} for one in found):
            return {"type": [one["type"] for one in found]}
        return {"anyOf": found}
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _TYPES:
        return {"type": _TYPES[kind]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": _schema(inner[0], definitions)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema(inner[1], definitions)}
    if is_dataclass(kind) and isinstance(kind, type):
        return {"$ref": f"#/$defs/{_defined(kind, definitions)}"}
    assert kind in (Any, object), kind
    return {}


def _defined(kind: type, definitions: dict[str, Schema]) -> str:
    """Put the schema of a dataclass among the definitions, and return its name there."""
    name = kind.__name__
    if name not in definitions:
        definitions[name] = {}  # it may refer to itself
        objects = [_object(one) for one in _variants(kind, definitions)]
        made = objects[0] if len(objects) == 1 else {"anyOf": objects}
        definitions[name] = {"description": _paragraph(kind), **made}
    return name


def _object(found: _Object) -> Schema:
    made: Schema = {"type": "object", "properties": found.properties, "required": found.required}
    return made if found.open else {**made, "additionalProperties": False}


def _variants(kind: type, definitions: dict[str, Schema]) -> list[_Object]:
    """Return the keys a dataclass may have: one list for every choice among dataclasses whose keys stand in it."""
    found, hints, words = [_Object()], get_type_hints(kind), _words(kind)
    for one in fields(kind):
        if is_inline(one):
            choices = _inline(hints[one.name], definitions)
        else:
            key, schema = key_of(one), _schema(hints[one.name], definitions)
            schema |= {"description": words[one.name]} if one.name in words else {}
            choices = [_Object({key: schema}, [] if may_lack(one) else [key])]
        found = [before.joined(choice) for before in found for choice in choices]
    return found


def _inline(kind: Any, definitions: dict[str, Schema]) -> list[_Object]:
    """Return the keys that may stand in place of a field; where it may be None, none of them must be there."""
    options = list(_options(kind))
    made = [found for option in options if option is not NoneType for found in _standing(option, definitions)]
    return [_Object(found.properties, [], found.open) for found in made] if NoneType in options else made


def _standing(kind: Any, definitions: dict[str, Schema]) -> list[_Object]:
    if not is_dataclass(kind):
        return [_Object(open=True)]
    assert isinstance(kind, type)
    below = sorted(_subclasses(kind), key=lambda one: one.__qualname__)  # in whatever order they were loaded
    if not below:
        return _variants(kind, definitions)
    everything = _Object()  # a base of many: their keys together, none of which must be there
    for under in below:
        hints = get_type_hints(under)
        own = {key_of(one): _schema(hints[one.name], definitions) for one in fields(under) if not is_inline(one)}
        everything = everything.joined(_Object(own))
    return [everything]


def _subclasses(kind: type) -> Iterator[type]:
    found: list[type] = type.__subclasses__(kind)
    for below in found:
        yield below
        yield from _subclasses(below)


def _paragraph(kind: type) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join(inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].split())


def _words(kind: type) -> dict[str, str]:
    """Return the text that stands below the fields of a dataclass, and of those it is made from."""
    found: dict[str, str] = {}
    for one in reversed([base for base in kind.__mro__ if is_dataclass(base)]):
        (made,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        assert isinstance(made, ast.ClassDef)
        found |= dict(_below(made.body))
    return found


def _below(body: Iterable[ast.stmt]) -> Iterator[tuple[str, str]]:
    before: ast.stmt | None = None
    for node in body:
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and isinstance(node, ast.Expr):
            text = getattr(node.value, "value", None)
            if isinstance(text, str):
                yield before.target.id, re.sub(r"\bNone\b", "null", " ".join(text.split()))
        before = node
