-- title: No value for any record
-- source: sqlmicro: NULL of the column's own type, which a bare NULL does not have
-- reads: relation
-- returns: row_id, the columns
-- params: relation, columns
SELECT
  row_id
  , CASE WHEN false THEN "net ""income""" END AS "net ""income"""
  , CASE WHEN false THEN "name" END AS "name"
FROM "staging"."typed"
