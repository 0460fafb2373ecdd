-- title: The values that utility is measured on: numbers as DOUBLE, days and microseconds since 1970, others as bytes
-- source: sqlmicro: as the methods compute with them; NaN and infinity are no values. What identifies a record in the
--   release and in the original becomes row_id
-- reads: relation
-- returns: the columns, row_id for every list in `keys` (one, or none)
-- params: relation, numeric, dates, timestamps, nominal, keys
SELECT
  CASE WHEN isfinite(CAST("x" AS DOUBLE)) THEN CAST("x" AS DOUBLE) END
    AS "x",
  CASE WHEN isfinite("day")
    THEN CAST("day" - DATE '1970-01-01' AS DOUBLE) END AS "day",
  CASE WHEN isfinite("moment")
    THEN CAST(epoch_us("moment") AS DOUBLE) END AS "moment",
  encode(CAST("g" AS VARCHAR)) AS "g",
  { 'key_1': "id", 'key_2': "g"} AS row_id,
  1 AS n
FROM "staging"."released"
