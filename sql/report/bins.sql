-- title: How many values of every numeric column lie between given edges, before and after
-- source: sqlmicro: a histogram whose edges are round numbers, so that none of them is a value of the original
-- reads: original, released (values)
-- returns: column_name, bin (how many edges are at most the value), before, after; missing values take no part
-- params: original, released, columns (each with its edges)
{% for column, edges in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  bin,
  CAST(sum(before) AS BIGINT) AS before,
  CAST(sum(after) AS BIGINT) AS after
FROM (
  SELECT
  {% for edge in edges %}
    CAST({{ column | ident }} >= {{ edge | lit }} AS BIGINT) +
  {% endfor %}
    0 AS bin,
    before,
    after
  FROM (
    SELECT {{ column | ident }}, 1 AS before, 0 AS after FROM {{ original | ident }}
    UNION ALL
    SELECT {{ column | ident }}, 0, 1 FROM {{ released | ident }})
  WHERE {{ column | ident }} IS NOT NULL)
GROUP BY bin
{{ loop | between("UNION ALL") }}
{% endfor %}
