-- title: The mean of every group in every numeric column, moved by what keeps the tables of the numbers near
-- source: sqlmicro: means alone have less spread than their records. A number goes at most half the way to the least or
--   the largest of its group, whose own it would be there
-- reads: cells, members, means, moved
-- returns: label, n, the columns
-- params: cells, members, means, moved, columns, others (columns that stay as they are)
WITH ranges AS (
  SELECT
    m.label
  {% for column in columns %}
    , min(CAST(c.{{ column | ident }} AS DOUBLE)) AS low_{{ loop.index }}
    , max(CAST(c.{{ column | ident }} AS DOUBLE)) AS high_{{ loop.index }}
  {% endfor %}
  FROM {{ members | ident }} AS m
  JOIN {{ cells | ident }} AS c USING (cell)
  GROUP BY m.label
)
SELECT
  a.label
  , a.n
{% for column in columns %}
  , CASE WHEN a.{{ column | ident }} IS NOT NULL THEN
      greatest((a.{{ column | ident }} + r.low_{{ loop.index }}) / 2,
        least((a.{{ column | ident }} + r.high_{{ loop.index }}) / 2, a.{{ column | ident }} + v.{{ column | ident }})) END
        AS {{ column | ident }}
{% endfor %}
{% for column in others %}
  , a.{{ column | ident }}
{% endfor %}
FROM {{ means | ident }} AS a
JOIN {{ moved | ident }} AS v USING (label)
JOIN ranges AS r USING (label)
