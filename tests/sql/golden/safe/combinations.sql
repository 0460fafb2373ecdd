-- title: The cells, and after them combinations that no record has
-- source: sqlmicro: such a combination is a cell, `base`, with the value that another cell, `donor`, has in one column
-- reads: cells, invented (cell, base, donor, changed: the number of that column from 1)
-- returns: cell, the columns
-- params: cells, invented, columns
SELECT
  cell
  , "sex"
  , "net ""income"""
FROM "staging"."cells"
UNION ALL
SELECT
  i.cell
  , CASE WHEN i.changed = 1 THEN d."sex" ELSE b."sex" END AS "sex"
  , CASE WHEN i.changed = 2 THEN d."net ""income""" ELSE b."net ""income""" END AS "net ""income"""
FROM "staging"."invented" AS i
JOIN "staging"."cells" AS b
  ON b.cell = i.base
JOIN "staging"."cells" AS d
  ON d.cell = i.donor
