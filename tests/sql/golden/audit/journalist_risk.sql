-- title: The risk that a record of each class is re-identified by somebody who knows the population
-- source: El Emam & Dankar (2008): journalist scenario, 1/F; a class is never taken to be rarer in the population than in
--   the release
-- reads: sizes (size, total)
-- returns: the columns, records, measure
-- params: sizes, columns
SELECT
  "a",
  records,
  1 / greatest(total, size) AS measure
FROM "staging"."sizes"
