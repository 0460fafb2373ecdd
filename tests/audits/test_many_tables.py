"""Every audit of a class on thousands of random tables against plain Python, over types whose equality is generous.

Many small tables are rows of one: the number of the table is one more quasi-identifier, so that no class reaches
across two of them. The values of a column are drawn by number, and what is told apart in the output has a number of its
own: the checker sees numbers, the database the values.
"""

from __future__ import annotations

import os
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlmicro.audits import k_anonymity, registry, runner
from sqlmicro.audits.audited import AuditedRelease, Nulls
from sqlmicro.database.duckdb_warehouse import DuckDBWarehouse
from sqlmicro.database.finding import find_source
from sqlmicro.database.templates import ident

from . import naive


def _bits(pattern: int, kind: str = "DOUBLE", width: int = 64) -> str:
    return f"CAST(CAST('{pattern:0{width}b}' AS BIT) AS {kind})"


NAN, NEGATIVE_NAN, PAYLOAD, SIGNALLING = 0x7FF8 << 48, 0xFFF8 << 48, (0x7FF8 << 48) + 7, (0x7FF0 << 48) + 1
DOUBLES = ["0.0", "'-0.0'", "1.5", "'inf'", "'-inf'", *map(_bits, (NAN, NEGATIVE_NAN, PAYLOAD, SIGNALLING))]
SINGLES = ["0.0", "'-0.0'", "0.1", *(_bits(x, "FLOAT", 32) for x in (0x7FC00000, 0xFFC00000, 0x7FC00001, 0x7F800001))]
NFC, NFD = "Caf\u00e9", "Cafe\u0301"
KINDS: dict[str, tuple[str, list[str]]] = {
    "nocase": ("VARCHAR COLLATE NOCASE", ["'Bob'", "'BOB'", "'bob'", "''"]),
    "noaccent": ("VARCHAR COLLATE NOACCENT", [f"'{NFC}'", f"'{NFD}'", "'Cafe'", "'CAFE'"]),
    "both": ("VARCHAR COLLATE NOCASE.NOACCENT", [f"'{NFC}'", "'cafe'", "'CAFE'"]),
    "text": ("VARCHAR", [f"'{NFC}'", f"'{NFD}'", "''", "' '", "'NULL'", "'x,y'", "'X'", "'x'"]),
    "double": ("DOUBLE", DOUBLES),
    "single": ("FLOAT", SINGLES),
    "doubles": ("DOUBLE[]", ["[]", "[NULL]", *(f"[CAST({x} AS DOUBLE)]" for x in DOUBLES)]),
    "record": (
        'STRUCT("DOUBLE" VARCHAR, b FLOAT)',
        ["{'DOUBLE': 'a', 'b': NULL}", *(f"{{'DOUBLE': 'a', 'b': CAST({x} AS FLOAT)}}" for x in SINGLES)],
    ),
    "map": ("MAP(VARCHAR, DOUBLE)", [f"MAP {{'a': CAST({x} AS DOUBLE)}}" for x in DOUBLES]),
    "interval": ("INTERVAL", [f"INTERVAL '{x}'" for x in ("1 month", "30 days", "720 hours", "1 day", "24 hours")]),
    "intervals": ("INTERVAL[]", ["[INTERVAL '1 month']", "[INTERVAL '30 days']", "[]"]),
    "time": ("TIMETZ", ["'12:00:00+00'", "'13:00:00+01'"]),
    "moment": ("TIMESTAMPTZ", ["'2020-01-01 00:00:00+00'", "'2020-01-01 00:00:00.000001+00'", "'infinity'"]),
    "decimal": ("DECIMAL(38,10)", ["1.5", "1.0000000001", "-1.5", "1234567890123456789012345678.0000000001"]),
    "huge": ("HUGEINT", ["170141183460469231731687303715884105727", "170141183460469231731687303715884105726", "-1"]),
    "blob": ("BLOB", [r"'\x00'::BLOB", r"'\x5Cx00'::BLOB", r"''::BLOB", r"'\xFF'::BLOB"]),
    "texts": ("VARCHAR[]", ["['a, b']", "['a', 'b']", "[]", "[NULL]", "['NULL']", "['']"]),
    "flag": ("BOOLEAN", ["true", "false"]),
    "day": ("DATE", ["'2020-01-01'", "'2020-01-02'", "'-infinity'"]),
    "answer": ("ENUM ('yes', 'no')", ["'yes'", "'no'"]),
    "bits": ("BIT", ["'1'", "'01'", "'001'"]),
    "uuid": ("UUID", ["'00000000-0000-0000-0000-000000000000'", "'00000000-0000-0000-0000-00000000000a'"]),
}  # fmt: skip
"""SQL type and literals of values that are written differently."""
SENSITIVE = {"s": ("VARCHAR", ["'flu'", "'cold'"]), "income": ("DOUBLE", ["0.0", "1.5", "2.0", "7.0"])}
INCOMES, WEIGHTS = (0.0, 1.5, 2.0, 7.0), (1.0, 2.5, 40.0)
NULLS: tuple[Nulls, ...] = ("own_value", "wildcard", "exclude")
C = 1.0
EACH = 300 if os.environ.get("WHOLE") else 60
Record = tuple[Any, ...]


@dataclass(frozen=True)
class Batch:
    """Random tables over the same columns: rows of (table, numbers of values …, s, income, weight)."""

    kinds: tuple[str, ...]
    tables: tuple[tuple[Record, ...], ...]

    @property
    def rows(self) -> list[Record]:
        return [record for rows in self.tables for record in rows]


def _number(rng: random.Random, values: int, gaps: float) -> int | None:
    return None if rng.random() < gaps else rng.randrange(values)


@st.composite
def batches(draw: st.DrawFn, tables: int) -> Batch:
    """Draw the columns, and for every table its size, gaps and a seed of the values."""
    kinds = tuple(draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3, unique=True)))
    shapes = st.tuples(st.integers(1, 12), st.sampled_from((0.0, 0.1, 0.4)), st.integers(2, 4), st.integers(0, 2**32))
    made = []
    for number, (n, gaps, most, seed) in enumerate(draw(st.lists(shapes, min_size=tables, max_size=tables))):
        rng = random.Random(seed)
        # Few of the values of a column, so that classes have members.
        few = [[rng.randrange(len(KINDS[kind][1])) for _ in range(most)] for kind in kinds]
        rows = []
        for _ in range(n):
            key = tuple(None if rng.random() < gaps else rng.choice(values) for values in few)
            rest = (_number(rng, 2, gaps), _number(rng, 4, gaps), rng.choice(WEIGHTS))
            rows.append((number, *key, *rest))
        made.append(tuple(rows))
    return Batch(kinds, tuple(made))


def load(warehouse: DuckDBWarehouse, batch: Batch) -> None:
    """Make the table `stacked` of the values that the numbers stand for."""
    import pyarrow as pa

    columns = [*((f"q{i}", *KINDS[kind]) for i, kind in enumerate(batch.kinds)),
               *((name, *found) for name, found in SENSITIVE.items())]  # fmt: skip
    defined = ", ".join(f"{name} {kind}" for name, kind, _ in columns)
    warehouse.query("test", f"CREATE OR REPLACE TABLE memory.main.stacked (t INTEGER, {defined}, w DOUBLE)")
    names = ["t", *(name for name, _, _ in columns), "w"]
    arrays = [pa.array(list(values)) for values in zip(*batch.rows, strict=True)]
    arrays = [a.cast(pa.int32()) if pa.types.is_null(a.type) else a for a in arrays]
    given = warehouse.load(pa.table(arrays, names), "given", "test")
    values = ", ".join(f"({_list(kind, literals)})[{name} + 1]" for name, kind, literals in columns)
    warehouse.query("test", f"INSERT INTO stacked SELECT t, {values}, w FROM {ident(given)}")


def _list(kind: str, literals: Iterable[str]) -> str:
    plain = kind.partition(" COLLATE")[0]
    return f"[{', '.join(f'CAST({literal} AS {plain})' for literal in literals)}]"


def audited(warehouse: DuckDBWarehouse, source: str, batch: Batch, nulls: Nulls) -> AuditedRelease:
    """Return the stacked tables as an audit sees them."""
    release = find_source(warehouse, source)
    own = {column.name: column for column in release.columns}
    quasi = tuple(own[name] for name in ("t", *(f"q{i}" for i in range(len(batch.kinds)))))
    return AuditedRelease(
        warehouse=warehouse, release=release, quasi=quasi, sensitive=(own["s"], own["income"]), weight=own["w"],
        nulls=nulls, numeric=("income",),
    )  # fmt: skip


Figures = dict[int, Counter[tuple[Any, ...]]]
"""What every class of every table is found to have, in any order."""


def _measured(found: AuditedRelease, template: str, **params: Any) -> Figures:
    figures: Figures = defaultdict(Counter)
    for number, *_, records, measure in found.warehouse.rows(f"audit/{template}.sql", columns=found.quasi, **params):
        figures[number][int(records), round(float(measure), 9)] += 1
    return figures


def measured(found: AuditedRelease) -> dict[str, Figures]:
    """Return what the templates say of the classes of every table."""
    sizes: Figures = defaultdict(Counter)
    for number, records, size in found.warehouse.query("test", f"SELECT t, records, size FROM {ident(found.cells)}"):
        if size:
            sizes[number][records, size] += 1
    figures = {"k": sizes, "risk": _measured(found, "individual_risk", weighted_cells=found.weighted_cells)}
    for column in found.sensitive:
        members, shares = found.members(column), registry.shares(found, column)
        closeness = {"shares": shares}
        if column.name == "income":
            closeness |= {"reference": registry.reference(found, column), "value": column}
        distance = "closeness_numeric" if column.name == "income" else "closeness_nominal"
        figures |= {
            f"distinct {column.name}": _measured(found, "distinct_values", members=members),
            f"entropy {column.name}": _measured(found, "entropy", members=members),
            f"recursive {column.name}": _measured(found, "recursive_diversity", members=members, c=C),
            f"alpha {column.name}": _measured(found, "highest_share", shares=shares),
            f"beta {column.name}": _measured(found, "highest_gain", shares=shares),
            f"t {column.name}": _measured(found, distance, **closeness),
        }
    return figures


def expected(batch: Batch, nulls: Nulls) -> dict[str, Figures]:
    """Return the same from the definitions."""
    p = len(batch.kinds)
    tables = [[r for r in rows if nulls != "exclude" or None not in r] for rows in batch.tables]
    figures: dict[str, Figures] = defaultdict(lambda: defaultdict(Counter))

    def note(name: str, number: int, records: int, measure: float) -> None:
        figures[name][number][records, measure] += 1

    everything = {place: [r[place] for rows in tables for r in rows] for place in (p + 1, p + 2)}
    measures = _measures(everything, p)
    known: dict[tuple[str, Record], float] = {}
    for number, rows in enumerate(tables):
        keys = [row[1 : p + 1] for row in rows]
        own = Counter(keys)
        for key, matching in naive.classes(keys, nulls).items():
            note("k", number, own[key], len(matching))
            weight = sum(rows[i][p + 3] for i in matching)
            note("risk", number, own[key], round(naive.risk(len(matching), weight), 9))
            for name, place, measure in measures:
                inside = tuple(rows[i][place] for i in matching)
                if (name, inside) not in known:
                    known[name, inside] = round(float(measure(inside)), 9)
                # The records that are the class; where NULL matches every value, others take part in the measure.
                note(name, number, own[key], known[name, inside])
    return figures


def _measures(everything: dict[int, list[Any]], p: int) -> list[tuple[str, int, Callable[[Sequence[Any]], float]]]:
    found: list[tuple[str, int, Callable[[Sequence[Any]], float]]] = []
    for name, place in (("s", p + 1), ("income", p + 2)):
        whole = everything[place]
        distance = naive.ordered_distance if name == "income" else naive.equal_distance
        found += [
            (f"distinct {name}", place, naive.distinct),
            (f"entropy {name}", place, naive.entropy),
            (f"recursive {name}", place, lambda values: naive.recursive(values, C)),
            (f"alpha {name}", place, lambda values: max(Counter(values).values()) / len(values)),
            (f"beta {name}", place, lambda values, whole=whole: naive.gain(values, whole)),
            (f"t {name}", place, lambda values, whole=whole, distance=distance: distance(values, whole)),
        ]
    return found


def check(warehouse: DuckDBWarehouse, batch: Batch) -> None:
    """Hold all that the audits find of a batch against the definitions, for every reading of NULL."""
    load(warehouse, batch)
    for nulls in NULLS:
        found = audited(warehouse, "stacked", batch, nulls)
        got, wanted = measured(found), expected(batch, nulls)
        for name, figures in wanted.items():
            assert _alike(got[name], figures), (nulls, name, batch.kinds)
        sizes = [size for table in wanted.get("k", {}).values() for _, size in table.elements()]
        records = [records for table in wanted.get("k", {}).values() for records, size in table.elements() if size == 1]
        rows = runner.run(found, ("k-anonymity", "sample-uniques"), {}, {})
        assert [row.value for row in rows] == [min(sizes, default=0), sum(records)]
    columns = found.quasi
    plain = k_anonymity.class_sizes(warehouse, found.release.relation, columns).histogram
    assert plain == Counter(Counter(row[: 1 + len(batch.kinds)] for row in batch.rows).values())


def _alike(got: Figures, wanted: Figures) -> bool:
    """Tell whether two findings are the same but for the last digit of a rounded figure."""
    if got == wanted:
        return True
    if got.keys() != wanted.keys():
        return False
    pairs = ((sorted(got[n].elements()), sorted(wanted[n].elements())) for n in wanted)
    return all(len(a) == len(b) and all(map(_near, a, b)) for a, b in pairs)


def _near(left: Sequence[float], right: Sequence[float]) -> bool:
    return left[0] == right[0] and abs(left[1] - right[1]) < 1e-8


def examples(number: int) -> Any:
    return settings(max_examples=number, deadline=None, suppress_health_check=list(HealthCheck))


def _checked(warehouse: DuckDBWarehouse, number: int, tables: int) -> int:
    """Check a number of batches and return of how many tables they were."""
    seen = 0

    @examples(number)
    @given(batch=batches(tables))
    def every_batch(batch: Batch) -> None:
        nonlocal seen
        check(warehouse, batch)
        seen += len(batch.tables)

    every_batch()
    return seen


@pytest.mark.slow
def test_thousands_of_random_tables_of_every_type(warehouse: DuckDBWarehouse) -> None:
    """WHOLE=1 checks 10 200; CI as many kinds of columns, with fewer tables of each."""
    assert _checked(warehouse, 34, EACH) >= 34 * EACH


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_that_is_written_differently_is_a_class(
    warehouse: DuckDBWarehouse, kind: str, tmp_path: Path
) -> None:
    """Each value twice: in the database, and in Parquet where it can hold the type."""
    n = len(KINDS[kind][1])
    rows = tuple((0, i, 0, 0, 1.0) for i in [*range(n), None] for _ in range(2))
    batch = Batch((kind,), (rows,))
    load(warehouse, batch)
    sources = ["stacked"]
    if kind not in ("interval", "intervals", "bits", "time", "huge"):  # Parquet stores these as something else
        path = tmp_path / "stacked.parquet"
        # No dictionary: that of DuckDB 1.5 makes one value of 0.0 and -0.0, and of every NaN, in the file.
        warehouse.query("test", f"COPY stacked TO '{path}' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 1)")
        sources.append(str(path))
    for source in sources:
        found = audited(warehouse, source, batch, "own_value")
        assert k_anonymity.sizes_of(found).histogram == {2: n + 1}
        assert k_anonymity.class_sizes(warehouse, found.release.relation, found.quasi).histogram == {2: n + 1}
        assert len(k_anonymity.smallest(found, 3, 100)) == n + 1
