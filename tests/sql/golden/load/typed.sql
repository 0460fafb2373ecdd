-- title: The records to anonymize, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along; -0.0
--   becomes 0.0 and NaN loses its payload, which nobody sees and could tell records apart; an infinite date stays
--   infinite, to be refused
-- reads: relation (the user's table)
-- returns: record, a hash of what identifies it: its row key as text, or the columns; the columns
-- params: relation, row_key, identity (the names key_1, … of the row key, or the columns), columns, plain, kept_floats,
--   floats, collated, as_text, dates, timestamps
WITH typed AS (
  SELECT
    0 AS nothing
    , CASE WHEN "x" = 0 THEN 0 WHEN isnan("x") THEN CAST('NaN' AS FLOAT)
        ELSE "x" END AS "x"
    , CASE WHEN NOT isfinite("day") THEN CAST('infinity' AS DOUBLE)
        ELSE "day" - DATE '1970-01-01' END AS "day"
  FROM "staging"."persons"
)
SELECT
  hash("x", "day") AS record,
  "x", "day"
FROM typed
