-- title: Values swapped between records that agree in the strata
-- source: Dalenius & Reiss (1982), data swapping. Random numbers choose the records; those of a stratum that have the
--   same columns missing pass their values on in a circle of random order
-- reads: drawn (with draw_1)
-- returns: row_id, the columns
-- params: drawn, by, columns, share (as a whole number of 2^-60)
WITH patterns AS (
  SELECT
    "land", 
    row_id
    , "net ""income"""
    , "net ""income""" IS NULL AS pattern_1
    , "town"
    , "town" IS NULL AS pattern_2
    , draw_1 AS draw
  FROM "staging"."drawn"
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
FROM patterns
WINDOW around AS (
  PARTITION BY
    "land", 
    pattern_1, pattern_2, draw < 1152921504606846976
  ORDER BY draw, row_id)
