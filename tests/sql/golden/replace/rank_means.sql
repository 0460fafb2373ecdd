-- title: Every value replaced by the mean of its group, as the first record of the group finds it
-- source: Defays & Nanopoulos (1993). Every record takes the mean of its own value and the next k-1 in the sorted order,
--   and then the mean of the record its group begins with. All members have the same mean to the last bit, never beyond
--   the smallest and largest of them; up to k of about 30 this costs less than GROUP BY and JOIN
-- reads: sorted, strata (with middle_mean)
-- returns: row_id, value
-- params: sorted, strata, by, k
WITH means AS (
  SELECT
    "land", 
    row_id,
    rowid AS position,
    greatest(value, least((
      value
      + lead(value, 1) OVER ()
      + lead(value, 2) OVER ()
    ) / 3, lead(value, 2) OVER ())) AS mean_0
  FROM "staging"."ordered"
),
neighbours AS (
  SELECT
    *
    , lag(mean_0, 1) OVER () AS mean_1
    , lag(mean_0, 2) OVER () AS mean_2
  FROM means
),
placed AS (
  SELECT
    n.*,
    t.middle_mean,
    CASE
      WHEN n.position < t.middle_first THEN (n.position - t.first_position) % 3
      WHEN n.position > t.middle_last THEN (n.position - t.middle_last - 1) % 3
    END AS place
  FROM neighbours AS n
  JOIN "staging"."strata" AS t
    ON n."land" IS NOT DISTINCT FROM t."land"
)
SELECT
  row_id,
  CASE place
    WHEN 0 THEN mean_0
    WHEN 1 THEN mean_1
    WHEN 2 THEN mean_2
    ELSE middle_mean
  END AS value
FROM placed
