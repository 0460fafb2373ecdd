-- title: The combinations of release and original, every value as a number
-- source: sqlmicro; equal numbers are equal values, of whichever side, and NULL is a value of its own
-- reads: released, original (cells; where whose records they are counts, a cell for every person)
-- returns: in any order, a row per combination: before and after (records of the original, of the release), whose (a number
--   for each person of the original; 0 where that does not count), and every column
-- params: released, original, columns, person (columns that say whose record it is), whose (none, or one list: these)
WITH both_files AS (
  SELECT {{ columns | idents }}, {{ person | listed("{}, ") }}records AS before, 0 AS after
  FROM {{ original | ident }}
  UNION ALL
  SELECT {{ columns | idents }}, {{ person | listed("NULL AS {}, ") }}0 AS before, records AS after
  FROM {{ released | ident }}
)
SELECT
  CAST(before AS BIGINT) AS before,
  CAST(after AS BIGINT) AS after,
  coalesce({{ whose | listed("dense_rank() OVER (ORDER BY {}), ") }}0) AS whose,
  {{ columns | listed("dense_rank() OVER (ORDER BY {}) - 1 AS {}") }}
FROM both_files
