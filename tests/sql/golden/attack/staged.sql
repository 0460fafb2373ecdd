-- title: The columns of a release under the names they have in staging
-- source: sqlmicro
-- reads: relation (the user's table)
-- returns: the columns
-- params: relation, columns
SELECT
  "row_id" AS "row_id_",
  "x" AS "x"
FROM "staging"."people"
