-- title: The records of a night of a series, some as they were recoded by themselves
-- source: sqlmicro
-- reads: relation, cohort (both of recoded_night.sql)
-- returns: row_id, record, the columns, the others, place
-- params: relation, cohort, columns (in the types of relation), others
SELECT
  row_id,
  record,
  "net ""income""",
  "land", 
  place
FROM "staging"."night"
ANTI JOIN "staging"."cohort" USING (row_id)
UNION ALL
SELECT
  row_id,
  record,
  CAST("net ""income""" AS VARCHAR),
  "land", 
  place
FROM "staging"."cohort"
