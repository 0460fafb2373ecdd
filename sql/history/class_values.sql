-- title: The sensitive values that every class of a release has, as keyed hashes
-- source: sqlmicro: what the classes of later releases of the same people are compared with
-- reads: classed, records (as they are published)
-- returns: column_name (of the sensitive column), class, value
-- params: stream (variable with the key), classed, records, sensitive (columns)
SELECT DISTINCT
  column_name,
  class,
  CAST(concat('0x', substr({{ stream | draw("text") }}, 1, 15)) AS BIGINT) AS value
FROM (
{% for column in sensitive %}
  SELECT
    {{ column.name | lit }} AS column_name,
    c.class,
    coalesce('=' || CAST(r.{{ column | ident }} AS VARCHAR), '') AS text
  FROM {{ classed | ident }} AS c
  JOIN {{ records | ident }} AS r ON c.row_id = r.row_id
  {{ loop | between("UNION ALL") }}
{% endfor %}
)
