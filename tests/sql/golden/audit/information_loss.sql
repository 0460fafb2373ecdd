-- title: How far the released values are from the original ones, per numeric column
-- source: Domingo-Ferrer & Mateo-Sanz (2002): IL = 100 SSE/SST; a value that is missing in the release counts as replaced
--   by the mean of its column: all of it is lost
-- reads: original, released (both by row_id)
-- returns: column_name, sse, sst (n - 1 times the variance of the original)
-- params: original, released, columns
SELECT
  'x' AS column_name,
  coalesce(sum((CAST(o."x" AS DOUBLE) - CAST(r."x" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."x") FILTER (WHERE r."x" IS NULL) * (
      var_pop(CAST(o."x" AS DOUBLE)) FILTER (WHERE r."x" IS NULL)
      + (avg(CAST(o."x" AS DOUBLE)) FILTER (WHERE r."x" IS NULL)
        - avg(CAST(o."x" AS DOUBLE))) ** 2), 0) AS sse,
  coalesce(var_samp(CAST(o."x" AS DOUBLE)) * (count(o."x") - 1), 0) AS sst
FROM "staging"."typed" AS o
JOIN "staging"."released" AS r USING (row_id)
UNION ALL
SELECT
  'net "income"' AS column_name,
  coalesce(sum((CAST(o."net ""income""" AS DOUBLE) - CAST(r."net ""income""" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."net ""income""") FILTER (WHERE r."net ""income""" IS NULL) * (
      var_pop(CAST(o."net ""income""" AS DOUBLE)) FILTER (WHERE r."net ""income""" IS NULL)
      + (avg(CAST(o."net ""income""" AS DOUBLE)) FILTER (WHERE r."net ""income""" IS NULL)
        - avg(CAST(o."net ""income""" AS DOUBLE))) ** 2), 0) AS sse,
  coalesce(var_samp(CAST(o."net ""income""" AS DOUBLE)) * (count(o."net ""income""") - 1), 0) AS sst
FROM "staging"."typed" AS o
JOIN "staging"."released" AS r USING (row_id)
UNION ALL
SELECT
  'size' AS column_name,
  coalesce(sum((CAST(o."size_" AS DOUBLE) - CAST(r."size_" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."size_") FILTER (WHERE r."size_" IS NULL) * (
      var_pop(CAST(o."size_" AS DOUBLE)) FILTER (WHERE r."size_" IS NULL)
      + (avg(CAST(o."size_" AS DOUBLE)) FILTER (WHERE r."size_" IS NULL)
        - avg(CAST(o."size_" AS DOUBLE))) ** 2), 0) AS sse,
  coalesce(var_samp(CAST(o."size_" AS DOUBLE)) * (count(o."size_") - 1), 0) AS sst
FROM "staging"."typed" AS o
JOIN "staging"."released" AS r USING (row_id)
UNION ALL
SELECT
  'empty' AS column_name,
  coalesce(sum((CAST(o."empty" AS DOUBLE) - CAST(r."empty" AS DOUBLE)) ** 2), 0)
    + coalesce(count(o."empty") FILTER (WHERE r."empty" IS NULL) * (
      var_pop(CAST(o."empty" AS DOUBLE)) FILTER (WHERE r."empty" IS NULL)
      + (avg(CAST(o."empty" AS DOUBLE)) FILTER (WHERE r."empty" IS NULL)
        - avg(CAST(o."empty" AS DOUBLE))) ** 2), 0) AS sse,
  coalesce(var_samp(CAST(o."empty" AS DOUBLE)) * (count(o."empty") - 1), 0) AS sst
FROM "staging"."typed" AS o
JOIN "staging"."released" AS r USING (row_id)
