-- title: The new values of a column for the records that are treated, and the old ones for the others
-- source: sqlmicro
-- reads: relation, chosen (row_id), values (by row_id)
-- returns: row_id, value
-- params: relation, chosen, values, column, name (what the column is called in `values`)
SELECT
  r.row_id,
  CASE WHEN c.row_id IS NULL THEN r.{{ column | ident }} ELSE v.{{ name | ident }} END AS value
FROM {{ relation | ident }} AS r
LEFT JOIN {{ chosen | ident }} AS c USING (row_id)
LEFT JOIN {{ values | ident }} AS v USING (row_id)
