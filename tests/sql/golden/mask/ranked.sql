-- title: The values of a column in their order, within strata, with a hash of the record and value of each
-- source: Moore (1996), rank swapping; equal values go by row_id
-- reads: relation (with record)
-- returns: row_id, value in its own type, drawn_for; records without a value are left out
-- order: the strata, the value, row_id
-- params: relation, by, column
SELECT
  row_id,
  "net ""income""" AS value,
  hash(record, "net ""income""") AS drawn_for
FROM "staging"."typed"
WHERE "net ""income""" IS NOT NULL
ORDER BY "land", value, row_id
