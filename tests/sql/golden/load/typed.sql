-- title: The records to anonymize, each column in the form the methods work on
-- source: sqlmicro. Dates become day numbers and timestamps microseconds; a collation is taken off, because under it
--   GROUP BY merges values that stay distinct when released; an ENUM would carry its whole dictionary along; -0.0
--   becomes 0.0 and NaN loses its payload, which nobody sees and could tell records apart; an infinite date stays
--   infinite, to be refused
-- reads: relation (the user's table)
-- returns: record, a hash of what identifies it: its row key as text, or the columns; key_0, a hash of the row key where
--   only the ledger knows records by it; the columns
-- params: relation, row_key, identity (the names key_1, … of the row key, or the columns), known_by (the names key_1, … of
--   the row key that only the ledger knows records by, in a list of one, or none), columns, plain, kept_floats,
--   floats, collated, as_text, dates, timestamps
WITH typed AS (
  SELECT
    0 AS nothing
    , CAST("id" AS VARCHAR) AS key_1
    , "x" AS "x"
  FROM "staging"."persons"
)
SELECT
  hash("x") AS record,
  hash("key_1") AS key_0,
  "x"
FROM typed
