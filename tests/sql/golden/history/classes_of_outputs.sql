-- title: The classes of every person in a release and in the candidates that are published beside it
-- source: sqlmicro: whoever has the release may have them too. Classes of a candidate are told apart from those of others
-- reads: release, candidates (who, class, value)
-- returns: who, class, value
-- params: release, candidates (number and relation of each)
SELECT who, class, value FROM "staging"."release"
UNION ALL
SELECT who, CAST(hash(1, class) >> 1 AS BIGINT) AS class, 0 AS value FROM "staging"."candidate"
