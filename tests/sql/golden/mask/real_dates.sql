-- title: The dates, without those that stand for none
-- source: sqlmicro; a value such as 9999-12-31 would give away by how much it was moved
-- reads: relation (days or microseconds since 1970)
-- returns: row_id, the columns
-- params: relation, columns (the column, how many of its units are a day), unshifted (days since 1970)
SELECT
  row_id
  , CASE WHEN NOT list_contains(CAST([2932896.0, -1.0] AS DOUBLE[]), floor("seen" / 1))
      THEN "seen" END AS "seen"
  , CASE WHEN NOT list_contains(CAST([2932896.0, -1.0] AS DOUBLE[]), floor("moment" / 86400000000))
      THEN "moment" END AS "moment"
FROM "staging"."typed"
