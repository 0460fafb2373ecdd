-- title: The sum of the variances within the groups
-- source: Höhne's split groups with variable size: the size with the smallest sum is taken
-- reads: groups
-- returns: one row: variance_sum
-- params: groups
SELECT
  list_sum(list(variance ORDER BY label)) AS variance_sum
FROM (
  SELECT label, list_aggregate(list_sort(list(value)), 'var_pop') AS variance
  FROM "staging"."groups"
  GROUP BY label)
