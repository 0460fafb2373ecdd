-- title: Which values of every record are missing
-- source: sqlmicro
-- reads: relation
-- returns: in the order of row_id: row_id, and for every column whether there is no value
-- params: relation, columns
SELECT
  row_id
  , "c1" IS NULL AS "c1"
  , "c2" IS NULL AS "c2"
FROM "staging"."relation"
ORDER BY row_id
