-- title: The same value for every record
-- source: sqlmicro
-- reads: relation
-- returns: row_id, the columns
-- params: relation, columns, value
SELECT
  row_id
  , 'it''s gone' AS "net ""income"""
  , 'it''s gone' AS "name"
FROM "staging"."typed"
