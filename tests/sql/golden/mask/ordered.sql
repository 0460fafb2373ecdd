-- title: The values of a column in their order, within strata
-- source: Moore (1996), rank swapping; equal values go by row_id
-- reads: drawn (with draw_1)
-- returns: the strata, row_id, value in its own type, draw; records without a value are left out
-- order: the strata, the value, row_id; read by position, as rowid
-- params: drawn, by, column
SELECT
  "land", 
  row_id,
  "net ""income""" AS value,
  draw_1 >> 30 AS draw
FROM "staging"."drawn"
WHERE "net ""income""" IS NOT NULL
ORDER BY "land", value, row_id
