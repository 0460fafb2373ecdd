-- title: How many members of the population every class stands for
-- source: Sweeney (2002): k-map
-- reads: sizes (total)
-- returns: the columns, records, measure
-- params: sizes, columns
SELECT
  "a",
  records,
  total AS measure
FROM "staging"."sizes"
