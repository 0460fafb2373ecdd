-- title: The median of one numeric column in every group
-- source: Höhne, SAFE: unification. The middle value of the records in the order of their values, or the mean of the two
--   middle ones; a group has no value where most of its records have none
-- reads: cells, members
-- returns: label, the column
-- params: cells, members, column
WITH running AS (
  SELECT
    m.label,
    CAST(c.{{ column | ident }} AS DOUBLE) AS value,
    sum(m.n) OVER (PARTITION BY m.label ORDER BY c.{{ column | ident }} NULLS LAST, c.cell) AS position,
    sum(m.n) FILTER (WHERE c.{{ column | ident }} IS NOT NULL) OVER (PARTITION BY m.label) AS records,
    sum(m.n) OVER (PARTITION BY m.label) AS size
  FROM {{ members | ident }} AS m
  JOIN {{ cells | ident }} AS c USING (cell)
)
SELECT
  label,
  CASE WHEN 2 * max(records) >= max(size) THEN
    (min(value) FILTER (WHERE 2 * position >= records) + min(value) FILTER (WHERE 2 * position > records)) / 2
  END AS {{ column | ident }}
FROM running
GROUP BY label
