-- title: The size of every group and its mean in every numeric column
-- source: Höhne, SAFE. A group has no value where most of its records have none; the values are added in the order of the
--   cells, so that the mean does not depend on the number of threads, and it does not leave the range of its values. Groups
--   of records that are all of one cell, often millions, have its values: a list for each takes long and much memory
-- reads: cells, members
-- returns: label, n, a mean per numeric column
-- params: cells, members, columns
WITH sizes AS (
  SELECT label, count(*) AS cells, min(cell) AS cell, sum(n) AS n
  FROM {{ members | ident }}
  GROUP BY label)
SELECT
  s.label,
  s.n
{% for column in columns %}
  , CAST(c.{{ column | ident }} AS DOUBLE) AS {{ column | ident }}
{% endfor %}
FROM sizes AS s
JOIN {{ cells | ident }} AS c USING (cell)
WHERE s.cells = 1
UNION ALL
SELECT
  m.label,
  sum(m.n) AS n
{% for column in columns %}
  , CASE WHEN 2 * sum(m.n) FILTER (WHERE c.{{ column | ident }} IS NOT NULL) >= sum(m.n) THEN
      greatest(min(CAST(c.{{ column | ident }} AS DOUBLE)), least(
        list_sum(list(m.n * CAST(c.{{ column | ident }} AS DOUBLE) ORDER BY c.cell)
          FILTER (WHERE c.{{ column | ident }} IS NOT NULL))
        / sum(m.n) FILTER (WHERE c.{{ column | ident }} IS NOT NULL),
        max(CAST(c.{{ column | ident }} AS DOUBLE))))
    END AS {{ column | ident }}
{% endfor %}
FROM {{ members | ident }} AS m
JOIN {{ cells | ident }} AS c USING (cell)
WHERE m.label IN (SELECT label FROM sizes WHERE cells > 1)
GROUP BY m.label
