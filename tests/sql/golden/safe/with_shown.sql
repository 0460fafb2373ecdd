-- title: Combinations, and after them those that an earlier night of a series has shown
-- source: sqlmicro
-- reads: cells, shown (cell from 0)
-- returns: cell, the columns
-- params: cells, shown, first (the number of the first one that was shown), columns
SELECT
  cell
  , "sex"
  , "net ""income"""
FROM "staging"."cells"
UNION ALL
SELECT
  cell + 4
  , "sex"
  , "net ""income"""
FROM "staging"."shown"
