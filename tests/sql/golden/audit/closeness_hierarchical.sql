-- title: How far the distribution of a sensitive column with a hierarchy in each class is from that of the release
-- source: Li, Li & Venkatasubramanian (2007): t-closeness, Earth Mover's Distance where two values are the level of their
--   lowest common class, divided by the number of levels, apart: the mean over the levels below the root of what the
--   class has too much of
-- reads: shares, reference, tree (value as text, level from 0 on, place of its class on that level)
-- returns: the columns, records, measure
-- params: shares, reference, tree, columns, value
WITH branches AS (
  SELECT t.level, t.place, sum(r.share) AS share
  FROM "staging"."reference" AS r
  JOIN "staging"."tree" AS t ON CAST(r."v" AS VARCHAR) IS NOT DISTINCT FROM t.value
  GROUP BY t.level, t.place),
members AS (
  SELECT
    s."a",
    t.level,
    t.place,
    sum(s.records) AS records,
    sum(s.probability) AS probability
  FROM "staging"."shares" AS s
  JOIN "staging"."tree" AS t ON CAST(s."v" AS VARCHAR) IS NOT DISTINCT FROM t.value
  GROUP BY ALL)
SELECT
  m."a",
  CAST(sum(m.records) FILTER (WHERE m.level = 0) AS BIGINT) AS records,
  sum(greatest(m.probability - b.share, 0)) / (SELECT max(level) + 1 FROM "staging"."tree") AS measure
FROM members AS m
JOIN branches AS b ON m.level = b.level AND m.place = b.place
GROUP BY ALL
