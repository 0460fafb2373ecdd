-- title: Covariance and correlation of pairs of numeric columns
-- source: Hundepool et al. (2012)
-- reads: relation (values)
-- returns: covariance and correlation of every pair, by its number; over the records that have both values
-- params: relation, pairs
SELECT{{ pairs | listed("\n  covar_samp({}) AS covariance_{n},\n  corr({}) AS correlation_{n}") }}
FROM {{ relation | ident }}
