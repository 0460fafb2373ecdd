-- title: Where the groups of a stratum lie: groups of k from both ends inward, the innermost takes the remainder
-- source: Fink (2009): the innermost group holds the median and takes k to 2k-1 records
-- reads: sorted
-- returns: a row per stratum: the strata, first_position and last_position of its records, middle_first and
--   middle_last of the group that takes the remainder (empty where middle_last < middle_first)
-- params: sorted, by, k
SELECT
  {{ by | listed("{}, ") }}
  min(rowid) AS first_position,
  max(rowid) AS last_position,
  min(rowid) + {{ k }} * ((count(*) // {{ k }}) // 2) AS middle_first,
  max(rowid) - {{ k }} * ((count(*) // {{ k }} - 1) // 2) AS middle_last
FROM {{ sorted | ident }}
GROUP BY ALL
HAVING count(*) > 0
