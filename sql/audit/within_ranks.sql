-- title: How many original values lie within some ranks of the released ones
-- source: Domingo-Ferrer & Torra (2001): interval disclosure by ranks; a value's rank among the original ones is the middle
--   of the ranks of those that equal it, and between theirs where none does
-- reads: original, released (values, by row_id)
-- returns: column_name, within, records (with a value in both)
-- params: original, released, columns, ranks
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  count(*) FILTER (WHERE abs(
    (x.low + x.high) / 2 - CASE WHEN y.value = r.{{ column | ident }} THEN (y.low + y.high) / 2 ELSE coalesce(y.high, 0) END)
    <= {{ ranks | lit }}) AS within,
  count(*) AS records
FROM {{ original | ident }} AS o
JOIN {{ released | ident }} AS r USING (row_id)
JOIN (
  SELECT {{ column | ident }} AS value, sum(count(*)) OVER (ORDER BY {{ column | ident }}) AS high,
    sum(count(*)) OVER (ORDER BY {{ column | ident }}) - count(*) AS low
  FROM {{ original | ident }} WHERE {{ column | ident }} IS NOT NULL GROUP BY {{ column | ident }}) AS x
  ON x.value = o.{{ column | ident }}
ASOF LEFT JOIN (
  SELECT {{ column | ident }} AS value, sum(count(*)) OVER (ORDER BY {{ column | ident }}) AS high,
    sum(count(*)) OVER (ORDER BY {{ column | ident }}) - count(*) AS low
  FROM {{ original | ident }} WHERE {{ column | ident }} IS NOT NULL GROUP BY {{ column | ident }}) AS y
  ON r.{{ column | ident }} >= y.value
WHERE r.{{ column | ident }} IS NOT NULL
{{ loop | between("UNION ALL") }}
{% endfor %}
