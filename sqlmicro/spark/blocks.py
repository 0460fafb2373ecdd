"""Groups on Spark: blocks of near records cut in SQL, a kernel in every block, then a search across their borders.

Of records of persons every group has k persons; of nobody's records there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.group import class_size
from sqlmicro.guarantees import read
from sqlmicro.registry import Method
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.spark.worker import cut_batches, divide_block, group_block, search_block
from sqlmicro.work import Work

MOST = 20_000
"""A block of more records is cut, about: the kernel finds good starts up to here."""
SAMPLED = 256
"""Records per block, about, that the cuts are computed from."""
_HALVES, _SHIFTED = (0.5,), ((0.3, 0.7), (0.7, 0.3))
_LEAST_SAMPLE = 20_000  # records; a smaller table is its own sample
_SAMPLED_IN_A_TASK = 50_000  # records; starting a task in Python takes longer than cutting fewer
_LEVELS = 60
_CONSTANT, _TINY = 1e-13, 1e-300
_DIGITS = 9  # of means and standard deviations: sums over partitions differ in the last of 16 digits from run to run

_MOMENTS = """SELECT count(*) AS records{% for column in columns %}
  , count({{ column | ident }}) AS n_{{ loop.index }}
  , avg(CAST({{ column | ident }} AS DOUBLE)) AS mean_{{ loop.index }}
  , stddev_samp(CAST({{ column | ident }} AS DOUBLE)) AS sd_{{ loop.index }}{% endfor +%}
FROM {{ relation | ident }}"""

_FEATURES = """SELECT row_id{% for unit in units %}, person{% endfor +%}
  , ''{% for by in strata %}{% for stratum in by %}
  || coalesce(length(CAST({{ stratum | ident }} AS VARCHAR)) || ':' || CAST({{ stratum | ident }} AS VARCHAR), '-')
{% endfor %}{% endfor %} AS stratum
{% for column, mean, scale in numbers %}
  , coalesce((CAST({{ column | ident }} AS DOUBLE) - {{ mean | lit }}) * {{ scale | lit }}, 0e0) AS f_{{ loop.index }}
{% endfor %}
{% for column, mean, scale, number in flags %}
  , (CASE WHEN {{ column | ident }} IS NULL THEN 1e0 ELSE 0e0 END - {{ mean | lit }}) * {{ scale | lit }}
    AS f_{{ number }}
{% endfor %}
FROM {{ relation | ident }}{% for unit in units %} JOIN {{ unit | ident }} USING (row_id){% endfor %}"""

_SIZES = """SELECT stratum, block, count(*) AS records
  {% for unit in units %}, count(DISTINCT person) AS persons{% endfor +%}
FROM {{ points | ident }} GROUP BY stratum, block"""

_SAMPLE = """SELECT * FROM {{ points | ident }}
WHERE CAST(concat('0x', left({{ key | draw("row_id", purpose="sample") }}, 8)) AS BIGINT)
  < {{ bound | lit }}"""

_SHELL = """SELECT stratum, 1 AS block, min(radius) AS cut
FROM (
  SELECT stratum, radius, count(*) OVER (PARTITION BY stratum) AS total,
    row_number() OVER (PARTITION BY stratum ORDER BY radius DESC) AS place
  FROM (
    SELECT stratum, sqrt(0e0{% for name in names %} + {{ name | ident }} * {{ name | ident }}{% endfor %}) AS radius
    FROM {{ points | ident }}))
WHERE total > {{ most | lit }} AND 4 * place <= 3 * {{ most | lit }}
GROUP BY stratum"""

_CUTS = """WITH spread AS (
  SELECT stratum, block{% for j in dimensions %}
    , round(stddev_pop({{ j[1] | ident }}), 9) AS w_{{ j[0] | lit }}
    , quantile_cont({{ j[1] | ident }}, [0.0, {{ share | lit }}, 1.0]) AS q_{{ j[0] | lit }}{% endfor +%}
    , quantile_cont({{ last | ident }} * 1e-15, [0.0, {{ share | lit }}, 1.0]) AS q_0
  FROM {{ points | ident }}
  GROUP BY stratum, block
  HAVING count(*) > {{ most | lit }}),
widest AS (
  SELECT *, q_0[3] - q_0[1] AS w_0,
    greatest(q_0[3] - q_0[1]{% for j in dimensions %}, w_{{ j[0] | lit }}{% endfor %}) AS w
  FROM spread)
SELECT stratum, block,
  CASE w{% for j in dimensions %} WHEN w_{{ j[0] | lit }} THEN {{ j[0] | lit }}{% endfor %} ELSE 0 END AS dimension,
  CASE w{% for j in dimensions %} WHEN w_{{ j[0] | lit }} THEN CASE WHEN q_{{ j[0] | lit }}[2] < q_{{ j[0] | lit }}[3]
    THEN q_{{ j[0] | lit }}[2] ELSE (q_{{ j[0] | lit }}[1] + q_{{ j[0] | lit }}[3]) / 2 END{% endfor %}
    ELSE q_0[2] * 1e15 END AS cut
FROM widest
WHERE w > 0"""

_OF_RECORDS = """SELECT r.row_id,
  CASE WHEN {% for column in person %}o.{{ column | ident }} IS NULL OR {% endfor %}false THEN '' ELSE ''
  {% for column in person %}
    || length(CAST(o.{{ column | ident }} AS VARCHAR)) || ':' || CAST(o.{{ column | ident }} AS VARCHAR)
  {% endfor %} END AS person
FROM {{ relation | ident }} AS r JOIN {{ original | ident }} AS o USING (row_id)"""

_OF_UNITS = """SELECT r.row_id, CAST(m.counted AS VARCHAR) AS person
FROM {{ relation | ident }} AS r JOIN {{ members | ident }} AS m USING (row_id)"""

_FEWEST = """SELECT count(*) AS strata, min(persons) AS fewest
  , sum(CASE WHEN persons < {{ k | lit }} THEN 1 ELSE 0 END) AS few
FROM (SELECT stratum, count(DISTINCT person) AS persons FROM {{ points | ident }} GROUP BY stratum)"""

_GROUPS = "SELECT * FROM {{ points | ident }} WHERE row_id = label"

Tree = dict[tuple[str, int], tuple[int, float]]
"""Where a block of a stratum is cut into 2b and 2b + 1: the column and the value.

Columns count from 1; 0 is the number of the record, the one behind the last is the distance from 0."""


def group(
    warehouse: SparkWarehouse,
    work: Work,
    method: Method,
    importance: Mapping[Column, float],
    settings: Mapping[str, Any],
) -> None:
    """Group the records of every stratum in blocks, search across their borders, and replace the columns by means.

    Where persons are counted every group has k of them. Inside the classes of a level above it is the classes that are
    divided, many of them at a time.

    Notes
    -----
    The records farthest from the mean are a block of their own, because far groups would lose most by a cut between
    them; the others are cut at the median of their widest column. Then whole groups are cut twice into other blocks,
    at 30 % and 70 % quantiles: what was a border is inside a block then. Cuts that leave a block with fewer than 2k
    records, or k persons, are taken back. All are computed from a keyed sample of some 256 records for each block. To
    the driver come the cuts and the size of every block.
    """
    k = int(method.told("k", settings))
    size = class_size.settle(work, k)
    units = _of_records(warehouse, work)
    columns = (*work.columns, *work.records.guides)
    points, p, records = _features(warehouse, work, {column: importance[column] for column in columns}, units)
    warehouse.put(warehouse.checkpoint("features", warehouse.frame(points)), points.table)
    if units:
        _refuse_few(warehouse, work, points, k)
    made = _Blocks(warehouse, work, points, p, records, k, size, units)
    divides = units and work.records.classes and size == k
    groups = made.divided(method, settings) if divides else made.grouped(method, settings)
    work.count_groups(groups)
    work.replace_by_group(work.columns, groups, "mean")


@dataclass(frozen=True)
class _Blocks:
    """The standardised columns of the records, and what is to be made of them."""

    warehouse: SparkWarehouse
    work: Work
    points: Name
    features: int
    records: int
    least: int
    """Records, or persons, of a group."""
    size: int
    """Records to group together, where a stratum has so many."""
    units: Sequence[Name]
    """What has the person of every record, where persons are counted."""

    def grouped(self, method: Method, settings: Mapping[str, Any]) -> Name:
        """Return the groups (row_id, label) of a kernel in blocks, searched across their borders."""
        warehouse, points, size = self.warehouse, self.points, self.size
        sampled = self.work.bind()
        names = [f"f_{j}" for j in range(1, self.features + 1)]
        tree = _tree(warehouse, points, names, "row_id", self.records, 1, _HALVES, sampled, shell=True)
        sizes = warehouse.query(
            "sizes", _SIZES, points=_cut(warehouse, points, tree, names, "row_id"), units=self.units
        )
        _refuse_small(self.work, sizes, self.least)
        # Persons may be in both halves: a block has those of the half with more, or others, too.
        enough = {
            (stratum, int(block)): min([int(n), *(2 * size * int(m) // self.least for m in of)])
            for stratum, block, n, *of in sizes
        }
        prune(tree, enough, 2 * size, joined=max if self.units else sum)
        first = partial(group_block, method=method.name, settings=dict(settings))
        function, search = (self._function(found, method, settings) for found in (first, search_block))
        groups = self._apply(_cut(warehouse, points, tree, names, "row_id"), function, "grouped")
        means = [f"m_{j}" for j in range(1, self.features + 1)]
        for number, shares in enumerate(_SHIFTED, 1):
            tree = _tree(warehouse, groups, means, "label", self.records, size, shares, sampled, shell=number == 1)
            groups = self._apply(_cut(warehouse, groups, tree, means, "label"), search, f"searched_{number}")
        return groups

    def divided(self, method: Method, settings: Mapping[str, Any]) -> Name:
        """Return groups (row_id, label) inside the classes of a level above, which go to the workers many at a time."""
        parts = 1 + self.records // MOST
        some = self.warehouse.frame(self.points).selectExpr("*", f"pmod(xxhash64(stratum), {parts}) AS block")
        relation = self.warehouse.put(some, f"{self.points.table}_in_classes")
        return self._apply(relation, self._function(divide_block, method, settings), "divided", "block")

    def _function(self, function: Callable[..., Any], by: Method, settings: Mapping[str, Any]) -> Callable[..., Any]:
        effort, key = by.told("effort", settings) or "fast", self.work.draw_key()
        return partial(function, k=self.least, size=self.size, features=self.features, key=key, effort=effort)

    def _apply(self, points: Name, function: Callable[..., Any], into: str, *by: str) -> Name:
        """Run a function of a block in Spark's Python workers, and keep what it returns."""
        person = ", person string" if self.units else ""
        numbers = [f"{letter}_{j} double" for letter in "fm" for j in range(1, self.features + 1)]
        shape = f"row_id bigint, stratum string{person}, label bigint, {', '.join(numbers)}"
        blocks = self.warehouse.frame(points).groupBy(*(by or ("stratum", "block")))
        # Without type hints: pyspark would evaluate them to find out what the function takes.
        frame = blocks.applyInArrow(lambda table: function(table), shape)
        return self.warehouse.put(self.warehouse.checkpoint(into, frame), into)


def _features(
    warehouse: SparkWarehouse, work: Work, importance: Mapping[Column, float], units: Sequence[Name]
) -> tuple[Name, int, int]:
    """Return the standardised columns of every record with its stratum, how many they are, and the records.

    A missing value is the mean, and told by a standardised 0/1 column, as in `standardise`.
    """
    columns = list(importance)
    found = warehouse.query("moments", _MOMENTS, relation=work.relation, columns=columns)[0]
    records = int(found[0])
    numbers: list[tuple[Any, ...]] = []
    flags: list[tuple[Any, ...]] = []
    for i, column in enumerate(columns):
        present, mean, sd = found[1 + 3 * i : 4 + 3 * i]
        mean, weight = float(mean or 0), importance[column]
        numbers.append((column, _rounded(mean), _scale(float(sd or 0), abs(mean), weight)))
        if present < records:
            share = 1 - present / records
            spread = (share * (1 - share) * records / max(records - 1, 1)) ** 0.5
            flags.append((column, share, _scale(spread, 1.0, weight), len(columns) + len(flags) + 1))
    name = warehouse.define(
        "features", _FEATURES, relation=work.relation, numbers=numbers, flags=flags, units=units,
        strata=[work.by] if work.by else [],
    )  # fmt: skip
    return name, len(numbers) + len(flags), records


def _scale(sd: float, size: float, weight: float) -> float:
    """Return what a column is multiplied by; one that is constant but for rounding becomes 0."""
    return _rounded(weight / sd) if sd > _CONSTANT * max(size, _TINY) else 0.0


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _tree(
    warehouse: SparkWarehouse, points: Name, names: Sequence[str], last: str, records: int, k: int,
    shares: Sequence[float], sampled: str, *, shell: bool,
) -> Tree:  # fmt: skip
    """Return where the records are cut into blocks, computed from a sample level by level.

    With `shell` the first block is that of the records farthest from 0. Other cuts are in the widest of the columns
    `names`; where all are constant, by `last`, the number of the record or of its group, of about `k` records.
    `sampled` is the variable with the key that draws the sample.
    """
    members = warehouse.define(f"groups_of_{points.table}", _GROUPS, points=points) if last == "label" else points
    share = min(1.0, max(SAMPLED * k / MOST, _LEAST_SAMPLE * k / max(records, 1)))
    sample = warehouse.define(
        f"sample_of_{points.table}", _SAMPLE, points=members, bound=int(share * 2**32), key=sampled
    )
    tasks = 1 + int(share * records / k / _SAMPLED_IN_A_TASK)
    drawn = warehouse.frame(sample).repartition(tasks, "row_id")
    warehouse.put(warehouse.checkpoint("sample", drawn), sample.table)
    most = max(1, int(MOST * warehouse.count(sample) / max(records, 1)))
    tree: Tree = {}
    if shell:
        found = warehouse.query("shell", _SHELL, points=sample, names=names, most=most)
        tree = {(stratum, int(block)): (len(names) + 1, float(cut)) for stratum, block, cut in found}
    for level in range(_LEVELS):
        params = {"points": _cut(warehouse, sample, tree, names, last), "last": last, "most": most}
        dimensions = list(enumerate(names, 1))
        cuts = warehouse.query("cuts", _CUTS, dimensions=dimensions, share=shares[level % len(shares)], **params)
        if not cuts:
            break
        tree.update({(stratum, int(block)): (int(column), float(cut)) for stratum, block, column, cut in cuts})
    return tree


def _cut(warehouse: SparkWarehouse, points: Name, tree: Tree, names: Sequence[str], last: str) -> Name:
    """Return the records with the number of their block."""
    frame = warehouse.frame(points)
    shape = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in frame.schema.fields)
    function = partial(cut_batches, tree=dict(tree), names=[last, *names])
    return warehouse.put(
        frame.mapInArrow(lambda batches: function(batches), f"{shape}, block bigint"), f"{points.table}_in_blocks"
    )


def _refuse_small(work: Work, sizes: Sequence[tuple[Any, ...]], k: int) -> None:
    """Refuse strata of fewer than k records."""
    strata: dict[str, int] = {}
    for stratum, _, records, *_ in sizes:
        strata[stratum] = strata.get(stratum, 0) + int(records)
    below = sum(records < k for records in strata.values())
    work.refuse_small_strata(k, min(strata.values(), default=0), below, len(strata))


def prune(
    tree: Tree, sizes: Mapping[tuple[str, int], int], least: int, joined: Callable[[Iterable[int]], int] = sum
) -> None:
    """Take back the cuts of blocks with fewer than `least` records, so that all have so many, or are whole strata.

    `joined` tells how many a block has from those that it is put together of.

    >>> tree = {("", 1): (1, 0.5), ("", 3): (2, 0.5)}
    >>> prune(tree, {("", 2): 9, ("", 6): 9, ("", 7): 1}, 4)
    >>> tree
    {('', 1): (1, 0.5)}

    Two halves with three persons each may have the same three.

    >>> tree = {("", 1): (1, 0.5), ("", 2): (1, 0.5)}
    >>> prune(tree, {("", 3): 9, ("", 4): 3, ("", 5): 3}, 4, joined=max)
    >>> tree
    {}
    """
    left = dict(sizes)
    while small := [found for found, records in left.items() if records < least and found[1] > 1]:
        stratum, block = max(small, key=lambda found: found[1])
        parent = (stratum, block // 2)
        inside = [found for found in left if found[0] == stratum and _within(found[1], parent[1])]
        left[parent] = joined([left.pop(found) for found in inside])
        tree.pop(parent, None)


def _within(block: int, ancestor: int) -> bool:
    return block >> max(0, block.bit_length() - ancestor.bit_length()) == ancestor


def _of_records(warehouse: SparkWarehouse, work: Work) -> Sequence[Name]:
    """Return the relation (row_id, person) with whom every record of a step counts as; none if each is somebody else.

    Where a record is that of a unit, such as a person or a household, all of those of which nothing is known count as
    one; a note says how many they are.
    """
    alike = read.say_who_counts_as_one(work)
    if units := work.demand.units:
        params = {"relation": work.relation, "members": units.level.members}
        return [warehouse.define(f"{work.prefix}_persons", _OF_UNITS, keep=False, **params)] if alike else []
    if not (person := work.demand.person):
        return []
    into, original = f"{work.prefix}_persons", work.demand.original
    return [
        warehouse.define(into, _OF_RECORDS, relation=work.relation, original=original, person=person),
    ]


def _refuse_few(warehouse: SparkWarehouse, work: Work, points: Name, k: int) -> None:
    """Refuse strata of fewer than k persons.

    Raises
    ------
    InputError
        With how many they are.
    """
    strata, fewest, few = (int(found) for found in warehouse.query("persons", _FEWEST, points=points, k=k)[0])
    work.refuse_small_strata(k, fewest, few, strata, of="persons")
