"""PRAM: the categories of a nominal column changed at random, with known probabilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sqlmicro.database import risk_tables
from sqlmicro.errors import InputError, ParameterError
from sqlmicro.mask import at_risk
from sqlmicro.options.params import Param
from sqlmicro.options.risks import RiskTable, WhereRisk, WhichRisk
from sqlmicro.registry import method
from sqlmicro.work import Stream

if TYPE_CHECKING:
    from sqlmicro.database.columns import Column
    from sqlmicro.database.templates import Name
    from sqlmicro.work import Outcome, Work

MOST_CATEGORIES = 1000
MOST_INVARIANT = 200


@method(
    "pram",
    stage="mask",
    engine="sql",
    promise="masked",
    on_clusters=True,
    source="Kooiman, Willenborg & Gouweleeuw (1997)",
    templates=(
        "mask/categories.sql",
        "mask/categories_as_given.sql",
        "mask/transitions.sql",
        "mask/transitions_as_given.sql",
        "mask/invariant_transitions.sql",
        "mask/transition_ranges.sql",
        "mask/draws.sql",
        "mask/postrandomised.sql",
        *at_risk.ONLY,
    ),
    takes_strata=False,
    draws=True,
)
def pram(
    work: Work,
    *,
    keep_probability: Annotated[
        float | None, Param("Probability that a value stays; all others are equally likely.", min=0, max=1)
    ] = None,
    matrix: Annotated[
        str | None, Param("File with the transition matrix, CSV or TOML, for one column.", metavar="FILE")
    ] = None,
    invariant: Annotated[bool, Param("Change the matrix so that the expected number of every category stays.")] = False,
    where_risk: WhereRisk = None,
    risk: WhichRisk = "individual",
    risk_table: RiskTable = risk_tables.DEFAULT,
) -> Outcome:
    """Change the values of nominal columns at random by a transition matrix (post-randomisation).

    Returns
    -------
    Outcome
        New values of all columns.

    Raises
    ------
    ParameterError
        When not exactly one of `keep_probability` and `matrix` is given, the file holds no transition matrix, or
        `invariant` is asked for with `where_risk`.
    InputError
        For columns of floating-point numbers, too many categories, or values the matrix does not name.

    Notes
    -----
    With keep_probability p a value becomes each of the L - 1 others with (1 - p) / (L - 1). A matrix in CSV has a
    header with the categories behind an empty cell, then a row per category: its name and the probabilities of what it
    becomes. In TOML it is a table [transitions.CATEGORY] per category, CATEGORY = probability; what is left out is 0.
    With `invariant` the matrix P is followed by the one that leads back (two-stage PRAM). A value then stays with
    another probability than P says; the range is reported.

    Without `invariant` the expected frequencies are t P, from which t can be estimated if P is published: P is no
    secret. NULL stays NULL. One hash and one join per record; L² cells, L³ with `invariant`.

    With `where_risk` the records at risk are changed, and all others stay as they are. The categories are those of all
    records. Frequencies are then expected to be t P only among the records at risk.

    What repeats: under one secret the same value of the same person becomes the same value again, as long as the
    probabilities are the same; other probabilities, columns or sources share nothing with it.
    """
    if (keep_probability is None) == (matrix is None):
        got = "none of them" if matrix is None else "both"
        raise ParameterError(f"{work.where}, matrix", "needs one of --keep-probability and --matrix", got)
    if invariant and where_risk is not None:
        must = "keeps expected numbers over all records, and --where-risk changes only some"
        raise ParameterError(f"{work.where}, invariant", must, "both")
    if matrix is not None and len(work.columns) > 1:
        got = ", ".join(column.name for column in work.columns)
        raise ParameterError(f"{work.where}, matrix", "a matrix is for one column", got, "Use a step for every column")
    wrong = [f"{c.name} ({c.type})" for c in work.columns if c.family in ("float", "timestamp", "timestamptz")]
    if wrong:
        raise InputError(work.where, "works on nominal columns: text, ENUM, truth values, codes", ", ".join(wrong))
    asked = at_risk.asked_for(where_risk, risk, risk_table)
    at_risk.only(work, asked, lambda: _change(work, keep_probability, matrix, invariant), apart=False)
    return work.outcome


def _change(work: Work, keep_probability: float | None, matrix: str | None, invariant: bool) -> None:
    for column in work.columns:
        of = column.staged
        rows: list[list[float]] = []
        if matrix is None:
            categories = work.run("mask/categories.sql", f"categories_{of}", relation=work.relation, column=column)
            _check_number(work, column, categories, invariant)
            transitions = work.run(
                "mask/transitions.sql", f"transitions_{of}", categories=categories, keep=keep_probability
            )
        else:
            names, rows = read_matrix(matrix, f"{work.where}, matrix")
            categories = _given_categories(work, column, names)
            _check_number(work, column, categories, invariant)
            transitions = work.run("mask/transitions_as_given.sql", f"transitions_{of}", matrix=rows)
        if invariant:
            given = transitions
            transitions = work.run(
                "mask/invariant_transitions.sql", f"invariant_{of}", transitions=given, categories=categories
            )
            _note_range(work, column, transitions)
        ranges = work.run("mask/transition_ranges.sql", f"ranges_{of}", categories=categories, transitions=transitions)
        values = work.run(
            "mask/postrandomised.sql",
            f"values_{of}",
            drawn=work.drawn(Stream((column,), also=rows, but=("matrix",))),
            ranges=ranges,
            column=column,
        )
        work.replace(column, values, "nominal")


def _check_number(work: Work, column: Column, categories: Name, invariant: bool) -> None:
    found = work.warehouse.count(categories)
    most = MOST_INVARIANT if invariant else MOST_CATEGORIES
    if found > most:
        raise InputError(
            work.where,
            f"a nominal column has at most {most:,} categories" + (" with --invariant" if invariant else ""),
            f"{found:,} in {column.name!r}",
            "Use: sqlmicro shuffle, or generalize the column first",
        )


def _given_categories(work: Work, column: Column, names: list[str]) -> Name:
    """Return the categories a matrix names; refuse when values of the column are not among them."""
    kind = dict(work.warehouse.describe(work.relation))[column.staged]
    categories = work.run(
        "mask/categories_as_given.sql",
        f"categories_{column.staged}",
        relation=work.relation,
        column=column,
        names=names,
        type=kind,
    )
    strange, missing, records = work.warehouse.query(
        "categories",
        "SELECT (SELECT count(*) - count(DISTINCT value) FROM {{ c | ident }}), count(DISTINCT {{ column | ident }}), "
        "count(*) FROM {{ r | ident }} WHERE {{ column | ident }} NOT IN (SELECT value FROM {{ c | ident }} "
        "WHERE value IS NOT NULL)",
        c=categories,
        r=work.relation,
        column=column,
    )[0]
    if strange:
        must = f"every category must be another value of the type {kind}"
        raise InputError(f"{work.where}, matrix", must, f"{strange:,} that are not")
    if missing:
        must = f"the matrix must name every value of {column.name!r}"
        raise InputError(f"{work.where}, matrix", must, f"{missing:,} values, of {records:,} records, that it lacks")
    return categories


def _note_range(work: Work, column: Column, transitions: Name) -> None:
    low, high = work.warehouse.query(
        "transitions",
        "SELECT min(probability), max(probability) FROM {{ t | ident }} WHERE source = target",
        t=transitions,
    )[0]
    if low is not None:
        work.note(f"{column.name}: values stay with a probability of {low:.3f} to {high:.3f}")


def read_matrix(path: str, where: str) -> tuple[list[str], list[list[float]]]:
    """Return the categories and the rows of a transition matrix.

    Raises
    ------
    ParameterError
        For a file that cannot be read, is not square, has a number outside 0 to 1, or a row that does not add up to 1.
    """
    import csv
    import tomllib

    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
        if file.suffix.lower() == ".toml":
            names, rows = _from_table(tomllib.loads(text).get("transitions", {}))
        else:
            lines = [line for line in csv.reader(text.splitlines()) if line]
            names = lines[0][1:]
            by_name = {line[0]: [float(cell) for cell in line[1:]] for line in lines[1:]}
            rows = [by_name.pop(name) for name in names]
            if by_name or len(lines) != len(names) + 1:
                raise ValueError
    except OSError:
        raise ParameterError(where, f"there must be a file {path!r} that can be read", "none") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        must = "must be CSV with a header and a row per category, or TOML with a table [transitions.CATEGORY] for each"
        raise ParameterError(where, must, repr(path)) from None
    if not names or len(set(names)) != len(names) or any(len(row) != len(names) for row in rows):
        raise ParameterError(where, "must be a square matrix with every category once", f"{len(names)} categories")
    wrong = [row for row in rows if not all(0 <= cell <= 1 for cell in row) or abs(sum(row) - 1) > 1e-6]
    if wrong:
        raise ParameterError(where, "rows must be probabilities that add up to 1", f"{len(wrong)} that do not")
    return names, rows


def _from_table(table: dict[str, dict[str, Any]]) -> tuple[list[str], list[list[float]]]:
    names = list(table)
    if any(target not in table for row in table.values() for target in row):
        raise ValueError
    return names, [[float(row.get(name, 0)) for name in names] for row in table.values()]
