-- title: What a series remembers of the classes that are published, the newest of every row that it has kept
-- source: sqlmicro, as history/latest.sql
-- reads: kept (series, release, class, the keys and columns), classes (class, last_number: -1 for one that is published)
-- returns: the columns
-- params: kept, classes, series (its name), first (release of the epoch), last (release of the last night), keys, columns
SELECT "class", "rows"
FROM (
  SELECT "class", "rows"
  FROM "staging"."kept"
  WHERE series = 'nightly' AND release = 5 AND release >= 3
  UNION ALL
  SELECT k."class", k."rows"
  FROM "staging"."kept" AS k
  ANTI JOIN (SELECT "class" FROM "staging"."kept" WHERE series = 'nightly' AND release = 5) AS n
    USING ("class")
  WHERE k.series = 'nightly' AND k.release >= 3 AND k.release < 5)
WHERE class IN (SELECT class FROM "staging"."classes" WHERE last_number = -1)
