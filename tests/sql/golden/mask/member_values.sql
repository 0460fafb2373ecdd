-- title: The combination of every record with a column that is kept, as numbers; a missing value is the last
-- source: sqlmicro
-- reads: relation, members (row_id, label)
-- returns: label, code (from 0)
-- params: relation, members, column
SELECT
  m.label,
  dense_rank() OVER (ORDER BY r."net ""income""" NULLS LAST) - 1 AS code
FROM "staging"."typed" AS r
JOIN "staging"."members" AS m USING (row_id)
