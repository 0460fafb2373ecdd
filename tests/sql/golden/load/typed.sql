-- title: The records to anonymize, numbered once, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along
-- reads: relation (the user's table)
-- returns: row_id from 0, and the columns
-- params: relation, plain, collated, as_text, dates, timestamps
SELECT
  row_number() OVER () - 1 AS row_id
  , "row_id" AS "row_id_"
  , "net ""income""" AS "net ""income"""
FROM "staging"."persons"
