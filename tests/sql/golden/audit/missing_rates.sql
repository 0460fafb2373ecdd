-- title: How many records the release and the original have, and how many of them have a value in each column
-- source: sqlmicro
-- reads: original, released
-- returns: one row: records_before, records_after; for the i-th column present_before_i and present_after_i
-- params: original, released, columns
SELECT
  *
FROM (
  SELECT
    count(*) AS records_before
    , count("age") AS present_before_1
    , count("net ""income""") AS present_before_2
  FROM "staging"."original") AS o
CROSS JOIN (
  SELECT
    count(*) AS records_after
    , count("age") AS present_after_1
    , count("net ""income""") AS present_after_2
  FROM "staging"."release") AS r
