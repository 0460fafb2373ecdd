-- title: How many records have a weight that cannot be used
-- source: sqlmicro: a weight is a number above 0; beyond six digits after the point, or 10^9, it would not be kept exactly enough
-- reads: relation
-- returns: one row: records (without a fit weight), records_in_all
-- params: relation, weights
SELECT
  count(*) FILTER (WHERE {{ weights | ident }} IS NULL
    OR NOT CAST({{ weights | ident }} AS DOUBLE) BETWEEN 1e-6 AND 1e9) AS records,
  count(*) AS records_in_all
FROM {{ relation | ident }}
