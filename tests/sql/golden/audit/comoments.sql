-- title: Covariance and correlation of pairs of numeric columns
-- source: Hundepool et al. (2012)
-- reads: relation (values)
-- returns: covariance and correlation of every pair, by its number; over the records that have both values
-- params: relation, pairs
SELECT
  covar_samp("x", "y") AS covariance_1,
  corr("x", "y") AS correlation_1,
  covar_samp("x", "x") AS covariance_2,
  corr("x", "x") AS correlation_2
FROM "staging"."released"
