-- title: The rows of a night of a series whose columns have classes of their own
-- source: sqlmicro; a row stays as it was published, whether its person was read tonight, was not, or has left
-- reads: tonight (row, row_id: of the persons who were read), kept and opened (row, classes), kept_texts and texts (class,
--   column_name, value), relation
-- returns: row_id (behind those that were read for the others), record (0 for the others), the columns
-- params: tonight, kept, opened, kept_texts, texts, relation, read (how many records were read), columns (alias, place,
--   column)
WITH classes AS (
  SELECT row, classes FROM "staging"."kept"
  UNION ALL
  SELECT row, classes FROM "staging"."opened"
), told AS (
  SELECT class, column_name, value FROM "staging"."kept_texts"
  UNION ALL
  SELECT class, column_name, value FROM "staging"."texts"
)
SELECT
  coalesce(t.row_id, 9 + c.row) AS row_id,
  coalesce(t.record, CAST(0 AS UBIGINT)) AS record
  , "v1".value AS "c1"
  , "v2".value AS "c2"
FROM classes AS c
LEFT JOIN (
  SELECT n.row, n.row_id, r.record
  FROM "staging"."tonight" AS n
  JOIN "staging"."relation" AS r ON n.row_id = r.row_id) AS t ON c.row = t.row
JOIN (
  SELECT class, CAST(value AS DOUBLE) AS value
  FROM told
  WHERE column_name = 'net "income"') AS "v1" ON "v1".class = c.classes[1]
JOIN (
  SELECT class, CAST(value AS VARCHAR) AS value
  FROM told
  WHERE column_name = 'sex') AS "v2" ON "v2".class = c.classes[2]
