"""Groups on Spark: blocks of near records cut in SQL, a kernel in every block, then a search across their borders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlmicro.database.columns import Column
from sqlmicro.database.templates import Name
from sqlmicro.registry import Method
from sqlmicro.spark.warehouse import SparkWarehouse
from sqlmicro.spark.worker import cut_batches, group_block, search_block
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

_FEATURES = """SELECT row_id, ''{% for by in strata %}{% for stratum in by %}
  || coalesce(length(CAST({{ stratum | ident }} AS VARCHAR)) || ':' || CAST({{ stratum | ident }} AS VARCHAR), '-')
{% endfor %}{% endfor %} AS stratum
{% for column, mean, scale in numbers %}
  , coalesce((CAST({{ column | ident }} AS DOUBLE) - {{ mean | lit }}) * {{ scale | lit }}, 0e0) AS f_{{ loop.index }}
{% endfor %}
{% for column, mean, scale, number in flags %}
  , (CASE WHEN {{ column | ident }} IS NULL THEN 1e0 ELSE 0e0 END - {{ mean | lit }}) * {{ scale | lit }}
    AS f_{{ number }}
{% endfor %}
FROM {{ relation | ident }}"""

_SIZES = "SELECT stratum, block, count(*) AS records FROM {{ points | ident }} GROUP BY stratum, block"

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

    Notes
    -----
    The records farthest from the mean are a block of their own, because far groups would lose most by a cut between
    them; the others are cut at the median of their widest column. Then whole groups are cut twice into other blocks,
    at 30 % and 70 % quantiles: what was a border is inside a block then. Cuts that leave a block with fewer than 2k
    records are taken back. All are computed from a keyed sample of some 256 records for each block. To the driver come
    the cuts and the size of every block.
    """
    k = int(method.told("k", settings))
    points, p, records = _features(warehouse, work, importance)
    warehouse.put(warehouse.checkpoint("features", warehouse.frame(points)), points.table)
    shared: dict[str, Any] = {"k": k, "features": p, "key": work.draw_key()}
    sampled = work.bind()
    names = [f"f_{j}" for j in range(1, p + 1)]
    tree = _tree(warehouse, points, names, "row_id", records, 1, _HALVES, sampled, shell=True)
    sizes = warehouse.query("sizes", _SIZES, points=_cut(warehouse, points, tree, names, "row_id"))
    prune(tree, {(stratum, int(block)): int(n) for stratum, block, n in sizes}, 2 * k)
    _refuse_small(work, sizes, k)
    means = [f"m_{j}" for j in range(1, p + 1)]
    shape = "row_id bigint, stratum string, label bigint, " + ", ".join(f"{name} double" for name in (*names, *means))
    blocks = _cut(warehouse, points, tree, names, "row_id")
    first = partial(group_block, method=method.name, settings=dict(settings), **shared)
    groups = _apply(warehouse, blocks, first, shape, "grouped")
    search = partial(search_block, **shared)
    for number, shares in enumerate(_SHIFTED, 1):
        tree = _tree(warehouse, groups, means, "label", records, k, shares, sampled, shell=number == 1)
        shifted = _cut(warehouse, groups, tree, means, "label")
        groups = _apply(warehouse, shifted, search, shape, f"searched_{number}")
    work.count_groups(groups)
    work.replace_by_group(work.columns, groups, "mean")


def _features(warehouse: SparkWarehouse, work: Work, importance: Mapping[Column, float]) -> tuple[Name, int, int]:
    """Return the standardised columns of every record with its stratum, how many they are, and the records.

    A missing value is the mean, and told by a standardised 0/1 column, as in `standardise`.
    """
    found = warehouse.query("moments", _MOMENTS, relation=work.relation, columns=work.columns)[0]
    records = int(found[0])
    numbers: list[tuple[Any, ...]] = []
    flags: list[tuple[Any, ...]] = []
    for i, column in enumerate(work.columns):
        present, mean, sd = found[1 + 3 * i : 4 + 3 * i]
        mean, weight = float(mean or 0), importance[column]
        numbers.append((column, _rounded(mean), _scale(float(sd or 0), abs(mean), weight)))
        if present < records:
            share = 1 - present / records
            spread = (share * (1 - share) * records / max(records - 1, 1)) ** 0.5
            flags.append((column, share, _scale(spread, 1.0, weight), len(work.columns) + len(flags) + 1))
    name = warehouse.define(
        "features", _FEATURES, relation=work.relation, numbers=numbers, flags=flags, strata=[work.by] if work.by else []
    )
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


def _refuse_small(work: Work, sizes: Sequence[tuple[str, int, int]], k: int) -> None:
    """Refuse strata of fewer than k records."""
    strata: dict[str, int] = {}
    for stratum, _, records in sizes:
        strata[stratum] = strata.get(stratum, 0) + int(records)
    below = sum(records < k for records in strata.values())
    work.refuse_small_strata(k, min(strata.values(), default=0), below)


def prune(tree: Tree, sizes: Mapping[tuple[str, int], int], least: int) -> None:
    """Take back the cuts of blocks with fewer than `least` records, so that all have so many, or are whole strata.

    >>> tree = {("", 1): (1, 0.5), ("", 3): (2, 0.5)}
    >>> prune(tree, {("", 2): 9, ("", 6): 9, ("", 7): 1}, 4)
    >>> tree
    {('', 1): (1, 0.5)}
    """
    left = dict(sizes)
    while small := [found for found, records in left.items() if records < least and found[1] > 1]:
        stratum, block = max(small, key=lambda found: found[1])
        parent = (stratum, block // 2)
        inside = [found for found in left if found[0] == stratum and _within(found[1], parent[1])]
        left[parent] = sum(left.pop(found) for found in inside)
        tree.pop(parent, None)


def _within(block: int, ancestor: int) -> bool:
    return block >> max(0, block.bit_length() - ancestor.bit_length()) == ancestor


def _apply(warehouse: SparkWarehouse, points: Name, function: Callable[..., Any], shape: str, into: str) -> Name:
    """Run a function of a block in Spark's Python workers, and keep what it returns."""
    # Without type hints: pyspark would evaluate them to find out what the function takes.
    frame = warehouse.frame(points).groupBy("stratum", "block").applyInArrow(lambda table: function(table), shape)
    return warehouse.put(warehouse.checkpoint(into, frame), into)
