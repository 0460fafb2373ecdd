-- title: The records of a release, each with the number of the unit it counts as
-- source: sqlmicro: what says which household a record belongs to is not released; those that say nothing count as one
-- reads: released, members (row_id, counted)
-- returns: row_id, the columns, person
-- params: released, members, columns
SELECT
  r.row_id,
  r."net ""income""",
  m.counted AS person
FROM "staging"."released" AS r
JOIN "staging"."members" AS m USING (row_id)
