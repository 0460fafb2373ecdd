-- title: The sensitive values of every class of a release and of the candidates that are published beside it
-- source: sqlmicro: as history/classes_of_outputs.sql
-- reads: release, candidates (column_name, class, value)
-- returns: column_name, class, value
-- params: release, candidates (number and relation of each)
SELECT column_name, class, value FROM "staging"."release"
UNION ALL
SELECT column_name, CAST(hash(1, class) >> 1 AS BIGINT) AS class, value FROM "staging"."candidate"
