-- title: The SUDA scores that occur, and how many records have each
-- source: Elliot, Manning & Ford (2002)
-- reads: scores
-- returns: score, records
-- params: scores
SELECT score, count(*) AS records
FROM "staging"."scores"
GROUP BY score
ORDER BY score
