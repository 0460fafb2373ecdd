-- title: Where the groups of a stratum lie: groups of k from both ends inward, the innermost takes the remainder
-- source: Fink (2009): the innermost group holds the median and takes k to 2k-1 records
-- reads: sorted
-- returns: a row per stratum: the strata, first_position and last_position of its records, middle_first and
--   middle_last of the group that takes the remainder (empty where middle_last < middle_first)
-- params: sorted, by, k
SELECT
  min(rowid) AS first_position,
  max(rowid) AS last_position,
  min(rowid) + 3 * ((count(*) // 3) // 2) AS middle_first,
  max(rowid) - 3 * ((count(*) // 3 - 1) // 2) AS middle_last
FROM "staging"."ordered"
GROUP BY ALL
HAVING count(*) > 0
