-- title: The records, and the combinations that are frequent in the population, as numbers; a missing value as -1
-- source: Sweeney (2002): k-map
-- reads: records (by canonical bytes, with row_id), population (combinations, with size)
-- returns: in the order of row_id, which is -1 for a combination of the population: row_id, a number from 0 per column
-- params: records, population, columns, k (members of the population)
WITH together AS (
  SELECT
    row_id
    , "net ""income"""
    , "land"
  FROM "staging"."records"
  UNION ALL
  SELECT
    -1
    , "net ""income"""
    , "land"
  FROM "staging"."cells"
  WHERE size >= 2
)
SELECT
  row_id
  , CASE WHEN "net ""income""" IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY "net ""income""" NULLS LAST) - 1 END AS "net ""income"""
  , CASE WHEN "land" IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY "land" NULLS LAST) - 1 END AS "land"
FROM together
ORDER BY row_id
