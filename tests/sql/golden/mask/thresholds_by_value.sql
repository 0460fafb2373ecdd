-- title: Where the tail of every stratum begins: at a given value
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation
-- returns: the strata, threshold
-- params: relation, by, threshold
SELECT DISTINCT
  "land", 
  30 AS threshold
FROM "staging"."typed"
