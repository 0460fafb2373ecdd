-- title: The records in the order of one value, where they were numbered in it
-- source: Defays & Nanopoulos (1993): individual ranking sorts each variable on its own; ties go by the hash of the record
-- reads: relation (numbered in the order of the value, records without a value last)
-- returns: row_id, value, rowid (the position, which is row_id); records without a value are left out
-- params: relation, column
SELECT
  row_id,
  CAST("net ""income""" AS DOUBLE) AS value,
  row_id AS rowid
FROM "staging"."numbered"
WHERE "net ""income""" IS NOT NULL
