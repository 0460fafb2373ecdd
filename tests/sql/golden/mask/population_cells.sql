-- title: The combinations of the records, then those of the population only, numbered, with how many of both have them
-- source: Sweeney (2002): k-map
-- reads: relation, population
-- returns: cell (from 0), the columns, n (records), members (of the population)
-- params: relation, population, columns
SELECT
  row_number() OVER (ORDER BY count(row_id) = 0, "net ""income""", "land") - 1 AS cell
  , "net ""income"""
  , "land"
  , count(row_id) AS n
  , count(*) - count(row_id) AS members
FROM (
  SELECT "net ""income""", "land", row_id
  FROM "staging"."typed"
  UNION ALL
  SELECT "net ""income""", "land", NULL
  FROM "staging"."everybody")
GROUP BY "net ""income""", "land"
