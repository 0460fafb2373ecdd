-- title: The records to anonymize, numbered once, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along; -0.0
--   becomes 0.0 and NaN loses its payload, which nobody sees and could tell records apart; an infinite date stays
--   infinite, to be refused
-- reads: relation (the user's table)
-- returns: row_id from 0, in the order of the columns of every list in `row_keys` (one, or none: of the table); the columns
-- params: relation, row_keys, plain, kept_floats, floats, collated, as_text, dates, timestamps
SELECT
  row_number() OVER () - 1 AS row_id
  , CASE WHEN "x" = 0 THEN 0 WHEN isnan("x") THEN CAST('NaN' AS FLOAT)
      ELSE "x" END AS "x"
  , CASE WHEN NOT isfinite("day") THEN CAST('infinity' AS DOUBLE)
      ELSE "day" - DATE '1970-01-01' END AS "day"
FROM "staging"."persons"
