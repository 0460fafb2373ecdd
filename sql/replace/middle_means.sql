-- title: Where the groups of a stratum lie, and the mean of the one group that is not of size k
-- source: Defays & Nanopoulos (1993)
-- reads: sorted, strata
-- returns: the columns of strata, middle_mean (NULL where no group takes a remainder)
-- params: sorted, strata, by
SELECT
  t.*,
  m.middle_mean
FROM {{ strata | ident }} AS t
LEFT JOIN (
  SELECT
    t.first_position,
    greatest(min(s.value), least(list_sum(list_sort(list(s.value))) / count(*), max(s.value))) AS middle_mean
  FROM {{ sorted | ident }} AS s
  JOIN {{ strata | ident }} AS t
    ON {{ by | same("s", "t") }} AND
      s.rowid BETWEEN t.middle_first AND t.middle_last
  GROUP BY t.first_position) AS m USING (first_position)
