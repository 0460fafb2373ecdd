-- title: Where the tail of every stratum begins: at a quantile, a value that occurs
-- source: Hundepool et al. (2012), top and bottom coding
-- reads: relation
-- returns: the strata, threshold
-- params: relation, by, column, quantile
SELECT
  {{ by | listed("{}, ") }}
  quantile_disc({{ column | ident }}, {{ quantile | lit }}) AS threshold
FROM {{ relation | ident }}
GROUP BY ALL
