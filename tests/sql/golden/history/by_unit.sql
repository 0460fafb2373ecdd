-- title: The records of a night, each as a record of its person or household: all of one draw the same for the same values
-- source: sqlmicro; hashed as in history/whose.sql. Records that lack a part of the key are those of one
-- reads: relation (row_id, the columns), original (row_id, the columns of the unit)
-- returns: row_id, record (of the unit), the columns
-- params: relation, original, unit (columns), columns
SELECT
  r.row_id,
  CASE
    WHEN false OR o."c1" IS NULL OR o."c2" IS NULL THEN hash(NULL)
    ELSE hash(o."c1", o."c2")
  END AS record
  , r."c3"
FROM "staging"."relation" AS r
JOIN "staging"."original" AS o USING (row_id)
