-- title: What matches the records that an attack linked
-- source: sqlmicro
-- reads: original (values, by row_id), linked (position, attack)
-- returns: row_id, attack (which one)
-- params: original, linked
SELECT
  o.row_id,
  l.attack
FROM (SELECT row_id, row_number() OVER () - 1 AS position FROM "staging"."original") AS o
JOIN "staging"."linked" AS l USING (position)
