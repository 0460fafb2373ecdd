-- title: What is remembered of a release, as two numbers: whether it is still what was published
-- source: sqlmicro, as publish/content.sql
-- reads: members (who, class)
-- returns: how many classes of persons there are, and the sum of their hashes
-- params: members
SELECT count(*) AS members, coalesce(sum(CAST(hash(who, class) AS HUGEINT)), 0) AS hashes
FROM {{ members | ident }}
