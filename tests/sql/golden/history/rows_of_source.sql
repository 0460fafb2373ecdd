-- title: What tells every row of a source, and its values, from others
-- source: sqlmicro; the keyed hash of content is what a series knows a row by that it need not read again
-- reads: relation (the user's table)
-- returns: record (as in load/typed.sql), content (a hash of the row key and the values)
-- params: relation, row_key, plain, floats, nested (floating-point numbers within), texts
SELECT
  hash(CAST("id" AS VARCHAR)) AS record,
  hash(
    CAST("id" AS VARCHAR),
    "net ""income""", signbit("net ""income"""),
    true) AS content
FROM "staging"."relation"
