-- title: The combinations of values that occur, and how many entities have each
-- source: sqlmicro: a person with several records must not make a class look larger; NULL is a value of its own
-- reads: relation (records)
-- returns: the columns, records, size: both the number of distinct entities; a record without one counts as an entity
-- params: relation, columns, entity
SELECT
  "a",
  count(DISTINCT "p") + count(*) FILTER (WHERE "p" IS NULL) AS records,
  count(DISTINCT "p") + count(*) FILTER (WHERE "p" IS NULL) AS size
FROM "staging"."records"
GROUP BY ALL
