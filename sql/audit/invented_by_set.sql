-- title: How many rare combinations of every known set of columns a release shows, and how many of these never occurred
-- source: sqlmicro: who knows some columns of somebody reads the others off a rare combination of these, if it is true
-- reads: released, original (cells; where whose records they are counts, a cell for every person)
-- returns: a row per set: set_id (as grouping() gives it: a bit per column, set where the column is not in the set), rare
--   (shown combinations of its columns that fewer than k records, or persons, of the original have), invented (that none
--   has)
-- params: released, original, columns (those of the sets), sets, person (columns that say whose record it is), whose (none,
--   or one list: these), k
WITH both_files AS (
  SELECT {{ columns | idents }}, {{ person | listed("{}, ") }}records AS before, 0 AS after
  FROM {{ original | ident }}
  UNION ALL
  SELECT {{ columns | idents }}, {{ person | listed("NULL AS {}, ") }}0 AS before, records AS after
  FROM {{ released | ident }}
),
combinations AS (
  SELECT
    grouping({{ columns | idents }}) AS set_id,
    coalesce({{ whose | listed("count(DISTINCT row({})) FILTER (WHERE before > 0), ") }}sum(before))
      AS persons
  FROM both_files
  GROUP BY GROUPING SETS ({{ sets | listed("\n    ({})") }}
  )
  HAVING sum(after) > 0
)
SELECT
  set_id,
  count(*) FILTER (WHERE persons < {{ k }}) AS rare,
  count(*) FILTER (WHERE persons = 0) AS invented
FROM combinations
GROUP BY set_id
ORDER BY set_id
