-- title: What a table remembers of earlier releases, as two numbers each: whether it is still what was published
-- source: sqlmicro, as history/digest.sql
-- reads: remembered (release, the columns)
-- returns: release, how many rows of it there are, and the sum of their hashes; nothing of a release that has none
-- params: remembered, columns, releases (their numbers)
SELECT release, count(*) AS kept, sum(CAST(hash("who", "class") AS HUGEINT)) AS hashes
FROM "staging"."remembered"
WHERE list_contains([3, 5, 9], release)
GROUP BY release
