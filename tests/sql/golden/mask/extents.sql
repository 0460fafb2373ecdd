-- title: The smallest value of every column, and how far the largest is from it
-- source: sqlmicro
-- reads: relation
-- returns: one row: low_i and width_i of the columns, counted from 1
-- params: relation, columns
SELECT
  min(CAST("x" AS DOUBLE)) AS low_1,
  max(CAST("x" AS DOUBLE)) - low_1 AS width_1,
  min(CAST("net ""income""" AS DOUBLE)) AS low_2,
  max(CAST("net ""income""" AS DOUBLE)) - low_2 AS width_2
FROM "staging"."typed"
