-- title: The records as numbers, for a kernel
-- source: sqlmicro
-- reads: relation
-- returns: row_id and the columns as DOUBLE, in the order of row_id
-- params: relation, columns
SELECT
  row_id
  , CAST("net ""income""" AS DOUBLE) AS "net ""income"""
  , CAST("x" AS DOUBLE) AS "x"
FROM "staging"."typed"
ORDER BY row_id
