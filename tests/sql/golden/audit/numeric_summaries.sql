-- title: Mean, variance and quantiles of numeric columns
-- source: Hundepool et al. (2012): a release is useful where it gives what the original gives
-- reads: relation (values)
-- returns: column_name, records (with a value), mean, variance (n - 1), quantiles (5, 25, 50, 75, 95 %)
-- params: relation, columns
SELECT
  'x' AS column_name,
  count("x") AS records,
  avg("x") AS mean,
  var_samp("x") AS variance,
  quantile_cont("x", [0.05, 0.25, 0.5, 0.75, 0.95]) AS quantiles
FROM "staging"."released"
UNION ALL
SELECT
  'y' AS column_name,
  count("y") AS records,
  avg("y") AS mean,
  var_samp("y") AS variance,
  quantile_cont("y", [0.05, 0.25, 0.5, 0.75, 0.95]) AS quantiles
FROM "staging"."released"
