-- title: The records to anonymize, numbered once, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along; -0.0
--   becomes 0.0; an infinite date stays infinite, to be refused
-- reads: relation (the user's table)
-- returns: row_id from 0, and the columns
-- params: relation, plain, floats, collated, as_text, dates, timestamps
SELECT
  row_number() OVER () - 1 AS row_id
  , CASE WHEN "x" = 0 THEN 0 ELSE "x" END AS "x"
  , CASE WHEN NOT isfinite("day") THEN CAST('infinity' AS DOUBLE)
      ELSE "day" - DATE '1970-01-01' END AS "day"
FROM "staging"."persons"
