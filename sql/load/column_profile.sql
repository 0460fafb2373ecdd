-- title: What a table's columns look like
-- source: sqlmicro
-- reads: relation
-- returns: a row per column: column_name, row_count, nulls, distinct_values,
--   spread (largest minus smallest whole number, NULL for other types); text
--   under a collation is told apart as it is written
-- params: relation, integers, collated, others
{% for column in integers %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) AS row_count,
  count(*) - count({{ column.name | ident }}) AS nulls,
  count(DISTINCT {{ column.name | ident }}) AS distinct_values,
  CAST(max({{ column.name | ident }}) AS DOUBLE) - CAST(min({{ column.name | ident }}) AS DOUBLE) AS spread
FROM {{ relation | ident }}
UNION ALL
{% endfor %}
{% for column in collated %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) AS row_count,
  count(*) - count({{ column.name | ident }}) AS nulls,
  count(DISTINCT encode({{ column.name | ident }})) AS distinct_values,
  NULL AS spread
FROM {{ relation | ident }}
UNION ALL
{% endfor %}
{% for column in others %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) AS row_count,
  count(*) - count({{ column.name | ident }}) AS nulls,
  count(DISTINCT {{ column.name | ident }}) AS distinct_values,
  NULL AS spread
FROM {{ relation | ident }}
UNION ALL
{% endfor %}
SELECT NULL, 0, 0, 0, NULL WHERE false
