-- title: The records in the types that are published
-- source: sqlmicro: numbers of days and microseconds are dates and timestamps again, text is what it was
-- reads: released
-- returns: row_id, the columns
-- params: released, plain, dates, timestamps, timestamps_with_zone, casts
SELECT
  row_id
  , DATE '1970-01-01' + CAST(round_even("day", 0) AS INTEGER) AS "day"
  , DATE '1970-01-01' + CAST(round_even("kept", 0) AS INTEGER) AS "kept"
  , CAST(make_timestamp(CAST(round_even("moment", 0) AS BIGINT)) AS TIMESTAMP) AS "moment"
  , CAST(make_timestamp(CAST(round_even("seconds", 0) AS BIGINT)) AS TIMESTAMP_S) AS "seconds"
  , make_timestamptz(CAST(round_even("zoned", 0) AS BIGINT)) AS "zoned"
FROM "staging"."released"
