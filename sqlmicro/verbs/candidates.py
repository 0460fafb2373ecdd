"""The candidates of `sqlmicro compare`: methods with their settings, the columns they are told, and their commands."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from sqlmicro.errors import ParameterError
from sqlmicro.options.common import (
    IdentifierOptions,
    MachineOptions,
    RowKeyOption,
    SeedOptions,
    SourceOptions,
)
from sqlmicro.options.params import Param, settle, specification, specifications
from sqlmicro.options.persons import PersonOptions
from sqlmicro.options.reader import ReaderOptions
from sqlmicro.registry import Method, find

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
    k: Annotated[tuple[str, ...], Param("Group sizes to try with each method that has one.", metavar="3,5")] = _SIZES
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
