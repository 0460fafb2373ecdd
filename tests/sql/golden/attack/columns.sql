-- title: Columns of a table as they are staged, text in place of its bytes
-- source: sqlmicro: ranges are read from their text
-- reads: relation (values)
-- returns: the columns, in the order of the table
-- params: relation, numeric, texts
SELECT
  "net ""income""",
  decode("name") AS "name",
  n
FROM "staging"."released"
