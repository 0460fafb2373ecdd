-- title: How many values of each column are missing before and after, and how many were filled in or taken out
-- source: sqlmicro
-- reads: before, after (both by row_id; records may have been left out of the second)
-- returns: one row: records_before, records_after; for the i-th column before_i, after_i, filled_in_i, taken_out_i
-- params: before, after, columns
SELECT
  count(*) AS records_before,
  count(r.row_id) AS records_after
  , count(*) FILTER (WHERE o."net ""income""" IS NULL) AS before_1
  , count(r.row_id) FILTER (WHERE r."net ""income""" IS NULL) AS after_1
  , count(*) FILTER (WHERE o."net ""income""" IS NULL AND r."net ""income""" IS NOT NULL) AS filled_in_1
  , count(r.row_id) FILTER (WHERE o."net ""income""" IS NOT NULL AND r."net ""income""" IS NULL)
    AS taken_out_1
FROM "staging"."before" AS o
LEFT JOIN "staging"."after" AS r USING (row_id)
