"""Options as classes: what is declared is what may be given, in order, and nothing else."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import pytest

from sqlmicro import api
from sqlmicro.audits import inputs, registry
from sqlmicro.errors import ParameterError, demand
from sqlmicro.options import reader
from sqlmicro.options.catalogue import Catalogue
from sqlmicro.options.common import names
from sqlmicro.options.guarantees import GuaranteeOptions
from sqlmicro.options.params import Param, Parameter, Registered, carried, parameters, take
from sqlmicro.verbs.compare import CompareOptions


def more() -> tuple[Parameter, ...]:
    return (Parameter("depth", int, 2, Param("Depth.", min=1)), Parameter("tags", tuple[str, ...], (), Param("Tags.")))


@dataclass(frozen=True, kw_only=True)
class Machine:
    threads: Annotated[int | None, Param("Threads.", min=1)] = None


@dataclass(frozen=True, kw_only=True)
class Files:
    path: Annotated[str, Param("A path.")]
    seen: int = 0
    # No option: it has no Param.


@dataclass(frozen=True, kw_only=True)
class Search(Files, Machine):
    size: Annotated[int, Param("Size.", min=2)] = 3
    settings: Annotated[Mapping[str, object], Registered(more)] = field(default_factory=dict)


def test_own_options_come_first_then_those_of_the_bases_in_order() -> None:
    assert names(parameters(Search)) == ("size", "depth", "tags", "path", "threads")


def test_what_a_catalogue_declares_is_held_by_name() -> None:
    found = take(Search, {"path": "a", "depth": 4}, "search")
    assert found == Search(path="a", size=3, settings={"depth": 4, "tags": ()})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "search, path: a value is needed. Got none. Give --path."),
        ({"path": "a", "size": 1}, "search, size: must be a whole number of at least 2. Got 1."),
        ({"path": "a", "depth": 0}, "search, depth: must be a whole number of at least 1. Got 0."),
        ({"path": "a", "sise": 3}, "search: 'sise' is not a parameter here. Did you mean 'size'?"),
        ({"path": "a", "seen": 3}, "search: 'seen' is not a parameter here."),
        ({"path": "a", "settings": {}}, "search: 'settings' is not a parameter here."),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError) as error:
        take(Search, given, "search")
    assert str(error.value).startswith(message)


def test_options_are_carried_over_under_their_names() -> None:
    others = Search(path="a", size=5, threads=2)
    assert carried(Machine, others) == Machine(threads=2)
    assert carried(Files, others, path="b") == Files(path="b")


def test_a_catalogue_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "min_k" in names(parameters(inputs.AuditStep))
    monkeypatch.setattr(registry, "AUDITS", Catalogue("audit", registry.Audit, ()))
    monkeypatch.setattr(registry, "limits", dict)
    assert names(parameters(inputs.AuditStep)) == names(parameters(inputs.AuditInputs))


def of_verbs() -> list[type]:
    return list(dict.fromkeys(verb.options for verb in api.verbs().values()))


@pytest.mark.parametrize("options", of_verbs(), ids=lambda one: one.__name__)
def test_the_options_of_a_verb_cannot_be_changed_and_are_given_by_name(options: type) -> None:
    for one in options.__mro__[:-1]:
        assert dataclasses.is_dataclass(one)
        assert one.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert all(field.kw_only for field in fields(options))
    listed = names(parameters(options))
    held = [name for one in fields(options) for name in [one.name] if name not in listed]
    assert set(held) <= {"opened", "gates", "settings", "instead"}, "an option without a Param"
    assert len(set(listed)) == len(listed)


def test_no_verb_has_two_options_of_one_name() -> None:
    for verb in api.verbs().values():
        listed = names(verb.parameters)
        assert len(set(listed)) == len(listed), verb.name


def test_options_go_to_other_processes() -> None:
    options = take(CompareOptions, {"table": "t", "jobs": 2}, "compare")
    assert pickle.loads(pickle.dumps(options)) == options


def test_the_reader_is_told_what_was_given_only() -> None:
    assert reader.AS_FOUND.given() == {}
    given = reader.ReaderOptions(delimiter=";", quote="'", null_string=("NA",), decimal=",", encoding="latin-1")
    assert given.given() == {
        "delim": ";", "quote": "'", "nullstr": ["", "NA"], "decimal_separator": ",", "encoding": "latin-1",
    }  # fmt: skip


@pytest.mark.parametrize("value", [float("nan"), -0.1, 1.1])
def test_a_number_is_one_within_its_bounds(value: float) -> None:
    with pytest.raises(ParameterError, match="must be a number from 0 to 1"):
        Parameter("share", float, 0.5, Param("Share.", min=0, max=1)).check(value, "search")


@pytest.mark.parametrize(
    ("sensitive", "values"), [((), {"min_l": 2}), (("a",), {}), (("a",), {"min_l": 2, "hierarchical": ("a=f.csv",)})]
)
def test_a_limit_names_sensitive_columns_and_they_a_limit(sensitive: tuple[str, ...], values: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        demand(GuaranteeOptions(sensitive=sensitive, values=values).needs("step 1"))
