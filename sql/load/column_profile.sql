-- title: What a table's columns look like
-- source: sqlmicro: every column is grouped by itself, which costs no more than counting its distinct values does
-- reads: relation
-- returns: a row per column: column_name, row_count, nulls, distinct_values,
--   low and high where all values are whole numbers, also those of other types than integers, fives (how many of these 5
--   divides); text under a collation is told apart as it is written
-- params: relation, integers, numbers (of other types than integers), collated, others
{% for column in integers %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CAST(min(value) AS DOUBLE) AS low,
  CAST(max(value) AS DOUBLE) AS high,
  count(*) FILTER (WHERE value % 5 = 0) AS fives
FROM (SELECT {{ column.name | ident }} AS value, count(*) AS records FROM {{ relation | ident }} GROUP BY {{ column.name | ident }}) AS found
UNION ALL
{% endfor %}
{% for column in numbers %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(min(value) AS DOUBLE) END AS low,
  CASE WHEN count(*) FILTER (WHERE abs(value) >= 1e15 OR value <> floor(value)) = 0 THEN CAST(max(value) AS DOUBLE) END AS high,
  count(*) FILTER (WHERE abs(value) < 1e15 AND value = 5 * floor(value / 5)) AS fives
FROM (SELECT {{ column.name | ident }} AS value, count(*) AS records FROM {{ relation | ident }} GROUP BY {{ column.name | ident }}) AS found
UNION ALL
{% endfor %}
{% for column in collated %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  NULL AS low,
  NULL AS high,
  0 AS fives
FROM (SELECT encode({{ column.name | ident }}) AS value, count(*) AS records FROM {{ relation | ident }} GROUP BY encode({{ column.name | ident }})) AS found
UNION ALL
{% endfor %}
{% for column in others %}
SELECT
  {{ column.name | lit }} AS column_name,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS row_count,
  CAST(coalesce(sum(records) FILTER (WHERE value IS NULL), 0) AS BIGINT) AS nulls,
  count(value) AS distinct_values,
  NULL AS low,
  NULL AS high,
  0 AS fives
FROM (SELECT {{ column.name | ident }} AS value, count(*) AS records FROM {{ relation | ident }} GROUP BY {{ column.name | ident }}) AS found
UNION ALL
{% endfor %}
SELECT NULL, 0, 0, 0, NULL, NULL, 0 WHERE false
