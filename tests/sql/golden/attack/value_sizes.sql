-- title: How many records have each value of a column
-- source: sqlmicro; NULL is a value of its own
-- reads: relation (values)
-- returns: records
-- params: relation, column
SELECT count(*) AS records
FROM "staging"."written"
GROUP BY "v"
ORDER BY records
