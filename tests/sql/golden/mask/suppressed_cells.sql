-- title: The combinations as they are released: values that were suppressed are NULL
-- source: Hundepool et al. (2012), local suppression
-- reads: cells, chosen (label, cell, and per column whether it is suppressed)
-- returns: label, the columns
-- params: cells, chosen, columns (column, flag)
SELECT
  s.label
  , CASE WHEN NOT s."hidden_0" THEN c."net ""income""" END AS "net ""income"""
  , CASE WHEN NOT s."hidden_1" THEN c."land" END AS "land"
FROM "staging"."chosen" AS s
JOIN "staging"."cells" AS c USING (cell)
