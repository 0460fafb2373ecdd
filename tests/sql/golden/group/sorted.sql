-- title: The records in the order of one value, within strata
-- source: Defays & Nanopoulos (1993): individual ranking sorts each variable on its own; ties go by row_id, which is a keyed order
-- reads: relation
-- returns: the strata, row_id, value; records without a value are left out
-- order: the strata, the value, row_id; read by position, as rowid
-- params: relation, by, column
SELECT
  "land", 
  row_id,
  CAST("net ""income""" AS DOUBLE) AS value
FROM "staging"."typed"
WHERE "net ""income""" IS NOT NULL
ORDER BY "land", value, row_id
