-- title: The smallest combinations of columns in which a record of the release is unique
-- source: Elliot, Manning & Ford (2002): minimal sample uniques: unique in these columns, not in fewer of them; NULL is a
--   value of its own
-- reads: cells
-- returns: cell (number of a combination), bits (one for each column), n (how many columns)
-- params: cells, columns, subsets (the bits, the number and the columns of each)
WITH numbered AS MATERIALIZED (
  SELECT row_number() OVER () AS cell, "a", "b", records
  FROM "staging"."cells"),
uniques AS (
  SELECT min(cell) AS cell, 1 AS bits, 1 AS n
  FROM numbered
  GROUP BY "a"
  HAVING sum(records) = 1
  UNION ALL
  SELECT min(cell) AS cell, 2 AS bits, 1 AS n
  FROM numbered
  GROUP BY "b"
  HAVING sum(records) = 1
  UNION ALL
  SELECT min(cell) AS cell, 3 AS bits, 2 AS n
  FROM numbered
  GROUP BY "a", "b"
  HAVING sum(records) = 1
)
SELECT cell, bits, n
FROM uniques AS u
WHERE NOT EXISTS (FROM uniques AS v WHERE v.cell = u.cell AND v.n < u.n AND v.bits & u.bits = v.bits)
