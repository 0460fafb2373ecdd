-- title: The records of a release, each with the number of the person it is about
-- source: sqlmicro: what says whose record it is, is not released: the original tells it, by the match. Records that it does
--   not know are one person, so that no class looks larger than it is
-- reads: released, original (both as they are)
-- returns: the columns under their own names, person
-- params: released, original, columns, match, person, number (the name of what is added)
SELECT
  r."id",
  r."size",
  o."person_0"
FROM "staging"."released" AS r
LEFT JOIN (
  SELECT
    "id",
    dense_rank() OVER (ORDER BY "net ""income""") AS "person_0"
  FROM "staging"."original") AS o ON true
  AND r."id" IS NOT DISTINCT FROM o."id"
