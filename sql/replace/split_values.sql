-- title: The two values of every split group: the larger half gets one, the rest the other
-- source: Höhne's univariate split groups: mean + sd * sqrt((g-b)/b) and mean - sd * sqrt(b/(g-b)), b = g/2 rounded half to
--   even and at least 1, sd with divisor g: mean and variance of every group are kept
-- reads: groups (row_id, value, label, position, group_last, in ascending order of value)
-- returns: the strata, row_id, label, value
-- params: groups, by
WITH spread AS (
  SELECT
    label,
    count(*) AS size,
    greatest(1, CAST(round_even(count(*) / 2, 0) AS BIGINT)) AS larger,
    list_sum(list_sort(list(value))) / count(*) AS mean,
    list_aggregate(list_sort(list(value)), 'stddev_pop') AS sd
  FROM {{ groups | ident }}
  GROUP BY label
)
SELECT
  {{ by | listed("g.{}, ") }}
  g.row_id,
  g.label,
  CASE
    WHEN g.group_last - g.position < s.larger THEN s.mean + s.sd * sqrt((s.size - s.larger) / s.larger)
    ELSE s.mean - s.sd * sqrt(s.larger / (s.size - s.larger))
  END AS value
FROM {{ groups | ident }} AS g
JOIN spread AS s USING (label)
