-- title: The records with their new values
-- source: sqlmicro
-- reads: relation, and the relations that carry new values by row_id
-- returns: row_id, record and the columns, in the order of row_id
-- params: relation, columns (the column, where it comes from, its name there), joined (alias, relation)
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
