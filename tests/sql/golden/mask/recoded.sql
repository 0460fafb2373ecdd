-- title: The records with the values of the chosen levels
-- source: Hundepool et al. (2012), global recoding
-- reads: relation, a ladder per recoded column
-- returns: row_id, the columns
-- params: relation, recoded (column, alias, ladder, level)
SELECT
  r.row_id
  , "a1"."level_1" AS "net ""income"""
FROM "staging"."typed" AS r
JOIN "staging"."incomes" AS "a1" ON "a1".value IS NOT DISTINCT FROM r."net ""income"""
