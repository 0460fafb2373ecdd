-- title: Mean, variance and covariance of the numeric columns
-- source: Höhne, SAFE: mean, variance and covariance of the numeric columns before and after
-- reads: cells
-- returns: one row: for the i-th numeric column mean_i, for each pair covariance_i_j (divisor n - 1, over records with both)
-- params: cells, numeric, pairs (numbers of two columns, counted from 1)
WITH centre AS (
  SELECT
    0 AS nothing
    , sum(n * CAST("x" AS DOUBLE)) / sum(n) FILTER (WHERE "x" IS NOT NULL) AS mean_1
    , sum(n * CAST("y" AS DOUBLE)) / sum(n) FILTER (WHERE "y" IS NOT NULL) AS mean_2
  FROM "staging"."cells"
),
centred AS (
  SELECT
    c.n
    , m.mean_1
    , CAST(c."x" AS DOUBLE) - m.mean_1 AS u_1
    , m.mean_2
    , CAST(c."y" AS DOUBLE) - m.mean_2 AS u_2
  FROM "staging"."cells" AS c, centre AS m
)
SELECT
  0 AS nothing
  , max(mean_1) AS mean_1
  , max(mean_2) AS mean_2
  , sum(n * u_1 * u_1)
    / nullif(sum(n) FILTER (WHERE u_1 * u_1 IS NOT NULL) - 1, 0) AS covariance_1_1
  , sum(n * u_1 * u_2)
    / nullif(sum(n) FILTER (WHERE u_1 * u_2 IS NOT NULL) - 1, 0) AS covariance_1_2
  , sum(n * u_2 * u_2)
    / nullif(sum(n) FILTER (WHERE u_2 * u_2 IS NOT NULL) - 1, 0) AS covariance_2_2
FROM centred
