-- title: The records of release and original together, as numbers, and which of both each is from
-- source: Woo, Reiter, Oganian & Karr (2009): a model that tells them apart measures how unlike they are
-- reads: original, released (values)
-- returns: target (1 for the release), the numeric columns, the rank of every nominal value, counted from 1
-- params: original, released, numeric, nominal
SELECT
  "x",
  dense_rank() OVER (ORDER BY "g") AS "g",
  target
FROM (
  SELECT "x", "g", 0 AS target
  FROM "staging"."original"
  UNION ALL
  SELECT "x", "g", 1
  FROM "staging"."released")
