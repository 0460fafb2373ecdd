-- title: The members of the population whose values are in the ranges and sets of their group
-- source: LeFevre, DeWitt & Ramakrishnan (2006); Sweeney (2002): k-map
-- reads: members (row_id, label), population, grouped (the records with label)
-- returns: row_id, label
-- params: members, population, grouped, ranges, sets
WITH boxes AS (
  SELECT
    label
    , min("net ""income""") AS low_1
    , max("net ""income""") AS high_1
    , bool_or("net ""income""" IS NULL) AS gap_1
    , list(DISTINCT "land") AS set_1
    , bool_or("land" IS NULL) AS missing_1
  FROM "staging"."grouped"
  GROUP BY label
)
SELECT
  m.row_id,
  m.label
FROM "staging"."members" AS m
JOIN "staging"."everybody" AS p USING (row_id)
JOIN boxes AS b USING (label)
WHERE true
  AND CASE WHEN p."net ""income""" IS NULL THEN b.gap_1
    ELSE p."net ""income""" BETWEEN b.low_1 AND b.high_1 END
  AND CASE WHEN p."land" IS NULL THEN b.missing_1
    ELSE list_contains(b.set_1, p."land") END
