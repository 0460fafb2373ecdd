-- title: The person and the sensitive values of every record that was read, as numbers
-- source: sqlmicro: what classes must keep is about the values as they were read, whatever steps came before
-- reads: original (as it was loaded), relation (the records to be grouped)
-- returns: in the order of row_id: row_id, stays (whether the record is in relation), person (0 for all that lack a part of
--   the key: they are one person), every sensitive column by the place of its value from 0 (NULL is a value of its own, the last)
-- params: original, relation, persons (none, or the columns that say whose record it is), sensitive
SELECT
  o.row_id,
  r.row_id IS NOT NULL AS stays
  , CASE
    WHEN false OR o."p" IS NULL OR o."q" IS NULL THEN 0
    ELSE dense_rank() OVER (ORDER BY o."p", o."q")
  END AS person
  , dense_rank() OVER (ORDER BY o."net ""income""" NULLS LAST) - 1 AS "net ""income"""
  , dense_rank() OVER (ORDER BY o."s" NULLS LAST) - 1 AS "s"
FROM "staging"."original" AS o
LEFT JOIN "staging"."relation" AS r ON o.row_id = r.row_id
ORDER BY o.row_id
