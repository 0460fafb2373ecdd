-- title: What a series remembers: the newest of every row that it has kept
-- source: sqlmicro; a night that was taken back leaves what was there before it. What a night before the last one has
--   replaced is gone
-- reads: kept (series, release, the keys and columns)
-- returns: the columns
-- params: kept, series (its name), first (release of the epoch), last (release of the last night), keys, columns
SELECT "class", "rows"
FROM "staging"."kept"
WHERE series = 'nightly' AND release = 5 AND release >= 3
UNION ALL
SELECT k."class", k."rows"
FROM "staging"."kept" AS k
ANTI JOIN (SELECT "class" FROM "staging"."kept" WHERE series = 'nightly' AND release = 5) AS n
  USING ("class")
WHERE k.series = 'nightly' AND k.release >= 3 AND k.release < 5
