"""The templates on Spark: DuckDB's SQL through sqlglot, with what sqlglot gets wrong corrected in the syntax tree.

Relations are named without database. A relation whose physical order means something has a column `rowid`, from 0,
on Spark: DuckDB has it by itself, Spark knows no order of records. The session's time zone is UTC, and the key of the
hashes is a session variable, as it is one of DuckDB's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlmicro.spark import select_corrections, value_corrections

if TYPE_CHECKING:
    from sqlglot import exp

DUCKDB_ONLY: dict[str, str] = {
    "load/csv.sql": "options of DuckDB's CSV reader: on Spark the reader of the session opens files",
    "load/json.sql": "DuckDB's JSON reader: on Spark the reader of the session opens files",
    "load/leaves.sql": "json_tree of DuckDB, which looks at the sampled values at the driver",
    "load/pattern_matches.sql": "list_where of DuckDB, which looks at the sampled values at the driver",
    "load/sampled_forms.sql": "string_agg of DuckDB, which looks at the sampled values at the driver",
    "load/codes_for_missing.sql": "files are registered in DuckDB",
    "load/words_for_missing.sql": "files are registered in DuckDB",
    "load/lake.sql": "DuckDB's extensions for Delta and Iceberg: on Spark the reader of the session opens them",
    "load/parquet.sql": "DuckDB's Parquet reader: on Spark the reader of the session opens files",
    "erasure/nested_texts.sql": "json_tree of DuckDB, whose files are purged",
    "audit/keyless.sql": "numbers records as DuckDB reads them: audits run on DuckDB",
    "audit/part.sql": "takes a part by DuckDB's own 64-bit hash, for `compare`, which runs on DuckDB",
    "audit/minimal_uniques.sql": "unnests a list inside an aggregate: audits run on DuckDB",
    "load/coarsened_patterns.sql": "hashes with DuckDB's own 64-bit hash; Spark's gives other numbers",
    "load/contained_values.sql": "takes a sample by DuckDB's own 64-bit hash, for `scan`, which runs on DuckDB",
    "history/classed.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "history/classes_of_persons.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "history/classes_of_records.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "history/classes_of_seats.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "history/carried_members.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "history/digest.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "history/digests.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "history/union_classes.sql": "groups by lists of structs: the ledger is kept by DuckDB",
    "load/copies.sql": "follows the order of a table, which Spark does not keep: load/copies_apart.sql",
    "mask/draws.sql": "hashes with DuckDB's own 64-bit hash; Spark's gives other numbers",
    "mask/in_order.sql": "by DuckDB's own hash, and by place: pairs are found in memory on DuckDB only",
    "mask/ranked.sql": "by DuckDB's own hash, and by place: pairs are found in memory on DuckDB only",
    "safe/contents.sql": "hashes with DuckDB's own 64-bit hash: the cells of SAFE are in a DuckDB at the driver",
    "history/asked_rows.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/by_unit.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/changed_keys.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/rows_changed.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/rows_of_source.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/rows_since.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/cells_of_persons.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/class_combinations.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/classes_of_columns.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/classes_of_outputs.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/combinations_shown.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/contents.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/hashes_of_records.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/kept_digest.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/persons.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/rows_of_classes.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/rows_of_cohort.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/rows_of_columns.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/rows_of_values.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/series_features.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/values_of_outputs.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/with_texts.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "history/whose.sql": "hashes with DuckDB's own 64-bit hash: the ledger is kept by DuckDB",
    "mask/boxes.sql": "what --recoding-to writes: recodings are written by DuckDB",
    "mask/class_values.sql": "what --recoding-to writes: recodings are written by DuckDB",
    "mask/recoded_strata.sql": "by DuckDB's own hash or types: the ledger and series are kept by it",
    "publish/records_of_series.sql": "the rows of a series, which DuckDB keeps",
    "replace/group_means.sql": "adds whole numbers of 128 bits: replace/group_means_apart.sql",
    "replace/released_in_order.sql": "by place: data frames are not kept in an order",
    "replace/seated.sql": "the rows of a series, which DuckDB keeps",
    "safe/shown_cells.sql": "the cells of a series, which DuckDB keeps",
    "mask/record_measures.sql": "hashes with DuckDB's own 64-bit hash; the risks of records are beside its tables",
    "publish/content.sql": "sums DuckDB's own 64-bit hash; Spark's gives other numbers",
}
"""The templates that cannot give the same rows on Spark, with the reason."""
INSTEAD = {"replace/group_means.sql": "replace/group_means_apart.sql"}
"""What is run in place of a template: whole numbers of 128 bits are decimals there, at twice the cost of lists."""

Correction = Callable[["exp.Expression"], "exp.Expression"]
CORRECTIONS: tuple[Correction, ...] = (
    value_corrections.session_variables,
    value_corrections.hashes,
    value_corrections.rows_of_values,
    select_corrections.order_of_records,
    select_corrections.nearest_joins,
    select_corrections.positional_joins,
    value_corrections.sums_of_lists,
    value_corrections.starts_of_lists,
    value_corrections.lists_of_nothing,
    value_corrections.lengths_of_lists,
    value_corrections.ordered_aggregates,
    value_corrections.quantiles,
    value_corrections.extremes,
    value_corrections.rounding,
    value_corrections.moments_in_time,
    value_corrections.bits_of_numbers,
    value_corrections.hexadecimal,
    value_corrections.types,
    value_corrections.nested_text,
    select_corrections.aliases,
    select_corrections.joined_columns,
    value_corrections.enums,
    select_corrections.tables_of_sets,
    select_corrections.materialized,
    select_corrections.ranges,
    select_corrections.unnested,
    select_corrections.qualified,
)
"""What sqlglot 30 gets wrong between DuckDB and Spark 4, a function of a node each, in the order they are applied.

Each returns what stands in place of the node: the node itself where nothing is wrong. Their docstrings are the table.
"""


def translate(sql: str, *corrected: Correction) -> str:
    """Return a rendered template, or another SELECT of DuckDB's, as a SELECT of Spark's.

    Parameters
    ----------
    sql : str
        The SELECT.
    *corrected : callable
        What is to become of the SELECT as a whole before that.

    Raises
    ------
    sqlglot.errors.ParseError
        For text that is no SELECT of DuckDB's.

    Examples
    --------
    >>> translate("SELECT list_sum(list_sort(list(x))) FROM t")  # doctest: +SKIP
    """
    import sqlglot

    tree: Any = sqlglot.parse_one(sql, read="duckdb")
    for correction in corrected:
        tree = correction(tree)
    for correction in CORRECTIONS:
        tree = tree.transform(correction, copy=False)
    text: str = select_corrections.read_once(tree).sql("spark", comments=False)
    return text
