-- title: The size of every group and its mean in every numeric column
-- source: Höhne, SAFE. A group has no value where most of its records have none; the values are added in the order of the
--   cells, so that the mean does not depend on the number of threads, and it does not leave the range of its values. Groups
--   of records that are all of one cell, often millions, have its values: a list for each takes long and much memory
-- reads: cells, members
-- returns: label, n, a mean per numeric column
-- params: cells, members, columns
WITH sizes AS (
  SELECT label, count(*) AS cells, min(cell) AS cell, sum(n) AS n
  FROM "staging"."members"
  GROUP BY label)
SELECT
  s.label,
  s.n
  , CAST(c."net ""income""" AS DOUBLE) AS "net ""income"""
FROM sizes AS s
JOIN "staging"."cells" AS c USING (cell)
WHERE s.cells = 1
UNION ALL
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
WHERE m.label IN (SELECT label FROM sizes WHERE cells > 1)
GROUP BY m.label
