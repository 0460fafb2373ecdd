-- title: The new values of a column for the records that are treated, and the old ones for the others
-- source: sqlmicro
-- reads: relation, chosen (row_id), values (by row_id)
-- returns: row_id, value
-- params: relation, chosen, values, column, name (what the column is called in `values`)
SELECT
  r.row_id,
  CASE WHEN c.row_id IS NULL THEN r."net ""income""" ELSE v."v" END AS value
FROM "staging"."records" AS r
LEFT JOIN "staging"."chosen" AS c USING (row_id)
LEFT JOIN "staging"."new" AS v USING (row_id)
