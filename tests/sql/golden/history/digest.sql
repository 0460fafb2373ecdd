-- title: What is remembered of a release, as two numbers: whether it is still what was published
-- source: sqlmicro, as publish/content.sql
-- reads: remembered (the columns)
-- returns: how many rows there are, and the sum of their hashes
-- params: remembered, columns
SELECT count(*) AS kept, coalesce(sum(CAST(hash("who", "class") AS HUGEINT)), 0) AS hashes
FROM "staging"."remembered"
