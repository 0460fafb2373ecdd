-- title: One value per record that orders the records: a weighted sum of the columns, each scaled to [0, 1]
-- source: single-axis microaggregation; weights 1/sd give the sum of z-scores, loadings/sd the first principal component
-- reads: relation
-- returns: the strata, row_id, value; a missing value counts as the mean
-- params: relation, by, terms (column, centre, weight)
WITH extent AS (
  SELECT
    count(*) AS records
    , min(CAST("x" AS DOUBLE)) AS low_1
    , nullif(max(CAST("x" AS DOUBLE)) - low_1, 0) AS width_1
    , min(CAST("net ""income""" AS DOUBLE)) AS low_2
    , nullif(max(CAST("net ""income""" AS DOUBLE)) - low_2, 0) AS width_2
    , min(CAST("c" AS DOUBLE)) AS low_3
    , nullif(max(CAST("c" AS DOUBLE)) - low_3, 0) AS width_3
  FROM "staging"."typed"
)
SELECT
  "land", "c", 
  row_id,
  0
  + coalesce(((CAST("x" AS DOUBLE) - low_1) / width_1
    - 0.5) * 2.0, 0)
  + coalesce(((CAST("net ""income""" AS DOUBLE) - low_2) / width_2
    - 0.5) * -1.0, 0)
  + coalesce(((CAST("c" AS DOUBLE) - low_3) / width_3
    - 0.25) * 4.0, 0)
  AS value
FROM "staging"."typed", extent
