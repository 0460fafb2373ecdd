-- title: The least and the largest of a measure of the classes, and how many lie beyond a threshold
-- source: sqlmicro
-- reads: classes (records, measure)
-- returns: classes, records, lowest, highest, mean (over the records), classes and records below and above the threshold (0 without one)
-- params: classes, threshold
SELECT
  count(*) AS classes,
  CAST(coalesce(sum(records), 0) AS BIGINT) AS records,
  min(measure) AS lowest,
  max(measure) AS highest,
  sum(records * measure) / sum(records) AS mean,
  count(*) FILTER (WHERE measure < {{ threshold | lit }}) AS classes_below,
  CAST(coalesce(sum(records) FILTER (WHERE measure < {{ threshold | lit }}), 0) AS BIGINT) AS records_below,
  count(*) FILTER (WHERE measure > {{ threshold | lit }}) AS classes_above,
  CAST(coalesce(sum(records) FILTER (WHERE measure > {{ threshold | lit }}), 0) AS BIGINT) AS records_above
FROM {{ classes | ident }}
