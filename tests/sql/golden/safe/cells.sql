-- title: The combinations that occur, numbered, with the number of records that have them
-- source: Höhne, SAFE: the rows of Z that occur; Z itself is never built
-- reads: relation
-- returns: cell (from 0), the columns, n
-- params: relation, columns
SELECT
  row_number() OVER (ORDER BY "sex", "net ""income""") - 1 AS cell
  , "sex"
  , "net ""income"""
  , count(*) AS n
FROM "staging"."typed"
GROUP BY "sex", "net ""income"""
