-- title: What every unit counts as
-- source: sqlmicro: all units of which nothing is known count as one
-- reads: relation (a record for every unit), members (row_id, counted)
-- returns: in the order of row_id: row_id, counted
-- params: relation, members
SELECT
  r.row_id,
  m.counted
FROM "staging"."relation" AS r
JOIN "staging"."members" AS m USING (row_id)
ORDER BY row_id
