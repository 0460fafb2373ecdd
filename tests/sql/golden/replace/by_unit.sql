-- title: The values of its unit for every record
-- source: sqlmicro
-- reads: members (row_id, unit), values (by the row_id of the unit)
-- returns: row_id, the columns
-- params: members, values, columns
SELECT
  m.row_id
  , v."net ""income"""
FROM "staging"."members" AS m
JOIN "staging"."values" AS v ON m.unit = v.row_id
