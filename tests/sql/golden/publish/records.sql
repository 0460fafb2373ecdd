-- title: The records as they are published, in an order that says nothing
-- source: sqlmicro: the order is a keyed hash of the record's number, which itself is left out
-- reads: released
-- returns: the columns under their own names; numbers of days and microseconds are dates and timestamps again
-- params: released, plain, dates, timestamps, timestamps_with_zone, casts, ordered
WITH own_types AS (
  SELECT
    row_id
    , "x"
    , "row_id_"
  FROM "staging"."released"
)
SELECT
  "row_id_" AS "row_id",
  "x" AS "x"
FROM own_types
ORDER BY sha256(concat(getvariable('sqlmicro_key'), ' ', row_id))
