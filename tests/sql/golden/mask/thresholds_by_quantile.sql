-- title: Where the tail of every stratum begins: at a quantile, a value that occurs
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation
-- returns: the strata, threshold
-- params: relation, by, column, quantile
SELECT
  quantile_disc("net ""income""", 0.5) AS threshold
FROM "staging"."typed"
GROUP BY ALL
