-- title: The combinations of one number of columns in which a record of the release is unique, and in no part of them
-- source: Elliot, Manning & Ford (2002): minimal sample uniques: unique in these columns, not in fewer of them; NULL is a
--   value of its own
-- reads: units, smaller (minimal uniques of fewer columns)
-- returns: cell (number of a combination), bits (one for each column), n (how many columns)
-- params: units, smaller, number (of columns), subsets (the bits and the columns of each)
WITH uniques AS (
  SELECT unnest(list(cell)) AS cell, 1 AS bits
  FROM "staging"."units"
  GROUP BY "a"
  HAVING max(records) = 1 AND min(owner) = max(owner)
  UNION ALL
  SELECT unnest(list(cell)) AS cell, 2 AS bits
  FROM "staging"."units"
  GROUP BY "b"
  HAVING max(records) = 1 AND min(owner) = max(owner)
)
SELECT cell, bits, 1 AS n
FROM uniques AS u
WHERE true
