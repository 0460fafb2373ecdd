-- title: The combinations that occur as numbers, a missing value as -1
-- source: sqlmicro
-- reads: cells
-- returns: in the order of cell: what was counted, a number from 0 per column
-- params: cells, counted (n, or n and members), columns
SELECT
  "n"
  , CASE WHEN "net ""income""" IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY "net ""income""" NULLS LAST) - 1 END AS "net ""income"""
  , CASE WHEN "land" IS NULL THEN -1
      ELSE dense_rank() OVER (ORDER BY "land" NULLS LAST) - 1 END AS "land"
FROM "staging"."cells"
ORDER BY cell
