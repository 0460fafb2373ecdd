-- title: The size of every group and its mean in every numeric column
-- source: Höhne, SAFE. A group has no value where most of its records have none. Values are added as in
--   replace/group_means.sql: exactly, as whole numbers of a power of two, or else in the order of the cells; so a mean does not
--   depend on the number of threads. It does not leave the range of its values
-- reads: cells, members
-- returns: label, n, a mean per numeric column
-- params: cells, members, columns
WITH bounds AS (
  SELECT
    count(*) AS cells,
    (SELECT CAST(sum(n) AS DOUBLE) + 1 FROM "staging"."members") AS records
    , coalesce(min(abs(CAST("net ""income""" AS DOUBLE))) FILTER (WHERE "net ""income""" <> 0), 1) AS least_1
    , coalesce(max(abs(CAST("net ""income""" AS DOUBLE))) FILTER (WHERE "net ""income""" <> 0), 1) AS most_1
  FROM "staging"."cells"
),
wholes AS (
  SELECT
    records
    , CASE WHEN least_1 > 1e-250
      AND log2(most_1) - log2(least_1) + log2(records) < 68
      THEN pow(2, 54 - floor(log2(least_1))) END AS per_one_1
  FROM bounds
)
SELECT
  m.label,
  sum(m.n) AS n
  , CASE WHEN 2 * sum(m.n) FILTER (WHERE c."net ""income""" IS NOT NULL) >= sum(m.n) THEN
      greatest(min(CAST(c."net ""income""" AS DOUBLE)), least(
        coalesce(
          CAST(sum(CAST(m.n * CAST(c."net ""income""" AS DOUBLE) * w.per_one_1 AS HUGEINT)) AS DOUBLE)
            / any_value(w.per_one_1),
          list_sum(list(m.n * CAST(c."net ""income""" AS DOUBLE) ORDER BY c.cell)
            FILTER (WHERE w.per_one_1 IS NULL AND c."net ""income""" IS NOT NULL)))
        / sum(m.n) FILTER (WHERE c."net ""income""" IS NOT NULL),
        max(CAST(c."net ""income""" AS DOUBLE))))
    END AS "net ""income"""
FROM "staging"."members" AS m
JOIN "staging"."cells" AS c USING (cell)
CROSS JOIN wholes AS w
GROUP BY m.label
