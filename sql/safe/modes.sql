-- title: The most frequent value of one column in every group
-- source: Höhne, SAFE; of equally frequent values the smallest is taken, NULL last
-- reads: cells, members
-- returns: label, the column
-- params: cells, members, column
SELECT
  label,
  {{ column | ident }}
FROM (
  SELECT
    m.label,
    c.{{ column | ident }},
    sum(m.n) AS n
  FROM {{ members | ident }} AS m
  JOIN {{ cells | ident }} AS c USING (cell)
  GROUP BY m.label, c.{{ column | ident }})
QUALIFY row_number() OVER (PARTITION BY label ORDER BY n DESC, {{ column | ident }} NULLS LAST) = 1
