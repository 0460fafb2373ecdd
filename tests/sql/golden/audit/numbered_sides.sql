-- title: The combinations of release and original, every value as a number
-- source: sqlmicro; equal numbers are equal values, of whichever side, and NULL is a value of its own
-- reads: released, original (cells; where whose records they are counts, a cell for every person)
-- returns: in any order, a row per combination: before and after (records of the original, of the release), whose (a number
--   for each person of the original; 0 where that does not count), and every column
-- params: released, original, columns, person (columns that say whose record it is), whose (none, or one list: these)
WITH both_files AS (
  SELECT "a", "b", "who", records AS before, 0 AS after
  FROM "staging"."original"
  UNION ALL
  SELECT "a", "b", NULL AS "who", 0 AS before, records AS after
  FROM "staging"."released"
)
SELECT
  CAST(before AS BIGINT) AS before,
  CAST(after AS BIGINT) AS after,
  coalesce(dense_rank() OVER (ORDER BY "who"), 0) AS whose,
  dense_rank() OVER (ORDER BY "a") - 1 AS "a", dense_rank() OVER (ORDER BY "b") - 1 AS "b"
FROM both_files
