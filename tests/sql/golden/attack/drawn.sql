-- title: The records of a table that were drawn by their places
-- source: sqlmicro: targets of a table that is too large to try every record
-- reads: relation (the user's table), drawn (position: places in it, from 0)
-- returns: the columns under their own names
-- params: relation, drawn, columns
SELECT
  "p" AS "position",
  "net ""income""" AS "net ""income"""
FROM (
  SELECT
    row_number() OVER () - 1 AS position,
    "position" AS "p", "net ""income""" AS "net ""income"""
  FROM "staging"."people")
JOIN "staging"."drawn" USING (position)
