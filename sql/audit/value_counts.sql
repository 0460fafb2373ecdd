-- title: How often the rarest value of each column occurs
-- source: sqlmicro: what microaggregation column by column promises, and all it promises; NULL counts as a value
-- reads: relation
-- returns: column_name, rarest (NULL for a table without records)
-- params: relation, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  min(occurrences) AS rarest
FROM (SELECT count(*) AS occurrences FROM {{ relation | ident }} GROUP BY {{ column.name | ident }})
{% if not loop.last %}
UNION ALL
{% endif %}
{% endfor %}
