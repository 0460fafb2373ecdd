-- title: The class of every record that the recoding knows, and how many records are in it
-- source: sqlmicro
-- reads: relation, values (row_id, the columns that were recoded)
-- returns: row_id, label, n
-- params: relation, values, columns (column, where it comes from)
SELECT
  v.row_id,
  dense_rank() OVER (ORDER BY {{ columns | listed("{2}.{1}") }}) AS label,
  count(*) OVER (PARTITION BY {{ columns | listed("{2}.{1}") }}) AS n
FROM {{ values | ident }} AS v
JOIN {{ relation | ident }} AS r USING (row_id)
