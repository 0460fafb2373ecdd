-- title: The records as they are published, in an order that says nothing
-- source: sqlmicro: the order of the numbers is that of load/shuffled.sql, which a key decides; they
--   themselves are left out. Inside an expression the name is not that of a column of the release
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
ORDER BY row_id + 0
