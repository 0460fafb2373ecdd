-- title: The values of a column that occur in the records or in the population, and in how many records
-- source: sqlmicro
-- reads: relation, population
-- returns: value, n (0: in the population only)
-- params: relation, population, column
SELECT
  value,
  count(row_id) AS n
FROM (
  SELECT "net ""income""" AS value, row_id
  FROM "staging"."typed"
  UNION ALL
  SELECT "net ""income""", NULL
  FROM "staging"."everybody")
GROUP BY value
