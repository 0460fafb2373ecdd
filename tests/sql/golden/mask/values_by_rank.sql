-- title: The values of a column in the order of others: the record with the r-th smallest score gets the r-th smallest
--   value
-- source: Sullivan (1989), the transformation back
-- reads: relation, scores
-- returns: row_id, value
-- params: relation, scores, column
SELECT
  s.row_id,
  v.value
FROM (
  SELECT
    row_id,
    row_number() OVER (ORDER BY "net ""income""", row_id) AS position
  FROM "staging"."scores"
  WHERE "net ""income""" IS NOT NULL
) AS s
JOIN (
  SELECT
    "net ""income""" AS value,
    row_number() OVER (ORDER BY "net ""income""") AS position
  FROM "staging"."typed"
  WHERE "net ""income""" IS NOT NULL
) AS v USING (position)
