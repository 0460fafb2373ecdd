-- title: What was read tonight of some persons of a series, and published of them, beside what is remembered
-- source: sqlmicro
-- reads: read (who, content, published), kept (who, content, published)
-- returns: in the order of who: who, content, published, known (whether she is remembered), content_before,
--   published_before (0 where she is not)
-- params: read, kept
SELECT
  r.who,
  r.content,
  r.published,
  k.who IS NOT NULL AS known,
  coalesce(k.content, 0) AS content_before,
  coalesce(k.published, 0) AS published_before
FROM "staging"."read" AS r
LEFT JOIN "staging"."kept" AS k ON r.who = k.who
ORDER BY r.who
