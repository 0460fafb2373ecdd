-- title: Number, means and covariances of the variables of a regression
-- source: Schmid, Schneeweiss & Kuechenhoff (2007): what least squares needs; only records that have all values
-- reads: relation (values)
-- returns: records, the mean of every variable and the covariance of every pair, by their numbers
-- params: relation, columns, pairs
SELECT
  avg("y") AS mean_1,
  avg("x") AS mean_2,
  covar_samp("y", "y") AS covariance_1,
  covar_samp("y", "x") AS covariance_2,
  covar_samp("x", "x") AS covariance_3,
  count(*) AS records
FROM "staging"."released"
WHERE NOT (false OR "y" IS NULL OR "x" IS NULL)
