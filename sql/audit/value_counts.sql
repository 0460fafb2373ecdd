-- title: How often the rarest value of each column occurs
-- source: sqlmicro: what microaggregation column by column promises, and all it promises
-- reads: relation
-- returns: column_name, rarest (NULL is not a value here), nulls
-- params: relation, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  min(occurrences) FILTER (WHERE present) AS rarest,
  coalesce(sum(occurrences) FILTER (WHERE NOT present), 0) AS nulls
FROM (
  SELECT
    {{ column.name | ident }} IS NOT NULL AS present,
    count(*) AS occurrences
  FROM {{ relation | ident }}
  GROUP BY {{ column.name | ident }}, present)
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
