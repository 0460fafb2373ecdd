-- title: The records with their new values
-- source: sqlmicro. What was a whole number stays one: means are rounded half to even, which has no bias. At the end of a
--   type's range a DOUBLE may lie just outside it, and then the next one inside is taken. -0.0 becomes 0.0
-- reads: relation, and the relations that carry new values by row_id
-- returns: row_id, record and the columns, in the order of row_id
-- params: relation, columns (the column, where it comes from, its name there), joined (alias, relation),
--   whole (as columns, new values become their type), whole_floats (as columns, rounded and with a point)
SELECT
  r.row_id,
  r.record
  , "r"."name" AS "name"
  , "v1"."value" AS "x"
  , "v2"."net ""income""" AS "net ""income"""
FROM "staging"."typed" AS r
LEFT JOIN "staging"."new_x" AS "v1" ON "v1".row_id = r.row_id
LEFT JOIN "staging"."new_income" AS "v2" ON "v2".row_id = r.row_id
ORDER BY r.row_id
