-- title: Whom a series remembers, by the newest of what it has kept of each
-- source: sqlmicro, as history/latest.sql; who was never seated, has founded nothing and is gone is forgotten
-- reads: kept (series, release, who, seat, here, founded, the columns)
-- returns: the columns
-- params: kept, series (its name), first (release of the epoch), last (release of the last night), columns
SELECT "who", "seat", "here", "since", "founded"
FROM "staging"."kept"
WHERE series = 'nightly' AND release = 5 AND release >= 3
  AND (here OR seat <> -1 OR founded <> -1)
UNION ALL
SELECT k."who", k."seat", k."here", k."since", k."founded"
FROM "staging"."kept" AS k
ANTI JOIN (SELECT who FROM "staging"."kept" WHERE series = 'nightly' AND release = 5) AS n USING (who)
WHERE k.series = 'nightly' AND k.release >= 3 AND k.release < 5
  AND (k.here OR k.seat <> -1 OR k.founded <> -1)
