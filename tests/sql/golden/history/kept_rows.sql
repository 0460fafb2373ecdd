-- title: Persons of a series whose published row is another one than in the night before
-- source: sqlmicro: two noises of one value, or two releases of one row, tell more than one
-- reads: changed (who, content, published), kept (series, release, who, content, published)
-- returns: one row: changed (persons), alike (those of them whose own values are the same)
-- params: changed, kept, series (its name), first (release of the epoch)
SELECT count(*) AS changed, count(*) FILTER (WHERE c.content = k.content) AS alike
FROM "staging"."changed" AS c
JOIN (
  SELECT who, arg_max(content, release) AS content, arg_max(published, release) AS published
  FROM "staging"."kept"
  WHERE series = 'nightly' AND release >= 3 AND who IN (SELECT who FROM "staging"."changed")
  GROUP BY who) AS k ON c.who = k.who
WHERE c.published <> k.published
