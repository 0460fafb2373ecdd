-- title: Which combination of released values a record of the original became
-- source: sqlmicro
-- reads: original (values, by row_id), became (the released values, by row_id), released (the combinations)
-- returns: position in the original, other (position of the combination); both from 0
-- params: original, became, released, columns
SELECT
  o.position,
  r.position AS other
FROM (SELECT row_id, row_number() OVER () - 1 AS position FROM "staging"."original") AS o
JOIN "staging"."became" AS b USING (row_id)
JOIN (SELECT "x", "y", row_number() OVER () - 1 AS position FROM "staging"."released") AS r
  ON b."x" IS NOT DISTINCT FROM r."x" AND b."y" IS NOT DISTINCT FROM r."y"
ORDER BY o.position
