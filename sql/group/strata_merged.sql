-- title: Where the groups of a stratum lie: groups of k from the largest value downward, the lowest takes the remainder
-- source: Höhne's split groups, the remainder merged into its neighbour, so that no group is below k
-- reads: sorted
-- returns: a row per stratum: the strata, first_position and last_position of its records, middle_first and
--   middle_last of the group that takes the remainder (empty where middle_last < middle_first)
-- params: sorted, by, k
SELECT
  {{ by | listed("{}, ") }}
  min(rowid) AS first_position,
  max(rowid) AS last_position,
  min(rowid) AS middle_first,
  max(rowid) - {{ k }} * (count(*) // {{ k }} - 1) AS middle_last
FROM {{ sorted | ident }}
GROUP BY ALL
HAVING count(*) > 0
