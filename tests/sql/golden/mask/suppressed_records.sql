-- title: The records as they are released: values that were suppressed are NULL
-- source: Hundepool et al. (2012), local suppression
-- reads: relation, chosen (row_id, and per column whether it is suppressed)
-- returns: row_id, the columns
-- params: relation, chosen, columns (column, flag)
SELECT
  r.row_id
  , CASE WHEN NOT c."hidden_0" THEN r."net ""income""" END AS "net ""income"""
  , CASE WHEN NOT c."hidden_1" THEN r."land" END AS "land"
FROM "staging"."typed" AS r
JOIN "staging"."chosen" AS c USING (row_id)
