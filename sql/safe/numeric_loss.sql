-- title: How far the numeric values of a file are from the original ones
-- source: Domingo-Ferrer & Mateo-Sanz (2002): IL = 100 SSE/SST
-- reads: cells, members, released
-- returns: one row: for the i-th numeric column sse_i and sst_i, over records that have a value before and after
-- params: cells, members, released, numeric
SELECT
  count(*) AS pairs
{% for column in numeric %}
  , sum(m.n * (CAST(c.{{ column | ident }} AS DOUBLE) - CAST(r.{{ column | ident }} AS DOUBLE)) ** 2) AS sse_{{ loop.index }}
  , sum(m.n * (CAST(c.{{ column | ident }} AS DOUBLE) - t.mean_{{ loop.index }}) ** 2) AS sst_{{ loop.index }}
{% endfor %}
FROM {{ members | ident }} AS m
JOIN {{ cells | ident }} AS c USING (cell)
JOIN {{ released | ident }} AS r USING (label)
CROSS JOIN (
  SELECT
    0 AS nothing
  {% for column in numeric %}
    , sum(n * CAST({{ column | ident }} AS DOUBLE)) / sum(n) FILTER (WHERE {{ column | ident }} IS NOT NULL) AS mean_{{ loop.index }}
  {% endfor %}
  FROM {{ cells | ident }}) AS t
