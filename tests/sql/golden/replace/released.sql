-- title: The records with their new values
-- source: sqlmicro
-- reads: relation, and the relations that carry new values by row_id
-- returns: row_id, record and the columns
-- params: relation, columns (the column, where it comes from, its name there), joined (alias, relation)
SELECT
  r.row_id,
  r.record
  , "r"."name" AS "name"
  , "v1"."value" AS "x"
  , "v2"."net ""income""" AS "net ""income"""
FROM "staging"."typed" AS r
LEFT JOIN "staging"."new_x" AS "v1" USING (row_id)
LEFT JOIN "staging"."new_income" AS "v2" USING (row_id)
