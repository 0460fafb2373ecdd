-- title: Values swapped between records that agree in the strata
-- source: Dalenius & Reiss (1982), data swapping. A keyed hash chooses the records; those of a stratum that have the
--   same columns missing pass their values on in a circle of random order
-- reads: relation
-- returns: row_id, the columns
-- params: relation, by, columns, stream, share (as a whole number of 2^-60)
WITH drawn AS (
  SELECT
"land", 
    row_id
    , "net ""income"""
    , "net ""income""" IS NULL AS pattern_1
    , "town"
    , "town" IS NULL AS pattern_2
    , CAST(concat('0x', left(
      sha256(concat(getvariable('sqlmicro_key'), ' ', 'swap_1.1', ' ', row_id)), 15)) AS BIGINT) AS draw
  FROM "staging"."typed"
)
SELECT
  row_id
  , CASE WHEN draw < 1152921504606846976
      THEN coalesce(lead("net ""income""") OVER around, first_value("net ""income""") OVER around)
      ELSE "net ""income"""
    END AS "net ""income"""
  , CASE WHEN draw < 1152921504606846976
      THEN coalesce(lead("town") OVER around, first_value("town") OVER around)
      ELSE "town"
    END AS "town"
FROM drawn
WINDOW around AS (
  PARTITION BY
"land", pattern_1, pattern_2, draw < 1152921504606846976
  ORDER BY draw, row_id)
