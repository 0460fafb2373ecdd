-- title: Which record of the release a record of the original became
-- source: sqlmicro
-- reads: original, released (values, by row_id)
-- returns: position in the original, other (position in the release); both from 0
-- params: original, released
SELECT
  o.position,
  r.position AS other
FROM (SELECT row_id, row_number() OVER () - 1 AS position FROM "staging"."original") AS o
JOIN (SELECT row_id, row_number() OVER () - 1 AS position FROM "staging"."released") AS r USING (row_id)
ORDER BY o.position
