-- title: The combinations of fewer columns, and how many records have each
-- source: sqlmicro: counted from the combinations of all columns, without reading the records again
-- reads: relation (cells)
-- returns: the columns, records, size (records again)
-- params: relation, columns
SELECT
  "a",
  CAST(sum(records) AS BIGINT) AS records,
  CAST(sum(records) AS BIGINT) AS size
FROM "staging"."cells"
GROUP BY ALL
