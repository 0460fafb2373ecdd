-- title: How many groups of consecutive records there are, and the smallest and largest
-- source: sqlmicro
-- reads: strata
-- returns: one row: groups, smallest, largest
-- params: strata, k
SELECT
  CAST(sum(
    (middle_first - first_position) // 3 + (last_position - middle_last) // 3
    + CASE WHEN middle_last >= middle_first THEN 1 ELSE 0 END) AS BIGINT) AS groups,
  min(CASE WHEN middle_last >= middle_first AND middle_last - middle_first + 1 < 3
    THEN middle_last - middle_first + 1 ELSE 3 END) AS smallest,
  max(greatest(middle_last - middle_first + 1, 3)) AS largest
FROM "staging"."strata"
