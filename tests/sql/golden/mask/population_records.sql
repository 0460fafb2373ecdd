-- title: The population in the types of the records; who has a value that a column of the records cannot have is left out
-- source: Sweeney (2002): k-map; a value is the same if it is so after a cast there and back
-- reads: typed
-- returns: row_id (from 0), the columns
-- params: typed, columns (column, its type in the records, its own type), floats (those that may be infinite or NaN)
SELECT
  row_number() OVER () - 1 AS row_id
  , TRY_CAST("net ""income""" AS INTEGER) AS "net ""income"""
  , TRY_CAST("land" AS INTEGER) AS "land"
  , TRY_CAST("born" AS DOUBLE) AS "born"
FROM "staging"."typed"
WHERE true
  AND ("net ""income""" IS NULL
    OR TRY_CAST(TRY_CAST("net ""income""" AS INTEGER) AS DOUBLE) = "net ""income""")
  AND ("land" IS NULL
    OR TRY_CAST(TRY_CAST("land" AS INTEGER) AS VARCHAR) = "land")
  AND ("born" IS NULL
    OR TRY_CAST(TRY_CAST("born" AS DOUBLE) AS DOUBLE) = "born")
  AND coalesce(isfinite(CAST("net ""income""" AS DOUBLE)), true)
  AND coalesce(isfinite(CAST("born" AS DOUBLE)), true)
