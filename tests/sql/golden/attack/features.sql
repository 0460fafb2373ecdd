-- title: The values of original and release as numbers, for a kernel
-- source: sqlmicro: a nominal value has one number in both tables, so that equal values are equal numbers
-- reads: original, released (values)
-- returns: first the records of the original (source 0), then those of the release (1), each in the order of its table:
--   source, position, the numeric columns, the nominal columns by a number from 0 (NULL is a value of its own)
-- params: original, released, numeric, nominal
WITH records AS (
  SELECT
    0 AS source,
    row_number() OVER () - 1 AS position
    , "net ""income"""
    , "name"
  FROM "staging"."original"
  UNION ALL
  SELECT
    1,
    row_number() OVER () - 1
    , "net ""income"""
    , "name"
  FROM "staging"."released"
)
SELECT
  source,
  position
  , "net ""income"""
  , dense_rank() OVER (ORDER BY "name") - 1 AS "name"
FROM records
ORDER BY source, position
