-- title: How many groups of consecutive records there are, and the smallest and largest
-- source: sqlmicro
-- reads: strata
-- returns: one row: groups, smallest, largest
-- params: strata, k
SELECT
  CAST(sum(
    (middle_first - first_position) // {{ k }} + (last_position - middle_last) // {{ k }}
    + CASE WHEN middle_last >= middle_first THEN 1 ELSE 0 END) AS BIGINT) AS groups,
  min(CASE WHEN middle_last >= middle_first AND middle_last - middle_first + 1 < {{ k }}
    THEN middle_last - middle_first + 1 ELSE {{ k }} END) AS smallest,
  max(greatest(middle_last - middle_first + 1, {{ k }})) AS largest
FROM {{ strata | ident }}
