-- title: How many values of each column are missing, and how many are no finite number
-- source: sqlmicro
-- reads: typed
-- returns: column_name, nulls, not_finite (NaN and infinities; 0 for columns that cannot hold them)
-- params: typed, floats, others
{% for column in floats %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) - count({{ column | ident }}) AS nulls,
  count(*) FILTER (WHERE NOT isfinite({{ column | ident }})) AS not_finite
FROM {{ typed | ident }}
UNION ALL
{% endfor %}
{% for column in others %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) - count({{ column | ident }}) AS nulls,
  0 AS not_finite
FROM {{ typed | ident }}
UNION ALL
{% endfor %}
SELECT NULL, 0, 0 WHERE false
