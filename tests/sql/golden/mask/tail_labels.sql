-- title: Every value of the tail replaced by a label, the others as text
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation, tails
-- returns: row_id, value
-- params: relation, tails, by, column, top, label
SELECT
  r.row_id,
  CASE WHEN CASE WHEN true
    THEN r."net ""income""" >= t.threshold
    ELSE r."net ""income""" <= t.threshold
  END THEN '30+' ELSE CAST(r."net ""income""" AS VARCHAR) END AS value
FROM "staging"."typed" AS r
LEFT JOIN "staging"."tails" AS t
  ON true
