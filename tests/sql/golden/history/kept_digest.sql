-- title: What releases have written of a series, as two numbers for each of its tables: whether it is still what was written
-- source: sqlmicro, as history/digest.sql; one pass over the rows as they are stored, whether newer ones count instead of them
--   or not
-- reads: the tables (series, release, the columns)
-- returns: part (the number of the table), kept (rows), hashes (their sum)
-- params: parts (number, relation, columns), series (its name), first, last (between which releases)
SELECT
  0 AS part,
  count(*) AS kept,
  coalesce(sum(hash(release, "class", "rows")), 0) AS hashes
FROM "staging"."kept"
WHERE series = 'nightly' AND release BETWEEN 3 AND 5
UNION ALL
SELECT
  1 AS part,
  count(*) AS kept,
  coalesce(sum(hash(release, "class")), 0) AS hashes
FROM "staging"."none"
WHERE series = 'nightly' AND release BETWEEN 3 AND 5
