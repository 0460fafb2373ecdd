-- title: How far the released values are from the original ones, per numeric column
-- source: Domingo-Ferrer & Mateo-Sanz (2002): IL = 100 SSE/SST; a value that is missing in the release counts as replaced
--   by the mean of its column: all of it is lost
-- reads: original, released (both by row_id)
-- returns: column_name, sse, sst (n - 1 times the variance of the original)
-- params: original, released, columns
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  coalesce(sum((CAST(o.{{ column | ident }} AS DOUBLE) - CAST(r.{{ column | ident }} AS DOUBLE)) ** 2), 0)
    + coalesce(count(o.{{ column | ident }}) FILTER (WHERE r.{{ column | ident }} IS NULL) * (
      var_pop(CAST(o.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.{{ column | ident }} IS NULL)
      + (avg(CAST(o.{{ column | ident }} AS DOUBLE)) FILTER (WHERE r.{{ column | ident }} IS NULL)
        - avg(CAST(o.{{ column | ident }} AS DOUBLE))) ** 2), 0) AS sse,
  coalesce(var_samp(CAST(o.{{ column | ident }} AS DOUBLE)) * (count(o.{{ column | ident }}) - 1), 0) AS sst
FROM {{ original | ident }} AS o
JOIN {{ released | ident }} AS r USING (row_id)
{{ loop | between("UNION ALL") }}
{% endfor %}
