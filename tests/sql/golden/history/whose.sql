-- title: Whose every record of a night is
-- source: sqlmicro; hashed as in history/classes_of_persons.sql. Records that lack a part of the person are those of one
-- reads: relation (row_id, the columns of the person)
-- returns: in the order of row_id: row_id, person (a keyed hash)
-- params: stream (variable with the key), relation, person (columns)
SELECT
  row_id,
  CAST(concat('0x', substr(sha256(concat(getvariable('sqlmicro_order'), ' ', person)), 1, 15)) AS BIGINT) AS person
FROM (
  SELECT
    row_id,
    CASE
      WHEN false OR "c1" IS NULL OR "c2" IS NULL THEN hash(NULL)
      ELSE hash("c1", "c2")
    END AS person
  FROM "staging"."relation")
ORDER BY row_id
