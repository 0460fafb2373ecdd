-- title: The new values of some rows of a table that is changed in place
-- source: sqlmicro: a row is found by the hash of its key; one that is emptied is none of the release
-- reads: records (row_id, the columns), changed (row_id, record: as in load/typed.sql)
-- returns: record, the columns under their own names
-- params: records, changed, columns
SELECT
  c.record,
  r."c0" AS "net income",
  r."c1" AS "town"
FROM "staging"."changed" AS c
LEFT JOIN "staging"."records" AS r USING (row_id)
