-- title: The values of a column in their order, where the records were numbered in it, with a hash of the record and value
-- source: Moore (1996), rank swapping; equal values go by row_id
-- reads: relation (with record; numbered in the order of the value, records without a value last)
-- returns: row_id, value in its own type, drawn_for, in the order of row_id; records without a value are left out
-- params: relation, column
SELECT
  row_id,
  "net ""income""" AS value,
  hash(record, "net ""income""") AS drawn_for
FROM "staging"."typed"
WHERE "net ""income""" IS NOT NULL
