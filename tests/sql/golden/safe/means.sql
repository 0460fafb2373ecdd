-- title: The size of every group and its mean in every numeric column
-- source: Höhne, SAFE. A group has no value where most of its records have none; the values are added in the order of the
--   cells, so that the mean does not depend on the number of threads, and it does not leave the range of its values
-- reads: cells, members
-- returns: label, n, a mean per numeric column
-- params: cells, members, columns
SELECT
  m.label,
  sum(m.n) AS n
  , CASE WHEN 2 * sum(m.n) FILTER (WHERE c."net ""income""" IS NOT NULL) >= sum(m.n) THEN
      greatest(min(CAST(c."net ""income""" AS DOUBLE)), least(
        list_sum(list(m.n * CAST(c."net ""income""" AS DOUBLE) ORDER BY c.cell)
          FILTER (WHERE c."net ""income""" IS NOT NULL))
        / sum(m.n) FILTER (WHERE c."net ""income""" IS NOT NULL),
        max(CAST(c."net ""income""" AS DOUBLE))))
    END AS "net ""income"""
FROM "staging"."members" AS m
JOIN "staging"."cells" AS c USING (cell)
GROUP BY m.label
