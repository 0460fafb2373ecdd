-- title: What a table's columns look like
-- source: sqlmicro: every column is grouped by itself, which costs no more than counting its distinct values does
-- reads: relation
-- returns: a row per column: column_name, row_count, nulls, distinct_values,
--   spread (largest minus smallest whole number), smallest (of these; both are NULL for
--   other types); text under a collation is told apart as it is written
-- params: relation, integers, collated, others
{% for column in integers %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(max(value) AS DOUBLE) - CAST(min(value) AS DOUBLE) AS spread,
  CAST(min(value) AS DOUBLE) AS smallest
FROM (SELECT {{ column.name | ident }} AS value, count(*) AS records FROM {{ relation | ident }} GROUP BY {{ column.name | ident }}) AS found
UNION ALL
{% endfor %}
{% for column in collated %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  NULL AS spread,
  NULL AS smallest
FROM (SELECT encode({{ column.name | ident }}) AS value, count(*) AS records FROM {{ relation | ident }} GROUP BY encode({{ column.name | ident }})) AS found
UNION ALL
{% endfor %}
{% for column in others %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  NULL AS spread,
  NULL AS smallest
FROM (SELECT {{ column.name | ident }} AS value, count(*) AS records FROM {{ relation | ident }} GROUP BY {{ column.name | ident }}) AS found
UNION ALL
{% endfor %}
SELECT NULL, 0, 0, 0, NULL, NULL WHERE false
