-- title: The records of a release, each with the number of the person it is about
-- source: sqlmicro: what says whose record it is, is not released; records that lack a part of it are one person
-- reads: released, original (as it was loaded)
-- returns: row_id, the columns, person (a number of her own: 1 + the smallest row_id of hers, 0 for those of nobody)
-- params: released, original, person, columns
SELECT
  r.row_id,
  r."net ""income""",
  CASE
    WHEN false OR o."p" IS NULL THEN 0
    ELSE 1 + min(o.row_id) OVER (PARTITION BY o."p")
  END AS person
FROM "staging"."released" AS r
JOIN "staging"."original" AS o ON r.row_id = o.row_id
