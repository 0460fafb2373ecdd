-- title: The population as the records were recoded; who is in no class is left out
-- source: Sweeney (2002): k-map
-- reads: population, values (row_id and the columns that were recoded)
-- returns: the columns
-- params: population, values, columns (the column, r where it stays or v where it was recoded)
SELECT
  "v"."net ""income""",
  "r"."land",
FROM "staging"."everybody" AS r
JOIN "staging"."new" AS v USING (row_id)
