-- title: The values of a column that occur, and in how many records
-- source: sqlmicro
-- reads: relation
-- returns: value, n
-- params: relation, column
SELECT
  "net ""income""" AS value,
  count(*) AS n
FROM "staging"."typed"
GROUP BY "net ""income"""
