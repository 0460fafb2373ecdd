-- title: Every value of the tail replaced by the same number
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation, tails
-- returns: row_id, value
-- params: relation, tails, by, column, top, replacement
SELECT
  r.row_id,
  CASE WHEN CASE WHEN true
    THEN r."net ""income""" >= t.threshold
    ELSE r."net ""income""" <= t.threshold
  END THEN t."mean" ELSE r."net ""income""" END AS value
FROM "staging"."typed" AS r
LEFT JOIN "staging"."tails" AS t
  ON r."land" IS NOT DISTINCT FROM t."land"
