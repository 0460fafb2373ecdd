-- title: How many values of each column are missing, and how many are no number that can be squared
-- source: sqlmicro
-- reads: typed
-- returns: column_name, nulls, unusable (NaN, infinities, beyond 1e150; 0 for columns that cannot hold them)
-- params: typed, floats, others
{% for column in floats %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) - count({{ column | ident }}) AS nulls,
  count(*) FILTER (WHERE isnan({{ column | ident }}) OR abs({{ column | ident }}) > 1e150) AS unusable
FROM {{ typed | ident }}
UNION ALL
{% endfor %}
{% for column in others %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) - count({{ column | ident }}) AS nulls,
  0 AS unusable
FROM {{ typed | ident }}
UNION ALL
{% endfor %}
SELECT NULL, 0, 0 WHERE false
