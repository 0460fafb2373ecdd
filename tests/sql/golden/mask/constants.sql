-- title: The same value for every record
-- source: sqlmicro
-- reads: relation
-- returns: row_id, the columns
-- params: relation, columns (with the type that each becomes), value
SELECT
  row_id
  , CAST('-7' AS VARCHAR) AS "net ""income"""
  , CAST('-7' AS VARCHAR) AS "name"
  , CAST('-7' AS SMALLINT) AS "code"
FROM "staging"."typed"
