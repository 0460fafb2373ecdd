-- title: How many values of each nominal column were changed
-- source: sqlmicro
-- reads: original, released (both by row_id)
-- returns: column_name, changed, records
-- params: original, released, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) FILTER (WHERE o.{{ column | ident }} IS DISTINCT FROM r.{{ column | ident }}) AS changed,
  count(*) AS records
FROM {{ original | ident }} AS o
JOIN {{ released | ident }} AS r USING (row_id)
{{ loop | between("UNION ALL") }}
{% endfor %}
