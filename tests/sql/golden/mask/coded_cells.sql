-- title: The combinations that occur, every value by its number on each level
-- source: Samarati (2001); El Emam et al. (2009)
-- reads: cells, a ladder per column
-- returns: n, and per column and level its code and share
-- params: cells, ladders (alias, relation, column), levels (alias, its name there, its name here)
SELECT
  c.n
  , "a1"."code_0" AS "code_1_0"
  , "a1"."share_1" AS "share_1_1"
  , "c"."land" AS "stratum_1"
FROM "staging"."cells" AS c
JOIN "staging"."incomes" AS "a1" ON "a1".value IS NOT DISTINCT FROM c."net ""income"""
