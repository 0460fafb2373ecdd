-- title: The records of a night of a series as the recoding has them
-- source: sqlmicro
-- reads: relation, values (row_id, the columns that were recoded)
-- returns: row_id, record, the columns, the others, and place: the number of a record that the recoding does not know
-- params: relation, values, columns (column, where it comes from, type), others, partial (who is not recoded stays as she is)
SELECT
  r.row_id,
  r.record,
  CASE WHEN v.row_id IS NOT NULL THEN "v"."net ""income"""
    WHEN false THEN CAST(r."net ""income""" AS VARCHAR) END AS "net ""income""",
  CASE WHEN v.row_id IS NOT NULL THEN "r"."town"
    WHEN false THEN CAST(r."town" AS VARCHAR) END AS "town",
  r."land", 
  CASE WHEN v.row_id IS NULL AND NOT false THEN r.row_id END AS place
FROM "staging"."typed" AS r
LEFT JOIN "staging"."recoded" AS v USING (row_id)
