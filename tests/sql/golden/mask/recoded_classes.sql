-- title: The class of every record that the recoding knows, and how many records are in it
-- source: sqlmicro
-- reads: relation, values (row_id, the columns that were recoded)
-- returns: row_id, label, n
-- params: relation, values, columns (column, where it comes from)
SELECT
  v.row_id,
  dense_rank() OVER (ORDER BY "v"."town", "r"."land") AS label,
  count(*) OVER (PARTITION BY "v"."town", "r"."land") AS n
FROM "staging"."recoded" AS v
JOIN "staging"."typed" AS r USING (row_id)
