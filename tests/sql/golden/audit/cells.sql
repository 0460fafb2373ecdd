-- title: The combinations of values that occur, and how many records have each
-- source: Samarati & Sweeney (1998): the equivalence classes of a table; NULL is a value of its own
-- reads: relation (records)
-- returns: the columns, total of every summed column (their sum over the records, 0 where all are missing), records, size
--   (records again)
-- params: relation, columns, summed
SELECT
  "a",
  "b",
  coalesce(sum("w"), 0) AS total,
  count(*) AS records,
  count(*) AS size
FROM "staging"."records"
GROUP BY ALL
