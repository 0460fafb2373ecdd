-- title: The combinations that are released, as text
-- source: sqlmicro
-- reads: relation, values (row_id, the columns)
-- returns: the strata, the columns
-- params: relation, values, strata (column, name), columns
SELECT DISTINCT
  CAST(r."land" AS VARCHAR) AS "stratum_1",
  CAST(v."net ""income""" AS VARCHAR) AS "net ""income""", CAST(v."town" AS VARCHAR) AS "town"
FROM "staging"."typed" AS r
JOIN "staging"."recoded" AS v USING (row_id)
ORDER BY ALL
