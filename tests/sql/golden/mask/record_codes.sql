-- title: The records as numbers, a missing value as -1, with their weights
-- source: sqlmicro; a weight that is missing, NaN or infinite is 0, as in audit/cells.sql
-- reads: relation
-- returns: in the order of row_id: row_id, a number from 0 per column, weight
-- params: relation, columns, weights (none, or a column)
SELECT
  row_id
  , CASE WHEN "net ""income""" IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY "net ""income""" NULLS LAST) - 1 END AS "net ""income"""
  , CASE WHEN "land" IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY "land" NULLS LAST) - 1 END AS "land"
  , CASE WHEN isfinite(CAST("w" AS DOUBLE)) THEN CAST("w" AS DOUBLE) ELSE 0
    END AS weight
FROM "staging"."typed"
ORDER BY row_id
