-- title: How often the rarest value of each column occurs
-- source: sqlmicro: what microaggregation column by column promises, and all it promises; NULL counts as a value, and
--   -0.0 and 0.0 are two, as are NaN of two payloads, because the output tells them apart
-- reads: relation
-- returns: column_name, rarest (NULL for a table without records)
-- params: relation, floats, others
{% for column in floats %}
SELECT
  {{ column.name | lit }} AS column_name,
  min(occurrences) AS rarest
FROM (
  SELECT count(*) AS occurrences
  FROM {{ relation | ident }}
  GROUP BY CAST({{ column.name | ident }} AS BIT))
UNION ALL
{% endfor %}
{% for column in others %}
SELECT
  {{ column.name | lit }} AS column_name,
  min(occurrences) AS rarest
FROM (SELECT count(*) AS occurrences FROM {{ relation | ident }} GROUP BY {{ column.name | ident }})
UNION ALL
{% endfor %}
SELECT NULL, 0 WHERE false
